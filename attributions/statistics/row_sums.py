"""Sums over rows with what their standard error needs, block by block.

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

So memory does not grow with n, and results are the same to the last bit for every ``n_jobs``. Sums
over several features vary as these vary together: where that is asked for, a block also leaves the
products of the distances of every two features from their means, of shape (p, p), which merge by
the same formula with products of two features' gaps in place of the square.

Contributions that are too large or too small to be squared are squared in a unit of their own
(``attributions.statistics.powers_of_two``): targets of 1e-100 have, digit by digit, the p-values of
targets of 1.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attributions.statistics.groups import Groups, GroupSums
from attributions.statistics.powers_of_two import common_exponent, in_unit
from gbt.parallel.blas import one_blas_thread
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks


@dataclass(frozen=True, eq=False)
class RowSums:
    """What is kept of the rows seen so far.

    Parameters
    ----------
    n_rows : int
    total : float64 array of shape (p,)
        Sum over the rows.
    squares : float64 array of shape (p,)
        Sum over the rows of the squared distance from the rows' mean, over 4^exponent.
    per_tree : float64 array of shape (M, p), optional
        The total, tree by tree.
    by_group : float64 array of shape (n_rows, p), optional
        The sums of groups of rows, where these take the place of rows.
    products : float64 array of shape (p, p), optional
        Sum over the rows of the products of two features' distances from their means, over the
        powers of two of both.
    exponent : int array of shape (p,)
        2^exponent is the unit in which distances are squared; 0 unless they are of extreme size.
    """

    n_rows: int
    total: np.ndarray
    squares: np.ndarray
    per_tree: np.ndarray | None = None
    by_group: np.ndarray | None = None
    products: np.ndarray | None = None
    exponent: Any = 0

    @classmethod
    def of(
        cls,
        rows: np.ndarray,
        per_tree: np.ndarray | None = None,
        second_moments: bool = False,
    ) -> "RowSums":
        """Sum the rows of one block, a float64 array of shape (n, p)."""
        with np.errstate(over="ignore", invalid="ignore"):  # whoever makes a result looks at that
            total = rows.sum(axis=0)
            deviation = rows - total / len(rows)
            squares = np.einsum("ik,ik->k", deviation, deviation)
        scaled, exponent = in_unit(deviation, squares)
        if scaled is not deviation:
            squares = np.einsum("ik,ik->k", scaled, scaled)
        products = scaled.T @ scaled if second_moments else None
        return cls(len(rows), total, squares, per_tree, products=products, exponent=exponent)

    def merge(self, other: "RowSums") -> "RowSums":
        """Return the sums over the rows of both."""
        n_rows = self.n_rows + other.n_rows
        gap = other.total / other.n_rows - self.total / self.n_rows
        weight = self.n_rows * (other.n_rows / n_rows)
        exponent = common_exponent(self.exponent, other.exponent, gap)
        gap = np.ldexp(gap, -exponent)
        squares, products = self._in_unit(exponent)
        others_squares, others_products = other._in_unit(exponent)
        if products is not None:
            products = products + others_products + np.outer(gap, gap) * weight
        return RowSums(
            n_rows=n_rows,
            total=self.total + other.total,
            squares=squares + others_squares + gap**2 * weight,
            per_tree=None if self.per_tree is None else self.per_tree + other.per_tree,
            products=products,
            exponent=exponent,
        )

    def _in_unit(self, exponent: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return squares and products in units of other powers of two."""
        if isinstance(self.exponent, int) and isinstance(exponent, int):  # both are 0
            return self.squares, self.products
        change = self.exponent - exponent + np.zeros(len(self.squares), dtype=np.int64)
        products = self.products
        if products is not None:
            products = np.ldexp(products, np.add.outer(change, change))
        return np.ldexp(self.squares, 2 * change), products

    @property
    def second_moments(self) -> np.ndarray | None:
        """``products`` as numbers; refused where they do not fit into float64."""
        if self.products is None:
            return None
        moments: Any
        with np.errstate(over="ignore"):
            _, moments = self._in_unit(0)
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


def sum_over_rows(
    contributions: Callable[[slice], tuple[np.ndarray, np.ndarray | None]],
    n_rows: int,
    n_jobs: int | None,
    groups: Groups | None = None,
    rows_per_block: int = ROWS_PER_BLOCK,
    second_moments: bool = False,
) -> RowSums:
    """Sum over rows that are made a block at a time.

    Parameters
    ----------
    contributions : callable
        Takes a slice of row numbers, returns the block z_ik of shape (n_block, p) and, where it is
        asked for, the block's sum tree by tree, of shape (M, p). Called from several threads.
    n_rows : int
        At least 1.
    n_jobs : int or None
        Threads, see ``gbt.parallel.effective_n_jobs``.
    groups : Groups, optional
        Rows that belong together; their sums take the place of rows.
    rows_per_block : int
        Fewer where a row brings many numbers.
    second_moments : bool
        Whether to sum products of two features, too.

    Returns
    -------
    RowSums
    """

    def sums_of(block: slice) -> RowSums:
        return RowSums.of(*contributions(block), second_moments)

    if groups is None:
        with one_blas_thread() if second_moments else nullcontext():
            return merge_blocks(sums_of, RowSums.merge, n_rows, n_jobs, rows_per_block)
    by_group = merge_blocks(
        lambda block: GroupSums.of(groups, block, contributions),
        GroupSums.merge,
        n_rows,
        n_jobs,
        rows_per_block,
    )
    sums = RowSums.of(by_group.total, by_group.per_tree, second_moments)
    return replace(sums, by_group=by_group.total)
