"""What `permutation` scores predictions by: a scorer of scikit-learn, a function, or a default."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from gbt.losses.own import is_name_of_error
from gbt.tables.names import shown

Score = Callable[[Any], Any]


def is_scorer(metric: Any) -> bool:
    """Say whether a metric is a scikit-learn scorer, or the name of one."""
    if metric is None or isinstance(metric, str):
        return metric is not None
    from sklearn.dummy import DummyRegressor
    from sklearn.metrics import check_scoring, get_scorer

    return isinstance(metric, type(get_scorer("r2")) | type(check_scoring(DummyRegressor())))


def scorer_of(model: Any, metric: Any, y: Any) -> Score:
    """Return the score of a scikit-learn scorer as a function of a table."""
    from sklearn.metrics import get_scorer

    if not hasattr(model, "predict"):
        raise ValueError(
            f"metric={metric!r} is a scikit-learn scorer, which needs an estimator, and the model"
            f" is {type(model).__name__}. Give a function (y, prediction) -> number instead."
        )
    scorer = get_scorer(metric)
    return lambda rows: scorer(model, rows, y)


def named_metric(metric: Any) -> str:
    """Return the name of a function (y, prediction) that is larger for better predictions."""
    if not callable(metric):
        raise ValueError(
            f"metric={shown(metric)}; use None, the name of a scikit-learn scorer, or a function"
            " (y, prediction) -> number."
        )
    name = getattr(metric, "__name__", type(metric).__name__)
    if is_name_of_error(name):
        raise ValueError(
            f"metric={name} is, by its name, smaller for better predictions, so that the best"
            " feature would come last. Give a function (y, prediction) that is larger for"
            f" better ones, such as the negative: lambda y, prediction: -{name}(y, prediction)."
        )
    return name


def negative_squares(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return the negative squared errors of all rows, their mean over targets."""
    return -((y - prediction) ** 2).reshape(len(y), -1).mean(axis=1)


def auc_of_rows(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return one number per row, whose mean is the ROC AUC and whose spread is that of the AUC.

    The AUC is the probability that a row of class 1 is ranked above one of 0, ties counting half. A
    row's placement is the share of the other class that it is ranked on the right side of, so the
    AUC is the mean placement of either class, and varies as both means do. Each class therefore
    counts half, whatever its size: AUC + n / n_class (placement - AUC).
    """
    is_1 = y == 1
    n, n_1 = len(y), int(is_1.sum())
    if n_1 in (0, n):
        raise ValueError(
            "y holds one class only, for which the ROC AUC does not exist; give rows of both"
            " classes, or another metric."
        )
    among_all, within = rankdata(prediction), np.empty(n)
    for of_class in (is_1, ~is_1):
        within[of_class] = rankdata(prediction[of_class])
    below = among_all - within  # of the other class
    placement = np.where(is_1, below / (n - n_1), 1 - below / n_1)
    auc = placement[is_1].mean()
    return auc + n / np.where(is_1, n_1, n - n_1) * (placement - auc)


def score_of(
    metric: Any, default: tuple[str, Callable], target: np.ndarray, predict: Callable
) -> tuple[str, Score]:
    """Return the name of a metric, or of what is the default, and a function of what predicts."""
    name, function = default if metric is None else (named_metric(metric), metric)
    n = len(target)
    return name, lambda given: checked_score(function(target, predict(given)), name, n)


def checked_score(score: Any, name: str, n_rows: int) -> np.ndarray:
    """Return the score, one number or one a row; refuse anything else that a metric returned."""
    if score is None:
        raise ValueError(
            f"The metric {name} returned None; it must return one number, or one for each row."
        )
    score = np.asarray(score, dtype=np.float64)
    if score.shape not in ((), (n_rows,)):
        raise ValueError(
            f"The metric {name} returned shape {score.shape}; it must return one number, or one"
            f" for each row, ({n_rows},)."
        )
    return score
