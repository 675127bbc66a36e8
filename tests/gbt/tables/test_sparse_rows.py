"""Sparse rows: the values of the dense table, whichever way they are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gbt.model.predictor import over_transposed, transposed
from gbt.tables.sparse_rows import SparseRows, take, values_at, with_zeros
from tests.asserts import assert_same
from tests.sparse_tables import KINDS, tables

NAN = np.nan


@given(tables(), st.sampled_from(KINDS))
def test_the_values_of_the_table(X, kind):
    rows = SparseRows.of(kind(X))
    assert (rows.shape, rows.dtype, len(rows), rows.ndim) == (X.shape, X.dtype, len(X), 2)
    assert_same(rows[:], X)
    assert (rows.stored.data != 0).all()


def test_what_is_not_canonical_becomes_so_and_the_matrix_stays_as_it_is():
    """Two entries of one place are their sum, a stored 0 is a 0, columns come in any order."""
    data, columns = np.array([5.0, 2.0, 3.0, 0.0, 1.0, -1.0]), np.array([2, 0, 0, 1, 1, 1])
    X = sparse.csr_array((data, columns, np.array([0, 3, 6])), shape=(2, 3))
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    rows = SparseRows.of(X)
    assert_same(rows[:], np.array([[5.0, 0.0, 5.0], [0.0, 0.0, 0.0]]))
    assert rows.stored.indices.tolist() == [0, 2]
    for part, was in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert_same(part, was)


@given(tables(), st.data())
def test_some_rows_some_values_some_columns(X, data):
    rows, n, p = SparseRows.of(sparse.csr_array(X)), *X.shape
    some = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=20)), dtype=int)
    mask = np.isin(np.arange(n), some)
    start, stop = sorted(data.draw(st.tuples(st.integers(0, n + 1), st.integers(0, n + 1))))
    for asked in (some, mask, slice(start, stop), slice(None)):
        assert_same(rows[asked], X[asked])
        assert_same(take(rows, asked)[:], take(X, asked))
    columns = np.array(data.draw(st.lists(st.integers(0, p - 1), max_size=20)), dtype=int)
    columns = np.resize(columns, len(some)) if len(columns) else np.zeros(len(some), dtype=int)
    assert_same(rows.values_at(some, columns), X[some, columns])
    assert_same(values_at(rows, some, 0), values_at(X, some, 0))
    used = np.unique(columns)
    assert_same(rows.some_columns(used, slice(start, stop)), X[start:stop][:, used])


def test_zeros_that_are_missing():
    rows = SparseRows.of(sparse.csr_array(np.array([[0.0, 1e-40, 2.0], [NAN, -3.0, 0.0]])))
    missing = rows.with_zeros_missing(1e-35)
    expected = np.array([[NAN, NAN, 2.0], [NAN, -3.0, NAN]])
    assert_same(missing[:], expected)
    assert_same(missing.some_columns(np.array([0, 2]), slice(0, 2)), expected[:, [0, 2]])
    assert_same(missing.values_at(np.array([0, 1]), np.array([0, 1])), np.array([NAN, -3.0]))
    blocks = []
    over_transposed(lambda block, rows: blocks.append(block.copy()), missing, 1, 1)
    for block, row in zip(blocks, expected, strict=True):
        assert_same(block, transposed(row[np.newaxis]))


def test_rows_do_not_become_a_dense_table_unasked():
    rows = SparseRows.of(sparse.csr_array(np.eye(3)))
    with pytest.raises(TypeError, match="some at a time"):
        np.asarray(rows)
    assert_same(with_zeros(rows), np.eye(3))
    assert with_zeros(rows[:]).shape == (3, 3)
