r"""The linear models that are fitted to a tree's stumps: least squares, ridge and elastic net.

    y ~ intercept + sum_t beta_t psi_t(x) + sum_k gamma_k x_k

The intercept is free. All three work on the sums of the leaves (`attributions.stump_problem`) and
never on rows, so that folds and penalties are tried without another look at the table:

* *Ridge*: stumps are removed from the normal equations by two passes over the tree, for the
  response and the raw columns at once. What is left of the raw columns, with S = Y'(I - H)Y the X

      gamma = (S_xx + penalty I)^-1 S_xy        f(node) = smoothed y - (smoothed x) gamma

* *Least squares* is that without a penalty.
* *Elastic net*: coordinate descent, a sweep over all stumps being one pass over the tree.

Penalties are those of scikit-learn: ``Ridge``'s alpha, and ``ElasticNet``'s alpha times the sum of
the weights. The elastic net's is chosen as ``ElasticNetCV`` does it: from the same sequence, by the
same folds (parts of the table in row order) and the same mean of the folds' mean squared errors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from attributions.explicit_model import fit_explicit
from attributions.kernels.stumps import Sums, descend, losses_of, smooth
from attributions.stump_problem import StumpProblem

FINAL_TOLERANCE = 1e-18  # of the response's sum of squares; see `descend`
SEARCH_TOLERANCE = 1e-7
STRIDE = 5
WORTH_A_LOOK = 1.02  # a ratio whose coarse least error is larger by this factor is not refined


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A linear model of one tree, in terms of its nodes.

    Parameters
    ----------
    value : float64 array of shape (n_nodes,)
        Intercept plus the stumps on the way to each node. A stump's contribution to a row is the
        change from the node to the child that the row takes.
    gamma : float64 array of shape (n_raw,)
        Of the centred and scaled raw columns.
    penalty : float
        The one that was chosen.
    """

    value: np.ndarray
    gamma: np.ndarray
    penalty: float


class LinearModel(Protocol):
    """A way to find the coefficients."""

    name: str

    @property
    def folds(self) -> object:
        """Return how rows are put into folds: a number of folds, a fold for every row, or "loo"."""
        ...

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit the model to one tree."""
        ...


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """The ridge fit of one tree, with what leaving out a row takes.

    ``smoothed`` (n_nodes, 1 + n_raw) are the fits of response and raw columns by stumps alone,
    ``variance`` (n_nodes,) is the variance of such a fit where responses have the variance
    1 / weight, ``system`` the (n_raw, n_raw) matrix whose inverse gives gamma; ``pull`` and
    ``share`` are those of `smooth`.
    """

    smoothed: np.ndarray
    variance: np.ndarray
    pull: np.ndarray
    share: np.ndarray
    system: np.ndarray
    gamma: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """Fitted values of nodes."""
        return self.smoothed[:, 0] - self.smoothed[:, 1:] @ self.gamma

    def own_gamma(self, leaves: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the raw part of J^-1 x_i for rows with some ``columns``, of shape (n, n_raw)."""
        beyond = columns[1:].T - self.smoothed[leaves, 1:]
        if not beyond.shape[1]:
            return beyond
        return np.linalg.solve(self.system, beyond.T).T

    def own_say(self, leaves: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return x_i' J^-1 x_i: how far a row of weight 1 moves its own fitted value."""
        beyond = columns[1:].T - self.smoothed[leaves, 1:]
        raw = np.einsum("ij,ij->i", beyond, self.own_gamma(leaves, columns))
        return self.variance[leaves] + raw


def solve_ridge(problem: StumpProblem, sums: Sums, penalty: float) -> RidgeSolution:
    """Fit stumps and raw columns with one ridge penalty, exactly.

    Without a penalty, raw columns that in these rows depend linearly on each other, or on stumps,
    get the coefficients of least norm.
    """
    n_nodes, n_columns = sums.columns.shape
    smoothed = np.empty((n_nodes, n_columns))
    variance, pull, share = np.empty((3, n_nodes))
    smooth(problem.stumps, sums.weight, sums.columns, penalty, smoothed, variance, pull, share)
    leaf = problem.leaf
    rest = sums.gram - sums.columns[leaf].T @ smoothed[leaf]
    system = rest[1:, 1:] + penalty * np.eye(n_columns - 1)
    gamma: np.ndarray = rest[1:, 0].copy()
    if n_columns > 1 and penalty > 0:
        gamma = np.linalg.solve(system, gamma)
    elif n_columns > 1:
        smallest = 1e-10 * max(np.abs(np.diag(sums.gram)[1:]).max(), np.finfo(float).tiny)
        values, vectors = np.linalg.eigh((system + system.T) / 2)
        inverse = (vectors / np.where(values > smallest, values, np.inf)) @ vectors.T
        gamma = inverse @ gamma
    return RidgeSolution(smoothed, variance, pull, share, system, gamma)


class OLS:
    """Least squares: without raw columns, on the rows that grew the tree, these are node means."""

    name = "ols"
    folds = 1

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit one tree."""
        solution = solve_ridge(problem, problem.sums, 0.0)
        return Coefficients(solution.value, solution.gamma, 0.0)


class Ridge:
    """Ridge on stumps and raw columns.

    Parameters
    ----------
    penalty : float, optional
        As ``alpha`` of scikit-learn's Ridge. None chooses for every tree from ``n_penalties``
        between 1e-6 and 10 times the sum of the weights.
    folds : int, array of shape (n,), or "loo"
        How to choose: folds that are parts of the table in row order, a fold number a row, or
        leaving out every single row, which is exact and looks at all rows for every penalty.
    n_penalties : int
    """

    name = "ridge"

    def __init__(self, penalty: float | None = None, folds=3, n_penalties: int = 29):
        if penalty is not None and not 0 <= penalty < np.inf:
            raise ValueError(f"penalty={penalty!r}; use a number from 0, or None to choose one.")
        if n_penalties < 1:
            raise ValueError(f"n_penalties={n_penalties!r}; at least 1 is needed.")
        self.penalty, self.n_penalties = penalty, n_penalties
        self.folds = 1 if penalty is not None else folds

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose the penalty for one tree and fit it."""
        solution, penalty = self.solve(problem)
        return Coefficients(solution.value, solution.gamma, penalty)

    def solve(self, problem: StumpProblem) -> tuple[RidgeSolution, float]:
        """Return the solution in full, and its penalty."""
        penalty = self.penalty
        if penalty is None:
            total = problem.sums.weight.sum()
            penalties = total * np.geomspace(10.0, 1e-6, self.n_penalties)

            def losses_at(tried):
                if isinstance(self.folds, str):
                    return np.array([leave_one_out_loss(problem, penalty) for penalty in tried])
                folds = range(problem.n_folds)
                return np.sum([_held_out_losses(problem, fold, tried) for fold in folds], axis=0)

            penalty = search(losses_at, penalties)[1]
        return solve_ridge(problem, problem.sums, penalty), penalty


def _held_out_losses(problem: StumpProblem, fold: int, penalties) -> np.ndarray:
    """Return the mean squared error in a fold of models fitted to the others."""
    sums, held_out = problem.without[fold], problem.folds[fold]
    fits = [solve_ridge(problem, sums, penalty) for penalty in penalties]
    value = np.array([fit.value for fit in fits])
    gamma = np.array([[0.0, *fit.gamma] for fit in fits])
    return losses_of(held_out, problem.leaf, value, gamma) / held_out.weight.sum()


def leave_one_out_loss(problem: StumpProblem, penalty: float) -> float:
    """Return the mean squared error of every row when the model is fitted without it.

    Exactly: the residual without row i is its residual over 1 - w_i x_i' J^-1 x_i. A row that was
    drawn several times leaves with all its copies. A row whose fitted value depends on no other row
    is predicted by the mean.
    """
    solution = solve_ridge(problem, problem.sums, penalty)
    value, loss = solution.value, 0.0
    for rows in problem.blocks():
        leaves, weight, columns = (
            problem.rows.leaves[rows],
            problem.rows.weight[rows],
            problem.columns(rows),
        )
        residual = columns[0] - value[leaves] - solution.gamma @ columns[1:]
        freedom = 1 - weight * solution.own_say(leaves, columns)
        alone = freedom < 1e-10
        residual = np.where(alone, columns[0] - value[0], residual / np.where(alone, 1.0, freedom))
        loss += weight @ residual**2
    return loss / problem.sums.weight.sum()


class ElasticNet:
    """Elastic net on stumps and raw columns, its penalty chosen as ``ElasticNetCV`` does.

    Parameters
    ----------
    penalty : float, optional
        As ``alpha`` of scikit-learn's ElasticNet. None chooses for every tree, by folds, from
        ``n_penalties`` between the least one that leaves nothing and a thousandth of it.
    l1_ratio : float or sequence of floats, above 0 and at most 1
        Share of the absolute values in the penalty; of several the best is chosen.
    folds : int or array of shape (n,)
        Parts of the table in row order, or a fold number a row.
    n_penalties : int
    """

    name = "elastic_net"

    def __init__(
        self, penalty: float | None = None, l1_ratio=(0.1, 0.5, 0.99), folds=3, n_penalties=100
    ):
        self.l1_ratios = np.atleast_1d(np.asarray(l1_ratio, dtype=np.float64))
        if not ((self.l1_ratios > 0) & (self.l1_ratios <= 1)).all():
            raise ValueError(f"l1_ratio={l1_ratio!r}; it must lie above 0 and not above 1.")
        if penalty is not None and len(self.l1_ratios) > 1:
            raise ValueError("A fixed penalty needs one l1_ratio; give both, or neither.")
        if penalty is not None and not 0 <= penalty < np.inf:
            raise ValueError(f"penalty={penalty!r}; use a number from 0, or None to choose one.")
        if isinstance(folds, str):
            raise ValueError(f"folds={folds!r}; the elastic net needs a number of folds.")
        self.penalty, self.n_penalties = penalty, n_penalties
        self.folds = 1 if penalty is not None else folds

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose penalty and ratio for one tree and fit it."""
        sums = problem.sums
        penalty, l1_ratio = self.penalty, self.l1_ratios[0]
        if penalty is None:
            penalty, l1_ratio = self._choose(problem)
        value, gamma = elastic_net_path(problem, sums, [penalty], l1_ratio, FINAL_TOLERANCE)
        return Coefficients(value[0], gamma[0, 1:], float(penalty))

    def _choose(self, problem):
        """Return penalty and ratio of the least mean of the folds' mean squared errors.

        Where errors along the penalties are rugged, a choice of nearly the least error is found.
        """
        largest, best = largest_slope(problem), (np.inf, 0.0, 0.0)
        for l1_ratio in self.l1_ratios:
            top = max(largest / l1_ratio, np.finfo(np.float64).resolution)
            penalties = np.geomspace(top, top / 1000, self.n_penalties)
            path = partial(_held_out_path, problem, l1_ratio=l1_ratio)
            found = search(path, penalties, WORTH_A_LOOK * best[0])
            if found[0] < best[0]:
                best = (*found, float(l1_ratio))
        return best[1:]


def search(
    losses_at: Callable[[np.ndarray], np.ndarray], penalties: np.ndarray, hopeless: float = np.inf
) -> tuple[float, float]:
    """Return the least loss and its penalty: of every ``STRIDE``-th, and then of those around it.

    Nothing is refined where the least loss so far is ``hopeless`` or more.
    """
    coarse = penalties[::STRIDE]
    losses = losses_at(coarse)
    middle = STRIDE * int(np.argmin(losses))
    least = float(losses.min()), float(penalties[middle])
    if least[0] >= hopeless:
        return least
    around = penalties[max(0, middle - STRIDE + 1) : middle + STRIDE]
    losses = losses_at(around)
    return min(least, (float(losses.min()), float(around[np.argmin(losses)])))


def _held_out_path(problem: StumpProblem, penalties, *, l1_ratio: float) -> np.ndarray:
    """Return the mean over folds of the mean squared error, for falling penalties."""
    losses = np.zeros(len(penalties))
    for fold, held_out in enumerate(problem.folds):
        sums = problem.without[fold]
        fits = elastic_net_path(problem, sums, penalties, l1_ratio, SEARCH_TOLERANCE)
        losses += losses_of(held_out, problem.leaf, *fits) / held_out.weight.sum()
    return losses / problem.n_folds


def elastic_net_path(
    problem: StumpProblem, sums: Sums, penalties, l1_ratio: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return node values (P, n_nodes) and raw coefficients (P, 1 + n_raw) for falling penalties.

    The first column of the latter is 0. ``tolerance`` is a share of the response's sum of squares.
    """
    strength = sums.weight.sum() * np.asarray(penalties, dtype=np.float64)
    beta, value = np.empty((2, len(strength), len(sums.weight)))
    gamma = np.empty((len(strength), sums.columns.shape[1]))
    descend(
        problem.stumps,
        sums,
        problem.total_weight(sums),
        strength * l1_ratio,
        strength * (1 - l1_ratio),
        tolerance * sums.gram[0, 0],
        beta,
        value,
        gamma,
    )
    return value, gamma


def largest_slope(problem: StumpProblem) -> float:
    """Return the largest absolute mean of column times centred response."""
    sums, ends = problem.sums, problem.stumps.ends
    inner = np.flatnonzero(problem.tree.left >= 0)
    if not len(inner):
        return 0.0
    weight = problem.total_weight(sums)
    response = problem.total_weight(sums._replace(weight=sums.columns[:, 0]))
    mean = response[0] / weight[0]
    centred = response - mean * weight
    children = np.column_stack([problem.tree.left[inner], problem.tree.right[inner]])
    slopes = [np.abs((ends[inner] * centred[children]).sum(axis=1)).max()]
    if problem.n_raw:
        slopes.append(np.abs(sums.gram[0, 1:] - mean * sums.columns[:, 1:].sum(axis=0)).max())
    return max(slopes) / weight[0]


class Explicit:
    """A linear regression of scikit-learn, fitted to the explicit columns: slow, and any kind.

    Parameters
    ----------
    estimator : estimator
        With ``fit(X, y, sample_weight)``, ``coef_`` and ``intercept_``, as ElasticNetCV or Lasso.
        It is cloned for every tree.
    """

    folds = 1

    def __init__(self, estimator):
        self.estimator = estimator
        self.name = type(estimator).__name__

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Fit one tree."""
        value, gamma = fit_explicit(self.estimator, problem)
        return Coefficients(value, gamma, np.nan)


MODELS = {"elastic_net": ElasticNet, "ridge": Ridge, "ols": OLS}


def as_linear_model(linear_model) -> LinearModel:
    """Turn a name or a model into a model."""
    if isinstance(linear_model, str) and linear_model in MODELS:
        return MODELS[linear_model]()
    if isinstance(linear_model, OLS | Ridge | ElasticNet | Explicit):
        return linear_model
    if hasattr(linear_model, "get_params") and hasattr(linear_model, "fit"):
        return Explicit(linear_model)
    raise ValueError(
        f"linear_model={linear_model!r}; use one of {sorted(MODELS)}, an OLS, Ridge or ElasticNet"
        " of attributions.stump_models, or a linear regression of scikit-learn."
    )
