"""Text that spells numbers becomes numbers where that is asked for, in every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from attributions.command.rules.columns import column_of
from gbt.tables import read_numbers
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor

NAN = float("nan")


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.5", " 2", "-3e2", "+.5"], [1.5, 2, -300, 0.5]),
        (["5,850", "12", "1,000,000.5"], [5850, 12, 1000000.5]),
        (["$100,000", "-$5", "$-5", "($12)", "$ 7.50"], [100000, -5, -5, -12, 7.5]),
        (["12 €", "3.5€"], [12, 3.5]),
        (["45%", "0.5 %", "-3%", ".5%", "1.%"], [45, 0.5, -3, 0.5, 1]),
        (["7", "", "n/a", "null", "?", None, " "], [7, NAN, NAN, NAN, NAN, NAN, NAN]),
        (["07030", "10001"], [7030, 10001]),
        (["\u22121.5", "2", "1e\u22123"], [-1.5, 2, 0.001]),
        (["\u2212$1,500", "$\u22122", "$3"], [-1500, -2, 3]),
    ],
)
def test_what_texts_say(texts, numbers):
    """By hand, and to the command as well."""
    read = read_numbers(pd.DataFrame({"a": texts}))
    assert read.a.dtype == float
    assert_same(read.a.to_numpy(), np.array(numbers))
    assert_same(column_of("a", pd.Series(texts, dtype=object)).numbers, read.a.to_numpy())


@pytest.mark.parametrize(
    "texts",
    [
        ["45%", "0.45"], ["$5", "£5"], ["5,85", "1"], ["(5", "1"], ["1_000", "2"], ["red", "2"],
        ["inf", "2"], ["05,850", "1"], ["1,2345", "12"], ["$007", "$1"], ["12a", "1"],
        ["10-20%", "5%"],
    ],
)  # fmt: skip
def test_what_is_no_number_stays_text_and_is_named_where_it_was_asked_for(texts):
    frame = pd.DataFrame({"a": texts, "b": ["1", "2"]})
    read = read_numbers(frame)
    assert read.a.tolist() == texts
    assert read.b.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"^Column 'a' holds .*, which is no number, or has"):
        read_numbers(frame, ["a"])
    assert_same(read_numbers(frame, ["b"]).b.to_numpy(), [1.0, 2.0])
    if "inf" not in texts:  # of which the command says how many there are
        assert column_of("a", frame.a).kind == "words"


WEARS = st.sampled_from(["{}", "{:,}", "${:,}", "{}%", "({})", "n/a", "red", "", "007"])


@given(st.lists(st.tuples(WEARS, st.integers(0, 10**6)), min_size=1, max_size=6))
def test_the_command_reads_the_same(cells):
    """It counts a few cells that are no numbers as missing where nearly all are; here none is."""
    texts = [form.format(number) for form, number in cells]
    column = column_of("a", pd.Series(texts))
    read = read_numbers(pd.DataFrame({"a": texts}, dtype=object))
    if read.a.dtype == float:
        assert column.kind == "numbers"
        assert_same(read.a.to_numpy(), column.numbers)
    else:
        assert column.kind != "numbers"


@pytest.mark.parametrize(
    "made",
    [
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).astype({"price": "category"}),
        pl.DataFrame,
        pa.table,
        lambda columns: np.array([*columns.values()], dtype=object).T,
        lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    ],
    ids=["pandas", "categories", "polars", "arrow", "array", "list"],
)
def test_tables_of_every_kind(made):
    table = made({"size": [1.0, 2.0, 3.0], "price": ["$1", "$2,000", "$3"], "c": ["u", "v", "u"]})
    read = read_numbers(table)
    same_kind = np.ndarray if isinstance(table, list) else type(table)
    assert isinstance(read, same_kind)
    y = np.arange(3.0)
    model = GreedyRegressor(n_estimators=2, min_child_weight=0).fit(read, y)
    by_hand = pd.DataFrame({"size": [1.0, 2.0, 3.0], "price": [1.0, 2000.0, 3.0], "c": [*"uvu"]})
    expected = GreedyRegressor(n_estimators=2, min_child_weight=0).fit(by_hand, y)
    assert model.ensemble_.categories == expected.ensemble_.categories
    assert_same(model.predict(read), expected.predict(by_hand))


def test_columns_are_chosen_by_name_or_index_and_tables_of_numbers_stay():
    frame = pd.DataFrame({"zip": ["07030", "10001"], "price": ["$1", "$2"], "n": [1, 2]})
    for columns in (["price"], [1], [-2]):
        read = read_numbers(frame, columns)
        assert read.zip.tolist() == ["07030", "10001"]
        assert read.price.tolist() == [1.0, 2.0]
    assert read_numbers(frame, [-3]).zip.tolist() == [7030.0, 10001.0]
    assert frame.price.tolist() == ["$1", "$2"]
    assert read_numbers(frame[["n"]], ["n"]).n.tolist() == [1, 2]
    X = np.ones((2, 2))
    assert read_numbers(X) is X
    for column, told in (("cost", "names 'cost'"), (3, "has column 3"), (-4, "has column -4")):
        with pytest.raises(ValueError, match=rf"^columns {told}[,;] "):
            read_numbers(frame, [column])


def test_the_warning_says_how_and_a_pipeline_does_it():
    rng = np.random.default_rng(0)
    amount = rng.uniform(1, 9999, 300).round(2)
    frame = pd.DataFrame({"price": [f"${a:,}" for a in amount]})
    with pytest.warns(UserWarning, match=r"gbt\.tables\.read_numbers\(X\) makes numbers of it"):
        GreedyRegressor(n_estimators=1).fit(frame, amount)
    pipe = make_pipeline(FunctionTransformer(read_numbers), GreedyRegressor())
    pipe.fit(frame[:200], amount[:200])
    assert pipe.score(frame[200:], amount[200:]) > 0.9
