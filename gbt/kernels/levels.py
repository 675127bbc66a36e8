r"""Levels: the best cuts of a categorical column for all open nodes, by one walk through it.

A split is a set of levels. Ordered by their mean gradient, levels are cut like numbers: of all sets
the one of least squared error is among these (Fisher 1958), and to second order so is that of any
loss. First the sums of each level of a node are added up, which lie together once rows are sorted
by node (``gbt.kernels.scan``); rows whose value is missing are one level more, the last::

    rows of node 0     a   c   d   f   b         level    a c    d f    b
    new value          *       *                 number    0      1     2    (missing)

Then, for every sum that is searched, levels are put in the order of

    G / (H + smoothing)          of that sum

and cumulated in this order. What stands left of a cut is scored as for numbers; levels whose key is
the same stay together.

Of many levels with few rows each, those that chance has moved most come first, and a cut behind
them gains much and means nothing. So such levels have one key, that of all their rows together, and
go one way: in a sum, those of fewer rows than smoothing is, but of less than an eighth of the
node's, so that small nodes can still be split. Levels without a row in the sum go with them.

Cost: that of numbers, and a merge sort of the levels for every node and sum.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.compiling import internal, step, uncounted
from gbt.kernels.scan import ROWS_AT_ONCE, G, H, N, keep_best, sort_by_node

LEAST_SHARE = 8  # a level of this part of a node's rows, or more, stands for itself


class Levels(NamedTuple):
    """How levels are ordered, and a thread's own arrays for them."""

    smoothing: float  # in the units of the hessians
    most_rows: float  # of a level of few rows: smoothing, as a number of rows
    splits: int  # the sum whose best cut the policy splits nodes by
    of_sets: np.ndarray  # (S, 3) int64, sums of one level, set by set
    sums: np.ndarray  # (most levels, L, 3) int64, of a node's levels, sum by sum
    key: np.ndarray  # (most levels,) float64
    order: np.ndarray  # (2, most levels) int32


@internal
def add_up_levels(rows, n_present, set_of_row, asked, levels):
    """Write down the sums of the levels of a node; return how many there are.

    rows   (m,)   int32   IN   by level, ~row where a new one starts, from n_present on missing
    """
    n_levels, of_sets, sums = 0, levels.of_sets, levels.sums
    of_sets[:] = 0
    for i in range(len(rows)):
        number = np.int64(rows[i])
        number = max(number, ~number)
        row, own = asked.rows[np.uint64(number)], of_sets[set_of_row[np.uint64(number)]]
        own[G] += row.g
        own[H] += row.h
        own[N] += 1
        if i + 1 < len(rows) and i + 1 != n_present and rows[i + 1] >= 0:
            continue  # the next row has the same level
        for l in range(len(asked.takes)):
            g = h = n = np.int64(0)
            for s in range(len(of_sets)):
                mask = asked.takes[l, s]
                g += of_sets[s, G] & mask
                h += of_sets[s, H] & mask
                n += of_sets[s, N] & mask
            sums[n_levels, l, G], sums[n_levels, l, H], sums[n_levels, l, N] = g, h, n
        of_sets[:] = 0
        n_levels += 1
    return n_levels


@internal
def merge_sort(key, order, spare):
    """Order numbers by their keys, of equals as they stand; return which of both arrays has them.

    key            (m,)     float64   IN
    order, spare   (m,)     int32     INOUT   0, 1, 2, ... on entry
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


@step
def key_of(g, h, smoothing):
    """Return what levels are ordered by; without any weight they come last."""
    weight = np.float64(h) + smoothing
    return np.float64(g) / weight if weight > 0.0 else np.inf


@internal
def order_levels(n_levels, q, total, levels):
    """Put the levels of a node in the order in which sum q cuts them; say in which array it is.

    total   (L, 3)   int64   IN   sums of the node
    """
    key, sums, order = levels.key, levels.sums, levels.order
    enough = min(levels.most_rows, total[q, N] / LEAST_SHARE)
    g = h = np.int64(0)
    for i in range(n_levels):
        if sums[i, q, N] < enough:
            g += sums[i, q, G]
            h += sums[i, q, H]
    key_of_few = key_of(g, h, levels.smoothing)
    for i in range(n_levels):
        has_few = sums[i, q, N] < enough
        of_level = key_of(sums[i, q, G], sums[i, q, H], levels.smoothing)
        key[i] = key_of_few if has_few else of_level
        order[0, i] = i
    return merge_sort(key[:n_levels], order[0, :n_levels], order[1, :n_levels])


@internal
def cut_levels(order, q, total, asked, bounds, scratch, levels, best, left):
    """Score all cuts between the levels of a node for sum q and keep the best.

    order     (m,)         int32   IN
    bounds    (2,)         float64 IN      of steps, if there are any
    best                   CUT     INOUT   its ``row`` becomes the number of levels on the left
    left      (L, 3)       int64   INOUT   what all sums have left of the best cut
    """
    sums, key, row = levels.sums, levels.key, scratch.row
    scratch.so_far[:] = 0
    for start in range(0, len(order) - 1, ROWS_AT_ONCE):
        stop, n_cuts = min(start + ROWS_AT_ONCE, len(order) - 1), 0
        for i in range(start, stop):
            row[n_cuts] = i + 1
            n_cuts += key[order[i]] != key[order[i + 1]]
        for l in range(len(asked.takes)):
            for line in range(3):
                so_far, to = scratch.so_far[l, line], scratch.left[l, line]
                cut = 0
                for i in range(start, stop):
                    so_far += sums[order[i], l, line]
                    to[cut] = so_far
                    cut += key[order[i]] != key[order[i + 1]]
                scratch.so_far[l, line] = so_far
        if n_cuts > 0:
            keep_best(n_cuts, q, False, total, asked, bounds, scratch, best, left)


@uncounted
def scan_levels(
    by_value, n_present, set_of_row, totals, asked, scratch, levels, cuts, left, is_left
):  # fmt: skip
    """Find the best cuts of one categorical column for every open node.

    by_value ... scratch                                as for ``scan_column``
    levels                       Levels
    cuts         (J, Q)          CUT       OUT          ``row`` is how many levels go left
    left         (J, Q, L, 3)    int64     OUT          what all sums have left of the cuts
    is_left      (m,)            bool      OUT          of the i-th level of node j, at its start
                                                        plus i, for the sum that splits nodes
    """
    scratch.missing[:] = 0  # beside the levels there is nothing
    sort_by_node(by_value, n_present, asked, scratch)
    for j in range(len(cuts)):
        start, stop = asked.start[j], scratch.place[j]
        end = scratch.n_present[j]
        some = scratch.by_node[start:stop]
        n_levels = add_up_levels(some, end, set_of_row, asked, levels)
        for q in range(asked.n_searched):
            best = cuts[j, q]
            best.score, best.row, best.missing_left = -np.inf, 0, 0
            order = levels.order[order_levels(n_levels, q, totals[j], levels), :n_levels]
            cut_levels(
                order, q, totals[j], asked, asked.bounds[j], scratch, levels, best, left[j, q]
            )
            if best.score == -np.inf:
                continue
            h = left[j, q, q, H]
            best.missing_left = h >= totals[j, q, H] - h
            for i in range(n_levels):
                goes_left = i < best.row
                if q == levels.splits:
                    is_left[start + order[i]] = goes_left
                if order[i] == n_levels - 1 and end < len(some):  # missing rows are that level
                    best.missing_left = goes_left
