"""Trees of the histogram search, every node of which is compared with the page of plain loops.

The page is ``gbt.reference.policies``, given the bins of the columns and the sets that the tree has
drawn (``gbt.reference.sets``). A node that is split must be split on the page's feature and send
the page's rows left; a node that might be split and is not must be a leaf on the page.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import HALF_SQUARED_ERROR
from gbt.reference.policies import cross_validated_cut, unbiased_cut
from gbt.reference.sets import parts_of
from gbt.reference.splits import Parameters, goes_left
from gbt.splitting import CrossValidated, Unbiased
from gbt.splitting.frontier import Derivatives, Limits
from gbt.tables.columns import Columns
from gbt.training.fixed_point import to_fixed_point
from gbt.training.growing import growth_of
from gbt.training.plan import Plan, Shape


@dataclass
class OfThePage:
    """What the page says of one tree."""

    differs: list[str]  # one line a node
    worth: dict[int, float]  # of the cut of each node that has one, split or not
    scores: np.ndarray  # the same added up by column; of unbiased splits alone
    n_splits: int
    n_leaves: int  # that might have been split


def compare(
    tree: Any,
    leaves: np.ndarray,
    rows: np.ndarray,
    columns: Columns,
    policy: CrossValidated | Unbiased,
    plan: Plan,
    training: Training,
    number: int = 0,
    features: Any = None,
) -> OfThePage:
    """Compare a tree.

    Parameters
    ----------
    tree : Tree
    leaves : int array
        Of the rows that it has seen.
    rows : int32 array
        These rows, ascending.
    columns : Columns
    policy : CrossValidated or Unbiased
    plan : Plan
    training : Training
        With the derivatives on which the tree was grown.
    number : int
        Of the tree.
    features : int array, optional
        The columns that it might split on; all by default.
    """
    n, limits = columns.n_rows, plan.limits
    g, g_scale = to_fixed_point(training.gradient, training.weight, rows, n)
    h, h_scale = to_fixed_point(training.hessian, training.weight, rows, n)
    w, w_scale = to_fixed_point(np.ones(1), training.weight, None, n)
    own = Derivatives(g, h, g_scale, h_scale, w, w_scale)
    sums = np.column_stack([g, h, np.ones(n, dtype=int), w])[rows].astype(object)
    x = columns.table[rows].astype(np.float64)
    bins = np.column_stack([columns.bins(k) for k in range(columns.n_columns)])[rows].astype(int)
    allowed = np.arange(columns.n_columns) if features is None else np.asarray(features)
    is_unbiased = isinstance(policy, Unbiased)
    parts = parts_of(len(rows), 3 if is_unbiased else policy.n_folds, plan.seed, number)
    least = own.in_units(limits.min_split_gain)
    place = {int(k): i for i, k in enumerate(allowed)}
    parameters = Parameters(
        reg_lambda=limits.reg_lambda * h_scale,
        min_child_weight=limits.min_child_weight * h_scale,
        min_samples_leaf=limits.min_samples_leaf,
        min_split_gain=-np.inf if is_unbiased else least,
        categorical=tuple(place[int(k)] for k in np.flatnonzero(columns.n_levels) if k in place),
        categorical_smoothing=limits.categorical_smoothing,
        hessian_scale=h_scale,
        weight_scale=w_scale,
    )
    found = OfThePage([], {}, np.zeros(columns.n_columns), 0, 0)
    deepest = np.inf if plan.shape.max_depth is None else plan.shape.max_depth
    sizes = _sizes_of_branches(tree)
    for j in range(tree.n_nodes):
        at = np.flatnonzero((leaves >= j) & (leaves < j + sizes[j]))
        if tree.depth[j] >= deepest or len(at) < 2 * limits.min_samples_leaf:
            continue
        node = x[at][:, allowed], sums[at], parts[at], parameters
        if is_unbiased:
            cut = unbiased_cut(*node, policy.merged, bins[at][:, allowed])
            if cut is not None:
                found.worth[j] = float(own.from_units(np.float64(cut.gain)))
                found.scores[allowed[cut.feature]] += found.worth[j]
                cut = cut if cut.gain >= least else None
        else:
            cut = cross_validated_cut(*node, bins[at][:, allowed])
        feature = -1 if cut is None else int(allowed[cut.feature])
        found.n_splits, found.n_leaves = (
            found.n_splits + (cut is not None), found.n_leaves + (cut is None),
        )  # fmt: skip
        if tree.feature[j] != feature:
            found.differs.append(f"node {j}: column {tree.feature[j]}, on the page {feature}")
            continue
        if cut is None:
            continue
        left = leaves[at] < tree.right[j]
        if (left != [goes_left(row, cut) for row in x[at][:, allowed]]).any():
            found.differs.append(f"node {j}: other rows go left than on the page")
        elif tree.missing_left[j] != cut.missing_left:
            found.differs.append(f"node {j}: missing rows go to the other side than on the page")
        elif not columns.n_levels[feature] and tree.threshold[j] != cut.threshold:
            found.differs.append(f"node {j}: cut at {tree.threshold[j]}, not at {cut.threshold}")
    return found


def check_tree(
    policy: CrossValidated | Unbiased, X: np.ndarray, y: np.ndarray, n_levels: Any, smoothing: float
) -> None:
    """Raise SystemExit unless a tree of depth 3 is that of the page; levels as in `Columns`."""
    columns = Columns.from_table(X, n_levels=n_levels)
    n, p = X.shape
    one = np.ones(1)
    training = Training(np.asarray(y, dtype=float), one, np.full(n, 0.5), np.empty(n), one.copy())
    limits = Limits(1.0, 1.0, 1, 0.0, smoothing)
    plan = Plan(HALF_SQUARED_ERROR, limits, Shape(3, None), 0.1, 1)
    growth = growth_of(policy, columns, training, plan)
    tree = growth.grow(0, None, np.arange(p), 1).to_walk()
    rows = np.arange(n, dtype=np.int32)
    page = compare(tree, growth.leaf_of_row, rows, columns, policy, plan, training)
    if page.differs or not page.n_splits + page.n_leaves:
        raise SystemExit(f"{policy}: not the splits of the page; nothing timed")


def _sizes_of_branches(tree: Any) -> np.ndarray:
    """Return how many nodes are in the branch of every node, itself included."""
    sizes = np.ones(tree.n_nodes, dtype=int)
    for j in reversed(range(tree.n_nodes)):
        if tree.left[j] >= 0:
            sizes[j] += sizes[tree.left[j]] + sizes[tree.right[j]]
    return sizes
