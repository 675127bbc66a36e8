"""Imports that are misread are found out, whatever the library, and no other import is refused."""

import json
import warnings
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from gbt import GBTRegressor
from gbt.formats import as_ensemble, checking
from gbt.formats.checking import MisreadModelError, rows_to_try
from gbt.formats.imported import forget
from tests.asserts import peer

pandas = pytest.importorskip("pandas")

WORDS = ["rome", "oslo", "lima", "bern", "kyiv", "riga"]


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def numbers(rng, with_missing):
    """Return a table of columns of many kinds; the last one may be constant."""
    n, p = int(pick(rng, 30, 80, 300)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-12, 12, p)
    for k in range(p):
        kind = rng.integers(5)
        if kind == 0:
            X[:, k] = rng.integers(-3, 4, n)
        elif kind == 1:
            X[:, k] = X[:, k].astype(np.float32)
        elif kind == 2:
            X[:, k] = np.round(rng.normal(size=n), 1)
    X[:, -1] = X[:, -1] if rng.random() < 0.8 else 1.0
    if with_missing and rng.random() < 0.5:
        X[rng.random((n, p)) < rng.choice([0.02, 0.3])] = np.nan
    return X


def target(rng, X, kind):
    """Return numbers, amounts above 0 or labels, that depend on the first column."""
    n = len(X)
    order = np.nan_to_num(np.argsort(np.argsort(X[:, 0])) / n)
    signal = order + 0.3 * rng.normal(size=n)
    if kind == "number":
        return (signal + rng.choice([0.0, 1000.0])) * 10.0 ** rng.integers(-6, 7)
    if kind == "amount":
        return np.exp(signal)
    n_classes = 2 if kind == "two" else 3
    y = np.clip(np.floor(n_classes * (order + 0.1 * rng.normal(size=n))), 0, n_classes - 1)
    if kind == "two" and rng.random() < 0.3:
        y = (signal > np.sort(signal)[-3]).astype(float)  # a rare class
    y[:n_classes] = np.arange(n_classes)
    return y.astype(int)


def with_words(rng, X):
    """Return a frame whose first columns are categories, of words or of numbers."""
    frame = pandas.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    n_levels = int(rng.integers(2, 7))
    code = rng.integers(0, n_levels, len(X))
    words = [*rng.permutation(WORDS)]
    of_numbers = [int(level) for level in rng.permutation(30)[:n_levels]]
    frame["w"] = pandas.Categorical.from_codes(code, words[:n_levels])
    frame["i"] = pandas.Categorical.from_codes(code[::-1], of_numbers)
    return frame


def kind_of_target(rng, *kinds):
    return pick(rng, "number", "number", "two", "many", *kinds)


def xgboost_model(rng):
    xgboost = peer("xgboost")
    X = numbers(rng, with_missing=True)
    kind = kind_of_target(rng, "amount")
    objectives = {
        "number": ["reg:squarederror", "reg:absoluteerror", "reg:quantileerror",
                   "reg:pseudohubererror"],
        "amount": ["count:poisson", "reg:gamma", "reg:tweedie", "reg:squaredlogerror"],
        "two": ["binary:logistic", "binary:logitraw", "reg:logistic"],
        "many": ["multi:softprob"],
    }  # fmt: skip
    asked = {
        "objective": pick(rng, *objectives[kind]), "max_depth": int(rng.integers(1, 9)),
        "eta": float(rng.choice([0.05, 0.3, 1.0])), "lambda": float(rng.choice([0.1, 1, 10])),
        "subsample": float(rng.choice([0.5, 1.0])), "nthread": 1, "verbosity": 0,
        "tree_method": pick(rng, "hist", "exact", "approx"),
        "min_child_weight": float(rng.choice([0, 1, 5])),
    }  # fmt: skip
    if "quantile" in asked["objective"]:
        asked["quantile_alpha"] = 0.3
    if kind == "many":
        asked["num_class"] = 3
    if rng.random() < 0.3:
        asked |= {"booster": "dart", "rate_drop": 0.5, "one_drop": 1}
    y, table, options = target(rng, X, kind), X, {}
    if asked["tree_method"] != "exact" and rng.random() < 0.4:
        table, options = with_words(rng, X), {"enable_categorical": True}
    elif asked["tree_method"] != "exact" and rng.random() < 0.2:
        table = np.column_stack([X, rng.integers(0, 6, len(X))])
        options = {"feature_types": ["q"] * X.shape[1] + ["c"], "enable_categorical": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = xgboost.DMatrix(table, y, **options)
        return xgboost.train(asked, rows, int(rng.integers(0, 31)))


def lightgbm_model(rng):
    lightgbm = peer("lightgbm")
    X = numbers(rng, with_missing=True)
    kind = kind_of_target(rng, "amount")
    objectives = {
        "number": ["regression", "regression_l1", "quantile", "huber"],
        "amount": ["poisson", "gamma", "tweedie"],
        "two": ["binary", "cross_entropy"],
        "many": ["multiclass", "multiclassova"],
    }
    asked = {
        "objective": pick(rng, *objectives[kind]), "num_leaves": int(rng.integers(2, 40)),
        "min_data_in_leaf": int(rng.choice([1, 5])), "learning_rate": float(rng.choice([0.1, 1.0])),
        "verbose": -1, "num_threads": 1, "boosting": pick(rng, "gbdt", "gbdt", "dart"),
        "use_missing": bool(rng.random() < 0.8), "boost_from_average": bool(rng.random() < 0.7),
    }  # fmt: skip
    if kind == "many":
        asked["num_class"] = 3
    if asked["objective"] == "regression" and rng.random() < 0.5:
        asked |= {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    y, table, options = target(rng, X, kind), X, {}
    if rng.random() < 0.4:
        table = with_words(rng, X)
    elif rng.random() < 0.2:
        table = np.column_stack([X, rng.integers(0, 6, len(X))])
        options = {"categorical_feature": [X.shape[1]]}
    elif rng.random() < 0.2:
        asked["zero_as_missing"] = True
    rows = lightgbm.Dataset(table, y, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lightgbm.train(asked, rows, int(rng.integers(1, 31)))


def catboost_model(rng):
    catboost = peer("catboost")
    X = numbers(rng, with_missing=True)
    kind = kind_of_target(rng)
    asked = {
        "iterations": int(rng.integers(1, 31)), "depth": int(rng.integers(1, 7)), "verbose": 0,
        "allow_writing_files": False, "thread_count": 1, "random_seed": 0,
        "grow_policy": pick(rng, "SymmetricTree", "Depthwise", "Lossguide"),
        "nan_mode": pick(rng, "Min", "Max"),
    }  # fmt: skip
    if not any(len(np.unique(column[~np.isnan(column)])) > 1 for column in X.T):
        X[:, 0] = np.arange(len(X))  # CatBoost refuses a table of constants
    y, table = target(rng, X, kind), X
    if rng.random() < 0.4:
        table = with_words(rng, X)
        table[["w", "i"]] = table[["w", "i"]].astype(str)
        asked |= {"cat_features": ["w", "i"], "one_hot_max_size": 10}
    make = catboost.CatBoostRegressor if kind == "number" else catboost.CatBoostClassifier
    model = make(**asked).fit(table, y)
    return (model, table) if "cat_features" in asked else model


def sklearn_model(rng):
    kind = kind_of_target(rng)
    is_number = kind == "number"
    few = {"n_estimators": int(rng.integers(1, 13)), "max_depth": pick(rng, 1, 3, None)}
    loss = pick(rng, "squared_error", "absolute_error", "quantile")
    model = pick(
        rng,
        (RandomForestRegressor if is_number else RandomForestClassifier)(**few, random_state=0),
        (ExtraTreesRegressor if is_number else ExtraTreesClassifier)(**few, random_state=0),
        (DecisionTreeRegressor if is_number else DecisionTreeClassifier)(random_state=0),
        GradientBoostingRegressor(loss=loss, **few)
        if is_number
        else GradientBoostingClassifier(**few),
    )
    X = numbers(rng, with_missing=not isinstance(model, checking_no_missing()))
    y = target(rng, X, kind)
    if rng.random() < 0.3:
        X = pandas.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    return model.fit(X, y)


def checking_no_missing():
    """Return the models of scikit-learn whose rows must have every number."""
    return (
        GradientBoostingRegressor, GradientBoostingClassifier, ExtraTreesRegressor,
        ExtraTreesClassifier,
    )  # fmt: skip


def histogram_model(rng):
    X = numbers(rng, with_missing=True)
    kind = kind_of_target(rng, "amount")
    asked = {"max_iter": int(rng.integers(1, 21)), "max_leaf_nodes": int(rng.integers(2, 40)),
             "min_samples_leaf": int(rng.choice([1, 10])), "random_state": 0}  # fmt: skip
    losses = {
        "number": ["squared_error", "absolute_error", "quantile"], "amount": ["poisson", "gamma"],
    }  # fmt: skip
    if kind in losses:
        asked["loss"] = pick(rng, *losses[kind])
        asked |= {"quantile": 0.3} if asked["loss"] == "quantile" else {}
    make = HistGradientBoostingRegressor if kind in losses else HistGradientBoostingClassifier
    y, table = target(rng, X, kind), X
    if rng.random() < 0.4:
        table = with_words(rng, X)
    elif rng.random() < 0.3:
        table = np.column_stack([rng.integers(0, 6, len(X)), X])
        asked["categorical_features"] = [0]
    return make(**asked).fit(table, y)


DRAWN = {
    "xgboost": xgboost_model,
    "lightgbm": lightgbm_model,
    "catboost": catboost_model,
    "histograms": histogram_model,
    "trees of scikit-learn": sklearn_model,
}


def import_drawn(library, seed):
    model = DRAWN[library](np.random.default_rng(seed))
    model, *rows = model if isinstance(model, tuple) else (model,)
    return as_ensemble(model, *rows)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Fit small models by one thread, which is faster: threads of OpenMP wait for each other."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("library", DRAWN)
def test_no_model_that_is_read_rightly_is_refused(library, seed):
    import_drawn(library, seed)


# ------------------------------------------------------------------------------ planted defects
#
# Three trees of at most four leaves on two columns, where values are missing, of every library. A
# defect changes what its importer hands over.


RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 2)).astype(np.float32).astype(float)
Y = X[:, 0] + (X[:, 1] > 0.3) * X[:, 0] + 0.3 * RNG.normal(size=300)
X_MISSING = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
SMALL = {  # and the module of the importer
    "xgboost": (
        lambda: peer("xgboost").XGBRegressor(n_estimators=3, max_depth=2, n_jobs=1), "xgboost",
    ),
    "lightgbm": (
        lambda: peer("lightgbm").LGBMRegressor(n_estimators=3, num_leaves=4, verbose=-1),
        "lightgbm",
    ),
    "lightgbm rf": (
        lambda: peer("lightgbm").LGBMRegressor(
            n_estimators=3, num_leaves=4, verbose=-1, boosting_type="rf", subsample=0.6,
            subsample_freq=1,
        ),
        "lightgbm",
    ),
    "catboost": (
        lambda: peer("catboost").CatBoostRegressor(iterations=3, depth=2, **QUIET), "catboost",
    ),
    "histograms": (lambda: HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=4), "sklearn"),
    "gradient boosting": (
        lambda: GradientBoostingRegressor(n_estimators=3, max_depth=2), "sklearn",
    ),
    "forest": (lambda: RandomForestRegressor(3, max_depth=2, random_state=0), "sklearn"),
    "a tree": (lambda: DecisionTreeRegressor(max_depth=2), "sklearn"),
    "classes": (lambda: RandomForestClassifier(3, max_depth=2, random_state=0), "sklearn"),
}  # fmt: skip


def small(library):
    rows = X if library == "gradient boosting" else X_MISSING
    return SMALL[library][0]().fit(rows, Y > 0 if library == "classes" else Y)


def plant(monkeypatch, library, defect):
    """Change what the importer of a library makes of a model."""
    module = import_module(f"gbt.formats.{SMALL[library][1]}.model")
    right = module.to_ensemble

    def wrong(tree, **fields):
        return right(tree, **fields | defect(tree, fields))

    monkeypatch.setattr(module, "to_ensemble", wrong)


def with_one(array, place, number):
    changed = np.array(array, dtype=float)
    changed[place] = number
    return changed


def swapped(tree, fields):
    """Exchange the thresholds of the first root and of the first inner node below one."""
    inner = np.flatnonzero(~tree.is_leaf)
    threshold = np.array(fields["threshold"], dtype=float)
    threshold[inner[:2]] = threshold[inner[1::-1]]
    return {"threshold": threshold}


def lowered(tree, fields):
    """Take ``<`` for ``<=``."""
    single = np.array(fields["threshold"], dtype=fields.get("input_dtype", np.float64))
    return {"threshold": np.nextafter(single, np.finfo(single.dtype).min).astype(float)}


DEFECTS = {
    "thresholds swapped": swapped,
    "thresholds one number lower": lowered,
    "values times a weight": lambda tree, fields: {"value": 0.9 * fields["value"]},
    "base score": lambda tree, fields: {"base_score": fields["base_score"] + 1e-3},
    "sides of columns": lambda tree, fields: {"feature": 1 - np.minimum(fields["feature"], 1)},
    "missing values": lambda tree, fields: {"missing_left": ~fields["missing_left"]},
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
    plant(monkeypatch, library, DEFECTS[defect])
    name, package = {"sklearn": ("scikit-learn", "scikit-learn")}.get(
        SMALL[library][1], (library.split()[0], library.split()[0])
    )
    for _ in range(2):  # and again, when what was made of the model is kept
        with pytest.raises(MisreadModelError, match="The raw prediction of row") as refused:
            as_ensemble(model)
        assert f"this {name} {version(package)} model was misread" in str(refused.value).lower()


@pytest.mark.parametrize("library", SMALL)
def test_every_leaf_of_small_trees_is_looked_at(monkeypatch, library):
    """One wrong leaf of a dozen is found, whichever it is, in two cases of three at least."""
    model = small(library)
    leaves = np.flatnonzero(as_ensemble(model).left < 0)
    found = 0
    for leaf in leaves:
        with monkeypatch.context() as patch:
            plant(
                patch, library, lambda tree, fields, leaf=leaf: {
                    "value": with_one(fields["value"], leaf, fields["value"][leaf] + 1e-3)
                },
            )  # fmt: skip
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
    monkeypatch.setattr(
        module, "_trees_of", lambda learner: right(learner)._replace(tree_weight=np.ones(8))
    )
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
    module = import_module(f"gbt.formats.{SMALL[library][1]}.model")
    right = module.to_ensemble

    def complemented(tree, **fields):
        sets = fields["level_sets"]
        return right(tree, **fields | {"level_sets": replace(sets, words=sets.words ^ 0b1)})

    if library == "catboost":
        frame = frame.astype({"w": str})
    options = {
        "xgboost": {"enable_categorical": True},
        "catboost": {"cat_features": ["w"], "one_hot_max_size": 10},
        "histograms": {"categorical_features": ["w"]},
    }
    model = SMALL[library][0]().set_params(**options.get(library, {})).fit(frame, y)
    rows = (frame,) if library == "catboost" else ()
    as_ensemble(model, *rows)
    forget(getattr(model, "booster_", model))
    forget(model.get_booster() if library == "xgboost" else model)
    monkeypatch.setattr(module, "to_ensemble", complemented)
    with pytest.raises(MisreadModelError, match="was misread"):
        as_ensemble(model, *rows)


def test_models_of_ours_and_files_are_not_checked(monkeypatch):
    monkeypatch.setattr(checking, "rows_to_try", lambda *_, **__: pytest.fail("rows are made"))
    as_ensemble(GBTRegressor(n_estimators=2, splitter="greedy").fit(X, Y))
    booster = small("xgboost").get_booster()
    as_ensemble(json.loads(booster.save_raw("json")))


def test_a_model_is_checked_once(monkeypatch):
    model = small("lightgbm")
    as_ensemble(model)
    monkeypatch.setattr(checking, "rows_to_try", lambda *_, **__: pytest.fail("rows are made"))
    as_ensemble(model)
    model.booster_.set_leaf_output(0, 0, 5.0)  # another model now
    with pytest.raises(pytest.fail.Exception):
        as_ensemble(model)


def test_rows_are_at_and_just_above_thresholds():
    ensemble = as_ensemble(small("lightgbm"))
    rows = rows_to_try(ensemble, has_missing=False)
    for k in np.unique(ensemble.feature[ensemble.left >= 0]):
        thresholds = ensemble.threshold[(ensemble.feature == k) & (ensemble.left >= 0)]
        at = np.isin(rows[:, k], thresholds)
        assert np.isin(rows[~at, k], np.nextafter(thresholds, np.inf)).all()
        assert 0 < at.sum() < len(rows)
