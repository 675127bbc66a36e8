"""Correctly rounded sums, against Python's ``math.fsum`` and against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gbt.kernels.platform.compiling import internal
from gbt.kernels.rows.sums import NOTHING, add_to_partials, merged, nearest, plus, sum_of_partials
from gbt.losses.loss import mean
from gbt.losses.sums import exact_sum, exact_sums
from tests.compiled import entry_to

pytestmark = pytest.mark.kernels

FINITE = st.floats(-1e300, 1e300)
# Numbers whose sums are halfway between two float64 numbers, or beside the middle.
NEAR_TIES = st.sampled_from([1.0, -1.0, 3.0, 2.0**-53, -(2.0**-53), 2.0**-54, 2.0**-106, 2.0**53])


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([], 0.0),
        ([-0.0], 0.0),
        ([1.0, 2.0**-53], 1.0),  # halfway: to the even number
        ([1.0, 2.0**-53, 2.0**-106], 1.0 + 2.0**-52),  # beyond the middle
        ([1.0, 2.0**-53, -(2.0**-106)], 1.0),
        ([1e16, 1.0, -1e16], 1.0),
        ([2.0**-1074] * 3, 3 * 2.0**-1074),
    ],
)
def test_by_hand(numbers, expected):
    for x in (np.array(numbers), np.array(numbers[::-1])):
        assert exact_sum(x) == expected


@entry_to
@internal
def add_in_partials(x, partials):
    n = np.int64(0)
    for i in range(len(x)):
        n = add_to_partials(x[i], partials, np.int64(0), n)
    return sum_of_partials(partials, np.int64(0), n)


@given(st.lists(FINITE | NEAR_TIES, max_size=30) | st.lists(NEAR_TIES, max_size=12))
# Of tiny numbers, half a unit and a little more or less: products would vanish, signs decide.
@example([2.0**-550, 2.0**-603, 2.0**-660])
@example([2.0**-550, 2.0**-603, -(2.0**-660)])
def test_sums_are_those_of_fsum(numbers):
    x, expected = np.array(numbers), math.fsum(numbers)
    assert exact_sum(x) == expected
    if numbers:
        assert add_in_partials(x, np.empty(len(x))) == expected


@entry_to
@internal
def add_in_parts(x, stops):
    total, start = NOTHING, np.int64(0)
    for stop in stops:
        part = NOTHING
        for i in range(start, stop):
            part = plus(part, x[i])
        total, start = merged(total, part), stop
    return nearest(total, len(x) + 2 * len(stops))


@given(st.lists(FINITE | NEAR_TIES, min_size=1, max_size=30), st.data())
def test_what_is_certain_is_so(numbers, data):
    middle = data.draw(st.integers(0, len(numbers)))
    rounded, is_certain = add_in_parts(np.array(numbers), np.array([middle, len(numbers)]))
    if is_certain:
        assert Fraction(rounded) == Fraction(math.fsum(numbers))


# 2^40 is lost beside 2^100, half its unit is lost beside it, and what decides is lost beside both.
DOUBTFUL = [2.0**100, 2.0**40, 2.0**-13, 2.0**-30, -(2.0**100)]


@pytest.mark.parametrize(
    ("numbers", "stops"),
    [
        (DOUBTFUL, [4, 5]),  # the first part has lost it
        (DOUBTFUL[-1:] + DOUBTFUL[:-1], [1, 5]),  # the second part
        (DOUBTFUL, [1, 2, 3, 4, 5]),  # adding up the parts
        # Adding up the parts has lost 2^40, and the third part another 2^40.
        (
            [*DOUBTFUL[:2], 2.0**100, 2.0**40, -(2.0**100), 2.0**-12, 2.0**-29, DOUBTFUL[-1]],
            [1, 2, 5, 6, 7, 8],
        ),
    ],
)
def test_what_parts_have_lost_counts(numbers, stops):
    rounded, is_certain = add_in_parts(np.array(numbers), np.array(stops))
    assert math.fsum(numbers) == np.nextafter(rounded, np.inf)
    assert not is_certain


def test_what_is_not_finite():
    with np.errstate(over="ignore"):
        assert exact_sum(np.array([1e308, 1e308])) == np.inf
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        exact_sum(np.array([1e308, 1e308]))
    assert np.isnan(exact_sum(np.array([1.0, np.nan])))


@given(st.lists(st.tuples(FINITE, st.floats(0.01, 100)), min_size=1, max_size=20), st.randoms())
def test_means_have_no_order(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    (y, w), (z, v) = np.array(pairs).T, np.array(shuffled).T
    is_one = len({*y}) == 1  # of which a quotient may be another number
    assert mean(y, w) == mean(z, v) == (y[0] if is_one else math.fsum(w * y) / math.fsum(w))
    assert mean(y, None) == mean(z, np.ones(1)) == (y[0] if is_one else math.fsum(y) / len(y))


@given(st.lists(st.tuples(st.integers(0, 3), FINITE | NEAR_TIES), max_size=30))
def test_sums_by_place(pairs):
    place, x = np.array([p for p, _ in pairs], dtype=np.int64), np.array([v for _, v in pairs])
    expected = [math.fsum(v for p, v in pairs if p == t) for t in range(5)]
    assert exact_sums(place, x, 5).tolist() == expected


def test_sums_of_more_rows_than_are_added_at_once():
    size = 10.0 ** np.linspace(-50, 50, 100_001)
    x = np.random.default_rng(0).normal(size=len(size)) * size
    assert exact_sum(x) == math.fsum(x)
