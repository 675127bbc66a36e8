r"""Shapley values of trees by quadrature.

A *game* gives every edge of the tree a share: the part of its node's cover that takes it, or 1 and
0 where a background row goes. For a leaf of value v, let r_j be the product of the shares of its
path's edges on feature j, and o_j = 1 where the explained row takes all of them, else 0. The
Shapley value of feature k is (docs/attributions.md, section 10)

    phi_k = v (o_k - r_k) integral_0^1 prod_{j != k} a_j(t) dt         a_j(t) = t o_j + (1 - t) r_j

for which Gauss-Legendre with ceil(d/2) points is exact, d distinct features on the path. Every step
is an elementwise loop over a block of rows.

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

Per edge and point five numbers are computed, once for a block of rows, and each row picks among
them by two of its bits: does it go left at the split, and is it inside, o' = 1. Half of all edges
lead to leaves and take no loops of their own: below them the sum is v * product, so both leaves of
a split are five numbers more, by which the split's own product is multiplied::

        b         product(b) came down
       / \        below(b)   = product(b) * (sum over its leaves of v a(e) / a(e'))
     v1   v2      phi_k     += product(b) * (sum over its leaves of v a(e) / a(e') (c(e) - c(e')))

Cost per row and game: inner nodes x ceil(d/2) points x some 20 operations, 8 rows at once.
Memory: depth x points x 512 rows, twice. Rows that decide alike share this work, see
``attributions.kernels.shap_pieces``, which also walks the trees.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import internal, kernel, uncounted
from gbt.kernels.rows.walk import NodeSets, is_listed

# The five numbers of an edge at a quadrature point: what multiplies the product of a row that is
# inside and goes left, is inside and goes right, is outside; then the credits of the first two.
# A row outside gets no credit.
LEFT, RIGHT, OUTSIDE, CREDIT = np.arange(4)  # each plain number would be a type of its own
N_NUMBERS = 5


class Quadrature(NamedTuple):
    """Gauss-Legendre: row q of both, float64 of shape (Q + 1, Q), is the rule of q points."""

    points: np.ndarray
    weights: np.ndarray


class ShapTrees(NamedTuple):
    """The nodes of M trees; those without comment are the arrays of ``Ensemble``."""

    tree_offset: np.ndarray  # (M + 1,) int64
    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    sets: NodeSets  # without bits at all nodes of a model of numbers
    earlier_depth: np.ndarray  # (n_nodes,) int64, from `describe_splits`
    n_above: np.ndarray  # (n_nodes,) int64, likewise
    n_points: np.ndarray  # (M,) int64, points of quadrature that a tree takes
    quadrature: Quadrature
    n_splits: np.ndarray  # (n_nodes,) int64, from `shap_cuts.cut_trees`
    n_bits: np.ndarray  # (n_nodes,) int64, likewise


class Games(NamedTuple):
    """The games: one for all rows, or one for each background row."""

    edge_share: np.ndarray  # (n_nodes,) float64, the one game, or memory for the current one
    background: np.ndarray  # (B, p) float64, without rows where there is one game


class Words(NamedTuple):
    """What W words, or rows, are computed in.

    Python hands memory for the most of them, with flat arrays in place of the three that are dense.
    """

    word: np.ndarray  # (W,) uint16
    decision: np.ndarray  # (D, W) bool, True is left
    inside: np.ndarray  # (D + 1, W) bool, by depth, True at depth 0 on entry
    product: np.ndarray  # (D, Q, W) float64
    below: np.ndarray  # (D, Q, W) float64
    table: np.ndarray  # (S, W) float64, what each word gets for the feature of a slot
    feature: np.ndarray  # (S,) int64, of each slot
    slot_of: np.ndarray  # (p,) int64, of each feature; -1 on entry
    edges: np.ndarray  # (D, 2, Q, 5) float64, as for `weigh_split`
    leaves: np.ndarray  # (Q, 5) float64, likewise


@kernel
def describe_splits(tree_offset, feature, right, earlier_depth, n_above, longest_path, n_distinct):
    """Find, for every split, the edge above it on the same feature.

    tree_offset      (M + 1,)    int64  IN
    feature, right   (n_nodes,)  int32  IN   the node arrays of ``Ensemble``
    earlier_depth    (n_nodes,)  int64  OUT  depth of the lower end of e', 0 if there is none;
                                             not written at leaves
    n_above          (n_nodes,)  int64  OUT  distinct features on the path to a node
    longest_path         (M,)        int64  OUT  splits on the longest path of a tree
    n_distinct       (M,)        int64  OUT  most distinct features on one of its paths
    """
    for m in range(tree_offset.shape[0] - 1):
        root, end = tree_offset[m], tree_offset[m + 1]
        path = np.empty(end - root, np.int64)  # the split at each depth of the current path
        distinct = np.empty(end - root + 1, np.int64)  # features above each depth
        distinct[0], longest_path[m], n_distinct[m] = 0, 0, 0
        d = 0
        for node in range(root, end):
            n_above[node] = distinct[d]
            if right[node] >= 0:
                path[d] = node
                e = d
                while e > 0 and feature[path[e - 1]] != feature[node]:
                    e -= 1
                earlier_depth[node] = e
                d += 1
                distinct[d] = distinct[d - 1] + (e == 0)
                if d > longest_path[m]:
                    longest_path[m] = d
                if distinct[d] > n_distinct[m]:
                    n_distinct[m] = distinct[d]
            else:
                while d > 0 and node + 1 != root + right[path[d - 1]]:
                    d -= 1


@uncounted
def share_cover(tree_offset, right, value, cover, edge_share, expected):
    """Make the path-dependent game, and find its predictions when no feature is known.

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


@internal
def weigh_split(node, m, d, trees, edge_share, share_earlier, words):
    """Compute the five numbers of both edges below a split, and those of its leaves together.

    node, m                         int64           IN   the split and its tree
    d                               int64           IN   depth of the split
    trees                           ``ShapTrees``   IN
    edge_share      (n_nodes,)      float64         IN   of ``Games``
    share_earlier                   float64         IN   r'
    words                           ``Words``       OUT  edges at depth d; leaves, 0 without one
    """
    right, value, root = trees.right, trees.value, trees.tree_offset[m]
    points, weights = trees.quadrature.points, trees.quadrature.weights
    n_points, edges, leaves = trees.n_points[m], words.edges, words.leaves
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


@internal
def decide(n_rows, d, x, node, trees, decision):
    """Write the decision of every row at a split of depth d.

    n_rows                 int64          IN   R' <= R rows are in use
    x            (R',)     float64        IN   the split's feature; -inf for nan where nan goes left
    node                   int64          IN   the split
    trees                  ``ShapTrees``  IN
    decision     (D, R)    bool           OUT  row d: True is left
    """
    of_node, n_bits = trees.threshold[node], trees.sets.n_bits
    for i in range(n_rows):
        decision[d, i] = x[i] <= of_node
    if n_bits[node] > 0:
        sets = NodeSets(trees.sets.first, n_bits, trees.sets.words)
        missing_is_left = trees.missing_left[node]
        for i in range(n_rows):
            decision[d, i] = is_listed(x[i], node, sets) | (missing_is_left & (x[i] < 0.0))


@internal
def keep_inside(n_rows, d, e, side, decision, inside):
    """Write which rows take the edge below depth d and all edges above it on the same feature.

    e                 int64  IN     depth of the lower end of e', 0 if there is none
    side              int64  IN     LEFT or RIGHT
    decision  (D, R)  bool   IN     row d
    inside    (D, R)  bool   INOUT  row e is o', row d + 1 becomes o; row 0 is all True
    """
    for i in range(n_rows):
        inside[d + 1, i] = inside[e, i] & (decision[d, i] == (side == LEFT))


@internal
def descend(d, e, side, words):
    """Take the product of factors across the edge below depth d.

    words   ``Words``  INOUT  edges at depth d and this side, row d of the decisions and row e of
                              inside; the product from depth d to depth d + 1
    """
    edges, decision, inside, product = words.edges, words.decision, words.inside, words.product
    for q in range(product.shape[1]):
        when_left, when_right = edges[d, side, q, LEFT], edges[d, side, q, RIGHT]
        when_outside = edges[d, side, q, OUTSIDE]
        for i in range(product.shape[2]):
            when_inside = when_left if decision[d, i] else when_right
            factor = when_inside if inside[e, i] else when_outside
            product[d + 1, q, i] = product[d, q, i] * factor


@internal
def pay_leaves(d, e, slot, words):
    """Start the sum below the split of depth d with its leaves, and credit the edges to them.

    slot      int64      IN     of the split's feature
    words    ``Words``   INOUT  leaves, rows d of the decisions and e of inside, and the product of
                                depth d; below at depth d, and the slot's row of the table
    """
    leaves, decision, inside = words.leaves, words.decision, words.inside
    product, below, column = words.product, words.below, words.table[slot]
    for q in range(product.shape[1]):
        when_left, when_right, when_outside = leaves[q, LEFT], leaves[q, RIGHT], leaves[q, OUTSIDE]
        credit_left, credit_right = leaves[q, CREDIT], leaves[q, CREDIT + 1]
        for i in range(product.shape[2]):
            when_inside = when_left if decision[d, i] else when_right
            credit = credit_left if decision[d, i] else credit_right
            factors = product[d, q, i]
            below[d, q, i] = factors * (when_inside if inside[e, i] else when_outside)
            column[i] += factors * (credit if inside[e, i] else 0.0)


@internal
def ascend(d, e, side, slot, words):
    """Credit the edge below depth d for the leaves below it, and hand their sum up.

    slot      int64      IN     of the split's feature
    words    ``Words``   INOUT  edges at depth d and this side, rows d of the decisions and e of
                                inside; below from depth d + 1 to depth d, and the slot's row of
                                the table
    """
    edges, decision, inside = words.edges, words.decision, words.inside
    below, column = words.below, words.table[slot]
    for q in range(below.shape[1]):
        credit_left, credit_right = edges[d, side, q, CREDIT], edges[d, side, q, CREDIT + 1]
        for i in range(below.shape[2]):
            credit = credit_left if decision[d, i] else credit_right
            sums = below[d + 1, q, i]
            below[d, q, i] += sums
            column[i] += sums * (credit if inside[e, i] else 0.0)
