"""Words as one-hot columns behind a step beside the same words as categories.

Rows have a city and a shop of some levels and a normal column. The city says nothing; every shop
moves the target by an effect of its own. Four models of 50 trees of depth 3 are judged on as many
rows as they were fitted to: ours and XGBoost's, each as a pipeline with one-hot columns and on
categories. Our categories are cut into two sets of levels, which one-hot columns cannot be, so that
the two models differ. XGBoost's are split one level from the rest, as one-hot columns are: the two
have the same splits, and must find the same.
"""

from functools import partial

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from attributions import held_out_gain
from benchmarks.papers.held_out.noise import added_up, counted, level_column, rate_text
from benchmarks.papers.held_out.targets import MAX_DEPTH, N_TREES
from benchmarks.study import Part, crossed, model_of, ours
from benchmarks.study.tables import chosen, listed

WORDS = ["city", "shop"]
WAYS = ("ours, one-hot", "ours, categories", "XGBoost, one-hot", "XGBoost, categories")
EFFECT = 0.25  # standard deviation of what shops do, where the noise has 1
BY = ("levels", "rows", "way", "column")


def drawn(n: int, n_levels: int, rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table, and targets."""
    X = pd.DataFrame({name: level_column(n, n_levels, rng) for name in WORDS})
    X["x"] = rng.normal(size=n)
    of_level = EFFECT * rng.normal(size=n_levels)
    shops = X["shop"].cat.codes.to_numpy()
    return X, of_level[shops] + 0.6 * X["x"].to_numpy() + rng.normal(size=n)


def models(n_trees: int):
    """Return a model of each of the ``WAYS``."""
    asked = {"n_estimators": n_trees, "max_depth": MAX_DEPTH, "learning_rate": 0.1}
    of_xgboost = {**asked, "tree_method": "hist", "min_child_weight": 5, "base_score": 0.0}
    xgboost = partial(model_of, "XGBoost", False, **of_xgboost)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    hot = make_column_transformer((encoder, WORDS), remainder="passthrough")
    return (
        make_pipeline(hot, ours(**asked)),
        ours(**asked),
        make_pipeline(hot, xgboost()),
        xgboost(enable_categorical=True, max_cat_to_onehot=1000),
    )


def experiment(cell, rng, size):
    """Fit four models to one table, and count what is found."""
    n = cell["rows"]
    X, y = drawn(2 * n, cell["levels"], rng)
    n_trees = N_TREES if size == "full" else 5
    for way, model in zip(WAYS, models(n_trees), strict=True):
        result = held_out_gain(model.fit(X[:n], y[:n]), X[n:], y[n:], n_jobs=1)
        names = np.array(result.feature_names)
        for column in WORDS:
            yield {"way": way, "column": column, **counted(result, names == column)}


def table(cells) -> str:
    """List a line a number of levels and of rows."""
    pairs = crossed(column=WORDS, way=WAYS)
    heads = [f"the {pair['column']}, found, {pair['way']}" for pair in pairs]
    return listed(
        cells, ("levels", "rows"), ["levels", "rows", *heads],
        lambda own: [rate_text(chosen(own, **pair)) for pair in pairs],
    )  # fmt: skip


PART = Part(
    "pipelines", crossed(levels=(5, 30), rows=(300, 1000)), experiment, 200, table,
    summary=lambda rows: added_up(rows, BY),
)  # fmt: skip
