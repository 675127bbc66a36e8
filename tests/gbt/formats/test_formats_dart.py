"""Importing DART, whose trees have weights and were grown without some of those before them."""

import numpy as np
import pytest

from attributions import predecomp
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.formats.xgboost.model import from_xgboost
from tests.asserts import EPS_32, assert_close, assert_same, assert_sums_of_rows, is_before, peer
from tests.gbt.formats.test_formats_lightgbm import train as lightgbm_trained
from tests.gbt.formats.test_formats_lightgbm import training_data as lightgbm_data
from tests.gbt.formats.test_formats_xgboost import json_of, train, training_data

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")

DART = {"booster": "dart", "rate_drop": 0.5, "one_drop": True, "seed": 3}
OBJECTIVES = ("reg:squarederror", "binary:logistic")


def margin_of(booster, X):
    return booster.predict(peer("xgboost").DMatrix(X), output_margin=True)


LAYOUTS = ["3.2", "3.3", "3.4"]  # of files, by the version of XGBoost that writes them


def trees_and_weights(document):
    """Return the trees and their weights, whatever version has written them."""
    booster = document["learner"]["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    return model["trees"], booster.get("weight_drop", model.get("weight_drop"))


def laid_out(document, layout):
    """Return the same model of DART as another version of XGBoost writes it."""
    booster = document["learner"]["gradient_booster"]
    weights = trees_and_weights(document)[1]
    model = {k: v for k, v in booster.get("gbtree", booster)["model"].items() if k != "weight_drop"}
    written = {
        "3.2": {"gbtree": {"model": model, "name": "gbtree"}, "name": "dart"},
        "3.3": {"model": model, "name": "gbtree"},
        "3.4": {"model": model | {"weight_drop": weights}, "name": "gbtree"},
    }[layout]
    written |= {} if layout == "3.4" else {"weight_drop": weights}
    return {**document, "learner": {**document["learner"], "gradient_booster": written}}


def imported(booster):
    ensemble = as_ensemble(booster)
    told = "DART grew its trees at the predictions of some"
    assert told in ensemble.about_gradients
    return ensemble


@pytest.mark.parametrize("normalize", ["tree", "forest"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_predictions_are_those_of_weighted_trees(objective, normalize):
    booster = train({**DART, "normalize_type": normalize}, objective)
    X, _, _ = training_data(objective)
    ensemble = imported(booster)
    assert ensemble.statistics == {"hessians", "values"}
    terms = 1 + abs(ensemble.base_score) + np.abs(ensemble.value).sum()
    assert_close(ensemble.raw_predict(X), margin_of(booster, X), np.full(300, terms), eps=EPS_32)
    trees, dropped = trees_and_weights(json_of(booster))
    leaves = booster.predict(peer("xgboost").DMatrix(X), pred_leaf=True).astype(int)
    own = [
        np.float32(weight) * np.float32(tree["split_conditions"])[leaves[:, m]].astype(np.float64)
        for m, (tree, weight) in enumerate(zip(trees, dropped, strict=True))
    ]
    assert len(set(dropped)) > 2
    assert_same(ensemble.value[ensemble.apply(X) + ensemble.tree_offset[:-1]], np.transpose(own))


@pytest.mark.parametrize("xgboost_mode", [False, True])
@pytest.mark.parametrize("objective", ["regression", "binary", "poisson"])
def test_lightgbm(objective, xgboost_mode):
    """Its trees are scaled in the text already; values of inner nodes follow from the leaves."""
    asked = {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0, "objective": objective}
    asked["xgboost_dart_mode"] = xgboost_mode
    of = "regression" if objective == "regression" else "binary"
    booster = lightgbm_trained(asked, of, n_rounds=9)
    ensemble = as_ensemble(booster)
    assert "boosting='dart' grew its trees at the predictions" in ensemble.about_gradients
    assert ensemble.statistics == {"hessians", "counts", "values"}
    X, y, weight = lightgbm_data(of)
    raw = booster.predict(X, raw_score=True)
    terms = np.full(400, abs(ensemble.base_score) + np.abs(ensemble.value).sum())
    assert_close(ensemble.raw_predict(X), raw, terms)
    assert_close(predecomp(ensemble, X).residual(raw), 0 * raw, terms)
    complete = as_ensemble(booster, X, y, weight)  # without a warning
    assert_same(complete.sum_gradient, ensemble.refit_statistics(X, y, weight).sum_gradient)
    assert_same(complete.value, ensemble.value)
    with pytest.warns(UserWarning, match="rows = "):
        as_ensemble(booster, X[:99], y[:99], weight[:99])


def test_lightgbm_without_drops_is_known():
    plain = as_ensemble(lightgbm_trained())
    ensemble = as_ensemble(lightgbm_trained({"boosting": "dart", "skip_drop": 1.0}))
    assert_same(ensemble.sum_gradient, plain.sum_gradient)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_training_rows_give_statistics_along_the_predictions_of_all_trees(objective):
    """No warning: what XGBoost kept is of other predictions, which rows cannot check."""
    booster = train(DART, objective)
    X, y, weight = training_data(objective)
    ensemble = as_ensemble(booster, X, y, weight)
    assert ensemble.statistics == {"gradients", "hessians", "counts", "values"}
    assert_sums_of_rows(ensemble, X, y, weight)


def test_where_nothing_was_dropped_gradients_are_known():
    plain = as_ensemble(train())
    ensemble = as_ensemble(train({"booster": "dart", "rate_drop": 0.0}))
    assert_same(ensemble.sum_gradient, plain.sum_gradient)
    assert_same(ensemble.value, plain.value)


def test_a_file(tmp_path):
    booster = train(DART)
    X, _, _ = training_data("reg:squarederror")
    for name in ("model.json", "model.ubj"):
        booster.save_model(tmp_path / name)
        ensemble = from_xgboost(tmp_path / name, reg_lambda=1, learning_rate=0.3)
        assert_same(ensemble.raw_predict(X), imported(booster).raw_predict(X))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_are_found_wherever_a_version_keeps_them(layout):
    booster = train(DART)
    X, _, _ = training_data("reg:squarederror")
    ensemble = from_xgboost(laid_out(json_of(booster), layout), reg_lambda=1, learning_rate=0.3)
    raw = margin_of(booster, X)
    terms = np.full(300, 1 + abs(ensemble.base_score) + np.abs(ensemble.value).sum())
    assert_close(ensemble.raw_predict(X), raw, terms, eps=EPS_32)
    assert "DART grew its trees" in ensemble.about_gradients


def test_trees_that_are_dropped_without_a_booster_of_that_name():
    """From 3.3 on ``rate_drop`` is a parameter like others; earlier versions ignore it here."""
    booster = train({key: DART[key] for key in DART if key != "booster"})
    X, _, _ = training_data("reg:squarederror")
    ensemble = as_ensemble(booster)
    assert ("DART" in str(ensemble.about_gradients)) != is_before("xgboost", 3, 3)
    terms = np.full(300, 1 + abs(ensemble.base_score) + np.abs(ensemble.value).sum())
    assert_close(ensemble.raw_predict(X), margin_of(booster, X), terms, eps=EPS_32)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "as many finite numbers weight_drop: 1"),
        ([1.0, np.nan] + [1.0] * 6, "as many finite numbers"),
        ("x", "weight_drop of the trees"),
        (None, "weight_drop is missing"),
    ],
)
def test_malformed_weights(weights, message):
    model = laid_out(json_of(train(DART)), "3.2")
    booster = model["learner"]["gradient_booster"]
    booster["weight_drop"] = weights
    if weights is None:  # from 3.3 on that is a model that never dropped a tree
        del booster["weight_drop"]
    with pytest.raises(InvalidModelError, match=message):
        from_xgboost(model)
