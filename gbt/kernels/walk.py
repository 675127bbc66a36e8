r"""One tree, one row at a time: left where ``x <= threshold``, until a node without children.

This is how rows go down a tree that has just been grown; many trees at once go faster in blocks of
rows, see ``gbt.kernels.descent``. ``left`` and ``right`` count from the tree's root::

        a            position   0   1   2   3   4
       / \           node       a   b   d   e   c      (preorder)
      b   c          left       1   2  -1  -1  -1
     / \             right      4   3  -1  -1  -1
    d   e
"""

import numpy as np

from gbt.kernels.compiling import kernel


@kernel
def goes_left(x, threshold, missing_left):
    """Say whether a value takes the left branch; nan is a missing value."""
    return missing_left if np.isnan(x) else x <= threshold


@kernel
def find_leaves(X, feature, threshold, left, right, missing_left, out):
    """Write the leaf that each row reaches.

    X             (n, p)      float64  IN
    feature ...   (n_nodes,)           IN   the node arrays of one ``Tree``
    out           (n,)        int32    OUT
    """
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            if goes_left(X[i, feature[node]], threshold[node], missing_left[node]):
                node = left[node]
            else:
                node = right[node]
        out[i] = node


@kernel
def add_up_children(left, right, sums):
    """Give each inner node the sum of its children, from the last node to the root.

    left, right   (n_nodes,)     int32    IN     one tree, children after their parent
    sums          (n_nodes, k)   float64  INOUT  filled at the leaves on entry
    """
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] >= 0:
            for j in range(sums.shape[1]):
                sums[node, j] = sums[left[node], j] + sums[right[node], j]
