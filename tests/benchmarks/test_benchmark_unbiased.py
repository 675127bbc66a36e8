"""The simulations of unbiased gain: their data, their tables, and that files and page agree."""

import numpy as np
import pytest

from benchmarks.papers.unbiased import drift, example1, notebook
from benchmarks.papers.unbiased.__main__ import PARTS, STUDY, main
from benchmarks.papers.unbiased.picture import draw
from benchmarks.speed import measure_cost
from benchmarks.study.files import page_with, read_rows
from tests.asserts import assert_same


@pytest.fixture(scope="module")
def published():
    return STUDY.read()


def test_the_data_are_what_the_page_says():
    rng = np.random.default_rng(0)
    X, y = example1.draw(1000, rng)
    assert [len(np.unique(column)) for column in X.T] == [2, 6, 1000]
    X, y = notebook.draw("regression", 1.0, 1000, rng)
    assert [len(np.unique(column)) for column in X.T] == [1000, 2, 4, 10, 20]
    difference = y[X[:, 1] == 1].mean() - y[X[:, 1] == 0].mean()
    assert abs(difference - 1) < 4 * 2 / np.sqrt(1000)
    X, y = notebook.draw("binary", 1.0, 1000, rng)
    assert_same(y, X[:, 1])
    _, y = notebook.draw("binary", 0.0, 1000, rng)
    assert abs(y.mean() - 0.5) < 4 * 0.5 / np.sqrt(1000)


def test_a_quick_run(capsys):
    assert main(["--quick", "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    for part in (*PARTS, "null"):
        assert f"{part}\n\n| " in printed.out
    assert "ranks: 44 of 44, 0 s left" in printed.err


def test_what_was_interrupted_goes_on(tmp_path, capsys, monkeypatch):
    """Replications that are finished are not run again, and the numbers are those of one run."""
    monkeypatch.setattr("benchmarks.papers.unbiased.drift.N_ROWS", {"full": 120})
    asked = ["drift", "--jobs", "1", "--out"]
    assert main([*asked, str(tmp_path / "two"), "--replications", "2"]) == 0
    assert main([*asked, str(tmp_path / "two"), "--replications", "3"]) == 0
    assert "drift: 4 of 4" in capsys.readouterr().err
    assert main([*asked, str(tmp_path / "one"), "--replications", "3"]) == 0
    one, two = (
        sorted((tmp_path / run / "drift.jsonl").read_text().splitlines()) for run in ("one", "two")
    )
    assert one == two


def test_summaries_by_hand():
    rows = [
        {"setting": "a", "method": "gain", "values": values}
        for values in ([1.0, 3.0, 0.0], [3.0, 0.0, 1.0], [5.0, 6.0, 2.0], [7.0, 3.0, 5.0])
    ]
    first, second, third = example1.summary(rows)
    assert (first["mean"], first["q50"], first["first"]) == (4.0, 4.0, 0.5)
    assert first["error"] == pytest.approx(np.sqrt(20 / 3) / 2)
    assert (second["first"], third["first"], third["mean"]) == (0.5, 0.0, 2.0)
    assert (first["q25"], first["q75"]) == (2.5, 5.5)

    name = next(iter(drift.NOISE))
    rows = [
        {"model": name, "method": "unbiased", "values": values} for values in ([1.0, 2.0], [3.0, 6])
    ]
    assert [(r["tree"], r["mean"]) for r in drift.summary(rows)] == [
        ("1", 2.0),
        ("2", 4.0),
        ("all", 6.0),
    ]

    rows = [
        {**cell, "method": "gain", "values": values}
        for cell in notebook.CELLS
        for values in ([9.0, 1.0, 0.0, 0.0, 2.0], [0.0, 5.0, 1.0, 2.0, 3.0])
    ]
    of_cell = notebook.summary(rows)[:5]
    assert [row["mean_rank"] for row in of_cell] == [3.0, 4.0, 1.75, 2.25, 4.0]
    assert [row["median"] for row in of_cell] == [4.5, 3.0, 0.5, 1.0, 2.5]


@pytest.mark.parametrize("measure", measure_cost.MEASURES)
def test_cost_is_measured_with_and_without_errors(measure):
    rows = measure_cost.cost(measure, 1, 1, n_rows=400, n_trees=2)
    assert [row["standard_error"] for row in rows] == [0, 1] * 4
    assert all(min(row["times_predicting"], row["times_the_trees_alone"]) > 0 for row in rows)
    lines = measure_cost.table(rows).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == ["without", "with"] * 4


def test_the_page_has_the_tables_of_the_files(published):
    page = STUDY.page.read_text()
    assert STUDY.page_with(published, page) == page
    cost = {"cost": measure_cost.table(read_rows(measure_cost.file_of("unbiased_gain")))}
    assert page_with(cost, page, STUDY.page.name) == page


@pytest.mark.slow
def test_the_pictures_are_those_of_the_files(published, tmp_path):
    """What was published has as many marks; the bytes depend on the version of matplotlib."""
    draw(published, tmp_path)
    for name in ("unbiased_example1.svg", "unbiased_ranks.svg"):
        drawn, kept = ((folder / name).read_text() for folder in (tmp_path, STUDY.page.parent))
        assert drawn.count("<path") == kept.count("<path") > 30


def test_what_the_page_says_of_the_files(published):
    """The sentences around the tables, from the numbers that are kept."""
    first = {(r["setting"], r["method"], r["feature"]): r for r in published["example1"]}
    one_tree, many_trees = example1.SETTINGS
    for setting in example1.SETTINGS:
        gain = [first[setting, "gain", f"x{k}"]["mean"] for k in (1, 2, 3)]
        assert gain == sorted(gain)
        for form in ("symmetric", "paper"):
            means = [first[setting, f"unbiased, {form}", f"x{k}"]["mean"] for k in (1, 2, 3)]
            assert np.argmax(means) == 0
    for feature in ("x2", "x3"):
        around = first[one_tree, "unbiased, symmetric", feature]
        assert abs(around["mean"]) < 3 * around["error"]
        below = first[many_trees, "unbiased, symmetric", feature]
        assert below["mean"] < -10 * below["error"]

    unbiased = [r for r in published["drift"] if r["method"] == "unbiased"]
    noise = {(r["model"], str(r["tree"])): r for r in unbiased}
    for model in drift.NOISE.values():
        first_tree, all_trees = noise[model.name, "1"], noise[model.name, "all"]
        assert abs(first_tree["mean"]) < 3 * first_tree["error"]
        sign = -1 if model.learning_rate < 1 else 1
        assert sign * all_trees["mean"] > 3 * all_trees["error"]


def test_the_notebooks_ranks(published):
    """Rank 5 from rho .4 (regression) and .2 (binary) by unbiased gain."""
    rows = {(r["task"], r["method"], r["rho"], r["feature"]): r for r in published["ranks"]}
    for task, start in (("regression", 0.4), ("binary", 0.2)):
        for rho in notebook.RHO:
            mean_rank = rows[task, "unbiased", rho, "x2"]["mean_rank"]
            assert mean_rank > 4.99 or rho < start
            assert mean_rank >= rows[task, "gain", rho, "x2"]["mean_rank"]


def test_the_notebooks_medians_without_an_effect(published):
    """Of the gain of LightGBM's trees from G and H alone, as read off its box plots."""
    read_off = {"regression": (68, 7.5, 0, 12.5, 19.5), "binary": (71, 7, 0, 10, 17.5)}
    rows = [r for r in published["ranks"] if r["rho"] == 0]
    for task, medians in read_off.items():
        of_task = {(r["method"], r["feature"]): r for r in rows if r["task"] == task}
        for k, median in enumerate(medians, start=1):
            found = of_task["gain, LightGBM's trees", f"x{k}"]["median"]
            assert abs(found - median) <= 0.15 * median
            for method in ("unbiased", "unbiased, LightGBM's trees"):
                around_0 = of_task[method, f"x{k}"]
                assert abs(around_0["median"]) <= 0.1 * (around_0["q75"] - around_0["q25"])


def test_a_page_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="drift: begin"):
        page_with({"drift": "| |"}, "nothing", STUDY.page.name)
