"""Imports that are misread are found out, whatever the library, and no other import is refused."""

import json
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from gbt.formats import as_ensemble, checking
from gbt.formats.checking import MisreadModelError
from gbt.formats.imported import LibraryNodes
from gbt.formats.listed_levels import Listed
from tests.gbt.formats.read_models import MODELS, cat, lgb, skl, xgb
from tests.greedy import GreedyRegressor

WORDS = ["rome", "oslo", "lima", "bern", "kyiv", "riga"]


# ------------------------------------------------------------------------------ planted defects
#
# Three trees of at most four leaves on two columns, where values are missing, of every library. A
# defect changes what its importer hands over.


RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 2)).astype(np.float32).astype(float)
Y = X[:, 0] + (X[:, 1] > 0.3) * X[:, 0] + 0.3 * RNG.normal(size=300)
X_MISSING = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
SMALL = {  # how models that are read are asked for in small
    "xgboost numbers, defaults": {"n_rounds": 3, "max_depth": 2},
    "lightgbm regression, defaults": {"n_rounds": 3, "num_leaves": 4},
    "lightgbm forest": {"n_rounds": 3, "num_leaves": 4},
    "catboost numbers, defaults": {"iterations": 3, "depth": 2},
    "sklearn numbers, histograms": {"n_trees": 3, "max_leaf_nodes": 4},
    "sklearn numbers, boosting": {"n_trees": 3, "max_depth": 2},
    "sklearn numbers, forest": {"n_trees": 3, "max_depth": 2},
    "sklearn numbers, tree": {"max_depth": 2},
    "sklearn two, forest": {"n_trees": 3, "max_depth": 2},
}


def small(name):
    case = MODELS[name]
    rows = X if case.rows == "full" else X_MISSING
    return case.fit(rows, Y if case.of == "numbers" else (Y > 0) * 1, None, small=SMALL[name])


def plant(monkeypatch, defect):
    """Change what readers hand over: nodes, and the fields of an ensemble with their values."""
    right = LibraryNodes.imported

    def wrong(nodes, library, unknown, value, *sums, **fields):
        nodes, fields = defect(nodes, {"value": value, **fields})
        return right(nodes, library, unknown, fields.pop("value"), *sums, **fields)

    monkeypatch.setattr(LibraryNodes, "imported", wrong)


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
    "values times a weight": lambda nodes, of: (nodes, of | {"value": 0.9 * of["value"]}),
    "base score": lambda nodes, of: (nodes, of | {"base_score": of["base_score"] + 1e-3}),
    "sides of columns": lambda nodes, fields: (
        nodes._replace(feature=1 - np.minimum(nodes.feature, 1)), fields
    ),
    "missing values": lambda nodes, of: (nodes._replace(missing_left=~nodes.missing_left), of),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("name", SMALL)
def test_a_defect_of_an_importer_is_found(monkeypatch, name, defect):
    if defect == "missing values" and MODELS[name].rows == "full":
        pytest.skip("its rows have all numbers")
    model, library = small(name), name.split()[0].replace("sklearn", "scikit-learn")
    as_ensemble(small(name))  # without the defect
    plant(monkeypatch, DEFECTS[defect])
    for _ in range(2):  # and again, when what was made of the model is kept
        with pytest.raises(MisreadModelError, match="The raw prediction of row") as refused:
            as_ensemble(model)
        assert f"this {library} {version(library)} model was misread" in str(refused.value).lower()


@pytest.mark.parametrize("name", SMALL)
def test_every_leaf_of_small_trees_is_looked_at(monkeypatch, name):
    """One wrong leaf of a dozen is found, whichever it is, in two cases of three at least."""
    leaves, found = np.flatnonzero(as_ensemble(small(name)).left < 0), 0
    for leaf in leaves:

        def defect(nodes, fields, leaf=leaf):
            value = np.array(fields["value"], dtype=float)
            value[leaf] += 1e-3
            return nodes, fields | {"value": value}

        with monkeypatch.context() as patch:
            plant(patch, defect)
            try:
                as_ensemble(small(name))
            except MisreadModelError:
                found += 1
    assert found >= 2 / 3 * len(leaves)


OF_LEVELS = {
    "xgboost": xgb(),
    "lightgbm": lgb(),
    "catboost": cat(others={"cat_features": ["w"], "one_hot_max_size": 10}),
    "histograms": skl(HistGradientBoostingRegressor(max_iter=3, categorical_features=["w"])),
}


@pytest.mark.parametrize("library", OF_LEVELS)
def test_sets_of_levels_that_are_misread_are_found(monkeypatch, library):
    words = np.random.default_rng(0).choice(WORDS, 300)
    frame = pd.DataFrame({"w": pd.Categorical(words), "x": X[:, 0]})
    y = X[:, 0] + np.isin(words, WORDS[:2]) * 2.0
    frame = frame.astype({"w": str}) if library == "catboost" else frame
    rows = (frame,) if library == "catboost" else ()
    model, again = (OF_LEVELS[library].fit(frame, y, None) for _ in range(2))
    as_ensemble(model, *rows)
    right = Listed.as_sets

    def complemented(*given):
        sets = right(*given)["level_sets"]
        return right(*given) | {"level_sets": replace(sets, words=sets.words ^ 0b1)}

    monkeypatch.setattr(Listed, "as_sets", complemented)
    with pytest.raises(MisreadModelError, match="was misread"):
        as_ensemble(again, *rows)


def test_models_of_ours_and_files_are_not_checked(monkeypatch):
    monkeypatch.setattr(checking, "rows_to_try", lambda *_, **__: pytest.fail("rows are made"))
    as_ensemble(GreedyRegressor(n_estimators=2).fit(X, Y))
    as_ensemble(json.loads(small("xgboost numbers, defaults").save_raw("json")))
