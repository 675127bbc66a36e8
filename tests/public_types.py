"""What a type checker knows of the public names; `mypy` reads this file with the packages.

Each line fails if the name on its left is of type Any.
"""

from typing import assert_type

import numpy as np

import attributions
import gbt
from attributions.plots import (
    BoostingDisplay,
    ImportanceDisplay,
    LocalAttributionDisplay,
    TreeDisplay,
)
from attributions.results import GlobalAttribution, LocalAttribution
from gbt.estimators import GBTClassifier, GBTRegressor
from gbt.model.ensemble import Ensemble
from gbt.model.tree import Tree
from gbt.reference.boosting import Model, boost


def public_types(X: np.ndarray, y: np.ndarray) -> None:
    """Say what is returned; nobody calls this."""
    regressor = gbt.GBTRegressor(n_estimators=3, max_leaves=4)
    assert_type(regressor, GBTRegressor)
    assert_type(regressor.fit(X, y), GBTRegressor)
    assert_type(regressor.ensemble_, Ensemble)
    assert_type(regressor.ensemble_.trees[0], Tree)
    assert_type(regressor.ensemble_.trees[:2], list[Tree])
    assert_type(regressor.n_estimators, int | None)
    assert_type(gbt.GBTClassifier(class_weight="balanced").fit(X, y), GBTClassifier)
    assert_type(gbt.GBTClassifier().predict_proba(X), np.ndarray)
    assert_type(gbt.load("model.json"), Ensemble | GBTRegressor | GBTClassifier)
    assert_type(attributions.held_out_gain(regressor, X, y), GlobalAttribution)
    assert_type(attributions.held_out_gain_rows(regressor, X, y), LocalAttribution)
    assert_type(attributions.tree_inner(regressor, X, y), GlobalAttribution)
    assert_type(attributions.predecomp(regressor, X), LocalAttribution)
    picture = attributions.tree_inner(regressor, X, y).plot()
    assert_type(picture, ImportanceDisplay | BoostingDisplay)
    assert_type(attributions.predecomp(regressor, X).plot(row=0), LocalAttributionDisplay)
    assert_type(TreeDisplay.from_model(regressor, 0), TreeDisplay)
    assert_type(boost(X, y, n_estimators=3), Model)
    gbt.GBTRegressor(eta=0.1)  # type: ignore[call-arg]
    gbt.nonsense  # type: ignore[attr-defined]  # noqa: B018
