"""Rows that are not independent: of one person or place, or in the order of time.

``agreement`` asks whether errors of a model agree within groups of rows; ``judging`` fits with
halves at random, and by groups where rows belong together; ``said`` tells it. Which columns may
hold rows together says ``attributions.command.table.belonging``.
"""
