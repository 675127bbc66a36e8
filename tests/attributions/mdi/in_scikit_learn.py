"""The oracle: what scikit-learn's estimators make of the explicit columns of a tree.

``local_mdi(..., linear_model=InScikitLearn(Ridge()))`` fits scikit-learn's counterpart of a linear
model of ours, which takes long and should find the same. Columns, folds and penalties are the same;
the fit is scikit-learn's, and every penalty is tried.

==========================  =====================================================================
`OLS`                       ``LinearRegression``, whose coefficients are those of least norm where
                            columns depend on each other; there scores may differ, predictions not
`Ridge`                     ``Ridge``; ``RidgeCV`` where single rows are left out
`ElasticNet`                ``ElasticNet``; ``ElasticNetCV`` where folds choose the penalty
`LogisticRidge`             ``LogisticRegression`` of a given penalty
`LogisticElasticNet`        ``LogisticRegression`` with the solver "saga"
==========================  =====================================================================
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.explicit import explicit_columns, fit_explicit
from attributions.mdi.least_squares import OLS, Coefficients, LinearModel
from attributions.mdi.logistic_elastic_net import LogisticElasticNet
from attributions.mdi.logistic_ridge import LogisticRidge
from attributions.mdi.stump_problem import StumpProblem

TIGHT: dict[str, Any] = {"tol": 1e-10, "max_iter": 1_000_000}
OF_LABELS: dict[str, Any] = {"tol": 1e-8, "max_iter": 100_000, "random_state": 0}

Loss = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


class InScikitLearn:
    """The counterpart in scikit-learn of a linear model of ours.

    Parameters
    ----------
    linear_model : OLS, Ridge, ElasticNet, LogisticRidge or LogisticElasticNet
    """

    def __init__(self, linear_model: LinearModel):
        self.linear_model = linear_model
        self.name, self.folds = linear_model.name, linear_model.folds
        self.is_for_labels = linear_model.is_for_labels

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit one tree."""
        estimator, penalty = counterpart(self.linear_model, problem)
        value, gamma, fitted = fit_explicit(estimator, problem)
        return Coefficients(value, gamma, float(getattr(fitted, "alpha_", penalty)))


def counterpart(linear_model: Any, problem: StumpProblem) -> tuple[Any, float]:
    """Return an estimator for one tree and its penalty; nan if fitting the estimator chooses it."""
    from sklearn import linear_model as sklearn

    if isinstance(linear_model, OLS):
        return sklearn.LinearRegression(), 0.0
    if isinstance(linear_model, LogisticRidge):
        penalty = linear_model.penalty  # nothing in scikit-learn chooses one by left-out rows
        return sklearn.LogisticRegression(C=1 / penalty, **OF_LABELS), penalty
    if isinstance(linear_model, LogisticElasticNet):
        return _best(
            [
                (_sparse_logistic(penalty, l1_ratio), penalty)
                for l1_ratio in linear_model.l1_ratios
                for penalty in linear_model.penalties
            ],
            problem,
            _log_loss,
        )
    if isinstance(linear_model, ElasticNet):
        return _elastic_net(linear_model, problem)
    if linear_model.penalty is not None:
        return sklearn.Ridge(linear_model.penalty), linear_model.penalty
    penalties = linear_model.penalties(problem)
    if isinstance(linear_model.folds, str):
        return sklearn.RidgeCV(penalties), np.nan
    ridges = [(sklearn.Ridge(penalty), float(penalty)) for penalty in penalties]
    return _best(ridges, problem, _squared_error)


def _elastic_net(linear_model: ElasticNet, problem: StumpProblem) -> tuple[Any, float]:
    from sklearn import linear_model as sklearn

    l1_ratios = linear_model.l1_ratios
    if linear_model.penalty is not None:
        estimator = sklearn.ElasticNet(linear_model.penalty, l1_ratio=l1_ratios[0], **TIGHT)
        return estimator, linear_model.penalty
    settings = {"alphas": linear_model.n_penalties, "cv": splits(problem), **TIGHT}
    return sklearn.ElasticNetCV(l1_ratio=l1_ratios, **settings), np.nan


def _sparse_logistic(penalty: float, l1_ratio: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    settings = {"solver": "saga", "l1_ratio": float(l1_ratio), **OF_LABELS}
    return LogisticRegression(C=1 / penalty, **settings)


def splits(problem: StumpProblem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for every fold, the rows outside and inside it."""
    rows = np.arange(len(problem.rows.leaves))
    folds = [rows[start:stop] for start, stop in pairwise(problem.fold_edges)]
    return [(np.setdiff1d(rows, fold), fold) for fold in folds]


def _best(
    candidates: list[tuple[Any, float]], problem: StumpProblem, loss: Loss
) -> tuple[Any, float]:
    """Return the candidate with the least mean over folds of the loss in the fold."""
    if len(candidates) == 1 or problem.tree.n_nodes == 1:
        return candidates[0]
    columns, rows = explicit_columns(problem), problem.rows
    losses = np.zeros(len(candidates))
    for outside, inside in splits(problem):
        for j, (estimator, _) in enumerate(candidates):
            estimator.fit(columns[outside], rows.response[outside], rows.weight[outside])
            predict = getattr(estimator, "decision_function", estimator.predict)
            predicted = predict(columns[inside])
            losses[j] += loss(rows.response[inside], predicted, rows.weight[inside])
    return candidates[int(np.argmin(losses))]


def _squared_error(y: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    return float(np.average((y - predicted) ** 2, weights=weight))


def _log_loss(y: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    return float(np.average(np.logaddexp(0, predicted) - y * predicted, weights=weight))
