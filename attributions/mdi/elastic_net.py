r"""The elastic net on a tree's stumps and raw columns, its penalty chosen by folds.

    minimise   1/2 sum_i w_i (y_i - eta_i)^2
               + penalty sum_i w_i (l1_ratio |beta, gamma|_1 + (1 - l1_ratio)/2 |beta, gamma|_2^2)

by coordinate descent, a sweep over all stumps being one pass over the tree
(``attributions.kernels.elastic_net``). The penalty is chosen as scikit-learn's ``ElasticNetCV``
does it: from the same sequence, by the same folds (parts of the table in row order) and the same
mean of the folds' mean squared errors.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from attributions.kernels.elastic_net import Fits, hold_out_folds, room_for
from attributions.kernels.stumps import StumpSums
from attributions.mdi.least_squares import Coefficients, as_folds, search
from attributions.mdi.stump_problem import StumpProblem

FINAL_TOLERANCE = 1e-18  # of the response's sum of squares; see `elastic_net_path`
SEARCH_TOLERANCE = 1e-7
WORTH_A_LOOK = 1.02  # an l1_ratio is not refined if its least coarse error is this much larger


class ElasticNet:
    """Elastic net on stumps and raw columns, its penalty chosen as ``ElasticNetCV`` does.

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
        self.l1_ratios = as_l1_ratios(l1_ratio)
        check_single_ratio(penalty, self.l1_ratios)
        if penalty is not None and not 0 <= penalty < np.inf:
            raise ValueError(
                f"penalty={penalty!r}; use a number of at least 0, or None to choose one."
            )
        if isinstance(folds, str):
            raise ValueError(f"folds={folds!r}; the elastic net needs a number of folds.")
        self.penalty, self.n_penalties = penalty, n_penalties
        self.falling = np.geomspace(1.0, 1e-3, n_penalties)
        self.folds: int | np.ndarray = as_folds(penalty, folds)

    def fit(self, problem: StumpProblem) -> Coefficients:
        """Choose penalty and ratio for one tree and fit it."""
        sums = problem.sums
        penalty, l1_ratio = self.penalty, float(self.l1_ratios[0])
        if penalty is None:
            penalty, l1_ratio = self._choose(problem)
        smallest = FINAL_TOLERANCE * sums.gram[0, 0]
        fits = elastic_net_path(problem, sums, [penalty], l1_ratio, smallest)
        return Coefficients(fits.value[0], fits.gamma[0, 1:], float(penalty))

    def _choose(self, problem: StumpProblem) -> tuple[float, float]:
        """Return penalty and ratio with the least mean of the folds' mean squared errors.

        Where errors have several minima, the error of the choice may be slightly above the least.
        """
        largest = largest_slope(problem)
        least, penalty, l1_ratio = np.inf, 0.0, 0.0
        for ratio in self.l1_ratios:
            top = max(largest / ratio, np.finfo(np.float64).resolution)
            paths = _HeldOutPaths(problem, float(ratio))
            loss, found = search(paths.losses, top * self.falling, WORTH_A_LOOK * least)
            if loss < least:
                least, penalty, l1_ratio = loss, found, float(ratio)
        return penalty, l1_ratio


def as_l1_ratios(l1_ratio: float | Sequence[float]) -> np.ndarray:
    """Return the ratios as an array; refuse any that is not above 0 and at most 1."""
    ratios = np.atleast_1d(np.asarray(l1_ratio, dtype=np.float64))
    if not ((ratios > 0) & (ratios <= 1)).all():
        raise ValueError(f"l1_ratio={l1_ratio!r}; it must lie above 0 and not above 1.")
    return ratios


def check_single_ratio(penalty: float | None, l1_ratios: np.ndarray) -> None:
    """Raise ValueError where a penalty is fixed, and a ratio is to be chosen."""
    if penalty is not None and len(l1_ratios) > 1:
        raise ValueError(
            f"penalty={penalty!r} needs a single l1_ratio, and there are {len(l1_ratios)}:"
            f" {l1_ratios.tolist()}. Give one l1_ratio, or penalty=None to choose both."
        )


class _HeldOutPaths:
    """Elastic nets of one ratio without each fold; each starts from that of the penalty before."""

    def __init__(self, problem: StumpProblem, l1_ratio: float):
        self.problem, self.l1_ratio = problem, l1_ratio
        self.ends: dict[float, Fits] = {}

    def losses(self, penalties: np.ndarray) -> np.ndarray:
        """Return the mean over folds of the mean squared error, for falling penalties."""
        problem, without, held_out = self.problem, self.problem.without, self.problem.folds
        above = [penalty for penalty in self.ends if penalty > penalties[0]]
        begin = self.ends[min(above)] if above else _empty_fits(problem, problem.n_folds)
        found = _empty_fits(problem, len(penalties), problem.n_folds)
        strength = without.weight[:, :1] * penalties
        l1, l2 = strength * self.l1_ratio, strength * (1 - self.l1_ratio)
        tolerance, losses = SEARCH_TOLERANCE * without.gram[:, 0, 0], np.empty(strength.shape)
        room = room_for(problem.stumps, 1 + problem.n_raw)
        hold_out_folds(
            problem.stumps, without, held_out, l1, l2, tolerance, begin, room, found, losses
        )
        for penalty, *end in zip(penalties, *found, strict=True):
            self.ends[float(penalty)] = Fits(*end)
        total = held_out.weight[:, :1]  # a fold whose rows all have the weight 0 does not count
        means = np.divide(losses, total, out=np.zeros(losses.shape), where=total > 0)
        mean: np.ndarray = means.sum(axis=0) / problem.n_folds
        return mean


def _empty_fits(problem: StumpProblem, *shape: int) -> Fits:
    """Return memory for fits, with all coefficients 0."""
    n_nodes, n_columns = problem.tree.n_nodes, 1 + problem.n_raw
    return Fits(
        np.zeros((*shape, n_nodes)), np.zeros((*shape, n_nodes)), np.zeros((*shape, n_columns))
    )


def elastic_net_path(
    problem: StumpProblem,
    sums: StumpSums,
    penalties: Sequence[float] | np.ndarray,
    l1_ratio: float,
    smallest: float,
    begin: Fits | None = None,
) -> Fits:
    """Return coefficients (P, n_nodes), node values (P, n_nodes), raw coefficients (P, 1 + n_raw).

    The first column of the raw coefficients is 0. Penalties fall, and each fit starts from the one
    before, the first from ``begin``. A fit ends when no coefficient changes the sum of squares by
    more than ``smallest``.
    """
    strength = sums.weight[0] * np.asarray(penalties, dtype=np.float64)
    found = _empty_fits(problem, len(strength), 1)
    l1, l2 = strength * l1_ratio, strength * (1 - l1_ratio)
    # All rows are a single part, without and within the fold: one kernel less to compile.
    whole, first = StumpSums(*_alone(sums)), Fits(*_alone(begin or _empty_fits(problem)))
    room, tolerance = room_for(problem.stumps, 1 + problem.n_raw), np.array([smallest])
    losses = np.empty((1, len(strength)))
    hold_out_folds(
        problem.stumps, whole, whole, *_alone((l1, l2)), tolerance, first, room, found, losses
    )
    return Fits(*(of_fits[:, 0] for of_fits in found))


def _alone(arrays: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield arrays as those of the only one of several."""
    return (array[np.newaxis] for array in arrays)


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
    slopes = [np.abs((ends[inner] * centred[children]).sum(axis=1)).max()]
    if problem.n_raw:
        slopes.append(np.abs(sums.gram[0, 1:] - mean * columns[0, 1:]).max())
    return float(max(slopes) / weight[0])
