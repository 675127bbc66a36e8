"""What is asked of every model: its loss, and what each feature is worth to it.

============  ======================================================================================
gain          total gain of the splits, as shares of the sum
permuted      what the loss on the test rows rises by as a column of them is shuffled, 20 times
trained       the same on the training rows, 5 times, since there are many more of them
shap          mean absolute SHAP values of the test rows, as shares of the sum: LightGBM's and
              CatBoost's own, and ``attributions.tree_shap`` for the others
============  ======================================================================================

Of the greedy model TreeInner is taken, too, on the test rows: does a debiased importance afterwards
do as well as a debiased trainer? Its line has shares of it in place of the gain, and which features
have a p-value below 0.05.
"""

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss, mean_squared_error

from attributions import tree_inner, tree_shap
from benchmarks.papers.cvb import methods
from benchmarks.papers.cvb.methods import CATBOOST, GREEDY, LIGHTGBM, SCIKIT_LEARN
from gbt.formats import as_ensemble

TREE_INNER = "greedy, tree_inner"
LEVEL = 0.05  # below which a p-value of TreeInner counts as found
BESIDE_GAIN = ("permuted", "trained", "shap", "significant")


def gain_of(method: str, model, X, y) -> np.ndarray:
    """Return the total gain of every feature, or what a library has in its place."""
    if method in (LIGHTGBM, CATBOOST):
        return np.asarray(model.feature_importances_, dtype=float)
    if method == SCIKIT_LEARN:  # which has no importances: from G and H of the training rows
        return as_ensemble(model, X, y).total_gain()
    return model.ensemble_.total_gain()


def shap_of(method: str, model, X) -> np.ndarray:
    """Return the mean absolute SHAP value of every feature."""
    if method == LIGHTGBM:
        values = model.predict(X, pred_contrib=True)[:, :-1]
    elif method == CATBOOST:
        from catboost import Pool

        pool = Pool(X, cat_features=model.get_cat_feature_indices())
        values = model.get_feature_importance(pool, type="ShapValues", thread_count=1)[:, :-1]
    else:
        cover = "count" if method == SCIKIT_LEARN else "hessian"
        values = tree_shap(model, X, cover=cover, n_jobs=1).values
    return np.abs(values).mean(axis=0)


def scaled(importance: np.ndarray) -> np.ndarray:
    """Return shares of the sum, negative ones taken for 0; all 0 if nothing is above 0."""
    positive = np.maximum(importance, 0)
    return positive / positive.sum() if positive.any() else positive


def loss_of(model, X, y, is_class: bool) -> float:
    """Return the log-loss, or the mean squared error, which the paper calls RMSE."""
    if is_class:
        return log_loss(y, model.predict_proba(X), labels=[0, 1])
    return mean_squared_error(y, model.predict(X))


def permuted(model, X, y, is_class: bool, n_repeats: int, seed: int) -> np.ndarray:
    """Return by how much the loss rises as a column is shuffled."""
    return permutation_importance(
        model, X, y, scoring=lambda m, X, y: -loss_of(m, X, y, is_class),
        n_repeats=n_repeats, random_state=seed, n_jobs=1,
    ).importances_mean  # fmt: skip


def measured(train, test, is_class: bool, size: str, seed: int, asked=()) -> list[dict]:
    """Fit everyone on the same rows, and return a row a method.

    Importances are words in a cell: shares of the gain, and what is ``asked`` beside it of
    "permuted", "trained" and "shap". Cells of what is not asked are empty.
    """
    often, seldom = (20, 5) if size == "full" else (1, 1)
    categories = [name for name in train[0] if train[0][name].dtype == "category"]
    rows = []
    for method, make in methods.TRAINERS.items():
        of_train, of_test = ((methods.as_taken(method, X), y) for X, y in (train, test))
        n_trees = methods.N_TREES if size == "full" else 3
        model = make(is_class, n_trees, seed, categories).fit(*of_train)
        row = {
            "method": method,
            "loss": loss_of(model, *of_test, is_class),
            "n_trees": methods.n_trees_of(method, model),
            "gain": words(scaled(gain_of(method, model, *of_train))),
            **dict.fromkeys(BESIDE_GAIN, ""),
        }
        if "permuted" in asked:
            row["permuted"] = words(permuted(model, *of_test, is_class, often, seed))
        if "trained" in asked:
            row["trained"] = words(permuted(model, *of_train, is_class, seldom, seed))
        if "shap" in asked:
            row["shap"] = words(scaled(shap_of(method, model, of_test[0])))
        rows.append(row)
        if method == GREEDY:
            inner = tree_inner(model, *test, n_jobs=1)
            own = {"method": TREE_INNER, "gain": words(scaled(inner.values))}
            found = {"significant": words(inner.p_values() < LEVEL)}
            rows.append({**row, **own, **dict.fromkeys(BESIDE_GAIN, ""), **found})
    return rows


def words(values: np.ndarray) -> str:
    """Return numbers as one cell of a table."""
    return " ".join(f"{value:.6g}" for value in values)


def numbers(cell) -> np.ndarray:
    """Return the numbers of a cell."""
    return np.array(str(cell).split(), dtype=float)
