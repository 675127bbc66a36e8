"""Training rows beside a model: right ones pass without a word, other targets or weights do not."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions import local_mdi
from gbt.formats import as_ensemble
from gbt.model.soundness import STATISTICS
from tests.asserts import EPS_32, assert_close, assert_same, peer
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(400, 3)), RNG.normal(size=400)
WEIGHT = 0.5 * RNG.permutation(np.arange(400) % 4)
SEEN = WEIGHT > 0
FEW = {"n_estimators": 3}
QUIET = {"verbose": 0, "allow_writing_files": False}
REGRESSORS = {  # and which rows are counted
    "ours": (lambda: GreedyRegressor(**FEW), SEEN),
    "xgboost": (lambda: peer("xgboost").XGBRegressor(**FEW), SEEN),
    "lightgbm": (lambda: peer("lightgbm").LGBMRegressor(verbose=-1, **FEW), SEEN | True),
    "catboost": (lambda: peer("catboost").CatBoostRegressor(**QUIET, **FEW), SEEN),
    "histograms": (lambda: HistGradientBoostingRegressor(max_iter=3), SEEN | True),
    "gradient boosting": (lambda: GradientBoostingRegressor(**FEW), SEEN),
    "forest": (lambda: RandomForestRegressor(bootstrap=False, **FEW), SEEN),
    "tree": (lambda: DecisionTreeRegressor(max_leaf_nodes=9), SEEN),
}


@pytest.mark.parametrize("library", REGRESSORS)
def test_rows_of_weight_0(library):
    make, counted = REGRESSORS[library]
    model = make().fit(X, Y, sample_weight=WEIGHT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = as_ensemble(model, X, Y, WEIGHT)
    assert ensemble.statistics == set(STATISTICS)
    roots = ensemble.tree_offset[:-1]
    assert_same(ensemble.n_samples[roots], np.full(len(roots), counted.sum()))
    assert_close(ensemble.sum_hessian[roots], np.full(len(roots), WEIGHT.sum()), 400, eps=EPS_32)
    leaves = ensemble.apply(X)
    for m, tree in enumerate(ensemble.trees):
        for leaf in np.flatnonzero(tree.is_leaf):
            is_here = counted & (leaves[:, m] == leaf)
            assert tree.n_samples[leaf] == is_here.sum()


# ------------------------------------------------------------------- where counts alone are kept


SIGNAL = X[:, 0] + 0.5 * Y
FIVE = {"max_iter": 5, "max_leaf_nodes": 8}


def test_what_a_leaf_says_by_hand():
    """Four rows a leaf at p = 1/2, so H = 1: the value -2 on the left says G = 2.

    Labels the other way round have three positives on the left, G = 4/2 - 3.
    """
    two, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.array([0, 0, 0, 0, 0, 1, 1, 1])
    model = GradientBoostingClassifier(n_estimators=1, learning_rate=1.0, max_depth=1, init="zero")
    model.fit(two, y)
    said = r"at node 1 of tree 0 it has G \(as its value says\) = 2, they give -1\."
    with pytest.warns(UserWarning, match=said):
        as_ensemble(model, two, y[::-1])
    local_mdi(model, two, y)
    with pytest.raises(ValueError, match="not what the model was fitted on: at node 1 of tree 0"):
        local_mdi(model, two, y[::-1])


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=80, learning_rate=1.0, max_depth=1),
        HistGradientBoostingClassifier(max_iter=80, learning_rate=1.0, max_leaf_nodes=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classes_that_are_told_apart_entirely(model):
    """In the end probabilities are 0 and 1 to the last bit, and all that is left is rounding."""
    line = np.linspace(-1, 1, 100)[:, np.newaxis]
    y = line[:, 0] > 0.4
    ensemble = as_ensemble(model.fit(line, y), line, y)
    assert np.abs(ensemble.raw_predict(line)).min() > 7


def test_a_tree_without_a_split_is_no_step():
    """HistGradientBoosting gives it the value 0, whatever G is: too little weight to be split."""
    line = np.arange(100.0)[:, np.newaxis]
    y, weight = line[:, 0] >= 30, np.full(100, 2e-4)
    model = HistGradientBoostingClassifier(max_iter=3, learning_rate=1.0, max_leaf_nodes=2)
    model.fit(line, y, sample_weight=weight)
    ensemble = as_ensemble(model, line, y, weight)
    assert_same(np.diff(ensemble.tree_offset), [3, 1, 1])
    assert abs(ensemble.sum_gradient[-1]) > 0.1 * ensemble.sum_hessian[-1]


# ------------------------------------------------------------------------- weights of the classes


BALANCED = {
    "histograms": lambda **of: HistGradientBoostingClassifier(**FIVE, **of),
    "a tree": lambda **of: DecisionTreeClassifier(max_leaf_nodes=9, **of),
    "a forest": lambda **of: ExtraTreesClassifier(3, max_depth=4, **of),
    "ours": lambda **of: GreedyClassifier(**FEW, **of),
    "lightgbm": lambda **of: peer("lightgbm").LGBMClassifier(verbose=-1, **FEW, **of),
}


@pytest.mark.slow
@pytest.mark.parametrize("library", BALANCED)
def test_balanced_classes_weigh_as_in_training(library):
    y = SIGNAL > 1
    weight = np.where(y, 400 / (2 * y.sum()), 400 / (2 * (~y).sum()))
    model = BALANCED[library](class_weight="balanced").fit(X, y)
    ensemble = as_ensemble(model, X, y)  # without a warning
    start = np.full(400, ensemble.base_score)
    _, hessian = ensemble.loss.gradient_hessian(y * 1.0, start)
    expected = (weight * hessian).sum()
    assert_close(ensemble.sum_hessian[0], expected, expected, k=400, eps=EPS_32)
    given = as_ensemble(model, X, y, weight)  # what is given is all of the weight
    for name in ("sum_gradient", "sum_hessian", "value"):
        assert_same(getattr(given, name), getattr(ensemble, name))
    with pytest.warns(UserWarning, match="trained on other rows or weights"):
        as_ensemble(model, X, y, np.ones(400))
