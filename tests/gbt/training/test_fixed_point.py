"""Fixed point: sums without rounding, in units far below those of a float64 sum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gbt.kernels.cuts.memory import BLOCK, RULES, RowsInTree, Training
from gbt.kernels.trees.nodes import records
from gbt.kernels.trees.quantise import choose_scales, measure_rows, quantise_rows
from gbt.training.fixed_point import to_fixed_point
from tests.asserts import assert_same


def test_hand_example():
    # sum|x| = 3 = 0.75 * 2^2, so the scale is 2^(61 - 2)
    integers, scale = to_fixed_point(np.array([1.0, -2.0]), np.ones(2))
    assert scale == 2.0**59
    np.testing.assert_array_equal(integers, [2**59, -(2**60)])


def test_zeros():
    integers, scale = to_fixed_point(np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(integers, [0, 0, 0])
    assert scale == 1.0


@given(
    st.lists(
        st.floats(-1e150, 1e150).filter(lambda x: x == 0 or abs(x) > 1e-150),
        min_size=1,
        max_size=50,
    )
)
def test_every_integer_is_the_nearest_one_and_no_sum_overflows(numbers):
    x = np.array(numbers)
    integers, scale = to_fixed_point(x, np.ones(len(x)))
    assert scale == 2.0 ** round(np.log2(scale))
    for number, integer in zip(numbers, integers.tolist(), strict=True):
        assert abs(Fraction(number) * Fraction(scale) - integer) <= Fraction(1, 2)
    assert sum(abs(i) for i in integers.tolist()) <= 2**61 + len(numbers)


@pytest.mark.parametrize("magnitude", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("outlier", [1.0, 1e9])
def test_precision_beats_float64_sums(magnitude, outlier):
    """The error of a sum over n rows is at most n/2 units, 256 times below float64's bound."""
    rng = np.random.default_rng(0)
    x = magnitude * rng.normal(size=10_000)
    x[0] *= outlier
    integers, scale = to_fixed_point(x, np.ones(len(x)))
    some = rng.random(len(x)) < 0.5
    exact = sum(Fraction(v) for v in x[some].tolist())
    error = abs(Fraction(int(integers[some].sum())) / Fraction(scale) - exact)
    assert error <= len(x) * Fraction(2) ** -61 * Fraction(float(np.abs(x).sum()))


@pytest.mark.parametrize("weight", [1, 256, 257, 2_000_000])
def test_no_whole_weight_makes_sums_less_exact_than_those_of_float64(weight):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    x[0] *= 1e9
    integers, scale = to_fixed_point(x, np.full(1000, float(weight)))
    some = rng.random(1000) < 0.5
    exact = sum(weight * Fraction(v) for v in x[some].tolist())
    error = abs(Fraction(int(integers[some].sum())) / Fraction(scale) - exact)
    assert error <= 1000 * Fraction(2) ** -53 * weight * Fraction(float(np.abs(x).sum()))


@pytest.mark.large
@pytest.mark.parametrize("magnitude", [1e-12, 1e12])
@pytest.mark.parametrize("n", [100_000, pytest.param(10_000_000, marks=pytest.mark.nightly)])
def test_precision_of_many_rows(n, magnitude):
    """The bound grows with the rows: for 1e7 it is 2^-37 sum|x|; that of float64 would be 2^-29."""
    x = magnitude * np.random.default_rng(0).normal(size=n)
    x[0] *= 1e9
    integers, scale = to_fixed_point(x, np.ones(n))
    halves = int(integers[: n // 2].sum()), int(integers[n // 2 :].sum())
    exact = math.fsum(x.tolist())  # of all float64 the nearest to the sum
    error = abs(Fraction(sum(halves)) / Fraction(scale) - Fraction(exact))
    bound = n * Fraction(2) ** -61 * Fraction(math.fsum(np.abs(x).tolist()))
    assert error <= bound + Fraction(math.ulp(exact))
    assert int(np.abs(integers).sum(dtype=np.uint64)) <= 2**61 + n  # no sum overflows


@given(st.integers(0, 1000))
def test_a_whole_weight_is_as_many_rows(seed):
    rng = np.random.default_rng(seed)
    x, weight = rng.normal(size=20), rng.integers(0, 5, size=20).astype(float)
    integers, scale = to_fixed_point(x, weight)
    repeated, scale_of_repeated = to_fixed_point(
        np.repeat(x, weight.astype(int)), np.ones(int(weight.sum()))
    )
    assert scale == scale_of_repeated
    row = np.repeat(np.arange(20), weight.astype(int))
    np.testing.assert_array_equal(integers, [repeated[row == i].sum() for i in range(20)])


@pytest.mark.parametrize("weight", [0.3, 1e12, 1e-12])
def test_other_weights_lose_no_precision(weight):
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    integers, scale = to_fixed_point(x, np.full(100, weight))
    exact = [Fraction(v) * Fraction(scale) for v in (weight * x).tolist()]
    errors = [abs(e - i) for e, i in zip(exact, integers.tolist(), strict=True)]
    assert max(errors) <= Fraction(1, 2)


def test_the_smallest_numbers_there_are():
    integers, scale = to_fixed_point(np.array([5e-324, -1e-323]), np.ones(2))
    assert scale == 2.0**1000
    np.testing.assert_array_equal(integers, [0, 0])


@njit
def begin(training, rows, all_rules, blocks, size):
    """Go through the blocks as growing does, but in blocks of so many rows."""
    rules = all_rules[0]
    for b in range(len(blocks)):
        stop = min((b + 1) * size, rules.n_listed)
        measure_rows(training, rows, rules, b * size, stop, blocks[b])
    is_finite = choose_scales(training, rules, blocks)
    if is_finite:
        for b in range(len(blocks)):
            stop = min((b + 1) * size, rules.n_listed)
            quantise_rows(training, rows, rules, b * size, stop, blocks[b])
    return is_finite


def begun(gradient, hessian, weight, rows, n_listed, **asked):
    """Return the memory of a tree that begins, in blocks of two rows; no rows are all."""
    rules = records(1, RULES)
    rules["width"] = 2 if len(hessian) == len(weight) == 1 else 4
    for name in ("reg_lambda", "min_child_weight", "min_split_gain"):
        rules[name] = asked.get(name, 0.0)
    rules["n_listed"] = n_listed
    n, nothing = len(gradient), np.empty(0)
    listed = np.array([*rows, *[99] * (n - len(rows))], dtype=np.int32)
    entries = np.full(n * rules["width"][0] // 2, 99)
    node, side = np.full(n, -1, dtype=np.int32), np.empty(0, dtype=np.int32)
    one = np.ones(1, dtype=np.int64)
    memory = RowsInTree(entries, node, listed, np.empty_like(listed), side, one)
    training = Training(nothing, weight, nothing, gradient, hessian)
    blocks = records(-(-n_listed // 2), BLOCK)

    is_finite = begin(training, memory, rules, blocks, 2)
    return is_finite, rules[0], memory, blocks


@pytest.mark.parametrize("rows", [[], [0, 3, 4], [2]])
@pytest.mark.parametrize("one_hessian", [True, False])
@pytest.mark.parametrize("one_weight", [True, False])
def test_a_tree_begins_with_what_its_rows_carry(rows, one_hessian, one_weight):
    """No rows are all; one number stands for all rows."""
    gradient, written_out = np.array([1.5, -2.25, 1e-3, 0.0, 7.0]), np.ones(5)
    hessian = np.array([0.5]) if one_hessian else np.array([0.5, 0.125, 3.0, 1.0, 0.25])
    weight = np.array([3.0]) if one_weight else np.array([1.0, 2.0, 3.0, 1.0, 5.0])
    own = rows or [0, 1, 2, 3, 4]

    is_finite, rules, memory, blocks = begun(
        gradient, hessian, weight, rows, len(own),
        reg_lambda=1.5, min_child_weight=3.0, min_split_gain=0.75,
    )  # fmt: skip

    weight, seen = weight * written_out, np.array(own, dtype=np.int32)
    g, g_scale = to_fixed_point(gradient, weight, seen)
    h, h_scale = to_fixed_point(hessian * written_out, weight, seen)
    assert is_finite
    assert_same(memory.listed[: len(own)], own)
    assert rules["count_bits"] == len(own).bit_length()
    assert blocks["g"].sum() == g[own].sum()
    assert blocks["h"].sum() == h[own].sum()
    assert blocks["magnitude"].sum() == np.abs(g[own]).sum()
    if one_hessian and one_weight:
        entries = g[:, None]
        assert rules["hessian"] == h[own[0]]
    else:
        entries = np.column_stack([g, h])
    assert_same(memory.entries.reshape(5, -1)[own], entries[own])
    if rows:  # the others take no part
        assert_same(memory.node, np.where(np.isin(range(5), own), 0, -1))
    assert (rules["g_scale"], rules["h_scale"]) == (g_scale, h_scale)
    assert rules["repeats"] == 1  # weights are whole
    assert (rules["penalty"], rules["min_hessian"]) == (1.5 * h_scale, 3.0 * h_scale)
    assert rules["least_gain"] == 0.75 * g_scale**2 / h_scale  # powers of two: exact


def test_a_number_for_all_rows_is_added_up_exactly():
    """Ten times .1 is 1, where .1 added ten times is less, and has twice the scale."""
    one, tenth, rows = np.ones(1), np.array([0.1]), np.arange(10, dtype=np.int32)
    integers, scale = to_fixed_point(one, tenth, rows, 10)
    assert scale == 2.0**60
    assert_same(integers, np.full(10, round(Fraction(0.1) * 2**60)))
    _, rules, _, _ = begun(np.arange(10.0), one, tenth, [], 10, reg_lambda=1.0)
    assert rules["penalty"] == scale
    assert rules["hessian"] == integers[0]


def test_a_tree_does_not_begin_where_a_sum_overflows():
    one, huge = np.ones(1), np.array([1e308, 1e308])
    assert not begun(huge, one, one, [], 2)[0]
    assert not begun(np.ones(2), huge, one, [], 2)[0]
    assert begun(huge, one, one, [1], 1)[0]
