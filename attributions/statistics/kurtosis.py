"""How much of a sum a few rows may carry: the kurtosis of contributions of *training* rows.

A normal interval is right only where a sum is not decided by a few rows. The kurtosis m4 / m2^2 of
the contributions, divided by the number of held-out rows, bounds the error of the normal
approximation. The held-out rows cannot tell their own kurtosis, because a table that has missed the
rare large contributions has short tails for that very reason. The training rows can, because the
rare ones among them have made the small nodes.

Blocks of rows leave their mean and central moments, which merge exactly (Pebay 2008, equations 2.1
and 3.1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.methods import kind_of
from attributions.statistics.powers_of_two import common_exponent, in_unit
from gbt.parallel.in_order import merge_blocks

LIMIT = 0.1  # kurtosis / number of held-out rows: above it, intervals are not to be relied on
LIMIT_OF_MODEL = 0.2  # the same where kurtosis comes from the model, not from training rows


def limit_of(method: str) -> float:
    """Return the limit of a method; kurtosis comes from the model in ``held_out_gain`` alone."""
    return LIMIT_OF_MODEL if kind_of(method) == "held_out_gain" else LIMIT


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and sums of powers about the mean; arrays of shape (p,).

    Numbers are divided by 2^exponent first: see ``attributions.statistics.powers_of_two``.
    """

    n_rows: int
    mean: np.ndarray
    second: np.ndarray
    third: np.ndarray
    fourth: np.ndarray
    exponent: Any = 0

    @classmethod
    def of(cls, rows: np.ndarray) -> "Moments":
        """Take the moments of a block of rows, float64 of shape (n, p)."""
        mean = rows.mean(axis=0)
        d = rows - mean
        with np.errstate(over="ignore"):  # see `in_unit`
            square = d * d  # of a pass over training rows, d**3 and d**4 took three quarters: pow
            second = square.sum(axis=0)
        scaled, exponent = in_unit(d, second)
        if scaled is not d:
            d, square = scaled, scaled * scaled
            second = square.sum(axis=0)
        third, fourth = (np.einsum("ik,ik->k", square, power) for power in (d, square))
        return cls(len(rows), mean, second, third, fourth, exponent)

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of the rows of both."""
        a, b = self.n_rows, other.n_rows
        n = a + b
        gap = other.mean - self.mean
        mean = self.mean + gap * (b / n)
        exponent = common_exponent(self.exponent, other.exponent, gap)
        gap = np.ldexp(gap, -exponent)
        own_second, own_third, own_fourth = self._in_unit(exponent)
        its_second, its_third, its_fourth = other._in_unit(exponent)
        second = own_second + its_second + gap**2 * (a * b / n)
        third = (
            own_third
            + its_third
            + gap**3 * (a * b * (a - b) / n**2)
            + 3 * gap * (a * its_second - b * own_second) / n
        )
        fourth = (
            own_fourth
            + its_fourth
            + gap**4 * (a * b * (a**2 - a * b + b**2) / n**3)
            + 6 * gap**2 * (a**2 * its_second + b**2 * own_second) / n**2
            + 4 * gap * (a * its_third - b * own_third) / n
        )
        return Moments(n, mean, second, third, fourth, exponent)

    def _in_unit(self, exponent: Any) -> list[np.ndarray]:
        """Return the sums of powers in another unit, 2^exponent."""
        powers = enumerate((self.second, self.third, self.fourth), 2)
        return [np.ldexp(sums, power * (self.exponent - exponent)) for power, sums in powers]

    @property
    def kurtosis(self) -> np.ndarray:
        """m4 / m2^2, 3 for normal numbers; 0 where nothing varies."""
        result = np.zeros(len(self.mean))
        square = self.second**2
        return np.divide(self.n_rows * self.fourth, square, out=result, where=square > 0)


def moments_over_rows(
    contributions: Callable[[slice], tuple[np.ndarray, np.ndarray | None]],
    n_rows: int,
    n_jobs: int | None,
) -> Moments:
    """Return the moments of contributions that are made a block at a time.

    Parameters
    ----------
    contributions, n_rows, n_jobs
        As for ``attributions.statistics.row_sums.sum_over_rows``.
    """
    return merge_blocks(
        lambda block: Moments.of(contributions(block)[0]), Moments.merge, n_rows, n_jobs
    )
