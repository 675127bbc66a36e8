"""Sparse columns: rank codes and bins of columns that hold little but zeros.

If at most a quarter of a column's values are not 0, only these are stored, by row and in the order
of the values; the zeros, which are one block in that order, are only counted::

    column    0  0  .5  0  0  -2  0  .5  0
    stored    (row 2, code 2)  (row 5, code 0)  (row 7, code 2)        zero: code 1
    order     ~5  [ zeros ]  ~2  7                                     bins: -2 | 0 | .5

Codes, values and bins are those of the same column with all its zeros, and so are the trees. A
block of rows as large as that of the zeros always has a bin of its own (``gbt.tables.bins``), so
code that looks inside other bins never meets zeros.

Histograms are filled from the bins of the values row by row (``gbt.kernels.cuts.packed_bins``), of
some columns together, a *pack*, whose histograms stay in the caches.

Columns with more values that are not 0 are ranked as those of any table (``gbt.tables.columns``).
An array's columns are stored this way if at most a twentieth of their values are not 0, for the
histogram search of several outputs, many rows and many such columns alone.

Cost: 16 bytes a value that is stored, 8 a row of each pack, and 4 kB a column.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from gbt.parallel.threads import run_all, threads_for
from gbt.tables.bins import first_codes
from gbt.tables.columns import LEAST_VALUES_PER_THREAD, Columns, Keys, each_column
from gbt.tables.sparse_rows import SparseRows

# A stored value takes 16 bytes and a value of other columns 9; and it is added to a histogram in
# twice the time.
MOST_STORED = 0.25
# The columns of an array. Fits of so many rows and outputs take 0.79 to 0.98 of the time on tables
# like covertype, but those of one output and 1,000 to 10,000 rows 1.2 to 2.2 times as long, and
# those of five such columns beside five others up to 1.04 times.
MOST_OF_ARRAY = 0.05
LEAST_ROWS_OF_ARRAY = 20_000
LEAST_OUTPUTS_OF_ARRAY = 3
LEAST_COLUMNS_OF_ARRAY = 16
# A pack has about so many bins, some hundred kilobytes of histograms, and at least a value a row.
BINS_OF_PACK = 2**14


class SparseColumns(NamedTuple):
    """Which of p columns are sparse, and what is stored of these: first p numbers each, int64."""

    is_sparse: np.ndarray
    line: np.ndarray  # for a column that is not sparse, its number among those, from 0
    first: np.ndarray  # column k has the values first[k]:first[k] + n_stored[k]
    n_stored: np.ndarray
    zero_code: np.ndarray
    zero_bin: np.ndarray
    # ``row << 32 | code`` of each value, ascending within a column.
    stored: np.ndarray = np.empty(0, dtype=np.int64)
    # The order of the other columns, n rows each, then that of the sparse ones without zeros.
    all_order: np.ndarray = np.empty(0, dtype=np.int32)
    packs: Sequence[np.ndarray] = ()  # the columns of each
    # (packs, n + 1), where in ``stored_bins`` the values of each row begin.
    row_start: np.ndarray = np.empty((0, 0), dtype=np.int64)
    # Bins of values pack by pack, row by row, counted through the pack.
    stored_bins: np.ndarray = np.empty(0, dtype=np.int32)

    @classmethod
    def none(cls, p: int) -> "SparseColumns":
        """Return the record of p columns of which none is sparse."""
        nothing = np.zeros(p, dtype=np.int64)
        return cls(nothing, np.arange(p), nothing, nothing, nothing, nothing)

    def codes_of(self, k: int, n_rows: int) -> np.ndarray:
        """Return the codes of all rows in a sparse column, a new array."""
        codes = np.full(n_rows, self.zero_code[k], dtype=np.int32)
        stored = self.stored[self.first[k] : self.first[k] + self.n_stored[k]]
        codes[stored >> 32] = stored & 0xFFFFFFFF
        return codes


def columns_of(
    X: np.ndarray | SparseRows,
    n_jobs: int | None,
    n_levels: np.ndarray,
    n_by_histograms: int,
    max_bins: int | None = None,
) -> Columns:
    """Rank every column of a table of floats, given how many levels each has.

    Of the outputs ``n_by_histograms`` are grown by the histogram search, which finds the same
    splits in columns of an array that are stored without their zeros. Other readers of columns
    would have to make them dense again.
    """
    if isinstance(X, SparseRows):
        return columns_of_sparse_rows(X, n_jobs, max_bins)
    is_large = len(X) >= LEAST_ROWS_OF_ARRAY and n_by_histograms >= LEAST_OUTPUTS_OF_ARRAY
    if is_large and not n_levels.any():
        n_stored = (X != 0).sum(axis=0)
        if (n_stored <= MOST_OF_ARRAY * len(X)).sum() >= LEAST_COLUMNS_OF_ARRAY:
            return columns_beside_zeros(X, n_stored, n_jobs, max_bins)
    return Columns.from_table(X, n_jobs, n_levels, max_bins)


def columns_beside_zeros(
    X: np.ndarray, n_stored: np.ndarray, n_jobs: int | None, max_bins: int | None = None
) -> Columns:
    """Rank every column of an array, of which some hold little but zeros; all are numbers."""
    n = len(X)
    is_sparse = n_stored <= MOST_OF_ARRAY * n
    columns, of_order = _unranked(X, is_sparse, n_stored, max_bins)

    def rank(first: int, last: int) -> None:
        keys = Keys(n, X.dtype)
        for k, column in each_column(X, first, last):
            if is_sparse[k]:
                rows = np.flatnonzero(column)
                _rank_sparse(columns, k, column[rows], rows, keys, of_order)
            else:
                columns.rank(k, column.view(f"i{column.itemsize}"), keys)

    # To find the values of a sparse column takes time, too; the eighth is a guess, not measured.
    return _rank_all(columns, rank, np.where(is_sparse, n_stored + n // 8, n), n_jobs)


def columns_of_sparse_rows(
    X: SparseRows, n_jobs: int | None = None, max_bins: int | None = None
) -> Columns:
    """Rank every column of sparse rows; all are numbers."""
    n = len(X)
    by_column = X.stored.tocsc()
    values, row_of, start = by_column.data, by_column.indices, by_column.indptr.astype(np.int64)
    n_stored = np.diff(start)
    is_sparse = n_stored <= MOST_STORED * n
    columns, of_order = _unranked(X, is_sparse, n_stored, max_bins)

    def rank(first: int, last: int) -> None:
        keys, column = Keys(n, values.dtype), np.zeros(n, dtype=values.dtype)
        for k in range(first, last):
            own = slice(start[k], start[k + 1])
            if is_sparse[k]:
                _rank_sparse(columns, k, values[own], row_of[own], keys, of_order)
            else:
                column[row_of[own]] = values[own]
                columns.rank(k, column.view(f"i{column.itemsize}"), keys)
                column[:] = 0

    return _rank_all(columns, rank, n_stored, n_jobs)


def _rank_all(
    columns: Columns, rank: Callable[[int, int], None], work: np.ndarray, n_jobs: int | None
) -> Columns:
    """Rank all columns, in threads that have equal shares of the work, and put bins into packs."""
    n, p = columns.n_rows, columns.n_columns
    n_threads = min(threads_for(int(work.sum()) + n, LEAST_VALUES_PER_THREAD, n_jobs), max(p, 1))
    done = np.append(0, np.cumsum(work))
    edges = np.searchsorted(done, np.linspace(0, done[-1], n_threads + 1)[1:-1])
    run_all([partial(rank, a, b) for a, b in pairwise([0, *edges.tolist(), p])])
    return replace(columns, sparse=_in_packs(columns.sparse, columns.missing_bin + 1, n))


def _unranked(
    X: np.ndarray | SparseRows, is_sparse: np.ndarray, n_stored: np.ndarray, max_bins: int | None
) -> tuple[Columns, np.ndarray]:
    """Lay out memory for columns, and say where the order of the sparse ones goes."""
    n, p = X.shape
    n_lines = p - int(is_sparse.sum())
    n_stored = np.where(is_sparse, n_stored, 0)
    end = np.cumsum(n_stored)
    places = np.empty(n_lines * n + int(n_stored.sum()), dtype=np.int32)
    sparse = SparseColumns(
        is_sparse=is_sparse.astype(np.int64),
        line=np.where(is_sparse, 0, np.cumsum(~is_sparse) - 1),
        first=end - n_stored,
        n_stored=n_stored,
        zero_code=np.zeros(p, dtype=np.int64),
        zero_bin=np.zeros(p, dtype=np.int64),
        stored=np.empty(int(n_stored.sum()), dtype=np.int64),
        all_order=places,
        stored_bins=np.empty(int(n_stored.sum()), dtype=np.int32),
    )
    of_lines = places[: n_lines * n].reshape(n_lines, n)
    return Columns.unranked(X, of_lines, max_bins=max_bins, sparse=sparse), places[n_lines * n :]


def _rank_sparse(
    columns: Columns, k: int, values: np.ndarray, rows: np.ndarray, keys: Keys, order_of: np.ndarray
) -> None:
    """Rank a sparse column, given its values that are not 0 and their rows, and give it bins.

    A single zero stands for all. The order, without the zero, is written to ``order_of``.
    """
    sparse, n, m = columns.sparse, columns.n_rows, len(values)
    codes, order = np.empty((2, m + 1), dtype=np.int32)
    with_zero = np.append(values, values.dtype.type(0))
    n_present = keys.rank(with_zero.view(f"i{values.itemsize}"), codes, order)
    item = np.where(order < 0, ~order, order)
    zero_at, n_more = int((item == m).argmax()), n - m - 1  # zeros that are not there
    starts = np.flatnonzero(order[:n_present] < 0)  # of each code
    n_values, is_own = len(starts), slice(None) if columns.stands is None else columns.stands[rows]
    of_codes = np.bincount(codes[:m][is_own], minlength=n_values + 1)
    of_codes[codes[m]] += (n if columns.stands is None else columns.stands.sum()) - of_codes.sum()
    most = columns.most_bins(k, n_present <= m)
    first_code = first_codes(of_codes[:n_values].cumsum(), most)
    n_bins, bin_start = len(first_code), starts[first_code]
    columns.n_present[k], columns.n_values[k] = n_present + n_more, n_values
    columns.n_bins[k], columns.missing_bin[k] = n_bins, n_bins  # never in groups
    columns.first_code[k, :n_bins], columns.first_code[k, n_bins:] = first_code, n_values
    columns.bin_start[k, :n_bins] = bin_start - (bin_start > zero_at)
    columns.bin_start[k, n_bins], columns.bin_start[k, n_bins + 1 :] = n_present - 1, m
    sparse.zero_code[k] = codes[m]
    sparse.zero_bin[k] = np.searchsorted(first_code, codes[m], side="right") - 1

    own = slice(sparse.first[k], sparse.first[k] + m)
    in_order = np.delete(order, zero_at)
    order_of[own] = np.where(in_order < 0, ~rows[~in_order], rows[in_order])
    sparse.stored[own] = rows.astype(np.int64) << 32 | codes[:m]
    bins = np.searchsorted(first_code, codes[:m], side="right") - 1
    sparse.stored_bins[own] = np.where(codes[:m] < n_values, bins, columns.missing_bin[k])


def _in_packs(sparse: SparseColumns, n_bins: np.ndarray, n_rows: int) -> SparseColumns:
    """Return sparse columns with their bins rearranged from columns to packs."""
    columns: list[np.ndarray] = []
    waiting = np.flatnonzero(sparse.is_sparse)
    while len(waiting):
        is_enough = n_bins[waiting].cumsum() >= BINS_OF_PACK
        is_enough &= sparse.n_stored[waiting].cumsum() >= n_rows
        n_own = int(is_enough.argmax()) + 1 if is_enough.any() else len(waiting)
        columns.append(waiting[:n_own])
        waiting = waiting[n_own:]
    row_start = np.empty((len(columns), n_rows + 1), dtype=np.int64)
    for own, of_rows in zip(columns, row_start, strict=True):
        n_stored, first = sparse.n_stored[own], sparse.first[own[0]]
        values = slice(first, first + n_stored.sum())
        before = np.cumsum(n_bins[own]) - n_bins[own]
        bins = sparse.stored_bins[values] + np.repeat(before, n_stored).astype(np.int32)
        rows = (sparse.stored[values] >> 32).astype(np.int32)
        start = np.append(0, np.cumsum(n_stored))
        by_row = csc_array((bins, rows, start), shape=(n_rows, len(own))).tocsr()
        sparse.stored_bins[values], of_rows[:] = by_row.data, by_row.indptr + first
    return sparse._replace(packs=columns, row_start=row_start)
