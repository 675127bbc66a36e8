r"""Logistic regression with a ridge penalty on the columns of one tree.

    minimise   sum_i w_i log-loss(y_i, eta_i) + penalty/2 (|beta|^2 + |gamma|^2)

by Newton's method, whose steps are ridge fits (`attributions.mdi.logistic`). Leaving out a row
is approximated by one Newton step from the full fit (Rad and Maleki 2020, equation 6), the same
formula that is exact for the ridge.
"""

import numpy as np
from scipy.special import expit

from attributions.mdi.least_squares import Coefficients, RidgeSolution, solve_ridge
from attributions.mdi.logistic import Point, least_squares, minimise
from attributions.mdi.stump_problem import StumpProblem

CLOSE = 1e-9  # largest change of a linear predictor at which Newton's method ends
CLIPPED = (0.01, 0.99)  # probabilities in the loss of left-out rows, as in MDI+


class LogisticRidge:
    """Logistic ridge whose penalty is chosen by leaving out single rows, approximately.

    Parameters
    ----------
    penalty : float, optional
        As 1 / C of scikit-learn's LogisticRegression. None chooses for every tree from
        ``n_penalties`` between 1e-3 and 100, as MDI+ does.
    n_penalties : int
    """

    name = "logistic_ridge"
    folds = "loo"
    is_for_labels = True

    def __init__(self, penalty: float | None = None, n_penalties: int = 25):
        if penalty is not None and not 0 < penalty < np.inf:
            raise ValueError(f"penalty={penalty!r}; use a number above 0, or None to choose one.")
        self.penalty, self.n_penalties = penalty, n_penalties

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose the penalty for one tree and fit it."""
        solution, penalty, _ = self.solve(problem)
        return Coefficients(solution.value, solution.gamma, penalty)

    def solve(self, problem: StumpProblem) -> tuple[RidgeSolution, float, StumpProblem]:
        """Return the last Newton step's solution, its penalty, and its problem."""
        if self.penalty is not None:
            _, solution, step = newton(problem, self.penalty, Point.zero(problem))
            return solution, self.penalty, step
        tried, point = [], Point.zero(problem)
        for penalty in np.geomspace(100.0, 1e-3, self.n_penalties):
            point, solution, step = newton(problem, penalty, point)
            tried.append((_left_out_loss(problem, step, solution), solution, float(penalty), step))
        return min(tried, key=lambda trial: trial[0])[1:]


def newton(
    problem: StumpProblem, penalty: float, start: Point
) -> tuple[Point, RidgeSolution, StumpProblem]:
    """Return the minimum, with the solution and the problem of the last Newton step."""

    def solve(step: StumpProblem, here: Point) -> tuple[np.ndarray, np.ndarray]:
        solution = solve_ridge(step, step.sums, penalty)
        return solution.value, solution.gamma

    def half_squares(coefficients: np.ndarray) -> float:
        return penalty / 2 * float(coefficients @ coefficients)

    point = minimise(problem, solve, half_squares, start, CLOSE)
    step = least_squares(problem, point.predictor)
    return point, solve_ridge(step, step.sums, penalty), step


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
