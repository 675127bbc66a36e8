"""Shapley values of one tree by quadrature.

A *game* gives every edge of the tree a share: the part of its node's cover that takes it, or 1 and
0 where a background row goes. For a leaf of value v, let r_j be the product of the shares of its
path's edges on feature j, and o_j = 1 where the explained row takes all of them, else 0. In the
game v prod_{j in S} o_j prod_{j not in S} r_j the Shapley value of feature k is

    phi_k = v (o_k - r_k) integral_0^1 prod_{j != k} a_j(t) dt         a_j(t) = t o_j + (1 - t) r_j

because the integral of t^s (1 - t)^(d-1-s) is the Shapley weight s! (d-1-s)! / d!. The integrand
has degree d - 1, d distinct features on the path, so Gauss-Legendre with ceil(d/2) points is exact.
No coalition is listed and no path unwound; every step is an elementwise loop over a block of rows.

A walk in preorder keeps, for each depth of the current path and each quadrature point t,

    going down   product(e) = product(parent) * a(e) / a(e')             product of all a_j so far
    going up     below(parent) += below(e)                               sum of v * product
                 phi_k += sum over t of weight * below(e) * (c(e) - c(e'))        c = (o - r) / a

where e' is the nearest edge above e on the same feature, with o' = r' = 1 if there is none. Over
the edges of one feature both telescope, so what counts at a leaf is the last of them. A row is in
one of three states at an edge, and none needs a division by 0, not even where r = 0::

    o'  o     a(e) / a(e')                          c(e) - c(e')
    1   1     (t + (1-t) r) / (t + (1-t) r')        (1-r)/(t + (1-t) r) - (1-r')/(t + (1-t) r')
    1   0     (1-t) r / (t + (1-t) r')              -1/(1-t)            - (1-r')/(t + (1-t) r')
    0   0     r / r', the share of e alone          0

(Where o = r = 0, c may be any finite number: the product below the edge is 0.)
Cost per row and game: edges x ceil(d/2) points, two passes. Memory: depth x points x 256 rows.
"""

import numpy as np

from gbt.kernels.compiling import kernel
from gbt.kernels.walk import goes_left

ROWS_AT_ONCE = 256  # 128 is a fifth slower, 512 no faster (depths 4, 6 and 10)


@kernel
def describe_edges(feature, left, right, depth, earlier_depth, n_distinct):
    """Describe the edge into every node of a tree.

    feature, left, right   (n_nodes,)  int32  IN   in preorder
    depth                  (n_nodes,)  int64  OUT  steps from the root
    earlier_depth          (n_nodes,)  int64  OUT  depth of e', the edge above on the same feature;
                                                   0 if there is none
    n_distinct             (n_nodes,)  int64  OUT  distinct features on the path
    """
    path = np.empty(feature.shape[0], np.int64)
    depth[0], earlier_depth[0], n_distinct[0] = 0, 0, 0
    for node in range(feature.shape[0]):
        d = depth[node]
        path[d] = node
        if d > 0:
            parent = path[d - 1]
            e = d - 1
            while e > 0 and feature[path[e - 1]] != feature[parent]:
                e -= 1
            earlier_depth[node] = e
            n_distinct[node] = n_distinct[parent] + (e == 0)
        if left[node] >= 0:
            depth[left[node]] = d + 1
            depth[right[node]] = d + 1


@kernel
def follow_background(Z, feature, threshold, left, right, missing_left, edge_share):
    """Make each background row a game: share 1 for the edges that it would take, 0 for others.

    Z             (B, p)        float64  IN
    feature ...   (n_nodes,)             IN   the node arrays of one tree
    edge_share    (B, n_nodes)  float64  OUT
    """
    for game in range(Z.shape[0]):
        edge_share[game, 0] = 1.0
        for node in range(feature.shape[0]):
            if left[node] >= 0:
                is_left = goes_left(Z[game, feature[node]], threshold[node], missing_left[node])
                edge_share[game, left[node]] = 1.0 if is_left else 0.0
                edge_share[game, right[node]] = 0.0 if is_left else 1.0


@kernel
def expect_value(left, right, value, edge_share):
    """Return what a tree predicts when no feature is known, the mean over games.

    left, right   (n_nodes,)    int32    IN   one tree, children after their parent
    value         (n_nodes,)    float64  IN
    edge_share    (B, n_nodes)  float64  IN
    """
    total = 0.0
    expected = value.copy()
    for game in range(edge_share.shape[0]):
        for node in range(left.shape[0] - 1, -1, -1):
            l, r = left[node], right[node]
            if l >= 0:
                expected[node] = (
                    edge_share[game, l] * expected[l] + edge_share[game, r] * expected[r]
                )
        total += expected[0]
    return total / edge_share.shape[0]


@kernel
def keep_inside(n_rows, inside_earlier, goes_left, is_left, inside):
    """Say which rows take an edge and all edges above it on the same feature.

    n_rows                            int64  IN   R' <= R rows are in use
    inside_earlier, goes_left  (R,)   bool   IN   o', and the decision of every row at the parent
    is_left                           bool   IN   whether the edge is the parent's left one
    inside                     (R,)   bool   OUT  o
    """
    for i in range(n_rows):
        inside[i] = inside_earlier[i] & (goes_left[i] == is_left)


@kernel
def descend(
    n_rows, inside, inside_earlier, edge_share, share, share_earlier, points, above, product
):
    """Take the product of factors across one edge: product = above * a(e) / a(e').

    n_rows                                int64    IN   R' <= R rows are in use
    inside, inside_earlier        (R,)    bool     IN   o and o' of every row
    edge_share, share, share_earlier      float64  IN   share of e, r and r'
    points                        (Q,)    float64  IN   t, in (0, 1)
    above                         (Q, R)  float64  IN   the product at the parent
    product                       (Q, R)  float64  OUT
    """
    for q in range(points.shape[0]):
        t = points[q]
        a_earlier = t + (1.0 - t) * share_earlier
        stays = (t + (1.0 - t) * share) / a_earlier
        leaves = (1.0 - t) * share / a_earlier
        for i in range(n_rows):
            outside = leaves if inside_earlier[i] else edge_share
            product[q, i] = above[q, i] * (stays if inside[i] else outside)


@kernel
def ascend(
    n_rows, inside, inside_earlier, share, share_earlier, points, weights, below, above, credit
):
    """Credit one edge for the leaves below it, and hand their sum to the parent.

    n_rows                                int64    IN     R' <= R rows are in use
    inside, inside_earlier        (R,)    bool     IN     o and o' of every row
    share, share_earlier                  float64  IN     r and r'
    points, weights               (Q,)    float64  IN     the quadrature on (0, 1)
    below                         (Q, R)  float64  IN     sum of v * product below the edge
    above                         (Q, R)  float64  INOUT  the same below the parent
    credit                        (R,)    float64  INOUT  of the parent's feature
    """
    for q in range(points.shape[0]):
        t = points[q]
        c_earlier = (1.0 - share_earlier) / (t + (1.0 - t) * share_earlier)
        stays = weights[q] * ((1.0 - share) / (t + (1.0 - t) * share) - c_earlier)
        leaves = weights[q] * (-1.0 / (1.0 - t) - c_earlier)
        for i in range(n_rows):
            outside = leaves if inside_earlier[i] else 0.0
            credit[i] += below[q, i] * (stays if inside[i] else outside)
            above[q, i] += below[q, i]


@kernel
def open_split(n_rows, x, threshold, missing_left, decisions, below, credit):
    """Take the decision of every row at a node; nothing is known yet of the leaves below it.

    n_rows                         int64    IN   R' <= R rows are in use
    x                       (R',)  float64  IN   the node's feature
    threshold, missing_left                 IN   of the node
    decisions               (R,)   bool     OUT  True is left
    below                   (Q, R) float64  OUT  0
    credit                  (R,)   float64  OUT  0
    """
    for i in range(n_rows):
        decisions[i] = goes_left(x[i], threshold, missing_left)
        credit[i] = 0.0
    for q in range(below.shape[0]):
        for i in range(n_rows):
            below[q, i] = 0.0


@kernel
def weigh_leaf(n_rows, value, product, below):
    """Start the way up from a leaf: below = value * product, (Q, R) float64 both."""
    for q in range(product.shape[0]):
        for i in range(n_rows):
            below[q, i] = value * product[q, i]


@kernel
def close_split(n_rows, credit, column):
    """Add the credit (R,) of a node's feature to its column of the output."""
    for i in range(n_rows):
        column[i] += credit[i]


@kernel
def start_game(n_rows, row_weight, n_games, product):
    """Start the way down: the product (Q, R) of no factors, times the weight of each row."""
    for q in range(product.shape[0]):
        for i in range(n_rows):
            product[q, i] = row_weight[i] / n_games


@kernel
def add_shapley(
    X, feature, threshold, left, missing_left, value, depth, earlier_depth, edge_share,
    points, weights, row_weight, out,
):  # fmt: skip
    """Add the Shapley values of one tree, the mean over games.

    X                     (n, p)        float64  IN
    feature ...           (n_nodes,)             IN     the node arrays of one tree, in preorder
    depth, earlier_depth  (n_nodes,)    int64    IN     from `describe_edges`
    edge_share            (B, n_nodes)  float64  IN     one row a game; of the edge into each node
    points, weights       (Q,)          float64  IN     Gauss-Legendre on (0, 1)
    row_weight            (n,)          float64  IN
    out                   (n, p)        float64  INOUT
    """
    n_nodes, n_games, n_points = feature.shape[0], edge_share.shape[0], points.shape[0]
    n_levels, n_at_once = depth.max() + 1, min(ROWS_AT_ONCE, X.shape[0])
    path = np.empty(n_levels, np.int64)  # the node at each depth; below, what belongs to it
    share = np.ones(n_levels)
    decisions = np.empty((n_levels, n_at_once), np.bool_)
    inside = np.ones((n_levels, n_at_once), np.bool_)
    product = np.empty((n_levels, n_points, n_at_once))
    below = np.empty((n_levels, n_points, n_at_once))
    credit = np.empty((n_levels, n_at_once))
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        n_rows = min(ROWS_AT_ONCE, X.shape[0] - start)
        start_game(n_rows, row_weight[start:], n_games, product[0])
        for game in range(n_games):
            for node in range(n_nodes):
                d, k = depth[node], feature[node]
                path[d] = node
                if d > 0:
                    e = earlier_depth[node]
                    share[d] = share[e] * edge_share[game, node]
                    is_left = node == left[path[d - 1]]
                    keep_inside(n_rows, inside[e], decisions[d - 1], is_left, inside[d])
                    descend(
                        n_rows, inside[d], inside[e], edge_share[game, node], share[d], share[e],
                        points, product[d - 1], product[d],
                    )  # fmt: skip
                if left[node] >= 0:
                    open_split(
                        n_rows, X[start:, k], threshold[node], missing_left[node],
                        decisions[d], below[d], credit[d],
                    )  # fmt: skip
                else:
                    weigh_leaf(n_rows, value[node], product[d], below[d])
                d_next = depth[node + 1] if node + 1 < n_nodes else 0
                for b in range(d, d_next - 1, -1):  # the nodes that this leaf completes
                    if left[path[b]] >= 0:
                        close_split(n_rows, credit[b], out[start:, feature[path[b]]])
                    if b > 0:
                        e = earlier_depth[path[b]]
                        ascend(
                            n_rows, inside[b], inside[e], share[b], share[e],
                            points, weights, below[b], below[b - 1], credit[b - 1],
                        )  # fmt: skip
