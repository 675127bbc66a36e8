"""What means of leaves are weighed by, in models of every library."""

import warnings
from importlib import import_module

import numpy as np
import pytest

from attributions import held_out_gain, local_mdi
from gbt.formats import as_ensemble
from tests.asserts import peer

RNG = np.random.default_rng(1)
X, X_NEW = RNG.normal(size=(2, 120, 3))
Y, Y_NEW = (rows[:, 0] + 0.5 * RNG.normal(size=120) for rows in (X, X_NEW))
QUIET = {"verbose": 0, "allow_writing_files": False}


def test_local_mdi_of_catboost():
    """Over no rows but those of training, in sum, a tree explains what it predicts of them."""
    model = peer("catboost").CatBoostRegressor(4, depth=3, **QUIET).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = local_mdi(model, X, Y, linear_model="ols")
    assert np.abs(found.values).mean(axis=0).argmax() == 0


BY_COUNT = "held_out_gain(weights='count')"
WEIGHED = {  # class; whether of two classes; whether with weights; the method of its result
    "XGBoost": ("xgboost.XGBClassifier", True, True, "held_out_gain"),
    "LightGBM": ("lightgbm.LGBMClassifier", True, True, "held_out_gain"),
    "CatBoost, RMSE": ("catboost.CatBoostRegressor", False, False, "held_out_gain"),
    "CatBoost, Logloss": ("catboost.CatBoostClassifier", True, False, BY_COUNT),
    "a forest": ("sklearn.ensemble.RandomForestClassifier", True, True, "held_out_gain"),
    "amounts": ("sklearn.ensemble.GradientBoostingRegressor", False, True, "held_out_gain"),
    "classes": ("sklearn.ensemble.GradientBoostingClassifier", True, False, BY_COUNT),
    "bins": ("sklearn.ensemble.HistGradientBoostingRegressor", False, False, "held_out_gain"),
    "bins, weights": ("sklearn.ensemble.HistGradientBoostingRegressor", False, True, BY_COUNT),
    "bins, classes": ("sklearn.ensemble.HistGradientBoostingClassifier", True, False, BY_COUNT),
}


@pytest.mark.parametrize(
    ("kind", "of_classes", "is_weighted", "method"), WEIGHED.values(), ids=WEIGHED
)
def test_what_leaves_weigh_by(kind, of_classes, is_weighted, method):
    package, _, name = kind.rpartition(".")
    library = package.split(".")[0]
    quiet = {"catboost": QUIET, "lightgbm": {"verbose": -1}}.get(library, {})
    if library != "sklearn":
        peer(library)
    of_library = getattr(import_module(package), name)
    y, y_new = (Y > 0, Y_NEW > 0) if of_classes else (Y, Y_NEW)
    weight = np.linspace(0.5, 1.5, len(Y)) if is_weighted else None
    model = of_library(**quiet).fit(X, y, sample_weight=weight)
    assert held_out_gain(model, X_NEW, y_new).method == method
    complete = as_ensemble(model, X, y, weight)
    assert held_out_gain(complete, X_NEW, y_new).method == "held_out_gain"
