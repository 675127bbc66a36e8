"""Rows that are not independent: of one person or place, or in the order of time.

``agreement`` tests whether a model's errors agree within groups of rows, ``judging`` fits with
random halves and, where rows belong together, by groups; the sentences for it are those of
``attributions.command.said.about_belonging``.
``attributions.command.rules.belonging`` finds the columns that may hold rows together.
"""
