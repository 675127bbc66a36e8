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

import importlib.util
from collections.abc import Callable

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from benchmarks.papers.cvb.folds import FoldsOfFeatures
from benchmarks.study.whole_tables import with_words
from gbt import GBTClassifier, GBTRegressor

N_FOLDS = 5
DEPTH, N_TREES, LEARNING_RATE, LEAST_ROWS = 3, 100, 0.1, 5
CROSS_VALIDATED, GREEDY, LIGHTGBM, CATBOOST = "cross-validated", "greedy", "LightGBM", "CatBoost"
SCIKIT_LEARN = "scikit-learn"
MOST_LEVELS = 255  # that scikit-learn takes


def ours(splitter) -> Callable:
    """Return a function that makes our model."""

    def make(is_class, n_trees, seed, categories):
        cls = GBTClassifier if is_class else GBTRegressor
        return cls(
            n_estimators=n_trees, max_depth=DEPTH, learning_rate=LEARNING_RATE, reg_lambda=0.0,
            min_child_weight=0.0, min_samples_leaf=LEAST_ROWS, splitter=splitter, n_jobs=1,
            categorical_smoothing=0.0, random_state=seed,
        )  # fmt: skip

    return make


def of_lightgbm(is_class, n_trees, seed, categories):
    """Make LightGBM's model."""
    import lightgbm

    cls = lightgbm.LGBMClassifier if is_class else lightgbm.LGBMRegressor
    return cls(
        n_estimators=n_trees, max_depth=DEPTH, learning_rate=LEARNING_RATE, reg_lambda=0.0,
        min_child_weight=0.0, min_child_samples=LEAST_ROWS, importance_type="gain", n_jobs=1,
        random_state=seed, verbose=-1,
    )  # fmt: skip


def of_catboost(is_class, n_trees, seed, categories):
    """Make CatBoost's model."""
    import catboost

    cls = catboost.CatBoostClassifier if is_class else catboost.CatBoostRegressor
    return cls(
        n_estimators=n_trees, max_depth=DEPTH, learning_rate=LEARNING_RATE, thread_count=1,
        random_seed=seed, cat_features=categories, verbose=False, allow_writing_files=False,
    )  # fmt: skip


def of_scikit_learn(is_class, n_trees, seed, categories):
    """Make scikit-learn's model."""
    cls = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    return cls(
        max_iter=n_trees, max_depth=DEPTH, max_leaf_nodes=None, learning_rate=LEARNING_RATE,
        min_samples_leaf=LEAST_ROWS, l2_regularization=0.0, early_stopping=False,
        categorical_features="from_dtype", random_state=seed,
    )  # fmt: skip


TRAINERS = {
    CROSS_VALIDATED: ours(FoldsOfFeatures(N_FOLDS)),
    GREEDY: ours("greedy"),
    **({LIGHTGBM: of_lightgbm} if importlib.util.find_spec("lightgbm") else {}),
    **({CATBOOST: of_catboost} if importlib.util.find_spec("catboost") else {}),
    SCIKIT_LEARN: of_scikit_learn,
}


def as_taken(method: str, X: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the form that a method takes."""
    if method == CATBOOST:
        return with_words(X)
    if method == SCIKIT_LEARN:
        many = [
            name
            for name in X
            if X[name].dtype == "category" and len(X[name].cat.categories) > MOST_LEVELS
        ]
        codes = {name: X[name].cat.codes.astype(float).where(X[name].notna()) for name in many}
        return X.assign(**codes)
    return X


def n_trees_of(method: str, model) -> int:
    """Return how many trees a model has."""
    if method == LIGHTGBM:
        return model.booster_.num_trees()
    if method == SCIKIT_LEARN:
        return model.n_iter_
    return model.tree_count_ if method == CATBOOST else model.ensemble_.n_trees
