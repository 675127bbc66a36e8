"""Seconds of fits of real tables with columns of words, beside other libraries.

    python -m benchmarks.speed.categories --data FOLDER --write          a quiet machine

Tables are split at random into 3/4 for training and 1/4 that is left out, with the same splits for
all. Every library treats categories in its own way, at its own defaults; all else is alike: 100
trees, learning rate 0.1, depth 6, lambda 1, no row or column sampling, one row is enough for a
leaf, one thread. scikit-learn takes at most 255 levels: columns of more are given to it as the
numbers of their levels. Targets of regressions are logarithms. How well all of them predict is
measured by ``benchmarks.accuracy``.
"""

import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.study import Part, crossed, is_installed, model_of, ours
from benchmarks.study.command import Study, main
from benchmarks.study.tables import markdown
from benchmarks.study.whole_tables import WITH_WORDS, whole_table

GREEDY, SCIKIT_LEARN = "greedy", "scikit-learn"
MODULES = {SCIKIT_LEARN: "HistGradientBoosting"}
ALIKE = {"learning_rate": 0.1, "random_state": 0}
OPTIONS: dict[str, dict[str, Any]] = {
    "LightGBM": {  # whose leaves are as many as the depth allows
        "n_estimators": 100, "max_depth": 6, "num_leaves": 64, "reg_lambda": 1.0,
        "min_child_weight": 1.0, "min_child_samples": 1,
    },
    "XGBoost": {
        "n_estimators": 100, "max_depth": 6, "reg_lambda": 1.0, "min_child_weight": 1.0,
        "tree_method": "hist", "enable_categorical": True,
    },
    SCIKIT_LEARN: {
        "max_iter": 100, "max_depth": 6, "max_leaf_nodes": None, "l2_regularization": 1.0,
        "min_samples_leaf": 1, "early_stopping": False, "categorical_features": "from_dtype",
    },
}  # fmt: skip
METHODS = (GREEDY, *OPTIONS)


def model_and_rows(method: str, X: pd.DataFrame, is_class: bool):
    """Return an unfitted model, and the table as it takes it."""
    if method == GREEDY:
        how = {"n_estimators": 100, "min_child_weight": 1.0, "categorical_smoothing": 20.0}
        return ours(is_class, random_state=0, **how), X
    if method == SCIKIT_LEARN:
        many = [name for name in X.select_dtypes("category") if X[name].nunique() > 254]
        X = X.assign(**{name: X[name].cat.codes.astype(float) for name in many})
    return model_of(MODULES.get(method, method), is_class, **ALIKE, **OPTIONS[method]), X


def fit(cell, rng, size):
    """Yield the seconds of one fit."""
    method = cell["method"]
    if method != GREEDY and not is_installed(MODULES.get(method, method)):
        return
    X, y, is_class = whole_table(cell["table"])
    n, y = len(y), y if is_class else np.log1p(y)
    how = {"random_state": cell["split"], "stratify": y if is_class else None}
    rows, _ = train_test_split(np.arange(n), test_size=0.25, **how)
    model, X = model_and_rows(method, X, is_class)
    X, y = X.iloc[rows], y[rows]
    with threadpool_limits(1):  # scikit-learn has no parameter for it
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    yield {"rows": n, "seconds": f"{seconds:.2f}"}


def table(rows: list[dict]) -> str:
    """Return the table of seconds: medians over the splits, and means of ratios over the tables."""
    seconds = pd.DataFrame(rows)
    medians = seconds.pivot_table(
        index=["table", "rows"], columns="method", values="seconds", aggfunc="median", sort=False
    )[[*METHODS]]
    lines = [
        [table, f"{n_rows:,}", *(f"{number:.2f}" for number in numbers)]
        for (table, n_rows), numbers in zip(medians.index, medians.to_numpy(), strict=True)
    ]
    ratios = np.exp(np.log(medians.div(medians[GREEDY], axis=0)).mean())
    words = "**geometric mean, greedy is 1**"
    lines.append([words, "", *(f"**{ratio:.2f}**" for ratio in ratios)])
    return markdown(["seconds of a fit, one thread", "rows", *METHODS], lines, 1)


CELLS = crossed(table=WITH_WORDS, split=range(5), method=METHODS)
PART = Part("seconds", CELLS, fit, 1, table, WITH_WORDS, is_timed=True)
STUDY = Study("categories", __doc__, (PART,), folder="speed.", how="splits from 0")

if __name__ == "__main__":
    sys.exit(main(STUDY))
