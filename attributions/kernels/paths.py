r"""Changes of a node value along paths, sums of weights along paths, and mean leaf values.

A row with path a, b, d through nodes that split on features 3 and 0::

        a [3]            out[3, i] += w_i (value[b] - value[a])
       / \              out[0, i] += w_i (value[d] - value[b])
  [0] b   c
     / \
    d   e

PreDecomp walks with the values that the model keeps, Saabas with mean leaf values. Rows go down a
tree together, as in ``gbt.kernels.rows.descent``, to one of 16 places in four steps at once. The
credits of each place's path are listed first, so that rows only have to look them up. Further down
rows go step by step; a row that has arrived at its leaf stays there, where no value changes. Cost
of ``predecomp``, one thread (znver4): 1.3 ns a row and step in trees of depth 4, 2.0 at depth 6 and
4.7 at depth 10.

Where only the sum over rows is wanted, rows need not be told apart. Every row that takes an edge
meets the same change, so the sum is the change times the weight of the rows that take the edge:
rows add their weights up at their leaves, and one pass upwards gives the weight of every edge.
"""

import numpy as np

from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.platform.instructions import min
from gbt.kernels.rows.descent import N_PLACES, N_TOP, go_down_the_top, takes_left

# Steps in which every node passes over all rows, which becomes vector instructions, and adds 0 to
# those of other nodes. Further down, where nodes are many, rows are credited one by one.
N_WHOLE = 3


@internal
def list_paths(root, lower, feature, change, path_feature, path_change):
    """Write the credits of the first four steps to every place of a tree, and their features.

    path_feature   (4, 16)   uint64    OUT   by step and place
    path_change    (4, 16)   float64   OUT   0 below a leaf
    """
    for place in range(N_PLACES):
        t = root
        for step in range(N_TOP):
            side = np.uint64(~place >> (N_TOP - 1 - step) & 1)  # 1 is left, which is bit 0
            path_feature[step, place] = feature[t]
            path_change[step, place] = change[t, side]
            t = lower[t, side]


@internal
def credit_the_top(at, first, n_steps, path_feature, path_change, weight, out):
    """Credit the first steps of rows whose places are known.

    at             (n,)     uint64    IN     places
    first                   uint64   IN      the tree's first place
    path_feature, path_change                see ``list_paths``
    weight         (n,)     float64   IN
    out            (p, n)   float64   INOUT
    """
    for step in range(min(n_steps, N_WHOLE)):
        width = N_PLACES >> step  # of places below a node
        half, whole = np.uint64(width // 2), np.uint64(width)
        for start in range(0, N_PLACES, width):
            left, right = path_change[step, start], path_change[step, start + width - 1]
            credit, of_node = out[path_feature[step, start]], first + np.uint64(start)
            for i in range(at.shape[0]):
                place = at[i] - of_node  # unsigned: very large for a place before the node's
                change = left if place < half else right
                credit[i] += weight[i] * change if place < whole else 0.0
    for step in range(N_WHOLE, n_steps):
        feature, change = path_feature[step], path_change[step]
        for i in range(at.shape[0]):
            place = at[i] - first
            out[feature[place], np.uint64(i)] += weight[i] * change[place]


def memory_for(n_rows):
    """Return memory for `add_value_changes`: its arguments before the last one."""
    path_feature = np.empty((N_TOP, N_PLACES), dtype=np.uint64)
    return np.empty(n_rows, dtype=np.uint64), path_feature, np.empty((N_TOP, N_PLACES))


@uncounted
def add_value_changes(
    X, links, feature, change, row_weight, at, path_feature, path_change, out
):  # fmt: skip
    """Add the changes of the node value along each row's path, tree by tree.

    N nodes, M trees; of nodes and places, see ``gbt.kernels.rows.descent``.

    X             (2 p, n)        float64  IN     a block from ``gbt.model.predictor.transposed``
    links                       ``Links``  IN     of T trees
    feature       (N + 16 M,)     uint64   IN     credited for the changes below
    change        (N + 16 M, 2)   float64  IN     of the value, to the nodes right and left
    row_weight    (T, n)          float64  IN
    at, path_feature, path_change            memory, see ``memory_for``
    out           (p, n)          float64  INOUT
    """
    column, threshold, lower, sets = links.column, links.threshold, links.lower, links.sets
    for m in range(row_weight.shape[0]):
        n_steps, weight = links.tree_depth[m], row_weight[m]
        if n_steps == 0:
            continue
        go_down_the_top(X, links, sets, m, at)
        list_paths(links.roots[m], lower, feature, change, path_feature, path_change)
        credit_the_top(
            at, links.places[m], min(n_steps, N_TOP), path_feature, path_change, weight, out
        )
        for _ in range(n_steps - N_TOP):
            for i in range(at.shape[0]):
                t, row = at[i], np.uint64(i)
                side = takes_left(X[column[t], row], t, threshold, sets)
                out[feature[t], row] += weight[i] * change[t, side]
                at[i] = lower[t, side]


@uncounted
def add_up_leaves(lower, node_weight):
    """Give each inner node of all trees the sum of its children.

    lower         (n_nodes, 2)  uint64   IN     children after their parent; a leaf is its own
    node_weight   (n_nodes,)    float64  INOUT  filled at the leaves on entry
    """
    for node in range(lower.shape[0] - 1, -1, -1):
        l, r = lower[node, 1], lower[node, 0]
        if l != r:
            node_weight[node] = node_weight[l] + node_weight[r]


@uncounted
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


@uncounted
def average_leaves(tree_offset, left, right, weight, mean_value):
    """Give every inner node the weighted mean of the leaves below it; the plain one if all weigh 0.

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
                # 1 - weight[l] / weight[node] would lose a right child that weighs almost nothing.
                share_l, share_r = 0.5, 0.5
                if weight[node] > 0:
                    share_l, share_r = weight[l] / weight[node], weight[r] / weight[node]
                mean_value[node] = share_l * mean_value[l] + share_r * mean_value[r]
