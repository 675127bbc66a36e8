"""Exact greedy gradient boosting in plain loops, to be read from top to bottom.

    losses -> gain -> the best split of a node -> growing a tree -> boosting -> predicting

Near the raw predictions f of the trees so far, a row's loss is nearly a parabola with slope g and
curvature h. The next tree adds that value v to all rows of a leaf for which the penalised sum

    lambda v^2 / 2  +  sum over the leaf's rows of (g v + h v^2 / 2)  =  G v + (H + lambda) v^2 / 2

is least: v = -G / (H + lambda), and it falls by half of G^2 / (H + lambda). So a split gains

    gain = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)

(Sun 2022, Definition 2; half of it is equation 7 of Chen and Guestrin 2016). Greedy means to take
the cut of largest gain in every node, exact that no cut is left out. Nothing is validated here and
nothing is fast: a node costs a loop over its rows for every feature. The fast engine must grow
these trees to the last bit, ties included; both then search with integers (``fixed_point=True``).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

FLOAT = np.finfo(np.float64)
Bounds = tuple[float, float]  # the least and the largest step of a node


def sigmoid(f: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-f)); exp sees no positive number and cannot overflow."""
    small = np.exp(-np.abs(f))
    return np.where(f >= 0, 1.0, small) / (1.0 + small)


LINK = {  # from a prediction to a raw prediction f
    "half_squared_error": lambda mean: mean,
    "half_logistic": lambda probability: math.log(probability / (1 - probability)),
}
DERIVATIVES = {  # g and h: first and second derivative of the loss at f
    "half_squared_error": lambda y, f: (f - y, np.ones_like(f)),
    "half_logistic": lambda y, f: (sigmoid(f) - y, sigmoid(f) * sigmoid(-f)),
}


@dataclass
class Cut:
    """A way to split a node: left where x <= threshold, or x is missing and ``missing_left``.

    Where x is the number of a level, ``levels`` says which go left; others go where missing goes.
    """

    feature: int
    threshold: float
    missing_left: bool
    missing_join_more: bool  # do they join the present rows of more hessian, the left if equal?
    left: np.ndarray  # G, H and the number of rows on this side
    right: np.ndarray
    levels: dict[float, bool] | None = None
    gain: float = 0.0


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
    categorical_smoothing: float = 0.0  # draws levels of few rows together, see level_cuts
    hessian_scale: float = 1.0  # of the sums, where smoothing is added to them
    monotone: tuple[
        int, ...
    ] = ()  # 1 where predictions must rise with a column, -1 where they must fall
    bounds: Bounds = (-math.inf, math.inf)  # of the steps below a node, see bounds_of_children


def is_allowed(side: np.ndarray, parameters: Parameters) -> bool:
    """Say whether one side of a cut may become a node."""
    _, hessian, n_samples = map(float, side)
    is_heavy = hessian > 0 and hessian >= parameters.min_child_weight
    return is_heavy and n_samples >= max(parameters.min_samples_leaf, 1)


def threshold_between(low: float, high: float) -> float:
    """Return the midpoint, or ``low`` where no float lies between: low <= threshold < high."""
    middle = low / 2 + high / 2
    return float(middle if low <= middle < high else low)


def cuts(feature: int, x: np.ndarray, sums: np.ndarray) -> Iterator[Cut]:
    """Yield the cuts of one feature, from the values and the g, h, 1 of all rows of a node.

    Cuts lie between neighbouring distinct values, with missing rows sent to either side, and
    between all present and all missing rows.
    """
    present, missing = sums[~np.isnan(x)].sum(axis=0), sums[np.isnan(x)].sum(axis=0)
    in_order = np.argsort(x, kind="stable")[: np.sum(~np.isnan(x))]  # nan is sorted last
    left = np.zeros_like(present)
    for i, following in pairwise(in_order):
        left = left + sums[i]
        if x[i] == x[following]:
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

    Levels are put in the order of G / (H + smoothing) and cut wherever this rises. Those of few
    rows say little of themselves: together they have the place of all their rows.
    """
    smoothing = parameters.categorical_smoothing
    level = np.where(np.isnan(x), np.inf, x)
    own = {v: sums[level == v].sum(axis=0) for v in np.unique(level).tolist()}
    few = min(smoothing, sum(s[2] for s in own.values()) / 8)
    rare = [v for v, s in own.items() if s[2] < few]
    common = sum((own[v] for v in rare), np.zeros(3, dtype=object))

    def mean(v: float) -> float:
        g, h, _ = common if v in rare else own[v]
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
    sum_gradient, sum_hessian, _ = map(float, total)
    return sum_gradient * sum_gradient / (sum_hessian + parameters.reg_lambda)


def least_gain(sums: np.ndarray, parameters: Parameters) -> float:
    """Return the gain that a split must exceed.

    Where all residuals are equal no cut gains anything, but its roundings may seem to: they are
    fewer than 16, each at most eps times the largest score that such a cut can have.
    """
    magnitude = float(np.abs(sums[:, 0]).sum())
    weight = float(sums[:, 1].sum()) + parameters.reg_lambda
    if parameters.monotone:  # a step at a bound can be longer than that of the node
        magnitude += weight * abs(step_within(sums.sum(axis=0), parameters))
    rounding = 16 * FLOAT.eps * (magnitude * magnitude / weight)
    return max(parameters.min_split_gain, rounding)


def best_cut(X: np.ndarray, sums: np.ndarray, parameters: Parameters) -> Cut | None:
    """Return the best cut of the rows of a node, or None where the node must stay a leaf."""
    of_features = [best_allowed(k, X, sums, parameters) for k in range(X.shape[1])]
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
) -> Cut | None:
    """Return the preferred cut of one feature among those allowed, or None.

    Cuts lie between values of all rows; ``of`` marks those that score them, all if not given, and
    ``also`` says what else they must fulfil.
    """
    scored = sums if of is None else sums * of[:, np.newaxis]
    found = cuts(feature, X[:, feature], scored)
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


@dataclass
class Node:
    """A node of a tree, as in ``gbt.Ensemble``; ``left`` and ``right`` are positions in a list."""

    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1
    missing_left: bool = False
    sum_gradient: float = 0.0
    sum_hessian: float = 0.0
    n_samples: int = 0
    gain: float = 0.0
    value: float = 0.0
    levels: dict[float, bool] | None = None  # which go left, where a categorical column is split


@dataclass
class Branch:
    """A node while the tree grows."""

    rows: np.ndarray
    depth: int
    cut: Cut | None  # None where it must stay a leaf
    bounds: Bounds  # of its step
    children: tuple["Branch", ...] = ()


def grow(
    X: ArrayLike,
    gradient: ArrayLike,
    hessian: ArrayLike,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> list[Node]:
    """Grow one tree.

    Parameters
    ----------
    X : float64 array of shape (n, p)
        nan is a missing value.
    gradient, hessian : float64 arrays of shape (n,)
        Derivatives of each row's loss.
    sample_weight : array of shape (n,) or None
        What they are multiplied by; None if that is done already, or weights are 1.
    **parameters
        See ``Parameters``.

    Returns
    -------
    list of Node
        In preorder: the root, everything left of it, everything right of it.
    """
    given = Parameters(**parameters)
    X, gradient, hessian = (np.asarray(array, dtype=np.float64) for array in (X, gradient, hessian))
    weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    (g, g_scale), (h, h_scale) = (
        to_fixed_point(x, weight) if given.fixed_point else ((weight * x).tolist(), 1.0)
        for x in (gradient, hessian)
    )
    sums = np.array([g, h, [1] * len(X)], dtype=object).T  # Python's numbers: no overflow
    scaled = replace(  # the same parameters in the units of g and h
        given,
        reg_lambda=given.reg_lambda * h_scale,
        min_child_weight=given.min_child_weight * h_scale,
        min_split_gain=(given.min_split_gain * g_scale) * (g_scale / h_scale),
        hessian_scale=h_scale,
    )

    unit = g_scale / h_scale  # of steps

    def within(bounds: Bounds) -> Parameters:
        return replace(scaled, bounds=(unit * bounds[0], unit * bounds[1]))

    def open_branch(rows: np.ndarray, depth: int, bounds: Bounds) -> Branch:
        may_split = given.max_depth is None or depth < given.max_depth
        cut = best_cut(X[rows], sums[rows], within(bounds)) if may_split else None
        return Branch(rows, depth, cut, bounds)

    branches = [open_branch(np.arange(len(X)), 0, given.bounds)]  # in the order of being opened
    n_leaves = 1
    while given.max_leaves is None or n_leaves < given.max_leaves:
        waiting = [(b, b.cut) for b in branches if b.cut and not b.children]
        if not waiting:
            break
        branch, cut = max(waiting, key=lambda pair: pair[1].gain)  # of equals the first
        is_left = np.array([goes_left(X[i], cut) for i in branch.rows])
        sides = branch.rows[is_left], branch.rows[~is_left]
        below = bounds_of_children(cut, within(branch.bounds))
        branch.children = tuple(
            open_branch(rows, branch.depth + 1, (lowest / unit, highest / unit))
            for rows, (lowest, highest) in zip(sides, below, strict=True)
        )
        branches.extend(branch.children)
        n_leaves += 1

    tree: list[Node] = []
    write(branches[0], tree, weight * gradient, weight * hessian, given)
    return tree


def to_fixed_point(x: np.ndarray, weight: np.ndarray) -> tuple[list[int], float]:
    """Return integers near weight * x * scale, and scale, a power of two: sum|.| is 2^60 to 2^61.

    Integers add up without rounding, in whatever order: only so is a tie of scores an equality.
    Whole weights multiply integers: a row of weight 3 is three rows, in ties too. Above 256, on
    average, sums of numbers so rounded would be less exact than float64's.
    """
    total = math.fsum(abs(weight * x))
    if total == 0.0:
        return [0] * len(x), 1.0
    _, exponent = math.frexp(total)  # total = mantissa * 2^exponent with 1/2 <= mantissa < 1
    scale = math.ldexp(1.0, min(61 - exponent, 1000))  # a float64, whatever x
    is_whole = weight.sum() <= 256 * len(x) and (weight == np.rint(weight)).all()
    factor, real = (weight, x) if is_whole else (np.ones(len(x)), weight * x)
    return [int(w) * int(r) for w, r in zip(factor, np.rint(real * scale), strict=True)], scale


def goes_left(x: np.ndarray, split: Cut | Node) -> bool:
    """Say whether a row takes the left side of a cut, or of a node."""
    value = x[split.feature]
    if math.isnan(value):
        return split.missing_left
    if split.levels is not None:
        return split.levels.get(float(value), split.missing_left)
    return value <= split.threshold


def write(
    branch: Branch,
    tree: list[Node],
    gradient: np.ndarray,
    hessian: np.ndarray,
    parameters: Parameters,
) -> Node:
    """Append a branch to the tree, itself first, and return its node.

    A leaf adds up its rows in their order, a parent its two children.
    """
    node = Node(n_samples=len(branch.rows))
    tree.append(node)
    cut = branch.cut
    if cut is not None and branch.children:
        node.feature, node.levels = cut.feature, cut.levels
        node.threshold = cut.threshold if node.levels is None else 0.0
        node.missing_left = cut.missing_left
        node.left = len(tree)
        left = write(branch.children[0], tree, gradient, hessian, parameters)
        node.right = len(tree)
        right = write(branch.children[1], tree, gradient, hessian, parameters)
        node.sum_gradient = left.sum_gradient + right.sum_gradient
        node.sum_hessian = left.sum_hessian + right.sum_hessian
        scores = [t.sum_gradient * step(t, parameters.reg_lambda) for t in (left, right, node)]
        node.gain = scores[0] + scores[1] - scores[2]
    else:
        for i in branch.rows:
            node.sum_gradient += float(gradient[i])
            node.sum_hessian += float(hessian[i])
    value = -step(node, parameters.reg_lambda)
    node.value = parameters.learning_rate * min(max(value, branch.bounds[0]), branch.bounds[1])
    return node


def step(node: Node, reg_lambda: float) -> float:
    """Return G / (H + lambda), 0 where H + lambda is 0."""
    weight = node.sum_hessian + reg_lambda
    return node.sum_gradient / weight if weight > 0 else 0.0


def boost(
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "half_squared_error",
    n_estimators: int = 100,
    base_score: float | None = None,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> "Model":
    """Fit boosted trees.

    Parameters
    ----------
    X, y : float64 arrays of shapes (n, p) and (n,)
        nan in X is a missing value; labels of the logistic loss are 0 and 1.
    loss : {"half_squared_error", "half_logistic"}
    n_estimators : int
        How many trees.
    base_score : float or None
        The prediction (a mean, a probability) before the first tree; None is the best constant.
    sample_weight : array of shape (n,) or None
        Rows of weight 0 are dropped.
    **parameters
        See ``Parameters``.

    Returns
    -------
    Model
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
    if base_score is None:  # where sum w g = 0: the weighted mean, for both losses
        base_score = float(np.average(y, weights=weight))
    model = Model(LINK[loss](base_score), trees=[])
    raw_prediction = np.full(len(y), model.base_score)
    for _ in range(n_estimators):
        gradient, hessian = DERIVATIVES[loss](y, raw_prediction)
        tree = grow(X, gradient, hessian, weight, **parameters)
        model.trees.append(tree)
        raw_prediction += leaf_values(tree, X)
    return model


def boost_classes(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_classes: int,
    n_estimators: int = 100,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> list["Model"]:
    """Fit K trees a round to classes 0 .. K - 1, and return a model for each class.

    The probabilities are p_k = exp(f_k) / (exp(f_1) + ... + exp(f_K)). All trees of a round are
    grown on the derivatives before it: g = p_k - [y = k], and XGBoost's diagonal h = 2 p (1 - p).
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    shares = np.bincount(y, weight, minlength=n_classes) / weight.sum()
    models = [Model(math.log(share), trees=[]) for share in shares]
    f = np.tile([model.base_score for model in models], (len(y), 1))
    for _ in range(n_estimators):
        p = np.exp(f - f.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        for k, model in enumerate(models):
            gradient, hessian = p[:, k] - (y == k), 2 * p[:, k] * (1 - p[:, k])
            tree = grow(X, gradient, np.maximum(hessian, 1e-16), weight, **parameters)
            model.trees.append(tree)
            f[:, k] += leaf_values(tree, X)
    return models


@dataclass
class Model:
    """The raw prediction before the first tree, and the trees."""

    base_score: float
    trees: list[list[Node]]

    def raw_predict(self, X: np.ndarray) -> np.ndarray:
        """Return the raw prediction of every row of a table."""
        return sum((leaf_values(tree, X) for tree in self.trees), np.full(len(X), self.base_score))


def leaf_values(tree: list[Node], X: np.ndarray) -> np.ndarray:
    """Return the value of the leaf that every row reaches."""
    values = []
    for x in X:
        node = tree[0]
        while node.feature >= 0:
            node = tree[node.left if goes_left(x, node) else node.right]
        values.append(node.value)
    return np.array(values)
