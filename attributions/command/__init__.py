"""The program, ``python -m attributions``: a table goes in, one verdict a feature comes out.

Read ``run`` first. ``options`` are those of the command line; ``table`` reads the file and makes a
`Task` of it by the ``rules``, ``model_file`` reads a fitted model. ``findings`` is the record of a
judged model: ``verdicts`` derives from it one verdict for each feature, ``simpler`` compares it,
``leaks`` finds what gives the answer away, and ``said`` says all of it in sentences.
``printed`` writes it for the terminal, ``page`` as HTML; ``in_batches`` judges files larger than
memory.

Rows that belong together show in a table's columns (``rules.belonging``) and in the errors of
models; where both agree, ``independence`` fits and judges by groups, and the report says so.
"""
