"""The boosting loop: what must hold of a fitted ensemble, whatever the data."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gbt.kernels.rows.derivatives import HALF_SQUARED_ERROR
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.model.tree import NODE_DTYPES
from gbt.reference import boosting as reference
from gbt.tables.columns import Columns
from tests.asserts import (
    assert_close,
    assert_same,
    assert_same_as_page,
    assert_same_trees,
    assert_sums_of_rows,
    assert_valid_ensemble,
)
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.trainer import grow_tree, growth_for, with_threads

NAN = np.nan
ALL, SPLITS = tuple(NODE_DTYPES), ("feature", "threshold", "left", "missing_left", "n_samples")


def test_two_rounds_by_hand():
    """Targets 0 and 4, lambda 1, learning rate 1/2: every number on paper.

    Base score 2, g = (2, -2), h = 1. Tree 1: leaves -1/2 * 2/2 = -1/2 and +1/2, so f = (3/2, 5/2).
    Then g = (3/2, -3/2): leaves -3/8 and 3/8, f = (9/8, 23/8). Gains 2^2/2 * 2 = 4 and 9/4.
    """
    model = GreedyRegressor(2, learning_rate=0.5).fit([[0.0], [1.0]], [0.0, 4.0]).ensemble_
    assert model.base_score == 2.0
    assert_same(model.threshold, [0.5, 0, 0] * 2)
    assert_same(model.sum_gradient, [0, 2, -2, 0, 1.5, -1.5])
    assert_same(model.value, [0, -0.5, 0.5, 0, -0.375, 0.375])
    assert_same(model.gain, [4, 0, 0, 2.25, 0, 0])
    assert_same(model.raw_predict([[0.0], [1.0]]), [1.125, 2.875])


@settings(max_examples=max(50, settings().max_examples))
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans(), st.sampled_from([None, 4]))
@example(1033, 3, True, None)  # where the logarithms of NumPy and of Python differ in the last bit
def test_models_are_those_of_the_plain_page(seed, n_classes, weighted, max_leaves):
    """Of numbers, for one class, to the last bit; of classes exponentials are rounded."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    y = rng.permutation(np.arange(40) % n_classes) if n_classes > 1 else rng.normal(size=40)
    weight = rng.integers(1, 4, 40).astype(float) if weighted else None
    start = rng.normal(size=40) if n_classes < 3 and seed % 2 else None
    asked = {"max_depth": 3, "reg_lambda": 0.5, "learning_rate": 0.3, "n_estimators": 3}
    asked |= {"max_leaves": max_leaves}
    given_rows = {"sample_weight": weight, "fixed_point": True}
    if n_classes > 2:
        models = reference.boost_classes(X, y, n_classes=n_classes, **asked, **given_rows)
    else:
        loss = ["half_squared_error", "half_logistic"][n_classes - 1]
        models = [reference.boost(X, y, loss=loss, init_score=start, **asked, **given_rows)]
    estimator = GreedyRegressor if n_classes == 1 else GreedyClassifier
    ensemble = estimator(**asked).fit(X, y, weight, init_score=start).ensemble_
    base_scores = np.squeeze([model.base_score for model in models])
    assert_close(ensemble.base_score, base_scores, float(n_classes == 2))  # log(p/q), log p - log q
    for output, model in zip(ensemble.outputs, models, strict=True):
        for tree, nodes in zip(output.trees, model.trees, strict=True):
            assert_same_as_page(tree, nodes, ALL if n_classes == 1 else SPLITS)
            assert_close(tree.value, [node.value for node in nodes], 1.0 + np.abs(tree.value))
    raw = np.squeeze(np.column_stack([model.raw_predict(X) for model in models]))
    raw = raw if start is None else raw + start
    assert_close(ensemble.raw_predict(X, init_score=start), raw, np.abs(raw) + 5)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_overflow_after_some_trees_is_told_and_leaves_nothing_behind(n_jobs):
    """A learning rate of 1e200 takes raw predictions beyond what squares hold; then it is .5."""
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40.0) % 7
    with with_threads(least_values=10):
        growth = growth_for(
            Columns.from_table(X), y, np.ones(40), max_depth=2, n_jobs=n_jobs, learning_rate=1e200
        )
        growth.rules["loss"] = HALF_SQUARED_ERROR
        growth.training.y[:] = y
        with pytest.raises(FloatingPointError):
            growth.grow(0, None, np.arange(1), 10)
        assert growth.rules["n_trees"] > 1
        growth.training.raw_prediction[:] = 0.0
        growth.rules["learning_rate"] = 0.5
        tree, sizes, *_ = growth.grow(0, None, np.arange(1), 1)
    alone, _ = grow_tree(Columns.from_table(X), -growth.training.y, np.ones(40), max_depth=2)
    assert sizes == [alone.n_nodes]
    for name in NODE_DTYPES:
        assert_same(tree[name], getattr(alone, name))


@pytest.mark.parametrize("estimator", [GreedyRegressor, GreedyClassifier])
def test_every_block_of_rows_follows_every_tree(estimator):
    """The sums of a root are those of all rows at the raw predictions of the trees before it."""
    rng, n = np.random.default_rng(0), 2 * ROWS_PER_TASK + 1000
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + rng.normal(size=n)
    y = y if estimator is GreedyRegressor else (y > 0) * 1
    model = estimator(n_estimators=3, max_depth=4, n_jobs=2).fit(X, y).ensemble_
    assert_valid_ensemble(model)
    assert_sums_of_rows(model, X, y)


def test_a_sample_of_all_rows_is_all_rows():
    """.99 of eight rows are eight, whose raw predictions follow once, not twice."""
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8.0) ** 2
    drawn, whole = (GreedyRegressor(3, subsample=share).fit(X, y) for share in (0.99, 1.0))
    assert_same_trees(drawn, whole)
