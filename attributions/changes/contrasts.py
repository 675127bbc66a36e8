r"""The difference of what features are worth to two sets of rows, with an error that holds.

    difference  =  worth to these  -  worth to those          variance  =  V_1 + V_2 - 2 C

V is the variance of each, C the covariance, which is 0 unless groups have rows in both.

A small set that has missed the rare rows in which a feature matters most shows both a small worth
and a small error, and would look as if the feature had lost its worth. So V is taken for no less
than it would be if a draw of the set varied as one of both sets does on average. The distribution
is Student's, with the degrees of freedom of Welch (1947) and Satterthwaite (1946).

Several differences hold together by the bound of Sidak (1967): whatever the dependence of normal
numbers, all |t| stay below what each passes with probability 1 - (1 - c)^(1/m) in at least 1 - c of
cases.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from attributions.changes.worth import Worth


class Difference(NamedTuple):
    """Differences of features, with errors and degrees of freedom; arrays of shape (p,)."""

    values: np.ndarray
    standard_error: np.ndarray
    degrees: np.ndarray


def difference(these: Worth, those: Worth) -> Difference:
    """Return these less those."""
    return combination([these, those], np.array([1.0, -1.0]))


def combination(worths: Sequence[Worth], shares: np.ndarray) -> Difference:
    """Return the sum of shares of what features are worth to several sets of rows."""
    n = np.array([worth.n_draws for worth in worths])
    own = np.array([worth.variance for worth in worths])
    of_draw = (n**2 * own).sum(axis=0) / n.sum(axis=0)  # n times the variance is that of one draw
    parts = shares[:, np.newaxis] ** 2 * np.maximum(own, of_draw / n)
    shared, n_draws = _shared(worths, shares)
    degrees = np.full(own.shape[1], np.inf)
    of_each = (parts**2 / np.maximum(n - 1, 1)).sum(axis=0)
    np.divide(parts.sum(axis=0) ** 2, of_each, out=degrees, where=of_each > 0)
    return Difference(
        shares @ np.array([worth.values for worth in worths]),
        np.sqrt(np.maximum(parts.sum(axis=0) + shared, 0.0)),
        np.minimum(degrees, max(n_draws - 1, 1)),
    )


def _shared(worths: Sequence[Worth], shares: np.ndarray) -> tuple[Any, int]:
    """Return twice the covariances, which groups of several sets bring, and how many draws differ.

    The square of a group's sum, less the squares of its parts in the sets.
    """
    moved = [share * worth.moved_by for share, worth in zip(shares, worths, strict=True)]
    draws = [worth.draws for worth in worths if worth.draws is not None]
    if len(draws) < len(worths):
        return 0.0, int(sum(worth.n_draws.max() for worth in worths))
    labels, group = np.unique(np.concatenate(draws), return_inverse=True)
    of_group = np.zeros((len(labels), moved[0].shape[1]))
    np.add.at(of_group, group, np.concatenate(moved))
    squares = (of_group**2).sum(axis=0) - sum((part**2).sum(axis=0) for part in moved)
    return squares * (len(labels) / max(len(labels) - 1, 1)), len(labels)


def chances(t: np.ndarray, degrees: np.ndarray, joint: bool) -> np.ndarray:
    """Return two-sided p-values, of each by itself or of all together; nan where t is."""
    p = 2 * stdtr(degrees, -np.abs(t))
    with np.errstate(divide="ignore"):  # by the logarithm of 0, where p is 1
        return -np.expm1(_n_counted(t) * np.log1p(-p)) if joint else p


def half_widths(t: np.ndarray, degrees: np.ndarray, level: float, joint: bool) -> np.ndarray:
    """Return how many errors intervals reach to either side."""
    n = _n_counted(t) if joint else 1
    return -stdtrit(degrees, -np.expm1(np.log(level) / max(n, 1)) / 2)


def _n_counted(t: np.ndarray) -> int:
    """Return how many differences there are to be tested."""
    return int(np.isfinite(t).sum())
