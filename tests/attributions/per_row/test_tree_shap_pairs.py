"""SHAP interaction values: by their definition, by XGBoost and shap, and with TreeSHAP's sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import tree_shap, tree_shap_pairs
from attributions.reference.shapley import path_dependent_game, shapley_interactions
from attributions.testing import ensembles, rows_for
from tests.asserts import EPS_32, assert_close, assert_same, peer
from tests.greedy import GreedyClassifier, GreedyRegressor


def table(n=400, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = np.nan_to_num(X)
    return X, (filled[:, 0] * filled[:, 1] + filled[:, 2] + 0.3 * rng.normal(size=n))


@given(ensembles(), st.data())
def test_they_are_those_of_the_definition(ensemble, data):
    X = data.draw(rows_for(ensemble))[:4]
    found = tree_shap_pairs(ensemble, X)
    rows, size = ensemble.as_input(X), np.abs(ensemble.value).sum()
    for i, x in enumerate(rows):
        expected = sum(
            shapley_interactions(
                path_dependent_game(tree, x, tree.sum_hessian), ensemble.n_features
            )
            for tree in ensemble.trees
        )
        assert_close(found.values[i], expected, size, k=1024)
        assert_same(found.main_effects()[i], np.diagonal(found.values[i]))


@pytest.mark.parametrize("max_depth", [1, 3, 6, 10])
def test_they_are_xgboosts(max_depth):
    xgboost = peer("xgboost")
    X, y = table(n=1_000, p=11)
    booster = xgboost.train(
        {"max_depth": max_depth, "min_child_weight": 0, "base_score": 0.0},
        xgboost.DMatrix(X, y), 10,
    )  # fmt: skip
    for rows in (X[:300], X[:3]):
        theirs = booster.predict(xgboost.DMatrix(rows), pred_interactions=True)
        ours = tree_shap_pairs(booster, rows)
        size = np.abs(y).sum() / len(y) * 100
        assert_close(ours.values, theirs[:, :-1, :-1], size, k=64, eps=EPS_32)
        assert_close(ours.base_values, theirs[:, -1, -1], size, eps=EPS_32)


def test_rows_alone_and_together_and_threads():
    """Words are tabled where rows are many; the numbers are the same to the last bit."""
    X, y = table(n=700, p=12)
    model = GreedyRegressor(n_estimators=5, max_depth=10, min_child_weight=0.0).fit(X, y)
    whole = tree_shap_pairs(model, X, n_jobs=1).values
    assert_same(tree_shap_pairs(model, X, n_jobs=2).values, whole)
    for i in (0, 699):
        assert_same(tree_shap_pairs(model, X[i : i + 1]).values[0], whole[i])
    assert tree_shap_pairs(model, X[:0]).values.shape == (0, 12, 12)


def test_sums_are_shapley_values_and_predictions_and_the_table():
    X, y = table()
    model = GreedyClassifier(n_estimators=4).fit(X, np.digitize(y, [-0.5, 0.5]))
    found = tree_shap_pairs(model, X, cover="count")
    assert found.values.shape == (400, 5, 5, 3)
    assert found.output_names == (0, 1, 2)
    size = np.abs(model.ensemble_.value).sum()
    shapley = tree_shap(model, X, cover="count")
    assert_close(found.contributions(), shapley.values, size)
    assert_same(found.base_values, shapley.base_values)
    assert_close(found.residual(model.decision_function(X)), np.zeros((400, 3)), size)
    assert_same(found.values, found.values.transpose(0, 2, 1, 3))
    assert_same(found["x0", "x1"], found.values[:, 0, 1])
    assert "(alone)" in repr(found)
    assert found.importance().shape == (5, 5)
    assert len(found) == 400
    with pytest.raises(ValueError, match="A pair is asked for by two names"):
        found["x0"]
