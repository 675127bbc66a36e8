r"""Logistic regression with an elastic net penalty on the columns of one tree.

    minimise   sum_i w_i log-loss(y_i, eta_i)
               + penalty (l1_ratio |beta, gamma|_1 + (1 - l1_ratio)/2 |beta, gamma|_2^2)

by Newton's method (`attributions.mdi.logistic`), whose steps are elastic nets, found by coordinate
descent from the current point (`attributions.mdi.elastic_net.elastic_net_path`). Folds choose
penalty and ratio as scikit-learn's ``LogisticRegressionCV`` does, from the same numbers, but by the
log-loss: by the share of right labels, its default, many penalties are equally good.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attributions.kernels.elastic_net import Fits
from attributions.mdi.elastic_net import as_l1_ratios, check_single_ratio, elastic_net_path
from attributions.mdi.least_squares import Coefficients, as_folds
from attributions.mdi.logistic import Point, minimise, stump_coefficients
from attributions.mdi.stump_problem import StumpProblem

FINAL_CLOSE, FINAL_TOLERANCE = 1e-9, 1e-20  # tolerances are shares of the sum of the weights
SEARCH_CLOSE, SEARCH_TOLERANCE = 1e-4, 1e-9
RISES, A_RISE = 2, 1.01  # losses that rise so often in a row, by this factor, end the path


class LogisticElasticNet:
    """Logistic elastic net, its penalty and ratio chosen by folds.

    Parameters
    ----------
    penalty : float, optional
        As 1 / C of scikit-learn's LogisticRegression. None chooses for every tree from
        ``n_penalties`` between 1e-4 and 1e4.
    l1_ratio : float or sequence of floats, above 0 and at most 1
        Share of the absolute values in the penalty; the best of several is chosen.
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
        self.l1_ratios = as_l1_ratios(l1_ratio)
        check_single_ratio(penalty, self.l1_ratios)
        if penalty is not None and not 0 < penalty < np.inf:
            raise ValueError(f"penalty={penalty!r}; use a number above 0, or None to choose one.")
        if isinstance(folds, str):
            raise ValueError(f"folds={folds!r}; the elastic net needs a number of folds.")
        self.folds: int | np.ndarray = as_folds(penalty, folds)
        self.penalty = penalty
        self.penalties = (
            np.geomspace(1e4, 1e-4, n_penalties) if penalty is None else np.array([penalty])
        )

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose penalty and ratio for one tree and fit it."""
        penalty, l1_ratio = self.penalty, float(self.l1_ratios[0])
        if penalty is None:
            losses = np.array([self._held_out_losses(problem, ratio) for ratio in self.l1_ratios])
            best, least = np.unravel_index(np.argmin(losses), losses.shape)
            penalty, l1_ratio = float(self.penalties[least]), float(self.l1_ratios[best])
        start = Point.zero(problem)
        point = newton(problem, penalty, l1_ratio, start, FINAL_CLOSE, FINAL_TOLERANCE)
        return Coefficients(point.value, point.gamma, penalty)

    def _held_out_losses(self, problem: StumpProblem, l1_ratio: float) -> np.ndarray:
        """Return the mean over folds of the mean log-loss in the fold, for falling penalties.

        Once it has risen `RISES` times in a row, the following penalties are skipped: infinity.
        """
        rows, losses = problem.rows, np.full(len(self.penalties), np.inf)
        folds = [fold for fold in problem.fold_slices() if rows.weight[fold].any()]
        others = [problem.with_rows(replace(rows, weight=_without(rows.weight, f))) for f in folds]
        points = [Point.zero(problem)] * len(folds)
        for j, penalty in enumerate(self.penalties):
            losses[j] = 0.0
            for t, fold in enumerate(folds):
                points[t] = newton(
                    others[t], penalty, l1_ratio, points[t], SEARCH_CLOSE, SEARCH_TOLERANCE
                )
                predictor, weight = points[t].predictor[fold], rows.weight[fold]
                each = np.logaddexp(0, predictor) - rows.response[fold] * predictor
                losses[j] += weight @ each / weight.sum() / problem.n_folds
            if (
                j >= RISES
                and (losses[j - RISES + 1 : j + 1] > A_RISE * losses[j - RISES : j]).all()
            ):
                break
        return losses


def _without(weight: np.ndarray, fold: slice) -> np.ndarray:
    """Return weights that are 0 in a fold."""
    outside = weight.copy()
    outside[fold] = 0.0
    return outside


def newton(
    problem: StumpProblem,
    penalty: float,
    l1_ratio: float,
    start: Point,
    close: float,
    tolerance: float,
) -> Point:
    """Return the minimum."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    smallest = tolerance * problem.rows.weight.sum()
    splits = problem.stumps.ends[:, 0] != problem.stumps.ends[:, 1]

    def solve(step: StumpProblem, here: Point) -> tuple[np.ndarray, np.ndarray]:
        total = step.sums.weight[0]
        beta = np.zeros(len(here.value))
        beta[splits] = stump_coefficients(step, here.value)
        begin = Fits(beta, here.value, np.append(0.0, here.gamma))
        fits = elastic_net_path(step, step.sums, [penalty / total], l1_ratio, smallest, begin)
        return fits.value[0], fits.gamma[0, 1:]

    def penalty_value(coefficients: np.ndarray) -> float:
        squares = float(coefficients @ coefficients)
        return l1 * float(np.abs(coefficients).sum()) + l2 / 2 * squares

    return minimise(problem, solve, penalty_value, start, close)
