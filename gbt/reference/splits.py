"""How a node finds its best split, in plain loops: the page after ``gbt.reference``.

    gain -> every cut of a feature -> the best cut of a node -> steps that are kept within bounds

A cut sends the rows of a node, with the sums G and H, to two sides and gains

    gain = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)

The page before derives this. G^2 / (H + lambda) is the same for all cuts of a node, so the largest
*score*, the gain without it, is sought. Sums are arrays of four: G, H, the number of rows, and
their weight, by which levels of few rows are recognised. The product finds the same cuts in
``gbt.splitting.greedy`` and, faster, in ``gbt.kernels.cuts.search``.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

FLOAT = np.finfo(np.float64)
Bounds = tuple[float, float]  # the least and the largest step of a node


@dataclass
class Cut:
    """A way to split a node: left where x <= threshold, or x is missing and ``missing_left``.

    Where x is the number of a level, ``levels`` says which go left; others go where missing goes.
    """

    feature: int
    threshold: float
    missing_left: bool
    missing_join_more: bool  # do they join the present rows of more hessian, the left if equal?
    left: np.ndarray  # G, H, number and weight of the rows on this side
    right: np.ndarray
    levels: dict[float, bool] | None = None
    gain: float = 0.0
    # Where others judge the cut:
    claim: float = 0.0  # its gain by the rows that chose it and its feature
    score: float = 0.0  # and by what the feature was chosen


def goes_left(x: np.ndarray, split: Any) -> bool:
    """Say whether a row takes the left side of a cut, or of a node that was split by one."""
    value = x[split.feature]
    if math.isnan(value):
        return split.missing_left
    if split.levels is not None:
        return split.levels.get(float(value), split.missing_left)
    return value <= split.threshold


def score(left: np.ndarray, right: np.ndarray, reg_lambda: float) -> float:
    """Return G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda), alike in left and right.

    Cuts that separate the same rows have the same score to the last bit, if their sums are exact.
    """
    left_g, left_weight = float(left[0]), float(left[1]) + reg_lambda
    right_g, right_weight = float(right[0]), float(right[1]) + reg_lambda
    return (left_g * left_g * right_weight + right_g * right_g * left_weight) / (
        left_weight * right_weight
    )


def preference(cut: Cut, parameters: "Parameters") -> tuple[float, int, float, bool]:
    """Order cuts: largest score; then lowest feature, highest threshold, side of missing rows."""
    ties = -cut.feature, cut.threshold, cut.missing_join_more
    return score_of_cut(cut, parameters), *ties


@dataclass
class Parameters:
    """How a tree grows. None is without limit."""

    learning_rate: float = 0.1
    max_depth: int | None = 6
    max_leaves: int | None = None  # if given, nodes are split in the order of their gains
    min_child_weight: float = 1.0  # least H on either side of a cut
    min_samples_leaf: int = 1  # least number of rows on either side
    reg_lambda: float = 1.0
    min_split_gain: float = 0.0  # a split must gain more than this
    fixed_point: bool = False  # search with exact sums, see to_fixed_point
    categorical: tuple[int, ...] = ()  # the columns of numbers of levels
    categorical_smoothing: float = 0.0  # keeps levels of few rows together, see level_cuts
    hessian_scale: float = 1.0  # factor of hessians, by which smoothing is multiplied, too
    weight_scale: float = 1.0  # factor of weights, by which levels of few rows are recognised
    # 1 where predictions must rise with a column, -1 where they must fall
    monotone: tuple[int, ...] = ()
    bounds: Bounds = (-math.inf, math.inf)  # of the steps below a node, see bounds_of_children
    # Groups of columns that may be on one path; without groups all may.
    interactions: tuple[frozenset[int], ...] = ()
    columns: frozenset[int] | None = None  # on which a node may be split, see may_follow; all

    def scaled(self, g_scale: float, h_scale: float, w_scale: float) -> "Parameters":
        """Return the same parameters in the units of g, h and weights."""
        return replace(
            self,
            reg_lambda=self.reg_lambda * h_scale,
            min_child_weight=self.min_child_weight * h_scale,
            min_split_gain=(self.min_split_gain * g_scale) * (g_scale / h_scale),
            hessian_scale=h_scale,
            weight_scale=w_scale,
        )


def is_allowed(side: np.ndarray, parameters: Parameters) -> bool:
    """Say whether one side of a cut may become a node."""
    _, hessian, n_samples = map(float, side[:3])
    is_heavy = hessian > 0 and hessian >= parameters.min_child_weight
    return is_heavy and n_samples >= max(parameters.min_samples_leaf, 1)


def threshold_between(low: float, high: float) -> float:
    """Return the midpoint, or ``low`` where no float lies between: low <= threshold < high."""
    middle = low / 2 + high / 2
    return float(middle if low <= middle < high else low)


def cuts(
    feature: int, x: np.ndarray, sums: np.ndarray, bins: np.ndarray | None = None
) -> Iterator[Cut]:
    """Yield the cuts of one feature, from the values and the g, h, 1, w of all rows of a node.

    Cuts lie between neighbouring distinct values, with missing rows sent to either side, and
    between all present and all missing rows. Given the ``bins`` of the values, two values of one
    bin stay together.
    """
    present, missing = sums[~np.isnan(x)].sum(axis=0), sums[np.isnan(x)].sum(axis=0)
    in_order = np.argsort(x, kind="stable")[: np.sum(~np.isnan(x))]  # nan is sorted last
    left = np.zeros_like(present)
    for i, following in pairwise(in_order):
        left = left + sums[i]
        if x[i] == x[following] or (bins is not None and bins[i] == bins[following]):
            continue
        right = present - left
        threshold = threshold_between(x[i], x[following])
        more_left = left[1] >= right[1]
        for missing_left in (True, False):
            sides = (left + missing, right) if missing_left else (left, right + missing)
            yield Cut(feature, threshold, missing_left, missing_left == more_left, *sides)
    if np.isnan(x).any():
        yield Cut(feature, float(FLOAT.max), False, True, present, missing)


def level_cuts(
    feature: int, x: np.ndarray, sums: np.ndarray, parameters: Parameters
) -> Iterator[Cut]:
    """Yield the cuts of one categorical feature; missing is a level like the others.

    Levels are put in the order of G / (H + smoothing) and cut wherever this rises. Levels of few
    rows, counted by weight, say little on their own: they stay together, in the place of the sum of
    all their rows.
    """
    smoothing = parameters.categorical_smoothing
    level = np.where(np.isnan(x), np.inf, x)
    own = {v: sums[level == v].sum(axis=0) for v in np.unique(level).tolist()}
    few = min(smoothing * parameters.weight_scale, sum(s[3] for s in own.values()) / 8)
    rare = [v for v, s in own.items() if float(s[3]) < few]  # rounded alike
    common = sum((own[v] for v in rare), np.zeros(4, dtype=object))

    def mean(v: float) -> float:
        g, h, *_ = common if v in rare else own[v]
        weight = float(h) + smoothing * parameters.hessian_scale
        return float(g) / weight if weight > 0 else -math.inf

    means = {v: mean(v) for v in own}
    for highest in sorted(set(means.values()))[:-1]:
        is_left = {v: means[v] <= highest for v in own}
        left, right = (
            np.sum([own[v] for v in own if is_left[v] == side], axis=0) for side in (True, False)
        )
        missing_left = is_left.get(math.inf, left[1] >= right[1])
        yield Cut(feature, sum(is_left.values()), missing_left, True, left, right, is_left)


def score_of_node(total: np.ndarray, parameters: Parameters) -> float:
    """Return G^2 / (H + lambda) of a node that is not split."""
    if parameters.monotone:
        return score_of_side(total, parameters)
    sum_gradient, sum_hessian = map(float, total[:2])
    return sum_gradient * sum_gradient / (sum_hessian + parameters.reg_lambda)


def least_gain(sums: np.ndarray, parameters: Parameters) -> float:
    """Return the gain that a split must exceed.

    If all residuals are equal no cut gains anything, but rounding may look like a gain: there are
    fewer than 16 roundings, each at most eps times the largest score that such a cut can have.
    """
    magnitude = float(np.abs(sums[:, 0]).sum())
    weight = float(sums[:, 1].sum()) + parameters.reg_lambda
    if parameters.monotone:  # a step at a bound can be longer than that of the node
        magnitude += weight * abs(step_within(sums.sum(axis=0), parameters))
    rounding = 16 * FLOAT.eps * (magnitude * magnitude / weight)
    return max(parameters.min_split_gain, rounding)


def may_follow(
    path: frozenset[int], n_columns: int, groups: tuple[frozenset[int], ...]
) -> frozenset[int]:
    """Return the columns on which a node may be split, below splits on the columns of its path.

    They are those of the groups that hold all columns of the path. Columns that are in no group
    make up one group more.
    """
    everything = frozenset(range(n_columns))
    groups = (*groups, everything.difference(*groups))
    return frozenset().union(*(group for group in groups if path <= group))


def open_columns(X: np.ndarray, parameters: Parameters) -> list[int]:
    """Return the columns on which a node may be split, ascending."""
    return [k for k in range(X.shape[1]) if parameters.columns is None or k in parameters.columns]


def best_cut(X: np.ndarray, sums: np.ndarray, parameters: Parameters) -> Cut | None:
    """Return the best cut of the rows of a node, or None where the node must stay a leaf."""
    of_features = [best_allowed(k, X, sums, parameters) for k in open_columns(X, parameters)]
    allowed = [cut for cut in of_features if cut is not None]
    if not allowed:
        return None
    cut = max(allowed, key=lambda cut: preference(cut, parameters))
    cut.gain = score_of_cut(cut, parameters) - score_of_node(sums.sum(axis=0), parameters)
    return cut if cut.gain > least_gain(sums, parameters) else None


def best_allowed(
    feature: int,
    X: np.ndarray,
    sums: np.ndarray,
    parameters: Parameters,
    of: np.ndarray | None = None,
    also: Callable[[Cut], bool] = lambda cut: True,
    bins: np.ndarray | None = None,
) -> Cut | None:
    """Return the preferred cut of one feature among those allowed, or None.

    Cuts lie between values of all rows; ``of`` marks those that score them, all if not given, and
    ``also`` says what else they must fulfil. With ``bins``, of the shape of X, see `cuts`.
    """
    scored = sums if of is None else sums * of[:, np.newaxis]
    found = cuts(feature, X[:, feature], scored, None if bins is None else bins[:, feature])
    if feature in parameters.categorical:
        found = level_cuts(feature, X[:, feature], scored, parameters)
    allowed = [
        cut
        for cut in found
        if is_allowed(cut.left, parameters)
        and is_allowed(cut.right, parameters)
        and is_monotone(cut, parameters)
        and also(cut)
    ]
    return max(allowed, key=lambda cut: preference(cut, parameters), default=None)


# ---------------------------------------------------- predictions that must rise, or fall, with x


def step_within(side: np.ndarray, parameters: Parameters) -> float:
    """Return -G / (H + lambda), what the side adds to its rows, or the bound that it is beyond."""
    step = -float(side[0]) / (float(side[1]) + parameters.reg_lambda)
    lowest, highest = parameters.bounds
    return min(max(step, lowest), highest)


def score_of_side(side: np.ndarray, parameters: Parameters) -> float:
    """Return twice what the loss falls by: -(2 G v + (H + lambda) v^2) with v within the bounds.

    Where no bound holds it back v is -G / (H + lambda), and this is G^2 / (H + lambda).
    """
    v = step_within(side, parameters)
    return -(2.0 * float(side[0]) + (float(side[1]) + parameters.reg_lambda) * v) * v


def score_of_cut(cut: Cut, parameters: Parameters) -> float:
    """Return the score of a cut whose sides take the steps that they may take."""
    if parameters.monotone:
        return score_of_side(cut.left, parameters) + score_of_side(cut.right, parameters)
    return score(cut.left, cut.right, parameters.reg_lambda)


def is_monotone(cut: Cut, parameters: Parameters) -> bool:
    """Say whether the steps of the two sides are in the order that the feature must keep.

    A cut between all present and all missing rows puts no values in order.
    """
    direction = parameters.monotone[cut.feature] if parameters.monotone else 0
    if direction == 0 or cut.threshold == FLOAT.max:
        return True
    return direction * step_within(cut.left, parameters) <= direction * step_within(
        cut.right, parameters
    )


def bounds_of_children(cut: Cut, parameters: Parameters) -> tuple[Bounds, Bounds]:
    """Return the bounds of both children: they may meet in the middle of their steps.

    So whatever grows below them, no row on the lower side gets more than one on the upper side.
    """
    direction = parameters.monotone[cut.feature] if parameters.monotone else 0
    if direction == 0:
        return parameters.bounds, parameters.bounds
    left, right = (step_within(side, parameters) for side in (cut.left, cut.right))
    (lowest, highest), middle = parameters.bounds, (left + right) / 2
    below, above = (lowest, middle), (middle, highest)
    is_left_below = left < right or (left == right and direction > 0)
    return (below, above) if is_left_below else (above, below)
