"""Rank codes and order: exact, for every value; bins: ranges of positions that cover them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from gbt.reference.splits import threshold_between
from gbt.tables.bins import MAX_BINS, MAX_BINS_BESIDE_MISSING, first_codes
from gbt.tables.columns import Columns, thresholds_between
from tests.asserts import assert_same
from tests.trainer import coarsen

NAN = np.nan


def tables_of(dtype, width):
    """Draw tables with ties, both zeros, neighbouring floats, huge and tiny ones, and missing."""
    special = [0.0, -0.0, 1.0, np.nextafter(dtype(1), dtype(2)), np.finfo(dtype).max]
    special += [np.finfo(dtype).min, np.finfo(dtype).smallest_subnormal, NAN]
    return npst.arrays(
        dtype,
        st.tuples(st.integers(1, 40), st.integers(1, 3)),
        elements=st.sampled_from([float(x) for x in special]) | st.floats(-10, 10, width=width),
    )


tables = tables_of(np.float64, 64) | tables_of(np.float32, 32)


def assert_ranked(columns, k, x):
    """Check codes, order and bins of column k, whose values are x, against their definition."""
    distinct = np.unique(x[~np.isnan(x)])
    n_values, n_present = len(distinct), int((~np.isnan(x)).sum())
    codes = np.searchsorted(distinct, x)  # nan comes after all numbers
    assert_same(columns.codes[k], codes.astype(np.int32))
    assert (columns.n_values[k], columns.n_present[k]) == (n_values, n_present)

    order = columns.order[k]
    rows = np.where(order < 0, ~order, order)
    assert_same(np.sort(rows), np.arange(len(x), dtype=np.int32))
    assert (np.diff(codes[rows]) >= 0).all()
    starts = np.diff(codes[rows[:n_present]], prepend=-1) != 0
    assert_same(order[:n_present] < 0, starts)

    n_bins, start = int(columns.n_bins[k]), columns.bin_start[k]
    most = MAX_BINS if n_present == len(x) else MAX_BINS_BESIDE_MISSING
    assert n_bins <= min(most, n_values)
    assert columns.missing_bin[k] in range(0, 257, 16)
    assert n_bins <= columns.missing_bin[k] < n_bins + 16
    assert (np.diff(start[:n_bins]) > 0).all()
    assert {*start[:n_bins].tolist()} <= {*np.flatnonzero(starts).tolist()}
    assert start[n_bins] == n_present
    assert (start[n_bins + 1 :] == len(x)).all()
    assert n_present == 0 or start[0] == 0
    bins = np.searchsorted(start[: n_bins + 1], np.arange(len(x)), side="right") - 1
    bins[n_present:] = columns.missing_bin[k]
    assert_same(columns.bins(k)[rows], bins.astype(np.uint8))
    has_one = [len({*codes[columns.bins(k) == b]}) == 1 for b in range(n_bins)]
    assert columns.one_value[k, :n_bins].tolist() == has_one


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, np.int32), (np.float64, np.int64)])
def test_nan_of_either_sign_and_any_payload_are_missing(dtype, bits):
    """The third is of all nan the nearest to infinity."""
    x = np.array([NAN, np.copysign(NAN, -1), np.inf, np.inf, -np.inf], dtype=dtype)
    x.view(bits)[2] += 1
    columns = Columns.from_table(x.reshape(-1, 1))
    assert_same(columns.codes, [[2, 2, 2, 1, 0]])
    assert columns.n_present[0] == 2


@given(tables, st.integers(0, 2**32 - 1))
def test_codes_order_and_bins_are_those_of_the_definition(X, seed):
    """Bins of few values are their codes; and they may start at any new value."""
    columns, coarse = Columns.from_table(X), Columns.from_table(X)
    for k in range(X.shape[1]):
        coarsen(coarse, k, np.random.default_rng(seed))
        assert_ranked(columns, k, X[:, k])
        assert_ranked(coarse, k, X[:, k])
        assert columns.n_bins[k] == columns.n_values[k]


@pytest.mark.parametrize(
    ("n_rows", "most", "expected"),
    [
        ([2, 1, 3], 3, [0, 1, 2]),
        ([4], 1, [0]),
        ([100, 1, 1], 3, [0, 1, 2]),
        ([0, 2, 0, 0, 3, 0], 2, [0, 2]),  # a value that no row has belongs to the next
        ([0, 0], 2, [0]),
    ],
)
def test_few_values_have_a_bin_each(n_rows, most, expected):
    """Of many ``test_judged_growth`` asks the page where their bins begin."""
    assert first_codes(np.cumsum(n_rows), most).tolist() == expected


# Thresholds between any two floats: what a split is written down with.

LARGEST = np.finfo(np.float64).max
EPS = 2.0**-52
floats = st.floats(allow_nan=False, allow_infinity=False)


@given(floats, floats)
def test_a_threshold_separates_two_values(one, other):
    low, high = min(one, other), max(one, other)
    assume(low < high)
    threshold = thresholds_between(low, high)
    assert low <= threshold < high
    assert threshold == threshold_between(low, high)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.0, 1.5),
        (1.0, 1.0 + EPS, 1.0),  # no float lies between, and the midpoint rounds to the even one,
        (1.0 + EPS, 1.0 + 2 * EPS, 1.0 + EPS),  # here the higher
        (0.75 * LARGEST, LARGEST, 0.875 * LARGEST),  # their sum overflows
        (-LARGEST, LARGEST, 0.0),
        (-5e-324, 0.0, -5e-324),
        (1.0, 1.0 + 2.0**-23, 1.0 + 2.0**-24),  # neighbours in float32
    ],
)
def test_thresholds_by_hand(low, high, expected):
    assert thresholds_between(low, high) == expected == threshold_between(low, high)
