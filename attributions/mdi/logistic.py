r"""Logistic regression with a ridge or an elastic net penalty on the columns of one tree.

    minimise   sum_i w_i log-loss(y_i, eta_i) + penalty(beta, gamma)        eta = f(leaf) + x gamma

by Newton's method. Each step is a problem of weighted least squares with the same penalty, which
the solvers of `attributions.mdi.least_squares` and `attributions.mdi.elastic_net` know: at the
linear predictor eta, with p = 1 / (1 + exp(-eta)), it has the weights v = w p (1 - p) and the
response eta + (y - p) / (p (1 - p)). A step that does not reduce the objective is halved until it
does, so the method reaches the minimum from any start.

*Which penalty.* Of the ridge, leaving out a row is approximated by one Newton step from the full
fit (Rad and Maleki 2020, equation 6), the same formula that is exact for least squares. For the
elastic net folds choose penalty and ratio as scikit-learn's ``LogisticRegressionCV`` does, from the
same numbers, but by the log-loss: by the share of right labels, its default, many penalties are
equally good.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from attributions.kernels.elastic_net import Fits
from attributions.mdi.elastic_net import ElasticNet, fit_elastic_net
from attributions.mdi.least_squares import Coefficients, Ridge, RidgeSolution, solve_ridge
from attributions.mdi.stump_problem import StumpProblem

MAX_STEPS = 50
MAX_HALVINGS = 30
LEAST_CURVATURE = 1e-12  # of a row whose label is certain
# Largest change of a linear predictor, relative to the largest, at which the method ends; and of
# the elastic net's steps the tolerance, a share of the sum of the weights.
CLOSE, TOLERANCE = 1e-9, 1e-20
SEARCH_CLOSE, SEARCH_TOLERANCE = 1e-4, 1e-9
CLIPPED = (0.01, 0.99)  # probabilities in the loss of left-out rows, as in MDI+
RISES, A_RISE = 2, 1.01  # losses that rise so often in a row, by this factor, end the path


class Point(NamedTuple):
    """A point of the search: coefficients, and the linear predictor that they give."""

    value: np.ndarray  # (n_nodes,) fitted values of nodes
    gamma: np.ndarray  # (n_raw,) raw coefficients
    predictor: np.ndarray  # (n,) of all rows

    @classmethod
    def zero(cls, problem: StumpProblem) -> "Point":
        """Return the point at which every coefficient is 0."""
        n_rows = len(problem.rows.leaves)
        return cls(np.zeros(problem.tree.n_nodes), np.zeros(problem.n_raw), np.zeros(n_rows))


def minimise(
    problem: StumpProblem,
    solve: Callable[[StumpProblem, Point], tuple[np.ndarray, np.ndarray]],
    penalties: tuple[float, float],
    start: Point,
    close: float,
) -> Point:
    """Return the minimum for responses of 0 and 1.

    ``solve`` takes the least squares problem of a step and the point where it was made, and returns
    value and gamma of the penalised minimum. The penalties are l1 and l2: of absolute values, and
    of half the squares.
    """
    here, cost = start, objective(problem, start, penalties)
    for _ in range(MAX_STEPS):
        value, gamma = solve(least_squares(problem, here.predictor), here)
        there = Point(value, gamma, problem.predict(value, gamma))
        after = objective(problem, there, penalties)
        for _ in range(MAX_HALVINGS):
            if after <= cost + 1e-12 * abs(cost):
                break
            there = Point(*(a + 0.5 * (b - a) for a, b in zip(here, there, strict=True)))
            after = objective(problem, there, penalties)
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
    return problem.with_rows(rows._replace(response=response, weight=rows.weight * curvature))


def objective(problem: StumpProblem, point: Point, penalties: tuple[float, float]) -> float:
    """Return the sum of the log-losses and the penalty."""
    (l1, l2), rows = penalties, problem.rows
    losses = np.logaddexp(0, point.predictor) - rows.response * point.predictor
    coefficients = np.concatenate([stump_coefficients(problem, point.value), point.gamma])
    size, squares = float(np.abs(coefficients).sum()), float(coefficients @ coefficients)
    return float(rows.weight @ losses) + (l1 * size + l2 / 2 * squares)


def stump_coefficients(problem: StumpProblem, value: np.ndarray) -> np.ndarray:
    """Return the coefficients of the stumps from the fitted values of the nodes."""
    ends = problem.stumps.ends
    t = np.flatnonzero(ends[:, 0] != ends[:, 1])
    change = value[problem.stumps.right[t]] - value[problem.stumps.left[t]]
    found: np.ndarray = change / (ends[t, 1] - ends[t, 0])
    return found


class LogisticRidge(Ridge):
    """Logistic ridge whose penalty is chosen by leaving out single rows, approximately.

    Parameters
    ----------
    penalty : float, optional
        As 1 / C of scikit-learn's LogisticRegression. None chooses for every tree from
        ``n_penalties`` between 1e-3 and 100, as MDI+ does.
    n_penalties : int
    """

    name = "logistic_ridge"
    is_for_labels = True

    def __init__(self, penalty: float | None = None, n_penalties: int = 25):
        super().__init__(penalty, "loo", n_penalties)

    def solve(self, problem: StumpProblem) -> tuple[RidgeSolution, float, StumpProblem]:
        """Return the last Newton step's solution, its penalty, and its problem."""
        if self.penalty is not None:
            _, solution, step = ridge_newton(problem, self.penalty, Point.zero(problem))
            return solution, self.penalty, step
        tried, point = [], Point.zero(problem)
        for penalty in np.geomspace(100.0, 1e-3, self.n_penalties):
            point, solution, step = ridge_newton(problem, penalty, point)
            tried.append((_left_out_loss(problem, step, solution), solution, float(penalty), step))
        return min(tried, key=lambda trial: trial[0])[1:]


def ridge_newton(
    problem: StumpProblem, penalty: float, start: Point
) -> tuple[Point, RidgeSolution, StumpProblem]:
    """Return the minimum, with the solution and the problem of the last Newton step."""

    def solve(step: StumpProblem, here: Point) -> tuple[np.ndarray, np.ndarray]:
        solution = solve_ridge(step, penalty)
        return solution.value, solution.gamma

    point = minimise(problem, solve, (0.0, penalty), start, CLOSE)
    step = least_squares(problem, point.predictor)
    return point, solve_ridge(step, penalty), step


def _left_out_loss(problem: StumpProblem, step: StumpProblem, solution: RidgeSolution) -> float:
    """Return the mean log-loss of rows that are left out."""
    loss = 0.0
    for rows, residual in solution.without_row(step):
        p, y = expit(step.rows.response[rows] - residual), problem.rows.response[rows]
        loss -= problem.rows.weight[rows] @ log_likelihood(y, p)
    return loss / problem.rows.weight.sum()


def log_likelihood(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of labels 0 and 1, row by row; sure probabilities are clipped."""
    p = np.clip(p, *CLIPPED)
    return y * np.log(p) + (1 - y) * np.log1p(-p)


class LogisticElasticNet(ElasticNet):
    """Logistic elastic net, its penalty and ratio chosen by folds.

    Parameters
    ----------
    penalty : float, optional
        As 1 / C of scikit-learn's LogisticRegression. None chooses for every tree from
        ``n_penalties`` between 1e-4 and 1e4.
    l1_ratio
        As for `ElasticNet`.
    folds : int or array of shape (n,)
        Number of folds, each with the table's shares of the classes, rows in their order, as in
        ``StratifiedKFold``; or a fold number a row.
    n_penalties : int
    """

    name = "logistic_elastic_net"
    is_for_labels = True

    def __init__(
        self,
        penalty: float | None = None,
        l1_ratio: float | Sequence[float] = (0.1, 0.5, 0.99),
        folds: int | np.ndarray = 3,
        n_penalties: int = 10,
    ):
        super().__init__(penalty, l1_ratio, folds, n_penalties)

    def _fitted(self, problem: StumpProblem, penalty: float, l1_ratio: float) -> Coefficients:
        start = Point.zero(problem)
        point = elastic_net_newton(problem, penalty, l1_ratio, start, CLOSE, TOLERANCE)
        return Coefficients(point.value, point.gamma, penalty)

    def _choose(self, problem: StumpProblem) -> tuple[float, float]:
        penalties = np.geomspace(1e4, 1e-4, self.n_penalties)
        losses = np.array([held_out_losses(problem, penalties, r) for r in self.l1_ratios])
        best, least = np.unravel_index(np.argmin(losses), losses.shape)
        return float(penalties[least]), float(self.l1_ratios[best])


def held_out_losses(problem: StumpProblem, penalties: np.ndarray, l1_ratio: float) -> np.ndarray:
    """Return the mean over folds of the mean log-loss in the fold, for falling penalties.

    Once it has risen `RISES` times in a row, the following penalties are skipped: infinity.
    """
    rows, losses = problem.rows, np.full(len(penalties), np.inf)
    folds = [fold for fold in problem.fold_slices() if rows.weight[fold].any()]
    others = []
    for fold in folds:
        outside = rows.weight.copy()
        outside[fold] = 0.0
        others.append(problem.with_rows(rows._replace(weight=outside)))
    points = [Point.zero(problem)] * len(folds)
    for j, penalty in enumerate(penalties):
        losses[j] = 0.0
        for t, fold in enumerate(folds):
            points[t] = elastic_net_newton(
                others[t], penalty, l1_ratio, points[t], SEARCH_CLOSE, SEARCH_TOLERANCE
            )
            predictor, weight = points[t].predictor[fold], rows.weight[fold]
            each = np.logaddexp(0, predictor) - rows.response[fold] * predictor
            losses[j] += weight @ each / weight.sum() / problem.n_folds
        if j >= RISES and (losses[j - RISES + 1 : j + 1] > A_RISE * losses[j - RISES : j]).all():
            break
    return losses


def elastic_net_newton(
    problem: StumpProblem,
    penalty: float,
    l1_ratio: float,
    start: Point,
    close: float,
    tolerance: float,
) -> Point:
    """Return the minimum."""
    smallest = tolerance * problem.rows.weight.sum()
    splits = problem.stumps.ends[:, 0] != problem.stumps.ends[:, 1]

    def solve(step: StumpProblem, here: Point) -> tuple[np.ndarray, np.ndarray]:
        beta = np.zeros(len(here.value))
        beta[splits] = stump_coefficients(step, here.value)
        begin = Fits(beta, here.value, np.append(0.0, here.gamma))
        total = step.sums.weight[0]
        found = fit_elastic_net(step, penalty / total, l1_ratio, smallest, begin)
        return found.value, found.gamma[1:]

    penalties = penalty * l1_ratio, penalty * (1 - l1_ratio)
    return minimise(problem, solve, penalties, start, close)
