r"""Levels: the best cuts of a categorical column, and of numbers that take few values.

A split of a categorical column is a set of levels. Ordered by their mean gradient, levels are cut
like numbers: of all sets the one of least squared error is among these (Fisher 1958), and to second
order so is that of any loss. First the sums of each level of a node are added up
(``gbt.kernels.cuts.value_sums``); rows whose value is missing are one level more, the last::

    rows of node 0     a   c   d   f   b         level    a c    d f    b
                                                 number    0      1     2    (missing)

Then, for every sum that is searched, levels are put in the order of

    G / (H + smoothing)          of that sum

and cumulated in this order. What stands left of a cut is scored as for numbers; levels whose key is
the same stay together.

Of many levels with few rows each, those that chance has moved most come first, and a cut behind
them gains much and means nothing. So such levels go one way, as one level, at the place of all
their rows together: in a sum, those of fewer rows than smoothing is, but of less than an eighth of
the node's, so that small nodes can still be split. Levels without a row in the sum go with them. A
row counts as many times as its weight says.

Numbers that take few values are cut in the same way, but in their own order, and missing rows are
tried on both sides: no row needs to be sorted, and a cut is scored once a value, not once a row.

Cost: the sums of the values, some nanoseconds a value and sum, and a merge sort of the levels that
stand for themselves for every node and sum.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.scan import ROWS_AT_ONCE, G, H, keep_best, sort_by_node
from gbt.kernels.cuts.value_sums import W, add_up_values
from gbt.kernels.platform.compiling import forced_inline, internal, uncounted
from gbt.kernels.platform.instructions import min

LEAST_SHARE = 8  # a level of an eighth of a node's weight, or more, stands for itself


class LevelOrder(NamedTuple):
    """How levels are ordered, and a thread's own arrays for that."""

    smoothing: float  # in the units of the hessians
    most_weight: float  # of a level of few rows: smoothing, in the units of the weights
    splits: int  # the sum whose best cut the policy splits nodes by
    order: np.ndarray  # (2, most levels + 1) int32


@internal
def merge_sort(key, order, spare):
    """Order numbers by their keys, of equals as they stand; return which of both arrays has them.

    key            (k,)     float64   IN      by number
    order, spare   (m,)     int32     INOUT   ascending numbers on entry
    """
    width, is_spare = 1, np.uint64(0)
    while width < len(order):
        source, target = (spare, order) if is_spare > 0 else (order, spare)
        for start in range(0, len(order), 2 * width):
            a, middle = start, min(start + width, len(order))
            b, stop = middle, min(start + 2 * width, len(order))
            for i in range(start, stop):
                if b == stop or (a < middle and key[source[a]] <= key[source[b]]):
                    target[i] = source[a]
                    a += 1
                else:
                    target[i] = source[b]
                    b += 1
        width, is_spare = 2 * width, np.uint64(1) - is_spare
    return is_spare


@forced_inline
def key_of(g, h, smoothing):
    """Return what levels are ordered by; without any weight they come first.

    That is where raw predictions rise most. In the program of Adler and Painsky, who order levels
    by residuals, y - f, these stand at the same end.
    """
    weight = np.float64(h) + smoothing
    return np.float64(g) / weight if weight > 0.0 else -np.inf


@internal
def order_levels(n_levels, q, values, levels):
    """Put the levels of a node in the order in which sum q cuts them.

    Those of few rows are one, which has the number ``n_levels``. Returned are how many are in order
    then, and in which of both arrays of ``levels.order`` they stand.

    values   ValueSums   INOUT   of the node's levels, and then of those of few rows
    """
    key, sums, order = values.key, values.sums, levels.order
    of_few = sums[n_levels]
    weight = np.int64(0)
    for i in range(n_levels):
        weight += sums[i, q, W]
    enough = min(levels.most_weight, weight / LEAST_SHARE)
    of_few[:] = 0
    n = 0
    for i in range(n_levels):
        if sums[i, q, W] < enough:
            for l in range(len(of_few)):
                for line in range(3):
                    of_few[l, line] += sums[i, l, line]
        else:
            key[i] = key_of(sums[i, q, G], sums[i, q, H], levels.smoothing)
            order[0, n] = i
            n += 1
    if n < n_levels:
        key[n_levels] = key_of(of_few[q, G], of_few[q, H], levels.smoothing)
        order[0, n] = n_levels
        n += 1
    return n, merge_sort(key[: n_levels + 1], order[0, :n], order[1, :n])


@internal
def cut_in_order(order, values, q, has_missing, total, asked, bounds, scratch, best, left):
    """Score all cuts between values of a node in some order for sum q and keep the best.

    order   (m,)        int32     IN      numbers of values
    values              ValueSums IN
    bounds  (2,)        float64   IN      of steps, if there are any
    best                CUT       INOUT   its ``row`` becomes how many of the order go left
    left    (L, 3)      int64     INOUT   what all sums have left of the best cut
    """
    key, sums, row = values.key, values.sums, scratch.row
    n_places = len(order) if has_missing else len(order) - 1
    scratch.so_far[:] = 0
    for start in range(0, n_places, ROWS_AT_ONCE):
        stop, n_cuts = min(start + ROWS_AT_ONCE, n_places), 0
        for i in range(start, stop):
            row[n_cuts] = i + 1
            is_cut = i + 1 == len(order) or key[order[i]] != key[order[i + 1]]
            scratch.is_last[i - start] = is_cut
            n_cuts += is_cut
        for l in range(len(asked.takes)):
            for line in range(3):
                so_far, to = scratch.so_far[l, line], scratch.left[l, line]
                cut = np.uint64(0)
                for i in range(start, stop):
                    so_far += sums[order[i], l, line]
                    to[cut] = so_far
                    cut += scratch.is_last[i - start]
                scratch.so_far[l, line] = so_far
        if n_cuts > 0:
            keep_best(n_cuts, q, has_missing, total, asked, bounds, scratch, best, left)


@forced_inline
def no_cut(best):
    """Start without a cut: nothing but the score is meant, though the row is looked up."""
    best.score, best.row, best.missing_left = -np.inf, 0, 0


@uncounted
def scan_levels(column, set_of_row, totals, asked, scratch, values, levels, cuts, left, is_left):
    """Find the best cuts of one categorical column for every open node.

    column                       ValuesOfColumn    IN
    set_of_row ... scratch                                as for ``scan_column``
    values                       ValueSums
    levels                       LevelOrder
    cuts         (J, Q)          CUT       OUT          ``row`` is without meaning
    left         (J, Q, L, 3)    int64     OUT          what all sums have left of the cuts
    is_left      (m,)            bool      OUT          of the i-th level of node j, at its start
                                                        plus i, for the sum that splits nodes
    """
    scratch.missing[:] = 0  # beside the levels there is nothing
    if len(column.by_value) > 0:
        sort_by_node(column.by_value, column.n_present, asked, scratch)
    for j in range(len(cuts)):
        n_levels, has_missing = add_up_values(j, column, set_of_row, asked, scratch, values)
        goes_left = is_left[asked.start[j] :]
        for q in range(asked.n_searched):
            best = cuts[j, q]
            no_cut(best)
            n, which = order_levels(n_levels, q, values, levels)
            order = levels.order[which, :n]
            cut_in_order(
                order, values, q, False, totals[j], asked, asked.bounds[j], scratch, best,
                left[j, q],
            )  # fmt: skip
            if best.score == -np.inf:
                continue
            h = left[j, q, q, H]
            best.missing_left = h >= totals[j, q, H] - h
            if q == levels.splits:
                mark_left(order, n_levels, best.row, goes_left)
                if has_missing:
                    best.missing_left = goes_left[n_levels - 1]


@internal
def mark_left(order, n_levels, n_left, is_left):
    """Say of every level whether it goes left; those of few rows are one in the order."""
    for i in range(len(order)):
        if order[i] == n_levels:
            is_left[:n_levels] = i < n_left
    for i in range(len(order)):
        if order[i] < n_levels:
            is_left[order[i]] = i < n_left


@uncounted
def scan_values(column, set_of_row, totals, asked, scratch, values, levels, cuts, left):
    """Find the best cuts of one column of numbers with few distinct values, for every open node.

    column ... levels   as for ``scan_levels``, but ``by_value`` is empty
    cuts ... left       as for ``scan_column``
    """
    for j in range(len(cuts)):
        n_values, has_missing = add_up_values(j, column, set_of_row, asked, scratch, values)
        scratch.missing[:] = 0
        if has_missing:
            n_values -= 1
            for l in range(len(asked.takes)):
                for line in range(3):
                    scratch.missing[l, line] = values.sums[n_values, l, line]
        order = levels.order[0, :n_values]
        for i in range(len(order)):
            order[i] = values.key[i] = i
        for q in range(asked.n_searched):
            best = cuts[j, q]
            no_cut(best)
            cut_in_order(
                order, values, q, has_missing, totals[j], asked, asked.bounds[j], scratch, best,
                left[j, q],
            )  # fmt: skip
            if best.score > -np.inf:
                best.row = values.row[best.row - 1]
