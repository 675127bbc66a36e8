"""Ranking and binning of one column: the drawing of the docstring, and loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.cuts.ranking import bin_rows, position_of, rank_rows, write_keys
from tests.asserts import assert_same
from tests.kernel_call import call

pytestmark = pytest.mark.kernels


def rank(keys, n_halves=1):
    """Return codes and order, given keys as Python's numbers."""
    halves = [[key >> 32 * half & 0xFFFFFFFF for half in range(n_halves)] for key in keys]
    done = call(rank_rows, keys=np.array(halves, dtype=np.uint32))
    return done.codes, done.order


def keys_of(column):
    """Return the keys of a column as Python's numbers, and how many values are missing."""
    bits = column.view(f"i{column.itemsize}")
    infinity = int(np.array(np.inf, column.dtype).view(bits.dtype))
    done = call(write_keys, bits=bits, infinity=infinity)
    keys = [sum(int(half) << 32 * i for i, half in enumerate(key)) for key in done.keys]
    return keys, done.result


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_are_in_the_order_of_the_values(dtype):
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    some = [
        0.0,
        1.0,
        np.nextafter(dtype(1), dtype(2)),
        2.0,
        tiny,
        np.finfo(dtype).tiny,
        huge,
        np.inf,
    ]
    values = np.array([*(-x for x in some[::-1]), *some, 3.5, -1.0, 1e-9], dtype=dtype)
    keys, n_missing = keys_of(values)
    assert n_missing == 0
    for x, key in zip(values.tolist(), keys, strict=True):
        for other, other_key in zip(values.tolist(), keys, strict=True):
            assert (key < other_key) == (x < other)
            assert (key == other_key) == (x == other)  # -0 and 0, too


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_have_the_largest_key(dtype):
    ones = 2 ** (8 * np.dtype(dtype).itemsize) - 1
    integer = np.dtype(f"i{np.dtype(dtype).itemsize}")
    one_more = np.array(np.inf, dtype).view(integer) + 1  # of all nan the nearest to infinity
    values = np.array([np.nan, np.inf, -np.inf, 0.0, np.copysign(np.nan, -1)], dtype=dtype)
    values = np.append(values, np.array([one_more], integer).view(dtype))
    keys, n_missing = keys_of(values)
    assert n_missing == 3
    assert [key == ones for key in keys] == [True, False, False, False, True, True]


@given(st.lists(st.floats(), min_size=1, max_size=30))
def test_keys_of_any_floats(values):
    keys, n_missing = keys_of(np.array(values))
    assert n_missing == sum(x != x for x in values)
    present = [(x, key) for x, key in zip(values, keys, strict=True) if x == x]
    for x, key in present:
        for other, other_key in present:
            assert (key < other_key) == (x < other)
            assert (key == other_key) == (x == other)


@pytest.mark.parametrize("n_halves", [1, 2])
def test_the_drawing_of_the_docstring(n_halves):
    codes, order = rank([3, 7, 99, 3, 1], n_halves)
    assert_same(codes, [1, 2, 3, 1, 0])
    assert_same(order, [~4, ~0, 3, ~1, ~2])


# Keys that differ in one digit, or in several, of either half; and any at all.
some_digits = st.sampled_from([0, 1, 2**10, 2**11 - 1, 2**11, 2**21 + 5, 2**22, 2**31, 2**32 - 1])
half_keys = some_digits | st.integers(0, 2**32 - 1) | st.integers(0, 3)


@given(st.lists(st.tuples(half_keys, half_keys), min_size=1, max_size=60), st.integers(1, 2))
def test_against_a_sorted_list(halves, n_halves):
    keys = [low + (high << 32) * (n_halves - 1) for low, high in halves]
    codes, order = rank(keys, n_halves)
    distinct = sorted(set(keys))
    by_key = sorted(range(len(keys)), key=keys.__getitem__)  # stable, as digits are
    assert_same(codes, [distinct.index(key) for key in keys])
    assert_same(np.where(order < 0, ~order, order), by_key)
    starts = [i == 0 or keys[by_key[i]] > keys[by_key[i - 1]] for i in range(len(keys))]
    assert_same(order < 0, np.array(starts, dtype=bool))


@pytest.mark.parametrize("n_halves", [1, 2])
@pytest.mark.parametrize("n", [1_000, 70_000])
def test_long_columns(n, n_halves):
    keys = np.random.default_rng(n).integers(0, 2 ** (32 * n_halves - 1), size=n).tolist()
    keys[5:300:7] = keys[:43]
    codes, order = rank(keys, n_halves)
    distinct, expected = np.unique(np.array(keys), return_inverse=True)
    assert_same(codes, expected)
    assert_same(np.where(order < 0, ~order, order), np.argsort(keys, kind="stable"))
    assert (order < 0).sum() == len(distinct)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 3), st.data())
def test_the_first_position_of_a_code(keys, n_missing, data):
    """Of codes that are there and of others, from anywhere before it on."""
    codes, order = rank(keys + [99] * n_missing)
    code = data.draw(st.integers(-3, 12))
    in_order = sorted(codes[: len(keys)].tolist())
    expected = sum(c < code for c in in_order)
    start = data.draw(st.integers(0, expected))
    done = call(position_of, codes=codes, order=order, start=start, stop=len(keys), code=code)
    assert done.result == expected


def test_bins_by_hand():
    """Rows 3 1 | 0 | 2 in the order of their values, a mark on two of them; the last is missing."""
    bins = np.full(8, 99, dtype=np.uint8)
    order = np.array([~3, 1, ~0, 2], dtype=np.int32)
    one_lane = bins[1::2]
    call(bin_rows, order=order, bin_start=np.array([0, 2, 3, 4]), missing_bin=16, bins=one_lane)
    assert_same(bins, [99, 1, 99, 0, 99, 16, 99, 0])
