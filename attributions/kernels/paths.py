r"""Changes of a node value along paths, and mean leaf values.

A row with path a, b, d through nodes that split on features 3 and 0::

        a [3]            out[i, 3] += w_i (value[b] - value[a])
       / \              out[i, 0] += w_i (value[d] - value[b])
  [0] b   c
     / \
    d   e

PreDecomp walks with the values that the model keeps, Saabas with mean leaf values.
Cost: that of predicting, one comparison and one addition a level.
"""

from gbt.kernels.compiling import kernel
from gbt.kernels.walk import goes_left


@kernel
def add_value_changes(
    X, root, feature, threshold, left, right, missing_left, node_value, row_weight, out
):
    """Add the changes of the node value along each row's path through one tree.

    X             (n, p)      float64  IN
    root                      int64    IN     position of the tree's root
    feature ...   (n_nodes,)           IN     the node arrays of ``Ensemble``
    node_value    (n_nodes,)  float64  IN
    row_weight    (n,)        float64  IN
    out           (n, p)      float64  INOUT  credited at the feature that a node splits on
    """
    for i in range(X.shape[0]):
        node = root
        while left[node] >= 0:
            k = feature[node]
            if goes_left(X[i, k], threshold[node], missing_left[node]):
                child = root + left[node]
            else:
                child = root + right[node]
            out[i, k] += row_weight[i] * (node_value[child] - node_value[node])
            node = child


@kernel
def average_leaves(tree_offset, left, right, weight, mean_value):
    """Give every inner node the weighted mean of the leaves below it, the plain one if none weighs.

    tree_offset   (M + 1,)    int64    IN
    left, right   (n_nodes,)  int32    IN     children after their parent
    weight        (n_nodes,)  float64  INOUT  read at the leaves, added up at inner nodes
    mean_value    (n_nodes,)  float64  INOUT  read at the leaves, averaged at inner nodes
    """
    for m in range(tree_offset.shape[0] - 1):
        root = tree_offset[m]
        for node in range(tree_offset[m + 1] - 1, root - 1, -1):
            if left[node] >= 0:
                l, r = root + left[node], root + right[node]
                weight[node] = weight[l] + weight[r]
                # 1 - weight[l] / weight[node] would lose a right child that weighs next to nothing.
                share_l, share_r = 0.5, 0.5
                if weight[node] > 0:
                    share_l, share_r = weight[l] / weight[node], weight[r] / weight[node]
                mean_value[node] = share_l * mean_value[l] + share_r * mean_value[r]
