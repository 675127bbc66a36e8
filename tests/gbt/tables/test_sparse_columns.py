"""Codes and order of sparse columns: those of the same columns with all their zeros.

That their bins are, too, `tests.gbt.training.test_same_model` tells from the trees.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gbt.tables.columns import Columns
from gbt.tables.sparse_columns import MOST_OF_ARRAY, MOST_STORED, columns_of, columns_of_sparse_rows
from gbt.tables.sparse_rows import SparseRows
from tests.asserts import assert_same
from tests.sparse_tables import arrays_stored, large_table, tables


def columns_of_sparse(X, n_jobs=1):
    return columns_of_sparse_rows(SparseRows.of(sparse.csr_array(X)), n_jobs)


def columns_of_array(X, n_jobs=1, n_outputs=3):
    return columns_of(X, n_jobs, np.zeros(X.shape[1], dtype=np.int64), n_outputs)


def assert_same_columns(X, columns, most=MOST_STORED):
    """Compare columns with dense ones; ``most`` of a sparse column's values are not 0."""
    dense, of_sparse = Columns.from_table(X, 1), columns.sparse
    for name in ("n_values", "n_present", "n_bins", "first_code"):
        assert_same(getattr(columns, name), getattr(dense, name))
    for k, x in enumerate(X.T):
        assert of_sparse.is_sparse[k] == ((x != 0).mean() <= most)
        assert_same(columns.codes_of(k), dense.codes[k])
        if not of_sparse.is_sparse[k]:
            assert_same(columns.order[columns.line(k)], dense.order[k])
        zero_bin = dense.bins(k)[x == 0]
        assert not of_sparse.is_sparse[k] or (zero_bin == of_sparse.zero_bin[k]).all()


@given(tables())
def test_columns_are_those_of_the_dense_table(X):
    assert_same_columns(X, columns_of_sparse(X))


@given(tables(), st.sampled_from([1, 2]), st.integers(0, 2**32 - 1))
def test_columns_of_arrays_are_those_with_all_zeros(X, n_jobs, seed):
    X[(X == 0) & (np.random.default_rng(seed).random(X.shape) < 0.3)] = -0.0
    with arrays_stored(MOST_OF_ARRAY):
        columns, share = columns_of_array(X, n_jobs), (X != 0).mean(axis=0)
    if (share <= MOST_OF_ARRAY).any():
        assert_same_columns(X, columns, MOST_OF_ARRAY)
    else:
        assert columns.sparse is None


def test_arrays_of_many_rows_and_threads():
    X = large_table(np.random.default_rng(0), n=5_000, p=24)
    X[:9, 0] = -0.0
    with arrays_stored(MOST_OF_ARRAY):
        assert_same_columns(X, columns_of_array(X, n_jobs=2), MOST_OF_ARRAY)
