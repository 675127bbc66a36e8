r"""Logistic regression with a ridge penalty on the columns of one tree.

    minimise   sum_i w_i log-loss(y_i, eta_i) + penalty/2 (|beta|^2 + |gamma|^2)

by Newton's method: each step is a ridge fit (`attributions.stump_models`) with the weights
v = w p (1 - p) and the response eta + (y - p) / (p (1 - p)). Leaving out a row is approximated by
one Newton step from the full fit (Rad and Maleki 2020, equation 6), the same formula that is exact
for the ridge.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from attributions.stump_models import RidgeSolution, solve_ridge
from attributions.stump_problem import StumpProblem

MAX_STEPS = 50
CLOSE = 1e-9  # largest change of a linear predictor at which Newton's method ends
CLIPPED = (0.01, 0.99)  # probabilities in the loss of left-out rows, as in MDI+


class LogisticRidge:
    """Logistic ridge, its penalty chosen by approximately leaving out every single row.

    Parameters
    ----------
    penalty : float, optional
        As 1 / C of scikit-learn's LogisticRegression. None chooses for every tree from
        ``n_penalties`` between 1e-3 and 100, as MDI+ does.
    n_penalties : int
    """

    name = "logistic"
    folds = "loo"

    def __init__(self, penalty: float | None = None, n_penalties: int = 25):
        if penalty is not None and not 0 < penalty < np.inf:
            raise ValueError(f"penalty={penalty!r}; use a number above 0, or None to choose one.")
        self.penalty, self.n_penalties = penalty, n_penalties

    def solve(self, problem: StumpProblem) -> tuple[RidgeSolution, float, StumpProblem]:
        """Return the last Newton step's solution, its penalty, and its problem."""
        if self.penalty is not None:
            solution, step = newton(problem, self.penalty)
            return solution, self.penalty, step
        tried, predictor = [], None
        for penalty in np.geomspace(100.0, 1e-3, self.n_penalties):
            solution, step = newton(problem, penalty, predictor)
            predictor = linear_predictor(step, solution)
            tried.append((_left_out_loss(problem, step, solution), solution, float(penalty), step))
        return min(tried, key=lambda trial: trial[0])[1:]


def newton(
    problem: StumpProblem, penalty: float, predictor: Any = None
) -> tuple[RidgeSolution, StumpProblem]:
    """Return the solution and the weighted least squares problem that it solves."""
    y, weight = problem.rows.response, problem.rows.weight
    if predictor is None:
        predictor = np.zeros(len(y))
    for _ in range(MAX_STEPS):
        p = expit(predictor)
        curvature = np.maximum(p * (1 - p), 1e-12)
        working = replace(
            problem.rows,
            response=predictor + (y - p) / curvature,
            weight=weight * curvature,
        )
        step = problem.with_rows(working)
        solution = solve_ridge(step, step.sums, penalty)
        before, predictor = predictor, linear_predictor(step, solution)
        if np.abs(predictor - before).max() < CLOSE * (1 + np.abs(predictor).max()):
            break
    return solution, step


def linear_predictor(problem: StumpProblem, solution: RidgeSolution) -> np.ndarray:
    """Return the fitted values of all rows."""
    value, out = solution.value, np.empty(len(problem.rows.leaves))
    for rows in problem.blocks():
        columns = problem.columns(rows)
        out[rows] = value[problem.rows.leaves[rows]] + solution.gamma @ columns[1:]
    return out


def _left_out_loss(problem: StumpProblem, step: StumpProblem, solution: RidgeSolution) -> float:
    """Return the mean log-loss of rows that are left out."""
    loss = 0.0
    for rows in step.blocks():
        leaves, weight = step.rows.leaves[rows], step.rows.weight[rows]
        columns = step.columns(rows)
        fitted = solution.value[leaves] + solution.gamma @ columns[1:]
        say = np.minimum(weight * solution.own_say(leaves, columns), 1 - 1e-10)
        left_out = fitted - say / (1 - say) * (columns[0] - fitted)
        p = np.clip(expit(left_out), *CLIPPED)
        y = problem.rows.response[rows]
        loss -= problem.rows.weight[rows] @ (y * np.log(p) + (1 - y) * np.log1p(-p))
    return loss / problem.rows.weight.sum()
