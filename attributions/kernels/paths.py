r"""Changes of a node value along paths, what rows bring to paths, and mean leaf values.

A row with path a, b, d through nodes that split on features 3 and 0::

        a [3]            out[3, i] += w_i (value[b] - value[a])
       / \              out[0, i] += w_i (value[d] - value[b])
  [0] b   c
     / \
    d   e

PreDecomp walks with the values that the model keeps, Saabas with mean leaf values. Rows go down a
tree together, as in ``gbt.kernels.descent``; a row that has arrived at its leaf stays there, where
no value changes. Cost of ``predecomp``, one thread: 3 ns a row and level of trees of depth 4 and 6,
11 at depth 10.

Where only the sum over rows is wanted, rows need not be told apart. Every row that takes an edge
meets the same change, so the sum is edges times weights: each row leaves its weight at its leaf,
and one pass upwards gives what has passed every edge.
"""

import numpy as np

from gbt.kernels.compiling import kernel


@kernel
def first_change(x, threshold, lower, change, row_weight, credit, at):
    """Take the step from the root, which all rows do alike.

    x                       (n,)   float64  IN     the values that the root compares
    threshold                      float64  IN
    lower                   (2,)   uint64   IN     the nodes right and left of the root
    change                  (2,)   float64  IN     change of the value on the way to either
    row_weight              (n,)   float64  IN
    credit                  (n,)   float64  INOUT  of the root's feature
    at                      (n,)   uint64   OUT    the node reached
    """
    left, right, change_left, change_right = lower[1], lower[0], change[1], change[0]
    for i in range(at.shape[0]):
        is_left = x[i] <= threshold
        at[i] = left if is_left else right
        credit[i] += row_weight[i] * (change_left if is_left else change_right)


@kernel
def add_value_changes(X, links, feature, change, row_weight, out):
    """Add the changes of the node value along each row's path, tree by tree.

    X                     (2 p, n)      float64  IN     a block from ``gbt.ensemble.transposed``
    links                               ``Links``  IN   of T trees, see ``gbt.kernels.descent``
    feature               (n_nodes,)    uint64   IN     credited for the changes below a node
    change                (n_nodes, 2)  float64  IN     of the value, to the nodes right and left
    row_weight            (T, n)        float64  IN
    out                   (p, n)        float64  INOUT
    """
    column, threshold, lower = links.column, links.threshold, links.lower
    at = np.empty(X.shape[1], np.uint64)
    for m in range(row_weight.shape[0]):
        if links.levels[m] == 0:
            continue
        root, weight = links.roots[m], row_weight[m]
        first_change(
            X[column[root]], threshold[root], lower[root], change[root],
            weight, out[feature[root]], at,
        )  # fmt: skip
        for _ in range(links.levels[m] - 1):
            for i in range(at.shape[0]):
                t, row = at[i], np.uint64(i)
                side = np.uint64(X[column[t], row] <= threshold[t])
                out[feature[t], row] += weight[i] * change[t, side]
                at[i] = lower[t, side]


@kernel
def add_up_leaves(lower, node_weight):
    """Give each inner node of all trees the sum of its children.

    lower         (n_nodes, 2)  uint64   IN     children after their parent; a leaf is its own
    node_weight   (n_nodes,)    float64  INOUT  filled at the leaves on entry
    """
    for node in range(lower.shape[0] - 1, -1, -1):
        l, r = lower[node, 1], lower[node, 0]
        if l != r:
            node_weight[node] = node_weight[l] + node_weight[r]


@kernel
def judge_shape(features, gradient, hessian, weight, step, earlier, total):
    """Turn one tree's contributions into the terms of ``partial_inner``.

    features            (f,)    int64    IN     those that the tree may have credited
    gradient, hessian   (n,)    float64  IN     before the tree
    weight              (n,)    float64  IN
    step                (p, n)  float64  INOUT  r_k; then w r_k (-g + h F_k)
    earlier             (p, n)  float64  INOUT  F_k before the tree; then after it
    total               (p, n)  float64  INOUT  sum of the terms
    """
    for k in features:
        r, F, q = step[k], earlier[k], total[k]
        for i in range(r.shape[0]):
            term = weight[i] * (r[i] * (hessian[i] * F[i] - gradient[i]))
            q[i] += term
            F[i] += r[i]
            r[i] = term


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
