"""What each feature is worth on rows that the model has not seen.

Read ``tree_inner`` first (Sun 2022: each feature's part of every boosting step, against the
gradient of new rows), then ``steps``, which works it out block by block. ``single_rows`` keeps what
was summed, row by row, and ``pairs`` says below which other feature's splits it was earned.
"""

from attributions.held_out.pairs import tree_inner_pairs
from attributions.held_out.single_rows import partial_inner_rows, tree_inner_rows
from attributions.held_out.tree_inner import forest_inner, partial_inner, tree_inner

__all__ = [
    "forest_inner",
    "partial_inner",
    "partial_inner_rows",
    "tree_inner",
    "tree_inner_pairs",
    "tree_inner_rows",
]
