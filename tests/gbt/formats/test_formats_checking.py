"""Imports that are misread are found out, whatever the library, and no other import is refused."""

import json
import warnings
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from gbt import GBTRegressor
from gbt.formats import as_ensemble, checking
from gbt.formats.checking import MisreadModelError
from gbt.formats.imported import LibraryNodes, forget
from gbt.formats.listed_levels import Listed
from tests.asserts import peer

pandas = pytest.importorskip("pandas")

WORDS = ["rome", "oslo", "lima", "bern", "kyiv", "riga"]


# ------------------------------------------------------------------------------ planted defects
#
# Three trees of at most four leaves on two columns, where values are missing, of every library. A
# defect changes what its importer hands over.


RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 2)).astype(np.float32).astype(float)
Y = X[:, 0] + (X[:, 1] > 0.3) * X[:, 0] + 0.3 * RNG.normal(size=300)
X_MISSING = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
SMALL = {
    "xgboost": lambda: peer("xgboost").XGBRegressor(n_estimators=3, max_depth=2, n_jobs=1),
    "lightgbm": lambda: peer("lightgbm").LGBMRegressor(n_estimators=3, num_leaves=4, verbose=-1),
    "lightgbm rf": lambda: peer("lightgbm").LGBMRegressor(
        n_estimators=3, num_leaves=4, verbose=-1, boosting_type="rf", subsample=0.6,
        subsample_freq=1,
    ),
    "catboost": lambda: peer("catboost").CatBoostRegressor(iterations=3, depth=2, **QUIET),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=4),
    "gradient boosting": lambda: GradientBoostingRegressor(n_estimators=3, max_depth=2),
    "forest": lambda: RandomForestRegressor(3, max_depth=2, random_state=0),
    "a tree": lambda: DecisionTreeRegressor(max_depth=2),
    "classes": lambda: RandomForestClassifier(3, max_depth=2, random_state=0),
}  # fmt: skip


def small(library):
    rows = X if library == "gradient boosting" else X_MISSING
    return SMALL[library]().fit(rows, Y > 0 if library == "classes" else Y)


def plant(monkeypatch, defect):
    """Change what readers hand over: nodes, and the fields of an ensemble with their values."""
    right = LibraryNodes.imported

    def wrong(nodes, library, unknown, value, *sums, **fields):
        nodes, fields = defect(nodes, {"value": value, **fields})
        return right(nodes, library, unknown, fields.pop("value"), *sums, **fields)

    monkeypatch.setattr(LibraryNodes, "imported", wrong)


def with_one(array, place, number):
    changed = np.array(array, dtype=float)
    changed[place] = number
    return changed


def swapped(nodes, fields):
    """Exchange the thresholds of the first root and of the first inner node below one."""
    inner = np.flatnonzero(~nodes.tree.is_leaf)
    threshold = np.array(nodes.threshold, dtype=float)
    threshold[inner[:2]] = threshold[inner[1::-1]]
    return nodes._replace(threshold=threshold), fields


def lowered(nodes, fields):
    """Take ``<`` for ``<=``."""
    single = np.array(nodes.threshold, dtype=fields.get("input_dtype", np.float64))
    threshold = np.nextafter(single, np.finfo(single.dtype).min).astype(float)
    return nodes._replace(threshold=threshold), fields


DEFECTS = {
    "thresholds swapped": swapped,
    "thresholds one number lower": lowered,
    "values times a weight": lambda nodes, fields: (
        nodes, fields | {"value": 0.9 * fields["value"]}
    ),
    "base score": lambda nodes, fields: (
        nodes, fields | {"base_score": fields["base_score"] + 1e-3}
    ),
    "sides of columns": lambda nodes, fields: (
        nodes._replace(feature=1 - np.minimum(nodes.feature, 1)), fields
    ),
    "missing values": lambda nodes, fields: (
        nodes._replace(missing_left=~nodes.missing_left), fields
    ),
}  # fmt: skip
HAS_NONE_MISSING = ("gradient boosting",)


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("library", SMALL)
def test_a_defect_of_an_importer_is_found(monkeypatch, library, defect):
    if defect == "missing values" and library in HAS_NONE_MISSING:
        pytest.skip("its rows have all numbers")
    model = small(library)
    as_ensemble(small(library))  # without the defect
    plant(monkeypatch, DEFECTS[defect])
    name = library.split()[0]
    name = name if name in ("xgboost", "lightgbm", "catboost") else "scikit-learn"
    for _ in range(2):  # and again, when what was made of the model is kept
        with pytest.raises(MisreadModelError, match="The raw prediction of row") as refused:
            as_ensemble(model)
        assert f"this {name} {version(name)} model was misread" in str(refused.value).lower()


@pytest.mark.parametrize("library", SMALL)
def test_every_leaf_of_small_trees_is_looked_at(monkeypatch, library):
    """One wrong leaf of a dozen is found, whichever it is, in two cases of three at least."""
    model = small(library)
    leaves = np.flatnonzero(as_ensemble(model).left < 0)
    found = 0
    for leaf in leaves:
        with monkeypatch.context() as patch:
            plant(
                patch,
                lambda nodes, fields, leaf=leaf: (
                    nodes,
                    fields
                    | {"value": with_one(fields["value"], leaf, 1e-3 + fields["value"][leaf])},
                ),
            )
            forget(getattr(model, "booster_", model))
            forget(model.get_booster() if library == "xgboost" else model)
            try:
                as_ensemble(model)
            except MisreadModelError:
                found += 1
    assert found >= 2 / 3 * len(leaves)


def test_weights_of_dropped_trees_that_are_not_read_are_found(monkeypatch):
    """What befell XGBoost 3.3 and 3.4: the weights had moved."""
    xgboost = peer("xgboost")
    module = import_module("gbt.formats.xgboost.model")
    right = module._trees_of
    monkeypatch.setattr(module, "_trees_of", lambda learner: (right(learner)[0], np.ones(8)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster = xgboost.train(
            {"booster": "dart", "rate_drop": 0.8, "one_drop": 1, "verbosity": 0},
            xgboost.DMatrix(X, Y), 8,
        )  # fmt: skip
    with pytest.raises(MisreadModelError, match=rf"XGBoost {version('xgboost')} model was misread"):
        as_ensemble(booster)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "histograms", "catboost"])
def test_sets_of_levels_that_are_misread_are_found(monkeypatch, library):
    frame = pandas.DataFrame({"w": pandas.Categorical(RNG.choice(WORDS, 300)), "x": X[:, 0]})
    y = X[:, 0] + frame["w"].isin(WORDS[:2]) * 2.0

    if library == "catboost":
        frame = frame.astype({"w": str})
    options = {
        "xgboost": {"enable_categorical": True},
        "catboost": {"cat_features": ["w"], "one_hot_max_size": 10},
        "histograms": {"categorical_features": ["w"]},
    }
    model = SMALL[library]().set_params(**options.get(library, {})).fit(frame, y)
    rows = (frame,) if library == "catboost" else ()
    as_ensemble(model, *rows)
    forget(getattr(model, "booster_", model))
    forget(model.get_booster() if library == "xgboost" else model)
    right = Listed.as_sets

    def complemented(*given):
        sets = right(*given)
        return sets | {
            "level_sets": replace(sets["level_sets"], words=sets["level_sets"].words ^ 0b1)
        }

    monkeypatch.setattr(Listed, "as_sets", complemented)
    with pytest.raises(MisreadModelError, match="was misread"):
        as_ensemble(model, *rows)


def test_models_of_ours_and_files_are_not_checked(monkeypatch):
    monkeypatch.setattr(checking, "rows_to_try", lambda *_, **__: pytest.fail("rows are made"))
    as_ensemble(GBTRegressor(n_estimators=2, splitter="greedy").fit(X, Y))
    booster = small("xgboost").get_booster()
    as_ensemble(json.loads(booster.save_raw("json")))
