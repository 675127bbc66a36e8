"""Rows that are not independent: of one person or place, or in the order of time.

``agreement`` tests whether a model's errors agree within groups of rows, ``judging`` fits with
random halves and, where rows belong together, by groups, and ``said`` has the sentences for it.
``attributions.command.rules.belonging`` finds the columns that may hold rows together.
"""
