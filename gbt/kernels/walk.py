r"""Walking trees: from the root, left where ``x <= threshold``, until a node without children.

All trees lie end to end in flat arrays. ``left`` and ``right`` count from the tree's own root, so
the node that follows node ``t`` of the tree that starts at ``root`` is ``root + left[t]``::

        a            position   0   1   2   3   4
       / \           node       a   b   d   e   c      (preorder)
      b   c          left       1   2  -1  -1  -1
     / \             right      4   3  -1  -1  -1
    d   e

Cost: one comparison a level. A block of rows passes through all trees before the next block starts:
the block (256 rows of 50 columns are 100 kB) and one tree stay in cache together. Every row meets
the trees in their order, which is why sums do not depend on the blocks.
"""

import numpy as np

from gbt.kernels.compiling import kernel

ROWS_IN_CACHE = 256


@kernel
def goes_left(x, threshold, missing_left):
    """Say whether a value takes the left branch; nan is a missing value."""
    return missing_left if np.isnan(x) else x <= threshold


@kernel
def leaf_of_row(x, root, feature, threshold, left, right, missing_left):
    """Return the absolute position of the leaf that one row reaches.

    x             (p,)        float64  IN
    root                      int64    IN   position of the tree's root
    feature ...   (n_nodes,)           IN   the node arrays of ``Ensemble``
    """
    node = root
    while left[node] >= 0:
        if goes_left(x[feature[node]], threshold[node], missing_left[node]):
            node = root + left[node]
        else:
            node = root + right[node]
    return node


@kernel
def add_leaf_values(X, roots, feature, threshold, left, right, missing_left, value, out):
    """Add to each row's ``out`` the values of the leaves that it reaches.

    X             (n, p)      float64  IN
    roots         (M,)        int64    IN     positions of the roots, in boosting order
    feature ...   (n_nodes,)           IN     the node arrays of ``Ensemble``
    value         (n_nodes,)  float64  IN
    out           (n,)        float64  INOUT
    """
    for start in range(0, X.shape[0], ROWS_IN_CACHE):
        stop = min(start + ROWS_IN_CACHE, X.shape[0])
        for root in roots:
            for i in range(start, stop):
                leaf = leaf_of_row(X[i], root, feature, threshold, left, right, missing_left)
                out[i] += value[leaf]


@kernel
def find_leaves(X, roots, feature, threshold, left, right, missing_left, out):
    """Write the number, within its tree, of the leaf that each row reaches in each tree.

    X             (n, p)      float64  IN
    roots         (M,)        int64    IN
    feature ...   (n_nodes,)           IN
    out           (n, M)      int32    OUT
    """
    for start in range(0, X.shape[0], ROWS_IN_CACHE):
        stop = min(start + ROWS_IN_CACHE, X.shape[0])
        for m in range(roots.shape[0]):
            root = roots[m]
            for i in range(start, stop):
                leaf = leaf_of_row(X[i], root, feature, threshold, left, right, missing_left)
                out[i, m] = leaf - root


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


@kernel
def preorder(left, right):
    """Return the place of every node when each tree is read root, left subtree, right subtree.

    left, right   (n_nodes,)   int64   IN   children after their parent; -1 at a leaf
    """
    n_nodes = left.shape[0]
    size = np.ones(n_nodes, dtype=np.int64)  # of the subtree under each node
    for node in range(n_nodes - 1, -1, -1):
        if left[node] >= 0:
            size[node] += size[left[node]] + size[right[node]]
    place = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes):
        if left[node] >= 0:
            place[left[node]] = place[node] + 1
            place[right[node]] = place[node] + 1 + size[left[node]]
    return place
