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
# What words of a setting's name stand for; the other words are numbers.
WORDS = {
    "parameters of greedy": {"min_child_weight": 1.0, "categorical_smoothing": 20.0},
    "stopped": STOPPED,
    "pooled": {
        "categorical_smoothing": 5.0, "splitter": Unbiased(pooled=True), "n_estimators": None,
        "learning_rate": None, "max_depth": "auto",
    },
    "31 leaves": {"max_depth": None, "max_leaves": 31},
    "256 bins": {"max_bins": 256},
}  # fmt: skip
NUMBERS = {
    "weight": "min_child_weight", "smoothing": "categorical_smoothing", "lambda": "reg_lambda",
    "columns": "colsample", "rows": "subsample", "depth": "max_depth",
}  # fmt: skip
FROM_20 = "20 rows, weight .001"
CHANGES: dict[str, tuple[str, ...]] = {
    "greedy": (
        "", "20 rows a leaf", FROM_20, f"{FROM_20}, smoothing 10", f"{FROM_20}, smoothing 5",
        f"{FROM_20}, smoothing 1", "5 rows, weight .001", "10 rows, weight .001",
        f"{FROM_20}, columns .5", f"{FROM_20}, depth 4", f"{FROM_20}, 31 leaves",
        f"{FROM_20}, 200 x .05", f"{FROM_20}, 500 x .05", f"{FROM_20}, stopped",
        f"{FROM_20}, 256 bins", f"{FROM_20}, 256 bins, stopped", "stopped",
    ),
    "unbiased": (
        "", "parameters of greedy", "weight 1", "weight .1", "smoothing 0", "smoothing 3",
        "smoothing 5", "smoothing 20", "smoothing 5, 200 x .1", "smoothing 5, 500 x .05",
        "smoothing 5, 1000 x .03", "smoothing 5, 1000 x .05", "pooled", "pooled, stopped",
        "pooled, 200 x .1", "pooled, 500 x .1", "pooled, 1000 x .02", "pooled, 1000 x .05",
        "pooled, 2000 x .02", "pooled, depth 4", "pooled, depth 8",
        "smoothing 5, columns .5, 500 x .05", "smoothing 5, stopped", "3 rows a leaf",
        "5 rows a leaf", "lambda .1", "lambda 5", "columns .7", "columns .5", "rows .7",
        "200 x .05", "200 x .1", "400 x .1", "500 x .05", "depth 4", "depth 8",
        "31 leaves", "stopped",
    ),
    "cross-validated": (
        "", "parameters of greedy", "smoothing 5", "smoothing 20", "20 rows a leaf", "200 x .1",
        "stopped",
    ),
}  # fmt: skip

# Compared on tables of all sizes, three times; the others on small ones, once.
MAIN = (
    "greedy", "greedy, 20 rows, weight .001", "greedy, 20 rows, weight .001, 500 x .05",
    "greedy, 20 rows, weight .001, stopped", "greedy, 20 rows, weight .001, 256 bins",
    "greedy, 20 rows, weight .001, 256 bins, stopped", "unbiased", "unbiased, parameters of greedy",
    "unbiased, smoothing 5", "unbiased, smoothing 5, 200 x .1", "unbiased, smoothing 5, 500 x .05",
    "unbiased, smoothing 5, stopped", "unbiased, pooled", "unbiased, pooled, stopped",
    "cross-validated", "cross-validated, stopped",
)  # fmt: skip


def change_of(name: str) -> dict:
    """Return the parameters that a name changes: "20 rows, weight .001, 200 x .05", say."""
    change: dict = {}
    for words in name.split(", ") if name else ():
        first, second, *rest = words.split(" ") if " " in words else (words, "")
        if words in WORDS:
            change |= WORDS[words]
        elif first in NUMBERS:
            change[NUMBERS[first]] = int(second) if first == "depth" else float(second)
        elif second == "x":
            change |= {"n_estimators": int(first), "learning_rate": float(rest[0])}
        else:
            change["min_samples_leaf"] = int(first)
    return change


def settings() -> dict[str, dict]:
    """Return the parameters of every setting that is compared by its name."""
    pairs = ((splitter, name) for splitter, names in CHANGES.items() for name in names)
    names = [f"{splitter}, {name}" if name else splitter for splitter, name in pairs]
    return {name: parameters_of(name) for name in names}


def is_ours(name: str) -> bool:
    """Say whether a name is that of a setting of ours, compared or not."""
    return name.split(", ")[0] in BEGIN


def parameters_of(name: str) -> dict:
    """Return the parameters of a setting: "unbiased, pooled, depth 6", say."""
    splitter, _, change = name.partition(", ")
    return BEGIN[splitter] | change_of(change)


def predict(
    parameters: dict, kind: str, train: tuple[pd.DataFrame, np.ndarray], X: pd.DataFrame, seed: int
) -> np.ndarray:
    """Fit a setting; return numbers, or the probabilities of all classes."""
    model = study.ours(kind != "number", random_state=seed, **parameters).fit(*train)
    return model.predict(X) if kind == "number" else model.predict_proba(X)
