"""What simpler models predict on the same held-out rows: a linear one and a plain tree.

A model of many trees is worth explaining if it predicts better than a model that fits on one line.
So it is compared with a linear model with a small penalty and, from 200 training rows on, with one
tree of at most 32 leaves with at least 20 rows each. Both get the same columns (`design`). Of times
to an event the linear model is Cox's, and of an order that of pairs.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions.command.judging.findings import Findings, measures
from attributions.command.table.task import Task
from gbt.estimators import GBTRegressor
from gbt.losses import Cox, Pairwise

LINEAR, TREE = "linear", "one tree"
ROWS_FOR_A_TREE, LEAVES, ROWS_A_LEAF = 200, 32, 20
MOST_ROWS = 100_000  # that are fitted
ROWS_AT_ONCE = 100_000  # that are judged: columns of half a million rows took 300 MB
MOST_LEVELS = 30  # of a column of words
LEAST_SHARE = 1e-3  # of a class: leaves of 20 rows cannot be surer
FARTHEST = 10.0  # standard deviations from the mean


def beside_simpler(found: Findings) -> Findings:
    """Return findings whose scores have those of simpler models."""
    task = found.task
    rows, made, scores = some_rows(task), design(task), dict(found.scores)
    with np.errstate(invalid="ignore", over="ignore"):  # a column may have no mean, or a huge one
        fitted = made.fit_transform(task.X_train[rows])
    models = _models(found)
    for name in models if len(rows) >= ROWS_FOR_A_TREE else [LINEAR]:
        models[name].fit(fitted, task.y_train[rows])
        parts = [
            _raw(models[name], made.transform(task.X_valid[i : i + ROWS_AT_ONCE]), found)
            for i in range(0, len(task.X_valid), ROWS_AT_ONCE)
        ]
        scores[name] = measures(found.model.loss, task.y_valid, np.concatenate(parts))
    return replace(found, scores=scores)


def some_rows(task: Task) -> np.ndarray:
    """Return the rows of training, or of many rows some at random."""
    n_rows = len(task.y_train)
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.random.default_rng(0).permutation(n_rows)[:MOST_ROWS]


def design(task: Task) -> ColumnTransformer:
    """Return what makes columns for simpler models, to the scale of the rows that it is fitted to.

    A missing number becomes the mean, with a column that says so. Words become columns of zeros and
    ones, the rare ones of a column together, and a missing word is a word.
    """
    are_words = np.array([bool(column.words) for column in task.features])
    numbers = make_pipeline(
        StandardScaler(),
        FunctionTransformer(np.clip, kw_args={"a_min": -FARTHEST, "a_max": FARTHEST}),
        SimpleImputer(
            strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True
        ),
    )
    words = OneHotEncoder(
        max_categories=MOST_LEVELS, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    return ColumnTransformer([("numbers", numbers, ~are_words), ("words", words, are_words)])


class LinearOrder:
    """A linear model of the order of rows, under Cox's loss or that of pairs, with a penalty."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Find the slopes of least loss; the loss is convex in them."""
        rows = self.loss.prepared(y, 1.0)

        def loss_and_slope(slopes: np.ndarray) -> tuple[float, np.ndarray]:
            raw = X @ slopes
            gradient, _ = self.loss.gradient_hessian(rows, raw)
            value = self.loss.value(rows, raw).sum() + slopes @ slopes / 2
            return value, X.T @ gradient + slopes

        self.slopes = minimize(loss_and_slope, np.zeros(X.shape[1]), jac=True).x

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return raw predictions, of which only the order counts."""
        return X @ self.slopes


def _models(found: Findings) -> dict[str, Any]:
    """Return the models to be fitted, by name."""
    task, limits = found.task, {"max_leaf_nodes": LEAVES, "min_samples_leaf": ROWS_A_LEAF}
    if task.has_pairs:
        tree = GBTRegressor(
            1, 1.0, loss=task.loss, splitter="greedy", max_leaves=LEAVES, max_depth=None,
            min_samples_leaf=ROWS_A_LEAF, min_child_weight=0.0,
        )  # fmt: skip
        return {LINEAR: LinearOrder(Cox() if task.question.event else Pairwise()), TREE: tree}
    if task.is_classification:
        tree = DecisionTreeClassifier(**limits, random_state=0)
        return {LINEAR: LogisticRegression(max_iter=300), TREE: tree}
    is_count = found.model.loss.name == "poisson"
    linear = PoissonRegressor(alpha=1e-3, max_iter=300) if is_count else Ridge(alpha=1.0)
    return {LINEAR: linear, TREE: DecisionTreeRegressor(**limits, random_state=0)}


def _raw(model: Any, X: np.ndarray, found: Findings) -> np.ndarray:
    """Return raw predictions of the model's loss: log-odds, logarithms of shares, numbers."""
    if found.task.is_classification:
        shares = np.clip(model.predict_proba(X), LEAST_SHARE, 1 - LEAST_SHARE)
        return np.log(shares[:, 1] / shares[:, 0]) if shares.shape[1] == 2 else np.log(shares)
    predicted = model.predict(X)
    return np.log(np.maximum(predicted, 1e-9)) if found.model.loss.name == "poisson" else predicted
