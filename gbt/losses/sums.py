"""Sums of arrays, correctly rounded: the order of the rows does not enter.

See ``gbt.kernels.rows.sums``. Overflow is as NumPy has it: it raises FloatingPointError where NumPy
is asked to raise such errors.
"""

from math import fsum

import numpy as np

from gbt.kernels.rows.sums import EPS, add_by_place

ROWS_AT_ONCE = 2**15  # whose copies stay in the processor's cache, and take no memory to speak of


def exact_sum(x: np.ndarray) -> float:
    """Return the float64 number nearest to the exact sum, as ``math.fsum`` does.

    A few floats have the sum of many, and ``math.fsum`` adds those.
    """
    parts: list[float] = []
    try:
        for start in range(0, len(x), ROWS_AT_ONCE):
            parts += _parts_of_sum(x[start : start + ROWS_AT_ONCE])
        return fsum(parts)
    except OverflowError:
        return _sum_of_large(x)


def _parts_of_sum(x: np.ndarray) -> list[float]:
    """Return floats that have the same exact sum; OverflowError for the largest numbers there are.

    Every number is cut in two at a unit so large that the upper parts add up without rounding; the
    same is done with the lower parts, until nothing is left of them (Rump, Ogita and Oishi 2008,
    "Accurate floating-point summation").
    """
    rest = np.array(x, dtype=np.float64)
    sums = []
    while (largest := np.abs(rest).max(initial=0.0)) != 0.0:
        unit = len(rest) * largest * 4.0
        if not np.isfinite(unit):
            raise OverflowError
        unit = 2.0 ** np.frexp(unit)[1]
        above = (rest + unit) - unit
        sums.append(float(above.sum()))
        rest -= above
    return sums


def _sum_of_large(x: np.ndarray) -> float:
    """Return the `exact_sum` of numbers close to the largest there are."""
    try:
        return fsum(x.tolist())
    except (OverflowError, ValueError):
        return float(np.sum(x))  # inf, or an error where NumPy is asked for one


def exact_sums(place: np.ndarray, x: np.ndarray, n_places: int) -> np.ndarray:
    """Return the `exact_sum` of the numbers of every place, as ``np.bincount`` adds them up."""
    place = np.require(place, np.int64, ["C", "W"])
    totals = np.zeros((n_places, 3))
    add_by_place(place, np.require(x, np.float64, ["C", "W"]), totals)
    with np.errstate(invalid="ignore"):
        sums, certain = _nearest(totals, len(x))
    for t in np.flatnonzero(~certain):
        sums[t] = exact_sum(x[place == t])
    return sums


def _nearest(totals: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Do what ``gbt.kernels.rows.sums.nearest`` does, for arrays."""
    high, low, slack = totals.T
    rounded = high + low
    part = rounded - high
    rest = (high - (rounded - part)) + (low - part)
    doubt = 2.0 * n * EPS * slack + 4.0 * EPS * np.abs(rest)
    return rounded, (rounded + (rest + doubt) == rounded) & (rounded + (rest - doubt) == rounded)
