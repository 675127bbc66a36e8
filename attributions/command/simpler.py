"""What simpler models predict on the same held-out rows: a linear one, a plain tree, one column.

A model of many trees is worth explaining if it predicts better than a model that fits on one line.
So it is compared with a linear model with a small penalty and, from 200 training rows on, with one
tree of at most 32 leaves with at least 20 rows each. Both get the same rows: a missing number
becomes the mean, with a column that says so, and a frequent word a column of zeros and ones.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions.command.findings import Findings, measures
from attributions.command.table.task import Task

LINEAR, TREE = "linear", "one tree"
ROWS_FOR_A_TREE, LEAVES, ROWS_A_LEAF = 200, 32, 20
MOST_ROWS = 100_000  # that are fitted
ROWS_AT_ONCE = 100_000  # that are judged: columns of half a million rows took 300 MB
MOST_LEVELS = 30  # of a column of words, the most frequent


def beside_simpler(found: Findings) -> Findings:
    """Return findings whose scores have those of simpler models."""
    task = found.task
    if not len(task.X_train) or not len(task.X_valid) or task.has_pairs:
        return found  # scikit-learn has no model of times to an event, or of an order
    rows = some_rows(task)
    design = Design.of(task, task.X_train[rows])
    fitted = design.rows(task.X_train[rows])
    y = task.y_train[rows]
    models = {LINEAR: _linear(found)}
    if len(y) >= ROWS_FOR_A_TREE:
        models[TREE] = _tree(found)
    for model in models.values():
        model.fit(fitted, y)
    predicted: dict[str, list[np.ndarray]] = {name: [] for name in models}
    for start in range(0, len(task.X_valid), ROWS_AT_ONCE):
        judged = design.rows(task.X_valid[start : start + ROWS_AT_ONCE])
        for name, model in models.items():
            predicted[name].append(_raw(model, judged, found))
    others = {
        name: measures(found.model.loss, task.y_valid, np.concatenate(parts))
        for name, parts in predicted.items()
    }
    scores = [
        replace(score, of_others={name: of[score.name] for name, of in others.items()})
        for score in found.scores
    ]
    return replace(found, scores=scores)


def some_rows(task: Task) -> np.ndarray:
    """Return the rows of training, or of many rows some at random."""
    n_rows = len(task.y_train)
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.random.default_rng(0).permutation(n_rows)[:MOST_ROWS]


class Design:
    """Columns as linear models take them, made to the scale of the training rows."""

    def __init__(self, levels: list[np.ndarray | None], X: np.ndarray) -> None:
        self.levels = levels
        self.center, self.scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for k, frequent in enumerate(levels):
            known = X[~np.isnan(X[:, k]), k]
            if frequent is None and len(known):
                self.center[k], self.scale[k] = known.mean(), known.std() or 1.0
        self.has_missing = np.isnan(X).any(axis=0)

    @classmethod
    def of(cls, task: Task, X: np.ndarray) -> "Design":
        """Choose the frequent words of the training rows."""
        levels: list[np.ndarray | None] = []
        for k in range(X.shape[1]):
            is_words = k < len(task.features) and bool(task.features[k].words)
            if not is_words:
                levels.append(None)
                continue
            found, counts = np.unique(X[~np.isnan(X[:, k]), k], return_counts=True)
            levels.append(found[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])
        return cls(levels, X)

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return the columns of some rows."""
        columns = []
        for k, frequent in enumerate(self.levels):
            if frequent is None:
                numbers = (X[:, k] - self.center[k]) / self.scale[k]
                columns.append(np.nan_to_num(np.clip(numbers, -10, 10)))
                if self.has_missing[k]:
                    columns.append(np.isnan(X[:, k]).astype(np.float64))
            else:
                columns += [(X[:, k] == level).astype(np.float64) for level in frequent]
        return np.column_stack(columns) if columns else np.zeros((len(X), 1))


def _linear(found: Findings) -> Any:
    if found.task.is_classification:
        return LogisticRegression(max_iter=300)
    if found.model.loss.name == "poisson":
        return PoissonRegressor(alpha=1e-3, max_iter=300)
    return Ridge(alpha=1.0)


def _tree(found: Findings) -> Any:
    kind = DecisionTreeClassifier if found.task.is_classification else DecisionTreeRegressor
    return kind(max_leaf_nodes=LEAVES, min_samples_leaf=ROWS_A_LEAF, random_state=0)


def _raw(model: Any, X: np.ndarray, found: Findings) -> np.ndarray:
    """Return raw predictions of the model's loss: log-odds, logarithms of shares, numbers."""
    if found.task.is_classification:
        shares = np.clip(
            model.predict_proba(X), 1e-3, 1 - 1e-3
        )  # leaves of 20 rows cannot be surer
        return np.log(shares[:, 1] / shares[:, 0]) if shares.shape[1] == 2 else np.log(shares)
    predicted = model.predict(X)
    return np.log(np.maximum(predicted, 1e-9)) if found.model.loss.name == "poisson" else predicted
