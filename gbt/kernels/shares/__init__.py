"""Rows in shares: what members of a team do with their rows, and how their sums are judged.

``bins`` gives every value the number of its fine bin, ``rows`` adds up rows in bins and divides
those of a node, ``parts`` says which parts of a column may hold the best cut, and ``levels`` finds
the best sets of levels. ``judges`` finds splits that some rows choose and others judge, and
``trees`` begins and ends a tree. See ``gbt.training.shares``.
"""
