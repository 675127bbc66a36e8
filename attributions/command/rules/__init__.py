"""Rules by which the columns of a table are what they are, each in a file of its own.

===============  ========================================================================
``columns``      numbers, amounts such as "$5,850", codes such as 007, or words
``dates``        texts that are dates
``identifiers``  columns that only say which row it is
``target``       classes or numbers, which makes the task
``belonging``    columns whose values hold rows together, as those of one person
``twins``        columns that say what another one says
===============  ========================================================================

What gives the answer away, a leak, shows in models: ``attributions.command.judging.leaks``.
"""
