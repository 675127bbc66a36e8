"""Any linear model of scikit-learn on the explicit columns of a tree.

Here the matrix of stumps and raw columns *is* made, n rows times splits and features, so this is
slow and takes memory. It serves models for which we have no solver (Huber, a Lasso whose penalty is
chosen otherwise), and the tests compare our solvers with scikit-learn's estimators on these
columns.
"""

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from attributions.mdi.least_squares import Coefficients
from attributions.mdi.stump_problem import StumpProblem


def explicit_columns(problem: StumpProblem) -> np.ndarray:
    """Return the columns of all training rows, stumps in preorder and then raw ones: (n, S + q)."""
    inner = np.flatnonzero(problem.tree.left >= 0)
    position = np.zeros(problem.tree.n_nodes, dtype=np.int64)
    position[inner] = np.arange(len(inner))
    of_node = np.zeros((problem.tree.n_nodes, len(inner)))
    for t in range(1, len(of_node)):  # parents come first
        above = problem.parent[t]
        of_node[t] = of_node[above]
        of_node[t, position[above]] = problem.stumps.ends[above, int(problem.tree.left[above] != t)]
    rows = slice(0, len(problem.rows.leaves))
    return np.hstack([of_node[problem.rows.leaves], problem.columns(rows)[1:].T])


class Explicit:
    """Any linear model of scikit-learn, fitted to the explicit columns, which is slow.

    Parameters
    ----------
    estimator : estimator
        With ``fit(X, y, sample_weight)``, ``coef_`` and ``intercept_``, as ElasticNetCV or Lasso;
        a classifier, as LogisticRegression, for labels. It is cloned for every tree.
    """

    folds = 1

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self.name = type(estimator).__name__
        self.is_for_labels = bool(is_classifier(estimator))

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit one tree; the penalty is that which the estimator has chosen, if it did.

        A tree without splits has no columns: its value is the mean response or, for a classifier,
        the log-odds.
        """
        rows, tree, ends = problem.rows, problem.tree, problem.stumps.ends
        inner = np.flatnonzero(tree.left >= 0)
        if not len(inner):
            mean = np.average(rows.response, weights=rows.weight)
            with np.errstate(divide="ignore"):
                value = np.log(mean / (1 - mean)) if self.is_for_labels else mean
            return Coefficients(np.array([value]), np.empty(0), np.nan)
        columns = explicit_columns(problem)
        fitted = clone(self.estimator).fit(columns, rows.response, sample_weight=rows.weight)
        beta, gamma = np.split(np.ravel(fitted.coef_), [len(inner)])  # a classifier has two axes
        value = np.full(tree.n_nodes, np.ravel(fitted.intercept_)[0])
        for t, coefficient in zip(inner, beta, strict=True):
            value[tree.left[t]] = value[t] + ends[t, 0] * coefficient
            value[tree.right[t]] = value[t] + ends[t, 1] * coefficient
        return Coefficients(value, gamma, getattr(fitted, "alpha_", np.nan))
