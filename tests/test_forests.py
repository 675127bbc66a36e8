"""Forests of scikit-learn as an ensemble predict what they did."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from attributions.forests import drawn_counts, forest_ensemble, is_forest
from tests.asserts import assert_close, assert_same

X, y = make_friedman1(120, 6, noise=1.0, random_state=0)
X[::9, 2] = np.nan

FORESTS = {
    "regressor": RandomForestRegressor(5, random_state=0),
    "best first": RandomForestRegressor(5, max_leaf_nodes=7, random_state=0),
    "classifier": RandomForestClassifier(5, random_state=0),
    "extra trees": ExtraTreesRegressor(5, random_state=0),
    "extra classifier": ExtraTreesClassifier(5, max_depth=3, random_state=0),
}


@pytest.mark.parametrize("name", FORESTS)
def test_the_ensemble_predicts_what_the_forest_does(name):
    forest = FORESTS[name]
    target = y > 14 if "classifier" in name else y
    forest.fit(X, target)
    ensemble = forest_ensemble(forest)
    ensemble.validate()
    rows = X + np.random.default_rng(0).normal(0, 1e-3, X.shape)
    expected = forest.predict_proba(rows)[:, 1] if "classifier" in name else forest.predict(rows)
    assert_close(ensemble.raw_predict(rows), expected, np.abs(expected) + 1)
    assert_same(ensemble.n_samples[0], forest.estimators_[0].tree_.n_node_samples[0])
    assert is_forest(forest)
    assert not is_forest(y)


def test_how_often_rows_were_drawn():
    forest = RandomForestRegressor(3, max_samples=0.5, random_state=0).fit(X, y)
    counts = [*drawn_counts(forest, 120)]
    assert [count.sum() for count in counts] == [60.0] * 3
    for count, estimator in zip(counts, forest.estimators_, strict=True):
        assert (count > 0).sum() == estimator.tree_.n_node_samples[0]
