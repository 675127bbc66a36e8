"""A table becomes a task: what its target is taken for, which columns it keeps, how rows split."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.command.judging.of_model import task_of_model
from attributions.command.question import Question
from attributions.command.rules.columns import column_of
from attributions.command.rules.target import read_target
from attributions.command.table.file import TableFile, read_table
from attributions.command.table.halves import random_halves
from attributions.command.table.task import read_columns, table_task
from attributions.command.unusable import UnusableTableError
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor


def target(cells, **options):
    return read_target(column_of("y", pd.Series(cells)), Question("y", **options))


def many(*cells):
    """Repeat cells, so that they are no identifiers."""
    return [*cells] * 20


NAN = np.nan
FIFTY = [f"{k}" for k in range(50)]


def counted(*counts):
    """Return the numbers from 0 on, so many of each."""
    return np.repeat(range(len(counts)), counts).astype(str)


@pytest.mark.parametrize(
    ("cells", "classes", "y", "said"),
    [
        (many("no", "yes"), (), [0, 1], "'yes' (50.0 % of rows) against 'no', because it holds 2"),
        (many("yes", "no", "no", ""), (), [1, 0, 0, NAN], "'yes' (33.3 % of rows)"),
        (many("0", "1"), (), [0, 1], "'1' (50.0 % of rows) against '0', because it holds 2 differ"),
        (many("2", "10"), (), [0, 1], "'10' (50.0 % of rows) against '2'"),
        (many("1.5", "2.5"), (), [0, 1], "'2.5' (50.0 % of rows) against '1.5'"),
        (many("1", "1.0", "0"), (), [1, 1, 0], "'1' (66.7 % of rows) against '0'"),
        # many whole numbers, and fractions
        (many(*FIFTY[1:12]), None, [*range(1, 12)], "because it holds 11 different numbers. (The"),
        (many("1", "2", "2.5"), None, [1, 2, 2.5], "regression of 'y', because it holds 3 differ"),
        # more than two
        (many("1", "2", "3", ""), ("1", "2", "3"), [0, 1, 2, NAN], "3 classes, the largest"),
        (many("3.0", "1.0", "2.0"), ("1", "2", "3"), [2, 0, 1], "--task says otherwise"),
        (many(*FIFTY[1:11]), tuple(FIFTY[1:11]), [*range(10)], "10 classes, the largest"),
        ([*many("b", "a", "c"), "c"], ("a", "b", "c"), None, "the largest 'c' (34.4 % of rows)"),
        (many(*[f"w{k}" for k in range(30)]), None, None, "30 classes"),
        # a class of one row
        ([*many("a", "b", "d"), "c"], ("a", "b", "d"), [*[0, 1, 2] * 20, NAN], "'c' is in one row"),
        ([*many("a", "b"), "c"], (), [*[0, 1] * 20, NAN], "in both halves: this row is left out."),
        # counts have a thin tail, and numbered classes have none
        (counted(300, 150, 80, 30, 8, 2, 1), None, None, "regression"),
        (counted(100, 90, 110, 100), None, None, "4 classes"),  # digits
        (counted(700, 70, 150, 25, 20), None, None, "5 classes"),  # grades of a disease
        (counted(300, 200, 100), None, None, "3 classes"),
        (counted(100, 50, 20, 20), None, None, "4 classes"),
    ],
)
def test_what_a_target_is_taken_for(cells, classes, y, said):
    found = target(cells)
    assert found.description.startswith("Task: ")
    assert said in found.description
    assert "The rule: words, two different values, and whole numbers of which at most 10 are" in (
        found.description
    )
    assert found.is_classification == ("classification" in found.description)
    if classes is not None:
        assert found.classes == classes
    if y is not None:
        assert_same(found.y, np.array(y * (len(cells) // len(y)), dtype=np.float64))


@pytest.mark.parametrize(
    ("cells", "asked", "classes", "y", "said"),
    [
        (many("1", "2", "3"), {"task": "regression"}, (), [1, 2, 3], "regression of 'y', as asked"),
        (many("0", "1"), {"task": "regression"}, (), [0, 1], "regression of 'y'"),
        (many("0", "1"), {"task": "classification"}, (), [0, 1], "classification of 'y'"),
        (many(*FIFTY), {"task": "classification"}, tuple(FIFTY), None, "50 classes"),
        (many("b", "c"), {"classes": ["a", "b", "c"]}, ("a", "b", "c"), [1, 2], ""),
        (many("2", "0"), {"classes": ["0", "1", "2"]}, ("0", "1", "2"), [2, 0], ""),
        (
            many("1", "2", "3", ""),
            {"positive": "2"},
            (),
            [0, 1, 0, NAN],
            "'2' (33.3 % of rows) against the other 2 classes, as asked for.",
        ),
        (many("1", "2", "3", ""), {"positive": "2.0"}, (), [0, 1, 0, NAN], "'2' (33.3 % of rows)"),
        (["yes", "no"], {"positive": "no"}, (), [0, 1], "'no' (50.0 % of rows) against 'yes'"),
        (FIFTY, {"positive": "49"}, (), [0] * 49 + [1], "against the other 49 classes"),
    ],
)
def test_what_is_asked_for_is_heeded(cells, asked, classes, y, said):
    found = target(cells, **asked)
    assert found.classes == classes
    assert said in found.description
    if y is not None:
        assert_same(found.y, np.array(y * (len(cells) // len(y)), dtype=np.float64))


CLASSIFICATION = {"task": "classification"}


@pytest.mark.parametrize(
    ("cells", "asked", "why"),
    [
        (["5", "5.0"], {}, "one value alone, '5'"),
        (["", "NA"], {}, "holds no value"),
        (["2020-01-01", "2020-01-02"], {}, "holds dates such as '2020-01-01'.* the days until"),
        ([*FIFTY, "many"], {}, "numbers, and 1 times something else, such as 'many'"),
        (["1", "2", "inf"], {}, "1 times something else, such as 'inf'"),
        (["1e101", "0", "0.5"], {}, r"ranges from 0 to 1e\+101, and its squares do not fit"),
        (["0", "1e-101", "2e-101"], {}, "ranges from 0 to 2e-101, and its squares do not fit"),
        (many(*FIFTY, "50"), CLASSIFICATION, "51 classes.*At most 50 .*, --task regression"),
        (
            many(*[f"w{k}" for k in range(51)]),
            CLASSIFICATION,
            r"51 classes.* choose --positive LABEL, [^,]* rest\.",
        ),
        (["-1", "0", "5"], {"task": "counts"}, "holds -1, and counts are not negative; give --"),
        (["yes", "no"], {"task": "regression"}, "words such as 'yes', and a regression needs numb"),
        (many("a", "d"), {"classes": ["a", "b"]}, "holds 'd', and the model's classes are 'a', '"),
        (["yes", "no"], {"positive": "Yes"}, r"holds no 'Yes', .*; did you mean 'yes'"),
        (["1", "2"], {"positive": "7.0"}, r"holds no '7', .*; it holds '1', '2'"),
    ],
)
def test_targets_that_cannot_be_predicted(cells, asked, why):
    with pytest.raises(UnusableTableError, match=why):
        target(cells, **asked)


def test_classes_are_shared_out_equally():
    y = np.repeat([0.0, 1.0], [971, 29])  # sorted by the target
    train, valid = random_halves(y, True, seed=0)
    assert_same(np.sort([*train, *valid]), np.arange(1000))
    assert {y[train].sum(), y[valid].sum()} == {14.0, 15.0}
    assert_same(len(train), 500)
    assert_same(train, np.sort(train))


@pytest.mark.parametrize("is_classification", [False, True])
def test_rows_are_shuffled_before_they_are_split(is_classification):
    y = np.arange(1000.0) >= 500 if is_classification else np.arange(1000.0)
    train, valid = random_halves(y, is_classification, seed=0)
    for half in (train, valid):
        # of each quarter of the file about half: 125 +- 5 * sqrt(250 / 4)
        counts = np.histogram(half, bins=[0, 250, 500, 750, 1000])[0]
        assert (np.abs(counts - 125) < 40).all()
    assert np.ptp(np.diff(train)) > 0
    other, _ = random_halves(y, is_classification, seed=1)
    assert not np.array_equal(train, other)
    assert_same(train, random_halves(y, is_classification, seed=0)[0])


N = 40
TABLE = {
    "Unnamed: 0": [str(k) for k in range(N)],
    "size": [f"{k % 7},5" for k in range(N)],
    "day": [f"{k + 1}.01.2020" if k < 28 else "" for k in range(N)],
    "color": many("red", "blue"),
    "age": [*map(str, range(20, 20 + N - 2)), "old", "20"],
    "y": many("no", "yes", "yes", "")[:N],
}


def task(table=TABLE, decimal_commas=True, encoding="UTF-8", comments=(), **question):
    cells = {name: pd.Series(column) for name, column in table.items()}
    file = TableFile(Path("t.csv"), cells, f"{encoding}, semicolons", decimal_commas, comments)
    return task_of(file, **question)


def task_of(file, **asked):
    question = Question("y", **asked)
    return table_task(file, question, *read_columns(file, question))


def text(of):
    return " ".join(of.description)


def test_columns_are_features_or_left_out_and_both_are_told():
    found = task()
    made = ("day: weekday", "day: days since the first")  # all of January 2020
    assert found.feature_names == ("size", *made, "color", "age")
    said = text(found)
    assert "t.csv: 40 rows, 6 columns (read as UTF-8, semicolons)." in said
    assert "Rows: 15 to train on and 15 held out, at random (seed 0), with the same share" in said
    assert "; 10 without a target are left out." in said
    assert "Decimal commas were read in: size." in said
    assert "age: cells that are no finite numbers count as missing (1, such as 'old')." in said
    assert "in 2 of 5 features, with so many different words: day: weekday (7), color (2)" in said
    assert "Left out: Unnamed: 0 (no name); day (dates such as '1.01.2020', of which" in said
    assert "features were made: weekday, days since the first). --keep NAME takes a" in said
    assert "(The rule: a column is left out if it has no name; if it holds dates, in whose" in said
    assert "Windows-1252" not in said
    assert "so Windows-1252 was assumed" in text(task(encoding="Windows-1252"))
    assert "begin with # are comments" not in said
    assert "begin with # are comments (2, such as '# by X')." in text(
        task(comments=("# by X", "#"))
    )


def test_numbers_in_other_clothes_are_features_and_targets():
    prices = [f"${k % 9 + 1},{k % 7}50" for k in range(N)]
    amounts = [f"{k % 11 + 1},000" for k in range(N)]
    found = task({"price": prices, "y": amounts}, decimal_commas=False)
    assert not found.is_classification
    assert set(found.y_train) <= {1000.0 * k for k in range(1, 12)}
    assert (
        "between their signs and marks of thousands in: price (such as '$1,050'), y (such"
        in text(found)
    )


def test_columns_are_kept_and_dropped_on_request():
    found = task(keep=["day", "age"], drop=["size", "color"])
    assert found.feature_names == ("day", "age")
    said = text(found)
    assert "Dates became seconds since 1970: day." in said
    assert "Left out, as asked for: size, color." in said
    assert "Left out: Unnamed: 0 (no name). --keep" in said
    only = task(keep=["day", "Unnamed: 0"], drop=["color"])
    assert "The rule: a column" not in text(only)


def test_dates_are_taken_apart_unless_told_otherwise():
    whole = task(no_dates=True)
    assert whole.feature_names == ("size", "color", "age")
    assert "day (dates such as '1.01.2020'). --keep NAME" in text(whole)
    assert task(drop=["day: weekday"]).feature_names[1:3] == ("day: days since the first", "color")
    assert task(drop=["day"]).feature_names == ("size", "color", "age")
    later = task(time="day")  # a day that comes later has never come before
    assert later.feature_names == ("size", "day: weekday", "color", "age")
    weekday = later.features[1]
    first_of_2020 = weekday.words[int(weekday.numbers[0])]
    assert first_of_2020 == "Wednesday"
    assert "day" in later.columns
    assert "day: weekday" not in later.columns


def test_rows_without_a_time_are_told():
    table = {"x": many("1.5", "2.5"), "day": ["1", "", *map(str, range(3, N + 1))]}
    found = task(table | {"y": many("1.1", "2", "3", "")[:N]}, time="day")
    assert "; 10 without a target and 1 without a time are left out." in text(found)
    assert found.n_without_time == 1


def test_rows_stay_together():
    """Every row of X stands beside its own target, missing targets or not."""
    y = [f"{k}.5" if k % 3 else "" for k in range(N)]
    found = task({"x": [f"{k}.25" for k in range(N)], "y": y}, decimal_commas=False)
    for X, labels in ((found.X_train, found.y_train), (found.X_valid, found.y_valid)):
        assert_same(X[:, 0], labels - 0.25)
    assert_same(np.sort([*found.y_train, *found.y_valid]), [float(c) for c in y if c])


@pytest.mark.parametrize("others", ["ab", "abd"])
def test_classes_that_are_in_one_half_only_are_left_out(others):
    """Others are numbered anew; of two that are left the second is the one that is predicted."""
    kinds = [*(others * N)[: N - 2], "c", "c"]  # the last two days
    found = task({"x": many("1.5", "2.5"), "day": [*map(str, range(N))], "y": kinds}, time="day")
    assert "in one of the halves are left out, 2 rows: 'c'." in text(found)
    assert found.classes == (tuple(others) if len(others) > 2 else ())
    assert [others[int(k)] for k in found.y_valid] == [kinds[row] for row in found.held_out]
    assert len(found.y_valid) == N // 2 - 2


@pytest.mark.parametrize(
    ("table", "question", "why"),
    [
        ({"x": ["1"], "z": ["2"]}, {}, "t.csv has no column 'y'; its columns are 'x', 'z'"),
        ({"x": ["1"], "Y": ["2"]}, {}, "--target: .* did you mean 'Y'"),
        ({"age": ["1"], "y": ["2"], "Fate": ["2"]}, {"drop": ["fate"]}, "you mean 'Fate'\\?$"),
        ({"readmitted": ["1"], "y": ["2"]}, {"keep": ["Readmission"]}, "did you mean 'readmitted'"),
        ({"y": ["1", "2"]}, {}, "no column beside the target 'y'"),
        (TABLE, {"keep": ["sise"]}, "--keep: .* did you mean 'size'"),
        (TABLE, {"drop": ["sise"]}, "--drop: .* did you mean 'size'"),
        (TABLE, {"drop": ["y"]}, "--drop 'y' leaves out a column that --target"),
        (TABLE, {"drop": ["age"], "keep": ["age"]}, "--drop 'age' leaves out a column"),
        ({"id": ["1", "2"], "y": ["a", "b"]}, {}, r"No column is left .*\(id: 2 diff.*--keep NAME"),
        (
            {"x": ["1", "1", "2"], "y": ["0", "1", "0"]},
            {},
            "3 rows .* too few to have every class .* more rows of the rarest class, which has 1",
        ),
        ({"x": ["1"], "y": ["0.5"]}, {"task": "regression"}, "one value alone"),
        (
            {"x": ["1", "1"], "y": ["0.5", "1"]},
            {"task": "regression"},
            "2 rows .* too few to have different values",
        ),
    ],
)
def test_tables_without_a_task(table, question, why):
    with pytest.raises(UnusableTableError, match=why):
        task(table, **question)


CELLS = st.sampled_from(
    [
        "", "0", "1", "2", "1.5", "1,5", "-1e400", "nan", "inf", "NA", "a", "b", "1_0", "x,y", "é",
        "2020-01-31", "31.12.2020", "99/99/9999", "0001-01-01", "0001-01-01 00:00+23:00",
        '"', "'", "\t", ";", "\ufeff",
    ]
)  # fmt: skip
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=12)


@given(LINES, st.sampled_from([",", ";", "\t"]), st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_whatever_a_file_holds_it_becomes_a_task_or_is_refused(lines, separator, encoding):
    text = "\n".join([f"x{separator}y", *(separator.join(cells) for cells in lines)])
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_bytes(text.encode(encoding, errors="replace"))
            table = read_table(path)
        found = task_of(table)
    except UnusableTableError as error:
        refusal = str(error)
        assert len(refusal.splitlines()) == 1
        return
    assert np.isfinite([*found.y_train, *found.y_valid]).all()
    assert not np.isinf(found.X_train).any()
    assert abs(len(found.y_train) - len(found.y_valid)) <= 1


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("floor area", "rooms", "price"), "floor area"),
        (("floor area", "floor_area", "price"), "floor_area"),
        (("floor_area", "floor area", "price"), "floor_area"),
    ],
)
def test_a_model_may_have_underscores_for_blanks(tmp_path, names, taken):
    """LightGBM writes them; a column of the very name comes first."""
    rows = [f"{i * i % 7}.5,{i % 5}.25,{i % 3}" for i in range(40)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(names), *rows]))
    question = Question("price", "regression")
    model = GreedyRegressor(n_estimators=1).fit(np.arange(6.0)[:, np.newaxis], np.arange(6.0))
    ensemble = replace(model.ensemble_, feature_names=("floor_area",))
    table = read_table(tmp_path / "table.csv")
    found = task_of_model(table, question, ensemble, read_columns(table, question)[1])
    assert found.feature_names == (taken,)
