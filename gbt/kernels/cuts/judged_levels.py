"""Judged levels: the best sets of levels of a node, where some of its rows choose and others judge.

The levels of a categorical column are added up set by set from the rows of the node, then they are
put in order (``gbt.kernels.cuts.levels``) and cut::

    rows of the node, set by set     a d g | b e h | c f
    their codes                      2 0 2 | 0 7 2 | 7 0         levels that occur: 0, 2, 7

A row marks its code, and only these codes are read and set to 0 again, as in
``gbt.kernels.cuts.levels``: what takes time is the rows of a node, not the levels of a column.
"""

import numpy as np

from gbt.kernels.cuts.histogram import hessian_of
from gbt.kernels.cuts.judging import keep_best, no_cut
from gbt.kernels.cuts.levels import LEAST_SHARE, G, H, N, W, key_of, merge_sort
from gbt.kernels.cuts.memory import ROOM_FOR_LEVELS, layout_of
from gbt.kernels.cuts.sets import CUTS_AT_ONCE, MOST_SETS, MOST_SUMS
from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import min, trailing_zeros

# Each thread's own arrays, with room for as many sets and levels as there may be; the operating
# system gives them page by page, as they are written to.
LEVELS_OF_SETS = np.dtype(
    [
        ("of_codes", np.int64, (ROOM_FOR_LEVELS, MOST_SETS, 4)),  # all 0
        ("marks", np.uint64, (ROOM_FOR_LEVELS // 64 + 7,)),  # a bit a code; all 0
        ("sums", np.int64, (ROOM_FOR_LEVELS, MOST_SUMS, 4)),
        ("code", np.int32, (ROOM_FOR_LEVELS,)),  # of a level of the node
        ("key", np.float64, (ROOM_FOR_LEVELS,)),
        ("order", np.int32, (2, ROOM_FOR_LEVELS)),
        ("is_left", np.int8, (ROOM_FOR_LEVELS,)),
        ("side", np.int32, (ROOM_FOR_LEVELS,)),  # by code
    ],
    align=True,
)


@internal
def add_up_rows_of_levels(listed, codes, rows, rules, judging, own):
    """Add rows of a node to the sums of their codes, set by set, and mark the codes."""
    layout, weights = layout_of(rules), rows.weight
    one, is_weighted = np.uint64(1), np.uint64(len(weights) > 1)
    for number in listed:
        row = np.uint64(number)
        code = np.uint64(codes[row])
        own.marks[code >> np.uint64(6)] |= one << (code & np.uint64(63))
        sums = own.of_codes[code, np.uint64(judging.set_of_row[row])]
        sums[G] += rows.entries[row * np.uint64(layout.width >> 1)]
        sums[H] += hessian_of(rows.entries, row, layout)
        sums[N] += 1
        sums[W] += weights[row * is_weighted] if is_weighted else rules.weight_unit


@internal
def add_up_sums(of_sets, judging, sums):
    """Turn what rows add up to set by set into what they add up to sum by sum.

    of_sets   (S, 4)   int64   IN
    sums      (L, 4)   int64   OUT
    """
    for l in range(len(judging.takes)):
        g = h = n = w = np.int64(0)
        for s in range(len(of_sets)):
            mask = judging.takes[l, s]
            g += of_sets[s, G] & mask
            h += of_sets[s, H] & mask
            n += of_sets[s, N] & mask
            w += of_sets[s, W] & mask
        sums[l, G], sums[l, H], sums[l, N], sums[l, W] = g, h, n, w


@internal
def levels_of_sets(listed, codes, n_codes, rows, rules, judging, own):
    """Add up the levels of a node, ascending, missing last; return how many occur.

    listed    (m,)   int32   IN   rows of the node
    codes     (n,)   int32   IN   of the column, by row of the table
    n_codes          int64   IN   that of missing rows included
    """
    add_up_rows_of_levels(listed, codes, rows, rules, judging, own)
    habits, one, n_levels = judging.habits[0], np.uint64(1), np.int64(0)
    for word in range((n_codes + 63) // 64):
        bits = own.marks[word]
        own.marks[word] = 0
        while bits > 0:
            code = np.int64(word * 64) + np.int64(trailing_zeros(bits))
            bits &= bits - one
            of_sets = own.of_codes[code, : habits.n_sets]
            add_up_sums(of_sets, judging, own.sums[n_levels, : habits.n_sums])
            of_sets[:] = 0
            own.code[n_levels] = code
            n_levels += 1
    return n_levels


@internal
def order_levels(n_levels, q, n_sums, rules, own):
    """Put the levels of a node in the order in which sum q cuts them.

    Those of few rows are one, which has the number ``n_levels``; its sums follow those of the
    others. Returned are how many are in order then, and in which line of ``own.order`` they stand.
    """
    key, sums, order = own.key, own.sums, own.order
    of_few, smoothing = sums[n_levels], rules.categorical_smoothing * rules.h_scale
    weight = np.int64(0)
    for i in range(n_levels):
        weight += sums[i, q, W]
    enough = min(rules.most_weight, weight / LEAST_SHARE)
    of_few[:n_sums] = 0
    n = 0
    for i in range(n_levels):
        if sums[i, q, W] < enough:
            for l in range(n_sums):
                for line in range(3):
                    of_few[l, line] += sums[i, l, line]
        else:
            key[i] = key_of(sums[i, q, G], sums[i, q, H], smoothing)
            order[0, n] = i
            n += 1
    if n < n_levels:
        key[n_levels] = key_of(of_few[q, G], of_few[q, H], smoothing)
        order[0, n] = n_levels
        n += 1
    return n, merge_sort(key[: n_levels + 1], order[0, :n], order[1, :n])


@internal
def mark_left(order, n_levels, n_left, is_left):
    """Say of every level whether it goes left; those of few rows are one in the order."""
    for i in range(len(order)):
        if order[i] == n_levels:
            is_left[:n_levels] = i < n_left
    for i in range(len(order)):
        if order[i] < n_levels:
            is_left[order[i]] = i < n_left


@internal
def cut_in_order(order, q, rules, habits, judge, own, within):
    """Score all cuts between levels in some order for sum q; levels of one key stay together."""
    judge.so_far[:] = 0
    for start in range(0, len(order) - 1, CUTS_AT_ONCE):
        n_cuts = np.int64(0)
        for i in range(start, min(start + CUTS_AT_ONCE, len(order) - 1)):
            for l in range(habits.n_sums):
                for line in range(3):
                    judge.so_far[l, line] += own.sums[order[i], l, line]
                    judge.left[l, line, n_cuts] = judge.so_far[l, line]
            judge.row[n_cuts] = i + 1
            n_cuts += np.int64(own.key[order[i]] != own.key[order[i + 1]])
        keep_best(q, n_cuts, np.int64(0), rules, habits, judge, within)


@internal
def search_levels(listed, k, table, rows, rules, judging, judge, own, within):
    """Find the best cuts of a categorical column, and what all sums have on their left.

    In place of a row a cut has how many levels, in their order, go left.
    """
    n_codes = table.columns[k].n_values + 1
    n_levels = levels_of_sets(listed, table.codes[k], n_codes, rows, rules, judging, own)
    search_sums(n_levels, rules, judging.habits[0], judge, own, within)


@internal
def search_sums(n_levels, rules, habits, judge, own, within):
    """Do what `search_levels` does, once the levels are added up."""
    judge.missing[:] = 0  # beside the levels there is nothing
    judge.total[:] = 0
    for i in range(n_levels):
        for l in range(habits.n_sums):
            for line in range(3):
                judge.total[l, line] += own.sums[i, l, line]
    for q in range(habits.n_searched):
        no_cut(judge.best[q])
        n, which = order_levels(n_levels, q, habits.n_sums, rules, own)
        cut_in_order(own.order[which, :n], q, rules, habits, judge, own, within)
        h = judge.left_of_best[q, q, H]
        judge.best[q].missing_left = h >= judge.total[q, H] - h


@internal
def tell_sides(j, own, work):
    """Tell the rows of a node that a set of levels splits on which side they are: 0 left, 1 right.

    Where rows have no value, these, too, and ``missing_left`` says so.
    """
    table, rows, rules, judging, node = (
        work.table, work.rows, work.rules[0], work.judging, work.nodes[j],
    )  # fmt: skip
    listed = rows.listed[node.start : node.stop]
    habits = judging.habits[0]
    k, codes = node.feature, table.codes[node.feature]
    n_codes = table.columns[k].n_values + 1
    n_levels = levels_of_sets(listed, codes, n_codes, rows, rules, judging, own)
    n, which = order_levels(n_levels, habits.splits, habits.n_sums, rules, own)
    mark_left(own.order[which, :n], n_levels, node.cut, own.is_left)
    for i in range(n_levels):
        own.side[own.code[i]] = 1 - own.is_left[i]
        if own.code[i] == n_codes - 1:
            node.missing_left = own.is_left[i]
    for number in listed:
        row = np.uint64(number)
        rows.side[row] = own.side[codes[row]]
