"""The simulations of unbiased gain: their data, their tables, and that files and page agree."""

import numpy as np
import pytest

from benchmarks import unbiased
from benchmarks.study.files import page_with
from benchmarks.unbiased import COMMANDS, EXAMPLE_1, NOISE, PAGE, RHO, as_markdown, read
from tests.asserts import assert_same


def test_the_data_are_what_the_page_says():
    rng = np.random.default_rng(0)
    X, y = unbiased.draw_example_1(rng)
    assert [len(np.unique(column)) for column in X.T] == [2, 6, 1000]
    X, y = unbiased.draw_notebook(rng, "regression", 1.0)
    assert [len(np.unique(column)) for column in X.T] == [1000, 2, 4, 10, 20]
    difference = y[X[:, 1] == 1].mean() - y[X[:, 1] == 0].mean()
    assert abs(difference - 1) < 4 * 2 / np.sqrt(1000)
    X, y = unbiased.draw_notebook(rng, "binary", 1.0)
    assert_same(y, X[:, 1])
    _, y = unbiased.draw_notebook(rng, "binary", 0.0)
    assert abs(y.mean() - 0.5) < 4 * 0.5 / np.sqrt(1000)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "cost"])
def test_a_command_makes_its_tables(command, monkeypatch, capsys):
    monkeypatch.setattr(unbiased, "N", 120)
    monkeypatch.setattr(unbiased, "EXAMPLE_1", {name: {"n_estimators": 2} for name in EXAMPLE_1})
    rows = COMMANDS[command].run(2, 1)
    assert_same(
        [row["mean"] for row in COMMANDS[command].run(2, 1) if "mean" in row],
        [row["mean"] for row in rows if "mean" in row],
    )
    for table in COMMANDS[command].tables.values():
        lines = table(rows)
        assert len({len(cells) for cells in lines}) == 1
    assert "2 of 2" in capsys.readouterr().err


def test_cost_is_measured_with_and_without_errors():
    rows = unbiased.cost(1, 1, n_rows=400, n_trees=2)
    assert [row["standard_error"] for row in rows] == [0, 1] * 4
    assert all(row["times_predicting"] > 0 for row in rows)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_has_the_tables_of_the_files(command):
    rows = read(command)
    tables = {name: as_markdown(table(rows)) for name, table in COMMANDS[command].tables.items()}
    page = PAGE.read_text()
    assert page_with(tables, page, PAGE.name) == page


def test_what_the_page_says_of_the_files():
    """The sentences around the tables, from the numbers that are kept."""
    first = {(r["setting"], r["method"], r["feature"]): r for r in read("example1")}
    one_tree, many_trees = EXAMPLE_1
    for setting in EXAMPLE_1:
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

    noise = {(r["model"], r["tree"]): r for r in read("drift") if r["method"] == "unbiased"}
    for model in NOISE:
        first_tree, all_trees = noise[model.name, "1"], noise[model.name, "all"]
        assert abs(first_tree["mean"]) < 3 * first_tree["error"]
        sign = -1 if model.learning_rate < 1 else 1
        assert sign * all_trees["mean"] > 3 * all_trees["error"]


def test_the_notebooks_ranks():
    """Rank 5 from rho .4 (regression) and .2 (binary) by unbiased gain."""
    rows = {(r["task"], r["method"], r["rho"], r["feature"]): r for r in read("ranks")}
    for task, start in (("regression", 0.4), ("binary", 0.2)):
        for rho in RHO:
            mean_rank = rows[task, "unbiased", rho, "x2"]["mean_rank"]
            assert mean_rank > 4.99 or rho < start
            assert mean_rank >= rows[task, "gain", rho, "x2"]["mean_rank"]


def test_the_notebooks_medians_without_an_effect():
    """Of the gain of LightGBM's trees from G and H alone, as read off its box plots."""
    notebook = {"regression": (68, 7.5, 0, 12.5, 19.5), "binary": (71, 7, 0, 10, 17.5)}
    rows = [r for r in read("ranks") if r["rho"] == 0]
    for task, medians in notebook.items():
        of_task = {(r["method"], r["feature"]): r for r in rows if r["task"] == task}
        for k, median in enumerate(medians, start=1):
            found = of_task["gain, LightGBM's trees", f"x{k}"]["median"]
            assert abs(found - median) <= 0.15 * median
            for method in ("unbiased", "unbiased, LightGBM's trees"):
                around_0 = of_task[method, f"x{k}"]
                assert abs(around_0["median"]) <= 0.1 * (around_0["q75"] - around_0["q25"])


def test_a_page_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="drift: begin"):
        page_with({"drift": "| |"}, "nothing", PAGE.name)
