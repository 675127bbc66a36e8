"""Shared by all importers: nodes put in preorder, sums that must add up, float32 thresholds.

An importer reads the nodes of all trees as a library has them, numbers them consecutively, and
hands them over here. All trees are walked at once, depth by depth, with a few NumPy calls a depth.
"""

from typing import Any, NamedTuple

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.kernels.rows.walk import add_up_children
from gbt.model.ensemble import Ensemble
from gbt.model.statistics import node_gain
from gbt.model.tree import NODE_DTYPES

EPS_32 = float(np.finfo(np.float32).eps)


class Preorder(NamedTuple):
    """The nodes of all trees, root, left branch, right branch; links count through all trees."""

    order: np.ndarray  # the number that each node has in the library
    left: np.ndarray  # -1 at a leaf
    right: np.ndarray
    tree_offset: np.ndarray

    @property
    def is_leaf(self) -> np.ndarray:
        """Mark the nodes without children."""
        return self.left < 0

    @property
    def families(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the inner nodes, their left and their right children."""
        parent = np.flatnonzero(~self.is_leaf)
        return parent, self.left[parent], self.right[parent]

    def add_up(self, of_leaves: np.ndarray) -> np.ndarray:
        """Return the sums of the leaves below every node; entries of inner nodes are not read."""
        sums = np.array(of_leaves, dtype=np.float64)[:, np.newaxis]
        add_up_children(*(_sealed(links.astype(np.int32)) for links in self[1:3]), sums)
        return sums[:, 0]

    def of_tree(self, node: int) -> tuple[int, int]:
        """Return the tree that a node belongs to, and its number in the library's tree."""
        m = int(np.searchsorted(self.tree_offset, node, side="right")) - 1
        return m, int(self.order[node] - self.order[self.tree_offset[m]])


def _sealed(array: np.ndarray) -> np.ndarray:
    """Return a read-only array, as in models, for which the kernel is compiled."""
    array.flags.writeable = False
    return array


def end_to_end(library: str, sizes: list[int], *children: np.ndarray) -> Preorder:
    """Put trees in preorder whose nodes stand end to end.

    ``sizes`` are their numbers of nodes; ``children`` are left and right ones, counted within each
    tree and negative at leaves.
    """
    n_nodes = np.array(sizes, dtype=np.int64)
    stops = np.cumsum(n_nodes)
    starts = stops - n_nodes
    start = np.repeat(starts, n_nodes)
    left, right = (np.where(links < 0, -1, links + start) for links in children)
    return in_preorder(library, starts, stops, left, right)


def in_preorder(
    library: str, roots: np.ndarray, stops: np.ndarray, left: np.ndarray, right: np.ndarray
) -> Preorder:
    """Put the nodes that walks from the roots reach in preorder; others are left out.

    Parameters
    ----------
    library : str
        For messages.
    roots, stops : int64 arrays of shape (n_trees,)
        Tree m owns the nodes ``roots[m]:stops[m]``, its root is the first of them.
    left, right : int64 arrays of shape (n_nodes,)
        Children, counted through all trees; -1 at a leaf.
    """
    n_nodes = len(left)
    reached = np.zeros(n_nodes, dtype=bool)
    tree, latest = np.empty((2, n_nodes), dtype=np.int64)
    tree[roots] = np.arange(len(roots))

    def refuse(wrong: np.ndarray, nodes: Any, of_tree: Any, what: str) -> None:
        if wrong.any():
            node, m = nodes[np.argmax(wrong)], of_tree[np.argmax(wrong)]
            raise InvalidModelError(
                f"Node {node - roots[m]} of tree {m} of the {library} model {what}."
            )

    levels = []
    level = np.asarray(roots, dtype=np.int64)
    while len(level):
        latest[level] = np.arange(len(level))
        is_again = reached[level] | (latest[level] != np.arange(len(level)))
        refuse(is_again, level, tree[level], "is reached twice")
        reached[level] = True
        levels.append(level)
        is_inner = left[level] >= 0
        refuse(is_inner != (right[level] >= 0), level, tree[level], "has one child")
        parents = level[is_inner]
        level = np.concatenate([left[parents], right[parents]])
        of_tree = np.concatenate([tree[parents]] * 2)
        is_outside = (level < roots[of_tree]) | (level >= stops[of_tree])
        refuse(is_outside, level, of_tree, "is not there")
        tree[level] = of_tree

    size = reached.astype(np.int64)
    for level in reversed(levels):
        parents = level[left[level] >= 0]
        size[parents] += size[left[parents]] + size[right[parents]]
    tree_offset = np.concatenate([[0], np.cumsum(size[roots])]).astype(np.int64)
    place = np.full(n_nodes, -1, dtype=np.int64)
    place[roots] = tree_offset[:-1]
    for level in levels:
        parents = level[left[level] >= 0]
        place[left[parents]] = place[parents] + 1
        place[right[parents]] = place[parents] + 1 + size[left[parents]]
    order = np.empty(tree_offset[-1], dtype=np.int64)
    order[place[reached]] = np.flatnonzero(reached)
    is_inner = left[order] >= 0
    return Preorder(
        order,
        np.where(is_inner, place[left[order]], -1),
        np.where(is_inner, place[right[order]], -1),
        tree_offset,
    )


def family_that_does_not_add_up(nodes: Preorder, sums: np.ndarray, within: float) -> int | None:
    """Return the first inner node whose sum is not that of its children, None if all add up.

    ``within`` is how far apart they may be, in parts of the three absolute values added.
    """
    parent, left, right = nodes.families
    missing = np.abs(sums[parent] - sums[left] - sums[right])
    terms = np.abs(sums[parent]) + np.abs(sums[left]) + np.abs(sums[right])
    wrong = missing > within * terms
    return int(parent[np.argmax(wrong)]) if wrong.any() else None


def below_in_float32(threshold: np.ndarray) -> np.ndarray:
    """Return thresholds for ``<=`` that are equivalent to these for ``<`` in float32."""
    before = np.nextafter(threshold.astype(np.float32), np.float32(-np.inf))
    return before.astype(np.float64)


def to_ensemble(
    nodes: Preorder,
    *,
    feature: Any,
    threshold: Any,
    missing_left: Any,
    value: Any,
    sum_gradient: Any = None,
    sum_hessian: Any = None,
    n_samples: Any = None,
    values_are_known: bool = True,
    **others: Any,
) -> Ensemble:
    """Make an `Ensemble` of nodes in preorder, and check it.

    Parameters
    ----------
    nodes : Preorder
    feature, threshold, missing_left, value : arrays of shape (n_nodes,)
        In preorder; of leaves only ``value`` is read.
    sum_gradient, sum_hessian, n_samples : arrays of shape (n_nodes,), optional
        Those that are known.
    values_are_known : bool
        Whether ``value`` of inner nodes is known.
    **others
        The other fields of `Ensemble`.
    """
    inner = ~nodes.is_leaf
    zeros = np.zeros(len(inner))
    sets = others.get("level_sets")
    has_threshold = inner if sets is None else inner & (sets.of_node < 0)
    root = np.repeat(nodes.tree_offset[:-1], np.diff(nodes.tree_offset))
    known = {
        "gradients": sum_gradient is not None,
        "hessians": sum_hessian is not None,
        "counts": n_samples is not None,
        "values": values_are_known,
    }
    gain = zeros
    if sum_gradient is not None and sum_hessian is not None:
        gain = node_gain(nodes.left, nodes.right, sum_gradient, sum_hessian, others["reg_lambda"])
    arrays: dict[str, Any] = {
        "feature": np.where(inner, feature, -1),
        "threshold": np.where(has_threshold, threshold, 0.0),
        "left": np.where(inner, nodes.left - root, -1),
        "right": np.where(inner, nodes.right - root, -1),
        "missing_left": inner & missing_left,
        "sum_gradient": zeros if sum_gradient is None else sum_gradient,
        "sum_hessian": zeros if sum_hessian is None else sum_hessian,
        "n_samples": zeros if n_samples is None else n_samples,
        "gain": gain,
        "value": value if values_are_known else np.where(inner, 0.0, value),
    }
    arrays = {name: np.asarray(arrays[name]).astype(NODE_DTYPES[name]) for name in arrays}
    ensemble = Ensemble(
        **arrays,
        tree_offset=nodes.tree_offset,
        statistics=frozenset(name for name, is_known in known.items() if is_known),
        has_init_score=None,  # no library says so
        **others,
    )
    ensemble.validate()
    return ensemble
