"""Sums of arrays, correctly rounded: the order of the rows does not enter.

See ``gbt.kernels.rows.sums``. Overflow is as NumPy has it: it raises FloatingPointError where NumPy
is asked to raise such errors.
"""

import numpy as np

from gbt.kernels.rows.sums import EPS, add_by_place, sum_exactly


def exact_sum(x: np.ndarray) -> float:
    """Return the float64 number nearest to the exact sum, as ``math.fsum`` does."""
    x = np.require(x, np.float64, ["C", "W"])  # a read-only array is another type to Numba
    total = float(sum_exactly(x, np.empty(len(x))))
    return total if np.isfinite(total) else float(np.sum(x))


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
