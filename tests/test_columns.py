"""Rank codes: exact, for every value; bins: ranges of codes that cover them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from gbt.columns import MAX_BINS, Columns, bin_ends

NAN = np.nan
LARGEST = np.finfo(np.float64).max

tables = npst.arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.integers(1, 3)),
    elements=st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-52, LARGEST, -LARGEST, 5e-324, NAN]),
        st.floats(-10, 10),
    ),
)


def test_hand_example():
    columns = Columns.from_table(np.array([[0.3], [7.0], [NAN], [0.3], [-1.5]]))
    np.testing.assert_array_equal(columns.values, [-1.5, 0.3, 7.0])
    np.testing.assert_array_equal(columns.codes, [[1, 2, 3, 1, 0]])
    np.testing.assert_array_equal(columns.missing_code, [3])
    np.testing.assert_array_equal(columns.bins, columns.codes)
    np.testing.assert_array_equal(columns.n_bins, [3])


@given(tables)
def test_codes_give_the_values_back_and_keep_their_order(X):
    columns = Columns.from_table(X)
    for k in range(X.shape[1]):
        own = columns.values[columns.value_offset[k] : columns.value_offset[k + 1]]
        assert (np.diff(own) > 0).all()
        is_missing = np.isnan(X[:, k])
        np.testing.assert_array_equal(columns.codes[k] == columns.missing_code[k], is_missing)
        np.testing.assert_array_equal(own[columns.codes[k][~is_missing]], X[~is_missing, k])


@given(tables)
def test_threshold_separates_neighbouring_values(X):
    columns = Columns.from_table(X)
    for k in range(X.shape[1]):
        own = columns.values[columns.value_offset[k] : columns.value_offset[k + 1]]
        low = np.arange(max(len(own) - 1, 0))
        threshold = columns.threshold_between(np.full(len(low), k), low, low + 1)
        assert (own[:-1] <= threshold).all()
        assert (threshold < own[1:]).all()


def test_threshold_is_the_midpoint_and_the_largest_float_before_missing_values():
    columns = Columns.from_table(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, NAN]]))
    threshold = columns.threshold_between(
        np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([1, 2, 1])
    )
    np.testing.assert_array_equal(threshold, [1.5, 2.5, LARGEST])


@pytest.mark.parametrize("n_rows", [MAX_BINS, MAX_BINS + 1, 300, 1000, 20_000, 1_000_000])
def test_bins_of_a_column_without_ties(n_rows):
    ends = bin_ends(n_rows)
    sizes = np.diff(ends, prepend=0)
    assert len(ends) <= MAX_BINS
    assert ends[-1] == n_rows
    assert (sizes >= 1).all()
    assert sizes[0] == sizes[-1] == 1  # fine at both ends,
    assert sizes.max() <= 4 * n_rows / MAX_BINS + 1  # not much coarser than equal in between


@pytest.mark.parametrize("n_distinct", [1, MAX_BINS, MAX_BINS + 1, 2000])
def test_bins_are_ranges_of_codes(n_distinct):
    rng = np.random.default_rng(n_distinct)
    x = np.concatenate([np.arange(n_distinct), rng.integers(0, n_distinct, 500) ** 2 % n_distinct])
    X = rng.permutation(np.append(x, [NAN, NAN])).reshape(-1, 1)
    columns = Columns.from_table(X)
    n_bins = columns.n_bins[0]
    last = columns.last_code_of_bin[0, :n_bins]
    assert n_bins <= MAX_BINS
    assert last[-1] == n_distinct - 1
    assert (np.diff(last) > 0).all()
    first = np.append(0, last[:-1] + 1)
    for b in range(n_bins):
        codes = columns.codes[0][columns.bins[0] == b]
        assert codes.min() == first[b]
        assert codes.max() == last[b]
    np.testing.assert_array_equal(columns.bins[0] == n_bins, np.isnan(X[:, 0]))
    if n_distinct <= MAX_BINS:
        np.testing.assert_array_equal(columns.bins, columns.codes)


def test_a_column_without_values_and_one_of_a_single_value():
    columns = Columns.from_table(np.array([[NAN, 2.0], [NAN, 2.0]]))
    np.testing.assert_array_equal(columns.codes, [[0, 0], [0, 0]])
    np.testing.assert_array_equal(columns.missing_code, [0, 1])
    np.testing.assert_array_equal(columns.n_bins, [0, 1])


def test_threads_change_nothing():
    X = np.random.default_rng(0).normal(size=(500, 7))
    one, two = Columns.from_table(X, n_jobs=1), Columns.from_table(X, n_jobs=2)
    for name in ("codes", "values", "value_offset", "bins", "n_bins", "last_code_of_bin"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
