"""Grow one tree: open nodes, a policy that splits them, a partition of the rows.

Depth-wise growth splits all open nodes at once, best-first growth (``max_leaves``) the one of
largest gain; nothing else differs. The way of the data::

    gradients -> fixed point -> policy: a split a node -> rows partitioned -> children opened
                                   ^---------------------------------------------'
    then: the leaf of every row -> float64 sums G and H, parents from children -> Tree
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gbt.columns import Columns
from gbt.ensemble import NODE_DTYPES, Tree, node_statistics, node_step
from gbt.fixed_point import to_fixed_point
from gbt.kernels.partition import partition_nodes
from gbt.kernels.walk import preorder
from gbt.splitting.frontier import Frontier, Limits, Splits


class Splitter(Protocol):
    """How a node chooses its split. A new policy is a new class with this method."""

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the split of every open node of the frontier."""
        ...


@dataclass(frozen=True)
class Shape:
    """How large a tree may become; None is without limit."""

    max_depth: int | None
    max_leaves: int | None


def grow(
    columns: Columns,
    gradient: np.ndarray,
    hessian: np.ndarray,
    sample_weight: np.ndarray,
    *,
    rows: np.ndarray,
    features: np.ndarray,
    splitter: Splitter,
    limits: Limits,
    shape: Shape,
    learning_rate: float,
    n_jobs: int | None = None,
) -> tuple[Tree, np.ndarray]:
    """Grow a tree on some rows of a table, and say which leaf each of them is in.

    Parameters
    ----------
    gradient, hessian, sample_weight : float64 arrays of shape (columns.n_rows,)
        Derivatives of the loss, not yet multiplied by the weights.
    rows : int array
        The rows that this tree sees, ascending.
    features : int array
        The columns that it may split on, ascending.

    Returns
    -------
    tree : Tree
    leaves : int array of shape (len(rows),)
        Numbers of nodes of the tree.
    """
    gradient, hessian, sample_weight = gradient[rows], hessian[rows], sample_weight[rows]
    growth = _Growth(columns, gradient, hessian, sample_weight, rows, features)
    growth.find_splits(np.array([0]), splitter, limits, shape, n_jobs)
    while len(chosen := growth.next_to_split(shape)):
        children = growth.split(chosen)
        growth.find_splits(children, splitter, limits, shape, n_jobs)
    structure, leaf_of_row = growth.in_preorder()

    leaves = leaf_of_row[rows]
    left, right = structure["left"], structure["right"]
    statistics = node_statistics(
        left, right, leaves, sample_weight * gradient, sample_weight * hessian, limits.reg_lambda
    )
    step = node_step(statistics["sum_gradient"], statistics["sum_hessian"], limits.reg_lambda)
    return Tree(**structure, **statistics, value=-learning_rate * step), leaves


class _Growth:
    """A tree while it grows: one list of rows, and nodes that own stretches of it.

    Nodes stand in the order in which they were opened, one array a property. A node whose split is
    known has a ``feature``; a node that has been split has children as well.
    """

    def __init__(self, columns, gradient, hessian, sample_weight, rows, features):
        self.columns = columns
        self.features = np.asarray(features, dtype=np.int64)
        self.rows = np.array(rows, dtype=np.int32)
        self.gradient, self.gradient_scale = to_fixed_point(gradient, sample_weight)
        self.hessian, self.hessian_scale = to_fixed_point(hessian, sample_weight)
        sums = [self.gradient.sum(), self.hessian.sum(), np.abs(self.gradient).sum()]
        self.nodes = _opened(
            start=np.array([0]),
            stop=np.array([len(rows)]),
            depth=np.array([0]),
            sums=np.array([sums]),
        )

    def find_splits(self, opened, splitter, limits, shape, n_jobs):
        """Ask the policy how to split those of the nodes just opened that may be split."""
        nodes = self.nodes
        opened = opened[(nodes["stop"] - nodes["start"])[opened] >= 2 * limits.min_samples_leaf]
        if shape.max_depth is not None:
            opened = opened[nodes["depth"][opened] < shape.max_depth]
        if len(opened) == 0:
            return
        frontier = Frontier(
            columns=self.columns,
            features=self.features,
            rows=self.rows,
            gradient=self.gradient,
            hessian=self.hessian,
            gradient_scale=self.gradient_scale,
            hessian_scale=self.hessian_scale,
            **{name: nodes[name][opened] for name in ("start", "stop", "sums")},
        )
        splits = splitter.split(frontier, limits, n_jobs)
        for name in ("feature", "cut", "missing_left", "gain"):
            nodes[name][opened] = getattr(splits, name)

    def next_to_split(self, shape):
        """Return the nodes to split now: all that can be, or the one of largest gain."""
        is_split = self.nodes["left"] >= 0
        waiting = np.flatnonzero((self.nodes["feature"] >= 0) & ~is_split)
        if shape.max_leaves is None or len(waiting) == 0:
            return waiting
        if 1 + is_split.sum() >= shape.max_leaves:  # every split adds one leaf
            return waiting[:0]
        return waiting[[np.argmax(self.nodes["gain"][waiting])]]

    def split(self, chosen):
        """Partition the rows of the chosen nodes, open their children and return those."""
        nodes = self.nodes
        feature, start, stop = (nodes[name][chosen] for name in ("feature", "start", "stop"))
        found = (*np.empty((3, len(chosen)), dtype=np.int64), np.empty((len(chosen), 3), np.int64))
        partition_nodes(
            self.columns.codes,
            self.columns.missing_code[feature],
            feature,
            nodes["cut"][chosen],
            nodes["missing_left"][chosen],
            (self.rows, self.gradient, self.hessian),
            start,
            stop,
            found,
        )
        middle, low_code, high_code, left_sums = found
        if ((middle == start) | (middle == stop)).any():  # else growth would never end
            raise ValueError("The splitter returned a split that sends no row to one of its sides.")
        children = len(nodes["start"]) + np.arange(2 * len(chosen))
        nodes["low_code"][chosen], nodes["high_code"][chosen] = low_code, high_code
        nodes["left"][chosen] = children[0::2]
        nodes["right"][chosen] = children[1::2]
        opened = _opened(
            start=_in_turn(start, middle),
            stop=_in_turn(middle, stop),
            depth=np.repeat(nodes["depth"][chosen] + 1, 2),
            sums=_in_turn(left_sums, nodes["sums"][chosen] - left_sums),
        )
        self.nodes = {name: np.concatenate([nodes[name], opened[name]]) for name in nodes}
        return children

    def in_preorder(self):
        """Return the arrays that say how to walk the tree, and the leaf of every row it saw."""
        nodes = self.nodes
        place = preorder(nodes["left"], nodes["right"])
        is_leaf = nodes["left"] < 0

        leaves = np.flatnonzero(is_leaf)
        leaves = leaves[np.argsort(nodes["start"][leaves])]
        leaf_of_row = np.empty(self.columns.n_rows, dtype=np.int64)
        leaf_of_row[self.rows] = np.repeat(place[leaves], (nodes["stop"] - nodes["start"])[leaves])

        nodes["feature"][is_leaf] = -1  # found a split that was never made
        nodes["missing_left"][is_leaf] = False
        nodes["threshold"] = np.zeros(len(place))
        inner = np.flatnonzero(~is_leaf)
        nodes["threshold"][inner] = self.columns.threshold_between(
            *(nodes[name][inner] for name in ("feature", "low_code", "high_code"))
        )
        for child in ("left", "right"):
            nodes[child] = np.where(is_leaf, -1, place[nodes[child]])
        structure = {}
        for name in ("feature", "threshold", "left", "right", "missing_left"):
            structure[name] = np.empty(len(place), dtype=NODE_DTYPES[name])
            structure[name][place] = nodes[name]
        return structure, leaf_of_row


def _in_turn(lefts, rights) -> np.ndarray:
    """Return left, right, left, right, ..."""
    both = np.empty((2 * len(lefts), *lefts.shape[1:]), dtype=lefts.dtype)
    both[0::2], both[1::2] = lefts, rights
    return both


def _opened(start, stop, depth, sums) -> dict[str, np.ndarray]:
    """Return new nodes, leaves for the time being."""
    n = len(start)
    return {
        "start": start,
        "stop": stop,
        "depth": depth,
        "sums": sums,
        "feature": np.full(n, -1),
        "cut": np.zeros(n, dtype=np.int64),
        "missing_left": np.zeros(n, dtype=bool),
        "gain": np.zeros(n),
        "low_code": np.zeros(n, dtype=np.int64),
        "high_code": np.zeros(n, dtype=np.int64),
        "left": np.full(n, -1),
        "right": np.full(n, -1),
    }
