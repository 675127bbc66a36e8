"""A table as columns of rank codes: the only form of the data that growing a tree needs.

A split asks whether ``x <= threshold``, so of a column only the order matters. Each value is
replaced by its rank among the column's distinct values, which is exact for every dtype::

    column   0.3   7.0   nan   0.3  -1.5
    codes      1     2     3     1     0        missing is one past the last rank

Missing values are not part of the order. The search tries every cut twice, with the missing rows on
its left and on its right, and also the cut between rows that have a value and rows that have none;
the split stores which side the missing rows take.

Beside its code every value has a coarse bin, at most ``MAX_BINS`` a column: a range of neighbouring
codes (``gbt.tables.bins``). A histogram of bins is small and quickly made, and tells which few
ranges can hold the best cut (``gbt.kernels.cuts.search``); there the rows are looked at one by one,
in the order of their values, which is kept too. A column of few distinct values has one bin a code,
and its histogram is exact unless bins are merged to groups. With ``max_bins`` numbers have at most
so many bins, and cuts lie between these alone.

The bins of eight columns are packed into one word a row, so that one read serves eight histograms::

    packed_bins[b, row]    bin of column 8 b, of column 8 b + 1, ..., of column 8 b + 7

Cost: one sort a column; 4 + 4 + 1 bytes a value beside the table itself, which is kept, not copied:
thresholds are midpoints of its values. Columns that hold little but zeros take 16 bytes a value
that is not 0 (``gbt.tables.sparse_columns``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gbt.kernels.cuts.histogram import LANES, missing_bin_after
from gbt.kernels.cuts.ranking import DIGIT_BITS, N_DIGITS, bin_rows, rank_rows, write_keys
from gbt.parallel.threads import over_blocks, threads_for
from gbt.tables.bins import MAX_BINS, first_codes, most_bins, standing_rows
from gbt.tables.sparse_rows import SparseRows, values_at

# For 1,000 x 50 values two threads took 1.2 times as long as one, because the first is done before
# Python switches to the second, and for 10,000 x 20 they took 0.7 times as long.
LEAST_VALUES_PER_THREAD = 50_000
# A cache line of float32 holds 16 columns of a row, and 2,048 of them fit the L2 cache.
MOST_COLUMNS_AT_ONCE, VALUES_AT_ONCE, ROWS_AT_ONCE = 16, 2**17, 2_048


@dataclass(frozen=True, eq=False)
class Columns:
    """Rank codes and coarse bins of a table of n rows and p columns.

    Of codes, order and packed bins only columns that are not sparse have a line. Integers are int64
    where no type is named.
    """

    table: np.ndarray | SparseRows  # (n, p) float64 or float32; nan is missing
    codes: np.ndarray  # (p, n) int32
    # (p, n) int32, rows by value, missing last, with ~row where a new value starts.
    order: np.ndarray
    n_values: np.ndarray  # (p,) distinct values present, which is also the code of missing ones
    n_present: np.ndarray  # (p,) rows that have a value
    packed_bins: np.ndarray  # (ceil(p / 8), n) uint64, bins of eight columns in a word, see above
    n_bins: np.ndarray  # (p,) of present values
    missing_bin: np.ndarray  # (p,) the number of that of missing values, no less than n_bins[k]
    # (p, MAX_BINS + 2), bin b of column k owns the positions bin_start[k, b]:bin_start[k, b + 1].
    bin_start: np.ndarray
    first_code: np.ndarray  # (p, MAX_BINS + 1) of each bin, and after the last of missing values
    # (p,) levels of a categorical column, whose values are their numbers; 0 of numbers.
    n_levels: np.ndarray
    sparse: Any = None  # `SparseColumns`, which hold little but zeros; None if there are none
    max_bins: int | None = None  # of numbers, where all cuts lie between bins

    @classmethod
    def from_table(
        cls,
        X: np.ndarray,
        n_jobs: int | None = None,
        n_levels: np.ndarray | None = None,
        max_bins: int | None = None,
    ) -> "Columns":
        """Rank every column of a table of floats; nan is missing. By default all are numbers."""
        n, p = X.shape
        columns = cls.unranked(X, np.empty((p, n), dtype=np.int32), n_levels, max_bins)
        bits = X.view(f"i{X.itemsize}")

        def rank(start: int, stop: int) -> None:
            keys = Keys(n, X.dtype)
            for k, column in each_column(bits, start, stop):
                columns.rank(k, column, keys)

        # Two threads may write bins into the same word at once: each writes its own bytes of it.
        n_threads = threads_for(n * p, LEAST_VALUES_PER_THREAD, n_jobs)
        over_blocks(rank, p, n_threads, min_rows=1)
        return columns

    @classmethod
    def unranked(
        cls,
        X: np.ndarray | SparseRows,
        order: np.ndarray,
        n_levels: np.ndarray | None = None,
        max_bins: int | None = None,
        sparse: Any = None,
    ) -> "Columns":
        """Lay out memory for columns; ``order`` is for those that are not sparse."""
        n, p = X.shape
        return cls(
            table=X,
            # One line at least: kernels point at the first, and do not read it, for sparse columns.
            codes=np.empty((max(len(order), 1), n), dtype=np.int32),
            order=order,
            n_values=np.empty(p, dtype=np.int64),
            n_present=np.empty(p, dtype=np.int64),
            packed_bins=np.zeros((-(-len(order) // LANES), n), dtype=np.uint64),
            n_bins=np.empty(p, dtype=np.int64),
            missing_bin=np.empty(p, dtype=np.int64),
            bin_start=np.full((p, MAX_BINS + 2), n, dtype=np.int64),
            first_code=np.zeros((p, MAX_BINS + 1), dtype=np.int64),
            n_levels=np.zeros(p, dtype=np.int64) if n_levels is None else n_levels,
            sparse=sparse,
            max_bins=max_bins,
        )

    def rank(self, k: int, column: np.ndarray, keys: "Keys") -> None:
        """Rank a column that is not sparse, given as the bits of its values, and give it bins."""
        line = self.line(k)
        codes, order = self.codes[line], self.order[line]
        self.n_present[k] = n_present = keys.rank(column, codes, order)
        starts = np.flatnonzero(order[:n_present] < 0).astype(np.int32)  # of each code
        self.n_values[k] = n_values = len(starts)
        most = self.most_bins(k, n_present < self.n_rows)
        if n_values <= (most if self.stands is None else 0):
            self.set_bins(k, starts)
            return
        up_to = np.append(starts[1:], np.int32(n_present))
        if self.stands is not None:
            up_to = np.bincount(codes[self.stands], minlength=n_values).cumsum()[:n_values]
        self.set_bins(k, starts[first_codes(up_to, most)])

    def set_bins(self, k: int, bin_start: np.ndarray) -> None:
        """Start bins of column ``k`` at these positions of its order, where a new value starts."""
        n_bins, line = len(bin_start), self.line(k)
        self.n_bins[k] = n_bins
        self.bin_start[k, :n_bins] = bin_start
        self.bin_start[k, n_bins] = self.n_present[k]
        self.bin_start[k, n_bins + 1 :] = self.n_rows
        row = self.order[line, bin_start]
        self.first_code[k, :n_bins] = self.codes[line, np.maximum(row, ~row)]
        self.first_code[k, n_bins:] = self.n_values[k]
        self.missing_bin[k] = missing_bin_after(n_bins)
        bin_rows(
            self.order[line], self.bin_start[k, : n_bins + 2], self.missing_bin[k], self.bins(k)
        )

    def most_bins(self, k: int, has_missing: bool) -> int:
        """Return how many bins the present values of a column may have."""
        return most_bins(None if self.n_levels[k] else self.max_bins, has_missing)

    @cached_property
    def stands(self) -> np.ndarray | None:
        """Which rows the bins are chosen by, of shape (n,); None if by all."""
        rows = standing_rows(self.n_rows)
        if self.max_bins is None or len(rows) == self.n_rows:
            return None
        return np.isin(np.arange(self.n_rows), rows)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.table.shape[1]

    @property
    def n_stored(self) -> int:
        """Number of values that a search may have to read: all but the zeros of sparse columns."""
        return self.order.size + (0 if self.sparse is None else len(self.sparse.stored))

    @property
    def one_value(self) -> np.ndarray:
        """Whether all rows of a bin have the same value, of shape (p, MAX_BINS)."""
        return np.diff(self.first_code, axis=1) == 1

    def line(self, k: int) -> int:
        """Return the line of codes and order of a column that is not sparse."""
        return k if self.sparse is None else int(self.sparse.line[k])

    def codes_of(self, k: int) -> np.ndarray:
        """Return the codes of all rows in a column; of a sparse one they are written down anew."""
        if self.sparse is not None and self.sparse.is_sparse[k]:
            return self.sparse.codes_of(k, self.n_rows)
        return self.codes[self.line(k)]

    def cuts_of(self, k: int) -> np.ndarray:
        """Return for all rows the highest code that no cut of a column divides from theirs."""
        codes = self.codes_of(k)
        if self.max_bins is None or self.n_levels[k]:
            return codes
        first_code = self.first_code[k, : self.n_bins[k] + 1]
        after = np.append(first_code, first_code[-1] + 1)
        return after[np.searchsorted(after, codes, side="right")] - 1

    @cached_property
    def level_of_code(self) -> dict[int, np.ndarray]:
        """The numbers of the levels that the codes of each categorical column stand for."""
        levels = {}
        for k in np.flatnonzero(self.n_levels):
            by_value = self.order[k, : self.n_present[k]]
            levels[int(k)] = values_at(self.table, ~by_value[by_value < 0], k).astype(np.int64)
        return levels

    def levels_left(self, k: int, goes_left: np.ndarray, missing_left: bool) -> np.ndarray:
        """Say of every level of a categorical column whether it goes left, given that of its codes.

        Among codes missing values are the last. A level that no row of the table has goes where
        they go.
        """
        of_levels = np.full(self.n_levels[k], missing_left)
        of_levels[self.level_of_code[k]] = goes_left[:-1]
        return of_levels

    def write_thresholds(self, nodes: np.ndarray, rows_at_cut: np.ndarray) -> None:
        """Write down the thresholds of some nodes, which are records, where they split numbers.

        ``rows_at_cut`` are the rows with the highest value below a cut and the lowest above, -1 if
        there is none: then no value goes right.
        """
        feature = nodes["feature"]
        is_split = (feature >= 0) & (self.n_levels[feature] == 0)
        feature, (low, high) = feature[is_split], rows_at_cut[is_split].T
        below, above = (
            values_at(self.table, rows, feature).astype(np.float64) for rows in (low, high)
        )
        threshold = np.where(high < 0, np.finfo(np.float64).max, thresholds_between(below, above))
        nodes["threshold"][is_split] = threshold

    def bins(self, k: int) -> np.ndarray:
        """Return the bin of every row in one column, a view of one byte in each word."""
        word, lane = divmod(self.line(k), LANES)
        return self.packed_bins[word].view(np.uint8)[lane::LANES]


class Keys:
    """A thread's own memory for ranking columns of at most so many floats of one type."""

    def __init__(self, n: int, dtype: np.dtype):
        self.keys = np.empty((n, dtype.itemsize // 4), dtype=np.uint32)
        self.counts = np.empty((N_DIGITS, 2**DIGIT_BITS), dtype=np.int32)
        self.infinity = int(np.array(np.inf, dtype=dtype).view(f"i{dtype.itemsize}"))

    def rank(self, column: np.ndarray, codes: np.ndarray, order: np.ndarray) -> int:
        """Write codes and order of a column, given as bits; return how many values are present."""
        keys = self.keys[: len(column)]
        n_missing = write_keys(column, self.infinity, keys)
        rank_rows(keys, self.counts, codes, order)
        return len(column) - int(n_missing)


def each_column(table: np.ndarray, start: int, stop: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the numbers of some columns and their values, beside each other in memory.

    A table lies row by row, so reading one value brings its neighbours in the row into the caches.
    So columns are taken out several at a time, but few enough that ranking with two threads takes
    no more memory than growing trees does later.
    """
    n_rows = len(table)
    at_once = min(VALUES_AT_ONCE // n_rows + 2, MOST_COLUMNS_AT_ONCE)
    room = np.empty((at_once, n_rows), dtype=table.dtype)
    for first in range(start, stop, at_once):
        last = min(first + at_once, stop)
        for row in range(0, n_rows, ROWS_AT_ONCE):
            rows = slice(row, row + ROWS_AT_ONCE)
            room[: last - first, rows] = table[rows, first:last].T
        yield from enumerate(room[: last - first], first)


def thresholds_between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return midpoints of values and the next higher ones, such that low <= midpoint < high."""
    middle = low / 2 + high / 2  # halves first: the sum of two large values overflows
    return np.where((low <= middle) & (middle < high), middle, low)
