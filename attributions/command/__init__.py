"""The program, ``python -m attributions``: a table goes in, one verdict a feature comes out.

Read ``run`` first. ``options`` are the command line's; ``table`` reads the file and makes a `Task`
of it, ``model_file`` reads a fitted model. ``findings`` is the record of a judged model: from it
``verdicts`` draws what is said of each feature, and ``cautions`` what to mistrust. ``printed``
writes it for the terminal, ``page`` as HTML; ``in_batches`` judges files larger than memory.

Rows that belong together are found in a table's columns (``table.belonging``) and in the errors of
models; ``independence`` fits and judges by groups where both say so, and tells it.
"""
