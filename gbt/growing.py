"""Grow one tree: open nodes, a policy that splits them, a partition of the rows.

Depth-wise growth splits all open nodes at once, best-first growth (``max_leaves``) the one of
largest gain; nothing else differs. The way of the data::

    gradients -> fixed point -> policy: a split a node -> rows partitioned -> children opened
                                   ^---------------------------------------------'
    then: the leaf of every row -> float64 sums G and H, parents from children -> records

The greedy policy does the loop in the middle by itself, in one compiled call. For any other, which
is asked for one split a node, it stands here.
"""

from typing import Protocol

import numpy as np

from gbt.columns import Columns
from gbt.ensemble import NODE_RECORD
from gbt.fixed_point import to_fixed_point
from gbt.kernels.finish import finish_tree, look_up_cuts
from gbt.kernels.nodes import NODE, records
from gbt.kernels.partition import partition_rows
from gbt.splitting.frontier import (
    Branches,
    Derivatives,
    Frontier,
    Growth,
    Limits,
    Shape,
    Splits,
)


class Splitter(Protocol):
    """How a node chooses its split. A new policy is a new class with this method.

    A policy that would rather grow whole trees itself, as the greedy one does, has a method
    ``prepare(columns, limits, shape, n_jobs)`` instead, which returns a ``Growth``.
    """

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the split of every open node of the frontier."""
        ...


class Grower:
    """Grows tree after tree on one table."""

    def __init__(
        self,
        columns: Columns,
        *,
        splitter: Splitter,
        limits: Limits,
        shape: Shape,
        learning_rate: float,
        n_jobs: int | None = None,
    ):
        self.columns = columns
        self.limits = limits
        self.learning_rate = learning_rate
        self.growth: Growth = (
            splitter.prepare(columns, limits, shape, n_jobs)
            if hasattr(splitter, "prepare")
            else LevelwiseGrowth(columns, splitter, limits, shape, n_jobs)
        )

    def grow(
        self,
        gradient: np.ndarray,
        hessian: np.ndarray,
        sample_weight: np.ndarray,
        *,
        rows: np.ndarray | None,
        features: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Grow a tree on some rows, and say which leaf each of them is in.

        Parameters
        ----------
        gradient : float64 array of shape (columns.n_rows,)
            First derivatives of the loss, not yet multiplied by the weights.
        hessian, sample_weight : float64 arrays of the same shape, or of shape (1,)
            Second derivatives, and weights. One number stands for all rows.
        rows : int32 array or None
            The rows that this tree sees, ascending; None is all.
        features : int array
            The columns that it may split on, ascending.

        Returns
        -------
        tree : array of dtype NODE_RECORD
            Its nodes in preorder, see ``gbt.ensemble``.
        leaves : int32 array, one of each of these rows
            Numbers of nodes of the tree, in memory that the next tree is grown in.
        """
        branches = self.growth.grow(gradient, hessian, sample_weight, rows, features)
        leaf_of_row = branches.node_of_row
        tree = records(len(branches.nodes), NODE_RECORD)
        look_up_cuts(self.columns.table, branches.nodes)
        is_finite = finish_tree(
            branches.rows,
            branches.nodes,
            gradient,
            hessian,
            sample_weight,
            self.limits.reg_lambda,
            self.learning_rate,
            leaf_of_row,
            tree,
        )
        if not is_finite:
            raise FloatingPointError("a squared sum overflows")
        return tree, leaf_of_row if rows is None else leaf_of_row[rows]


class LevelwiseGrowth:
    """The loop around a policy that is asked for one split a node."""

    def __init__(self, columns, splitter, limits, shape, n_jobs):
        self.columns = columns
        self.splitter = splitter
        self.limits = limits
        self.shape = shape
        self.n_jobs = n_jobs

    def grow(self, gradient, hessian, sample_weight, rows, features) -> Branches:
        """Grow one tree; see ``gbt.splitting.frontier.Growth``."""
        n = self.columns.n_rows
        rows = np.arange(n, dtype=np.int32) if rows is None else np.array(rows, dtype=np.int32)
        g, g_scale = to_fixed_point(gradient, sample_weight, rows, n)
        h, h_scale = to_fixed_point(hessian, sample_weight, rows, n)
        derivatives = Derivatives(g, h, g_scale, h_scale)
        nodes = [_Node(0, len(rows), depth=0)]
        opened = nodes[:]
        while opened:
            self._find_splits(opened, derivatives, rows, features)
            opened = []
            for node in self._next_to_split(nodes):
                children = self._split(node, rows)
                node.left, node.right = len(nodes), len(nodes) + 1
                nodes.extend(children)
                opened.extend(children)
        grown = records(len(nodes), NODE)
        for name in vars(nodes[0]):
            grown[name] = [getattr(node, name) for node in nodes]
        return Branches(rows, grown, np.empty(n, dtype=np.int32))

    def _find_splits(self, opened, derivatives, rows, features):
        """Ask the policy how to split those of the nodes just opened that may be split."""
        deepest = np.inf if self.shape.max_depth is None else self.shape.max_depth
        least = 2 * self.limits.min_samples_leaf
        asked = [n for n in opened if n.depth < deepest and n.stop - n.start >= least]
        if not asked:
            return
        start, stop = np.array([(node.start, node.stop) for node in asked]).T
        frontier = Frontier(
            self.columns, np.asarray(features, dtype=np.int64), derivatives, rows, start, stop
        )
        splits = self.splitter.split(frontier, self.limits, self.n_jobs)
        for j, node in enumerate(asked):
            node.feature, node.cut = int(splits.feature[j]), int(splits.cut[j])
            node.missing_left, node.gain = bool(splits.missing_left[j]), float(splits.gain[j])

    def _next_to_split(self, nodes):
        """Return the nodes to split now: all that can be, or the one of largest gain."""
        waiting = [node for node in nodes if node.feature >= 0 and node.left < 0]
        if self.shape.max_leaves is None or not waiting:
            return waiting
        if (len(nodes) + 1) // 2 >= self.shape.max_leaves:  # every split adds one leaf
            return []
        return [max(waiting, key=lambda node: node.gain)]

    def _split(self, node, rows):
        """Partition the rows of a node and return its children."""
        own, codes = rows[node.start : node.stop], self.columns.codes[node.feature]
        missing_code = self.columns.n_values[node.feature]
        n_left, node.low_row, node.high_row = partition_rows(
            codes, missing_code, node.cut, node.missing_left, own, np.empty_like(own)
        )
        if n_left in (0, len(own)):  # else growth would never end
            raise ValueError("The splitter returned a split that sends no row to one of its sides.")
        if node.low_row < 0:
            raise ValueError("The splitter returned a split that sends only missing values left.")
        middle, depth = node.start + n_left, node.depth + 1
        return _Node(node.start, middle, depth), _Node(middle, node.stop, depth)


class _Node:
    """A node of `LevelwiseGrowth`; ``feature`` is -1 as long as it has no split."""

    def __init__(self, start, stop, depth):
        self.start, self.stop, self.depth = start, stop, depth
        self.feature, self.cut, self.missing_left, self.gain = -1, 0, False, 0.0
        self.low_row, self.high_row = 0, 0
        self.left, self.right = -1, -1
