"""Nodes and trees: one array a property, every tree in preorder.

``NODE_DTYPES`` lists what is stored of a node. G and H are the sums of its rows' weighted gradients
and hessians. They are added up when a tree has grown (``gbt.kernels.trees.finish``), or when a
model is given other rows (``gbt.model.statistics``); value and gain follow from them as
``gbt.model`` says.

A row goes left where ``x <= threshold``, and where x is missing and ``missing_left`` is true. The
side of missing rows was chosen together with the cut, by gain.

In preorder a node comes before its left branch, and that before its right branch, so all links
follow from which nodes are leaves (`preorder_links`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.model.predictor import find_leaves_of_tree
from gbt.tables.level_sets import LevelSets

NODE_DTYPES = {
    "feature": np.int32,  # number of the column that it splits on; -1 at a leaf
    "threshold": np.float64,  # rows up to it go left; 0 at a leaf
    "left": np.int32,  # counted from the tree's root; -1 at a leaf
    "right": np.int32,
    "missing_left": np.bool_,  # which side rows without a value take
    "sum_gradient": np.float64,  # G, sum of weight * gradient over the training rows in the node
    "sum_hessian": np.float64,  # H, the same of hessians
    "n_samples": np.int64,  # rows, not their weights
    "gain": np.float64,  # 0 at a leaf
    "value": np.float64,  # -learning_rate * G / (H + reg_lambda), at inner nodes too (gbt.model)
}
NODE_RECORD = np.dtype([*NODE_DTYPES.items()], align=True)  # as they are written down


def arrays_of(nodes: np.ndarray) -> dict[str, Any]:
    """Return nodes, given as records, as a model has them: one array for each property."""
    return {name: sealed(np.ascontiguousarray(nodes[name])) for name in NODE_DTYPES}


def records_of(nodes: "Nodes") -> np.ndarray:
    """Return some nodes as records: the way back from `arrays_of`."""
    records = np.empty(len(nodes.feature), dtype=NODE_RECORD)
    for name in NODE_DTYPES:
        records[name] = getattr(nodes, name)
    return records


def sealed(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it; note that Numba gives it another type."""
    array.flags.writeable = False
    return array


def end_to_end(trees: Sequence[np.ndarray]) -> np.ndarray:
    """Return the nodes of some trees, which are records, in one array."""
    # Joined as bytes. NumPy copies records field by field, which takes ten times as long.
    return np.concatenate([tree.view(np.uint8) for tree in trees]).view(NODE_RECORD)


@dataclass(frozen=True, eq=False, repr=False)
class Nodes:
    """What is known of every node: one array a property, of the dtypes in ``NODE_DTYPES``.

    ``level_sets`` says which levels go left where a categorical column is split; None if none is.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    sum_gradient: np.ndarray
    sum_hessian: np.ndarray
    n_samples: np.ndarray
    gain: np.ndarray
    value: np.ndarray
    level_sets: LevelSets | None = field(default=None, kw_only=True)

    @property
    def structure(self) -> tuple[np.ndarray, ...]:
        """The arrays that say how to walk, in the order in which kernels take them."""
        return self.feature, self.threshold, self.left, self.right, self.missing_left

    def some(self, nodes: np.ndarray) -> dict[str, Any]:
        """Return the arrays of some nodes, in an order."""
        arrays = {name: getattr(self, name)[nodes] for name in NODE_DTYPES}
        if self.level_sets is not None:
            arrays["level_sets"] = self.level_sets.in_order(nodes)
        return arrays


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Nodes):
    """One tree in preorder, the root at 0; `Nodes` has the arrays."""

    def __repr__(self) -> str:
        return f"<Tree of {self.n_nodes} nodes, depth {self.depth.max()}>"

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def is_leaf(self) -> np.ndarray:
        """Mark the nodes without children."""
        return self.left < 0

    @property
    def depth(self) -> np.ndarray:
        """Number of steps from the root, for every node."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for t in np.flatnonzero(~self.is_leaf):
            depth[[self.left[t], self.right[t]]] = depth[t] + 1
        return depth

    def add_values(self, X: np.ndarray, out: np.ndarray, n_jobs: int | None = None) -> None:
        """Add to ``out`` the value of the leaf that each row of ``X`` (floats) reaches."""
        out += self.value[self.find_leaves(X, n_jobs)]

    def find_leaves(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaf that each row of ``X`` (floats) reaches, int32 of shape (n,)."""
        return find_leaves_of_tree(self.structure, X, n_jobs, self.level_sets)


class Trees(Sequence[Tree]):
    """The trees of a model: made when asked for, so that a model is arrays and nothing else."""

    def __init__(self, nodes: Nodes, tree_offset: np.ndarray):
        self._nodes, self._tree_offset = nodes, tree_offset

    def __len__(self) -> int:
        return len(self._tree_offset) - 1

    @overload
    def __getitem__(self, m: int) -> Tree: ...
    @overload
    def __getitem__(self, m: slice) -> list[Tree]: ...
    def __getitem__(self, m: int | slice) -> Tree | list[Tree]:
        if isinstance(m, slice):
            return [self[i] for i in range(*m.indices(len(self)))]
        if not -len(self) <= m < len(self):
            raise IndexError(f"tree {m} of an ensemble of {len(self)} trees, counted from 0")
        start, stop = self._tree_offset[m % len(self) :][:2]
        sets = self._nodes.level_sets
        return Tree(
            *(getattr(self._nodes, name)[start:stop] for name in NODE_DTYPES),
            level_sets=None if sets is None else sets.within(start, stop),
        )


def preorder_links(is_inner: np.ndarray, tree_offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the children of all nodes of trees in preorder: the leaves alone settle them.

    An inner node promises two children, and every node keeps one promise, the latest. So before a
    root one promise waits, before any other node at least one, and after a tree none. The left
    child is the next node; the right child keeps the earlier promise of its parent, hence is the
    next node before which as many wait as before the parent::

              a          node     a   b   d   e   c
             / \         waiting  1   2   3   2   1   (0)
            b   c        left     b   d
           / \           right    c   e
          d   e
    """
    start = np.repeat(tree_offset[:-1], np.diff(tree_offset))
    change = np.where(is_inner, 1, -1)
    before = np.cumsum(change) - change
    waiting = 1 + before - before[start]
    for m in np.flatnonzero((waiting + change)[tree_offset[1:] - 1] != 0):
        raise InvalidModelError(f"tree {m} lacks nodes, or has some that no walk reaches")
    if (waiting < 1).any():
        m = np.searchsorted(tree_offset, np.argmax(waiting < 1), side="right") - 1
        raise InvalidModelError(f"tree {m} has nodes that no walk reaches")

    node = np.arange(len(start))
    next_alike = np.empty_like(node)
    by_waiting = np.argsort(waiting, kind="stable")
    next_alike[by_waiting] = np.roll(by_waiting, -1)
    return (np.where(is_inner, node + 1 - start, -1), np.where(is_inner, next_alike - start, -1))
