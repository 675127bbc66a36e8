"""Pairs of rows of a query, each of a better row and of one below it: see ``gbt.losses.ranking``.

Rows are sorted by query, and within a query from the best grade down. So the rows below row i are
neighbours, ``below[i]`` .. ``end[i]``. ``strength`` is e^f, relative to the largest of the query: j
is wrongly ahead of i with probability strength_j / (strength_i + strength_j).
"""

import math
from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import reordered, uncounted

EQUAL = 1e-10  # and this share of the prediction; thousands of trees round by less


class Places(NamedTuple):
    """What the places of rows in their queries count; of no rows where all pairs weigh alike."""

    gain: np.ndarray  # (n,) of the grade, in shares of the query's best DCG
    discount: np.ndarray  # (n,) of the place; of equal predictions the mean
    apart: np.ndarray  # (n,) how far apart two rows of equal predictions are on average


@uncounted
def write_places(first, f, of_place, order, places):
    """Write the places to which predictions bring the rows of queries, in the memory of `Places`.

    Insertion is no slower than the pairs that follow, of which there are as many.

    first      (Q + 1,)   int64     IN    where queries begin, and the last one ends
    f          (n,)       float64   IN    predictions
    of_place   (n,)       float64   IN    the discount of each place of a query
    order      (n,)       int64           the row at each place, for work
    places     `Places`             OUT   but for ``gain``
    """
    for q in range(len(first) - 1):
        start, stop = first[q], first[q + 1]
        for i in range(start, stop):
            j = i
            while j > start and f[order[j - 1]] < f[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        i = start
        while i < stop:
            last = i + 1  # of those that are equal but for rounding
            while last < stop and f[order[last - 1]] - f[order[last]] <= EQUAL * (
                1.0 + abs(f[order[last]])
            ):
                last += 1
            total = spread = 0.0
            for j in range(i, last):
                # Of m sorted discounts the a-th from 0 is the larger in m - 1 - a pairs, the
                # smaller in a.
                total += of_place[j]
                spread += of_place[j] * (last - 1 - j - (j - i))
            size = last - i
            for j in range(i, last):
                row = order[j]
                places.discount[row] = total / size
                places.apart[row] = spread / max(size * (size - 1) / 2.0, 1.0)
            i = last


@uncounted
def add_up_pairs(rows, below, end, strength, places, gradient, hessian):
    """Write the derivatives of all pairs, added up by row.

    rows         (2,)     int64      IN    the first row of some queries, and where the last ends
    below, end   (n,)     int64      IN
    strength     (n,)     float64    IN
    places       `Places`            IN
    gradient     (n,)     float64    OUT
    hessian      (n,)     float64    OUT
    """
    gradient[rows[0] : rows[1]] = 0.0
    hessian[rows[0] : rows[1]] = 0.0
    by_place = len(places.gain) > 0
    for i in range(rows[0], rows[1]):
        first, last = np.uint64(below[i]), np.uint64(end[i])  # which cannot count from the end
        if by_place:
            g, h = add_pairs_by_place(i, first, last, strength, places, gradient, hessian)
        else:
            g, h = add_pairs(strength[i], first, last, strength, gradient, hessian)
        gradient[i] -= g
        hessian[i] += h


@reordered
def add_pairs(own, first, last, strength, gradient, hessian):
    """Add a row's pairs to the rows below it, and return their sums."""
    g = h = 0.0
    for j in range(first, last):
        slope = strength[j] / (own + strength[j])
        bend = slope * (1.0 - slope)
        g += slope
        h += bend
        gradient[j] += slope
        hessian[j] += bend
    return g, h


@reordered
def add_pairs_by_place(i, first, last, strength, places, gradient, hessian):
    """Do the same where pairs weigh by what their rows would gain by changing places."""
    own, gain, discount, apart = strength[i], places.gain[i], places.discount[i], places.apart[i]
    gains, discounts = places.gain, places.discount
    g = h = 0.0
    for j in range(first, last):
        between = abs(discount - discounts[j])
        between = apart if between == 0.0 else between  # equal predictions; beyond all places 0
        wrong = strength[j] / (own + strength[j])
        slope = (gain - gains[j]) * between * wrong
        bend = slope * (1.0 - wrong)
        g += slope
        h += bend
        gradient[j] += slope
        hessian[j] += bend
    return g, h


@uncounted
def write_pair_losses(below, end, strength, share, loss):
    """Write the losses of the pairs in which each row is the better one, added up.

    below, end   (n,)   int64     IN
    strength     (n,)   float64   IN
    share        (n,)   float64   IN
    loss         (n,)   float64   OUT
    """
    for i in range(len(below)):
        total = 0.0
        for j in range(below[i], end[i]):
            total += math.log1p(strength[j] / strength[i])
        loss[i] = share[i] * total
