r"""Shapley values of trees by quadrature.

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

Per edge and point five numbers are worked out, once for a block of rows, and each row picks among
them by two of its bits: does it go left at the split, and is it inside, o' = 1. Half of all edges
lead to leaves and take no loops of their own: below them the sum is v * product, so both leaves of
a split are five numbers more, by which the split's own product is multiplied::

        b         product(b) came down
       / \        below(b)   = product(b) * (sum over its leaves of v a(e) / a(e'))
     v1   v2      phi_k     += product(b) * (sum over its leaves of v a(e) / a(e') (c(e) - c(e')))

Cost per row and game: inner nodes x ceil(d/2) points x some 20 operations, 8 rows at once.
Memory: depth x points x 512 rows, twice.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import kernel
from gbt.kernels.rows.walk import Sets, goes_left, is_listed

ROWS_AT_ONCE = 512  # 256 takes a seventh longer: what a split costs whatever the number of rows

# The five numbers of an edge at a quadrature point: what multiplies the product of a row that is
# inside and goes left, is inside and goes right, is outside; then the credits of the first two.
# A row outside gets no credit.
LEFT, RIGHT, OUTSIDE, CREDIT = range(4)
N_NUMBERS = 5


class Trees(NamedTuple):
    """The nodes of M trees; those without comment are the arrays of ``Ensemble``."""

    tree_offset: np.ndarray  # (M + 1,) int64
    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    sets: Sets | None
    earlier_depth: np.ndarray  # (n_nodes,) int64, from `describe_splits`
    n_points: np.ndarray  # (M,) int64, points of quadrature that a tree takes


class Games(NamedTuple):
    """What is played: one game, or one a background row."""

    edge_share: np.ndarray  # (n_nodes,) float64, the one game, or else room for the one at hand
    background: np.ndarray  # (B, p) float64, without rows where there is one game


class Quadrature(NamedTuple):
    """Gauss-Legendre: row q of both, float64 of shape (Q + 1, Q), is the rule of q points."""

    points: np.ndarray
    weights: np.ndarray


class Block(NamedTuple):
    """Work of a block of R rows, by depth below D; ``inside[0]`` is True on entry."""

    decision: np.ndarray  # (D, R) bool, True is left
    inside: np.ndarray  # (D, R) bool
    product: np.ndarray  # (D, Q, R) float64
    below: np.ndarray  # (D, Q, R) float64


@kernel
def describe_splits(tree_offset, feature, right, earlier_depth, n_levels, n_distinct):
    """Find, for every split, the edge above it on the same feature.

    tree_offset      (M + 1,)    int64  IN
    feature, right   (n_nodes,)  int32  IN   the node arrays of ``Ensemble``
    earlier_depth    (n_nodes,)  int64  OUT  depth of the lower end of e', 0 if there is none;
                                             not written at leaves
    n_levels         (M,)        int64  OUT  splits on the longest path of a tree
    n_distinct       (M,)        int64  OUT  most distinct features on one of its paths
    """
    for m in range(tree_offset.shape[0] - 1):
        root, end = tree_offset[m], tree_offset[m + 1]
        path = np.empty(end - root, np.int64)  # the split at each depth of the current path
        distinct = np.empty(end - root + 1, np.int64)  # features above each depth
        distinct[0], n_levels[m], n_distinct[m] = 0, 0, 0
        d = 0
        for node in range(root, end):
            if right[node] >= 0:
                path[d] = node
                e = d
                while e > 0 and feature[path[e - 1]] != feature[node]:
                    e -= 1
                earlier_depth[node] = e
                d += 1
                distinct[d] = distinct[d - 1] + (e == 0)
                if d > n_levels[m]:
                    n_levels[m] = d
                if distinct[d] > n_distinct[m]:
                    n_distinct[m] = distinct[d]
            else:
                while d > 0 and node + 1 != root + right[path[d - 1]]:
                    d -= 1


@kernel
def share_cover(tree_offset, right, value, cover, edge_share, expected):
    """Make the path-dependent game, and say what it predicts when no feature is known.

    tree_offset    (M + 1,)    int64    IN
    right, value   (n_nodes,)           IN   the node arrays of ``Ensemble``
    cover          (n_nodes,)  float64  IN
    edge_share     (n_nodes,)  float64  OUT  of the edge into each node; 1 at roots
    expected       (n_nodes,)  float64  OUT  share-weighted mean of the leaves below each node
    """
    for m in range(tree_offset.shape[0] - 1):
        root = tree_offset[m]
        for node in range(tree_offset[m + 1] - 1, root - 1, -1):
            expected[node] = value[node]
            if right[node] >= 0:
                expected[node] = 0.0
                for child in (node + 1, root + right[node]):
                    edge_share[child] = cover[child] / cover[node] if cover[node] > 0 else 0.0
                    expected[node] += edge_share[child] * expected[child]
        edge_share[root] = 1.0


@kernel
def follow_background(z, m, trees, edge_share):
    """Make a background row a game of tree m: share 1 for the edges it would take, else 0.

    z             (p,)        float64    IN
    trees                     ``Trees``  IN
    edge_share    (n_nodes,)  float64    OUT  at the nodes of the tree
    """
    feature, right, sets = trees.feature, trees.right, trees.sets
    threshold, missing_left = trees.threshold, trees.missing_left
    root = trees.tree_offset[m]
    for node in range(root, trees.tree_offset[m + 1]):
        if right[node] >= 0:
            is_left = goes_left(z[feature[node]], node, threshold, missing_left, sets)
            edge_share[node + 1] = 1.0 if is_left else 0.0
            edge_share[root + right[node]] = 0.0 if is_left else 1.0


@kernel
def weigh_split(node, m, trees, edge_share, share_earlier, quadrature, d, edges, leaves):
    """Work out the five numbers of both edges below a split, and those of its leaves together.

    node, m                         int64           IN   the split and its tree
    trees                           ``Trees``       IN
    edge_share      (n_nodes,)      float64         IN   of ``Games``
    share_earlier                   float64         IN   r'
    quadrature                      ``Quadrature``  IN
    d                               int64           IN   depth of the split
    edges           (D, 2, Q, 5)    float64         OUT  at depth d
    leaves          (Q, 5)          float64         OUT  0 if there is no leaf
    """
    right, value, root = trees.right, trees.value, trees.tree_offset[m]
    points, weights, n_points = quadrature.points, quadrature.weights, trees.n_points[m]
    for q in range(n_points):
        t, weight = points[n_points, q], weights[n_points, q]
        a_earlier = t + (1.0 - t) * share_earlier
        c_earlier = (1.0 - share_earlier) / a_earlier
        for j in range(N_NUMBERS):
            leaves[q, j] = 0.0
        for side in (LEFT, RIGHT):
            child, other = (node + 1, RIGHT) if side == LEFT else (root + right[node], LEFT)
            share = share_earlier * edge_share[child]
            a = t + (1.0 - t) * share
            edge = edges[d, side, q]
            edge[side] = a / a_earlier
            edge[other] = (1.0 - t) * share / a_earlier
            edge[OUTSIDE] = edge_share[child]
            edge[CREDIT + side] = weight * ((1.0 - share) / a - c_earlier)
            edge[CREDIT + other] = weight * (-1.0 / (1.0 - t) - c_earlier)
            if right[child] < 0:
                for j in range(CREDIT):
                    leaves[q, j] += value[child] * edge[j]
                for j in range(OUTSIDE):
                    leaves[q, CREDIT + j] += value[child] * edge[j] * edge[CREDIT + j]


@kernel
def decide(n_rows, d, x, node, threshold, missing_left, sets, decision):
    """Take the decision of every row at a split of depth d.

    n_rows                                int64              IN   R' <= R rows are in use
    x                         (R',)       float64            IN   the split's feature; -inf for nan
                                                                  where nan goes left
    node                                  int64              IN   the split
    threshold, missing_left   (n_nodes,)                     IN   as for `add_shapley`
    sets                                  ``Sets`` or None   IN
    decision                  (D, R)      bool               OUT  row d: True is left
    """
    of_node = threshold[node]
    for i in range(n_rows):
        decision[d, i] = x[i] <= of_node
    if sets is not None and sets.n_bits[node] > 0:
        missing_is_left = missing_left[node]
        for i in range(n_rows):
            decision[d, i] = is_listed(x[i], node, sets) | (missing_is_left & (x[i] < 0.0))


@kernel
def keep_inside(n_rows, d, e, side, decision, inside):
    """Say which rows take the edge below depth d and all edges above it on the same feature.

    e                 int64  IN     depth of the lower end of e', 0 if there is none
    side              int64  IN     LEFT or RIGHT
    decision  (D, R)  bool   IN     row d
    inside    (D, R)  bool   INOUT  row e is o', row d + 1 becomes o; row 0 is all True
    """
    for i in range(n_rows):
        inside[d + 1, i] = inside[e, i] & (decision[d, i] == (side == LEFT))


@kernel
def descend(n_rows, n_points, d, e, side, edges, decision, inside, product):
    """Take the product of factors across the edge below depth d.

    edges     (D, 2, Q, 5)  float64  IN     at depth d and this side
    decision  (D, R)        bool     IN     row d
    inside    (D, R)        bool     IN     row e
    product   (D, Q, R)     float64  INOUT  from depth d to depth d + 1
    """
    for q in range(n_points):
        when_left, when_right = edges[d, side, q, LEFT], edges[d, side, q, RIGHT]
        when_outside = edges[d, side, q, OUTSIDE]
        for i in range(n_rows):
            when_inside = when_left if decision[d, i] else when_right
            factor = when_inside if inside[e, i] else when_outside
            product[d + 1, q, i] = product[d, q, i] * factor


@kernel
def pay_leaves(n_rows, n_points, d, e, leaves, decision, inside, product, below, column):
    """Start the sum below the split of depth d with its leaves, and credit the edges to them.

    leaves    (Q, 5)      float64  IN
    decision  (D, R)      bool     IN     row d
    inside    (D, R)      bool     IN     row e
    product   (D, Q, R)   float64  IN     at depth d
    below     (D, Q, R)   float64  OUT    at depth d
    column    (R',)       float64  INOUT  the output of the split's feature
    """
    for q in range(n_points):
        when_left, when_right, when_outside = leaves[q, LEFT], leaves[q, RIGHT], leaves[q, OUTSIDE]
        credit_left, credit_right = leaves[q, CREDIT], leaves[q, CREDIT + 1]
        for i in range(n_rows):
            when_inside = when_left if decision[d, i] else when_right
            credit = credit_left if decision[d, i] else credit_right
            factors = product[d, q, i]
            below[d, q, i] = factors * (when_inside if inside[e, i] else when_outside)
            column[i] += factors * (credit if inside[e, i] else 0.0)


@kernel
def ascend(n_rows, n_points, d, e, side, edges, decision, inside, below, column):
    """Credit the edge below depth d for the leaves below it, and hand their sum up.

    edges     (D, 2, Q, 5)  float64  IN     at depth d and this side
    decision  (D, R)        bool     IN     row d
    inside    (D, R)        bool     IN     row e
    below     (D, Q, R)     float64  INOUT  from depth d + 1 to depth d
    column    (R',)         float64  INOUT  the output of the split's feature
    """
    for q in range(n_points):
        credit_left, credit_right = edges[d, side, q, CREDIT], edges[d, side, q, CREDIT + 1]
        for i in range(n_rows):
            credit = credit_left if decision[d, i] else credit_right
            sums = below[d + 1, q, i]
            below[d, q, i] += sums
            column[i] += sums * (credit if inside[e, i] else 0.0)


@kernel
def start_game(n_rows, n_points, row_weight, n_games, product):
    """Start the way down: the product (D, Q, R) of no factors, times the weight of each row."""
    for q in range(n_points):
        for i in range(n_rows):
            product[0, q, i] = row_weight[i] / n_games


@kernel
def add_shapley(X, start, n_rows, first, trees, games, quadrature, row_weight, block, out):
    """Add the Shapley values of some trees for a block of rows, of each tree the mean over games.

    X                (2, p, n)    float64         IN     rows; X[1] has -inf where X[0] has nan
    start, n_rows                 int64           IN     the block, at most R rows
    first                         int64           IN     the first of T trees
    trees                         ``Trees``       IN
    games                         ``Games``       IN
    quadrature                    ``Quadrature``  IN
    row_weight       (T, n)       float64         IN
    block                         ``Block``       WORK
    out              (p, n)       float64         INOUT
    """
    decision, inside, product, below = block
    edge_share, background = games
    feature, right, missing_left = trees.feature, trees.right, trees.missing_left
    threshold, sets, earlier_depth = trees.threshold, trees.sets, trees.earlier_depth
    n_levels, rows = decision.shape[0], slice(start, start + n_rows)
    most_points = quadrature.points.shape[1]
    path = np.empty(n_levels, np.int64)  # the split at each depth
    taken = np.empty(n_levels, np.int64)  # side of the edge that leads on from it
    share = np.empty(n_levels)  # r of the edge into each depth
    edges = np.empty((n_levels, 2, most_points, N_NUMBERS))  # the two below each depth
    leaves = np.empty((most_points, N_NUMBERS))
    share[0] = 1.0
    n_games = max(1, background.shape[0])
    for m in range(first, first + row_weight.shape[0]):
        root, q = trees.tree_offset[m], trees.n_points[m]
        for game in range(n_games):
            if background.shape[0]:
                follow_background(background[game], m, trees, edge_share)
            start_game(n_rows, q, row_weight[m - first, rows], n_games, product)
            d = np.int64(0)  # a plain 0 has a type of its own, and kernels are compiled twice
            for node in range(root, trees.tree_offset[m + 1]):
                if right[node] >= 0:
                    path[d], taken[d] = node, LEFT
                    if d > 0:
                        e, side = earlier_depth[path[d - 1]], taken[d - 1]
                        share[d] = share[e] * edge_share[node]
                        keep_inside(n_rows, d - 1, e, side, decision, inside)
                        descend(n_rows, q, d - 1, e, side, edges, decision, inside, product)
                    k, e = feature[node], earlier_depth[node]
                    x = X[int(missing_left[node]), k, rows]
                    decide(n_rows, d, x, node, threshold, missing_left, sets, decision)
                    weigh_split(node, m, trees, edge_share, share[e], quadrature, d, edges, leaves)
                    pay_leaves(
                        n_rows, q, d, e, leaves, decision, inside, product, below, out[k, rows]
                    )
                    d += 1
                    continue
                # A leaf: climb to the split whose right child comes next, or above the root.
                while d > 0 and node + 1 != root + right[path[d - 1]]:
                    d -= 1  # the split of depth d is complete
                    if d > 0:
                        above = path[d - 1]
                        ascend(
                            n_rows, q, d - 1, earlier_depth[above], taken[d - 1], edges,
                            decision, inside, below, out[feature[above], rows],
                        )  # fmt: skip
                if d > 0:
                    taken[d - 1] = RIGHT
