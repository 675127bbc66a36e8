"""What other models say of the same rows: simpler ones, and models of one column or two.

A model of many trees is worth explaining if it predicts better than a model that fits on one line.
So it is compared with a linear model with a small penalty and, from 200 training rows on, with one
tree of at most 32 leaves with at least 20 rows each. Both get the same columns (`design`). Of times
to an event the linear model is Cox's, and of an order that of pairs.

Models of one column show *leaks*: columns that give the answer away, since they are known only once
the answer is. A column may be a leak if a model of it alone saves nine tenths of what the model of
all columns saves, and that at least 60 % of the constant model's loss. Two may be if all save 80 %:
in many a table two honest columns explain two thirds, and nothing else does. Where one column alone
suffices, a model of the others shows whether another does as well.

Of times to an event no model saves that much. There a column may be a leak if the order of its
numbers alone is that of the events in 90 of 100 pairs: it may be made of the time.

A given model is not fitted again. There one column may be a leak if it brings 80 % of what all
columns bring.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions.command.judging.findings import Findings, excess, measures
from attributions.command.rules.target import differ
from attributions.command.table.task import Task
from attributions.held_out.gain import held_out_gain
from gbt.estimators import GBTRegressor
from gbt.losses import Cox, Pairwise
from gbt.model.ensemble import Ensemble

LINEAR, TREE = "linear", "one tree"
ROWS_FOR_A_TREE, LEAVES, ROWS_A_LEAF = 200, 32, 20
MOST_ROWS = 100_000  # that are fitted
ROWS_AT_ONCE = 100_000  # that are judged: columns of half a million rows took 300 MB
MOST_LEVELS = 30  # of a column of words
LEAST_SHARE = 1e-3  # of a class: leaves of 20 rows cannot be surer
FARTHEST = 10.0  # standard deviations from the mean
LEAST_SAVED = 50.0  # per cent, below which nothing is given away, and no model of one is fitted
MUCH, MUCH_OF_TWO, NEARLY_AS_GOOD, MOST_OF_IT = 60.0, 80.0, 0.9, 0.8
NEARLY_IN_ORDER = 0.9  # of pairs
MOST_NAMED = 4  # columns that are looked for, each of which alone suffices


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
    tree = DecisionTreeRegressor(**limits, random_state=0)
    # On a common scale: it does not split what varies by less than the machine's epsilon.
    scaled = TransformedTargetRegressor(tree, transformer=StandardScaler())
    return {LINEAR: linear, TREE: scaled}


def _raw(model: Any, X: np.ndarray, found: Findings) -> np.ndarray:
    """Return raw predictions of the model's loss: log-odds, logarithms of shares, numbers."""
    if found.task.is_classification:
        shares = np.clip(model.predict_proba(X), LEAST_SHARE, 1 - LEAST_SHARE)
        return np.log(shares[:, 1] / shares[:, 0]) if shares.shape[1] == 2 else np.log(shares)
    predicted = model.predict(X)
    return np.log(np.maximum(predicted, 1e-9)) if found.model.loss.name == "poisson" else predicted


def with_given_away(found: Findings, fit: Callable[[Task], Ensemble]) -> Findings:
    """Add how much of the loss the best column saves alone, the best two, and others alone.

    Nothing is fitted where the model saves little, or where a column is all that there is.
    """
    used = helpful(found)
    if found.task.question.event:
        return replace(found, also_enough=tuple(k for k in used if _is_in_order(found, k)))
    if found.saved < LEAST_SAVED or len(used) < 2 or found.task.has_pairs:
        return found
    task, rows = found.task, some_rows(found.task)

    def fitted(columns: list[int]) -> tuple[Task, Ensemble, float]:
        names = tuple(task.feature_names[k] for k in columns)
        X_train, X_valid = task.X_train[rows][:, columns], task.X_valid[:, columns]
        y_train = task.y_train[rows]
        part = replace(task, X_train=X_train, y_train=y_train, X_valid=X_valid, feature_names=names)
        model = fit(part)
        loss = excess(model.loss, part.y_valid, model.raw_predict(part.X_valid)).sum()
        return part, model, 100 * (1 - float(loss) / found.constant_loss)

    saved = tuple(fitted(used[:n])[2] for n in (1, 2)[: len(found.useful) - 1])
    found = replace(found, saved_by_best=saved)
    if how_many_are_enough(found) != 1:
        return found
    named = used[:1]
    while len(named) < min(MOST_NAMED, len(found.useful)):
        others = [k for k in range(len(found.useful)) if k not in named]
        part, model, saved_by_others = fitted(others)
        if saved_by_others < NEARLY_AS_GOOD * found.saved:
            break
        gain = held_out_gain(model, part.X_valid, part.y_valid, standard_error=False)
        best = others[int(gain.ranking()[0])]
        if fitted([best])[2] < NEARLY_AS_GOOD * found.saved:
            break
        named.append(best)
    return replace(found, also_enough=tuple(named[1:]))


def _is_in_order(found: Findings, k: int) -> bool:
    """Say whether a column of numbers alone puts held-out rows in the order of their events."""
    task, loss = found.task, found.model.loss
    numbers = task.features[k].numbers[task.held_out]
    known = ~np.isnan(numbers)
    y, numbers = task.y_valid[known], numbers[known]
    if task.features[k].words or not differ(y, "cox") or not np.ptp(numbers):
        return False
    order = loss.score(y, numbers, np.ones(len(y)))
    return max(order, 1 - order) >= NEARLY_IN_ORDER


def helpful(found: Findings) -> list[int]:
    """Return the features whose held-out gain is above 0, the largest first."""
    ranking, value = found.useful.ranking(), found.useful.values
    return [int(k) for k in ranking if found.is_used[k] and value[k] > 0]


def how_many_are_enough(found: Findings) -> int:
    """Return 1 or 2 if so many columns predict nearly as well as all, and that well; else 0.

    If no model was fitted to them, as when a model is given, their share of the gain decides.
    """
    used, value = helpful(found), found.useful.values
    if found.saved < MUCH or not used or found.task.has_pairs:
        return 0
    if found.saved_by_best:
        enough = [saved >= NEARLY_AS_GOOD * found.saved for saved in found.saved_by_best]
        n_enough = 1 + enough.index(True) if True in enough else 0
        return 0 if n_enough == 2 and found.saved < MUCH_OF_TWO else n_enough
    return int(len(value) > 1 and value[used[0]] >= MOST_OF_IT * value[used].sum())


def given_away_by(found: Findings) -> list[str]:
    """Return the names of the columns that may give the answer away."""
    features = [*helpful(found)[: how_many_are_enough(found)], *found.also_enough]
    return [found.task.feature_names[k] for k in features]
