"""Any linear regression of scikit-learn on the explicit columns of a tree.

Here the matrix of stumps and raw columns *is* made, n rows times splits and features, so this is
slow and takes memory. It serves models that have no solver of their own (Huber, Lasso with other
rules of choice), and it is what the solvers of `attributions.stump_models` are tested against.
"""

from typing import Any

import numpy as np

from attributions.stump_problem import StumpProblem


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


def fit_explicit(estimator: Any, problem: StumpProblem) -> tuple[np.ndarray, np.ndarray]:
    """Fit a clone of an estimator; return fitted values of nodes and raw coefficients."""
    from sklearn.base import clone

    inner = np.flatnonzero(problem.tree.left >= 0)
    if not len(inner):
        rows = problem.rows
        return np.array([np.average(rows.response, weights=rows.weight)]), np.empty(0)
    fitted = clone(estimator).fit(
        explicit_columns(problem), problem.rows.response, sample_weight=problem.rows.weight
    )
    beta = np.zeros(problem.tree.n_nodes)
    beta[inner] = fitted.coef_[: len(inner)]
    value = np.full(problem.tree.n_nodes, float(fitted.intercept_))
    for t in inner:
        for side, child in enumerate((problem.tree.left[t], problem.tree.right[t])):
            value[child] = value[t] + problem.stumps.ends[t, side] * beta[t]
    return value, fitted.coef_[len(inner) :]
