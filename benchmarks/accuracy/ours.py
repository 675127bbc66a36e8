"""Settings of our three splitters: one to begin with, and what is changed of it."""

import numpy as np
import pandas as pd

import benchmarks.study as study
from gbt.splitting import Unbiased

# All is said, so that a setting stays what it is when defaults change.
AS_XGBOOST = {
    "n_estimators": 100, "learning_rate": 0.1, "max_depth": 6, "max_leaves": None,
    "min_child_weight": 1.0, "min_samples_leaf": 1, "reg_lambda": 1.0, "subsample": 1.0,
    "colsample": 1.0, "max_bins": None, "categorical_smoothing": 20.0,
    "early_stopping_rounds": None,
}  # fmt: skip
JUDGED = AS_XGBOOST | {"min_child_weight": 1e-3, "categorical_smoothing": 1.0}
BEGIN = {
    "greedy": AS_XGBOOST | {"splitter": "greedy"},
    "unbiased": JUDGED | {"splitter": "unbiased"},
    "cross-validated": JUDGED | {"splitter": "cross_validated"},
}
STOPPED = {
    "n_estimators": 1000, "learning_rate": 0.05, "early_stopping_rounds": 50,
    "validation_fraction": 0.15,
}  # fmt: skip
AT_5 = {"categorical_smoothing": 5.0}
POOLED = AT_5 | {"splitter": Unbiased(pooled=True)}
FROM_20 = {"min_samples_leaf": 20, "min_child_weight": 1e-3}
IN_BINS = FROM_20 | {"max_bins": 256}
CHANGES: dict[str, dict[str, dict]] = {
    "greedy": {
        "": {},
        "20 rows a leaf": {"min_samples_leaf": 20},
        "20 rows, weight .001": FROM_20,
        "20 rows, weight .001, smoothing 10": FROM_20 | {"categorical_smoothing": 10.0},
        "20 rows, weight .001, smoothing 5": FROM_20 | {"categorical_smoothing": 5.0},
        "20 rows, weight .001, smoothing 1": FROM_20 | {"categorical_smoothing": 1.0},
        "5 rows, weight .001": FROM_20 | {"min_samples_leaf": 5},
        "10 rows, weight .001": FROM_20 | {"min_samples_leaf": 10},
        "20 rows, weight .001, columns .5": FROM_20 | {"colsample": 0.5},
        "20 rows, weight .001, depth 4": FROM_20 | {"max_depth": 4},
        "20 rows, weight .001, 31 leaves": FROM_20 | {"max_depth": None, "max_leaves": 31},
        "20 rows, weight .001, 200 x .05": FROM_20 | {"n_estimators": 200, "learning_rate": 0.05},
        "20 rows, weight .001, 500 x .05": FROM_20 | {"n_estimators": 500, "learning_rate": 0.05},
        "20 rows, weight .001, stopped": FROM_20 | STOPPED,
        "20 rows, weight .001, 256 bins": IN_BINS,
        "20 rows, weight .001, 256 bins, stopped": IN_BINS | STOPPED,
        "stopped": STOPPED,
    },
    "unbiased": {
        "": {},
        "parameters of greedy": {"min_child_weight": 1.0, "categorical_smoothing": 20.0},
        "weight 1": {"min_child_weight": 1.0},
        "weight .1": {"min_child_weight": 0.1},
        "smoothing 0": {"categorical_smoothing": 0.0},
        "smoothing 3": {"categorical_smoothing": 3.0},
        "smoothing 5": {"categorical_smoothing": 5.0},
        "smoothing 20": {"categorical_smoothing": 20.0},
        "smoothing 5, 200 x .1": AT_5 | {"n_estimators": 200},
        "smoothing 5, 500 x .05": AT_5 | {"n_estimators": 500, "learning_rate": 0.05},
        "smoothing 5, 1000 x .03": AT_5 | {"n_estimators": 1000, "learning_rate": 0.03},
        "smoothing 5, 1000 x .05": AT_5 | {"n_estimators": 1000, "learning_rate": 0.05},
        "pooled": POOLED | {"n_estimators": None, "learning_rate": None},
        "pooled, stopped": POOLED | STOPPED,
        "pooled, 200 x .1": POOLED | {"n_estimators": 200},
        "pooled, 500 x .1": POOLED | {"n_estimators": 500, "learning_rate": 0.1},
        "pooled, 1000 x .03": POOLED | {"n_estimators": 1000, "learning_rate": 0.03},
        "pooled, 1000 x .05": POOLED | {"n_estimators": 1000, "learning_rate": 0.05},
        "pooled, 2000 x .03": POOLED | {"n_estimators": 2000, "learning_rate": 0.03},
        "smoothing 5, columns .5, 500 x .05": AT_5
        | {"n_estimators": 500, "learning_rate": 0.05, "colsample": 0.5},
        "smoothing 5, stopped": AT_5 | STOPPED,
        "3 rows a leaf": {"min_samples_leaf": 3},
        "5 rows a leaf": {"min_samples_leaf": 5},
        "lambda .1": {"reg_lambda": 0.1},
        "lambda 5": {"reg_lambda": 5.0},
        "columns .7": {"colsample": 0.7},
        "columns .5": {"colsample": 0.5},
        "rows .7": {"subsample": 0.7},
        "200 x .05": {"n_estimators": 200, "learning_rate": 0.05},
        "200 x .1": {"n_estimators": 200},
        "400 x .1": {"n_estimators": 400},
        "500 x .05": {"n_estimators": 500, "learning_rate": 0.05},
        "depth 4": {"max_depth": 4},
        "depth 8": {"max_depth": 8},
        "31 leaves": {"max_depth": None, "max_leaves": 31},
        "stopped": STOPPED,
    },
    "cross-validated": {
        "": {},
        "parameters of greedy": {"min_child_weight": 1.0, "categorical_smoothing": 20.0},
        "smoothing 5": {"categorical_smoothing": 5.0},
        "smoothing 20": {"categorical_smoothing": 20.0},
        "20 rows a leaf": {"min_samples_leaf": 20},
        "200 x .1": {"n_estimators": 200},
        "stopped": STOPPED,
    },
}

# Compared on tables of all sizes, three times; the others on small ones, once.
MAIN = (
    "greedy", "greedy, 20 rows, weight .001", "greedy, 20 rows, weight .001, 500 x .05",
    "greedy, 20 rows, weight .001, stopped", "greedy, 20 rows, weight .001, 256 bins",
    "greedy, 20 rows, weight .001, 256 bins, stopped", "unbiased", "unbiased, parameters of greedy",
    "unbiased, smoothing 5", "unbiased, smoothing 5, 200 x .1", "unbiased, smoothing 5, 500 x .05",
    "unbiased, smoothing 5, stopped", "unbiased, pooled", "unbiased, pooled, 500 x .1",
    "unbiased, pooled, stopped",
    "cross-validated", "cross-validated, stopped",
)  # fmt: skip


def settings() -> dict[str, dict]:
    """Return the parameters of every setting by its name."""
    return {
        f"{splitter}, {name}" if name else splitter: BEGIN[splitter] | change
        for splitter, changes in CHANGES.items()
        for name, change in changes.items()
    }


def predict(
    parameters: dict, kind: str, train: tuple[pd.DataFrame, np.ndarray], X: pd.DataFrame, seed: int
) -> np.ndarray:
    """Fit a setting; return numbers, or the probabilities of all classes."""
    model = study.ours(kind != "number", random_state=seed, **parameters).fit(*train)
    return model.predict(X) if kind == "number" else model.predict_proba(X)
