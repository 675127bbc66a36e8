"""Level bins: the best set of levels of a categorical column that has a bin for every level.

The histogram of such a column has the sums of all levels of a node. They are put in order and cut
as ``gbt.kernels.levels`` does it, which adds up the sums itself and knows sets and weights, too::

    level       a     b     c  missing       order of G / (H + smoothing), a cut after the second:
    histogram   .     .     .     .            c   missing | a   b        c and missing go left

Levels are numbered as they occur in the node, those of few rows are one more (``of_few``).
"""

import numpy as np

from gbt.kernels.compiling import internal
from gbt.kernels.levels import LEAST_SHARE, key_of, merge_sort
from gbt.kernels.search import Cut, score_cut, sums_of_bin

OF_FEW = np.int64(2)  # in place of a side: that of all levels of few rows


@internal
def order_bins(histogram, column, terms, rules, scratch):
    """Put the levels of a node in the order in which they are cut.

    Returns how many occur, how many places the order has, and in which line of ``scratch.order`` it
    is. What levels add up to goes to ``scratch.levels``, what orders them to ``scratch.upper``.
    """
    levels, key, order = scratch.levels, scratch.upper, scratch.order
    one, n_levels, n = np.uint64(1), np.uint64(0), np.uint64(0)
    for b in range(column.n_bins + 1):
        place = b if b < column.n_bins else column.missing_bin
        of_bin, level = sums_of_bin(histogram, column.first_bin, place, terms), levels[n_levels]
        level.g, level.h, level.n = of_bin
        level.code = b
        n_levels += np.uint64(of_bin.n > 0)
    smoothing = rules.categorical_smoothing * rules.h_scale
    enough = min(rules.most_weight, terms.n * rules.weight_unit / LEAST_SHARE)
    of_few = levels[n_levels]
    of_few.g = of_few.h = of_few.n = 0
    for i in range(n_levels):
        level = levels[i]
        level.is_left = OF_FEW
        if level.n * rules.weight_unit < enough:
            of_few.g, of_few.h = of_few.g + level.g, of_few.h + level.h
            of_few.n += level.n
        else:
            key[i], order[0, n] = key_of(level.g, level.h, smoothing), i
            n += one
    if n < n_levels:
        key[n_levels], order[0, n] = key_of(of_few.g, of_few.h, smoothing), n_levels
        n += one
    return n_levels, n, merge_sort(key[: n_levels + one], order[0, :n], order[1, :n])


@internal
def best_set(histogram, column, terms, rules, scratch):
    """Return the best cut between levels in their order; its code is how many are left of it."""
    _, n, which = order_bins(histogram, column, terms, rules, scratch)
    key, order = scratch.upper, scratch.order[which]
    best, last = Cut(-np.inf, np.int64(-1), False), -np.inf
    g = h = n_rows = n_left = np.int64(0)
    for i in range(n):
        place = np.uint64(order[i])
        if n_left > 0 and key[place] != last:  # levels whose key is the same stay together
            score = score_cut(g, h, n_rows, terms)
            if score > -np.inf and score >= best.score:
                best = Cut(score, n_left, h >= terms.h - h)
        level, last = scratch.levels[place], key[place]
        g, h, n_rows, n_left = g + level.g, h + level.h, n_rows + level.n, n_left + 1
    return best


@internal
def record_levels(node, histogram, column, terms, rules, scratch):
    """Write down which codes go left at a node whose cut is so many of the levels in their order.

    Codes that no row of the node has go where missing rows go.
    """
    n_levels, n, which = order_bins(histogram, column, terms, rules, scratch)
    levels, order = scratch.levels, scratch.order[which]
    none, one = np.uint64(0), np.uint64(1)
    for i in range(n):
        levels[np.uint64(order[i])].is_left = i < np.uint64(node.cut)
    for i in range(n_levels):
        level = levels[i]
        if level.is_left == OF_FEW:
            level.is_left = levels[n_levels].is_left
        if level.code == column.n_bins:  # the last
            node.missing_left = level.is_left
    for word in range(len(node.levels)):
        node.levels[word] = ~none if node.missing_left else none
    for i in range(n_levels):
        level = levels[i]
        if level.is_left != node.missing_left:
            node.levels[level.code >> 6] ^= one << np.uint64(level.code & 63)


@internal
def write_sides(node, codes, listed, side):
    """Tell the rows of a node on which side of its set of levels they are: 0 left, 1 right."""
    for i in range(len(listed)):
        row = np.uint64(listed[i])
        code = np.uint64(codes[row])
        bits = node.levels[code >> np.uint64(6)] >> (code & np.uint64(63))
        side[row] = ~bits & np.uint64(1)
