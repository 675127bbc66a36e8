"""Columns that say what another one says, against their definition over pairs of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.command.rules.twins import (
    LEAST_REPEATS,
    is_settled,
    places_of,
    say_the_same,
    twins,
)


def settles_by_pairs(by, column):
    """Say whether no two rows agree in ``by`` and differ in ``column``."""
    n = len(column)
    return not any(by[i] == by[j] and column[i] != column[j] for i in range(n) for j in range(i))


@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from(["same", "settled", "other"]))
def test_they_say_the_same_if_they_tell_the_same_rows_apart(seed, n_levels, kind):
    rng = np.random.default_rng(seed)
    by = places_of(rng.integers(n_levels, size=40))
    column = {
        "same": rng.permutation(n_levels)[by],
        "settled": rng.integers(2, size=n_levels)[by],
        "other": rng.integers(n_levels, size=40),
    }[kind]
    column = places_of(column)
    expected = settles_by_pairs(by, column) and settles_by_pairs(column, by)
    assert say_the_same(column, by) == say_the_same(by, column) == expected
    if is_settled(column, by):
        assert settles_by_pairs(by, column)
        assert not settles_by_pairs(column, by)


def test_a_region_is_settled_by_the_city():
    cities = np.arange(400) % 20
    regions = np.array([0, 1, 2, 3] * 5)[cities]
    assert is_settled(places_of(regions), places_of(cities))
    assert not is_settled(places_of(cities), places_of(regions))
    regions[-1] = (regions[-1] + 1) % 4  # beyond the rows that are looked at first
    assert not is_settled(places_of(regions), places_of(cities))


def test_what_shows_in_few_rows_is_no_proof():
    by = np.repeat(np.arange(200), 2)
    for n_levels in (
        LEAST_REPEATS - 1,
        LEAST_REPEATS,
    ):  # of two rows each, that hold the rare value
        column = np.zeros(400)
        column[: 2 * n_levels] = 1
        assert is_settled(places_of(column), places_of(by)) == (n_levels == LEAST_REPEATS)


def test_columns_that_differ_in_every_row_settle_nothing():
    rng = np.random.default_rng(0)
    x, classes = rng.normal(size=300), rng.integers(3, size=300)
    assert not is_settled(places_of(classes), places_of(x))
    assert not say_the_same(places_of(rng.normal(size=300)), places_of(x))
    assert say_the_same(places_of(-np.exp(x)), places_of(x))


@pytest.mark.parametrize(
    ("is_used", "expected"),
    [
        ([True, False, False, False], {1: 0, 2: 0}),  # a code, and what the city settles
        ([False, False, True, False], {}),  # a region settles no city
        ([True, True, True, False], {1: 0}),  # used, and settled: not the same
        ([True, True, False, True], {1: 0, 2: 0}),
    ],
)
def test_twins_of_used_columns_are_named(is_used, expected):
    rng = np.random.default_rng(1)
    city = rng.integers(12, size=300)
    columns = city, rng.permutation(12)[city], city // 4, np.zeros(300)
    assert twins([places_of(c) for c in columns], np.array(is_used)) == expected


def test_missing_is_a_value():
    one = np.array([1.0, np.nan, 2.0] * 20)
    assert say_the_same(places_of(one), places_of(np.array([5.0, 7.0, 6.0] * 20)))
    assert not say_the_same(places_of(one), places_of(np.array([5.0, 6.0, 6.0] * 20)))
