r"""Shapley interaction values of trees, by the quadrature of ``attributions.kernels.shap``.

For a leaf of value v, with o_j, r_j and a_j(t) = t o_j + (1 - t) r_j of the features on its path as
there, the interaction index of features j and k is

    I_jk = v (o_j - r_j) (o_k - r_k) integral_0^1 prod_{l != j, k} a_l(t) dt

by the same argument, of degree d - 2. With c = (o - r) / a it is the integral of v c_j c_k times
the product of all a, so the points of the Shapley values are enough. (Where o = r = 0 the product
is 0, and c may be any finite number.)

So a leaf adds a number to every pair of features on its path, and to no other pair. The number
depends on the features whose conditions a row meets, one bit each. The 2^d possible *words* of bits
are evaluated once for a block of rows, and a row looks its own up::

    path of a leaf    x3 <= 1, x0 > 2, x3 > 0      slot 0 is x3, slot 1 is x0
    a row             x3 is not met, x0 is         word 10

Where there are fewer rows than words, the rows are evaluated instead, by the same operations. Cost
per row and leaf: d operations to find the word, and an addition for each of d (d - 1) / 2 pairs.
"""

from typing import NamedTuple

import numpy as np

from attributions.kernels.shap import LEFT, RIGHT, decide, keep_inside
from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.platform.handing import handed
from gbt.kernels.platform.instructions import max, min

MOST_SLOTS_OF_WORDS = 8  # 256 words


class PairWalk(NamedTuple):
    """The current path of a walk, by depth below D, and what a leaf adds, for W words or rows."""

    node: np.ndarray  # (D,) int64, the split
    slot: np.ndarray  # (D,) int64, number of its feature among those of the path
    share: np.ndarray  # (D + 1,) float64, r of the edge into each depth; 1 at depth 0 on entry
    feature: np.ndarray  # (D,) int64, by slot
    last: np.ndarray  # (D,) int64, by slot: depth of the lower end of the last edge on the feature
    decision: np.ndarray  # (D, R) bool, True is left
    inside: np.ndarray  # (D + 1, R) bool, o by depth; True at depth 0 on entry
    place: np.ndarray  # (R,) int64, the word of each row
    met: np.ndarray  # (D, W) bool, by slot: o of each word
    product: np.ndarray  # (W,) float64
    credit: np.ndarray  # (D, W) float64, c
    table: np.ndarray  # (D (D - 1) / 2, W) float64, what each word gets for a pair of slots


@internal
def take_pair_edge(d, side, m, trees, edge_share, n_rows, path):
    """Take an edge below the split of depth d: write its share, and which rows are inside."""
    node = path.node[d]
    child = node + 1 if side == LEFT else trees.tree_offset[m] + trees.right[node]
    e = trees.earlier_depth[node]
    path.share[d + 1] = path.share[e] * edge_share[child]
    keep_inside(n_rows, d, e, side, path.decision, path.inside)


@internal
def find_pair_words(n_slots, n_rows, path):
    """Write which features each word meets, and each row's word; return the number of words.

    All words are listed if there are no more of them than rows; else every row is its own word.
    """
    if n_slots > MOST_SLOTS_OF_WORDS or (1 << n_slots) > n_rows:
        for slot in range(n_slots):
            for i in range(n_rows):
                path.met[slot, i] = path.inside[path.last[slot], i]
        for i in range(n_rows):
            path.place[i] = i
        return n_rows
    n_words = 1 << n_slots
    for i in range(n_rows):
        path.place[i] = 0
    for slot in range(n_slots):
        inside = path.inside[path.last[slot]]
        for word in range(n_words):
            path.met[slot, word] = (word >> slot) & 1 > 0
        for i in range(n_rows):
            path.place[i] |= np.int64(inside[i]) << slot
    return n_words


@internal
def fill_pair_table(value, n_slots, n_words, n_points, quadrature, path):
    """Compute half of the interaction index of every pair of slots, for every word."""
    product, credit, table = path.product, path.credit, path.table
    for pair in range(n_slots * (n_slots - 1) // 2):
        for i in range(n_words):
            table[pair, i] = 0.0
    for q in range(n_points):
        t, weight = quadrature.points[n_points, q], quadrature.weights[n_points, q]
        for i in range(n_words):
            product[i] = 0.5 * weight * value
        pair = 0
        for j in range(n_slots):
            r, met = path.share[path.last[j]], path.met[j]
            a, not_a = t + (1.0 - t) * r, (1.0 - t) * r
            c, not_c = (1.0 - r) / a, -1.0 / (1.0 - t)
            for i in range(n_words):
                product[i] *= a if met[i] else not_a
                credit[j, i] = c if met[i] else not_c
        for j in range(n_slots):
            for k in range(j):
                for i in range(n_words):
                    table[pair, i] += product[i] * credit[j, i] * credit[k, i]
                pair += 1


@internal
def pay_pairs(n_slots, n_rows, path, out):
    """Add to each row what its word gets, below the diagonal."""
    pair = 0
    for j in range(n_slots):
        for k in range(j):
            one, other = path.feature[j], path.feature[k]
            of_pair, of_word = out[max(one, other), min(one, other)], path.table[pair]
            for i in range(n_rows):
                of_pair[i] += of_word[path.place[i]]
            pair += 1


@uncounted
def add_shapley_pairs(trees, edge_share, X, path, out):
    """Add the halves of the interaction indices of all trees for a block of rows.

    trees                      ``ShapTrees`` IN     of ``attributions.kernels.shap``
    edge_share   (n_nodes,)    float64       IN     the path-dependent game
    X            (2, p, n)     float64       IN     n <= R; X[1] has -inf where X[0] has nan
    path                       ``PairWalk``  INOUT
    out          (p, p, n)     float64       INOUT  below the diagonal
    """
    trees, path = handed(trees), handed(path)
    n_rows, right = X.shape[2], trees.right
    for m in range(trees.tree_offset.shape[0] - 1):
        root, d = trees.tree_offset[m], 0
        for node in range(root, trees.tree_offset[m + 1]):
            if right[node] >= 0:
                e = trees.earlier_depth[node]
                path.node[d], path.slot[d] = (
                    node,
                    path.slot[e - 1] if e > 0 else trees.n_above[node],
                )
                x = X[1 if trees.missing_left[node] else 0, trees.feature[node]]
                decide(n_rows, d, x, node, trees, path.decision)
                take_pair_edge(d, LEFT, m, trees, edge_share, n_rows, path)
                d += 1
                continue
            n_slots = trees.n_above[node]
            if n_slots > 1:
                for depth in range(d):
                    slot = path.slot[depth]
                    path.feature[slot], path.last[slot] = trees.feature[path.node[depth]], depth + 1
                n_words = find_pair_words(n_slots, n_rows, path)
                fill_pair_table(
                    trees.value[node], n_slots, n_words, trees.n_points[m], trees.quadrature, path
                )
                pay_pairs(n_slots, n_rows, path, out)
            while d > 0 and node + 1 != root + right[path.node[d - 1]]:
                d -= 1
            if d > 0:
                take_pair_edge(d - 1, RIGHT, m, trees, edge_share, n_rows, path)
