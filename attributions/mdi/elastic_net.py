r"""The elastic net on a tree's stumps and raw columns, its penalty chosen by folds.

    minimise   1/2 sum_i w_i (y_i - eta_i)^2
               + penalty sum_i w_i (l1_ratio |beta, gamma|_1 + (1 - l1_ratio)/2 |beta, gamma|_2^2)

by coordinate descent, a sweep over all stumps being one pass over the tree
(``attributions.kernels.elastic_net``). The penalty is chosen as scikit-learn's ``ElasticNetCV``
does it: from the same sequence, by the same folds (parts of the table in row order) and the same
mean of the folds' mean squared errors.
"""

from collections.abc import Sequence

import numpy as np

from attributions.kernels.elastic_net import Fits, hold_out_folds, room_for
from attributions.kernels.stumps import StumpSums
from attributions.mdi.least_squares import Coefficients, as_folds, check_penalty, search
from attributions.mdi.stump_problem import StumpProblem

FINAL_TOLERANCE = 1e-18  # of the response's sum of squares; see `fit_elastic_net`
SEARCH_TOLERANCE = 1e-7
WORTH_A_LOOK = 1.02  # an l1_ratio is not refined if its least coarse error is this much larger


class ElasticNet:
    """Elastic net on stumps and raw columns.

    Parameters
    ----------
    penalty : float, optional
        As ``alpha`` of scikit-learn's ElasticNet. None chooses for every tree, by folds, from
        ``n_penalties`` between the least that makes all coefficients 0 and a thousandth of it.
    l1_ratio : float or sequence of floats, above 0 and at most 1
        Share of the absolute values in the penalty; the best of several is chosen.
    folds : int or array of shape (n,)
        Parts of the table in row order, or a fold number a row.
    n_penalties : int
    """

    name = "elastic_net"
    is_for_labels = False

    def __init__(
        self,
        penalty: float | None = None,
        l1_ratio: float | Sequence[float] = (0.1, 0.5, 0.99),
        folds: int | np.ndarray = 3,
        n_penalties: int = 100,
    ):
        ratios = self.l1_ratios = np.atleast_1d(np.asarray(l1_ratio, dtype=np.float64))
        if not ((ratios > 0) & (ratios <= 1)).all():
            raise ValueError(f"l1_ratio={l1_ratio!r}; it must lie above 0 and not above 1.")
        if penalty is not None and len(ratios) > 1:
            raise ValueError(
                f"penalty={penalty!r} needs a single l1_ratio, and there are {len(ratios)}:"
                f" {ratios.tolist()}. Give one l1_ratio, or penalty=None to choose both."
            )
        check_penalty(penalty, may_be_0=not self.is_for_labels)
        if isinstance(folds, str):
            raise ValueError(f"folds={folds!r}; the elastic net needs a number of folds.")
        self.penalty, self.n_penalties = penalty, n_penalties
        self.folds: int | np.ndarray = as_folds(penalty, folds)

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose penalty and ratio for one tree and fit it."""
        penalty, l1_ratio = self.penalty, float(self.l1_ratios[0])
        if penalty is None:
            penalty, l1_ratio = self._choose(problem)
        return self._fitted(problem, penalty, l1_ratio)

    def _fitted(self, problem: StumpProblem, penalty: float, l1_ratio: float) -> Coefficients:
        smallest = FINAL_TOLERANCE * problem.sums.gram[0, 0]
        found = fit_elastic_net(problem, penalty, l1_ratio, smallest, no_fits(problem))
        return Coefficients(found.value, found.gamma[1:], float(penalty))

    def _choose(self, problem: StumpProblem) -> tuple[float, float]:
        """Return penalty and ratio with the least mean of the folds' mean squared errors.

        Where errors have several minima, the error of the choice may be slightly above the least.
        """
        largest, falling = largest_slope(problem), np.geomspace(1.0, 1e-3, self.n_penalties)
        least, penalty, l1_ratio = np.inf, 0.0, 0.0
        for ratio in self.l1_ratios:
            top = max(largest / ratio, np.finfo(np.float64).resolution)
            paths = _HeldOutPaths(problem, float(ratio))
            loss, found = search(paths.losses, top * falling, WORTH_A_LOOK * least)
            if loss < least:
                least, penalty, l1_ratio = loss, found, float(ratio)
        return penalty, l1_ratio


class _HeldOutPaths:
    """Elastic nets of one ratio without each fold; each starts from that of the penalty before."""

    def __init__(self, problem: StumpProblem, l1_ratio: float):
        self.problem, self.l1_ratio = problem, l1_ratio
        self.ends: dict[float, Fits] = {}

    def losses(self, penalties: np.ndarray) -> np.ndarray:
        """Return the mean over folds of the mean squared error, for falling penalties."""
        problem, without, held_out = self.problem, self.problem.without, self.problem.folds
        above = [penalty for penalty in self.ends if penalty > penalties[0]]
        begin = self.ends[min(above)] if above else no_fits(problem, problem.n_folds)
        tolerance = SEARCH_TOLERANCE * without.gram[:, 0, 0]
        found, losses = _descend(
            problem, without, held_out, penalties, self.l1_ratio, tolerance, begin
        )
        for penalty, *end in zip(penalties, *found, strict=True):
            self.ends[float(penalty)] = Fits(*end)
        total = held_out.weight[:, :1]  # a fold whose rows all have the weight 0 does not count
        means = np.divide(losses, total, out=np.zeros(losses.shape), where=total > 0)
        mean: np.ndarray = means.sum(axis=0) / problem.n_folds
        return mean


def no_fits(problem: StumpProblem, *shape: int) -> Fits:
    """Return memory for fits, with all coefficients 0."""
    n_nodes, n_columns = problem.tree.n_nodes, 1 + problem.n_raw
    return Fits(*(np.zeros((*shape, n)) for n in (n_nodes, n_nodes, n_columns)))


def fit_elastic_net(
    problem: StumpProblem, penalty: float, l1_ratio: float, smallest: float, begin: Fits
) -> Fits:
    """Return coefficients, node values and raw coefficients, the first of which is 0.

    The fit starts from ``begin``. It ends when no coefficient changes the sum of squares by more
    than ``smallest``.
    """
    # All rows are a single part, without and within the fold: one kernel less to compile.
    whole = StumpSums(*(array[np.newaxis] for array in problem.sums))
    first = Fits(*(array[np.newaxis] for array in begin))
    tolerance = np.array([smallest])
    found, _ = _descend(problem, whole, whole, np.array([penalty]), l1_ratio, tolerance, first)
    return Fits(*(array[0, 0] for array in found))


def _descend(
    problem: StumpProblem,
    without: StumpSums,
    held_out: StumpSums,
    penalties: np.ndarray,
    l1_ratio: float,
    tolerance: np.ndarray,
    begin: Fits,
) -> tuple[Fits, np.ndarray]:
    """Return P fits without each of T folds, and their losses in the folds, (T, P)."""
    strength = without.weight[:, :1] * penalties
    found, losses = no_fits(problem, *strength.T.shape), np.empty(strength.shape)
    l1, l2 = strength * l1_ratio, strength * (1 - l1_ratio)
    room = room_for(problem.stumps, 1 + problem.n_raw)
    hold_out_folds(problem.stumps, without, held_out, l1, l2, tolerance, begin, room, found, losses)
    return found, losses


def largest_slope(problem: StumpProblem) -> float:
    """Return the largest absolute mean of column times centred response."""
    sums, ends = problem.sums, problem.stumps.ends
    inner = np.flatnonzero(problem.tree.left >= 0)
    if not len(inner):
        return 0.0
    weight, columns = sums.weight, sums.columns
    mean = columns[0, 0] / weight[0]
    centred = columns[:, 0] - mean * weight
    children = np.column_stack([problem.tree.left[inner], problem.tree.right[inner]])
    of_stumps = np.abs((ends[inner] * centred[children]).sum(axis=1)).max()
    of_raw = np.abs(sums.gram[0, 1:] - mean * columns[0, 1:]).max(initial=0.0)
    return float(max(of_stumps, of_raw) / weight[0])
