"""Levels and their numbers are those that looking at one value after the other finds."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gbt.tables.categories import MOST_LEVELS, encode, learn
from gbt.tables.table import Table
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = [np.dtype(name) for name in ("bool", "float16", "float32", "float64", *INTEGERS)]
NAN, INF = math.nan, math.inf


def in_plain_loops(values, levels=None):
    """Return levels, those given or else those of the values, and the values as their numbers."""
    own = [None if v != v else v if isinstance(v, bool) else int(v) for v in values]
    if levels is None:
        levels = tuple(sorted({v for v in own if v is not None}))
    return levels, np.array([levels.index(v) if v in levels else NAN for v in own])


@st.composite
def columns(draw, dtype):
    """Draw whole numbers, near each other or far, some of them at the ends of their type."""
    start = draw(st.sampled_from([0, -5, 250, 2**11 - 4, 2**24 - 4, -(2**53) - 4, 2**63 - 4]))
    steps = st.integers(0, draw(st.sampled_from([1, 9, 300, 2**70])))
    values = [start + step for step in draw(st.lists(steps, max_size=40))]
    if dtype.kind == "b":
        return np.array([value % 2 for value in values], dtype=dtype)
    of_type = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    values = [min(max(value, int(of_type.min)), int(of_type.max)) for value in values]
    if dtype.kind == "f":
        factor = st.sampled_from([1.0, 1.0, -1.0, -0.0, NAN])
        values = [value * draw(factor) for value in values]
    return np.array(values, dtype=dtype)


def tables_of(column):
    """Yield tables whose first column this is."""
    yield column[:, None]
    yield np.column_stack([column, column])
    yield column[:, None].astype(object)
    yield pd.DataFrame({"c": column})
    if column.dtype != np.float16:  # pandas has no categories of these
        categories = pd.Series(column).astype("category")
        yield pd.DataFrame({"c": categories})
        other_order = categories.cat.categories[::-1]
        yield pd.DataFrame({"c": categories.cat.reorder_categories(other_order)})


@given(st.sampled_from(DTYPES).flatmap(lambda dtype: st.tuples(columns(dtype), columns(dtype))))
@example((np.array([-128, 127, 5] * 90, dtype=np.int8), np.array([-127, 5, -1], dtype=np.int8)))
@example((np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), np.array([2**63], dtype=np.uint64)))
@example((np.array([1e300, -1e300, 7.0, -0.0, 0.0, NAN]), np.array([1e300, 1e299, NAN])))
@example((np.full(3, 1e300), np.full(3, -1e300)))
@example((np.array([True, False, True]), np.array([True, True])))
@example((np.full(3, NAN), np.empty(0)))
def test_numbers_are_looked_up_as_in_plain_loops(drawn):
    column, later = drawn
    levels, numbers = in_plain_loops(column.tolist())
    for table in tables_of(column):
        categories, encoded = learn(Table(table), [0], ["c", "d"][: table.shape[1]])
        assert categories[0] == levels
        assert [*map(type, categories[0])] == [*map(type, levels)]
        assert_same(np.asarray(encoded.given, dtype=float)[:, 0], numbers)
    _, numbers = in_plain_loops(later.tolist(), levels)
    for table in tables_of(later):
        n = table.shape[1]
        encoded = encode(Table(table), (levels, None)[:n], ["c", "d"][:n])
        assert_same(np.asarray(encoded.given, dtype=float)[:, 0], numbers)


WORDS = ["", "a", "b", "1", "True", None, NAN, pd.NA, pd.NaT, np.str_("a")]


@given(st.lists(st.sampled_from(WORDS)))
def test_words_are_looked_up_as_in_plain_loops(values):
    own = [str(value) if isinstance(value, str) else None for value in values]
    levels = tuple(sorted({value for value in own if value is not None}))
    numbers = [NAN if value is None else levels.index(value) for value in own]
    column = pd.Series(values, dtype=object)
    for table in (column.to_frame("c"), column.to_numpy()[:, None]):
        categories, encoded = learn(Table(table), ["c"], ["c"])
        assert categories == (levels,)
        assert_same(np.asarray(encoded.given, dtype=float)[:, 0], np.array(numbers, dtype=float))


@pytest.mark.parametrize("values", [[1.0, True], [False, 0, NAN], [0.0, "0", None]])
def test_values_of_two_kinds_that_are_one_to_a_dict_are_refused(values):
    column = np.array(values, dtype=object)[:, None]
    with pytest.raises(ValueError, match=r"'c' is categorical and holds .* such as .* and "):
        learn(Table(column), [0], ["c"])


def test_words_in_place_of_booleans_are_not_to_be_made_true():
    column = np.array([["False"], ["True"]])
    with pytest.raises(ValueError, match=r"with map\({'False': False, 'True': True}\)\.$"):
        encode(Table(column), ((False, True),), ["c"])
    with pytest.raises(ValueError, match=r"with astype\(bool\)\.$"):
        encode(Table(np.array([[0], [1]])), ((False, True),), ["c"])


def test_numbers_of_other_types_are_levels():
    values = [Decimal(1), Fraction(4, 2), 10**400, np.int64(3), None, 1.0]
    categories, encoded = learn(Table(np.array(values, dtype=object)[:, None]), [0], ["c"])
    assert categories == ((1, 2, 3, 10**400),)
    assert_same(np.asarray(encoded.given, dtype=float)[:, 0], np.array([0, 1, 3, 2, NAN, 0]))


@pytest.mark.parametrize("value", [Decimal("1.5"), Decimal("inf"), Fraction(1, 2), 1j])
def test_a_number_of_another_type_that_is_not_whole_is_named(value):
    column = np.array([1, value], dtype=object)[:, None]
    with pytest.raises(ValueError, match=rf"holds {re.escape(repr(value))}: levels .* be whole"):
        learn(Table(column), [0], ["c"])


@pytest.mark.parametrize(
    ("values", "dtype", "shown"),
    [
        ([3, 2.5, 0.5, NAN], float, "0.5"),
        ([1, 1, 2, 0.1], np.float32, "0.10000000149011612"),
        ([5, INF, -INF, 0.5], float, "-inf"),
        ([5, INF, NAN, 1e300], float, "inf"),
        ([7, NAN, 1e-300], float, "1e-300"),
    ],
)
def test_the_least_number_that_is_not_whole_is_named(values, dtype, shown):
    column = np.array(values, dtype=dtype)[:, None]
    for table in (column, pd.DataFrame(column)):
        with pytest.raises(ValueError, match=f"'c' is declared categorical and holds {shown}: "):
            learn(Table(table), [0], ["c"])
        with pytest.raises(ValueError, match=f"'x0' is declared categorical and holds {shown}: "):
            encode(Table(table), ((1, 2),), ["x0"])


def test_levels_are_counted_whether_numbers_or_words():
    words = np.array([[f"w{i}"] for i in range(MOST_LEVELS + 1)])
    with pytest.raises(ValueError, match=r"'c' has 65,537 levels; at most 65,536 are allowed"):
        learn(Table(words), [0], ["c"])
    for step in (1, 1_000):  # near each other and far
        column = np.arange(0, MOST_LEVELS * step, step, dtype=np.float64)[:, None]
        assert learn(Table(column), [0], ["c"])[0] == (tuple(range(0, MOST_LEVELS * step, step)),)
        with pytest.raises(ValueError, match=r"'c' has 65,537 levels; at most 65,536 are allowed"):
            learn(Table(np.append(column, [[-step]], axis=0)), [0], ["c"])


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32])
def test_values_under_a_mask_are_no_levels(dtype):
    table, y = np.array([[1, 0], [0, 1], [9, 2], [0, 3]] * 5), np.arange(20.0)
    masked = np.ma.array(table.astype(dtype), mask=table == 9)
    missing = np.where(table == 9, np.nan, table.astype(dtype))
    models = [GreedyRegressor(3, categorical_features=[0]).fit(X, y) for X in (masked, missing)]
    assert [model.ensemble_.categories for model in models] == [((0, 1), None)] * 2
    assert_same(models[0].predict(masked), models[1].predict(missing))


@pytest.mark.parametrize(
    "spelled",
    [
        "{:.2f}".format,
        lambda v: f"{int(1e5 * v):,}",
        lambda v: f"${v:.3f}",
        lambda v: f"{100 * v:.0f}%",
        lambda v: f" {v:.2f} ",
    ],
    ids=["decimals", "commas", "dollars", "per cent", "blanks"],
)
def test_text_that_spells_quantities_gives_a_warning(spelled):
    frame = pd.DataFrame({"price": [spelled(v) for v in np.linspace(-3, 3, 60)], "size": 1.0})
    with pytest.warns(UserWarning, match=r"Column 'price' holds text .* words are taken") as caught:
        GreedyRegressor(n_estimators=1).fit(frame, np.arange(60.0))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "word", ["{:05d}".format, "id {}.5".format, "{}.0.1".format, lambda i: f"{i % 9}.5"]
)
@pytest.mark.filterwarnings("error")
def test_names_that_hold_digits_give_none(word):
    """Codes, words with a number, versions, and a few sizes."""
    frame = pd.DataFrame({"name": [word(i) for i in range(60)]})
    GreedyRegressor(n_estimators=1).fit(frame, np.arange(60.0))


@pytest.mark.filterwarnings("error")
def test_quantities_that_are_named_as_categories_give_none():
    frame = pd.DataFrame({"size": [f"{i / 2}" for i in range(60)]})
    model = GreedyRegressor(1, categorical_features=["size"]).fit(frame, np.arange(60.0))
    assert len(model.ensemble_.categories[0]) == 60
