r"""Levels: the order in which the levels of a categorical column are cut in a node.

A split of a categorical column is a set of levels. Ordered by their mean gradient, levels are cut
like numbers: of all sets the one of least squared error is among these (Fisher 1958), and to second
order so is that of any loss. First the sums of each level of a node are added up, set by set; rows
whose value is missing are one level more, the last::

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

Cost: a merge sort of the levels that stand for themselves for every node and sum.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import min

G, H, N, W = 0, 1, 2, 3  # places in a sum: gradients, hessians, rows, weights
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
def mark_left(order, n_levels, n_left, is_left):
    """Say of every level whether it goes left; those of few rows are one in the order."""
    for i in range(len(order)):
        if order[i] == n_levels:
            is_left[:n_levels] = i < n_left
    for i in range(len(order)):
        if order[i] < n_levels:
            is_left[order[i]] = i < n_left
