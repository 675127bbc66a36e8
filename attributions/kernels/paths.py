"""Mean leaf values, and what steps earn by pairs of features and against a feature's earlier ones.

Of pairs, a step belongs to the feature of its split and to each one that split above. Which these
are depends on the node alone, so it is listed once for every node (`add_to_pairs`).
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import uncounted


class Credits(NamedTuple):
    """To which pairs the steps below every node are credited. N nodes, P pairs."""

    first: np.ndarray  # (N + 1,) int64, where a node's pairs begin
    pair: np.ndarray  # (first[N],) int64, numbers of pairs
    share: np.ndarray  # (N,) float64, of a step, for each of the node's pairs


@uncounted
def add_to_pairs(spots, up, step, credits, row_weight, out):
    """Add the changes of the node value along each row's path to pairs of features.

    spots                       ``Spots``  IN
    up            (N + 16 M,)     uint64   IN     the parent of every node and place
    step          (N + 16 M,)     float64  IN     how far its value lies above that of the parent
    credits                     ``Credits``  IN
    row_weight    (M, n)          float64  IN
    out           (n, P)          float64  INOUT
    """
    for i in range(out.shape[0]):
        credit = out[i]
        for m in range(row_weight.shape[0]):
            at = spots.first[m] + np.uint64(spots.of_row[m, i])
            for _ in range(spots.tree_depth[m]):
                t = up[at]
                worth = row_weight[m, i] * step[at] * credits.share[t]
                for j in range(credits.first[t], credits.first[t + np.uint64(1)]):
                    credit[credits.pair[j]] += worth
                at = t


@uncounted
def add_partial_terms(features, gradient, hessian, weight, step, earlier, total):
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
