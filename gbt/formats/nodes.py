"""Shared by all readers: nodes put in preorder, and sums that must add up.

A reader numbers the nodes of all trees consecutively, as a library has them. All trees are walked
at once, depth by depth, with a few NumPy calls a depth.
"""

from typing import Any, NamedTuple

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.kernels.rows.walk import add_up_children
from gbt.model.tree import sealed

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
        add_up_children(*(sealed(links.astype(np.int32)) for links in self[1:3]), sums)
        return sums[:, 0]

    def of_tree(self, node: int) -> tuple[int, int]:
        """Return the tree that a node belongs to, and its number in the library's tree."""
        m = int(np.searchsorted(self.tree_offset, node, side="right")) - 1
        return m, int(self.order[node] - self.order[self.tree_offset[m]])


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
