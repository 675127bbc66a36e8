"""The accuracy study: no leak, halves that share no table, and the tables of the page by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy import ours, report, running, tasks
from benchmarks.accuracy.tasks import Task, all_tasks, halves
from benchmarks.study import whole_tables
from benchmarks.study.whole_tables import WHOLE
from gbt import GBTRegressor
from gbt.estimators.defaults import LARGEST_UNBIASED, chosen


def test_no_task_sees_another_target_of_its_table():
    """A class that was made of a number tells it, and the other way round."""
    for task in all_tasks():
        how = {"number": tasks.NUMBERS, "classes": tasks.CLASSES}.get(task.kind, WHOLE)
        if task.table in tasks.OF_SKLEARN:
            continue
        how = how.get(task.table, WHOLE[task.table])
        others = {WHOLE[task.table].target}
        others |= {table[task.table].target for table in (tasks.NUMBERS,) if task.table in table}
        if task.table in ("fri_c0_1000_50", "fri_c3_1000_10", "space_ga", "sleepdata"):
            assert {how.target, *how.left_out} >= others
        assert how.target not in how.left_out
        if task.kind == "number":
            assert how.is_positive is None
            assert WHOLE[task.table].target in {how.target, *how.left_out}


def test_halves_are_of_whole_tables_and_each_has_numbers_and_classes():
    of_half = halves()
    assert set(of_half) == {task.table for task in all_tasks()}
    for half in report.HALVES:
        kinds = [task.kind for task in all_tasks() if of_half[task.table] == half]
        assert min(kinds.count("number"), kinds.count("class"), kinds.count("classes")) >= 2
    assert tasks.FOLDED not in of_half


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (150, [100]),
        (450, [300]),
        (1000, [300, 666]),
        (1600, [300, 1000]),
        (32561, [*tasks.SIZES[:-1], 21707]),
    ],
)
def test_sizes_leave_half_as_many_rows_to_test_on(n, expected):
    assert Task("any", "number").sizes(n) == expected


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_cut_off(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90)})
    frame["y"] = frame["a"] + (frame["b"] == "x")
    frame.to_csv(tmp_path / "small.csv.gz")
    monkeypatch.setenv("GBT_DATA", str(tmp_path))
    monkeypatch.setitem(WHOLE, "small", whole_tables.Whole("y", ("Unnamed: 0",)))
    monkeypatch.setattr(tasks, "all_tasks", lambda: [Task("small", "number")])
    monkeypatch.setattr(running, "halves", lambda: {"small": "choose"})
    path, cells = tmp_path / "found.jsonl", [(Task("small", "number"), 60, 0)]
    names = ["constant", "linear model", "unbiased", "greedy, stopped"]
    assert not running.run(path, cells, names, seconds=0.0)
    assert running.run(path, cells, names[:2], seconds=np.inf)
    with path.open("a") as file:
        file.write('{"key": ["small, number", 60')  # cut off
    first = running.read(path)
    assert len(first) == 2
    path.write_text("".join(json.dumps(line) + "\n" for line in first.values()))
    assert running.run(path, cells, names, seconds=np.inf)
    found = running.read(path)
    assert [key[3] for key in found] == names
    assert found["small, number", 60, 0, "constant"] == first["small, number", 60, 0, "constant"]
    (row,) = running.as_rows(found)
    assert row["constant"] == "1.0000"
    assert float(row["linear model"]) < 0.01  # the target is linear in the columns
    assert float(row["unbiased"]) < 1.0
    assert not row["cross-validated"]
    # The published file counts as done and stays; what is fitted since joins its line.
    published = [{**row, "repetition": 0, "rows": 60, "unbiased": "0.1234"}]
    later = tmp_path / "later.jsonl"
    names += ["greedy"]
    assert running.run(later, cells, names, seconds=np.inf, published=published)
    assert [key[3] for key in running.read(later)] == ["constant", "greedy"]
    (joined,) = running.as_rows(running.read(later), published)
    assert joined["greedy"]
    assert joined == {**published[0], "greedy": joined["greedy"]}


def test_what_a_table_of_the_page_says_by_hand():
    """Two lines of one table count as one: .5 and .7 are .6."""
    rows = [
        {"task": "a, class", "x": 0.5, "y": 0.55},
        {"task": "a, number", "x": 0.7, "y": 0.77},
        {"task": "b, class", "x": 1.2, "y": 1.2},
        {"task": "b, number", "x": 1.2, "y": ""},
    ]
    found = report.of_tables(rows, ["x", "y"])
    np.testing.assert_allclose(found["loss"], [[0.6, 0.66], [1.2, 1.2]])
    np.testing.assert_allclose(found["rank"], [[1, 2], [1.5, 1.5]])
    np.testing.assert_allclose(found["worse"], [[0, 0], [1, 1]])
    # 6 % of the constant's loss and 0, whose standard error is half of their difference.
    assert report.above(found["loss"][:, 1], found["loss"][:, 0]) == "+3.0 (3.0)"


def test_settings_say_all_that_has_a_default_of_its_own():
    """So that a result does not change with the defaults."""
    for parameters in ours.settings().values():
        assert {"splitter", "min_child_weight", "min_samples_leaf"} <= set(parameters)
        assert "categorical_smoothing" in parameters
    assert set(ours.MAIN) <= set(ours.settings())


@pytest.mark.parametrize("n_rows", [300, LARGEST_UNBIASED, LARGEST_UNBIASED + 1])
def test_what_the_page_calls_our_default_is_our_default(n_rows):
    name, _ = report.settings_of_default(n_rows)
    said = ours.settings()[name]
    fitted = chosen(GBTRegressor().get_params(), n_rows)
    assert {parameter: fitted[parameter] for parameter in said} == said
