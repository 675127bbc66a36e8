"""Rows in shares: what members of a team do with their rows, and how their sums are judged.

``rows`` gives values their bins, adds up rows in bins and divides those of a node. ``pieces`` says
which pieces of a column may hold the best cut. ``trees`` begins and ends a tree, and lets a policy
search nodes as it does in memory. See ``gbt.training.distributed``.
"""
