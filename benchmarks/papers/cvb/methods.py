"""Who is fitted, with the paper's parameters.

Trees of depth 3, 100 of them, learning rate 0.1, at least five rows in a leaf, no penalty, levels
in the order of their mean gradients, without smoothing. The paper's trees for classes split by the
squared error of the gradients, ours by G^2/H; leaf values are the same Newton step. Numbers are not
binned here.

================  =================================================================================
cross-validated   ``benchmarks.papers.cvb.folds``: five folds of its own for every
                  feature, as in the authors' code
greedy            the paper's "Vanilla": the same trees, the feature of largest gain
LightGBM          where it is installed; 31 leaves at most have no effect at depth 3
CatBoost          where it is installed; its "gain" is the change of predicted values, as in the
                  paper
scikit-learn      ``HistGradientBoosting*``. It takes at most 255 levels as categories; a column
                  with more is a column of numbers to it, in the order of the levels' names
================  =================================================================================

The authors' notebooks have XGBoost and scikit-learn's older ``GradientBoosting*`` with levels
replaced by means of the target; how they did that is not in what they published.
"""

from collections.abc import Callable
from functools import partial

import pandas as pd

import benchmarks.study as study
from benchmarks.papers.cvb.folds import FoldsOfFeatures
from benchmarks.study.whole_tables import with_words

N_FOLDS = 5
DEPTH, N_TREES, LEARNING_RATE, LEAST_ROWS = 3, 100, 0.1, 5
ALIKE = {"max_depth": DEPTH, "learning_rate": LEARNING_RATE}
CROSS_VALIDATED, GREEDY, LIGHTGBM, CATBOOST = "cross-validated", "greedy", "LightGBM", "CatBoost"
SCIKIT_LEARN = "scikit-learn"
MOST_LEVELS = 255  # that scikit-learn takes


def ours(splitter, is_class, n_trees, seed, categories):
    """Make our model."""
    return study.ours(
        is_class, n_estimators=n_trees, **ALIKE, reg_lambda=0.0, min_child_weight=0.0,
        min_samples_leaf=LEAST_ROWS, splitter=splitter, categorical_smoothing=0.0,
        random_state=seed,
    )  # fmt: skip


def of_lightgbm(is_class, n_trees, seed, categories):
    """Make LightGBM's model."""
    return study.model_of(
        LIGHTGBM, is_class, n_estimators=n_trees, **ALIKE, reg_lambda=0.0, min_child_weight=0.0,
        min_child_samples=LEAST_ROWS, importance_type="gain", random_state=seed,
    )  # fmt: skip


def of_catboost(is_class, n_trees, seed, categories):
    """Make CatBoost's model."""
    return study.model_of(
        CATBOOST, is_class, n_estimators=n_trees, **ALIKE, random_seed=seed,
        cat_features=categories,
    )  # fmt: skip


def of_scikit_learn(is_class, n_trees, seed, categories):
    """Make scikit-learn's model."""
    return study.model_of(
        "HistGradientBoosting", is_class, max_iter=n_trees, **ALIKE, max_leaf_nodes=None,
        min_samples_leaf=LEAST_ROWS, l2_regularization=0.0, early_stopping=False,
        categorical_features="from_dtype", random_state=seed,
    )  # fmt: skip


TRAINERS: dict[str, Callable] = {
    CROSS_VALIDATED: partial(ours, FoldsOfFeatures(N_FOLDS)),
    GREEDY: partial(ours, "greedy"),
    **({LIGHTGBM: of_lightgbm} if study.is_installed(LIGHTGBM) else {}),
    **({CATBOOST: of_catboost} if study.is_installed(CATBOOST) else {}),
    SCIKIT_LEARN: of_scikit_learn,
}


def as_taken(method: str, X: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the form that a method takes."""
    if method == SCIKIT_LEARN:
        words = X.select_dtypes("category")
        many = [name for name in words if len(X[name].cat.categories) > MOST_LEVELS]
        codes = {name: X[name].cat.codes.astype(float).where(X[name].notna()) for name in many}
        return X.assign(**codes)
    return with_words(X) if method == CATBOOST else X


def n_trees_of(method: str, model) -> int:
    """Return how many trees a model has."""
    if method == LIGHTGBM:
        return model.booster_.num_trees()
    if method == SCIKIT_LEARN:
        return model.n_iter_
    return model.tree_count_ if method == CATBOOST else model.ensemble_.n_trees
