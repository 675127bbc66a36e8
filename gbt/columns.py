"""A table as columns of rank codes: the only form of the data that growing a tree needs.

A split asks whether ``x <= threshold``, so of a column only the order matters. Each value is
replaced by its rank among the column's distinct values, which is exact for every dtype::

    column   0.3   7.0   nan   0.3  -1.5
    values  -1.5   0.3   7.0                    distinct, ascending
    codes      1     2     3     1     0        missing is one past the last rank

Beside its code every value has a coarse bin, at most ``MAX_BINS`` a column: a range of neighbouring
codes. Bins never replace codes. A histogram of bins is small and quickly made, and tells which few
ranges can hold the best cut (``gbt.kernels.search``); there the codes are looked at one by one. A
column of few distinct values has one bin a code, and its histogram is exact already.

Cost: one sort a column; 4 + 1 bytes a value.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

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
    codes : int32 array of shape (p, n)
    values : float64 array
        Distinct values of all columns end to end, each column ascending.
    value_offset : int64 array of shape (p + 1,)
        Column k owns ``values[value_offset[k]:value_offset[k + 1]]``.
    bins : uint8 array of shape (p, n)
    n_bins : int64 array of shape (p,)
        Of present values; the missing ones are in bin ``n_bins[k]``.
    last_code_of_bin : int32 array of shape (p, MAX_BINS)
        The highest code in every bin of present values.
    """

    codes: np.ndarray
    values: np.ndarray
    value_offset: np.ndarray
    bins: np.ndarray
    n_bins: np.ndarray
    last_code_of_bin: np.ndarray

    @classmethod
    def from_table(cls, X: np.ndarray, n_jobs: int | None = None) -> "Columns":
        """Rank every column of a float64 table; nan is missing."""
        n, p = X.shape
        codes = np.empty((p, n), dtype=np.int32)
        bins = np.empty((p, n), dtype=np.uint8)
        n_bins = np.empty(p, dtype=np.int64)
        last_code_of_bin = np.zeros((p, MAX_BINS), dtype=np.int32)
        values: list[np.ndarray] = [np.empty(0)] * p

        def rank(first, step):
            for k in range(first, p, step):
                values[k], codes[k], counts = rank_column(X[:, k])
                last_codes = coarse_bins(counts)
                n_bins[k] = len(last_codes)
                last_code_of_bin[k, : n_bins[k]] = last_codes
                bins[k] = np.searchsorted(last_codes, codes[k])

        n_threads = min(effective_n_jobs(n_jobs), p)
        run_all([partial(rank, t, n_threads) for t in range(n_threads)])
        value_offset = np.cumsum([0, *map(len, values)])
        return cls(codes, np.concatenate(values), value_offset, bins, n_bins, last_code_of_bin)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.codes.shape[1]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.codes.shape[0]

    @property
    def missing_code(self) -> np.ndarray:
        """The code of missing values in every column: one past that of the highest value."""
        return np.diff(self.value_offset)

    def threshold_between(self, feature, low_code, high_code) -> np.ndarray:
        """Return the midpoint of two distinct values of a column, such that low <= it < high.

        Where ``high_code`` is that of missing values no present value goes right, and the threshold
        is the largest float. Arguments are arrays of the same shape.
        """
        last = self.value_offset[feature + 1] - 1
        low = self.values[self.value_offset[feature] + low_code]
        high_position = self.value_offset[feature] + high_code
        high = self.values[np.minimum(high_position, last)]
        middle = low / 2 + high / 2  # halves first: the sum of two large values overflows
        middle = np.where((low <= middle) & (middle < high), middle, low)
        return np.where(high_position > last, np.finfo(np.float64).max, middle)


def rank_column(column: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct values, the code of every row, and the rows of every distinct value."""
    values, codes, counts = np.unique(
        column, return_inverse=True, return_counts=True, equal_nan=True
    )
    n_present = len(values) - int(len(values) > 0 and np.isnan(values[-1]))
    return values[:n_present], codes, counts[:n_present]


def coarse_bins(counts: np.ndarray) -> np.ndarray:
    """Return the last code of every bin, for distinct values that have ``counts`` rows each."""
    n_distinct = len(counts)
    if n_distinct <= MAX_BINS:
        return np.arange(n_distinct)
    rows_up_to = np.cumsum(counts)
    return np.unique(np.searchsorted(rows_up_to, bin_ends(int(rows_up_to[-1]))))


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
