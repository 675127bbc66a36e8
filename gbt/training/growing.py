r"""Grow trees: open nodes, ask a policy for their splits, partition the rows.

With any policy, in Python, depth by depth::

    gradients -> fixed point -> policy: a split a node -> rows partitioned -> children opened
        ^                          ^---------------------------------------------'
        |   then: the leaf of every row -> float64 sums G and H, parents from children -> records
        '--------------------------------------------------------------- raw predictions <--'

Depth-wise growth splits all open nodes at once, best-first growth (``max_leaves``) the one of
largest gain; nothing else differs.

Our own policies have a histogram search, ``gbt.training.histogram_growth``, which grows many trees
in one compiled call, from gradients to finished trees. Children take over the histograms of their
parents. For greedy splits bounds limit what a cut may gain (``gbt.kernels.cuts.search``); the other
two policies have a histogram for each set of rows (``gbt.kernels.cuts.judging``)::

    boosting --> growth_of --> TreeGrowth:    policy.split -> best_cuts, in plain NumPy    (any)
                          \--> HistogramGrowth:  histograms, many trees a call       (ours)

Greedy trees are the same either way, to the last bit (``tests/gbt/training/test_growing.py``). In
the histogram search levels of a categorical column are bins, or are added up from the rows if there
are too many of them or rows have weights (``gbt.training.histogram_levels``). Where columns have
directions a node also has bounds for its step, and values are kept within them when the tree is
finished (``gbt.splitting.monotone``).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN, KINDS, write_derivatives
from gbt.kernels.trees.finish import finish_tree
from gbt.kernels.trees.nodes import NODE, records
from gbt.kernels.trees.partition import partition_rows
from gbt.losses.overflow import refuse_square_overflow
from gbt.model.tree import NODE_RECORD
from gbt.splitting.frontier import Derivatives, Frontier, Policy, Splits
from gbt.splitting.greedy import Greedy
from gbt.tables.columns import Columns
from gbt.tables.level_sets import LevelSets
from gbt.training.fixed_point import to_fixed_point
from gbt.training.grown_trees import NewTrees
from gbt.training.histogram_growth import HistogramGrowth
from gbt.training.node_columns import NodeColumns
from gbt.training.plan import Growth, Plan

NO_BOUNDS = (-np.inf, np.inf)
DRAWS_OF_POLICY = 2  # the number of a random stream; ``gbt.training.sampling`` uses 0 and 1


def growth_of(policy: Policy, columns: Columns, training: Training, plan: Plan) -> Growth:
    """Return what grows trees on one table by a policy."""
    if plan.loss not in KINDS:  # inside a kernel an exception would deadlock the helping threads
        raise ValueError(f"Kernels know no loss of kind {plan.loss}.")
    if not searches_histograms(policy):
        return TreeGrowth(policy, columns, training, plan)
    judges = policy.judges(plan.limits) if hasattr(policy, "judges") else None
    return HistogramGrowth(columns, training, plan, judges)


def searches_histograms(policy: Policy) -> bool:
    """Say whether trees of a policy grow in compiled code, or are asked of it node by node."""
    return type(policy) is Greedy or not hasattr(policy, "split")


class TreeGrowth:
    """The loop around a policy; it grows a tree a call."""

    def __init__(self, policy: Policy, columns: Columns, training: Training, plan: Plan):
        self.policy = policy
        self.columns = columns
        self.training = training
        self.plan = plan
        self.leaf_of_row = np.empty(columns.n_rows, dtype=np.int32)
        self.weight = to_fixed_point(np.ones(1), training.weight, None, columns.n_rows)
        self.split_scores: np.ndarray | None = None  # of the tree that grows
        self.open_columns = NodeColumns(columns.n_columns, plan)

    def set_learning_rate(self, rate: float) -> None:
        """Multiply the steps of the next trees by this."""
        self.plan = replace(self.plan, learning_rate=rate)

    def help(self) -> bool:
        """Return False, as a policy is asked by one thread."""
        return False

    def grow(self, m: int, rows: np.ndarray | None, features: np.ndarray, most: int) -> NewTrees:
        """Grow one tree, however many ``most`` allows; see ``gbt.training.plan.Growth``."""
        y, _, raw_prediction, gradient, hessian = self.training
        if self.plan.loss != GIVEN:
            write_derivatives(self.plan.loss, y, raw_prediction, gradient, hessian)
        rows, nodes, sets, unit = self._grow_nodes(m, rows, features)
        tree = records(len(nodes), NODE_RECORD)
        rows_at_cut = np.empty((len(nodes), 2), dtype=np.int32)
        rates = (self.plan.limits.reg_lambda, self.plan.learning_rate, unit)
        if not finish_tree(
            rows, nodes, self.training, rates, self.leaf_of_row, tree, rows_at_cut,
            np.empty(len(rows)),
        ):  # fmt: skip
            refuse_square_overflow()
        self.columns.write_thresholds(tree, rows_at_cut)
        level_sets = None
        if self.columns.n_levels.any():
            sets_in_preorder: list[np.ndarray | None] = [None] * len(nodes)
            for place, levels in zip(nodes["place"], sets, strict=True):
                sets_in_preorder[place] = levels
            level_sets = LevelSets.of(sets_in_preorder)
        scores = None if self.split_scores is None else self.split_scores[np.newaxis]
        return NewTrees(tree, [len(tree)], level_sets, scores)

    def _grow_nodes(
        self, m: int, rows: np.ndarray | None, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray | None], float]:
        """Return the rows in the order of the leaves, nodes, level sets, and the bounds' unit."""
        n, weight = self.columns.n_rows, self.training.weight
        rows = np.arange(n, dtype=np.int32) if rows is None else np.array(rows, dtype=np.int32)
        g, g_scale = to_fixed_point(self.training.gradient, weight, rows, n)
        h, h_scale = to_fixed_point(self.training.hessian, weight, rows, n)
        derivatives = Derivatives(g, h, g_scale, h_scale, *self.weight)
        self.split_scores = None
        random = np.random.default_rng([self.plan.seed, m, DRAWS_OF_POLICY])
        nodes = [_Node(0, len(rows), depth=0, bounds=NO_BOUNDS)]
        opened = nodes[:]
        self.open_columns.begin(m, features)
        while opened:
            self._find_splits(opened, derivatives, rows, features, random)
            opened = []
            for node in self._next_to_split(nodes):
                children = self._split(node, rows)
                node.left, node.right = len(nodes), len(nodes) + 1
                nodes.extend(children)
                opened.extend(children)
        grown = records(len(nodes), NODE)
        for name in set(vars(nodes[0])) - {"goes_left", "bounds", "bounds_below"}:
            grown[name] = [getattr(node, name) for node in nodes]
        grown["lowest"], grown["highest"] = np.array([node.bounds for node in nodes]).T
        return rows, grown, [self._level_set(node) for node in nodes], h_scale / g_scale

    def _find_splits(
        self,
        opened: list["_Node"],
        derivatives: Derivatives,
        rows: np.ndarray,
        features: np.ndarray,
        random: np.random.Generator,
    ) -> None:
        """Ask the policy for splits of the opened nodes that may be split."""
        deepest = np.inf if self.plan.shape.max_depth is None else self.plan.shape.max_depth
        least = 2 * self.plan.limits.min_samples_leaf
        asked = [n for n in opened if n.depth < deepest and n.stop - n.start >= least]
        if not asked:
            return
        is_free = self.plan.limits.directions is None
        start, stop = np.array([(node.start, node.stop) for node in asked]).T
        frontier = Frontier(
            self.columns,
            np.asarray(features, dtype=np.int64),
            derivatives,
            rows,
            start,
            stop,
            random,
            None if is_free else np.array([node.bounds for node in asked]),
            self.open_columns.of([(node.depth, node.state, node.path) for node in asked]),
        )
        splits = self.policy.split(frontier, self.plan.limits, self.plan.n_jobs)
        if splits.candidate is not None:
            judged = splits.candidate >= 0
            gain = derivatives.from_units(splits.gain[judged])
            scores = np.bincount(splits.candidate[judged], gain, minlength=self.columns.n_columns)
            so_far = self.split_scores
            self.split_scores = scores if so_far is None else so_far + scores
        _refuse_other_columns(splits, frontier)
        for j, node in enumerate(asked):
            node.feature, node.cut = int(splits.feature[j]), int(splits.cut[j])
            node.missing_left, node.gain = bool(splits.missing_left[j]), float(splits.gain[j])
            if splits.goes_left is not None:
                node.goes_left = splits.goes_left[j]
            if splits.bounds is not None:
                node.bounds_below = splits.bounds[j]
            if node.feature >= 0 and self.columns.n_levels[node.feature] and node.goes_left is None:
                raise ValueError(
                    "The policy split a categorical column and returned no levels that go left."
                )

    def _next_to_split(self, nodes: list["_Node"]) -> list["_Node"]:
        """Return the nodes to split now: all that can be, or the one of largest gain."""
        waiting = [node for node in nodes if node.feature >= 0 and node.left < 0]
        if self.plan.shape.max_leaves is None or not waiting:
            return waiting
        if (len(nodes) + 1) // 2 >= self.plan.shape.max_leaves:  # every split adds one leaf
            return []
        return [max(waiting, key=lambda node: node.gain)]

    def _split(self, node: "_Node", rows: np.ndarray) -> tuple["_Node", "_Node"]:
        """Partition the rows of a node and return its children."""
        own, codes = rows[node.start : node.stop], self.columns.codes_of(node.feature)
        missing_code = self.columns.n_values[node.feature]
        if node.goes_left is None:
            n_left, node.low_row, node.high_row = partition_rows(
                codes, missing_code, node.cut, node.missing_left, own, np.empty_like(own)
            )
        else:
            is_left = node.goes_left[codes[own]]
            n_left = int(is_left.sum())
            own[:] = np.concatenate([own[is_left], own[~is_left]])
        if n_left in (0, len(own)):  # growth would never end
            raise ValueError("The policy returned a split that sends no row to one of its sides.")
        if node.low_row < 0:
            raise ValueError("The policy returned a split that sends only missing values left.")
        middle, depth = node.start + n_left, node.depth + 1
        left, right = node.bounds_below
        sides = _Node(node.start, middle, depth, left), _Node(middle, node.stop, depth, right)
        state = self.open_columns.after(node.state, node.feature)
        for turn, side in enumerate(sides):
            side.state, side.path = state, (2 * node.path + turn) % 2**64
        return sides

    def _level_set(self, node: "_Node") -> np.ndarray | None:
        """Return which levels go left at a node that splits a categorical column, else None."""
        if node.left < 0 or node.goes_left is None:
            return None
        return self.columns.levels_left(node.feature, node.goes_left, node.missing_left)


def _refuse_other_columns(splits: Splits, frontier: Frontier) -> None:
    """Raise ValueError if a policy has split a node on a column that is not open to it."""
    for j, feature in enumerate(splits.feature.tolist()):
        may_be = frontier.features
        if frontier.is_open is not None:
            may_be = may_be[frontier.is_open[j]]
        if feature not in (-1, *may_be):
            raise ValueError(
                f"The policy split a node on column {feature}; it may be split on"
                f" {may_be.tolist()}, and -1 stands for a leaf."
            )


class _Node:
    """A node of `TreeGrowth`; ``feature`` is -1 as long as it has no split."""

    def __init__(self, start: int, stop: int, depth: int, bounds: Any):
        self.start, self.stop, self.depth = start, stop, depth
        self.feature, self.cut, self.missing_left, self.gain = -1, 0, False, 0.0
        self.goes_left: np.ndarray | None = None  # by code, if a categorical column is split
        self.bounds, self.bounds_below = bounds, (NO_BOUNDS, NO_BOUNDS)
        self.low_row, self.high_row = 0, 0
        self.state, self.path = 0, 1  # see ``gbt.kernels.trees.node_columns``
        self.left, self.right = -1, -1
