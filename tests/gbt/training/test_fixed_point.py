"""Fixed point: sums without rounding, in units far below those of a float64 sum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.training.fixed_point import to_fixed_point


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
