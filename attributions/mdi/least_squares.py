r"""Linear models that are fitted to a tree's stumps: least squares and ridge.

    y ~ intercept + sum_t beta_t psi_t(x) + sum_k gamma_k x_k

The intercept is not penalised. Both, and ``attributions.mdi.elastic_net``, work on the sums of the
leaves (`attributions.mdi.stump_problem`) and never on rows, so that folds and penalties are tried
without another pass over the table:

* *Ridge*: stumps are eliminated from the normal equations by two passes over the tree, for the
  response and the raw columns at once. With Y = [y x] there remains S = Y'(I - H)Y, where H is
  the hat matrix of the ridge on intercept and stumps alone (rows weighted). So

      gamma = (S_xx + penalty I)^-1 S_xy        f(node) = smoothed y - (smoothed x) gamma

  Without left-out rows, S takes the pass upwards alone, and f one pass for y - x gamma instead of
  one for every raw column (`fit_ridge`).
* *Least squares* is the ridge with a penalty of 0.

Penalties are those of scikit-learn: ``Ridge``'s alpha, and ``ElasticNet``'s alpha times the sum of
the weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.linalg.lapack import dposv

from attributions.kernels.elastic_net import losses_of
from attributions.kernels.stumps import StumpSums, project, smooth
from attributions.mdi.stump_problem import StumpProblem
from attributions.options import whole

STRIDE = 8


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A linear model of one tree, in terms of its nodes.

    A stump's contribution to a row is the change of ``value`` from the node to the child that the
    row takes.
    """

    value: np.ndarray  # (n_nodes,) intercept plus the stumps on the way to each node
    gamma: np.ndarray  # (n_raw,) coefficients of the centred and scaled raw columns
    penalty: float  # that was given or chosen


@runtime_checkable
class LinearModel(Protocol):
    """A kind of linear model, and how it is fitted to a tree."""

    name: str
    is_for_labels: bool
    """Whether the response must be 0 and 1, and the linear predictor is the log-odds."""
    folds: Any
    """How rows are put into folds: a number of folds, a fold for every row, or "loo"."""

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit the model to one tree."""
        ...


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """The ridge fit of one tree, with all that is needed to leave out a row."""

    smoothed: np.ndarray  # (n_nodes, 1 + n_raw) fits of response and raw columns by stumps alone
    variance: np.ndarray  # (n_nodes,) of such a fit where responses have the variance 1 / weight
    pull: np.ndarray  # (n_nodes,), as is share: those of `smooth`
    share: np.ndarray
    system: np.ndarray  # (n_raw, n_raw) whose inverse gives gamma
    gamma: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """Fitted values of nodes."""
        value: np.ndarray = self.smoothed[:, 0] - self.smoothed[:, 1:] @ self.gamma
        return value

    def own_gamma(self, leaves: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the raw part of J^-1 x_i for rows with some ``columns``, of shape (n, n_raw)."""
        beyond: np.ndarray = columns[1:].T - self.smoothed[leaves, 1:]
        return np.linalg.solve(self.system, beyond.T).T

    def without_row(self, problem: StumpProblem) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows, and what residuals are when the model is fitted without the row.

        The formula is exact: the residual without row i is its residual over 1 - w_i x_i' J^-1 x_i.
        A row that was drawn several times is left out with all its copies. A row whose fitted value
        depends on no other row is predicted by the mean.
        """
        value = self.value
        for rows in problem.blocks():
            leaves, columns = problem.rows.leaves[rows], problem.columns(rows)
            residual = columns[0] - value[leaves] - self.gamma @ columns[1:]
            beyond = columns[1:].T - self.smoothed[leaves, 1:]
            raw = np.einsum("ij,ij->i", beyond, self.own_gamma(leaves, columns))
            freedom = 1 - problem.rows.weight[rows] * (self.variance[leaves] + raw)
            alone = freedom < 1e-10
            residual /= np.where(alone, 1.0, freedom)
            yield rows, np.where(alone, columns[0] - value[0], residual)


def solve_ridge(problem: StumpProblem, penalty: float) -> RidgeSolution:
    """Fit stumps and raw columns with one ridge penalty, exactly.

    Without a penalty, raw columns that in these rows depend linearly on each other, or on stumps,
    get the coefficients of least norm.
    """
    sums, leaf = problem.sums, problem.leaf
    smoothed = np.empty(sums.columns.shape)
    of_nodes = variance, pull, share = np.empty((3, len(smoothed)))
    weight, columns = sums.weight.copy(), sums.columns.copy()
    smooth(problem.stumps, weight, columns, penalty, smoothed, *of_nodes)
    rest = sums.gram - sums.columns[leaf].T @ smoothed[leaf]
    system, gamma = _raw_coefficients(rest, sums.gram, penalty)
    return RidgeSolution(smoothed, variance, pull, share, system, gamma)


def fit_ridge(
    problem: StumpProblem, sums: StumpSums, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return only the node values and raw coefficients of `solve_ridge`, which is faster."""
    n_nodes, n_columns = sums.columns.shape
    explained = np.empty((len(problem.leaf), n_columns))
    project(problem.stumps, sums.weight.copy(), sums.columns.copy(), penalty, explained)
    rest = sums.gram - explained.T @ explained
    _, gamma = _raw_coefficients(rest, sums.gram, penalty)
    response = sums.columns @ np.append(1.0, -gamma)
    value = np.empty((n_nodes, 1))
    variance, pull, share = np.empty((3, n_nodes))
    column = response[:, np.newaxis]
    smooth(problem.stumps, sums.weight.copy(), column, penalty, value, variance, pull, share)
    return value[:, 0], gamma


def _raw_coefficients(
    rest: np.ndarray, gram: np.ndarray, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the system for the raw columns, after elimination of stumps, and its solution."""
    system = rest[1:, 1:] + penalty * np.eye(len(rest) - 1)
    gamma: np.ndarray = rest[1:, 0].copy()
    if not len(gamma):
        return system, gamma
    if penalty > 0:
        _, solution, failed = dposv(system, gamma)  # numpy's solve takes twice as long
        return system, np.linalg.solve(system, gamma) if failed else solution
    smallest = 1e-10 * max(np.abs(np.diag(gram)[1:]).max(), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh((system + system.T) / 2)
    inverse = (vectors / np.where(values > smallest, values, np.inf)) @ vectors.T
    return system, inverse @ gamma


class OLS:
    """Least squares: without raw columns, on the rows that grew the tree, these are node means."""

    name = "ols"
    folds = 1
    is_for_labels = False

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit one tree."""
        solution = solve_ridge(problem, 0.0)
        return Coefficients(solution.value, solution.gamma, 0.0)


class Ridge:
    """Ridge on stumps and raw columns.

    Parameters
    ----------
    penalty : float, optional
        As ``alpha`` of scikit-learn's Ridge. None chooses for every tree from ``n_penalties``
        between 1e-6 and 10 times the sum of the weights.
    folds : int, array of shape (n,), or "loo"
        How to choose the penalty: by a number of folds, which are parts of the table in row order,
        by a fold number for every row, or by leaving out every single row, which is exact and takes
        a pass over all rows for every penalty.
    n_penalties : int
    """

    name = "ridge"
    is_for_labels = False

    def __init__(self, penalty: float | None = None, folds: Any = 3, n_penalties: int = 29):
        check_penalty(penalty, may_be_0=not self.is_for_labels)
        self.penalty, self.n_penalties = penalty, whole(1, n_penalties=n_penalties)
        self.folds = as_folds(penalty, folds)

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose the penalty for one tree and fit it."""
        solution, penalty, _ = self.solve(problem)
        return Coefficients(solution.value, solution.gamma, penalty)

    def solve(self, problem: StumpProblem) -> tuple[RidgeSolution, float, StumpProblem]:
        """Return the solution in full, its penalty, and the problem that it solves."""
        penalty = self.penalty
        if penalty is None:
            penalty = search(lambda tried: self._losses(problem, tried), self.penalties(problem))[1]
        return solve_ridge(problem, penalty), penalty, problem

    def penalties(self, problem: StumpProblem) -> np.ndarray:
        """Return the penalties to choose from, falling."""
        total: float = problem.sums.weight[0]
        return total * np.geomspace(10.0, 1e-6, self.n_penalties)

    def _losses(self, problem: StumpProblem, penalties: np.ndarray) -> np.ndarray:
        if isinstance(self.folds, str):
            return np.array([leave_one_out_loss(problem, penalty) for penalty in penalties])
        losses = np.zeros(len(penalties))
        for fold in range(problem.n_folds):
            sums, held_out = problem.without.of_fold(fold), problem.folds.of_fold(fold)
            fits = [fit_ridge(problem, sums, penalty) for penalty in penalties]
            value = np.array([value for value, _ in fits])
            gamma = np.array([[0.0, *gamma] for _, gamma in fits])
            if held_out.weight[0] > 0:  # a fold whose rows all have the weight 0 does not count
                losses += losses_of(held_out, problem.leaf, value, gamma) / held_out.weight[0]
        return losses / problem.n_folds


def leave_one_out_loss(problem: StumpProblem, penalty: float) -> float:
    """Return the mean squared error of every row when the model is fitted without it."""
    left_out = solve_ridge(problem, penalty).without_row(problem)
    losses = [problem.rows.weight[rows] @ residual**2 for rows, residual in left_out]
    return sum(losses) / problem.sums.weight[0]


def check_penalty(penalty: float | None, may_be_0: bool) -> None:
    """Raise ValueError unless a penalty is to be chosen, or may be taken."""
    if penalty is not None and not (0 <= penalty < np.inf and (penalty > 0 or may_be_0)):
        what = "of at least 0" if may_be_0 else "above 0"
        raise ValueError(f"penalty={penalty!r}; use a number {what}, or None to choose one.")


def as_folds(penalty: float | None, folds: Any) -> Any:
    """Return the folds that choose a penalty; a single fold, all rows, if it is given."""
    if penalty is not None:
        return 1
    if isinstance(folds, Integral) and folds == 1:
        raise ValueError(
            "folds=1; the penalty is chosen by fits to all folds but one, so at least 2 are needed."
            " Or give a penalty."
        )
    return folds


def search(
    losses_at: Callable[[np.ndarray], np.ndarray],
    penalties: np.ndarray,
    give_up_above: float = np.inf,
) -> tuple[float, float]:
    """Return the least loss found and its penalty.

    Every ``STRIDE``-th penalty is tried, then the neighbours of the best one so far, in steps that
    are halved each time. Neighbours are not tried if the least loss of the first round is
    ``give_up_above`` or more.
    """
    losses: dict[int, float] = {}

    def best_of(places: Sequence[int]) -> int:
        new = [j for j in places if 0 <= j < len(penalties) and j not in losses]
        if new:
            losses.update(zip(new, losses_at(penalties[new]).tolist(), strict=True))
        return min(losses, key=lambda j: losses[j])

    best, step = best_of(range(0, len(penalties), STRIDE)), STRIDE // 2
    while step and losses[best] < give_up_above:
        best, step = best_of([best - step, best + step]), step // 2
    return losses[best], float(penalties[best])
