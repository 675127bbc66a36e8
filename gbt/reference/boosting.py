"""Exact greedy gradient boosting in plain loops, to be read from top to bottom: start here.

    losses -> growing a tree -> boosting -> predicting

Near the raw predictions f of the trees so far, a row's loss is nearly a parabola with slope g and
curvature h. The next tree adds that value v to all rows of a leaf for which the penalised sum

    lambda v^2 / 2  +  sum over the leaf's rows of (g v + h v^2 / 2)  =  G v + (H + lambda) v^2 / 2

is least: v = -G / (H + lambda), and it falls by half of G^2 / (H + lambda). So a split gains

    gain = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)

(Sun 2022, Definition 2; half of it is equation 7 of Chen and Guestrin 2016). Greedy means to take
the cut of largest gain in every node, exact that no cut is left out. A tree asks `best_cut` for
this cut, which is the second page, ``gbt.reference.splits``. The third page,
``gbt.reference.policies``, has two other ways to choose it.

With ``max_bins`` cuts do not lie between any two values. The page has no rule for this but to put
columns into bins first, ``X = np.column_stack([bins_of(x, max_bins) for x in X.T])``
(``gbt.reference.sets``).

Nothing is validated here and nothing is fast: a node costs a loop over its rows for every feature.
Given the same g and h, the fast engine must grow these trees to the last bit, ties included; both
then search with integers (``fixed_point=True``).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbt.reference.splits import (
    Bounds,
    Cut,
    Parameters,
    best_cut,
    bounds_of_children,
    goes_left,
    may_follow,
)


def sigmoid(f: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-f)), with exp of negative numbers only, which cannot overflow."""
    small = np.exp(-np.abs(f))
    return np.where(f >= 0, 1.0, small) / (1.0 + small)


LINK = {  # from a prediction to a raw prediction f
    "half_squared_error": lambda mean: mean,
    "half_logistic": lambda probability: math.log(probability / (1 - probability)),
}
DERIVATIVES = {  # g and h: first and second derivative of the loss at f
    "half_squared_error": lambda y, f: (f - y, np.ones_like(f)),
    "half_logistic": lambda y, f: (  # p - y = (1 - y) p - y (1 - p): without digits lost near 1
        (1 - y) * sigmoid(f) - y * sigmoid(-f),
        sigmoid(f) * sigmoid(-f),
    ),
}


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

    rows: Any  # their numbers; where rows lie in shares, those of every share
    depth: int
    cut: Cut | None  # None where it must stay a leaf
    bounds: Bounds  # of its step
    path: frozenset[int]  # the columns above it
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
        Factors of both; None if these are multiplied already, or weights are 1.
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
    (g, g_scale), (h, h_scale), (w, w_scale) = (
        to_fixed_point(x, weight) if given.fixed_point else ((weight * x).tolist(), 1.0)
        for x in (gradient, hessian, np.ones(len(X)))
    )
    sums = np.array([g, h, [1] * len(X), w], dtype=object).T  # Python's numbers: no overflow
    scaled = given.scaled(g_scale, h_scale, w_scale)
    unit = g_scale / h_scale  # of steps

    def within(bounds: Bounds, path: frozenset[int]) -> Parameters:
        columns = may_follow(path, X.shape[1], given.interactions)
        return replace(scaled, bounds=(unit * bounds[0], unit * bounds[1]), columns=columns)

    def open_branch(rows: np.ndarray, depth: int, bounds: Bounds, path: frozenset[int]) -> Branch:
        may_split = given.max_depth is None or depth < given.max_depth
        cut = best_cut(X[rows], sums[rows], within(bounds, path)) if may_split else None
        return Branch(rows, depth, cut, bounds, path)

    # In the order of being opened.
    branches = [open_branch(np.arange(len(X)), 0, given.bounds, frozenset())]
    n_leaves = 1
    while given.max_leaves is None or n_leaves < given.max_leaves:
        waiting = [(b, b.cut) for b in branches if b.cut and not b.children]
        if not waiting:
            break
        branch, cut = max(waiting, key=lambda pair: pair[1].gain)  # of equals the first
        is_left = np.array([goes_left(X[i], cut) for i in branch.rows])
        sides = branch.rows[is_left], branch.rows[~is_left]
        below = bounds_of_children(cut, within(branch.bounds, branch.path))
        path = branch.path | {cut.feature}
        branch.children = tuple(
            open_branch(rows, branch.depth + 1, (lowest / unit, highest / unit), path)
            for rows, (lowest, highest) in zip(sides, below, strict=True)
        )
        branches.extend(branch.children)
        n_leaves += 1

    def leaf_sums(rows: np.ndarray) -> tuple[int, float, float]:
        g, h = weight[rows] * gradient[rows], weight[rows] * hessian[rows]
        return len(rows), math.fsum(g), math.fsum(h)

    tree: list[Node] = []
    write(branches[0], tree, leaf_sums, given)
    return tree


def to_fixed_point(x: np.ndarray, weight: np.ndarray) -> tuple[list[int], float]:
    """Return integers near weight * x * scale, and scale, a power of two: sum|.| is 2^60 to 2^61.

    Integers add up without rounding, in whatever order: only so is a tie of scores an equality.
    Whole weights multiply integers: a row of weight 3 is three rows, in ties too. Above 256, on
    average, sums of numbers so rounded would be less exact than float64's.
    """
    scale = scale_for(math.fsum(abs(weight * x)))
    is_whole = weight.sum() <= 256 * len(x) and (weight == np.rint(weight)).all()
    return integers(x, weight, scale, is_whole), scale


def scale_for(total: float) -> float:
    """Return the power of two that brings a sum to between 2^60 and 2^61."""
    _, exponent = math.frexp(total)  # total = mantissa * 2^exponent with 1/2 <= mantissa < 1
    return math.ldexp(1.0, min(61 - exponent, 1000)) if total > 0 else 1.0  # a float64, whatever x


def integers(x: np.ndarray, weight: np.ndarray, scale: float, is_whole: bool) -> list[int]:
    """Return weight * x * scale in whole numbers, of which whole weights are factors."""
    factor, real = (weight, x) if is_whole else (np.ones(len(x)), weight * x)
    return [int(w) * int(r) for w, r in zip(factor, np.rint(real * scale), strict=True)]


def write(branch: Branch, tree: list[Node], leaf_sums: Callable, parameters: Parameters) -> Node:
    """Append a branch to the tree, itself first, and return its node.

    A leaf adds up its rows, without rounding in between, so that their order does not matter:
    ``leaf_sums`` returns their number, G and H. A parent adds up its two children.
    """
    node = Node()
    tree.append(node)
    cut = branch.cut
    if cut is not None and branch.children:
        node.feature, node.levels = cut.feature, cut.levels
        node.threshold = cut.threshold if node.levels is None else 0.0
        node.missing_left = cut.missing_left
        node.left = len(tree)
        left = write(branch.children[0], tree, leaf_sums, parameters)
        node.right = len(tree)
        right = write(branch.children[1], tree, leaf_sums, parameters)
        node.n_samples = left.n_samples + right.n_samples
        node.sum_gradient = left.sum_gradient + right.sum_gradient
        node.sum_hessian = left.sum_hessian + right.sum_hessian
        scores = [-t.sum_gradient * step(t, parameters.reg_lambda) for t in (left, right, node)]
        node.gain = scores[0] + scores[1] - scores[2]
    else:
        node.n_samples, node.sum_gradient, node.sum_hessian = leaf_sums(branch.rows)
    lowest, highest = branch.bounds
    node.value = parameters.learning_rate * min(
        max(step(node, parameters.reg_lambda), lowest), highest
    )
    return node


def step(node: Node, reg_lambda: float) -> float:
    """Return -G / (H + lambda), or 0 if H + lambda is 0."""
    weight = node.sum_hessian + reg_lambda
    return -node.sum_gradient / weight if weight > 0 else 0.0


def boost(
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: str = "half_squared_error",
    n_estimators: int = 100,
    base_score: float | None = None,
    sample_weight: ArrayLike | None = None,
    init_score: ArrayLike | None = None,
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
    init_score : array of shape (n,) or None
        A raw prediction of each row from which boosting starts; base_score is then 0.
    **parameters
        See ``Parameters``.

    Returns
    -------
    Model
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    is_seen = weight > 0
    X, y, weight = X[is_seen], y[is_seen], weight[is_seen]
    if init_score is None:
        if base_score is None:  # where sum w g = 0: the weighted mean, for both losses
            base_score = math.fsum(weight * y) / math.fsum(weight)
        model = Model(LINK[loss](base_score), trees=[])
        raw_prediction = np.full(len(y), model.base_score)
    else:
        model = Model(0.0, trees=[])
        raw_prediction = np.array(init_score, dtype=np.float64)[is_seen]
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
    shares = [math.fsum(weight[y == k]) / math.fsum(weight) for k in range(n_classes)]
    models = [Model(start, trees=[]) for start in np.log(shares).tolist()]
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
    """The raw prediction before the first tree, 0 where each row has its own, and the trees."""

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
