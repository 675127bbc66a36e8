"""The program, ``python -m attributions``: a table goes in, one verdict a feature comes out.

Read ``run`` first. ``options`` are those of the command line; ``table`` reads the file and makes a
`Task` of it by the ``rules``, ``model_file`` reads a fitted model. ``judging`` finds out how good a
model is and what each feature brings, and ``said`` says it in sentences, which ``printed`` writes
for the terminal and ``page`` as HTML.

Rows that belong together show in a table's columns (``rules.belonging``) and in the errors of
models; where both agree, ``judging`` fits and judges by groups, and the report says so.
"""
