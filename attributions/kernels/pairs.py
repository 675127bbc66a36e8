r"""Changes of a node value along paths, credited to pairs: a feature, and one that split above.

A row with path a, b, c, d through nodes that split on features 3, 0, 3::

        a [3]        to 3 alone       w (value[b] - value[a])
       / \
  [0] b            0 below 3        w (value[c] - value[b])
     / \
    c [3]            3 below 0        w (value[d] - value[c])
   / \
  d

Which pairs a change is credited to depends on the node alone, so it is listed once for every node.
Cost: that of a walk for every row and tree, and one addition for every pair on the path.
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
