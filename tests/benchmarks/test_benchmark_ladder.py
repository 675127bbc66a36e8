"""Every rung of the ladder grows the trees of the plain page, and a wrong one is noticed."""

import importlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ladder import measuring, report, rung_1_page, rung_6_bounds, rung_8_threads
from benchmarks.ladder.measuring import RUNGS, SIZES, Rung, Size, measure
from benchmarks.ladder.problems import UNIT, Problem, problem_of
from benchmarks.ladder.verifying import WrongTreeError, nodes_of_rows, verify
from gbt.reference import boosting as reference
from tests.asserts import assert_close, assert_same

ROOT = Path(__file__).parents[2]
ladder = importlib.import_module("benchmarks.ladder.__main__")


def grown(rung, problem):
    table = rung.prepare(problem.X)
    return rung.grow(table, problem.gradients[0], problem.max_depth, problem.reg_lambda)


@st.composite
def drawn_problems(draw):
    """Draw columns of few or many values or of one, and gradients that tie or do not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(1, 12) | st.integers(60, 150)), draw(st.integers(1, 4))
    levels = [draw(st.sampled_from([1, 2, 5, 60, 10**6])) for _ in range(p)]
    X = rng.integers(0, levels, size=(n, p)) / 3 - 1
    largest = draw(st.sampled_from([1, 2, 2**30]))
    gradient = rng.integers(-largest, largest + 1, size=n)
    if draw(st.booleans()):  # every cut has a mirror image, and every column a twin
        X, gradient = np.vstack([X, -X]), np.concatenate([gradient, gradient])
        X = np.hstack([X, -X])
    depth, reg_lambda = draw(st.integers(1, 5)), draw(st.sampled_from([0.0, 0.1, 1.0, 10.0]))
    return Problem(X, -gradient * UNIT, [gradient], depth, reg_lambda)


@pytest.mark.slow
@pytest.mark.parametrize("rung", RUNGS[1:], ids=lambda rung: rung.name)
@given(problem=drawn_problems())
def test_a_rung_grows_the_trees_of_the_page(rung, problem):
    expected = grown(rung_1_page, problem)
    verify(expected, grown(rung.module, problem), problem.X, problem.gradients[0])


@given(problem=drawn_problems())
def test_the_page_of_the_ladder_grows_the_trees_of_the_reference(problem):
    tree, gradient = grown(rung_1_page, problem), problem.gradients[0].astype(float)
    nodes = reference.grow(
        problem.X, gradient, np.ones(len(gradient)), fixed_point=True, max_depth=problem.max_depth,
        reg_lambda=problem.reg_lambda, min_child_weight=0.0,
    )  # fmt: skip
    number = {0: 0}
    for i, node in enumerate(nodes):
        t = number[i]
        assert tree.feature[t] == node.feature
        if node.feature >= 0:
            number[node.left], number[node.right] = 2 * t + 1, 2 * t + 2
            above = problem.X[problem.X[:, node.feature] > tree.threshold[t], node.feature]
            assert tree.threshold[t] <= node.threshold < above.max()
    of_nodes = nodes_of_rows(tree, problem.X)
    for i, t in number.items():
        assert (of_nodes == t).any(axis=0).sum() == nodes[i].n_samples
        assert_close(tree.gain[t], nodes[i].gain, 3 * (gradient**2).sum())
    assert (tree.feature >= 0).sum() == sum(node.feature >= 0 for node in nodes)


def test_a_tree_by_hand():
    """Of gradients -1 -1 | 2 at 0, 1, 5 the cut at 1 gains 4/3 + 4/2 - 0 = 10/3, lambda 1."""
    tree = rung_1_page.grow(np.array([[0.0], [1.0], [5.0]]), np.array([-1, -1, 2]), 1, 1.0)
    assert_same(tree.feature, [0, -1, -1])
    assert_same(tree.threshold, [1.0, 0.0, 0.0])
    assert_close(tree.gain, [10 / 3, 0.0, 0.0], [10 / 3, 0.0, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
def test_threads_do_not_change_trees(n_threads, monkeypatch):
    problem = problem_of(500, 5, 1)
    expected = grown(RUNGS[6].module, problem)
    monkeypatch.setattr(rung_8_threads, "N_THREADS", n_threads)
    for one, other in zip(expected, grown(rung_8_threads, problem), strict=True):
        assert_same(one, other)


# ------------------------------------------------------------------------------ planted defects


def changed(tree, **entries):
    """Return a tree with ``name={node: new}`` put in place."""
    arrays = {name: getattr(tree, name).copy() for name in entries}
    for name, new in entries.items():
        for t, number in new.items():
            arrays[name][t] = number
    return tree._replace(**arrays)


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        (lambda tree: {"feature": {0: 1 - tree.feature[0]}}, "node 0 is split on"),
        (lambda tree: {"feature": {1: -1}}, "node 1 is split on -1"),
        (lambda tree: {"threshold": {0: tree.threshold[0] - 0.05}}, "node 0, split on"),
        (lambda tree: {"threshold": {2: 99.0}}, "node 2, split on"),
        (lambda tree: {"gain": {1: tree.gain[1] * (1 + 1e-9)}}, "node 1 gains"),
    ],
)
def test_wrong_trees_are_noticed(defect, message):
    problem = problem_of(500, 2, 1)
    tree = grown(rung_1_page, problem)
    assert (tree.feature[:3] >= 0).all()
    verify(tree, changed(tree), problem.X, problem.gradients[0])
    with pytest.raises(WrongTreeError, match=message):
        verify(tree, changed(tree, **defect(tree)), problem.X, problem.gradients[0])


def test_a_threshold_may_lie_anywhere_between_two_values():
    X, gradient = np.array([[0.0], [1.0], [5.0]]), np.array([-1, -1, 2])
    tree = rung_1_page.grow(X, gradient, 1, 1.0)
    verify(tree, changed(tree, threshold={0: 4.9}), X, gradient)
    with pytest.raises(WrongTreeError):
        verify(tree, changed(tree, threshold={0: 5.0}), X, gradient)


def other_tie(X, gradient, max_depth, reg_lambda):
    """Grow a tree by the page with the lowest threshold of equals."""
    tree = rung_1_page.grow(-X, gradient, max_depth, reg_lambda)
    return tree._replace(threshold=np.nextafter(-tree.threshold, -np.inf))


def test_another_rule_about_ties_is_noticed():
    """Gradients 1 -1 1 at 0, 1, 2: both cuts are equal, and the higher one is to be taken."""
    X, gradient = np.arange(3.0)[:, np.newaxis], np.array([1, -1, 1])
    tree = rung_1_page.grow(X, gradient, 1, 0.0)
    assert tree.threshold[0] == 1.0
    with pytest.raises(WrongTreeError):
        verify(tree, other_tie(X, gradient, 1, 0.0), X, gradient)


@pytest.mark.slow
def test_a_bound_that_is_too_low_is_noticed_and_nothing_is_timed(monkeypatch):
    survey = rung_6_bounds.survey

    def survey_and_halve(k, last_code, histogram, level, reg_lambda, bound):
        survey(k, last_code, histogram, level, reg_lambda, bound)
        bound[:, : len(last_code)] /= 2  # the others are not in use

    rungs = [Rung("rung_4_codes", ""), Rung("rung_6_bounds", "")]
    measured = measure(Size(400, 3), 0, 1, rungs)
    assert min(measured[rung.name] for rung in rungs) > 0
    monkeypatch.setattr(rung_6_bounds, "survey", survey_and_halve)
    with pytest.raises(WrongTreeError):
        measure(Size(400, 3), 0, 1, rungs)


def test_a_wrong_rung_is_noticed_on_drawn_problems(monkeypatch):
    measuring.verify_on_drawn_problems(RUNGS[:2], 5)
    wrong = SimpleNamespace(prepare=rung_1_page.prepare, grow=other_tie)
    monkeypatch.setitem(sys.modules, "benchmarks.ladder.rung_2_running_sums", wrong)
    with pytest.raises(WrongTreeError):
        measuring.verify_on_drawn_problems(RUNGS[:2], 50)


# ------------------------------------------------------------------------- the table and the page


def test_lines_of_code_by_hand(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(
        '"""Docstring,\n\nlong."""\n\nimport os  # yes\n\n# no\n\n\ndef f(\n    a,\n):\n'
    )
    path.write_text(path.read_text() + '    """No."""\n    return """1\n2"""\n')
    assert report.code_lines(path) == 1 + 3 + 2


@pytest.mark.slow
def test_files_used_by_a_rung():
    names = {path.name for path in report.files_used_by("benchmarks.ladder.rung_3_compiled")}
    assert names == {"__init__.py", "rung_1_page.py", "rung_3_compiled.py"}
    of_product = {path.name for path in report.files_used_by("benchmarks.ladder.rung_9_product")}
    assert {"search.py", "refine.py", "histogram.py", "columns.py"} <= of_product
    assert "tree_shap.py" not in of_product


def test_ratios_are_taken_at_the_largest_size_of_both():
    small, large = str(SIZES[0]), str(SIZES[2])
    assert report.ratio({small: 8.0, large: 6.0}, {small: 2.0, large: 3.0}) == "2"
    assert report.ratio({small: 8.0}, {small: 2.0, large: 3.0}) == "4"
    assert report.ratio({}, {small: 2.0}) == ""


def seconds_of_all():
    times = {str(size): 0.5 for size in SIZES}
    return {rung.name: times for rung in RUNGS} | {"exact": times}


def test_the_table_has_a_line_a_rung_and_a_peer():
    lines = report.table(seconds_of_all(), dict.fromkeys(seconds_of_all(), (12, 3456)))
    assert len(lines) == 2 + len(RUNGS) + 1
    assert lines[2].startswith(
        "| [1](../benchmarks/ladder/rung_1_page.py) | every cut with a mask | 12 (3,456) |"
    )
    assert lines[-1] == "| XGBoost exact |  |  | 500 | 500 | 500 |  |  |  |"
    assert all(line.count("|") == len(report.HEADER) + 1 for line in lines)


def test_the_picture_is_the_same_twice(tmp_path):
    pytest.importorskip("matplotlib")
    for name in "ab":
        report.draw(seconds_of_all(), tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "running sums" in (tmp_path / "a.svg").read_text()


def test_the_page_and_the_table_are_those_of_the_numbers():
    found = json.loads((ROOT / "benchmarks/results/ladder.json").read_text())
    lines = "\n".join(report.table(found["seconds"], found["lines"]))
    page = (ROOT / "docs/ladder.md").read_text()
    shown = page.split(ladder.BEGIN)[1].split(ladder.END)[0]
    assert shown == f"\n{lines}\n\n{found['conditions']}\n"
    file = (ROOT / "benchmarks/results/ladder.md").read_text()
    assert file == f"{found['conditions']}\n\n{lines}\n"


def test_excerpts_of_the_page_stand_in_the_files():
    page = (ROOT / "docs/ladder.md").read_text()
    excerpts = re.findall(r"`benchmarks/ladder/(\w+\.py)`:\n\n```python\n(.*?)```", page, re.DOTALL)
    assert len(excerpts) >= len(RUNGS) - 1
    assert len(excerpts) == page.count("```python")
    for name, excerpt in excerpts:
        text = without_indent((ROOT / "benchmarks/ladder" / name).read_text())
        assert without_indent(excerpt) in text, f"{name} does not contain {excerpt}"


def without_indent(text):
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.slow
def test_the_command_runs(monkeypatch, capsys):
    monkeypatch.setattr(ladder, "SIZES", (Size(60, 2),))
    monkeypatch.setattr(ladder, "verify_on_drawn_problems", lambda: None)  # has tests above
    assert ladder.main(["--quick", "--repeats", "1"]) == 0
    assert "grow the same trees" in capsys.readouterr().out
