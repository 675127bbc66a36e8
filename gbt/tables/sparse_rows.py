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
from scipy.sparse import csr_array, issparse

# Rows that are written out at once hold no more numbers than this, some 32 MB.
NUMBERS_AT_ONCE = 2**22


class SparseRows:
    """Rows of float64 or float32, stored row by row without their zeros, as SciPy does.

    Entries that ``stored`` lacks are ``fill``: 0, or nan for models to which 0, or what is not
    stored, is missing.
    """

    def __init__(self, stored: csr_array, fill: float = 0.0):
        self.stored, self.shape, self.dtype, self.fill = stored, stored.shape, stored.dtype, fill
        self.ndim = 2

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
        rows = csr_array(X)
        has_zeros = fill == 0 and bool((rows.data == 0).any())
        if not rows.has_canonical_format or has_zeros:
            rows = rows.copy()
            rows.sum_duplicates()
        if has_zeros:
            rows.eliminate_zeros()
        return cls(rows, fill)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError("Sparse rows become an array some at a time: X[start:stop].")

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Return some rows with their zeros."""
        return self._with_zeros(self.stored[rows])

    def _with_zeros(self, some: csr_array) -> np.ndarray:
        dense = np.full(some.shape, self.fill, dtype=self.dtype)
        some = some.tocoo()
        dense[some.row, some.col] = some.data
        return dense

    def take(self, rows: slice | np.ndarray) -> "SparseRows":
        """Return some rows, of which the zeros are not stored either."""
        return SparseRows(self.stored[rows], self.fill)

    def astype(self, dtype: Any) -> "SparseRows":
        """Return the rows in another type; themselves if it is their own."""
        if self.dtype == dtype:
            return self
        return SparseRows(self.stored.astype(dtype), self.fill)

    def with_zeros_missing(self, within: float) -> "SparseRows":
        """Return the rows with nan in place of numbers no farther from 0 than this."""
        stored = self.stored.copy()
        stored.data[np.abs(stored.data) <= within] = np.nan
        return SparseRows(stored, fill=np.nan)

    def zeros(self, n_rows: int) -> np.ndarray:
        """Return rows of the table's width in which nothing is stored."""
        return np.broadcast_to(self.dtype.type(self.fill), (n_rows, self.shape[1]))

    def write(self, rows: slice, block: np.ndarray) -> None:
        """Write some rows into a block of zeros, transposed twice as in `gbt.model.predictor`."""
        some = self.stored[rows].tocoo()
        block[0, some.col, some.row] = some.data
        block[1, some.col, some.row] = np.fmax(some.data, -np.inf)

    def erase(self, rows: slice, block: np.ndarray) -> None:
        """Write zeros where `write` has written values."""
        some = self.stored[rows].tocoo()
        block[0, some.col, some.row] = self.fill
        block[1, some.col, some.row] = np.fmax(self.fill, -np.inf)

    def values_at(self, rows: np.ndarray, columns: ArrayLike) -> np.ndarray:
        """Return the values of some rows, each in one column, or all in the same."""
        if not len(rows):
            return np.empty(0, self.dtype)
        places, stored = (rows, np.broadcast_to(columns, rows.shape)), self.stored
        values = np.asarray(stored[places])
        if self.fill != 0:
            is_stored = csr_array(
                (np.ones(stored.nnz, bool), stored.indices, stored.indptr), self.shape
            )
            values[~np.asarray(is_stored[places])] = self.fill
        return values

    def some_columns(self, columns: np.ndarray, rows: slice) -> np.ndarray:
        """Return some columns of some rows with their zeros."""
        return self._with_zeros(self.stored[rows][:, columns])

    def place_of(self, i: int) -> tuple[int, int]:
        """Return row and column of a value that is stored."""
        some = self.stored.tocoo()
        return int(some.row[i]), int(some.col[i])


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of an array or of sparse rows, which stay sparse."""
    return X.take(rows) if isinstance(X, SparseRows) else X[rows]


def values_at(X: Any, rows: np.ndarray, columns: ArrayLike) -> Any:
    """Return values of an array or of sparse rows, see `SparseRows.values_at`."""
    return X.values_at(rows, columns) if isinstance(X, SparseRows) else X[rows, columns]


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
