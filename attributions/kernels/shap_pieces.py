r"""Shapley values of rows that decide alike are computed once.

What a row gets from the leaves of a subtree depends on a few bits: one for each feature that splits
above the subtree, whether the row meets all conditions on it, and one for each split inside,
whether the row would go left there. These bits are the row's *word*. The word of the subtree at b
has three::

           a [x0]
          /      \
       ...        b [x1]        bit 0    x0 is met: the row goes right at a
                 /      \       bit 1    it goes left at b
           c [x2]        v3     bit 2    it goes left at c
          /      \
        v1        v2

So every tree is cut into *pieces*, subtrees whose words have at most 8 bits
(``attributions.kernels.shap_cuts``), and a piece has 256 words, however many rows there are. The
functions of ``attributions.kernels.shap`` compute what each word gets, as if the words were rows: a
table with a *slot* for each feature and a column for each word. A row finds its word and looks up
its values. Where there are fewer rows than words, the rows are computed instead, by the same
operations in the same order, so a row's values are the same bits whatever rows stand beside it.

The bits of the features above, in the order in which the features first occur, make the *class* of
a row. It is kept for each depth of the path, and each split above the pieces derives from it the
classes of its two sides.
"""

from typing import NamedTuple

import numpy as np

from attributions.kernels.shap import (
    LEFT,
    RIGHT,
    Words,
    ascend,
    decide,
    descend,
    keep_inside,
    pay_leaves,
    weigh_split,
)
from attributions.kernels.shap_cuts import ABOVE, MOST_DISTINCT, WHOLE, n_nodes_below
from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.platform.handing import handed
from gbt.kernels.platform.instructions import min
from gbt.kernels.rows.walk import goes_left

ROWS_OF_WHOLE = 512  # 256 takes a seventh longer: what a split costs whatever the number of rows
MOST_WORDS = max(2 ** (MOST_DISTINCT + 1), ROWS_OF_WHOLE)  # the last split is a piece in any case

# The numbers of an edge above a piece at a quadrature point: what multiplies the product of a row
# that is inside and of one that is not, and what these are credited.
INSIDE, OUTSIDE, CREDIT_INSIDE, CREDIT_OUTSIDE = range(4)


class Path(NamedTuple):
    """The current path of a walk from the root, by depth below D."""

    node: np.ndarray  # (D,) int64, the split
    taken: np.ndarray  # (D,) int64, side of the edge that leads on from it
    slot: np.ndarray  # (D,) int64, number of its feature; not written in pieces
    last: np.ndarray  # (D,) int64, by slot: depth of the lower end of the last edge on the feature
    share: np.ndarray  # (D + 1,) float64, r of the edge into each depth
    edges: np.ndarray  # (D + 1, Q, 4) float64, of the edge into each depth; not written in pieces


class ExplainedRows(NamedTuple):
    """The rows of this pass: n_rows of the block, at most R, from ``start`` on."""

    start: int
    n_rows: int
    X: np.ndarray  # (2, p, n) float64; X[1] has -inf where X[0] has nan
    decision: np.ndarray  # (D + 1, R) bool, True is left
    classes: np.ndarray  # (D + 1, R) uint16, 0 at depth 0 on entry
    place: np.ndarray  # (R,) uint16, where in a table a row finds its values


# --------------------------------------------------------------------------------- above the pieces


@internal
def decide_rows(node, d, trees, rows, decision):
    """Write the decision of every row at a split into row d of ``decision``."""
    part = slice(rows.start, rows.start + rows.n_rows)
    x = rows.X[1 if trees.missing_left[node] else 0, trees.feature[node], part]
    decide(rows.n_rows, d, x, node, trees, decision)


@internal
def take_edge(d, side, m, trees, games, path, rows):
    """Take an edge below the split of depth d: write its side, its numbers and rows' classes."""
    path.taken[d] = side
    weigh_edge(d, m, trees, games.edge_share, path)
    decision, classes = rows.decision, rows.classes
    bit, others = np.uint16(1 << path.slot[d]), ~np.uint16(1 << path.slot[d])
    is_new = trees.earlier_depth[path.node[d]] == 0
    for i in range(rows.n_rows):
        takes_it = decision[d, i] == (side == LEFT)
        if is_new:
            classes[d + 1, i] = classes[d, i] | (bit if takes_it else np.uint16(0))
        else:
            classes[d + 1, i] = classes[d, i] & (~np.uint16(0) if takes_it else others)


@internal
def weigh_edge(d, m, trees, edge_share, path):
    """Compute r and the four numbers of the edge that is taken at depth d of the path."""
    node, n_points = path.node[d], trees.n_points[m]
    child = node + 1 if path.taken[d] == LEFT else trees.tree_offset[m] + trees.right[node]
    share = path.share[trees.earlier_depth[node]] * edge_share[child]
    path.share[d + 1] = share
    for q in range(n_points):
        t, weight = trees.quadrature.points[n_points, q], trees.quadrature.weights[n_points, q]
        edge, a = path.edges[d + 1, q], t + (1.0 - t) * share
        edge[INSIDE], edge[OUTSIDE] = a, (1.0 - t) * share
        edge[CREDIT_INSIDE], edge[CREDIT_OUTSIDE] = weight * (1.0 - share) / a, -weight / (1.0 - t)


# ---------------------------------------------------------------------------------------- the words


@internal
def find_words(first, d, trees, rows):
    """Write the words of the rows at a piece of depth d: their classes, then what they decide."""
    place, decision, bit = rows.place, rows.decision, np.uint16(1 << trees.n_above[first])
    for i in range(rows.n_rows):
        place[i] = rows.classes[d, i]
    for node in range(first, first + n_nodes_below(first, trees.n_splits)):
        if trees.right[node] >= 0:
            decide_rows(node, d, trees, rows, rows.decision)
            for i in range(rows.n_rows):
                place[i] |= bit if decision[d, i] else np.uint16(0)
            bit = np.uint16(bit << np.uint16(1))


@internal
def is_set(number, words, out):
    """Write whether bit ``number`` is set in each word."""
    bit = np.uint16(1 << number)
    for i in range(words.shape[0]):
        out[i] = (words[i] & bit) != np.uint16(0)


@internal
def number_features(first, d, trees, path, words):
    """Give a slot to each feature above a piece of depth d and in it, and return how many."""
    features, slot_of, n_slots = words.feature, words.slot_of, trees.n_above[first]
    for depth in range(d):
        k, slot = trees.feature[path.node[depth]], path.slot[depth]
        features[slot], slot_of[k], path.last[slot] = k, slot, depth + 1
    for node in range(first, first + n_nodes_below(first, trees.n_splits)):
        if trees.right[node] >= 0 and slot_of[trees.feature[node]] < 0:
            features[n_slots], slot_of[trees.feature[node]] = trees.feature[node], n_slots
            n_slots += 1
    return n_slots


@internal
def open_piece(first, d, m, trees, path, rows, words):
    """Choose the words for which a piece is computed; return them with memory for their values.

    These are all words if there are no more of them than rows, else the words of the rows.
    """
    n_bits, n_above = trees.n_bits[first], trees.n_above[first]
    is_tabled = (1 << n_bits) <= rows.n_rows
    n_words = 1 << n_bits if is_tabled else rows.n_rows
    word = words.word[:n_words]
    if is_tabled:
        find_words(first, d, trees, rows)
        for i in range(n_words):
            word[i] = i
    else:
        for i in range(n_words):
            word[i], rows.place[i] = rows.classes[d, i], i
    n_slots = number_features(first, d, trees, path, words)
    for slot in range(n_above):
        is_set(slot, word, words.inside[path.last[slot]])
    shape = (words.decision.shape[0], trees.n_points[m], n_words)
    n_numbers = shape[0] * shape[1] * shape[2]
    for i in range(n_slots * n_words):
        words.table[i] = 0.0
    return is_tabled, Words(
        word, words.decision, words.inside,
        words.product[:n_numbers].reshape(shape), words.below[:n_numbers].reshape(shape),
        words.table[: n_slots * n_words].reshape((n_slots, n_words)),
        words.feature, words.slot_of, words.edges, words.leaves,
    )  # fmt: skip


# -------------------------------------------------------------------------------- values of a piece


@internal
def follow_background(z, first, d, m, trees, path, edge_share):
    """Make a background row the game: share 1 for the edges it would take, else 0.

    z                    (p,)        float64    IN
    first, d, m                      int64      IN     a piece, its depth and its tree
    trees, path                                 IN     ``ShapTrees``, ``Path``
    edge_share           (n_nodes,)  float64    INOUT  written below the splits of the path and of
                                                       the piece
    """
    root = trees.tree_offset[m]
    for j in range(d + n_nodes_below(first, trees.n_splits)):
        node = path.node[j] if j < d else first + j - d
        if trees.right[node] >= 0:
            x = z[trees.feature[node]]
            is_left = goes_left(x, node, trees.threshold, trees.missing_left, trees.sets)
            edge_share[node + 1] = 1.0 if is_left else 0.0
            edge_share[root + trees.right[node]] = 0.0 if is_left else 1.0


@internal
def start_product(d, n_above, start, path, words):
    """Take the product of the factors of all features above a piece of depth d, and of ``start``.

    Over the edges of one feature factors telescope, so that of the last one is taken.
    """
    inside, product, n_words = words.inside, words.product, words.word.shape[0]
    for q in range(product.shape[1]):
        for i in range(n_words):
            product[d, q, i] = start
        for slot in range(n_above):
            e = path.last[slot]
            when_inside, when_outside = path.edges[e, q, INSIDE], path.edges[e, q, OUTSIDE]
            for i in range(n_words):
                product[d, q, i] *= when_inside if inside[e, i] else when_outside


@internal
def start_leaf(d, value, words):
    """Take the sum below a piece of depth d that is a leaf."""
    product, below = words.product, words.below
    for q in range(below.shape[1]):
        for i in range(below.shape[2]):
            below[d, q, i] = value * product[d, q, i]


@internal
def credit_above(d, n_above, path, words):
    """Credit the features above a piece of depth d for all its leaves."""
    inside, below, table = words.inside, words.below, words.table
    for slot in range(n_above):
        e = path.last[slot]
        for q in range(below.shape[1]):
            credit_inside = path.edges[e, q, CREDIT_INSIDE]
            credit_outside = path.edges[e, q, CREDIT_OUTSIDE]
            for i in range(table.shape[1]):
                credit = credit_inside if inside[e, i] else credit_outside
                table[slot, i] += below[d, q, i] * credit


@internal
def walk_piece(first, top, m, is_tabled, trees, edge_share, path, rows, words):
    """Credit the splits of a piece, and sum up its leaves.

    first, top, m                         int64      IN     the piece, its depth and its tree
    is_tabled                             bool       IN     whether words decide, or rows do
    trees                                 ``ShapTrees``  IN
    edge_share                (n_nodes,)  float64    IN     of ``Games``
    path, rows, words                                INOUT  ``Path``, ``ExplainedRows``, ``Words``
    """
    word, slot_of, decision = words.word, words.slot_of, words.decision
    feature, right, earlier_depth = trees.feature, trees.right, trees.earlier_depth
    root, d = trees.tree_offset[m], top
    number = trees.n_above[first]  # of the bit that the next split decides by
    for node in range(first, first + n_nodes_below(first, trees.n_splits)):
        if right[node] >= 0:
            path.node[d], path.taken[d] = node, LEFT
            if d > top:
                e, side = earlier_depth[path.node[d - 1]], path.taken[d - 1]
                path.share[d] = path.share[e] * edge_share[node]
                keep_inside(word.shape[0], d - 1, e, side, decision, words.inside)
                descend(d - 1, e, side, words)
            k, e = feature[node], earlier_depth[node]
            if is_tabled:
                is_set(number, word, decision[d])
                number += 1
            else:
                decide_rows(node, d, trees, rows, decision)
            weigh_split(node, m, d, trees, edge_share, path.share[e], words)
            pay_leaves(d, e, slot_of[k], words)
            d += 1
            continue
        # A leaf: climb to the split whose right child comes next, or to the end of the piece.
        while d > top and node + 1 != root + right[path.node[d - 1]]:
            d -= 1  # the split of depth d is complete
            if d > top:
                above, side = path.node[d - 1], path.taken[d - 1]
                ascend(d - 1, earlier_depth[above], side, slot_of[feature[above]], words)
        if d > top:
            path.taken[d - 1] = RIGHT


@internal
def explain_piece(first, d, m, weight, trees, games, path, rows, words, out):
    """Make the table of a piece, the mean over all games, and pay the rows from it.

    first, d, m                    int64      IN     the piece, its depth and its tree
    weight               (n,)      float64    IN     of the rows
    trees, games                              IN     ``ShapTrees``, ``Games``
    path, rows, words                         INOUT  ``Path``, ``ExplainedRows``, ``Words``
    out                  (p, n)    float64    INOUT
    """
    is_tabled, opened = open_piece(first, d, m, trees, path, rows, words)
    piece = handed(opened)
    n_above, n_background = trees.n_above[first], games.background.shape[0]
    n_games = n_background if n_background > 0 else 1
    for game in range(n_games):
        if n_background > 0:
            z = games.background[game]
            follow_background(z, first, d, m, trees, path, games.edge_share)
            for depth in range(d):
                weigh_edge(depth, m, trees, games.edge_share, path)
        start_product(d, n_above, 1.0 / n_games, path, piece)
        if trees.right[first] >= 0:
            walk_piece(first, d, m, is_tabled, trees, games.edge_share, path, rows, piece)
        else:
            start_leaf(d, trees.value[first], piece)
        credit_above(d, n_above, path, piece)
    pay_rows(rows, weight, words.feature, piece.table, out)
    for slot in range(piece.table.shape[0]):
        words.slot_of[words.feature[slot]] = -1


@internal
def pay_rows(rows, weight, feature, table, out):
    """Add to each row its weight times what its word got, four features in one pass.

    rows        ``ExplainedRows``  IN
    weight   (n,)       float64   IN
    feature  (S,)       int64     IN     of each slot
    table    (S, W)     float64   IN
    out      (p, n)     float64   INOUT
    """
    n_slots, place = table.shape[0], rows.place
    part = slice(rows.start, rows.start + rows.n_rows)
    weight = weight[part]
    for slot in range(0, n_slots - 3, 4):
        a, b, c, d = table[slot], table[slot + 1], table[slot + 2], table[slot + 3]
        out_a, out_b = out[feature[slot], part], out[feature[slot + 1], part]
        out_c, out_d = out[feature[slot + 2], part], out[feature[slot + 3], part]
        for i in range(rows.n_rows):
            # All is read before anything is written: for the compiler the two may overlap.
            w, at = weight[i], place[i]
            new_a, new_b = out_a[i] + w * a[at], out_b[i] + w * b[at]
            new_c, new_d = out_c[i] + w * c[at], out_d[i] + w * d[at]
            out_a[i], out_b[i], out_c[i], out_d[i] = new_a, new_b, new_c, new_d
    for slot in range(n_slots // 4 * 4, n_slots):
        a, out_a = table[slot], out[feature[slot], part]
        for i in range(rows.n_rows):
            out_a[i] += weight[i] * a[place[i]]


@internal
def explain_tree(m, weight, trees, games, path, rows, words, out):
    """Add the Shapley values of tree m for the rows at hand; arguments are as for `add_shapley`."""
    root, end, earlier_depth = trees.tree_offset[m], trees.tree_offset[m + 1], trees.earlier_depth
    d, node = np.int64(0), root  # a plain 0 has a type of its own, and kernels are compiled twice
    path.share[0] = 1.0
    while node < end:
        if trees.n_bits[node] == ABOVE:
            e = earlier_depth[node]
            path.node[d], path.slot[d] = node, path.slot[e - 1] if e > 0 else trees.n_above[node]
            decide_rows(node, d, trees, rows, rows.decision)
            take_edge(d, LEFT, m, trees, games, path, rows)
            d += 1
            node += 1
            continue
        explain_piece(node, d, m, weight, trees, games, path, rows, words, out)
        node += n_nodes_below(node, trees.n_splits)
        # Climb to the split whose right child comes next, or above the root.
        while d > 0 and node != root + trees.right[path.node[d - 1]]:
            d -= 1
        if d > 0:
            take_edge(d - 1, RIGHT, m, trees, games, path, rows)


@uncounted
def add_shapley(first, row_weight, trees, games, path, rows, words, out):
    """Add the Shapley values of some trees for a block of rows, of each tree the mean over games.

    first                          int64      IN     the first of T trees
    row_weight           (T, n)    float64    IN
    trees, games                              IN     ``ShapTrees``, ``Games``
    path, rows, words                         WORK   ``Path``, ``Words``, ``ExplainedRows``
    out                  (p, n)    float64    INOUT
    """
    end = rows.start + rows.n_rows
    at_trees, at_games = handed(trees), handed(games)
    at_path, at_words = handed(path), handed(words)
    for m in range(first, first + row_weight.shape[0]):
        is_whole = trees.n_bits[trees.tree_offset[m]] == WHOLE
        at_once = ROWS_OF_WHOLE if is_whole else rows.n_rows
        for start in range(rows.start, end, at_once):
            n_rows = min(at_once, end - start)
            block = ExplainedRows(start, n_rows, rows.X, rows.decision, rows.classes, rows.place)
            weight = row_weight[m - first]
            explain_tree(m, weight, at_trees, at_games, at_path, handed(block), at_words, out)
