"""Importing DART, whose trees have weights and were grown without some of those before them."""

import numpy as np
import pytest

from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.formats.xgboost.model import from_xgboost
from tests.asserts import EPS_32, assert_close, assert_same, is_before, peer
from tests.gbt.formats.read_models import (
    DART,
    DART_OF_LIGHTGBM,
    fitted,
    lgb,
    size_of,
    table,
    xgb,
)
from tests.gbt.formats.test_formats_xgboost import json_of

MODEL = "xgboost dart numbers, tree"


def grown(case):
    return as_ensemble(case.fit(*table("gaps"), None))


def assert_predicts_alike(ensemble, booster):
    X, _ = table("gaps")
    raw = booster.predict(peer("xgboost").DMatrix(X), output_margin=True)
    assert_close(ensemble.raw_predict(X), raw, size_of(ensemble), eps=EPS_32)


def test_where_nothing_was_dropped_gradients_are_known():
    for case, asked in ((xgb, {"booster": "dart"}), (lgb, DART_OF_LIGHTGBM | {"skip_drop": 1.0})):
        plain, ensemble = grown(case()), grown(case(others=asked))
        assert_same(ensemble.sum_gradient, plain.sum_gradient)
        assert_same(ensemble.value, plain.value)


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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_are_found_wherever_a_version_keeps_them(layout):
    booster = fitted(MODEL).model
    ensemble = from_xgboost(laid_out(json_of(booster), layout), reg_lambda=1, learning_rate=0.3)
    assert_predicts_alike(ensemble, booster)
    assert "DART grew its trees" in ensemble.about_gradients


def test_trees_that_are_dropped_without_a_booster_of_that_name():
    """From 3.3 on ``rate_drop`` is a parameter like others; earlier versions ignore it here."""
    asked = {key: DART[key] for key in DART if key != "booster"}
    booster = xgb(others=asked).fit(*table("gaps"), None)
    ensemble = as_ensemble(booster)
    assert ("DART" in str(ensemble.about_gradients)) != is_before("xgboost", 3, 3)
    assert_predicts_alike(ensemble, booster)


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
    model = laid_out(json_of(fitted(MODEL).model), "3.2")
    booster = model["learner"]["gradient_booster"]
    booster["weight_drop"] = weights
    if weights is None:  # from 3.3 on that is a model that never dropped a tree
        del booster["weight_drop"]
    with pytest.raises(InvalidModelError, match=message):
        from_xgboost(model)
