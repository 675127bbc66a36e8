"""Fixed point: sums without rounding, in units far below those of a float64 sum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.fixed_point import scale_for, scales_for, to_fixed_point


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


@pytest.mark.large
@pytest.mark.parametrize("magnitude", [1e-12, 1e12])
def test_precision_of_ten_million_rows(magnitude):
    """The bound grows with the rows: for 1e7 it is 2^-37 sum|x|; that of float64 would be 2^-29."""
    n = 10_000_000
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


@pytest.mark.parametrize(
    ("x", "weight", "rows", "are_alike"),
    [
        ([2, 2, 2], [1, 1, 1], [0, 1, 2], True),
        ([2, 2, 3], [1, 1, 1], [0, 1, 2], False),
        ([2, 2, 2], [1, 1, 3], [0, 1, 2], False),  # histograms keep these hessians apart
        ([2, 9, 2], [3, 1, 3], [0, 2], True),  # the others do not matter
        ([0, 0, 0], [1, 2, 3], [0, 1, 2], False),
    ],
)
def test_rows_are_alike_if_their_numbers_and_their_weights_are(x, weight, rows, are_alike):
    gradient, hessian, weight = np.arange(1.0, 4.0), np.array(x, float), np.array(weight, float)
    g_scale, h_scale, repeats, of_all = scales_for(gradient, hessian, weight, np.array(rows))
    assert (of_all is not None) == are_alike
    if are_alike:
        assert of_all == hessian[rows[0]] * weight[rows[0]] * h_scale
    assert repeats
    assert (g_scale, repeats) == scale_for(gradient, weight, np.array(rows))
    assert (h_scale, repeats) == scale_for(hessian, weight, np.array(rows))
