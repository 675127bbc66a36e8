"""Cells become numbers; columns that say which row it is, or what another says, are found."""

import datetime
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.command.rules.columns import column_of, columns_of_date, reason_to_leave_out
from attributions.command.rules.twins import (
    LEAST_REPEATS,
    is_settled,
    places_of,
    say_the_same,
    twins,
)
from gbt.tables.spelled import is_blank
from tests.asserts import assert_close, assert_same

DAY = 86_400.0


def as_column(name, cells, **options):
    """Make a column of texts."""
    return column_of(name, pd.Series(cells), **options)


NAN, NINETEEN = np.nan, [str(k) for k in range(19)]


@pytest.mark.parametrize(
    ("cells", "numbers", "words", "strays"),
    [
        (["1", "2.5", "", "NA", "?", "-1e3", "None", "1"], [1, 2.5, *[NAN] * 3, -1e3, NAN, 1], (),
         ()),
        (["", ""], [NAN, NAN], (), ()),
        # Codes of words are in alphabetical order, those of a dictionary in that of its levels.
        (["red", "", "blue", "red", "none"], [2, NAN, 0, 2, 1], ("blue", "none", "red"), ()),
        (["1_2", "1_10"], [1, 0], ("1_10", "1_2"), ()),
        (pd.Categorical([" a", None, "b", "a "], ["unused", "b", " a", "a "]), [0, NAN, 1, 0],
         ("a", "b"), ()),
        # Infinities and a few words among many numbers count as missing.
        (["1", "inf", "-Infinity", "inf"], [1, NAN, NAN, NAN], (), (3, "inf")),
        ([*NINETEEN, "unknown"], [*range(19), NAN], (), (1, "unknown")),
    ],
)  # fmt: skip
def test_cells_are_numbers_or_words_and_strays_are_told(cells, numbers, words, strays):
    column = as_column("x", cells)
    assert_same(column.numbers, np.array(numbers, dtype=float))
    assert column.kind == ("words" if words else "numbers")
    assert column.words == words
    assert column.n_distinct == len({*column.numbers[~np.isnan(column.numbers)]})
    assert (column.n_strays, column.stray) == (strays or (0, ""))


def test_what_is_missing_and_what_makes_words():
    assert is_blank("None")
    assert not is_blank("none")
    assert (as_column("x", ["", ""]).example, as_column("x", [" a", "b"]).example) == ("", "a")
    # one word in nineteen is more than one in twenty
    assert as_column("x", [*NINETEEN[:18], "unknown"]).kind == "words"
    # few different numbers: 3+ is a class like 0, 1 and 2
    assert as_column("x", ["0", "1", "2"] * 20 + ["3+"]).kind == "words"


def test_decimal_commas():
    cells = ["1,5", "-2", "1.234,5", "", "1,5e3", "12.345.678"]
    column = as_column("x", cells, may_have_decimal_commas=True)
    assert_same(column.numbers, [1.5, -2.0, 1234.5, np.nan, 1500.0, 12_345_678.0])
    assert column.has_decimal_commas
    assert as_column("x", cells).kind == "words"
    typeset = as_column("x", ["\u22121,5", "2"], may_have_decimal_commas=True)
    assert_same(typeset.numbers, [-1.5, 2.0])
    points = as_column("x", ["1.5", "2"], may_have_decimal_commas=True)
    assert_same(points.numbers, [1.5, 2.0])
    assert not points.has_decimal_commas
    assert as_column("x", ["1,5", "12.34,5"], may_have_decimal_commas=True).kind == "words"


def test_codes_that_begin_with_0_are_words_unless_a_model_takes_numbers():
    codes = ["00501", "10001", "02134", "00501"]
    column = as_column("zip", codes, may_be_codes=True)
    assert (column.kind, column.words) == ("words", ("00501", "02134", "10001"))
    assert_same(as_column("zip", codes).numbers, [501.0, 10001.0, 2134.0, 501.0])
    for cells in (["01", "02", "12"], ["0.5", "0", "100"], ["0", "10", "200"]):
        assert as_column("month", cells, may_be_codes=True).kind == "numbers"


def test_a_comma_between_cells_or_in_them_is_read_as_before():
    """Of one digit group or three, where the file's commas are decimal marks."""
    column = as_column("x", ["5,850", "1,2"], may_have_decimal_commas=True)
    assert_same(column.numbers, [5.85, 1.2])
    assert (column.has_decimal_commas, column.dressed) == (True, "")
    column = as_column("x", ["7", "5.850"], may_have_decimal_commas=True, decimal=",")
    assert (column.has_decimal_commas, column.dressed) == (False, "5.850")
    assert as_column("x", ["1", "2.5"]).dressed == ""


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["1970-01-02", "1970-02-01"], [1, 31]),
        (["1970-01-02 12:00:00", "1970-01-02T18:00"], [1.5, 1.75]),
        (["1970-01-02T00:00:00Z", "1970-01-02T00:00:00-12:00"], [1, 1.5]),
        (["1970-01", "1970-02"], [0, 31]),
        (["1970/01/02", "1970/02/01"], [1, 31]),
        (["02.01.1970", "01.02.1970"], [1, 31]),
        (["02.01.1970 06:00", "01.02.1970 12:00"], [1.25, 31.5]),
        (["01/02/1970", "02/01/1970"], [1, 31]),  # month first, where both can be
        (["13/01/1970", "01/02/1970"], [12, 31]),
        (["1/2/70 6:00 PM", "2/1/70 12:00 PM"], [1.75, 31.5]),
        (["02-Jan-1970", "1-Feb-1970"], [1, 31]),
        (["Jan 2, 1970", "February 1, 1970"], None),
        (["January 2, 1970", "February 1, 1970"], [1, 31]),
        (["1970-01-02", "soon"], None),
        (["100-500", "50-99"], None),
        (["1.2.3", "1.10.1"], None),
        (["v10", "v11"], None),
    ],
)
def test_dates(cells, days):
    column = as_column("x", [*cells, ""])
    if days is None:
        assert column.kind == "words"
    else:
        assert column.kind == "dates"
        assert_same(column.numbers, [*np.multiply(days, DAY), np.nan])


def test_parts_of_dates():
    texts = ["1969-12-31 12:00", "2024-02-29 23:59", "", "2023-05-01"]
    year, month, weekday, hour, days = columns_of_date(as_column("on", texts), is_in_order=False)
    assert [c.name for c in (year, days)] == ["on: year", "on: days since the first"]
    assert_same(year.numbers, [1969, 2024, np.nan, 2023])
    assert_same(month.numbers, [12, 2, np.nan, 5])
    assert_close(hour.numbers[[0, 1, 3]], [12, 23 + 59 / 60, 0], 24.0)
    words = [weekday.words[int(k)] for k in weekday.numbers[[0, 1, 3]]]
    assert words == [f"{datetime.date.fromisoformat(texts[k][:10]):%A}" for k in (0, 1, 3)]
    since = [
        (datetime.date.fromisoformat(t[:10]) - datetime.date(1969, 12, 31)).days
        for t in (texts[1], texts[3])
    ]
    assert_same(days.numbers, [0, since[0], np.nan, since[1]])
    in_order = columns_of_date(as_column("on", texts), is_in_order=True)
    assert [c.name for c in in_order] == ["on: month", "on: weekday", "on: hour"]
    assert columns_of_date(as_column("on", ["2024-01-01"] * 3), is_in_order=False) == []


def test_dates_do_not_depend_on_where_the_computer_stands(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert_same(as_column("x", ["1970-01-02", "1970-02-01"]).numbers, [DAY, 31 * DAY])
    finally:
        monkeypatch.undo()
        time.tzset()


RNG = np.random.default_rng(0)
SHUFFLED = [str(k) for k in RNG.permutation(1000)]
GAPS = [str(k) for k in 7 * RNG.permutation(1000)]


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("Unnamed: 0", ["0", "1", "0"], "no name"),
        ("Unnamed: 0.1", ["0", "1", "0"], "no name"),
        ("__index_level_0__", ["a", "b"], "no name"),
        ("when", ["2020-01-31", "2020-02-01", "2020-02-01"], "dates such as '2020-01-31'"),
        ("who", ["Ann", "Bo", "Ann", "Cy"], "3 different words in 4 rows, such as 'Ann'"),
        ("row", SHUFFLED, "every number once, without a gap"),
        ("row", [f"{cell}.0" for cell in SHUFFLED], "every number once, without a gap"),
        ("row", ["1", "2", "5"], "rises from row to row"),
        ("row", ["9", "7", "1"], "falls from row to row"),
        ("id", GAPS, "1,000 different numbers in 1,000 rows and 'id' in the name"),
        ("CustomerID", GAPS, "1,000 different numbers in 1,000 rows and 'ID' in the name"),
        ("customer_id", [*GAPS[1:], ""], "999 different numbers in 999 rows and 'id' in the name"),
        ("PassengerId", [*GAPS[1:], GAPS[1]], "999 different numbers in 1,000 rows and 'Id' in"),
    ],
)
def test_columns_that_say_which_row_it_is(name, cells, reason):
    assert reason_to_leave_out(as_column(name, cells)).startswith(reason)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("x", [str(x) for x in RNG.normal(size=1000)]),
        ("x", [str(x) for x in np.sort(RNG.normal(size=1000))]),
        ("id", [str(x) for x in RNG.normal(size=1000)]),
        ("income", GAPS),
        ("paid", GAPS),  # 'id' is a part of this word, not a word of this name
        ("humidity", GAPS),
        ("mgr_id", [str(k) for k in RNG.integers(100, size=1000)]),
        ("row", [*SHUFFLED[1:], SHUFFLED[1]]),
        ("row", [*SHUFFLED[1:], ""]),
        ("size", ["1", "1", "2", "3"]),
        ("one value", ["1", "1"]),
        ("one row", ["1"]),
        ("one word", ["a"]),
        ("word", ["a", "b", "a", "b"]),
        ("nothing", ["", ""]),
        ("Unnamed: 1st", ["a", "b", "a", "b"]),
    ],
)
def test_columns_that_may_be_features(name, cells):
    assert reason_to_leave_out(as_column(name, cells)) == ""


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
