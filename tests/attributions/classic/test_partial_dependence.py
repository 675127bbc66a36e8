"""Partial dependence by its definition, by scikit-learn, and as the shapes of additive models."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence as theirs_of

from attributions import partial_dependence
from attributions.testing import ensembles, rows_for
from gbt import GBTRegressor
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same, peer
from tests.greedy import GreedyClassifier, GreedyRegressor

NAN = np.nan


def by_definition(ensemble, X, k, x):
    """Return the mean prediction of the rows with x in place of their value of feature k."""
    replaced = X.copy()
    replaced[:, k] = x
    return ensemble.raw_predict(replaced).mean(axis=0)


def points_of(curve):
    """Return values in, and at the ends of, all intervals, and nan."""
    ends = np.concatenate([[-np.inf], curve.cuts, [np.inf]])
    ends = np.clip(ends, -1e30, 1e30)
    return np.concatenate([curve.cuts, np.nextafter(curve.cuts, np.inf), ends[[0, -1]], [NAN]])


def size_of(ensemble):
    return np.abs(ensemble.value).sum() + np.abs(ensemble.base_score)


@given(ensembles(), st.data())
def test_over_rows_it_is_the_mean_of_predictions(ensemble, data):
    X = data.draw(rows_for(ensemble))
    k = data.draw(st.integers(0, ensemble.n_features - 1))
    if not len(X):
        return
    curve = partial_dependence(ensemble, k, X)
    for x in points_of(curve):
        x = x if np.isnan(x) else float(ensemble.input_dtype(x))
        assert_close(curve.at([x])[0], by_definition(ensemble, X, k, x), size_of(ensemble))
    assert_close(curve.shares.sum(), 1.0, 1.0)
    assert_close(curve.mean(), curve.at(X[:, k]).mean(), size_of(ensemble))
    assert_close(curve.spread() ** 2, curve.at(X[:, k]).var(), size_of(ensemble) ** 2)


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("estimator", "cover"),
    [
        (HistGradientBoostingRegressor(max_iter=20, max_depth=4), "count"),
        (GradientBoostingRegressor(n_estimators=20), "hessian"),
        (RandomForestRegressor(n_estimators=10, max_depth=5, random_state=0), "hessian"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_by_recursion_it_is_scikit_learns(estimator, cover):
    """Theirs leaves the starting value of boosting out."""
    model = estimator.fit(*table())
    grid = np.linspace(-2, 2, 23) + 0.013  # at none of their thresholds, which are of float32
    start = 0.0 if isinstance(model, RandomForestRegressor) else as_ensemble(model).base_score
    for k in range(3):
        asked = {"method": "recursion", "kind": "average", "custom_values": {k: grid}}
        found = theirs_of(model, table()[0], [k], **asked)["average"][0]
        ours = partial_dependence(model, k, cover=cover).at(grid) - start
        np.testing.assert_allclose(ours, found, rtol=1e-5, atol=1e-6)


def test_by_hand():
    """Half of the cover is left of x1 <= 3, where x0 <= 5 predicts 1 and x0 > 5 predicts 3."""
    X = np.array([[0.0, 3.0], [10.0, 3.0], [0.0, 4.0], [10.0, 4.0]])
    y = np.array([1.0, 3.0, 8.0, 8.0])
    model = GreedyRegressor(
        n_estimators=1, learning_rate=1.0, reg_lambda=0.0, min_child_weight=0.0, base_score=0.0
    ).fit(X, y)
    curve = partial_dependence(model, "x0")
    assert_same(curve.cuts, [5.0])
    assert_close(curve.values, [0.5 * 1 + 0.5 * 8, 0.5 * 3 + 0.5 * 8], 8.0)
    assert not curve.is_additive
    over_rows = partial_dependence(model, 0, X[:3])
    assert_close(over_rows.values, [(1 + 1 + 8) / 3, (3 + 3 + 8) / 3], 8.0)
    assert_close(over_rows.shares, [2 / 3, 1 / 3, 0], 1.0)


@pytest.mark.parametrize("splitter", ["greedy", "unbiased", "cross_validated"])
def test_shapes_add_up_to_the_predictions_of_an_additive_model(splitter):
    """Base score, means and centered curves: whatever rows the curves are made with."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.1] = NAN
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X).sum(axis=1)
    model = GBTRegressor(
        n_estimators=15, interaction_constraints="no_interactions", splitter=splitter,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    new = rng.normal(size=(100, 4))
    new[rng.random(new.shape) < 0.2] = NAN
    for rows in (X, X[:7]):
        curves = [partial_dependence(model, k, rows) for k in range(4)]
        assert all(curve.is_additive for curve in curves)
        means = model.predict(rows).mean()
        total = means + sum(c.centered().at(new[:, k]) for k, c in enumerate(curves))
        assert_close(total, model.predict(new), 50 * size_of(model.ensemble_))
    free = GBTRegressor(n_estimators=15, splitter=splitter, random_state=0).fit(X, y)
    assert not partial_dependence(free, 0).is_additive


def test_levels_and_several_classes():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"word": rng.choice([*"abcd"], 300), "x": rng.normal(size=300)})
    frame.loc[::17, "word"] = None
    y = np.digitize(frame.x + (frame.word == "b"), [0, 1])
    model = GreedyClassifier(n_estimators=5).fit(frame, y)
    curve = partial_dependence(model, "word", frame)
    assert curve.values.shape == (4, 3)
    for word in ("a", "b", "c", "d", None):
        expected = model.ensemble_.raw_predict(frame.assign(word=[word] * 300)).mean(axis=0)
        np.testing.assert_allclose(curve.at(np.array([word], object))[0], expected, atol=1e-12)
    np.testing.assert_array_equal(curve.at("b"), curve.at(["b"])[0])  # not a list of letters
    shares = frame.word.value_counts(dropna=False, normalize=True)
    np.testing.assert_allclose(curve.shares[:4], [shares[word] for word in "abcd"])
    np.testing.assert_allclose(curve.shares[4], frame.word.isna().mean())
    assert curve.at("e").tolist() == curve.at(None).tolist()  # as the model takes what is unseen
    with pytest.raises(ValueError, match=r"'word' has words, such as \('a', .*; got 1"):
        curve.at([1])
    assert curve.output_names == (0, 1, 2)
    assert "share of rows" in repr(curve)
    curve = partial_dependence(model, "x", frame)
    expected = model.ensemble_.raw_predict(frame.assign(x=0.3)).mean(axis=0)
    np.testing.assert_allclose(curve.at([0.3])[0], expected, atol=1e-12)
    assert "> " in repr(curve)


def test_levels_that_are_not_missing_where_training_has_not_seen_them():
    frame = pd.DataFrame({"word": pd.Categorical([*"abcd", None] * 8)})
    y = np.arange(40.0) % 5
    model = peer("xgboost").XGBRegressor(n_estimators=2, enable_categorical=True).fit(frame, y)
    curve, unseen = partial_dependence(model, "word", frame), frame.assign(word=["e"] * 40)
    assert curve.at("e") == pytest.approx(as_ensemble(model).raw_predict(unseen).mean())
    assert curve.at("e") != curve.at(None)
    assert curve.centered().at("e") == curve.at("e") - curve.mean()


def test_a_model_that_compares_float32():
    xgboost = peer("xgboost")
    X, y = table(seed=3)
    booster = xgboost.train({"max_depth": 3}, xgboost.DMatrix(X, y), 10)
    ensemble = as_ensemble(booster)
    curve = partial_dependence(booster, 0, X)
    x = np.unique(X[:, 0])
    expected = [by_definition(ensemble, X, 0, value) for value in x]
    np.testing.assert_allclose(curve.at(x), expected, rtol=1e-12)


def test_sparse_rows_are_those_of_the_array():
    X, y = table(seed=4)
    X[np.isnan(X) | (np.abs(X) < 0.3)] = 0.0
    model = GreedyRegressor(5).fit(csr_array(X), y)
    found, expected = (partial_dependence(model, 0, rows) for rows in (csr_array(X), X))
    assert_same(found.values, expected.values)
    assert_same(found.shares, expected.shares)
    assert_same(expected.quantiles[[0, 500, -1]], np.sort(X[:, 0])[[0, (len(X) - 1) // 2, -1]])


def test_what_is_refused():
    X, y = table()
    model = GreedyRegressor(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="feature=3; the model has the columns 0 to 2"):
        partial_dependence(model, 3)
    for wrong in (0.5, ["x0"]):
        for arguments in ((wrong,), (X, wrong)):  # in scikit-learn's order, too
            with pytest.raises(ValueError, match=r"by its name or its number; got (0.5|\['x0'\])"):
                partial_dependence(model, *arguments)
    with pytest.raises(ValueError, match="'x0' is a column of numbers; got 'low'"):
        partial_dependence(model, 0).at("low")
    with pytest.raises(ValueError, match="give X to partial_dependence"):
        partial_dependence(model, 0).centered()
    with pytest.raises(ValueError, match="X has no rows"):
        partial_dependence(model, 0, X[:0])
