"""Drawn tables of which much is 0, dense, for tests of sparse rows."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

from gbt.tables import sparse_columns

KINDS = [
    *(sparse.csr_array, sparse.csc_array, sparse.coo_array),
    *(sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix),
]


@contextmanager
def arrays_stored(most):
    """Store columns of small arrays without their zeros, too, if at most this share is not 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_columns, "MOST_OF_ARRAY", most)
        patch.setattr(sparse_columns, "LEAST_ROWS_OF_ARRAY", 1)
        patch.setattr(sparse_columns, "LEAST_COLUMNS_OF_ARRAY", 1)
        yield


@st.composite
def tables(draw, most_rows=120, most_columns=12, dtypes=(np.float64, np.float32)):
    """Draw a table: columns nearly empty, sparse, and full; whole numbers, any, both signs, nan."""
    n = draw(st.integers(2, 12) | st.integers(60, most_rows))
    p = draw(st.integers(1, most_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.zeros((n, p), dtype=draw(st.sampled_from(dtypes)))
    for k in range(p):
        is_stored = rng.random(n) < draw(st.sampled_from([0.0, 0.03, 0.2, 0.2, 0.3, 1.0]))
        whole = rng.integers(-3, 4, size=n).astype(float)
        values = whole if draw(st.booleans()) else rng.normal(size=n)
        values = np.abs(values) if draw(st.booleans()) else values
        values[rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.4]))] = np.nan
        X[is_stored, k] = values[is_stored]
    return X


def large_table(rng, n=3_000, p=40):
    """Return a table whose sparse columns have more values than bins, beside full ones."""
    X = np.zeros((n, p))
    for k in range(p):
        is_stored = rng.random(n) < [0.02, 0.2, 0.24, 1.0][k % 4]
        X[is_stored, k] = rng.normal(size=is_stored.sum())
        X[rng.random(n) < [0.0, 0.01][k // 4 % 2], k] = np.nan
    return X
