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
are too many of them, rows have weights, or sets of rows judge (``gbt.training.histogram_levels``).
Where columns have directions a node also has bounds for its step, and values are kept within them
when the tree is finished (``gbt.splitting.monotone``).
"""

from dataclasses import replace

import numpy as np

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN, KINDS, write_derivatives
from gbt.kernels.trees.finish import finish_tree
from gbt.kernels.trees.nodes import new_nodes, records
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

NO_BOUNDS = 2 * [(-np.inf, np.inf)]  # of the steps of two children
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
        y, weight, raw_prediction, gradient, hessian = self.training
        n, plan = self.columns.n_rows, self.plan
        if plan.loss != GIVEN:
            write_derivatives(plan.loss, y, raw_prediction, gradient, hessian)
        rows = np.arange(n, dtype=np.int32) if rows is None else np.array(rows, dtype=np.int32)
        g, g_scale = to_fixed_point(gradient, weight, rows, n)
        h, h_scale = to_fixed_point(hessian, weight, rows, n)
        self._grow_nodes(m, rows, features, Derivatives(g, h, g_scale, h_scale, *self.weight))
        tree = records(len(self.nodes), NODE_RECORD)
        rows_at_cut = np.empty((len(tree), 2), dtype=np.int32)
        rates = (plan.limits.reg_lambda, plan.learning_rate, h_scale / g_scale)
        if not finish_tree(
            rows, self.nodes, self.training, rates, self.leaf_of_row, tree, rows_at_cut,
            np.empty(len(rows)),
        ):  # fmt: skip
            refuse_square_overflow()
        self.columns.write_thresholds(tree, rows_at_cut)
        scores = None if self.split_scores is None else self.split_scores[np.newaxis]
        return NewTrees(tree, [len(tree)], self._level_sets(), scores)

    def _grow_nodes(
        self, m: int, rows: np.ndarray, features: np.ndarray, derivatives: Derivatives
    ) -> None:
        """Grow nodes, children after their parent; rows are put in the order of the leaves."""
        self.nodes, opened = new_nodes(1), np.array([0])
        for name, value in {"stop": len(rows), "depth": 0, "state": 0, "path": 1}.items():
            self.nodes[name] = value
        self.goes_left: dict[int, np.ndarray] = {}  # of nodes on categorical columns, by code
        self.bounds: dict[int, np.ndarray] = {}  # of the children of nodes
        self.split_scores = None
        random = np.random.default_rng([self.plan.seed, m, DRAWS_OF_POLICY])
        self.open_columns.begin(m, features)
        while len(opened):
            self._find_splits(opened, derivatives, rows, features, random)
            opened = self._split(self._next_to_split(), rows)

    def _find_splits(
        self,
        opened: np.ndarray,
        derivatives: Derivatives,
        rows: np.ndarray,
        features: np.ndarray,
        random: np.random.Generator,
    ) -> None:
        """Ask the policy for splits of the opened nodes that may be split."""
        deepest, limits = self.plan.shape.max_depth, self.plan.limits
        nodes = self.nodes[opened]
        may_split = nodes["stop"] - nodes["start"] >= 2 * limits.min_samples_leaf
        if deepest is not None:
            may_split &= nodes["depth"] < deepest
        asked, nodes = opened[may_split], nodes[may_split]
        if not len(asked):
            return
        bounds = np.column_stack([nodes["lowest"], nodes["highest"]])
        frontier = Frontier(
            self.columns,
            np.asarray(features, dtype=np.int64),
            derivatives,
            rows,
            nodes["start"],
            nodes["stop"],
            random,
            None if limits.directions is None else bounds,
            self.open_columns.of(nodes),
        )
        splits = self.policy.split(frontier, limits, self.plan.n_jobs)
        if splits.candidate is not None:
            judged = splits.candidate >= 0
            gain = derivatives.from_units(splits.gain[judged])
            scores = np.bincount(splits.candidate[judged], gain, minlength=self.columns.n_columns)
            so_far = self.split_scores
            self.split_scores = scores if so_far is None else so_far + scores
        _refuse_other_columns(splits, frontier)
        for name in ("feature", "cut", "missing_left", "gain"):
            self.nodes[name][asked] = getattr(splits, name)
        for i, j in enumerate(asked.tolist()):
            goes_left = None if splits.goes_left is None else splits.goes_left[i]
            if goes_left is not None:
                self.goes_left[j] = goes_left
            elif splits.feature[i] >= 0 and self.columns.n_levels[splits.feature[i]]:
                raise ValueError(
                    "The policy split a categorical column and returned no levels that go left."
                )
            if splits.bounds is not None:
                self.bounds[j] = splits.bounds[i]

    def _next_to_split(self) -> np.ndarray:
        """Return the nodes to split now: all that can be, or the one of largest gain."""
        nodes, max_leaves = self.nodes, self.plan.shape.max_leaves
        waiting = np.flatnonzero((nodes["feature"] >= 0) & (nodes["left"] < 0))
        if max_leaves is None or not len(waiting):
            return waiting
        if (len(nodes) + 1) // 2 >= max_leaves:  # every split adds one leaf
            return waiting[:0]
        return waiting[[nodes["gain"][waiting].argmax()]]

    def _split(self, parents: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Partition the rows of some nodes and open their children; return the numbers of these."""
        nodes, children, first = self.nodes, new_nodes(2 * len(parents)), len(self.nodes)
        left, right = children[0::2], children[1::2]
        left["path"] = np.uint64(2) * nodes["path"][parents]
        right["path"] = left["path"] + np.uint64(1)
        children["depth"] = np.repeat(nodes["depth"][parents] + 1, 2)
        left["start"], right["stop"] = nodes["start"][parents], nodes["stop"][parents]
        for i, j in enumerate(parents.tolist()):
            own = children[2 * i : 2 * i + 2]
            left["stop"][i] = right["start"][i] = left["start"][i] + self._partition(j, rows)
            own["state"] = self.open_columns.after(int(nodes["state"][j]), nodes["feature"][j])
            own["lowest"], own["highest"] = np.transpose(self.bounds.get(j, NO_BOUNDS))
        nodes["left"][parents] = np.arange(first, first + len(children), 2)
        nodes["right"][parents] = nodes["left"][parents] + 1
        self.nodes = np.concatenate([nodes, children]).view(type(nodes))
        return np.arange(first, len(self.nodes))

    def _partition(self, j: int, rows: np.ndarray) -> int:
        """Partition the rows of a node; return how many go left."""
        node, goes_left = self.nodes[j], self.goes_left.get(j)
        own, k = rows[node["start"] : node["stop"]], node["feature"]
        codes = self.columns.codes_of(k)
        if goes_left is None:
            n_left, node["low_row"], node["high_row"] = partition_rows(
                codes, self.columns.n_values[k], node["cut"], node["missing_left"], own,
                np.empty_like(own),
            )  # fmt: skip
        else:
            is_left = goes_left[codes[own]]
            n_left = int(is_left.sum())
            own[:] = np.concatenate([own[is_left], own[~is_left]])
        if n_left in (0, len(own)):  # growth would never end
            raise ValueError("The policy returned a split that sends no row to one of its sides.")
        if node["low_row"] < 0:
            raise ValueError("The policy returned a split that sends only missing values left.")
        return n_left

    def _level_sets(self) -> LevelSets | None:
        """Return which levels go left at the nodes of the tree, in preorder."""
        if not self.columns.n_levels.any():
            return None
        sets: list[np.ndarray | None] = [None] * len(self.nodes)
        for j, goes_left in self.goes_left.items():
            node = self.nodes[j]
            if node["left"] >= 0:
                sets[node["place"]] = self.columns.levels_left(
                    int(node["feature"]), goes_left, bool(node["missing_left"])
                )
        return LevelSets.of(sets)


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
