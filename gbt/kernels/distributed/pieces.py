"""Pieces: which of a column may hold the best cut of a node, and the best cut between them.

The values of a column, in their order, are cut into pieces: coarse bins, the fine bins of some of
these, or single values. Of every piece the sums over the rows of a node are known; it is *open*
where it holds several values. The best cut between pieces is found and all cuts inside open ones
are bounded, with the formulas of ``gbt.kernels.cuts.search``. Pieces whose bound reaches the best
score are looked into next. Nodes for which no better one can be there are split (`open_children`)::

    coarse        [   ][   ][ ? ][   ][   ]           ? may hold a better cut
    fine                    [  ][ ? ][  ]
    values                      1 2 3
"""

import numpy as np

from gbt.kernels.cuts.bounds import NO_DIRECTION
from gbt.kernels.cuts.histogram import magnitude_in
from gbt.kernels.cuts.memory import terms_of
from gbt.kernels.cuts.scores import Sums, own_score, score_both_ways, sums_in
from gbt.kernels.cuts.search import bound_of
from gbt.kernels.platform.compiling import uncounted
from gbt.kernels.trees.node_columns import pass_on
from gbt.kernels.trees.nodes import open_node

# Pieces beside each other, of one column in one node.
SEGMENT = np.dtype(
    [
        ("node", np.int64),
        ("column", np.int64),
        ("start", np.int64),  # the pieces start:stop
        ("stop", np.int64),
        ("first", np.int64),  # the place of the first in ``is_open``
        ("g", np.int64),  # sums over the node's rows with a value before them
        ("h", np.int64),
        ("n", np.int64),
        ("missing_g", np.int64),  # sums over its rows without one
        ("missing_h", np.int64),
        ("missing_n", np.int64),
    ]
)
# The best cut of a node so far.
BEST = np.dtype(
    [
        ("score", np.float64),
        ("column", np.int64),
        ("g", np.int64),  # sums over the rows with a value that go left
        ("h", np.int64),
        ("n", np.int64),
        ("missing_left", np.int64),
        ("piece", np.int64),  # the last that goes left; -1 if it was found among other pieces
        ("missing_g", np.int64),  # sums over the rows without one
        ("missing_h", np.int64),
        ("missing_n", np.int64),
        ("own", np.float64),  # score of the node
        ("least", np.float64),  # gain that a split must exceed
    ]
)


@uncounted
def begin_nodes(nodes, best, rules):
    """Set what nodes must beat, before they are searched: their own score and the least gain.

    nodes   (m,)   NODE    INOUT
    best    (m,)   BEST    OUT
    rules   (1,)   RULES   IN
    """
    for j in range(len(nodes)):
        best[j].own, best[j].least = own_score(nodes[j], rules[0])
        best[j].score, best[j].column, best[j].piece = -np.inf, -1, -1
        nodes[j].to_beat = best[j].own + best[j].least


@uncounted
def weigh_pieces(segments, pieces, is_open, nodes, rules, best, bound, before, owner):
    """Score the cuts after some pieces, and bound those inside them.

    Of equal scores the lowest column is taken, then the cut with most rows on the left.

    segments   (s,)           SEGMENT   IN      in the order of nodes
    pieces     (m * width,)   int64     IN      as bins of ``gbt.kernels.cuts.histogram``
    is_open                   uint8     IN      see ``SEGMENT.first``
    nodes                     NODE      INOUT   ``to_beat`` rises
    rules      (1,)           RULES     IN
    best                      BEST      INOUT   one a node
    bound      (m,)           float64   INOUT   of cuts inside; -inf of those that are not open
    before     (m, 3)         int64     OUT     sums of g, h and n before the piece
    owner      (m,)           int64     OUT     the segment of the piece
    """
    width, zero = rules[0].width, np.int64(0)
    for s in range(len(segments)):
        segment = segments[s]
        node, found = nodes[segment.node], best[segment.node]
        terms = terms_of(NO_DIRECTION, node, rules[0])
        missing = Sums(segment.missing_g, segment.missing_h, segment.missing_n)
        g, h, n = segment.g, segment.h, segment.n
        for b in range(segment.start, segment.stop):
            before[b, 0], before[b, 1], before[b, 2], owner[b] = g, h, n, s
            place, with_g, with_h = b * width, g, h
            own = sums_in(pieces[place], pieces[place + 1], pieces[place + width - 2], terms)
            if own.n == 0:
                continue
            with_g, with_h = g + own.g, h + own.h
            low = high = 2 * with_g
            light, opens = with_h, is_open[segment.first + b - segment.start] != 0 and own.n > 1
            if opens:
                magnitude = magnitude_in(pieces[place + 1], terms.count_bits)
                low, high, light = g + with_g - magnitude, g + with_g + magnitude, h
            box = (low, high, light, with_h)
            upper = bound_of(
                box, zero, zero, 2 * terms.g, terms.h, 1.0, terms.penalty, terms.min_hessian
            )
            if missing.n > 0:
                other = bound_of(
                    box, 2 * missing.g, missing.h, 2 * terms.g, terms.h, 1.0, terms.penalty,
                    terms.min_hessian,
                )  # fmt: skip
                upper = max(upper, other)
            if upper >= node.to_beat:
                if opens:
                    bound[b] = upper
                score, missing_left = score_both_ways(with_g, with_h, n + own.n, missing, terms)
                is_tie = score == found.score and score > -np.inf
                k, in_column = segment.column, segment.column == found.column
                if score > found.score or (
                    is_tie and (k < found.column or (in_column and n + own.n > found.n))
                ):
                    found.score, found.column, found.piece = score, k, b
                    found.g, found.h, found.n = with_g, with_h, n + own.n
                    found.missing_left = missing_left
                    found.missing_g, found.missing_h, found.missing_n = missing
                    node.to_beat = max(node.to_beat, score)
            g, h, n = with_g, with_h, n + own.n


@uncounted
def open_children(parents, best, nodes, rules, following):
    """Open the children of some nodes, left and right beside each other, as the last of all nodes.

    parents     (m,)         int64       IN
    best        (m,)         BEST        IN      the cuts that split them
    nodes       (n + 2 m,)   NODE        INOUT
    rules       (1,)         RULES       IN
    following   (entries,)   FOLLOWING   IN      see ``gbt.kernels.trees.node_columns``
    """
    first = len(nodes) - 2 * len(parents)
    for i in range(len(parents)):
        parent, cut, child = nodes[parents[i]], best[i], first + 2 * i
        left, right = nodes[child], nodes[child + 1]
        parent.feature, parent.missing_left = cut.column, cut.missing_left
        parent.left, parent.right = child, child + 1
        g, h, n = cut.g, cut.h, cut.n
        if cut.missing_left:
            g, h, n = g + cut.missing_g, h + cut.missing_h, n + cut.missing_n
        open_node(left, np.int64(0), n, parent.depth + 1)
        open_node(right, np.int64(0), parent.stop - n, parent.depth + 1)
        left.g, left.h, right.g, right.h = g, h, parent.g - g, parent.h - h
        left.lowest = right.lowest = parent.lowest
        left.highest = right.highest = parent.highest
        pass_on(parent, left, right, rules[0], following)
