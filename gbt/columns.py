"""A table as columns of rank codes: the only form of the data that growing a tree needs.

A split asks whether ``x <= threshold``, so of a column only the order matters. Each value is
replaced by its rank among the column's distinct values, which is exact for every dtype::

    column   0.3   7.0   nan   0.3  -1.5
    codes      1     2     3     1     0        missing is one past the last rank

Beside its code every value has a coarse bin, at most ``MAX_BINS`` a column: a range of neighbouring
codes. Bins never replace codes. A histogram of bins is small and quickly made, and tells which few
ranges can hold the best cut (``gbt.kernels.search``); there the rows are looked at one by one, in
the order of their values, which is kept too. A column of few distinct values has one bin a code,
and its histogram is exact already.

The bins of eight columns are packed into one word a row, so that one read serves eight histograms::

    words[block, row]    bin of column 8 block, of column 8 block + 1, ..., of column 8 block + 7

Cost: one sort a column; 4 + 4 + 1 bytes a value beside the table itself, which is kept, not copied:
thresholds are midpoints of its values.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from gbt.kernels.histogram import LANES
from gbt.kernels.ranking import bin_rows, rank_rows
from gbt.parallel import effective_n_jobs, run_all

# With the bin of missing values a bin fits into uint8.
MAX_BINS = 255
# Bins shrink towards both ends of a column, to 1/6 of the rows beyond them: there one side of a cut
# is light, and the same uncertainty about its gradient sum makes for a larger one about the gain.
TAIL_FRACTION = 6


@dataclass(frozen=True, eq=False)
class Columns:
    """Rank codes and coarse bins of a table of n rows and p columns.

    Parameters
    ----------
    table : float64 or float32 array of shape (n, p)
        The values; nan is missing.
    codes : int32 array of shape (p, n)
    order : int32 array of shape (p, n)
        Rows by value, missing last, with ~row in place of a row where a new value starts.
    n_values : int64 array of shape (p,)
        Distinct values present, which is also the code of missing ones.
    n_present : int64 array of shape (p,)
        Rows that have a value.
    words : uint64 array of shape (ceil(p / 8), n)
        Bins, packed.
    n_bins : int64 array of shape (p,)
        Of present values; the missing ones are in bin ``n_bins[k]``.
    bin_start : int64 array of shape (p, MAX_BINS + 2)
        Bin b of column k owns the positions ``bin_start[k, b]:bin_start[k, b + 1]`` of its order.
    repeats_one : int64 array of shape (p, MAX_BINS + 1)
        Whether a bin has several rows of one value, 1 or 0; in place ``n_bins[k]`` whether any has.
    """

    table: np.ndarray
    codes: np.ndarray
    order: np.ndarray
    n_values: np.ndarray
    n_present: np.ndarray
    words: np.ndarray
    n_bins: np.ndarray
    bin_start: np.ndarray
    repeats_one: np.ndarray

    @classmethod
    def from_table(cls, X: np.ndarray, n_jobs: int | None = None) -> "Columns":
        """Rank every column of a table of floats; nan is missing."""
        n, p = X.shape
        columns = cls(
            table=X,
            codes=np.empty((p, n), dtype=np.int32),
            order=np.empty((p, n), dtype=np.int32),
            n_values=np.empty(p, dtype=np.int64),
            n_present=np.empty(p, dtype=np.int64),
            words=np.zeros((-(-p // LANES), n), dtype=np.uint64),
            n_bins=np.empty(p, dtype=np.int64),
            bin_start=np.full((p, MAX_BINS + 2), n, dtype=np.int64),
            repeats_one=np.empty((p, MAX_BINS + 1), dtype=np.int64),
        )

        def rank(first, step):
            for word in range(first, len(columns.words), step):  # a word belongs to one thread
                for k in range(word * LANES, min((word + 1) * LANES, p)):
                    columns._rank_column(k)

        n_threads = min(effective_n_jobs(n_jobs), len(columns.words))
        run_all([partial(rank, t, n_threads) for t in range(n_threads)])
        return columns

    def _rank_column(self, k: int) -> None:
        """Fill in one column."""
        column = np.ascontiguousarray(self.table[:, k])
        rank_rows(column, np.argsort(column), self.codes[k], self.order[k])
        self.n_present[k] = len(column) - np.isnan(column).sum()
        value_start = np.flatnonzero(self.order[k, : self.n_present[k]] < 0)
        self.n_values[k] = len(value_start)
        self.set_bins(k, coarse_bins(value_start, int(self.n_present[k])))

    def set_bins(self, k: int, bin_start: np.ndarray) -> None:
        """Start bins of column ``k`` at these positions of its order, where a new value starts."""
        n_bins = len(bin_start)
        self.n_bins[k] = n_bins
        self.bin_start[k, :n_bins] = bin_start
        self.bin_start[k, n_bins] = self.n_present[k]
        self.bin_start[k, n_bins + 1 :] = self.n_rows
        starts_value = self.order[k, : self.n_present[k]] < 0
        n_values = np.add.reduceat(starts_value, bin_start) if n_bins else bin_start
        n_rows = np.diff(self.bin_start[k, : n_bins + 1])
        self.repeats_one[k, :n_bins] = (n_values == 1) & (n_rows > 1)
        self.repeats_one[k, n_bins] = self.repeats_one[k, :n_bins].any()
        bin_rows(self.order[k], self.bin_start[k, : n_bins + 2], self.bins(k))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.codes.shape[1]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.codes.shape[0]

    def bins(self, k: int) -> np.ndarray:
        """Return the bin of every row in one column, a view of one byte in each word."""
        word, lane = divmod(k, LANES)
        return self.words[word].view(np.uint8)[lane::LANES]


def coarse_bins(value_start: np.ndarray, n_present: int) -> np.ndarray:
    """Return where bins start, given where each of the distinct values of a column does.

    A value that fills two bins or more has one of its own: few rows of other values beside its many
    would leave open what a cut between them is worth.
    """
    if len(value_start) <= MAX_BINS:
        return value_start
    value_end = np.append(value_start[1:], n_present)
    last_value, n_ends = np.unique(
        np.searchsorted(value_end, bin_ends(n_present)), return_counts=True
    )
    heavy = last_value[n_ends >= 2]
    return np.union1d(np.append(0, value_end[last_value[:-1]]), value_start[heavy])


@lru_cache(maxsize=64)
def bin_ends(n_rows: int) -> np.ndarray:
    """Return how many rows the first bin, the first two, ... all of them hold, without ties.

    Bins are of one size in the middle, found by bisection such that ``MAX_BINS`` are not exceeded.
    """

    def ends(largest):
        half = [0.0]
        while half[-1] < n_rows / 2:
            half.append(half[-1] + max(1.0, min(largest, half[-1] / TAIL_FRACTION)))
        lower = np.floor(half[1:-1]).astype(np.int64)
        return np.union1d(lower, n_rows - np.append(lower, 0))

    small, large = 1.0, float(n_rows)
    while large - small > 0.5:
        middle = (small + large) / 2
        small, large = (middle, large) if len(ends(middle)) > MAX_BINS else (small, middle)
    return ends(large)
