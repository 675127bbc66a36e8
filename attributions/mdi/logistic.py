r"""Newton's method for logistic regression on the columns of one tree.

    minimise   sum_i w_i log-loss(y_i, eta_i) + penalty(beta, gamma)        eta = f(leaf) + x gamma

Each step is a problem of weighted least squares with the same penalty, which the solvers of
`attributions.mdi.least_squares` know: at the linear predictor eta, with p = 1 / (1 + exp(-eta)), it
has the weights v = w p (1 - p) and the response eta + (y - p) / (p (1 - p)). A step that does not
reduce the objective is halved until it does, so the method reaches the minimum from any start.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from attributions.mdi.stump_problem import StumpProblem

MAX_STEPS = 50
MAX_HALVINGS = 30
LEAST_CURVATURE = 1e-12  # of a row whose label is certain


@dataclass(frozen=True, eq=False)
class Point:
    """A point of the search: coefficients, and the linear predictor that they give.

    ``value`` (n_nodes,) are fitted values of nodes, ``gamma`` (n_raw,) the raw coefficients,
    ``predictor`` (n,) the linear predictor of all rows.
    """

    value: np.ndarray
    gamma: np.ndarray
    predictor: np.ndarray

    @classmethod
    def zero(cls, problem: StumpProblem) -> "Point":
        """Return the point at which every coefficient is 0."""
        n_rows = len(problem.rows.leaves)
        return cls(np.zeros(problem.tree.n_nodes), np.zeros(problem.n_raw), np.zeros(n_rows))

    @classmethod
    def of(cls, problem: StumpProblem, value: np.ndarray, gamma: np.ndarray) -> "Point":
        """Return the point with these coefficients."""
        return cls(value, gamma, problem.predict(value, gamma))

    def towards(self, other: "Point", share: float) -> "Point":
        """Return the point a share of the way to another point."""
        return Point(
            self.value + share * (other.value - self.value),
            self.gamma + share * (other.gamma - self.gamma),
            self.predictor + share * (other.predictor - self.predictor),
        )


def minimise(
    problem: StumpProblem,
    solve: Callable[[StumpProblem, Point], tuple[np.ndarray, np.ndarray]],
    penalty: Callable[[np.ndarray], float],
    start: Point,
    close: float,
) -> Point:
    """Return the minimum.

    Parameters
    ----------
    problem : StumpProblem
        Its responses are 0 and 1.
    solve : callable
        Takes the least squares problem of a step and the point where it was made; returns value and
        gamma of the penalised minimum.
    penalty : callable
        Takes all coefficients but the intercept; returns their penalty.
    start : Point
    close : float
        Largest change of a linear predictor, relative to the largest, at which the method ends.
    """
    here, cost = start, objective(problem, start, penalty)
    for _ in range(MAX_STEPS):
        step = least_squares(problem, here.predictor)
        there = Point.of(problem, *solve(step, here))
        after = objective(problem, there, penalty)
        for _ in range(MAX_HALVINGS):
            if after <= cost + 1e-12 * abs(cost):
                break
            there = here.towards(there, 0.5)
            after = objective(problem, there, penalty)
        moved = np.abs(there.predictor - here.predictor).max()
        here, cost = there, after
        if moved < close * (1 + np.abs(here.predictor).max()):
            break
    return here


def least_squares(problem: StumpProblem, predictor: np.ndarray) -> StumpProblem:
    """Return the problem of a Newton step at the linear predictor of all rows."""
    rows = problem.rows
    p = expit(predictor)
    curvature = np.maximum(p * (1 - p), LEAST_CURVATURE)
    response = predictor + (rows.response - p) / curvature
    return problem.with_rows(replace(rows, response=response, weight=rows.weight * curvature))


def objective(problem: StumpProblem, point: Point, penalty: Callable[[np.ndarray], float]) -> float:
    """Return the sum of the log-losses and the penalty."""
    rows = problem.rows
    losses = np.logaddexp(0, point.predictor) - rows.response * point.predictor
    coefficients = np.concatenate([stump_coefficients(problem, point.value), point.gamma])
    return float(rows.weight @ losses) + penalty(coefficients)


def stump_coefficients(problem: StumpProblem, value: np.ndarray) -> np.ndarray:
    """Return the coefficients of the stumps from the fitted values of the nodes."""
    ends = problem.stumps.ends
    t = np.flatnonzero(ends[:, 0] != ends[:, 1])
    change = value[problem.stumps.right[t]] - value[problem.stumps.left[t]]
    found: np.ndarray = change / (ends[t, 1] - ends[t, 0])
    return found
