"""Sparse rows: a table of which only the values that are not 0 are stored.

SciPy's sparse matrices and arrays become this. Entries that are not stored are 0, as everywhere in
SciPy, and a stored nan is a missing value. Code that needs rows of floats takes some at a time,
with their zeros written out, so that the table is never in memory as a whole::

    X[100:200]                  rows of floats
    X.write(slice, block)       the same, written over zeros; `erase` puts these back
    X.some_columns(k, slice)    the columns that one tree looks at
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

# Rows that are written out at once hold no more numbers than this, some 32 MB.
NUMBERS_AT_ONCE = 2**22


class SparseRows:
    """Rows of float64 or float32, stored row by row without their zeros, as SciPy does.

    ``data`` are the values, in the columns ``indices``, which ascend within a row; and ``indptr``
    says where the values of each row begin, and where those of the last end. Entries that are not
    stored are ``fill``: 0, or nan for models to which 0, or what is not stored, is missing.
    """

    def __init__(
        self,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        n_columns: int,
        fill: float = 0.0,
    ):
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape, self.fill = (len(indptr) - 1, n_columns), fill

    @classmethod
    def of(cls, X: Any, fill: float | None = 0.0) -> Any:
        """Return the rows of a sparse matrix of floats, left unchanged; arrays stay arrays."""
        if not issparse(X):
            return X
        if fill is None:
            raise ValueError(
                "What a sparse matrix does not store is missing to some of the models put together"
                " here, such as XGBoost's, and 0 to others. Fit them, and judge them, on a dense"
                " table: X.toarray(), or OneHotEncoder(sparse_output=False), or"
                " ColumnTransformer(..., sparse_threshold=0)."
            )
        rows = X.tocsr()
        has_zeros = fill == 0 and bool((rows.data == 0).any())
        if not rows.has_canonical_format or has_zeros:
            rows = rows.copy()
            rows.sum_duplicates()
        if has_zeros:
            rows.eliminate_zeros()
        return cls(rows.data, rows.indices, rows.indptr, rows.shape[1], fill)

    @property
    def dtype(self) -> np.dtype:
        """The type of the values."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Two, as of an array of rows."""
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("Sparse rows become an array some at a time: X[start:stop].")

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Return some rows with their zeros."""
        some = self.take(rows)
        dense = np.full(some.shape, self.fill, dtype=self.dtype)
        dense[some.row_of_each(), some.indices] = some.data
        return dense

    def take(self, rows: slice | np.ndarray) -> "SparseRows":
        """Return some rows, of which the zeros are not stored either."""
        data, indices, indptr = self.data, self.indices, self.indptr
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            first, last = indptr[start], indptr[max(stop, start)]
            own = indptr[start : max(stop, start) + 1] - first
            return self._with(data[first:last], indices[first:last], own)
        numbers = np.arange(len(self))[rows]
        n_values = np.diff(indptr)[numbers]
        own = np.concatenate([[0], np.cumsum(n_values)]).astype(indptr.dtype)
        places = np.arange(own[-1]) + np.repeat(indptr[numbers] - own[:-1], n_values)
        return self._with(data[places], indices[places], own)

    def row_of_each(self) -> np.ndarray:
        """Return the row of every value that is stored."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def astype(self, dtype: Any) -> "SparseRows":
        """Return the rows in another type; themselves if it is their own."""
        data = self.data.astype(dtype, copy=False)
        return self if data is self.data else self._with(data, self.indices, self.indptr)

    def with_zeros_missing(self, within: float) -> "SparseRows":
        """Return the rows with nan in place of numbers no farther from 0 than this."""
        data = np.where(np.abs(self.data) <= within, np.nan, self.data)
        return SparseRows(data, self.indices, self.indptr, self.shape[1], fill=np.nan)

    def zeros(self, n_rows: int) -> np.ndarray:
        """Return rows of the table's width in which nothing is stored."""
        return np.broadcast_to(self.dtype.type(self.fill), (n_rows, self.shape[1]))

    def write(self, rows: slice, block: np.ndarray) -> None:
        """Write some rows into a block of zeros, transposed twice as in `gbt.model.predictor`."""
        some = self.take(rows)
        row_of_each = some.row_of_each()
        block[0, some.indices, row_of_each] = some.data
        block[1, some.indices, row_of_each] = np.fmax(some.data, -np.inf)

    def erase(self, rows: slice, block: np.ndarray) -> None:
        """Write zeros where `write` has written values."""
        some = self.take(rows)
        row_of_each = some.row_of_each()
        block[0, some.indices, row_of_each] = self.fill
        block[1, some.indices, row_of_each] = np.fmax(self.fill, -np.inf)

    def values_at(self, rows: np.ndarray, columns: ArrayLike) -> np.ndarray:
        """Return the values of some rows, each in one column, or all in the same."""
        low, end = self.indptr[rows].astype(np.int64), self.indptr[np.asarray(rows) + 1]
        high = end.astype(np.int64)
        while (low < high).any():  # between which the column's place is
            middle = (low + high) // 2
            is_below = (low < high) & (self.indices[np.minimum(middle, end - 1)] < columns)
            high = np.where((low < high) & ~is_below, middle, high)
            low = np.where(is_below, middle + 1, low)
        place = np.minimum(low, max(len(self.data) - 1, 0))
        is_stored = low < end
        if is_stored.any():
            is_stored &= self.indices[place] == columns
        values = np.full(len(low), self.fill, dtype=self.dtype)
        values[is_stored] = self.data[place[is_stored]]
        return values

    def some_columns(self, columns: np.ndarray, rows: slice) -> np.ndarray:
        """Return some columns of some rows with their zeros."""
        some, place = self.take(rows), np.full(self.shape[1], -1)
        place[columns] = np.arange(len(columns))
        of_value = place[some.indices]
        is_asked = of_value >= 0
        dense = np.full((len(some), len(columns)), self.fill, dtype=self.dtype)
        dense[some.row_of_each()[is_asked], of_value[is_asked]] = some.data[is_asked]
        return dense

    def place_of(self, i: int) -> tuple[int, int]:
        """Return row and column of a value that is stored."""
        return int(np.searchsorted(self.indptr, i, side="right")) - 1, int(self.indices[i])

    def _with(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> "SparseRows":
        return SparseRows(data, indices, indptr, self.shape[1], self.fill)


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of an array or of sparse rows, which stay sparse."""
    return X.take(rows) if isinstance(X, SparseRows) else X[rows]


def values_at(X: Any, rows: np.ndarray, k: int) -> Any:
    """Return the values of some rows in one column, of an array or of sparse rows."""
    return X.values_at(rows, k) if isinstance(X, SparseRows) else X[rows, k]


def with_zeros(X: Any) -> np.ndarray:
    """Return all rows of an array or of sparse rows, with their zeros."""
    return X[:] if isinstance(X, SparseRows) else X


def as_type(X: Any, dtype: Any) -> Any:
    """Return rows of floats, an array or sparse, in another type; arrays are C-contiguous."""
    return X.astype(dtype) if isinstance(X, SparseRows) else np.ascontiguousarray(X, dtype=dtype)


def with_zeros_missing(X: Any, within: float) -> Any:
    """Return rows with nan in place of numbers no farther from 0 than this."""
    if isinstance(X, SparseRows):
        return X.with_zeros_missing(within)
    return np.where(np.abs(X) <= within, np.nan, X)
