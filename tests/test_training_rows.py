"""Rows of weight 0 in training: what a library keeps is what the rows add up to, all the same."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from gbt import GBTRegressor
from gbt.formats import as_ensemble
from gbt.model import STATISTICS
from tests.asserts import EPS_32, assert_close, assert_same, peer

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(400, 3)), RNG.normal(size=400)
WEIGHT = 0.5 * RNG.permutation(np.arange(400) % 4)
SEEN = WEIGHT > 0
FEW = {"n_estimators": 3}
QUIET = {"verbose": 0, "allow_writing_files": False}
REGRESSORS = {  # and which rows are counted
    "ours": (lambda: GBTRegressor(**FEW), SEEN),
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
