"""Fitted models of all kinds, each drawn from a number, with rows that they have not seen.

Ours of every loss, policy and kind of column, and those of other libraries. Columns are few, trees
are few, and so are the rows that judge: nodes with one row, or with rows on one side, are common.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
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

from gbt import GBTClassifier, GBTRegressor
from gbt.formats import as_ensemble
from gbt.losses.amounts import Tweedie
from gbt.losses.robust import Huber, PseudoHuber, Quantile
from tests.asserts import peer

FEW_WORDS = ("oslo", "quito", "lima", "bern", "riga", "kyiv", "baku")
MANY_WORDS = tuple(f"street {number}" for number in range(90))  # a set of them takes two words
UNSEEN = "zagreb"
N_TRAIN = 150


class Drawn(NamedTuple):
    """A fitted model, and rows to judge it by."""

    kind: str
    model: Any
    X: Any
    y: np.ndarray
    sample_weight: np.ndarray | None
    groups: np.ndarray | None


# -- Tables and targets ----------------------------------------------------------------------------


def draw_table(rng, n, has_missing, words=()):
    """Return numbers with ties, and if asked for missing values and a column of words."""
    table = rng.normal(size=(n, 4))
    table[:, 1] = np.round(2 * table[:, 1]) / 2
    table[:, 2] *= rng.random(n) < 0.6
    if has_missing:
        table[rng.random(table.shape) < 0.15] = np.nan
    if not words:
        return table
    frame = pd.DataFrame(table, columns=["a", "b", "c", "d"])
    frame.insert(2, "city", pd.Categorical(rng.choice(words, n), categories=words))
    return frame


def with_others(rng, frame, *others):
    """Return rows of which some have another word, or None."""
    words = frame["city"].tolist()
    for other in others:
        words = [other if rng.random() < 0.1 else word for word in words]
    levels = [*frame["city"].cat.categories, *(other for other in others if other is not None)]
    return frame.assign(city=pd.Categorical(words, categories=levels))


def score_of(rng, X):
    """Return what the target depends on, with noise: continuous, so that it has no ties."""
    if hasattr(X, "columns"):
        word = X["city"].cat.codes.to_numpy()
        X = X.drop(columns="city").to_numpy()
    else:
        word = np.zeros(len(X))
    x = np.nan_to_num(X, nan=0.7)
    return x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.6 * (word % 3) + 0.7 * rng.normal(size=len(x))


LABELS = np.array(["low", "mid", "top", "odd"])
TARGETS = {
    "number": lambda rng, score: 2 * score,
    "amount": lambda rng, score: np.exp(0.5 * score) * rng.gamma(2.0, size=len(score)) + 1e-3,
    "count": lambda rng, score: rng.poisson(np.exp(0.4 * score)).astype(float),
    "share of zeros": lambda rng, score: np.exp(score) * (rng.random(len(score)) < 0.7),
    "two labels": lambda rng, score: LABELS[(score > 0.5).astype(int)],
    "two numbers": lambda rng, score: (score > 0.5).astype(int),
    "three numbers": lambda rng, score: np.digitize(score, [0.0, 1.0]),
    "three labels": lambda rng, score: LABELS[np.digitize(score, [0.0, 1.0])],
    "four labels": lambda rng, score: LABELS[np.digitize(score, [-0.5, 0.3, 1.2])],
    "two targets": lambda rng, score: np.column_stack(
        [score, score**2 + rng.normal(size=len(score))]
    ),
}


# -- Models: how to fit one, of which target, and whether it takes words ---------------------------


class Kind(NamedTuple):
    """A kind of model."""

    make: Any  # of a generator, an estimator
    target: str
    has_words: float = 0.4  # how often
    takes_missing: bool = True


def ours(loss=None, target="number", **others):
    """Return our own: a regressor of a loss, or a classifier where targets are labels."""

    def make(rng):
        policies = ("greedy", "greedy", "greedy", "cross_validated", "unbiased")
        asked = {
            "n_estimators": int(rng.integers(2, 9)),
            "learning_rate": float(rng.choice([0.1, 0.3, 1.0])),
            "max_depth": int(rng.integers(1, 6)),
            "reg_lambda": float(rng.choice([0.0, 1.0, 10.0])),
            "min_child_weight": 1e-3,
            "subsample": float(rng.choice([1.0, 1.0, 0.7])),
            "colsample": float(rng.choice([1.0, 1.0, 0.6])),
            "splitter": str(rng.choice(policies)),
            "random_state": int(rng.integers(100)),
            "n_jobs": 1,
            **others,
        }
        return GBTClassifier(**asked) if "label" in target else GBTRegressor(loss=loss, **asked)

    return Kind(make, target)


def of_library(library, name, target, has_words=0.4, **options):
    """Return a model of XGBoost or LightGBM, whose parameters have the same names."""

    def make(rng):
        asked = {
            "n_estimators": int(rng.integers(2, 7)),
            "learning_rate": float(rng.choice([0.1, 0.3])),
            "max_depth": int(rng.integers(1, 5)),
            "reg_lambda": float(rng.choice([0.0, 1.0, 5.0])),
            "n_jobs": 1,
            **({"verbose": -1} if library == "lightgbm" else {"enable_categorical": True}),
            **({"min_child_samples": 5} if library == "lightgbm" else {}),
            **options,
        }
        return getattr(peer(library), name)(**asked)

    return Kind(make, target, has_words)


def xgb(target, has_words=0.4, **options):
    name = "XGBClassifier" if target.endswith("numbers") else "XGBRegressor"
    return of_library("xgboost", name, target, has_words, **options)


def lgb(target, has_words=0.4, **options):
    name = "LGBMClassifier" if "label" in target else "LGBMRegressor"
    return of_library("lightgbm", name, target, has_words, **options)


def catboost(target, has_words=0.0, **options):
    def make(rng):
        catboost = peer("catboost")
        name = "CatBoostClassifier" if "label" in target else "CatBoostRegressor"
        return getattr(catboost, name)(
            iterations=int(rng.integers(2, 7)),
            depth=int(rng.integers(1, 5)),
            learning_rate=0.3,
            one_hot_max_size=99,
            random_seed=int(rng.integers(100)),
            thread_count=1,
            verbose=0,
            allow_writing_files=False,
            **options,
        )

    return Kind(make, target, has_words)


def sklearn(kind, target, has_words=0.0, takes_missing=True, **options):
    def make(rng):
        asked = {"max_depth": int(rng.integers(1, 5)), "random_state": int(rng.integers(100))}
        is_histogram = kind in (HistGradientBoostingRegressor, HistGradientBoostingClassifier)
        n_trees = {"max_iter" if is_histogram else "n_estimators": int(rng.integers(2, 7))}
        return kind(**asked, **n_trees, **options)

    return Kind(make, target, has_words, takes_missing)


HGR, HGC = HistGradientBoostingRegressor, HistGradientBoostingClassifier
FOREST = {"num_parallel_tree": 4, "subsample": 0.6, "n_estimators": 1}
BY_TYPE = {"categorical_features": "from_dtype"}
OURS = {
    "ours": ours(),
    "ours, monotone": ours(monotone_constraints={0: 1}, splitter="greedy"),
    "ours, two labels": ours(target="two labels"),
    "ours, three labels": ours(target="three labels"),
    "ours, four labels": ours(target="four labels"),
    "ours, balanced": ours(target="two labels", class_weight="balanced"),
    "ours, poisson": ours("poisson", "count"),
    "ours, gamma": ours("gamma", "amount"),
    "ours, tweedie": ours(Tweedie(1.3), "share of zeros"),
    "ours, squared log": ours("squared_log_error", "amount"),
    "ours, quantile": ours(Quantile(0.8)),
    "ours, absolute": ours("absolute"),
    "ours, huber": ours(Huber(0.9)),
    "ours, pseudo-huber": ours(PseudoHuber(1.4)),
}
OTHERS = {
    "xgboost": xgb("number"),
    "xgboost, two classes": xgb("two numbers"),
    "xgboost, three classes": xgb("three numbers"),
    "xgboost, poisson": xgb("count", objective="count:poisson"),
    "xgboost, gamma": xgb("amount", objective="reg:gamma"),
    "xgboost, tweedie": xgb("share of zeros", objective="reg:tweedie"),
    "xgboost, squared log": xgb("amount", objective="reg:squaredlogerror"),
    "xgboost, pseudo-huber": xgb("number", objective="reg:pseudohubererror", huber_slope=2.0),
    "xgboost, absolute": xgb("number", objective="reg:absoluteerror"),
    "xgboost, quantile": xgb("number", objective="reg:quantileerror", quantile_alpha=0.75),
    "xgboost, dart": xgb("number", booster="dart", rate_drop=0.5),
    "xgboost, two targets": xgb("two targets"),
    "xgboost, a forest": xgb("number", **FOREST),
    "xgboost, a forest of classes": xgb("two numbers", **FOREST),
    "xgboost, a forest of amounts": xgb("amount", objective="reg:gamma", **FOREST),
    "lightgbm": lgb("number"),
    "lightgbm, two labels": lgb("two labels"),
    "lightgbm, three labels": lgb("three labels"),
    "lightgbm, one against all": lgb("three labels", objective="multiclassova"),
    "lightgbm, poisson": lgb("count", objective="poisson"),
    "lightgbm, gamma": lgb("amount", objective="gamma"),
    "lightgbm, tweedie": lgb("share of zeros", objective="tweedie"),
    "lightgbm, quantile": lgb("number", objective="quantile", alpha=0.8),
    "lightgbm, absolute": lgb("number", objective="l1"),
    "lightgbm, huber": lgb("number", objective="huber", alpha=0.8),
    "lightgbm, 0 is missing": lgb("number", has_words=0.0, zero_as_missing=True),
    "lightgbm, a forest": lgb(
        "number", boosting_type="rf", subsample=0.6, subsample_freq=1, reg_lambda=0.0
    ),
    "catboost": catboost("number"),
    "catboost, two labels": catboost("two labels"),
    "catboost, three labels": catboost("three labels"),
    "catboost, words": catboost("number", has_words=1.0, cat_features=["city"]),
    "catboost, leaf by leaf": catboost("number", grow_policy="Lossguide"),
    "histograms": sklearn(HGR, "number", 0.4, **BY_TYPE),
    "histograms, two labels": sklearn(HGC, "two labels", 0.4, **BY_TYPE),
    "histograms, three labels": sklearn(HGC, "three labels", 0.4, **BY_TYPE),
    "histograms, poisson": sklearn(HGR, "count", 0.4, loss="poisson", **BY_TYPE),
    "histograms, gamma": sklearn(HGR, "amount", 0.4, loss="gamma", **BY_TYPE),
    "histograms, quantile": sklearn(HGR, "number", loss="quantile", quantile=0.7),
    "histograms, absolute": sklearn(HGR, "number", loss="absolute_error"),
    "gradient boosting": sklearn(GradientBoostingRegressor, "number", takes_missing=False),
    "gradient boosting, labels": sklearn(
        GradientBoostingClassifier, "three labels", takes_missing=False
    ),
    "random forest": sklearn(RandomForestRegressor, "number"),
    "random forest, two labels": sklearn(RandomForestClassifier, "two labels"),
    "random forest, three labels": sklearn(RandomForestClassifier, "three labels"),
    "random forest, two targets": sklearn(RandomForestRegressor, "two targets"),
    "extra trees": sklearn(ExtraTreesRegressor, "number"),
    "extra trees, three labels": sklearn(ExtraTreesClassifier, "three labels"),
}
KINDS = {**OURS, **OTHERS}
# Ours come twice as often as each of the others.
ORDER = [*OURS, *OTHERS, *OURS]


# -- One of them -----------------------------------------------------------------------------------


def draw_model(number):
    """Return the model of a number, and rows that it has not seen."""
    rng = np.random.default_rng([number, 37])
    name = ORDER[number % len(ORDER)]
    kind = KINDS[name]
    words = (FEW_WORDS, MANY_WORDS)[rng.integers(2)] if rng.random() < kind.has_words else ()
    has_missing = kind.takes_missing and bool(rng.random() < 0.5)
    n = int(rng.choice([5, 12, 40, 120]))
    X, X_new = (draw_table(rng, size, has_missing, words) for size in (N_TRAIN, n))
    y, y_new = (TARGETS[kind.target](rng, score_of(rng, rows)) for rows in (X, X_new))
    is_catboost = name.startswith("catboost")  # of weighted rows it keeps neither H nor counts
    if words and has_missing and not is_catboost:
        X = with_others(rng, X, None)
    weight = rng.gamma(1.0, size=N_TRAIN) + 0.05
    is_weighted = rng.random() < 0.3 and not is_catboost
    model = kind.make(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of short steps, of few rows: these models are small
        model.fit(X, y, sample_weight=weight if is_weighted else None)
    if words:
        X_new = with_others(rng, X_new, UNSEEN, None)
    if name == "catboost, words":
        model = as_ensemble(model, X)  # which alone knows the words
    return Drawn(name, model, X_new, y_new, *draw_weights_and_groups(rng, n))


def draw_weights_and_groups(rng, n):
    """Return weights of rows, some of them 0, and labels of groups, or None for either."""
    of_rows = (None, rng.gamma(1.0, size=n), rng.integers(0, 3, size=n) + 1.0 * (np.arange(n) < 2))
    groups = (None, None, np.arange(n) * 7 % max(2, n // 3))
    return of_rows[rng.integers(3)], groups[rng.integers(3)]
