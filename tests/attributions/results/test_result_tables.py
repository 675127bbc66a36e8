"""Results print as tables, and are read by the names of features."""

import re

import numpy as np
import pandas
import pytest

from attributions import GlobalAttribution, LocalAttribution
from attributions.names import by_numbers, elided, find_row, on_one_line, printed_width
from attributions.results import UnknownFeatureError
from attributions.results.tables import numbers, of_one_unit, p_values, per_cent
from tests.asserts import assert_same


def per_feature(names=("age", "b", "income"), method="tree_inner(predecomp)", **others):
    return GlobalAttribution([1.5, -2.0, 30.25], [0.5, 1.0, 2.0], 1234, names, method, **others)


def per_row(n=20, p=3, index=None, names=None):
    values = np.arange(float(n * p)).reshape(n, p)
    names = [f"x{k}" for k in range(p)] if names is None else names
    return LocalAttribution(values, np.full(n, 0.5), names, "predecomp", index=index)


def test_a_result_of_features_is_the_table_of_its_ranking():
    # 1 - Phi(1.5 / .5) = .0013 and 1 - Phi(-2) = .9772 from a table of the normal distribution
    assert repr(per_feature()).splitlines() == [
        "tree_inner(predecomp), 3 features, sum over 1,234 rows",
        "  rank  feature   value  standard error  p-value",
        "     1  income   30.250          2.0000  <0.0001",
        "     2  age       1.500          0.5000   0.0013",
        "     3  b        -2.000          1.0000   0.9772",
    ]


def test_columns_that_a_method_does_not_have_are_left_out():
    one = GlobalAttribution([1.0], [1.0], 1, ("a",), "tree_inner")
    assert repr(one).startswith("tree_inner, 1 feature, sum over 1 row\n")
    gain = GlobalAttribution([1.0, 2.0], None, 1, ("a", "b"), "total_gain")
    assert repr(gain).splitlines() == [
        "total_gain, 2 features",
        "  rank  feature   value",
        "     1  b        2.0000",
        "     2  a        1.0000",
    ]
    used = per_feature(method="absolute(predecomp, tree)")
    assert "p-value" not in repr(used)
    assert "standard error" in repr(used)


def test_the_best_are_seen_as_many_as_asked_for_and_the_worst():
    names = [f"x{k}" for k in range(30)]
    many = GlobalAttribution(np.arange(30.0) - 4, None, 1, names, "tree_inner(predecomp)")
    lines = repr(many).splitlines()[2:]
    ranks = [line.split()[0] for line in lines]
    assert ranks == [*map(str, range(1, 10)), "...", "28", "29", "30"]
    assert [line.split()[1] for line in lines[-3:]] == ["x2", "x1", "x0"]
    assert lines[9] == "  ... 18 more features"
    html = many._repr_html_()
    assert html.index("x21") < html.index("... 18 more features") < html.index("x2<")
    assert html.count("18 more features") == 1
    gains = GlobalAttribution(np.arange(30.0), None, 1, names, "total_gain")
    assert repr(gains).splitlines()[-1] == "  ... 18 more features"
    assert [line.split()[1] for line in repr(gains.head(2)).splitlines()[2:4]] == ["x29", "x28"]
    assert repr(gains.head(29)).splitlines()[-1] == "  ... 1 more feature"
    assert [len(repr(gains.head(n)).splitlines()) for n in (0, 100)] == [3, 32]
    for n in (-1, 2.5, "3"):
        with pytest.raises(ValueError, match=re.escape(f"n={n!r}; it must be a whole number")):
            gains.head(n)


def test_a_result_of_rows_is_the_table_of_the_first():
    assert repr(per_row()).splitlines() == [
        "predecomp, 20 rows, 3 features",
        "  row  base value      x0      x1      x2",
        "  0       0.50000   0.000   1.000   2.000",
        "  1       0.50000   3.000   4.000   5.000",
        "  2       0.50000   6.000   7.000   8.000",
        "  3       0.50000   9.000  10.000  11.000",
        "  4       0.50000  12.000  13.000  14.000",
        "  ... 15 more rows",
    ]
    labelled = per_row(2, index=pandas.Index(["r1", "r2"]))
    assert [line.split()[0] for line in repr(labelled).splitlines()[2:]] == ["r1", "r2"]
    assert "more" not in repr(labelled)
    assert len(repr(per_row().head(20)).splitlines()) == 22
    assert len(repr(per_row(0)).splitlines()) == 2


def test_of_many_features_those_that_move_predictions_most_are_shown():
    names = [f"a long name of a column, {k}" for k in range(50)]
    rows = per_row(20, 50, names=names)
    rows.values[:, 7] *= 1000
    lines = repr(rows).splitlines()
    assert max(map(len, lines)) <= 100
    heading, note = lines[1], lines[-1]
    assert "column, 7" in heading
    assert "column, 49" in heading
    assert "column, 0" not in heading
    n_shown = heading.count("column")
    assert note == f"  ... 15 more rows and {50 - n_shown} more features"


def test_names_cannot_tear_a_table():
    names = ("a\nb\tc", "x" * 80, "\x1b[31mred\x00")
    lines = repr(per_feature(names)).splitlines()
    assert len(lines) == 5
    assert "a b c" in lines[3]
    assert "\x1b" not in repr(per_feature(names))
    assert r"\x1b[31mred\x00" in lines[2]
    assert len({printed_width(line) for line in lines[1:]}) == 1
    assert len(lines[1]) < 100


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a\u202eb", r"a\u202eb"), ("a\u200db", "a\u200db"), ("a\r\nb", "a  b"),
        ("a\u2028b", "a b"), ("$x_1^2$", "$x_1^2$"), (" 名 ", " 名 "), (3, "3"),
    ],
)  # fmt: skip
def test_on_one_line(name, line):
    assert on_one_line(name) == line


@pytest.mark.parametrize(
    "names",
    [
        ["<1", "1", "2", "10", "20", ">20"],
        ["<10", "10/49", "50-99", "100-500", "1000-4999", "10000+"],
        ["A1 LM", "A2 LM", "A10 SH", "B1"],
        ["-10", "-5", "3.5", "$1,000", "2000", "never"],
    ],
)
def test_names_are_sorted_by_the_numbers_in_them(names):
    assert sorted(sorted(names), key=by_numbers) == names


def test_long_names_are_cut_in_the_middle():
    assert elided("0123456789", 10) == "0123456789"
    assert elided("0123456789", 9) == "0123…6789"
    assert elided("0123456789", 4) == "01…9"


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([30.25, 1.5, -2.0], ["30.250", "1.500", "-2.000"]),
        ([12345.6, 0.3], ["12345.60", "0.30"]),
        ([0.0, 0.0], ["0.0000", "0.0000"]),
        ([0.000123, 0.0], ["0.0001230", "0.0000000"]),
        ([0.007, -1e-9], ["0.007000", "0.000000"]),
        ([0.0000123, 0.0], ["12.300", "0.000"]),  # millionths
        ([-1.006e9, 8e8], ["-1.0060", "0.8000"]),  # thousands of millions
        ([0.91534, -8.7e-6], ["0.915340", "-0.000009"]),  # one small number is no reason for powers
        ([1.0, np.nan, np.inf], ["1.0000", "nan", "inf"]),
        ([], []),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(values, cells):
    assert numbers("", np.array(values)).cells == cells


def test_columns_of_one_unit_are_written_alike_where_one_has_too_many_digits():
    def written(*columns):
        return [(c.heading, c.cells) for c in of_one_unit("abc", [*map(np.array, columns)])]

    assert written([1.5], [0.25], [1e-4]) == [
        ("a", ["1.5000"]), ("b", ["0.25000"]), ("c", ["0.0001000"]),
    ]  # fmt: skip
    assert written([0.38], [-2e-4], [2e-5]) == [
        ("a", ["0.380000"]), ("b", ["-0.000200"]), ("c", ["0.000020"]),
    ]  # fmt: skip
    assert written([8.121e8, 4e8], [-89720640.0, 0.0], [1.006e9, 1e9]) == [
        ("a (1e9)", ["0.8121", "0.4000"]),
        ("b (1e9)", ["-0.0897", "0.0000"]),
        ("c (1e9)", ["1.0060", "1.0000"]),
    ]
    large = per_row(2)
    large.values[:, 1] = [1e-7, 0.0]
    large.values[:, 2] = [4e8, 1e9]
    lines = repr(large).splitlines()
    assert lines[1].split("  ")[-3:] == ["x0 (1e9)", "x1 (1e9)", "x2 (1e9)"]
    assert lines[3].split() == ["1", "0.000000", "0.000000", "0.000000", "1.000000"]


def test_small_p_values_are_bounded():
    assert p_values("", np.array([0.00009, 0.0001, 1.0])).cells == ["<0.0001", "0.0001", "1.0000"]


def test_a_notebook_gets_a_table_with_names_in_full():
    name = "<script>alert('&')</script>" + "x" * 50
    page = per_feature((name, "b", "income"))._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;" + "x" * 50 in page
    assert page.count("<tr>") == 4
    assert page.count('<td style="text-align: left">') == 3  # names
    assert page.count('<td style="text-align: right">') == 12  # rank, value, error, p-value
    rows = per_row(20)._repr_html_()
    assert rows.count("<tr>") == 6
    assert "... 15 more rows" in rows


def test_a_feature_is_asked_for_by_its_name():
    result, rows = per_feature(), per_row(4, 2)
    assert result["b"] == -2.0
    assert len(result) == 3
    assert list(result) == ["age", "b", "income"]
    assert "age" in result
    assert "Age" not in result
    assert_same(rows["x1"], [1.0, 3.0, 5.0, 7.0])
    assert len(rows) == 4
    assert list(rows) == ["x0", "x1"]


def test_to_numpy_a_result_is_its_values():
    assert_same(np.asarray(per_feature()), [1.5, -2.0, 30.25])
    assert_same(np.argsort(per_feature()), [1, 0, 2])
    assert_same(np.asarray(per_row(2, 2), dtype=np.float32), [[0, 1], [2, 3]])
    copy = np.array(per_feature())
    copy[0] = 7
    assert per_feature()["age"] == 1.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("incom", "No feature is called 'incom'; did you mean 'income'?"),
        ("AGE", "did you mean 'age'?"),
        ("zzz", "No feature is called 'zzz'. There are 'age', 'b', 'income'."),
        (0, "by name; got 0"),
    ],
)
def test_another_name_gets_the_nearest(name, message):
    for kind in (KeyError, ValueError, UnknownFeatureError):
        with pytest.raises(kind, match=re.escape(message)):
            per_feature()[name]
    with pytest.raises(UnknownFeatureError):
        per_row(2, 3, names=("age", "b", "income"))[name]


def test_names_of_two_features_are_refused_and_many_are_not_all_listed():
    with pytest.raises(UnknownFeatureError, match=r"2 features are called 'b', the columns \[1, 2"):
        per_feature(("a", "b", "b"))["b"]
    names = tuple(f"x{k}" for k in range(100))
    with pytest.raises(UnknownFeatureError, match=r"'x3', 'x4' and 95 more\.$"):
        GlobalAttribution(np.zeros(100), None, 1, names, "total_gain")["elsewhere"]


@pytest.mark.parametrize(
    ("index", "found"),
    [
        (None, {2: 2, -1: 3, -4: 0, np.int64(1): 1}),
        ([("a", 1), "r1", 7, "r3"], {"r3": 3, ("a", 1): 0, "7": 2, 7: 2}),
        (pandas.Index([362, 249, 1, 0]), {362: 0, 0: 3, 1: 2, np.int64(249): 1}),
    ],
    ids=["numbers", "labels", "labels that are numbers"],
)
def test_a_row_is_found_by_its_label_or_without_labels_by_its_number(index, found):
    """As in ``frame.loc``; after a random split labels and positions are different rows."""
    assert {row: find_row(row, 4, index) for row in found} == found


@pytest.mark.parametrize(
    ("row", "index", "message"),
    [
        (4, None, "row=4, but the attribution has 4 rows: 0 to 3, or -4 to -1 from the end"),
        (-5, None, "row=-5, but the attribution has 4 rows"),
        (
            1,
            [362, 249, 271, 5],
            "row=1, but no row has this label; the first labels are 362, 249, 271, 5. (Labels are"
            " meant, not positions: X.index[1] is 249.)",
        ),
        (4, [362, 249, 271, 5], "no row has this label; the first labels are 362, 249, 271, 5."),
        ("r3", None, "row='r3', but the rows that were explained have no labels"),
        (2.0, None, "row=2.0, but the rows that were explained have no labels"),
        (True, None, "row=True, but the rows that were explained have no labels"),
        ("r9", ["r1", "r2", "r3", "r4"], "row='r9', but no row has this label; the first labels"),
        (
            "r1",
            ["r1", "r2", "r1", "r1"],
            "row='r1' is the label of 3 rows. Explain them under labels of their own",
        ),
    ],
)
def test_no_such_row(row, index, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        find_row(row, 4, index)


def test_per_cent_have_two_decimals_and_no_minus_zero():
    column = per_cent("per cent", np.array([21.53524, -0.00017, 0.0, -3.456, np.nan]))
    assert column.cells == ["21.54", "0.00", "0.00", "-3.46", "-"]
