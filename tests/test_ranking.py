"""Ranking and binning of one column: the drawing of the docstring, and loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.ranking import bin_rows, rank_rows
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels


def rank(column, by_value, dtype=np.float64):
    codes, order = np.full((2, len(column)), 99, dtype=np.int32)
    rank_rows(np.array(column, dtype=dtype), np.array(by_value, dtype=np.int64), codes, order)
    return codes, order


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_drawing_of_the_docstring(dtype):
    codes, order = rank([0.3, 7.0, np.nan, 0.3, -1.5], [4, 0, 3, 1, 2], dtype)
    assert_same(codes, [1, 2, 3, 1, 0])
    assert_same(order, [~4, ~0, 3, ~1, ~2])


def test_missing_values_are_one_value():
    codes, order = rank([np.nan, 1.0, np.nan], [1, 2, 0])
    assert_same(codes, [1, 0, 1])
    assert_same(order[:1], [~1])
    assert_same(rank([np.nan, np.nan], [0, 1])[0], [0, 0])


@given(st.lists(st.sampled_from([-0.0, 0.0, 1.0, 2.0, np.inf, -np.inf, np.nan]), min_size=1))
def test_against_a_sorted_list(column):
    by_value = sorted(range(len(column)), key=lambda i: (column[i] != column[i], column[i]))
    # nan compares with nothing: put the missing rows last by hand
    missing = [i for i in range(len(column)) if column[i] != column[i]]
    by_value = [i for i in by_value if i not in missing] + missing
    codes, order = rank(column, by_value)
    distinct = sorted({x for x in column if x == x})
    assert_same(codes, [distinct.index(x) if x == x else len(distinct) for x in column])
    assert_same(np.where(order < 0, ~order, order), by_value)
    n_present = len(column) - len(missing)
    first = [i for i in range(n_present) if i == 0 or codes[by_value[i]] > codes[by_value[i - 1]]]
    assert_same(np.flatnonzero(order[:n_present] < 0), np.array(first, dtype=int))


def test_bins_by_hand():
    """Rows 3 1 | 0 | 2 in the order of their values, a mark on two of them; the last is missing."""
    bins = np.full(8, 99, dtype=np.uint8)
    order = np.array([~3, 1, ~0, 2], dtype=np.int32)
    bin_rows(order, np.array([0, 2, 3, 4]), 16, bins[1::2])  # one lane
    assert_same(bins, [99, 1, 99, 0, 99, 16, 99, 0])
