"""Pairs of rows of a query, each of a better row and of one below it: see ``gbt.losses.ranking``.

Rows are sorted by query, and within a query from the best grade down. So the rows below row i are
neighbours, ``below[i]`` .. ``end[i]``. ``strength`` is e^f, relative to the largest of the query: j
is wrongly ahead of i with probability strength_j / (strength_i + strength_j).
"""

import math
from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import uncounted


class Places(NamedTuple):
    """What the places of rows in their queries count; of no rows where all pairs weigh alike."""

    gain: np.ndarray  # (n,) of the grade, in shares of the query's best DCG
    discount: np.ndarray  # (n,) of the place; of equal predictions the mean
    tie: np.ndarray  # (n,) int64, equal for rows of a query that have equal predictions
    apart: np.ndarray  # (n,) how far apart the discounts of two such rows are on average


@uncounted
def add_up_pairs(below, end, strength, share, places, gradient, hessian):
    """Write the derivatives of all pairs, added up by row.

    below, end   (n,)      int64      IN
    strength     (n,)      float64    IN
    share        (n,)      float64    IN    what each pair of the query is multiplied by
    places       `Places`             IN
    gradient     (n,)      float64    OUT
    hessian      (n,)      float64    OUT
    """
    gradient[:] = 0.0
    hessian[:] = 0.0
    by_place = len(places.gain) > 0
    for i in range(len(below)):
        g = h = 0.0
        for j in range(below[i], end[i]):
            weight = share[i]
            if by_place:
                apart = abs(places.discount[i] - places.discount[j])
                if places.tie[i] == places.tie[j]:
                    apart = places.apart[i]
                weight *= (places.gain[i] - places.gain[j]) * apart
            wrong = strength[j] / (strength[i] + strength[j])
            slope = weight * wrong
            bend = slope * (1.0 - wrong)
            g += slope
            h += bend
            gradient[j] += slope
            hessian[j] += bend
        gradient[i] -= g
        hessian[i] += h


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
