"""Nodes of a tree that grows: records, in the order in which they are opened."""

import numpy as np

from gbt.kernels.platform.compiling import IS_COMPILING, internal

# A set of levels is no cut of codes: before a node is partitioned its rows are marked left or
# right, and these sides are cut like codes. ``NO_SIDE`` takes the place of the code of missing
# rows; these have a side, too.
LEFT, NO_SIDE = np.int64(0), np.int64(2)
MOST_CODES = 256  # of a column whose levels are bits of a node, that of missing rows included

NODE = np.dtype(
    [
        ("start", np.int64),  # it owns the listed rows start:stop
        ("stop", np.int64),
        ("depth", np.int64),
        # On which columns it may be split, see ``gbt.kernels.trees.node_columns``.
        ("state", np.int64),  # what the columns on its path leave open
        ("path", np.uint64),  # 1 at the root, 2 path on the left of a node, 2 path + 1 on the right
        ("g", np.int64),  # sums over these rows
        ("h", np.int64),
        ("magnitude", np.int64),  # sum of |g|
        # Of its step and all below (``gbt.kernels.cuts.bounds``), where columns have directions.
        ("lowest", np.float64),
        ("highest", np.float64),
        ("slot", np.int64),  # of its histogram; -1 if there is none
        ("feature", np.int64),  # of its split; -1 if there is none
        ("cut", np.int64),  # codes up to it go left; of levels, so many in their order
        ("missing_left", np.int64),
        ("levels", np.uint64, (MOST_CODES // 64,)),  # bit c: code c goes left
        ("gain", np.float64),  # what its split is worth
        ("candidate", np.int64),  # the column that rows have judged; -1 if there is none
        ("claim", np.float64),  # its gain by the rows that chose it
        ("to_beat", np.float64),  # the least score of interest while it is searched
        ("left", np.int64),  # children; -1 if there are none
        ("right", np.int64),
        ("low_row", np.int64),  # a row with the highest value that went left
        ("high_row", np.int64),  # one with the lowest that went right; -1 if no value did
        ("branch", np.int64),  # nodes of its branch, itself included
        ("place", np.int64),  # when the tree is read root, left branch, right branch
    ]
)


@internal
def open_node(node, start, stop, depth):
    """Start a node that owns the listed rows start:stop."""
    node.start, node.stop, node.depth = start, stop, depth
    node.slot = node.feature = node.left = node.right = node.candidate = -1
    node.low_row = node.high_row = 0


def records(n: int, dtype: np.dtype) -> np.ndarray:
    """Return n records, whose fields are attributes in kernels, compiled or not."""
    # NumPy's own records with attributes take microseconds to be looked at from Python.
    return np.empty(n, dtype) if IS_COMPILING else np.recarray(n, dtype)
