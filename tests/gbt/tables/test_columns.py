"""Rank codes and order: exact, for every value; bins: ranges of positions that cover them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import gbt.tables.columns as columns_module
from gbt.tables.bins import MAX_BINS, MAX_BINS_BESIDE_MISSING
from gbt.tables.columns import Columns
from tests.asserts import assert_same
from tests.trainer import coarse_columns

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


def rows_in_order(columns, k):
    return np.where(columns.order[k] < 0, ~columns.order[k], columns.order[k])


def bins_by_definition(columns, k):
    """Return the bin of every row: the range of positions that it stands in."""
    bins = np.empty(columns.n_rows, dtype=int)
    start = columns.bin_start[k]
    for position, row in enumerate(rows_in_order(columns, k).tolist()):
        own = [b for b in range(columns.n_bins[k] + 1) if start[b] <= position < start[b + 1]]
        (bins[row],) = own  # ranges do not overlap and leave nothing out
    bins[bins == columns.n_bins[k]] = columns.missing_bin[k]
    return bins


def assert_bins_are_ranges(columns, k):
    """Check the bins of a column against the order of its rows."""
    n_bins, n_present = columns.n_bins[k], columns.n_present[k]
    start = columns.bin_start[k]
    most = MAX_BINS if n_present == columns.n_rows else MAX_BINS_BESIDE_MISSING
    assert n_bins <= min(most, columns.n_values[k])
    assert columns.missing_bin[k] in range(0, 257, 16)
    assert n_bins <= columns.missing_bin[k] < n_bins + 16
    assert start[n_bins] == n_present
    assert (start[n_bins + 1 :] == columns.n_rows).all()
    if n_present:
        assert start[0] == 0
        assert (np.diff(start[: n_bins + 1]) > 0).all()
        codes = columns.codes[k][rows_in_order(columns, k)]
        inner = start[1:n_bins]
        assert (codes[inner] > codes[inner - 1]).all()  # no value is in two bins
    assert_same(columns.bins(k), bins_by_definition(columns, k))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hand_example(dtype):
    X = np.array([[0.3], [7.0], [NAN], [0.3], [-1.5]], dtype=dtype)
    columns = Columns.from_table(X)
    assert_same(columns.codes, [[1, 2, 3, 1, 0]])
    assert_same(columns.n_values, [3])
    assert_same(columns.n_present, [4])
    assert_same(columns.order[0] < 0, [True, True, False, True, True])
    rows = rows_in_order(columns, 0)
    assert (rows[0], {rows[1], rows[2]}, rows[3], rows[4]) == (4, {0, 3}, 1, 2)
    assert_same(columns.n_bins, [3])
    assert_same(columns.bins(0), [1, 2, 16, 1, 0])
    assert_same(columns.bin_start[0, :5], [0, 1, 3, 4, 5])
    assert_same(columns.packed_bins, [[1, 2, 16, 1, 0]])


def test_both_zeros_are_one_value():
    columns = Columns.from_table(np.array([[0.0], [-0.0], [5e-324], [-5e-324], [-0.0]]))
    assert_same(columns.codes, [[1, 1, 2, 0, 1]])


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, np.int32), (np.float64, np.int64)])
def test_nan_of_either_sign_and_any_payload_are_missing(dtype, bits):
    """The third is of all nan the nearest to infinity."""
    x = np.array([NAN, np.copysign(NAN, -1), np.inf, np.inf, -np.inf], dtype=dtype)
    x.view(bits)[2] += 1
    columns = Columns.from_table(x.reshape(-1, 1))
    assert_same(columns.codes, [[2, 2, 2, 1, 0]])
    assert columns.n_present[0] == 2


@given(tables)
def test_codes_are_ranks_among_the_distinct_values(X):
    columns = Columns.from_table(X)
    for k, column in enumerate(X.T.tolist()):
        distinct = sorted({x for x in column if x == x})
        expected = [distinct.index(x) if x == x else len(distinct) for x in column]
        assert_same(columns.codes[k], expected)
        assert columns.n_values[k] == len(distinct)
        assert columns.n_present[k] == sum(x == x for x in column)


@given(tables)
def test_order_is_by_value_and_marks_where_a_value_starts(X):
    columns = Columns.from_table(X)
    for k, column in enumerate(X.T.tolist()):
        rows = rows_in_order(columns, k).tolist()
        assert sorted(rows) == list(range(len(column)))
        in_order = [column[row] for row in rows]
        n_present = sum(x == x for x in column)
        assert in_order[:n_present] == sorted(x for x in column if x == x)
        assert all(x != x for x in in_order[n_present:])
        starts = [
            i == 0 or in_order[i - 1] != x for i, x in enumerate(in_order[: columns.n_present[k]])
        ]
        assert_same(columns.order[k, :n_present] < 0, np.array(starts, dtype=bool))


@given(tables)
def test_bins_of_small_columns_are_their_codes(X):
    columns = Columns.from_table(X)
    for k in range(X.shape[1]):
        assert_bins_are_ranges(columns, k)
        codes, n_values = columns.codes[k], columns.n_values[k]
        assert_same(columns.bins(k), np.where(codes < n_values, codes, columns.missing_bin[k]))


@given(tables, st.data())
def test_bins_may_start_at_any_new_value(X, data):
    columns = data.draw(coarse_columns(X))
    for k in range(X.shape[1]):
        assert_bins_are_ranges(columns, k)


@pytest.mark.parametrize("n_distinct", [1, 240, 241, 256, 257, 2000])
@pytest.mark.parametrize("n_missing", [0, 2])
def test_bins_of_many_values_are_ranges(n_distinct, n_missing):
    rng = np.random.default_rng(n_distinct)
    x = np.concatenate([np.arange(n_distinct), rng.integers(0, n_distinct, 500) ** 2 % n_distinct])
    X = rng.permutation(np.append(x, [NAN] * n_missing)).reshape(-1, 1)
    columns = Columns.from_table(X)
    assert columns.n_values[0] == n_distinct
    assert_bins_are_ranges(columns, 0)
    if n_distinct <= (MAX_BINS_BESIDE_MISSING if n_missing else MAX_BINS):
        is_present = ~np.isnan(X[:, 0])
        assert_same(columns.bins(0)[is_present], columns.codes[0][is_present])
    else:
        assert columns.n_bins[0] < n_distinct


def test_a_value_of_many_rows_has_a_bin_of_its_own():
    """More rows than two bins would hold without ties: 2000 of 2897, and 300 of the last value."""
    n_rows = np.full(300, 2)
    n_rows[[150, 299]] = 2000, 300
    columns = Columns.from_table(np.repeat(np.arange(300.0), n_rows).reshape(-1, 1))
    assert_bins_are_ranges(columns, 0)
    bins = columns.bins(0)
    for value in (150, 299):
        rows = columns.codes[0] == value
        (b,) = set(bins[rows].tolist())
        assert (bins == b).sum() == rows.sum()
        assert columns.one_value[0, b] == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_heavy_values_do_not_make_too_many_bins(seed):
    """Whatever the numbers of rows of the values; here each is heavy, or every other one."""
    rng = np.random.default_rng(seed)
    n_rows = np.where(rng.random(800) < rng.choice([0.01, 0.3, 0.5, 1]), 40, 1)
    columns = Columns.from_table(np.repeat(np.arange(800.0), n_rows).reshape(-1, 1))
    assert columns.n_bins[0] <= MAX_BINS
    assert_bins_are_ranges(columns, 0)


@given(tables, st.data())
def test_which_bins_hold_one_value(X, data):
    columns = data.draw(coarse_columns(X))
    for k in range(X.shape[1]):
        n_bins = int(columns.n_bins[k])
        codes_of = [set(columns.codes[k][columns.bins(k) == b].tolist()) for b in range(n_bins)]
        expected = [int(len(codes) == 1) for codes in codes_of]
        assert columns.one_value[k, :n_bins].tolist() == expected


def test_a_column_without_values_and_one_of_a_single_value():
    columns = Columns.from_table(np.array([[NAN, 2.0], [NAN, 2.0]]))
    assert_same(columns.codes, [[0, 0], [0, 0]])
    assert_same(columns.n_values, [0, 1])
    assert_same(columns.n_present, [0, 2])
    assert_same(columns.n_bins, [0, 1])
    assert_same(columns.missing_bin, [0, 16])
    for k in range(2):
        assert_bins_are_ranges(columns, k)
        assert_same(columns.bins(k), [0, 0])


BUT_FOR_THE_ORDER = (
    *("codes", "n_values", "n_present", "packed_bins"),
    *("n_bins", "missing_bin", "bin_start", "one_value"),
)


def assert_same_columns(one, other, names):
    for name in names:
        assert_same(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_nothing(n_jobs, monkeypatch):
    monkeypatch.setattr(columns_module, "LEAST_VALUES_PER_THREAD", 1)
    X = np.random.default_rng(0).normal(size=(500, 30))  # four words
    one, other = Columns.from_table(X, n_jobs=1), Columns.from_table(X, n_jobs=n_jobs)
    assert_same_columns(one, other, ("order", *BUT_FOR_THE_ORDER))


@given(tables_of(np.float32, 32))
def test_a_float32_table_has_the_columns_of_its_float64_copy(X):
    """But for the order of rows of equal value, which nothing depends on."""
    one, other = Columns.from_table(X), Columns.from_table(X.astype(np.float64))
    assert_same_columns(one, other, BUT_FOR_THE_ORDER)
    assert_same(one.order < 0, other.order < 0)
    assert one.table.dtype == np.float32  # kept, not copied
    assert one.table is X


def test_long_columns_of_float32_and_float64_are_ranked_alike():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25_000, 2)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:100, 0], X[100:200, 0] = 0.0, -0.0
    one, other = Columns.from_table(X), Columns.from_table(X.astype(np.float64))
    assert_same_columns(one, other, ("codes", "n_values", "n_bins", "packed_bins", "one_value"))
    for k in range(2):
        present = ~np.isnan(X[:, k])
        _, ranks = np.unique(X[present, k], return_inverse=True)
        assert_same(one.codes[k][present], ranks)
