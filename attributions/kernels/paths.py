r"""Changes of a node value along paths, sums of weights along paths, and mean leaf values.

A row with path a, b, d through nodes that split on features 3 and 0::

        a [3]            out[3, i] += w_i (value[b] - value[a])
       / \              out[0, i] += w_i (value[d] - value[b])
  [0] b   c
     / \
    d   e

PreDecomp walks with the values that the model keeps, Saabas with mean leaf values. Rows go down a
tree together, as in ``gbt.kernels.rows.descent``, to one of 16 places in four steps at once. The
first three steps are credited as in ``attributions.kernels.contrasts``, the fourth is looked up by
the place. Further down rows go step by step; a row that has arrived at its leaf stays there, where
no value changes. Cost of ``predecomp``, one thread (znver4): 1.3 ns a row and step in trees of
depth 4, 2.0 at depth 6 and 4.7 at depth 10.

Where only the sum over rows is wanted, rows need not be told apart. Every row that takes an edge
meets the same change, so the sum is the change times the weight of the rows that take the edge:
rows add their weights up at their leaves, and one pass upwards gives the weight of every edge.

Of pairs, a change belongs to the feature and each one that split above (`add_pair_changes`). Which
these are depends on the node alone, so it is listed once for every node.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import uncounted
from gbt.kernels.rows.descent import takes_left


class Credits(NamedTuple):
    """To which pairs the changes below every node are credited. N nodes, P pairs."""

    first: np.ndarray  # (N + 1,) int64, where a node's pairs begin
    pair: np.ndarray  # (first[N],) int64, numbers of pairs
    share: np.ndarray  # (N,) float64, of a change, for each of the node's pairs


@uncounted
def add_pair_changes(X, links, change, credits, row_weight, out):
    """Add the changes of the node value along each row's path to pairs of features.

    Cost: that of a walk for every row and tree, and one addition for every pair on the path.

    X             (2 p, n)        float64  IN     a block from ``gbt.model.predictor.transposed``
    links                       ``Links``  IN     of T trees
    change        (N, 2)          float64  IN     of the value, to the nodes right and left
    credits                   ``Credits``  IN
    row_weight    (T, n)          float64  IN
    out           (n, P)          float64  INOUT
    """
    column, threshold, lower, sets = links.column, links.threshold, links.lower, links.sets
    for i in range(X.shape[1]):
        credit = out[i]
        for m in range(row_weight.shape[0]):
            t = links.roots[m]
            for _ in range(links.tree_depth[m]):
                side = takes_left(X[column[t], i], t, threshold, sets)
                worth = row_weight[m, i] * change[t, side] * credits.share[t]
                for j in range(credits.first[t], credits.first[t + np.uint64(1)]):
                    credit[credits.pair[j]] += worth
                t = lower[t, side]


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
