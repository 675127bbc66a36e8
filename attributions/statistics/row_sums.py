"""Sums over rows, and what their standard errors are made of, block by block.

A per-feature attribution is a sum over rows, z_1k + ... + z_nk. If the rows are drawn independently
and the model was there before them, the variance of the sum is n times that of one z_ik, which the
rows themselves estimate. So the sum has the standard error

    standard_error_k = sqrt(n / (n - 1) * sum_i (z_ik - mean_k)^2)          mean_k = sum_i z_ik / n

``attributions.reference.inference`` derives it on a page of plain loops, and docs/inference.md
measures how often intervals made of it hold the truth.

Rows come in blocks of ``ROWS_PER_BLOCK``, whatever the number of threads. Each block leaves three
things, its n, its sums and its squares about its own mean; blocks are merged in row order (Chan,
Golub and LeVeque 1983, "Algorithms for computing the sample variance", equation 2.1):

    S = S_a + S_b        M = M_a + M_b + (S_b/n_b - S_a/n_a)^2 * n_a n_b / (n_a + n_b)

So memory does not grow with n, and results are the same to the last bit for every ``n_jobs``. Where
it is asked for, a block also leaves the products of the distances of every two features from their
means, (p, p), which merge by the same formula with products of two features' gaps in place of the
square: they tell how sums over several features vary. Third and fourth powers of the distances,
which say how long the tails are, merge by formulas of Pebay (2008, equations 2.1 and 3.1).

Groups of rows that belong together take the place of rows where there are any: a group may lie
anywhere in the table, so its sum is gathered over the blocks first, in a table of G rows.
Contributions that are too large or too small to be squared are squared in a unit of their own
(``attributions.statistics.powers_of_two``).
"""

import operator
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.statistics.groups import Groups
from attributions.statistics.powers_of_two import OF_ZERO, exponent_of, exponent_of_squares
from gbt.parallel.blas import one_blas_thread
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks

Contributions = Callable[[slice], tuple[np.ndarray, Any]]


@dataclass(frozen=True, eq=False)
class RowSums:
    """What is kept of the rows, or groups of rows, seen so far; ``+`` merges those of others.

    Distances from the rows' means are in units of 2^exponent, which is 1 unless they are of extreme
    size. Rows that come later may belong to the same groups.
    """

    n_rows: int  # or groups
    total: np.ndarray  # (p,) sum over the rows
    squares: np.ndarray  # (p,) sum of squared distances
    beside: Any = None  # else added up: totals tree by tree, (M, p), or `RowSums` of other numbers
    labels: np.ndarray | None = None  # (n_rows,) of groups
    by_group: np.ndarray | None = None  # (n_rows, p) the sum of each group
    products: np.ndarray | None = None  # (p, p) sum of products of two features' distances
    higher: tuple[np.ndarray, np.ndarray] | None = None  # (p,) third and fourth powers of distances
    exponent: Any = 0  # (p,)

    @classmethod
    def of(
        cls,
        rows: np.ndarray,
        beside: Any = None,
        second_moments: bool = False,
        higher: bool = False,
        labels: np.ndarray | None = None,
    ) -> "RowSums":
        """Sum the rows of one block, float64 of shape (n, p); with ``labels`` they are groups."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked where a result is made
            total = rows.sum(axis=0)
            deviation = rows - total / len(rows)
            squares = np.einsum("ik,ik->k", deviation, deviation)
        exponent = exponent_of_squares(deviation, squares)
        if not np.isin(exponent, (0, OF_ZERO)).all():
            deviation = np.ldexp(deviation, -exponent)
            squares = np.einsum("ik,ik->k", deviation, deviation)
        tails = None
        if higher:
            square = deviation * deviation  # d**3 and d**4 took 3/4 of a pass: pow
            tails = tuple(np.einsum("ik,ik->k", square, power) for power in (deviation, square))
        return cls(
            n_rows=len(rows),
            total=total,
            squares=squares,
            beside=beside,
            labels=labels,
            by_group=None if labels is None else rows,
            products=deviation.T @ deviation if second_moments else None,
            higher=tails,
            exponent=exponent,
        )

    def __add__(self, other: "RowSums") -> "RowSums":
        beside = None if self.beside is None else self.beside + other.beside
        labels, by_group = self._groups_of_both(other)
        if by_group is not None:  # exact, also where both have rows of a group
            kept = self.products is not None, self.higher is not None
            return RowSums.of(by_group, beside, *kept, labels)
        a, b = self.n_rows, other.n_rows
        n = a + b
        gap = other.total / b - self.total / a
        weight = a * (b / n)
        exponent = np.maximum(np.maximum(self.exponent, other.exponent), exponent_of(np.abs(gap)))
        gap = np.ldexp(gap, -exponent)
        (squares, products, higher), its = self._in_unit(exponent), other._in_unit(exponent)
        if products is not None:
            products = products + its[1] + np.outer(gap, gap) * weight
        if higher is not None:
            third = higher[0] + its[2][0] + gap**3 * (a * b * (a - b) / n**2)
            third += 3 * gap * (a * its[0] - b * squares) / n
            fourth = higher[1] + its[2][1] + gap**4 * (a * b * (a**2 - a * b + b**2) / n**3)
            fourth += 6 * gap**2 * (a**2 * its[0] + b**2 * squares) / n**2
            fourth += 4 * gap * (a * its[2][0] - b * higher[0]) / n
            higher = third, fourth
        return RowSums(
            n_rows=n,
            total=self.total + other.total,
            squares=squares + its[0] + gap**2 * weight,
            beside=beside,
            labels=labels,
            products=products,
            higher=higher,
            exponent=exponent,
        )

    def _groups_of_both(self, other: "RowSums") -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the labels of all groups, and their sums where both keep them."""
        if self.labels is None or other.labels is None:
            return None, None
        labels, place = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
        if self.by_group is None or other.by_group is None:
            return labels, None
        by_group = np.zeros((len(labels), len(self.total)))
        np.add.at(by_group, place.reshape(-1), np.concatenate([self.by_group, other.by_group]))
        return labels, by_group

    def _in_unit(self, exponent: Any) -> tuple[np.ndarray, Any, Any]:
        """Return squares, products and higher powers in units of other powers of two."""
        change = self.exponent - exponent + np.zeros(len(self.squares), dtype=np.int64)
        products, higher = self.products, self.higher
        if not change.any():
            return self.squares, products, higher
        if products is not None:
            products = np.ldexp(products, np.add.outer(change, change))
        if higher is not None:
            higher = np.ldexp(higher[0], 3 * change), np.ldexp(higher[1], 4 * change)
        return np.ldexp(self.squares, 2 * change), products, higher

    @property
    def second_moments(self) -> np.ndarray | None:
        """``products`` in unit 1; refused where they do not fit into float64."""
        if self.products is None:
            return None
        moments: Any
        with np.errstate(over="ignore"):
            _, moments, _ = self._in_unit(0)
        if not np.isfinite(moments).all() or ((moments == 0) & (self.products != 0)).any():
            raise ValueError(
                "second_moments=True multiplies contributions with each other, and these are too"
                " large or too small for that to fit into float64. Divide the targets by a constant"
                " before you fit."
            )
        return moments

    @property
    def standard_error(self) -> np.ndarray | None:
        """Standard error of ``total``, of shape (p,); None for a single row."""
        if self.n_rows < 2:
            return None
        return np.ldexp(np.sqrt(self.n_rows / (self.n_rows - 1) * self.squares), self.exponent)

    @property
    def kurtosis(self) -> np.ndarray:
        """m4 / m2^2, 3 for normal numbers; 0 where nothing varies. Needs ``higher``."""
        assert self.higher is not None
        square, result = self.squares**2, np.zeros(len(self.squares))
        return np.divide(self.n_rows * self.higher[1], square, out=result, where=square > 0)


def sum_over_rows(
    contributions: Contributions,
    n_rows: int,
    n_jobs: int | None,
    groups: Groups | None = None,
    rows_per_block: int = ROWS_PER_BLOCK,
    second_moments: bool = False,
    higher: bool = False,
) -> RowSums:
    """Sum over rows, at least one, that are made a block at a time.

    ``contributions`` takes a slice of row numbers, and returns the block z_ik of shape
    (n_block, p) and what else is to be added up, or None; it is called from several threads. Sums
    of ``groups`` take the place of rows. ``second_moments`` and ``higher`` say whether to sum
    products of two features, and third and fourth powers, too.
    """
    if groups is None:

        def sums_of(block: slice) -> RowSums:
            return RowSums.of(*contributions(block), second_moments, higher)

        with one_blas_thread() if second_moments else nullcontext():
            return merge_blocks(sums_of, operator.add, n_rows, n_jobs, rows_per_block)

    def of_groups(block: slice) -> tuple[np.ndarray, np.ndarray, Any]:
        values, beside = contributions(block)
        return *groups.within(block, values), beside

    def merge(one: Any, other: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Add up in place once all groups have a row."""
        (present, sums, beside), (others, others_sums, others_beside) = one, other
        if len(present) < len(groups.labels):
            some, sums = sums, np.zeros((len(groups.labels), sums.shape[1]))
            sums[present] = some
        sums[others] += others_sums
        return np.arange(len(sums)), sums, None if beside is None else beside + others_beside

    _, by_group, beside = merge_blocks(of_groups, merge, n_rows, n_jobs, rows_per_block)
    return RowSums.of(by_group, beside, second_moments, higher, groups.labels)
