"""Fitted models of all kinds, each drawn from a number, with rows that they have not seen.

Ours of every loss, policy and kind of column, and those of other libraries. Columns are few, trees
are few, and so are the rows that judge: nodes with one row, or with rows on one side, are common.
"""

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gbt import GBTClassifier, GBTRegressor
from gbt.formats import as_ensemble
from gbt.losses.amounts import Tweedie
from gbt.losses.robust import Huber, PseudoHuber, Quantile
from tests.asserts import peer
from tests.gbt.formats.read_models import MODELS

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
    "share": lambda rng, score: 1 / (1 + np.exp(rng.normal(size=len(score)) - score)),
    "two labels": lambda rng, score: LABELS[(score > 0.5).astype(int)],
    "two numbers": lambda rng, score: (score > 0.5).astype(int),
    "three numbers": lambda rng, score: np.digitize(score, [0.0, 1.0]),
    "three labels": lambda rng, score: LABELS[np.digitize(score, [0.0, 1.0])],
    "four labels": lambda rng, score: LABELS[np.digitize(score, [-0.5, 0.3, 1.2])],
    "two targets": lambda rng, score: np.c_[score, score**2 + rng.normal(size=len(score))],
}


# -- Models ----------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """A kind of model."""

    make: Any  # of a generator: how rows, targets and weights become a fitted model
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
            "max_depth": int(rng.integers(1, 6)), "reg_lambda": float(rng.choice([0.0, 1.0, 10.0])),
            "min_child_weight": 1e-3, "subsample": float(rng.choice([1.0, 1.0, 0.7])),
            "colsample": float(rng.choice([1.0, 1.0, 0.6])), "splitter": str(rng.choice(policies)),
            "random_state": int(rng.integers(100)), "n_jobs": 1, **others,
        }  # fmt: skip
        is_of_labels = "label" in target
        return (GBTClassifier(**asked) if is_of_labels else GBTRegressor(loss=loss, **asked)).fit

    return Kind(make, target)


OF_LIBRARIES = {  # how their small models are asked for
    "xgboost": lambda rng: {
        "n_rounds": int(rng.integers(2, 7)),
        "max_depth": int(rng.integers(1, 5)),
        "reg_lambda": float(rng.choice([0.0, 1.0, 5.0])),
    },
    "lightgbm": lambda rng: {
        "n_rounds": int(rng.integers(2, 7)),
        "max_depth": int(rng.integers(1, 5)),
        "min_data_in_leaf": 5,
    },
    "catboost": lambda rng: {
        "iterations": int(rng.integers(2, 7)), "depth": int(rng.integers(1, 5)),
        "learning_rate": 0.3, "one_hot_max_size": 99, "random_seed": int(rng.integers(100)),
    },
    "sklearn": lambda rng: {
        "max_depth": int(rng.integers(1, 5)), "n_trees": int(rng.integers(2, 7)),
    },
}  # fmt: skip
OF_TARGETS = {
    "numbers": "number", "two": "two numbers", "three": "three numbers", "amounts": "amount",
    "both": "two targets",
}  # fmt: skip


def of_library(name):
    """Return one of the kinds of models that are read, made small."""
    case, library = MODELS[name], name.split()[0]
    target = OF_TARGETS[case.of]
    if library in ("catboost", "sklearn"):
        target = target.replace(" numbers", " labels")
    if "poisson" in name or "tweedie" in name:
        target = "count" if "poisson" in name else "share of zeros"
    takes_words = library in ("xgboost", "lightgbm") or "histograms" in name
    takes_words = takes_words and "0 is missing" not in name

    def make(rng):
        small = OF_LIBRARIES[library](rng)
        if "forest" in name and library == "xgboost":
            del small["n_rounds"]
        return partial(case.fit, small=small)

    return Kind(make, target, 0.4 * takes_words, "boosting" not in name)


def catboost_of_words(rng):
    asked = OF_LIBRARIES["catboost"](rng) | {"cat_features": ["city"]}

    def fit(X, y, weight):
        model = MODELS["catboost numbers, defaults"].fit(X, y, weight, small=asked)
        return as_ensemble(model, X)  # which alone knows the words

    return fit


def one_against_all(rng):
    return peer("lightgbm").LGBMClassifier(
        objective="multiclassova", n_estimators=int(rng.integers(2, 7)), min_child_samples=5,
        max_depth=int(rng.integers(1, 5)), verbose=-1, n_jobs=1,
    ).fit  # fmt: skip


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
    "ours, shares": ours("cross_entropy", "share"),
}
OTHERS = {
    name: of_library(name)
    for name in (
        *[f"xgboost {of}" for of in (
            "numbers, defaults", "two, no lambda", "classes", "poisson", "gamma", "tweedie",
            "squared log error", "pseudo-Huber", "absolute", "quantile", "dart numbers, tree",
            "targets", "forest numbers, sampled", "forest two, sampled", "forest amounts",
        )],
        *[f"lightgbm {of}" for of in (
            "regression, penalty", "binary, defaults", "classes", "poisson",
            "gamma", "tweedie", "quantile", "absolute", "huber", "regression, 0 is missing",
            "forest",
        )],
        *[f"catboost {of}" for of in (
            "numbers, defaults", "two, defaults", "classes", "numbers, leaf by leaf",
        )],
        *[f"sklearn {of}" for of in (
            "numbers, histograms", "two, histograms", "histograms classes", "histograms poisson",
            "histograms gamma", "histograms quantile", "histograms absolute_error",
            "numbers, boosting", "boosting classes", "numbers, forest", "two, forest",
            "RandomForestClassifier of three", "forest targets", "numbers, extra trees",
            "ExtraTreesClassifier of three",
        )],
    )
}  # fmt: skip
OTHERS |= {
    "lightgbm, one against all": Kind(one_against_all, "three labels"),
    "catboost, words": Kind(catboost_of_words, "number", 1.0),
}
KINDS = {**OURS, **OTHERS}
# Ours come twice as often as each of the others.
ORDER = [*OURS, *OTHERS, *OURS]


# -- One of them -----------------------------------------------------------------------------------


def draw_model(number, order=ORDER):
    """Return the model of a number, of the kinds in turn, and rows that it has not seen."""
    rng = np.random.default_rng([number, 37])
    name = order[number % len(order)]
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
    fit = kind.make(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of short steps, of few rows: these models are small
        model = fit(X, y, weight if is_weighted else None)
    if words:
        X_new = with_others(rng, X_new, UNSEEN, None)
    return Drawn(name, model, X_new, y_new, *draw_weights_and_groups(rng, n))


def draw_weights_and_groups(rng, n):
    """Return weights of rows, some of them 0, and labels of groups, or None for either."""
    of_rows = (None, rng.gamma(1.0, size=n), rng.integers(0, 3, size=n) + 1.0 * (np.arange(n) < 2))
    groups = (None, None, np.arange(n) * 7 % max(2, n // 3))
    return of_rows[rng.integers(3)], groups[rng.integers(3)]
