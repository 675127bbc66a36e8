"""Boosting where nobody has all rows, in plain loops: the page for tables that lie in parts.

    who leads     scales     cuts, by the sums of all    values of leaves
    shares        |  ^       |  ^                        |  ^
                  v  |       v  |                        v  |
               sum of |g|    sums of every value         sums G and H

A share holds some of the rows and answers questions about them. Whoever leads adds up the answers
and decides, and the page shows why the cuts between shares cannot be seen in a model:

* Which split is best follows from sums of g, h and 1 over the rows of a node by value. They are
  integers (``gbt.reference.boosting.to_fixed_point``), and those have no order.
* A threshold lies between two neighbouring values of the node, wherever these lie. Levels of a
  categorical column are put in order by their sums; all shares number them by one dictionary.
* What a tree stores are sums rounded once, from sums that are exact.

So the trees are those of ``gbt.reference.boosting`` on the rows put together, to the last bit. Here
every share tells the sums of all its values, which is as much as the table. The product
(``gbt.training.distributed``) asks for sums of bins first, then only for what may still be best.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbt.reference.boosting import (
    DERIVATIVES,
    LINK,
    Branch,
    Model,
    Node,
    integers,
    leaf_values,
    scale_for,
    write,
)
from gbt.reference.splits import (
    Cut,
    Parameters,
    best_allowed,
    goes_left,
    least_gain,
    preference,
    score_of_cut,
    score_of_node,
)

Rows = np.ndarray  # numbers of rows of a share


def exact(x: np.ndarray) -> Fraction:
    """Return the sum without any rounding."""
    return sum(map(Fraction, x.tolist()), Fraction(0))


@dataclass
class Share:
    """Some rows of a table, and what is known of them."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    raw_prediction: np.ndarray

    def start_tree(self, loss: str) -> tuple[Fraction, Fraction, bool]:
        """Compute g and h; return the sums of |w g| and |w h|, and whether weights are whole."""
        self.gradient, self.hessian = DERIVATIVES[loss](self.y, self.raw_prediction)
        of_g, of_h = (exact(abs(self.weight * x)) for x in (self.gradient, self.hessian))
        return of_g, of_h, bool((self.weight == np.rint(self.weight)).all())

    def quantise(self, scales: tuple[float, float, float], is_whole: bool) -> None:
        """Turn g, h and weights into integers, beside a 1 for every row."""
        ones = np.ones(len(self.y))
        g, h, w = (
            integers(x, self.weight, scale, is_whole)
            for x, scale in zip((self.gradient, self.hessian, ones), scales, strict=True)
        )
        self.sums = np.array([g, h, [1] * len(self.y), w], dtype=object).T.reshape(-1, 4)

    def sums_by_value(self, rows: Rows, k: int) -> dict[float, np.ndarray]:
        """Return the sums of g, h, 1 and w for every value that a column has in some rows."""
        found: dict[float, np.ndarray] = {}
        for i in rows:
            value = float(self.X[i, k])
            value = math.inf if math.isnan(value) else value + 0.0  # inf stands for missing
            found[value] = found.get(value, 0) + self.sums[i]
        return found

    def magnitude(self, rows: Rows) -> int:
        """Return the sum of |g|."""
        return sum(abs(g) for g in self.sums[rows, 0])

    def divide(self, rows: Rows, cut: Cut) -> tuple[Rows, Rows]:
        """Return the rows that go left, and the others."""
        is_left = np.array([goes_left(self.X[i], cut) for i in rows], dtype=bool)
        return rows[is_left], rows[~is_left]

    def leaf_sums(self, rows: Rows) -> tuple[Fraction, Fraction]:
        """Return the sums of w g and w h, exactly."""
        weight = self.weight[rows]
        return exact(weight * self.gradient[rows]), exact(weight * self.hessian[rows])


def best_cut(shares: list[Share], rows: Sequence[Rows], parameters: Parameters) -> Cut | None:
    """Return the best cut of a node, of which every share holds some rows, or None."""
    allowed = []
    for k in range(shares[0].X.shape[1]):
        of_value: dict[float, np.ndarray] = {}
        for share, own in zip(shares, rows, strict=True):
            for value, sums in share.sums_by_value(own, k).items():
                of_value[value] = of_value.get(value, 0) + sums
        # Every value is looked at as a row that has the sums of all rows with it.
        X = np.full((len(of_value), k + 1), np.nan)
        X[:, k] = [np.nan if value == math.inf else value for value in of_value]
        of_values = np.array(list(of_value.values()), dtype=object).reshape(-1, 4)
        cut = best_allowed(k, X, of_values, parameters)
        allowed += [] if cut is None else [cut]
    if not allowed:
        return None
    cut = max(allowed, key=lambda found: preference(found, parameters))
    total = of_values.sum(axis=0)
    cut.gain = score_of_cut(cut, parameters) - score_of_node(total, parameters)
    magnitude = sum(share.magnitude(own) for share, own in zip(shares, rows, strict=True))
    least = least_gain(np.array([[magnitude, *total[1:]]], dtype=object), parameters)
    return cut if cut.gain > least else None


def grow_node(
    shares: list[Share], rows: Sequence[Rows], depth: int, parameters: Parameters
) -> Branch:
    """Return a node of a tree, and all below it."""
    may_split = parameters.max_depth is None or depth < parameters.max_depth
    cut = best_cut(shares, rows, parameters) if may_split else None
    branch = Branch(rows, depth, cut, parameters.bounds, frozenset())
    if cut is not None:
        sides = [share.divide(own, cut) for share, own in zip(shares, rows, strict=True)]
        left, right = zip(*sides, strict=True)
        below = depth + 1, parameters
        branch.children = grow_node(shares, left, *below), grow_node(shares, right, *below)
    return branch


def leaf_sums(shares: list[Share], rows: Sequence[Rows]) -> tuple[int, float, float]:
    """Return the number of rows of a leaf, G and H, which are rounded here, once."""
    sums = [share.leaf_sums(own) for share, own in zip(shares, rows, strict=True)]
    of_g, of_h = zip(*sums, strict=True)
    return sum(map(len, rows)), float(sum(of_g)), float(sum(of_h))


def boost_shares(
    parts: Sequence[tuple[ArrayLike, ...]],
    *,
    loss: str = "half_squared_error",
    n_estimators: int = 100,
    **parameters: Any,
) -> Model:
    """Fit boosted trees to rows in parts.

    Parameters
    ----------
    parts : list of (X, y) or (X, y, sample_weight)
        Some of the rows each, in whatever order; nan in X is a missing value.
    loss : {"half_squared_error", "half_logistic"}
    n_estimators : int
    **parameters
        See ``gbt.reference.splits.Parameters``, of which monotone and interaction constraints and
        ``max_leaves`` are left to the page for rows in one place. Columns of levels hold their
        numbers in a dictionary that all parts share.

    Returns
    -------
    Model
    """
    given = Parameters(**parameters)
    shares = []
    for X, y, *weight in parts:
        y = np.asarray(y, dtype=np.float64)
        w = np.asarray(weight[0], dtype=np.float64) if weight else np.ones(len(y))
        shares.append(Share(np.asarray(X, dtype=np.float64), y, w, np.empty(len(y))))
    n_rows = sum(len(share.y) for share in shares)
    total_weight = float(sum(exact(share.weight) for share in shares))
    mean = float(sum(exact(share.weight * share.y) for share in shares)) / total_weight
    model = Model(LINK[loss](mean), trees=[])
    for share in shares:
        share.raw_prediction[:] = model.base_score
    for _ in range(n_estimators):
        of_g, of_h, are_whole = zip(*(share.start_tree(loss) for share in shares), strict=True)
        scales = scale_for(float(sum(of_g))), scale_for(float(sum(of_h))), scale_for(total_weight)
        is_whole = all(are_whole) and total_weight <= 256 * n_rows
        for share in shares:
            share.quantise(scales, is_whole)
        rows = [np.arange(len(share.y)) for share in shares]
        root = grow_node(shares, rows, 0, given.scaled(*scales))
        tree: list[Node] = []
        write(root, tree, partial(leaf_sums, shares), given)
        model.trees.append(tree)
        for share in shares:
            share.raw_prediction += leaf_values(tree, share.X)
    return model
