"""Who is fitted, with the paper's parameters, and what is asked of each.

Trees of depth 3, 100 of them, learning rate .1, at least five rows in a leaf, no penalty, levels in
the order of their mean gradients, without smoothing. The
paper's trees for classes minimise the squared error of the gradients, ours G^2/H; leaf values are
the same Newton step. Numbers are not binned here.

================  =================================================================================
cross-validated   ``CrossValidated(n_folds=5, shared_folds=False)``: folds of its own for every
                  feature, as in the authors' code
greedy            the paper's "Vanilla": the same trees, the feature of largest gain
LightGBM          where it is installed; 31 leaves at most have no effect at depth 3
CatBoost          where it is installed; its "gain" is the change of predicted values, as in the
                  paper
================  =================================================================================

Of the greedy model TreeInner is taken, too, on the test rows: does a debiased importance afterwards
do as well as a debiased trainer?
"""

import importlib.util
from collections.abc import Callable

import numpy as np
from sklearn.inspection import permutation_importance

from attributions import tree_inner
from benchmarks.study.whole_tables import with_words
from gbt import GBTClassifier, GBTRegressor
from gbt.splitting import CrossValidated

N_FOLDS = 5
DEPTH, N_TREES, LEARNING_RATE, LEAST_ROWS = 3, 100, 0.1, 5
CROSS_VALIDATED, GREEDY, LIGHTGBM, CATBOOST = "cross-validated", "greedy", "LightGBM", "CatBoost"
TREE_INNER = "greedy, tree_inner"


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


TRAINERS = {
    CROSS_VALIDATED: ours(CrossValidated(n_folds=N_FOLDS, shared_folds=False)),
    GREEDY: ours("greedy"),
    **({LIGHTGBM: of_lightgbm} if importlib.util.find_spec("lightgbm") else {}),
    **({CATBOOST: of_catboost} if importlib.util.find_spec("catboost") else {}),
}


def gain_of(method: str, model) -> np.ndarray:
    """Return the total gain of every feature, or what a library has in its place."""
    if method in (LIGHTGBM, CATBOOST):
        return np.asarray(model.feature_importances_, dtype=float)
    return model.ensemble_.total_gain()


def n_trees_of(method: str, model) -> int:
    """Return how many trees a model has."""
    if method == LIGHTGBM:
        return model.booster_.num_trees()
    return model.tree_count_ if method == CATBOOST else model.ensemble_.n_trees


def scaled(importance: np.ndarray) -> np.ndarray:
    """Return shares of the sum, negative ones taken for 0; all 0 if nothing is above 0."""
    positive = np.maximum(importance, 0)
    return positive / positive.sum() if positive.any() else positive


def loss_of(model, X, y, is_class: bool) -> float:
    """Return the log-loss, or the mean squared error, which the paper calls RMSE."""
    if not is_class:
        return float(np.mean((y - model.predict(X)) ** 2))
    p = np.clip(model.predict_proba(X)[:, 1], 1e-15, 1 - 1e-15)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


def measured(train, test, is_class: bool, size: str, seed: int, permutes: bool) -> list[dict]:
    """Fit everyone on the same rows, and return a row a method.

    Importances are words in a cell: shares of the gain, and with ``permutes`` the unscaled
    permutation importances on the test rows (20 times each).
    """
    categories = [name for name in train[0] if train[0][name].dtype == "category"]
    rows = []
    for method, make in TRAINERS.items():
        X, X_test = (with_words(X) if method == CATBOOST else X for X in (train[0], test[0]))
        model = make(is_class, N_TREES if size == "full" else 3, seed, categories)
        model.fit(X, train[1])
        permuted = np.zeros(X.shape[1])
        if permutes:
            permuted = permutation_importance(
                model, X_test, test[1],
                scoring=lambda m, X, y: -loss_of(m, X, y, is_class),
                n_repeats=20 if size == "full" else 1, random_state=seed, n_jobs=1,
            ).importances_mean  # fmt: skip
        row = {
            "method": method,
            "loss": loss_of(model, X_test, test[1], is_class),
            "n_trees": n_trees_of(method, model),
            "gain": words(scaled(gain_of(method, model))),
            "permuted": words(permuted),
        }
        rows.append(row)
        if method == GREEDY:
            inner = tree_inner(model, *test, n_jobs=1)
            found = inner.p_values() < 0.05
            rows.append(
                {
                    **row,
                    "method": TREE_INNER,
                    "gain": words(scaled(inner.values)),
                    "permuted": words(found),
                }
            )
    return rows


def words(values: np.ndarray) -> str:
    """Return numbers as one cell of a table."""
    return " ".join(f"{value:.6g}" for value in values)


def numbers(cell) -> np.ndarray:
    """Return the numbers of a cell."""
    return np.array(str(cell).split(), dtype=float)
