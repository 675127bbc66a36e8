"""Splits on sets of levels: trees of the page, the best of all subsets, whatever the policy."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt import GBTRegressor
from gbt.splitting.cuts import Sets, best_cuts
from gbt.splitting.frontier import Derivatives, Frontier, Limits
from gbt.tables.columns import Columns
from tests.asserts import assert_close, assert_same, assert_same_ensemble
from tests.gbt.training.test_growing import page
from tests.trainer import gradients, grow_with, growth_for, parameters_of_trees

pytestmark = pytest.mark.kernels
NAN = np.nan


@st.composite
def tables(draw, max_rows=80):
    """Draw rows of numbers and of numbers of levels, with the number of levels of every column.

    Levels need not all occur, and one column at least has some.
    """
    n = draw(st.integers(1, 12) | st.integers(30, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels = [draw(st.sampled_from([1, 2, 5, 70])), *draw(st.lists(st.sampled_from([0, 3, 40])))]
    n_levels = np.array(n_levels[:4])
    X = rng.integers(np.where(n_levels > 0, n_levels, 9), size=(n, len(n_levels))).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = NAN
    return X, n_levels


SMOOTHINGS = st.sampled_from([0.0, 0.5, 3.0, 10.0])


@given(tables(), st.data(), parameters_of_trees(), SMOOTHINGS, st.sampled_from([1, 2]))
def test_trees_are_those_of_the_page(table, data, parameters, smoothing, n_jobs):
    X, n_levels = table
    gradient, hessian = data.draw(gradients(len(X)))
    weight = data.draw(st.sampled_from([np.ones(1), np.arange(1.0, 4.0), np.array([0.3, 2.5])]))
    weight = np.resize(weight, len(X))
    parameters["categorical_smoothing"] = smoothing
    growth = growth_for(
        Columns.from_table(X, n_levels=n_levels), gradient, hessian, weight, n_jobs=n_jobs,
        **parameters,
    )  # fmt: skip
    tree, leaves = grow_with(growth)
    nodes = page(
        X, gradient, hessian, sample_weight=weight,
        categorical=tuple(np.flatnonzero(n_levels)), **parameters,
    )  # fmt: skip
    for name in ("feature", "threshold", "left", "right", "missing_left", "n_samples"):
        assert_same(getattr(tree, name), np.array([getattr(node, name) for node in nodes]))
    for name in ("sum_gradient", "sum_hessian", "gain", "value"):
        assert_same(getattr(tree, name), np.array([getattr(node, name) for node in nodes]))
    for t, node in enumerate(nodes):
        if node.levels is None:
            assert tree.level_sets.of_node[t] == -1
            continue
        seen = {v: is_left for v, is_left in node.levels.items() if np.isfinite(v)}
        goes_left = tree.level_sets.goes_left(t, n_levels[node.feature])
        expected = [seen.get(float(v), node.missing_left) for v in range(n_levels[node.feature])]
        assert_same(goes_left, np.array(expected, dtype=bool))
    assert_same(tree.find_leaves(X), leaves)


@pytest.mark.parametrize("n_levels", [30, 400])
def test_many_trees_of_a_call_have_the_sets_of_one_a_call(n_levels):
    """Of 30 levels a node keeps bits; of 400 the rows are asked, where a tree is split on them."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers([12, n_levels], size=(900, 2)), rng.normal(size=900)])
    y = X[:, 0] % 3 + X[:, 2] + rng.normal(size=900)
    levels = {"categorical_features": [0, 1], "categorical_smoothing": 2.0}
    asked = GBTRegressor(9, max_depth=3, splitter="greedy", **levels)
    together = asked.fit(X, y).ensemble_
    is_asked = np.array([(tree.feature == 1).any() for tree in together.trees])
    assert 0 < is_asked.sum() < 9
    assert_same_ensemble(together, asked.fit(X, y, eval_set=[(X[:5], y[:5])]).ensemble_)


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.booleans())
def test_the_best_of_all_subsets_of_levels_is_found(seed, n_levels, has_missing):
    """Fisher's theorem: with equal hessians and lambda 0, sorting by means loses no subset."""
    rng = np.random.default_rng(seed)
    level = rng.integers(n_levels, size=40).astype(float)
    if has_missing:
        level[rng.random(40) < 0.2] = NAN
    g = rng.integers(-20, 21, size=40)
    columns = Columns.from_table(level[:, np.newaxis], n_levels=np.array([n_levels]))
    frontier = Frontier(
        columns, np.array([0]), Derivatives(g, np.ones(40, np.int64), 1.0, 1.0),
        np.arange(40, dtype=np.int32), np.array([0]), np.array([40]), rng,
    )  # fmt: skip
    found = best_cuts(frontier, Limits(0.0, 0.0, 1, 0.0), 1).score[0, 0, 0]
    level = np.where(np.isnan(level), -1.0, level)
    levels = np.unique(level)
    scores = [-np.inf]
    for size in range(1, len(levels)):
        for chosen in combinations(levels, size):
            is_left = np.isin(level, chosen)
            left, right = g[is_left], g[~is_left]
            scores.append(left.sum() ** 2 / len(left) + right.sum() ** 2 / len(right))
    if max(scores) == -np.inf:
        assert found == -np.inf
    else:
        assert_close(found, max(scores), max(scores))


def test_levels_without_rows_in_a_sum_go_where_raw_predictions_rise():
    """By hand: level 0 has gradients below 0, level 1 above, level 2 none in the sum that chooses.

    It stands with level 0, whose rows get the higher values, as with Adler and Painsky.
    """
    level = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    frontier = Frontier(
        Columns.from_table(level[:, np.newaxis], n_levels=np.array([3])), np.array([0]),
        Derivatives(np.array([-4, -4, 3, 3, 2, 2]), np.ones(6, dtype=np.int64), 1.0, 1.0),
        np.arange(6, dtype=np.int32), np.array([0]), np.array([6]), np.random.default_rng(0),
    )  # fmt: skip
    sets = Sets(
        np.array([0, 0, 0, 0, 1, 1], dtype=np.uint8), np.array([[True, False], [True, True]]), 2, 1
    )
    found = best_cuts(frontier, Limits(0.0, 0.0, 1, 0.0), 1, sets)
    assert_same(found.left[0, 0, 0], np.array([[-8, 2, 2], [-4, 4, 4]]))
    assert_same(found.left[0, 0, 1], np.array([[-8, 2, 2], [-8, 2, 2]]))
