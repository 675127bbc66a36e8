"""Trees of the histogram search, every node of which is compared with the page of plain loops.

The page is ``gbt.reference.policies``, or for greedy trees ``gbt.reference.splits``, given the bins
of the columns, the sets that the tree has drawn and the columns that are open to each node
(``gbt.reference.sets``). A node that is split must be split on the page's feature and send the
page's rows left; a node that might be split and is not must be a leaf on the page.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import HALF_SQUARED_ERROR
from gbt.reference import splits
from gbt.reference.policies import (
    HeldUp,
    best_judged,
    cross_validated_cut,
    is_made,
    of_all_rows,
    unbiased_cuts,
)
from gbt.reference.sets import columns_of_depth, columns_of_node, parts_of
from gbt.reference.splits import Cut, Parameters
from gbt.splitting import CrossValidated, Greedy, Unbiased
from gbt.splitting.policy import Derivatives, Groups, Limits
from gbt.tables.columns import Columns
from gbt.training.fixed_point import to_fixed_point
from gbt.training.plan import Plan
from gbt.training.policy_growth import growth_of


@dataclass
class OfThePage:
    """What the page says of one tree."""

    differs: list[str]  # one line a node
    worth: dict[int, float]  # of the cut of each node that has one, split or not
    scores: np.ndarray  # the same added up by column; of unbiased splits alone
    n_splits: int
    n_leaves: int  # that might have been split
    # Of unbiased splits, for `HeldUp`: the depth of each node, its best cut, those of all columns.
    judged: list[tuple[int, Cut, list[Cut]]]

    def note(self, j: int, depth: int, best: Cut, cuts: list[Cut]) -> None:
        """Add a node that has an unbiased cut."""
        self.worth[j] = best.gain
        self.scores[best.feature] += best.gain
        self.judged.append((depth, best, cuts))


def compare(
    tree: Any,
    leaves: np.ndarray,
    rows: np.ndarray,
    columns: Columns,
    policy: CrossValidated | Unbiased | Greedy,
    plan: Plan,
    training: Training,
    number: int = 0,
    features: Any = None,
    first_asked: int = 0,
    held_up: HeldUp | None = None,
) -> OfThePage:
    """Compare a tree.

    Parameters
    ----------
    leaves, rows : int array
        The rows that it has seen, ascending, and their leaves.
    training : Training
        With the derivatives on which the tree was grown.
    number : int
        Of the tree.
    features : int array, optional
        The columns that it might split on; all by default.
    first_asked : int
        The depth from which on unbiased splits are made only if other rows confirm them.
    held_up : HeldUp, optional
        What splits have told before this tree; nothing by default.
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
    n_parts = policy.n_folds if isinstance(policy, CrossValidated) else 3
    parts = parts_of(len(rows), n_parts, plan.seed, number)
    place = {int(k): i for i, k in enumerate(allowed)}
    parameters = Parameters(
        reg_lambda=limits.reg_lambda * h_scale,
        min_child_weight=limits.min_child_weight * h_scale,
        min_samples_leaf=limits.min_samples_leaf,
        min_split_gain=own.in_units(limits.min_split_gain),
        categorical=tuple(place[int(k)] for k in np.flatnonzero(columns.n_levels) if k in place),
        categorical_smoothing=limits.categorical_smoothing,
        hessian_scale=h_scale,
        weight_scale=w_scale,
        monotone=() if limits.directions is None else tuple(limits.directions[allowed].tolist()),
    )
    found = OfThePage([], {}, np.zeros(columns.n_columns), 0, 0, [])
    held_up = held_up or HeldUp()
    trust = {place[k]: t for k, t in held_up.trust().items() if k in place}
    open_to = open_columns(tree, plan, number, allowed.tolist(), columns.n_columns)
    deepest = np.inf if limits.max_depth is None else limits.max_depth
    sizes, bounds = sizes_of_branches(tree), {0: parameters.bounds}
    for j in range(tree.n_nodes):
        at = np.flatnonzero((leaves >= j) & (leaves < j + sizes[j]))
        if tree.depth[j] >= deepest or len(at) < 2 * limits.min_samples_leaf:
            continue
        of_node = replace(parameters, columns=frozenset(place[k] for k in open_to[j]))
        of_node.bounds = bounds.get(j, parameters.bounds)
        node = x[at][:, allowed], sums[at], parts[at], of_node, bins[at][:, allowed]
        if isinstance(policy, Unbiased):
            cuts = unbiased_cuts(*node[:4], policy.merged, node[4])
            cut = best_judged(cuts, trust)
        else:
            cut = cut_on_page(policy, *node)
        if isinstance(policy, Unbiased) and cut is not None:
            best, *others = (of_all_columns(each, allowed, own) for each in (cut, *cuts))
            found.note(j, int(tree.depth[j]), best, others)
            depth = int(tree.depth[j])
            asked = depth >= first_asked, held_up.share(depth, best.feature)
            cut = cut if is_made(cut, node[0], sums[at], of_node, *asked) else None
        feature = -1 if cut is None else int(allowed[cut.feature])
        found.n_splits += cut is not None
        found.n_leaves += cut is None
        if tree.feature[j] != feature:
            found.differs.append(f"node {j}: column {tree.feature[j]}, on the page {feature}")
            continue
        if cut is None:
            continue
        below = splits.bounds_of_children(of_all_rows(cut, node[0], sums[at]), of_node)
        bounds |= dict(zip((tree.left[j], tree.right[j]), below, strict=True))
        is_left = np.array([splits.goes_left(row, cut) for row in node[0]])
        has_levels = columns.n_levels[feature] > 0
        found.differs += differences(
            tree, j, cut, has_levels, is_left != (leaves[at] < tree.right[j])
        )
    return found


def differences(
    tree: Any, j: int, cut: Cut, has_levels: bool, goes_elsewhere: np.ndarray
) -> list[str]:
    """Return the first way in which a node's split, of the page's column, differs from the page."""
    if goes_elsewhere.any():
        return [f"node {j}: other rows go left than on the page"]
    if tree.missing_left[j] != cut.missing_left:
        return [f"node {j}: missing rows go to the other side than on the page"]
    if not has_levels and tree.threshold[j] != cut.threshold:
        return [f"node {j}: cut at {tree.threshold[j]}, not at {cut.threshold}"]
    return []


def check_tree(
    policy: CrossValidated | Unbiased, X: np.ndarray, y: np.ndarray, n_levels: Any, smoothing: float
) -> None:
    """Raise SystemExit unless a tree of depth 3 is that of the page; levels as in `Columns`."""
    columns = Columns.from_table(X, n_levels=n_levels)
    n, p = X.shape
    one = np.ones(1)
    training = Training(np.asarray(y, dtype=float), one, np.full(n, 0.5), np.empty(n), one.copy())
    limits = Limits(categorical_smoothing=smoothing, max_depth=3)
    plan = Plan(HALF_SQUARED_ERROR, limits, 0.1, 1)
    growth = growth_of(policy, columns, training, plan)
    tree = growth.grow(0, None, np.arange(p), 1).to_walk()
    rows = np.arange(n, dtype=np.int32)
    page = compare(tree, growth.leaf_of_row, rows, columns, policy, plan, training)
    if page.differs or not page.n_splits + page.n_leaves:
        raise SystemExit(f"{policy}: not the splits of the page; nothing timed")


def cut_on_page(
    policy: CrossValidated | Greedy,
    x: np.ndarray,
    sums: np.ndarray,
    parts: np.ndarray,
    parameters: Parameters,
    bins: np.ndarray,
) -> Cut | None:
    """Return the cut of a node."""
    if isinstance(policy, Greedy):
        return splits.best_cut(x, sums, parameters)
    return cross_validated_cut(x, sums, parts, parameters, bins)


def of_all_columns(cut: Cut, allowed: np.ndarray, own: Derivatives) -> Cut:
    """Return a cut with its column's number in the table, gain and claim in the loss's units."""
    gain, claim = own.from_units(np.array([cut.gain, cut.claim])).tolist()
    return replace(cut, feature=int(allowed[cut.feature]), gain=gain, claim=claim)


def open_columns(
    tree: Any, plan: Plan, number: int, allowed: list[int], n_columns: int
) -> dict[int, list[int]]:
    """Return the columns on which each node may be split, as the page has them."""
    limits, found = plan.limits, {}
    groups = groups_on_page(limits.groups, n_columns)
    waiting: list[tuple[int, str, frozenset[int]]] = [(0, "", frozenset())]
    while waiting:
        j, turns, path = waiting.pop()
        of_depth = columns_of_depth(
            allowed, limits.colsample_bylevel, plan.seed, number, len(turns)
        )
        may = [k for k in of_depth if k in splits.may_follow(path, n_columns, groups)]
        found[j] = columns_of_node(may, limits.colsample_bynode, plan.seed, number, turns)
        if tree.left[j] >= 0:
            below = path | {int(tree.feature[j])}
            waiting += [(tree.left[j], f"{turns}0", below), (tree.right[j], f"{turns}1", below)]
    return found


def groups_on_page(groups: Groups | None, n_columns: int) -> tuple[frozenset[int], ...]:
    """Return groups as the page takes them, one by one."""
    if isinstance(groups, int):
        return tuple(map(frozenset, combinations(range(n_columns), groups)))
    return () if groups is None else tuple(groups)


def sizes_of_branches(tree: Any) -> np.ndarray:
    """Return how many nodes are in the branch of every node, itself included."""
    sizes = np.ones(tree.n_nodes, dtype=int)
    for j in reversed(range(tree.n_nodes)):
        if tree.left[j] >= 0:
            sizes[j] += sizes[tree.left[j]] + sizes[tree.right[j]]
    return sizes
