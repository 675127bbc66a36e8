"""Models of other libraries to be read, each with its rows, targets, weights and predictions.

All are trained on one table of numbers, with ties, zeros and gaps, or on one with levels, and each
knows what should be found out about it. ``test_readers`` holds every one of them to the same
properties; files of single libraries have what is peculiar to these.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import clone
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

from gbt.formats import as_ensemble
from gbt.losses import NDCG, Aft, Cox, CrossEntropy, Pairwise
from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.losses.squared_and_logistic import LOSSES
from tests.asserts import is_before, peer

WORDS = ["rome", "oslo", "lima", "bern", "kyiv"]  # not sorted


IN_QUERIES = ("grades", "relevant")


class Case(NamedTuple):
    """How a model is trained, and what is to be found out about it."""

    fit: Callable[..., Any]  # of rows, targets and weights, and how a small one is asked for
    raw: Callable[[Any, Any], np.ndarray]  # what it predicts before any link
    of: str = "numbers"  # its targets, a key of `targets`
    rows: str = "gaps"  # its table, a key of `table`
    weighted: bool = True
    unknown: str | None = None  # what makes its G unknown
    loss: Any = None
    is_newton: bool = True  # whether values are -rate G/(H + lambda)
    sees_all: bool = True  # whether every tree has seen all rows


class Fitted(NamedTuple):
    """A case that has been fitted."""

    model: Any
    X: Any
    y: np.ndarray  # as the model was given it
    target: np.ndarray  # as the loss takes it
    weight: np.ndarray | None


@cache
def table(rows, seed=7):
    """Return rows and what they tell of: numbers "gaps" or "full", or levels beside numbers."""
    rng = np.random.default_rng(seed)
    if rows == "levels":
        return levels(rng)
    X = rng.normal(size=(300, 4))
    X[:, 1] = rng.integers(-2, 3, size=300)
    X[:, 2] = (X[:, 2] * 10).round() / 10
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300) + 2
    if rows == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def levels(rng, n=600):
    """Return words, whole numbers and many levels, some missing, beside numbers; and targets."""
    city, many = rng.integers(0, 5, n), rng.integers(0, 90, n)
    code = rng.choice([30, 10, 20], n)
    x = rng.normal(size=n).astype(np.float32)
    y = (city % 3) + x + 2.0 * (many * 17 % 11 > 5) + (code == 20) + rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "city": pd.Categorical.from_codes(city, WORDS),
            "x": x,
            "code": pd.Categorical(code, categories=[30, 10, 20]),
            "many": pd.Categorical.from_codes(many, [f"m{k}" for k in range(90)]),
        }
    )
    for k, step in enumerate((11, 13, 17, 7)):
        frame.iloc[k::step, k] = None
    return frame, y


def targets(y, of):
    """Return the targets of a kind, as models are given them; grades have their queries beside.

    Times are pulled together, because XGBoost's derivatives are wrong where the probability of an
    interval is below 1e-14 or so.
    """
    rng = np.random.default_rng(5)
    time = rng.exponential(np.exp((2 - y) / 2)) ** 0.2
    end = rng.exponential(1.5, size=len(y)) ** 0.2
    seen, has_event = np.minimum(time, end), time <= end
    wide = np.arange(len(y)) % 5 == 0
    grade, query = np.digitize(y, np.quantile(y, [0.4, 0.7, 0.9])), np.arange(len(y)) // 6
    return {
        "times": np.where(has_event, seen, -seen),
        "bounds": np.column_stack(
            [np.where(wide, 0.9 * seen, seen), np.where(wide | has_event, seen, np.inf)]
        ),
        "grades": np.column_stack([grade, query]),
        "relevant": np.column_stack([grade > 0, query]) * 1,
        "numbers": y,
        "two": (y > np.median(y)) * 1,
        "three": np.digitize(y, np.quantile(y, [1 / 3, 2 / 3])),
        "amounts": np.exp(y / 4),
        "shares": expit(y - 2),
        "both": np.column_stack([y, y[::-1]]),
        "labels": np.column_stack([y > np.median(y), y[::-1] > 1]) * 1,
    }[of]


@cache
def fitted(name) -> Fitted:
    """Fit a case; its weights are not whole."""
    case = MODELS[name]
    X, y = table(case.rows)
    y = targets(y, case.of)
    weight = np.random.default_rng(3).gamma(1, size=len(y)) if case.weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated options
        model = case.fit(X, y, weight)
    target = np.column_stack([abs(y), y > 0]) if case.of == "times" else y
    return Fitted(model, X, y, target.astype(float), weight)


@cache
def imported(name):
    return as_ensemble(fitted(name).model)


# ------------------------------------------------------------------------------------- libraries


def xgb(objective="reg:squarederror", of="numbers", rows="gaps", n_rounds=8, others=(), **known):
    """Return a case of XGBoost; ``others`` are parameters of its training."""

    def data(X, **given):
        return peer("xgboost").DMatrix(X, **given, enable_categorical=True)

    def fit(X, y, weight, small=()):
        asked = {"objective": objective, "nthread": 1, "verbosity": 0, **dict(others)}
        asked |= {"num_class": 3} if of == "three" else {}
        asked |= dict(small)
        if of == "bounds":
            given = {"label_lower_bound": y[:, 0], "label_upper_bound": y[:, 1]}
        else:
            given = {"label": y[:, 0], "qid": y[:, 1]} if of in IN_QUERIES else {"label": y}
        matrix = data(X, **given)
        if weight is not None:
            matrix.set_weight(weight)
        return peer("xgboost").train(asked, matrix, asked.pop("n_rounds", n_rounds))

    return Case(fit, lambda m, X: m.predict(data(X), output_margin=True), of, rows, **known)


def lgb(objective="regression", of="numbers", rows="gaps", others=(), **known):
    """Return a case of LightGBM."""

    def fit(X, y, weight, small=()):
        asked = {
            "objective": objective, "verbosity": -1, "num_threads": 1, "num_leaves": 8,
            "deterministic": True, "min_data_per_group": 5, **dict(others),
        }  # fmt: skip
        asked |= {"num_class": 3} if of == "three" else {}
        asked |= dict(small)
        given = {"label": y, "weight": weight}
        if of in IN_QUERIES:
            given = {"label": y[:, 0], "group": np.unique(y[:, 1], return_counts=True)[1]}
        lightgbm = peer("lightgbm")
        return lightgbm.train(asked, lightgbm.Dataset(X, **given), asked.pop("n_rounds", 6))

    return Case(fit, lambda model, X: model.predict(X, raw_score=True), of, rows, **known)


def cat(of="numbers", others=(), **known):
    """Return a case of CatBoost, whose weights would change its penalty."""

    def fit(X, y, weight, small=()):
        catboost = peer("catboost")
        asked = {"iterations": 6, "depth": 4, "verbose": 0, "thread_count": 1, **dict(others)}
        asked |= {"allow_writing_files": False, **dict(small)}
        if of in ("times", "bounds"):
            return catboost.CatBoost(asked).fit(X, np.where(np.isinf(y), -1, y))
        if of in IN_QUERIES:
            return catboost.CatBoostRanker(**asked).fit(X, y[:, 0], group_id=y[:, 1])
        kind = catboost.CatBoostRegressor if of == "numbers" else catboost.CatBoostClassifier
        return kind(**asked).fit(X, y)

    def raw(model, X):
        asked = {} if of in IN_QUERIES else {"prediction_type": "RawFormulaVal"}
        return model.predict(X, **asked)

    known = {} if of == "numbers" else {"unknown": "CatBoost does not keep it under"} | known
    # Logloss takes several steps in a leaf, which are not -rate G/(H + lambda).
    return Case(fit, raw, of, weighted=False, is_newton=of == "numbers", **known)


def raw_of_sklearn(model, X):
    """Return what scikit-learn calls a raw prediction, or the mean."""
    if hasattr(model, "_baseline_prediction"):
        raw = model._raw_predict(X)
        return raw if raw.shape[1] > 1 else raw[:, 0]
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if not hasattr(model, "classes_"):
        return model.predict(X)
    p = model.predict_proba(X)
    return p if p.shape[1] > 2 else p[:, 1]


def skl(estimator, of="numbers", rows="gaps", **known):
    """Return a case of scikit-learn's."""

    def fit(X, y, weight, small=()):
        model, asked = clone(estimator), dict(small)
        if "n_trees" in asked:
            known = model.get_params()
            asked["max_iter" if "max_iter" in known else "n_estimators"] = asked.pop("n_trees")
        return model.set_params(**asked).fit(X, y, sample_weight=weight)

    return Case(fit, raw_of_sklearn, of, rows, **known)


REFITTED = "leaves are refitted"


def of_xgboost():
    """Return what makes G of losses without curvature unknown in the XGBoost that is installed."""
    try:
        return REFITTED if is_before("xgboost", 3, 4) else "trained on smoothed derivatives"
    except ModuleNotFoundError:
        return REFITTED  # tests of XGBoost are skipped


NO_STEPS = {"is_newton": False}
DROPPED = "grew its trees at the predictions of some"
DART = {"booster": "dart", "rate_drop": 0.5, "one_drop": True, "seed": 3}
DART_OF_LIGHTGBM = {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}
BAGGED = {"bagging_fraction": 0.5, "bagging_freq": 1}
OF_XGBOOST = {
    "defaults": {},
    "no lambda": {"reg_lambda": 0, "min_child_weight": 0, "eta": 0.1},
    "exact": {"tree_method": "exact", "max_depth": 3, "eta": 1.0},
    "exact, pruned": {"tree_method": "exact", "gamma": 3, "reg_lambda": 10},
    "approx": {"tree_method": "approx", "max_depth": 4, "base_score": 0.25},
    "best first": {"grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0},
    "samples": {"subsample": 0.5, "colsample_bynode": 0.5, "reg_lambda": 0.1},
    "stumps": {"max_depth": 1},
    "single leaves": {"gamma": 1e9},
}
OF_LIGHTGBM = {
    "defaults": {},
    "penalty": {"lambda_l2": 3.0, "learning_rate": 0.3},
    "deep": {"max_depth": -1, "num_leaves": 60, "min_data_in_leaf": 2},
    "stumps": {"num_leaves": 2},
    "a rate of 1": {"learning_rate": 1.0, "lambda_l2": 5.0},
    "from 0": {"boost_from_average": False},
    "0 is missing": {"zero_as_missing": True},
    "nothing is missing": {"use_missing": False},
    "columns sampled": {"feature_fraction": 0.5, "extra_trees": True},
}
OF_CATBOOST = {
    "defaults": {},
    "deep": {"depth": 7, "l2_leaf_reg": 0.5},
    "ordered": {"boosting_type": "Ordered", "learning_rate": 1.0},
    "missing are large": {"nan_mode": "Max"},
    "from 0": {"boost_from_average": False},
    "stumps": {"depth": 1},
    "level by level": {"grow_policy": "Depthwise", "depth": 6},
    "level by level, two levels": {"grow_policy": "Depthwise", "depth": 2},
    "leaf by leaf": {"grow_policy": "Lossguide", "depth": 9, "max_leaves": 20, "nan_mode": "Max"},
}
BOOSTED = GradientBoostingRegressor, GradientBoostingClassifier
BINNED = HistGradientBoostingRegressor, HistGradientBoostingClassifier
FOREST = RandomForestRegressor, RandomForestClassifier
EXTRA = ExtraTreesRegressor, ExtraTreesClassifier
TREE = DecisionTreeRegressor, DecisionTreeClassifier
OF_SKLEARN = {  # of numbers and of classes, and whether trees have seen all rows
    "boosting": (BOOSTED, {"n_estimators": 8}, True),
    "boosting, from 0": (
        BOOSTED, {"n_estimators": 5, "init": "zero", "learning_rate": 1.0, "max_depth": 1}, True,
    ),
    "boosting, sampled": (BOOSTED, {"n_estimators": 5, "subsample": 0.5, "max_depth": 6}, False),
    "histograms": (BINNED, {"max_iter": 8, "max_leaf_nodes": 9, "min_samples_leaf": 5}, True),
    "histograms, penalty": (
        BINNED, {"max_iter": 5, "l2_regularization": 3.0, "max_bins": 20}, True,
    ),
    "histograms, stumps": (
        BINNED, {"max_iter": 5, "max_leaf_nodes": 2, "learning_rate": 1.0}, True,
    ),
    "forest": (FOREST, {"n_estimators": 7}, False),
    "forest, whole": (FOREST, {"n_estimators": 5, "bootstrap": False, "max_features": 1}, True),
    "extra trees": (EXTRA, {"n_estimators": 40, "max_depth": 5}, True),
    "tree": (TREE, {}, True),
    "tree, pruned": (TREE, {"max_leaf_nodes": 9, "ccp_alpha": 0.001}, True),
}  # fmt: skip


def of_sklearn(name, of, weighted):
    kinds, asked, sees_all = OF_SKLEARN[name]
    is_boosted, is_binned = kinds is BOOSTED, kinds is BINNED
    unknown = None
    if of != "numbers" and (is_boosted or is_binned):
        unknown = "log_loss"
    elif is_binned and weighted:
        unknown = "rows were weighted|do not follow from"
    estimator = kinds[of != "numbers"](random_state=0, **asked)
    rows = "full" if is_boosted else "gaps"
    return skl(estimator, of, rows, weighted=weighted, unknown=unknown, sees_all=sees_all)


SQUARED, LOGISTIC = LOSSES["half_squared_error"], LOSSES["half_logistic"]
BOTH = (("numbers", SQUARED), ("two", LOGISTIC))
FEW = {"n_estimators": 4, "max_depth": 4, "random_state": 0}
HGB = {"max_iter": 6, "max_depth": 3}
MODELS: dict[str, Case] = {
    **{
        f"xgboost {of}, {name}": xgb(
            "reg:squarederror" if of == "numbers" else "binary:logistic", of, others=asked,
            loss=loss, sees_all="subsample" not in asked,
        )
        for of, loss in BOTH
        for name, asked in OF_XGBOOST.items()
    },
    **{
        f"xgboost dart {of}, {kind}": xgb(
            objective, of, others=DART | {"normalize_type": kind}, unknown=f"DART {DROPPED}",
            **NO_STEPS,
        )
        for objective, of in (("reg:squarederror", "numbers"), ("binary:logistic", "two"))
        for kind in ("tree", "forest")
    },
    **{
        f"xgboost forest {of}{', sampled' * (share < 1)}": xgb(
            objective, of, n_rounds=1, sees_all=share == 1,
            others={"num_parallel_tree": 5, "eta": 1.0, "subsample": share},
        )
        for objective, of in (("reg:squarederror", "numbers"), ("binary:logistic", "two"))
        for share in (1, 0.8)
    },
    "xgboost forest amounts": xgb(
        "reg:gamma", "amounts", n_rounds=1, others={"num_parallel_tree": 5, "eta": 1.0},
        loss=Gamma(is_newton=True),
    ),
    "xgboost raw": xgb("binary:logitraw", "two", loss=LOGISTIC),
    "xgboost shares": xgb("reg:logistic", "shares", loss=CrossEntropy()),
    "lightgbm shares": lgb("cross_entropy", "shares", loss=CrossEntropy()),
    "xgboost classes": xgb("multi:softprob", "three", loss=Softmax(3)),
    "xgboost softmax": xgb("multi:softmax", "three", loss=Softmax(3)),
    "xgboost targets": xgb(of="both", loss=SeveralTargets(2)),
    "xgboost labels": xgb("binary:logistic", "labels", loss=SeveralTargets(2, "half_logistic")),
    "xgboost poisson": xgb(
        "count:poisson", "amounts", loss=Poisson(float(np.float32(0.7))),
        unknown="max_delta_step=0.7", **NO_STEPS,
    ),
    "xgboost gamma": xgb("reg:gamma", "amounts", loss=Gamma(is_newton=True)),
    "xgboost tweedie": xgb(
        "reg:tweedie", "amounts", others={"tweedie_variance_power": 1.25},
        loss=Tweedie(1.25, is_newton=True),
    ),
    "xgboost squared log error": xgb("reg:squaredlogerror", "amounts", loss=SquaredLogError()),
    "xgboost pseudo-Huber": xgb(
        "reg:pseudohubererror", "amounts", others={"huber_slope": 2.0}, loss=PseudoHuber(2.0)
    ),
    "xgboost absolute": xgb(
        "reg:absoluteerror", "amounts", loss=Absolute(), unknown=of_xgboost(), **NO_STEPS
    ),
    "xgboost quantile": xgb(
        "reg:quantileerror", "amounts", others={"quantile_alpha": 0.75}, loss=Quantile(0.75),
        unknown=of_xgboost(), **NO_STEPS,
    ),
    **{
        f"xgboost levels, {name}": xgb(rows="levels", others=asked)
        for name, asked in {
            "defaults": {},
            "one level each": {"max_cat_to_onehot": 100},
            "sets of few": {"max_cat_to_onehot": 1, "max_cat_threshold": 4, "max_depth": 9},
            "approx": {"tree_method": "approx", "max_depth": 2},
        }.items()
    },
    "xgboost levels, classes": xgb("binary:logistic", "two", "levels"),
    **{
        f"lightgbm {objective}, {name}": lgb(objective, of, others=asked)
        for objective, of in (("regression", "numbers"), ("binary", "two"),
                              ("cross_entropy", "two"))
        for name, asked in OF_LIGHTGBM.items()
    },
    **{
        f"lightgbm dart {objective}{', as XGBoost' * as_xgboost}": lgb(
            objective, of, others=DART_OF_LIGHTGBM | {"xgboost_dart_mode": as_xgboost},
            unknown=f"boosting='dart' {DROPPED}", **NO_STEPS,
        )
        for objective, of in (("regression", "numbers"), ("binary", "two"), ("poisson", "amounts"))
        for as_xgboost in (False, True)
    },
    "lightgbm forest": lgb(  # whose raw scores are sums, and its predictions means
        others={"boosting": "rf", **BAGGED}, weighted=False, sees_all=False
    )._replace(raw=lambda model, X: model.predict(X)),
    "lightgbm classes": lgb("multiclass", "three", loss=Softmax(3, 1.5)),
    "lightgbm classes from 0": lgb(
        "multiclass", "three", others={"boost_from_average": False}, loss=Softmax(3, 1.5)
    ),
    "lightgbm one against all": lgb(
        "multiclassova", "three", loss=SeveralTargets(3, "half_logistic")
    ),
    "lightgbm poisson": lgb("poisson", "amounts", loss=Poisson(0.7)),
    "lightgbm gamma": lgb("gamma", "amounts", loss=Gamma(is_newton=True)),
    "lightgbm tweedie": lgb(
        "tweedie", "amounts", others={"tweedie_variance_power": 1.25},
        loss=Tweedie(1.25, is_newton=True),
    ),
    "lightgbm quantile": lgb(
        "quantile", "amounts", others={"alpha": 0.8}, loss=Quantile(0.8), unknown=REFITTED,
        **NO_STEPS,
    ),
    "lightgbm absolute": lgb("l1", "amounts", loss=Absolute(), unknown=REFITTED, **NO_STEPS),
    "lightgbm huber": lgb(
        "huber", "amounts", others={"alpha": 0.8}, loss=Huber(0.8), unknown="start value",
        **NO_STEPS,
    ),
    **{
        f"lightgbm levels, {name}": lgb(rows="levels", others=asked, is_newton="cat_l2" in asked)
        for name, asked in {
            "defaults": {"cat_l2": 0.0},
            "one level each": {"max_cat_to_onehot": 100, "learning_rate": 1.0, "cat_l2": 0.0},
            "deep": {"cat_l2": 0.0, "cat_smooth": 1.0, "num_leaves": 60, "lambda_l2": 3.0},
            "a penalty of its own": {"lambda_l2": 2.0},
        }.items()
    },
    **{
        f"catboost {of}, {name}": cat(of, asked)
        for of in ("numbers", "two")
        for name, asked in OF_CATBOOST.items()
    },
    "catboost classes": cat("three", {"loss_function": "MultiClass"}, loss=Softmax(3, 1.0)),
    **{
        f"sklearn {of}, {name}{', weighted' * weighted}": of_sklearn(name, of, weighted)
        for of in ("numbers", "two")
        for weighted in (False, True)
        for name in OF_SKLEARN
    },
    "sklearn boosting classes": skl(
        GradientBoostingClassifier(n_estimators=6, random_state=0), "three", "full",
        loss=Softmax(3, 1.5), unknown="log_loss",
    ),
    "sklearn histograms classes": skl(
        HistGradientBoostingClassifier(**HGB), "three", loss=Softmax(3, 1.0), unknown="log_loss"
    ),
    **{
        f"sklearn histograms {loss}": skl(
            HistGradientBoostingRegressor(loss=loss, quantile=0.8, **HGB), "amounts", loss=ours,
            unknown=loss, is_newton=loss in ("poisson", "gamma"),
        )
        for loss, ours in (
            ("poisson", Poisson(0.0)), ("gamma", Gamma(is_newton=True)),
            ("absolute_error", Absolute()), ("quantile", Quantile(0.8)),
        )
    },
    **{
        f"sklearn boosting {loss}": skl(
            GradientBoostingRegressor(loss=loss, alpha=0.8, n_estimators=6), "amounts", "full",
            loss=ours, unknown=loss, **NO_STEPS,
        )
        for loss, ours in (("absolute_error", Absolute()), ("quantile", Quantile(0.8)))
    },
    **{
        f"sklearn {type(forest).__name__} of three": skl(forest, "three", loss=SeveralTargets(3))
        for forest in (
            RandomForestClassifier(bootstrap=False, **FEW), ExtraTreesClassifier(**FEW),
            DecisionTreeClassifier(max_depth=4, random_state=0),
        )
    },
    "sklearn forest targets": skl(
        RandomForestRegressor(bootstrap=False, **FEW), "both", loss=SeveralTargets(2)
    ),
    **{
        f"sklearn levels, {name}": skl(
            HistGradientBoostingRegressor(max_iter=8, categorical_features="from_dtype", **asked),
            rows="levels", weighted=False,
        )
        for name, asked in {
            "defaults": {},
            "deep": {"max_leaf_nodes": None, "min_samples_leaf": 2, "l2_regularization": 1.0},
            "stumps": {"max_leaf_nodes": 2, "learning_rate": 1.0},
        }.items()
    },
    "sklearn levels, classes": skl(
        HistGradientBoostingClassifier(max_iter=8, categorical_features="from_dtype"), "two",
        "levels", unknown="log_loss",
    ),
}  # fmt: skip


OF_TIMES = {
    "xgboost cox": xgb("survival:cox", "times", loss=Cox(is_newton=True)),
    "xgboost cox, exact": xgb(
        "survival:cox", "times", others={"base_score": 0.3, "tree_method": "exact"},
        loss=Cox(is_newton=True),
    ),
    **{
        f"xgboost aft, {law} {scale}": xgb(
            "survival:aft", "bounds", others={
                "aft_loss_distribution": law, "aft_loss_distribution_scale": scale, "max_depth": 3,
            },
            loss=Aft(law, float(np.float32(scale)), is_newton=True), **NO_STEPS,
        )
        for law in ("normal", "logistic", "extreme") for scale in (0.25, 1.0)
    },
    "catboost cox": cat("times", {"loss_function": "Cox"}, loss=Cox(is_newton=True)),
    "catboost cox, level by level": cat(
        "times", {"loss_function": "Cox", "grow_policy": "Depthwise"}, loss=Cox(is_newton=True)
    ),
    **{
        f"catboost {function}": cat("bounds", {"loss_function": function}, loss=loss)
        for function, loss in (
            ("SurvivalAft", Aft(is_newton=True)),
            ("SurvivalAft:dist=Extreme;scale=0.3", Aft("extreme", 0.3, is_newton=True)),
            ("SurvivalAft:scale=2;dist=Logistic", Aft("logistic", 2.0, is_newton=True)),
        )
    },
}  # fmt: skip
OF_ORDER = {
    "xgboost rank:pairwise": xgb("rank:pairwise", "grades", loss=Pairwise(), **NO_STEPS),
    "xgboost rank:ndcg": xgb(
        "rank:ndcg", "grades", others={"subsample": 0.8}, loss=NDCG(), **NO_STEPS
    ),
    "xgboost rank:map": xgb(
        "rank:map", "relevant", others={"tree_method": "exact"}, loss=NDCG(), **NO_STEPS
    ),
    "lightgbm lambdarank": lgb("lambdarank", "grades", loss=NDCG(), **NO_STEPS),
    "lightgbm lambdarank, a rate of 1": lgb(
        "lambdarank", "grades", others={"learning_rate": 1.0, "bagging_freq": 1}, loss=NDCG(),
        **NO_STEPS,
    ),
    "lightgbm rank_xendcg": lgb(
        "rank_xendcg", "grades", others={"lambda_l2": 1.0}, loss=NDCG(), **NO_STEPS
    ),
    **{
        f"catboost {function}": cat(
            "grades", {"loss_function": function, **asked}, loss=Pairwise()
        )
        for function, asked in (
            ("YetiRank", {}), ("PairLogit", {"grow_policy": "Depthwise"}), ("QueryRMSE", {})
        )
    },
}  # fmt: skip
MODELS |= {
    name: case._replace(weighted=False) for name, case in [*OF_TIMES.items(), *OF_ORDER.items()]
}


def some(beginning, *others):
    """Return the names of the cases that begin so."""
    return [name for name in MODELS if name.startswith((beginning, *others))]


def rows_beside_thresholds(ensemble, X):
    """Return rows with a cell on each threshold, next to it, near 0, and missing where X has gaps.

    Next to it in either precision, and between neighbours in float32, which round to either.
    """
    rows, ends = [X], np.array([-np.inf, np.inf])
    for t in np.flatnonzero((ensemble.left >= 0) & ~ensemble.has_set)[:200]:
        on = np.clip(ensemble.threshold[t], -1e30, 1e30)
        below, above = np.nextafter(single := np.float32(on), ends.astype(np.float32)).astype(float)
        cells = [on, *np.nextafter(on, ends), single, below, above, 0.0, -0.0, 1e-36, -1e-34]
        cells += [single + (above - single) * share for share in (1 / 8, 7 / 8)]
        cells += [np.nan] * bool(np.isnan(X).any())
        block = np.tile(X[t % len(X)], (len(cells), 1))
        block[:, ensemble.feature[t]] = cells
        rows.append(block)
    return np.concatenate(rows)


def size_of(ensemble):
    """Return a bound for sums of values along paths."""
    largest = np.abs(ensemble.value).max(initial=0.0)
    return 1 + np.abs(ensemble.base_score).max() + ensemble.n_trees * largest
