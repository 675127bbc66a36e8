"""A file becomes a task: what is predicted, from which columns, and on which rows it is judged.

``file`` reads named columns with pandas, those of text by ``text``. What they are is decided by
rules, each in a file of its own:

===============  ===================================================================
``columns``      numbers, amounts, codes such as 007, or words
``dates``        texts that are dates
``identifiers``  columns that only say which row it is
``target``       classes or numbers, which makes the task
``belonging``    columns whose values hold rows together, as those of one person
``twins``        columns that say what another one says
===============  ===================================================================

``task`` puts all of it together, ``given`` for a model that is there already, and ``description``
says what was done. ``halves`` splits the rows; ``unusable`` is the error with its hints.
"""
