"""Where trees are cut into the pieces of ``attributions.kernels.shap_pieces``.

Cost of a piece: what its words cost as rows, and for each row one addition a feature. A tree of
depth 6 takes some 85 additions a row, where computing it takes 56 splits x 3 points x 20
operations, 8 rows at once. Near the leaves of a deep tree many features are above and few splits
below: tables gain something only from thousands of rows on, and for a hundred rows their pieces
take twice as long. Therefore a tree with more than 8 features on a path is one piece with all its
splits, and each row is computed.
"""

from gbt.kernels.platform.compiling import internal, uncounted

MOST_BITS = 8  # 7 and 9 take as long within a tenth, 6 longer
MOST_DISTINCT = 8  # features on a path of a tree that is cut
WHOLE, ABOVE = 62, -1  # instead of bits: one piece of any number of splits; a split above pieces


@uncounted
def cut_trees(tree_offset, right, n_above, n_distinct, n_splits, n_bits):
    """Cut trees into pieces.

    tree_offset   (M + 1,)    int64  IN
    right         (n_nodes,)  int32  IN   the node array of ``Ensemble``
    n_above       (n_nodes,)  int64  IN   from `shap.describe_splits`
    n_distinct    (M,)        int64  IN   likewise
    n_splits      (n_nodes,)  int64  OUT  the splits at and below each node
    n_bits        (n_nodes,)  int64  OUT  where a piece begins its bits or WHOLE; ABOVE at splits
                                          above pieces; not written within pieces
    """
    for m in range(tree_offset.shape[0] - 1):
        root, end = tree_offset[m], tree_offset[m + 1]
        for node in range(end - 1, root - 1, -1):
            n_splits[node] = 0
            if right[node] >= 0:
                n_splits[node] = 1 + n_splits[node + 1] + n_splits[root + right[node]]
        node = root
        while node < end:
            n_bits[node] = n_above[node] + n_splits[node]
            if n_distinct[m] > MOST_DISTINCT:
                n_bits[node] = WHOLE
            elif n_bits[node] > MOST_BITS and n_splits[node] > 1:
                n_bits[node] = ABOVE
            node += 1 if n_bits[node] == ABOVE else n_nodes_below(node, n_splits)


@internal
def n_nodes_below(node, n_splits):
    """Return how many nodes there are at and below a node."""
    return 2 * n_splits[node] + 1
