"""A table as people have it becomes columns of codes.

Read ``table`` first: arrays and frames become rows of floats, nan for a missing value. Their
columns are called as ``names`` says. On the way ``categories`` turns words into the numbers of
their levels; ``targets`` converts targets and weights. Then ``columns`` replaces every value by its
rank among the distinct values of its column, which is all that growing a tree needs. ``level_sets``
says which levels go left at a split. ``spelled`` reads numbers that are written as text, on demand.
``sparse_rows`` and ``sparse_columns`` are rows and columns of tables that hold little but zeros.
"""

from gbt.tables.spelled import read_numbers

__all__ = ["read_numbers"]
