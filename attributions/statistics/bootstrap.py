"""Intervals for sums that few rows carry: the symmetric bootstrap-t (Hall 1988).

A normal interval assumes that (sum - expectation) / standard error is a standard normal number.
With few rows and long tails it is not: a table that happens to miss the large contributions has a
wrong sum and, at the same time, a standard error that is too small. How the ratio is distributed is
estimated by drawing rows from the table itself, with replacement, and computing

    t* = |sum* - sum| / standard_error*

The interval is sum -+ q standard_error, with q the quantile of t* at the wanted level. It takes
each row's contributions and 999 sums over resampled rows. A draw that misses all rows to which a
feature contributes has a standard error of 0, and its t* is infinite. If that happens so often that
q is infinite, so is the interval: the table has too few such rows to tell.
"""

import numpy as np

from attributions.statistics.powers_of_two import exponent_of_columns

N_RESAMPLES = 999
NUMBERS_AT_ONCE = 2**22  # of row counts: 32 MB
EPS = float(np.finfo(np.float64).eps)


def symmetric_t(contributions: np.ndarray, level: float, random_state: int) -> np.ndarray:
    """Return the factor q of the standard error, (p,), in place of a normal quantile.

    ``contributions`` (n, p) are those of two or more rows, or groups of rows. The factor is 0 where
    all contribute the same.
    """
    n, p = contributions.shape
    rng = np.random.default_rng(random_state)
    deviation = contributions - contributions.mean(axis=0)
    deviation = np.ldexp(deviation, -exponent_of_columns(deviation))  # t has no unit
    t = np.empty((N_RESAMPLES, p))
    at_once = max(1, NUMBERS_AT_ONCE // n)
    for first in range(0, N_RESAMPLES, at_once):
        part = t[first : first + at_once]
        drawn = rng.integers(n, size=(len(part), n))
        times = np.array([np.bincount(rows, minlength=n) for rows in drawn], dtype=np.float64)
        moved, squares = times @ deviation, times @ deviation**2
        about_mean = squares - moved**2 / n
        about_mean[about_mean < n * EPS * squares] = 0.0  # a difference of equals, but for rounding
        with np.errstate(divide="ignore", invalid="ignore"):
            part[:] = np.abs(moved) / np.sqrt(n / (n - 1) * about_mean)
    t[np.isnan(t)] = 0.0  # 0 / 0: nothing varies
    rank = int(np.ceil(level * (N_RESAMPLES + 1))) - 1
    return np.sort(t, axis=0)[min(rank, N_RESAMPLES - 1)]
