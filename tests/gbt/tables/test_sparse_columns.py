"""Codes, order and bins of sparse columns: those of the same columns with all their zeros."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gbt.tables import sparse_columns
from gbt.tables.bins import MAX_BINS
from gbt.tables.columns import Columns
from gbt.tables.sparse_columns import MOST_OF_ARRAY, MOST_STORED, columns_of, columns_of_sparse_rows
from gbt.tables.sparse_rows import SparseRows
from tests.asserts import assert_same
from tests.sparse_tables import arrays_stored, large_table, tables


def columns_of_sparse(X, n_jobs=1):
    return columns_of_sparse_rows(SparseRows.of(sparse.csr_array(X)), n_jobs)


def columns_of_array(X, n_jobs=1, n_outputs=3):
    return columns_of(X, n_jobs, np.zeros(X.shape[1], dtype=np.int64), n_outputs)


def bins_of_packs(columns):
    """Return the bins of sparse columns as packs have them, by column; zeros as -1."""
    of_sparse, found = columns.sparse, {}
    for own, start in zip(of_sparse.packs, of_sparse.row_start, strict=True):
        first = np.cumsum(columns.missing_bin[own] + 1) - columns.missing_bin[own] - 1
        bins = np.full((columns.n_rows, len(own)), -1)
        for row in range(columns.n_rows):
            for place in of_sparse.stored_bins[start[row] : start[row + 1]]:
                i = np.searchsorted(first, place, side="right") - 1
                assert bins[row, i] == -1  # a value is there once
                bins[row, i] = place - first[i]
        found |= {int(k): bins[:, i] for i, k in enumerate(own)}
    return found


def assert_same_columns(X, columns, most=MOST_STORED):
    """Compare columns with dense ones; ``most`` of a sparse column's values are not 0."""
    dense, of_sparse = Columns.from_table(X, 1), columns.sparse
    for name in ("n_values", "n_present", "n_bins", "first_code"):
        assert_same(getattr(columns, name), getattr(dense, name))
    in_packs = bins_of_packs(columns)
    for k, x in enumerate(X.T):
        assert_same(columns.codes_of(k), dense.codes[k])
        assert_same(columns.order_of(k), dense.order[k])
        is_stored = x != 0
        assert of_sparse.is_sparse[k] == (is_stored.mean() <= most) == (k in in_packs)
        if k not in in_packs:
            assert_same(columns.bins(k), dense.bins(k))
            continue
        is_missing = dense.codes[k] == dense.n_values[k]  # the bin right behind the others
        bins = np.where(is_missing, columns.n_bins[k], dense.bins(k).astype(int))
        assert_same(in_packs[k], np.where(is_stored, bins, -1))
        zero_bin = dense.bins(k)[~is_stored]
        assert (zero_bin == of_sparse.zero_bin[k]).all()
        assert (x[dense.bins(k) == zero_bin[0]] == 0).all()  # zeros are alone in their bin
        # Positions are those of the order without its zeros.
        own = slice(of_sparse.first[k], of_sparse.first[k] + of_sparse.n_stored[k])
        order = of_sparse.all_order[len(columns.order) * len(X) :][own]
        rows = np.where(order < 0, ~order, order)
        for b in range(columns.n_bins[k]):
            in_bin = rows[columns.bin_start[k, b] : columns.bin_start[k, b + 1]]
            assert_same(np.sort(in_bin), np.flatnonzero(is_stored & (dense.bins(k) == b)))


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


@pytest.mark.parametrize("bins_of_pack", [1, 200, 2**14])
def test_more_values_than_bins(monkeypatch, bins_of_pack):
    monkeypatch.setattr(sparse_columns, "BINS_OF_PACK", bins_of_pack)
    X = large_table(np.random.default_rng(0), n=3_000, p=12)
    columns = columns_of_sparse(X, n_jobs=2)
    assert (columns.n_values[columns.sparse.is_sparse == 1] > MAX_BINS).any()
    assert_same_columns(X, columns)


def test_by_hand():
    """The column of the module's docstring: -2 | six zeros | .5 .5."""
    X = np.array([[0, 0, 0.5, 0, 0, -2, 0, 0.5, 0, 0, 0, 0]]).T
    columns = columns_of_sparse(X)
    assert_same(columns.sparse.stored, np.array([2 << 32 | 2, 5 << 32 | 0, 7 << 32 | 2]))
    assert_same(columns.sparse.all_order, np.array([~5, ~2, 7], dtype=np.int32))
    assert (columns.sparse.zero_code[0], columns.sparse.zero_bin[0]) == (1, 1)
    assert_same(columns.bin_start[0, :5], [0, 1, 1, 3, 3])
    assert_same(columns.first_code[0, :4], [0, 1, 2, 3])
    assert columns.n_stored == 3
