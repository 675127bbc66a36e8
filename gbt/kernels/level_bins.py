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
from gbt.kernels.search import SIZE, Cut, G, H, score_cut, sums_of_bin

BITS = np.uint64(64)  # in a word of ``NODE.levels``


@internal
def order_bins(histogram, column, terms, rules, scratch):
    """Put the levels of a node in the order in which they are cut.

    Returns how many occur, how many places the order has, and in which line of ``scratch.order`` it
    is. Sums of levels go to ``scratch.running``, what orders them to ``scratch.upper``, their codes
    to ``scratch.code``.
    """
    sums, key, code, order = scratch.running, scratch.upper, scratch.code, scratch.order
    n_levels, n_rows = np.int64(0), np.int64(0)
    for b in range(column.n_bins + 1):
        place = b if b < column.n_bins else column.missing_bin
        of_bin = sums_of_bin(histogram, column.first_bin, place, terms)
        if of_bin.n > 0:
            sums[G, n_levels], sums[H, n_levels], sums[SIZE, n_levels] = of_bin
            code[n_levels] = b
            n_levels, n_rows = n_levels + 1, n_rows + of_bin.n
    enough = min(rules.most_weight, n_rows * rules.weight_unit / LEAST_SHARE)
    smoothing = rules.categorical_smoothing * rules.h_scale
    of_few_g = of_few_h = of_few_n = n = np.int64(0)
    for i in range(n_levels):
        if sums[SIZE, i] * rules.weight_unit < enough:
            of_few_g, of_few_h = of_few_g + sums[G, i], of_few_h + sums[H, i]
            of_few_n += sums[SIZE, i]
        else:
            key[i], order[0, n] = key_of(sums[G, i], sums[H, i], smoothing), i
            n += 1
    if n < n_levels:
        sums[G, n_levels], sums[H, n_levels] = of_few_g, of_few_h
        sums[SIZE, n_levels] = of_few_n
        key[n_levels], order[0, n] = key_of(of_few_g, of_few_h, smoothing), n_levels
        n += 1
    return n_levels, n, merge_sort(key[: n_levels + 1], order[0, :n], order[1, :n])


@internal
def best_set(histogram, column, terms, rules, scratch):
    """Return the best cut between levels in their order; its code is how many are left of it."""
    _, n, which = order_bins(histogram, column, terms, rules, scratch)
    sums, key, order = scratch.running, scratch.upper, scratch.order[which]
    best = Cut(-np.inf, np.int64(-1), False)
    g = h = n_rows = np.int64(0)
    for i in range(n - 1):
        level = order[i]
        g, h, n_rows = g + sums[G, level], h + sums[H, level], n_rows + sums[SIZE, level]
        if key[level] != key[order[i + 1]]:  # else the next level stays with this one
            score = score_cut(g, h, n_rows, terms)
            if score > -np.inf and score >= best.score:
                best = Cut(score, np.int64(i + 1), h >= terms.h - h)
    return best


@internal
def record_levels(node, histogram, column, terms, rules, scratch):
    """Write down which codes go left at a node whose cut is so many of the levels in their order.

    Codes that no row of the node has go where missing rows go.
    """
    n_levels, n, which = order_bins(histogram, column, terms, rules, scratch)
    order, code, is_left, n_left = scratch.order[which], scratch.code, scratch.keys, node.cut
    for i in range(n):
        if order[i] == n_levels:  # those of few rows
            for level in range(n_levels):
                is_left[level] = i < n_left
    for i in range(n):
        if order[i] < n_levels:
            is_left[order[i]] = i < n_left
    if code[n_levels - 1] == column.n_bins:
        node.missing_left = is_left[n_levels - 1]
    none, one = np.uint64(0), np.uint64(1)
    for word in range(len(node.levels)):
        node.levels[word] = ~none if node.missing_left else none
    for level in range(n_levels):
        word, bit = np.uint64(code[level]) // BITS, one << np.uint64(code[level]) % BITS
        node.levels[word] &= ~bit
        if is_left[level]:
            node.levels[word] |= bit


@internal
def write_sides(node, codes, listed, side):
    """Tell the rows of a node on which side of its set of levels they are: 0 left, 1 right."""
    one = np.uint64(1)
    for i in range(len(listed)):
        row = np.uint64(listed[i])
        code = np.uint64(codes[row])
        side[row] = one - (node.levels[code // BITS] >> code % BITS & one)
