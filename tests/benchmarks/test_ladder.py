"""Every rung of the ladder grows the trees of the plain page, and a wrong one is noticed."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ladder import measuring, rung_1_page, rung_6_bounds
from benchmarks.ladder.measuring import RUNGS, Rung, Size, measure
from benchmarks.ladder.problems import drawn_problem
from benchmarks.ladder.verifying import WrongTreeError, nodes_of_rows
from gbt.reference import boosting as reference
from tests.asserts import assert_close

ROOT = Path(__file__).parents[2]


def grown(rung, problem):
    table = rung.prepare(problem.X)
    return rung.grow(table, problem.gradients[0], problem.max_depth, problem.reg_lambda)


@given(st.integers(0, 2**32 - 1))
def test_the_page_of_the_ladder_grows_the_trees_of_the_reference(seed):
    """A run of the study compares the other rungs with it, on problems that are drawn alike."""
    problem = drawn_problem(np.random.default_rng(seed), 150)
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


def other_tie(X, gradient, max_depth, reg_lambda):
    """Grow a tree by the page with the lowest threshold of equals."""
    tree = rung_1_page.grow(-X, gradient, max_depth, reg_lambda)
    return tree._replace(threshold=np.nextafter(-tree.threshold, -np.inf))


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
