"""Rules by which the columns of a table are what they are, each in a file of its own.

=============  ========================================================================
``columns``    numbers, amounts such as "$5,850", codes such as 007, dates, words, identifiers
``marks``      points and commas that stand before decimals, or between thousands
``target``     classes or numbers, which makes the task
``belonging``  rows that belong together, as those of one person, and errors that agree
``twins``      columns that say what another one says
=============  ========================================================================

What gives the answer away, a leak, shows in models: ``attributions.command.judging.other_models``.
"""
