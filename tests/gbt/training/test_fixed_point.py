"""Fixed point: sums without rounding, in units far below those of a float64 sum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.reference import boosting as page
from gbt.training.fixed_point import to_fixed_point

WEIGHTS = ([1.0], [0.0, 1.0, 2.0, 3.0], [0.3], [1e12, 0.5], [256.0], [257.0])


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=50), st.sampled_from(WEIGHTS))
def test_integers_are_those_of_the_page(numbers, weights):
    """There they are the nearest ones, and whole weights are repeated rows."""
    x, weight = np.array(numbers), np.resize(weights, len(numbers))
    integers, scale = to_fixed_point(x, weight)
    assert (integers.tolist(), scale) == page.to_fixed_point(x, weight)


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


def test_the_smallest_numbers_there_are():
    integers, scale = to_fixed_point(np.array([5e-324, -1e-323]), np.ones(2))
    assert scale == 2.0**1000
    np.testing.assert_array_equal(integers, [0, 0])
