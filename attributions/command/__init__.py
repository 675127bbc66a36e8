"""The program, ``python -m attributions``: a table goes in, one verdict a feature comes out.

A table's way through it, in twelve stations:

1.  ``options.read_options`` reads the command line; what is asked of a table is a `Question`.
2.  ``table.file.read_table`` tells by the content what kind of file it is, and reads its columns.
3.  ``rules.columns.column_of`` makes numbers of each: what is a code, money, a date, a word?
4.  ``rules.target.read_target`` says whether the target holds classes or numbers.
5.  ``table.task.table_task`` leaves out what only says which row it is (``LEFT_OUT``).
6.  ``table.halves.halves_of`` says which rows are held out.
7.  ``judging.of_table.judged`` asks for rows that belong together (``rules.belonging``), and has
8.  ``run.fit`` fit a model, which
9.  ``judging.findings.findings_of`` judges: a `Findings` holds all that is known of it.
10. ``judging.other_models`` and ``over`` add what other models say, and what changed.
11. ``said.sections`` says it, sentence by sentence.
12. ``printed.report`` writes the sentences for the terminal, and ``page.page.page`` as HTML.

A saved model (``model_file``) takes the place of 5 to 8: ``judging.of_model``.
"""
