"""Shared by all readers: nodes put in preorder, and sums of the leaves below them.

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

    def by_node(self, of_trees: np.ndarray) -> np.ndarray:
        """Return a number of each tree for all of its nodes."""
        return np.repeat(of_trees, np.diff(self.tree_offset))

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

    def first_far(
        self, follows: np.ndarray, stated: np.ndarray, within: float, beside: Any = 0.0
    ) -> int | None:
        """Return the first inner node whose value is not what follows from the leaves, or None.

        They may differ by rounding, ``within`` a part of the largest value of a leaf in the tree
        and of what the value had ``beside`` it.
        """
        roots = self.tree_offset[:-1]
        if not len(roots):
            return None
        largest = np.maximum.reduceat(np.where(self.is_leaf, np.abs(stated), 0.0), roots) + beside
        far = ~self.is_leaf & (np.abs(follows - stated) > within * self.by_node(largest))
        return int(np.argmax(far)) if far.any() else None

    def of_tree(self, node: int) -> tuple[int, int]:
        """Return the tree that a node belongs to, and its number in the library's tree."""
        m = int(np.searchsorted(self.tree_offset, node, side="right")) - 1
        return m, int(self.order[node] - self.order[self.tree_offset[m]])


def in_preorder(library: str, sizes: Any, *children: np.ndarray) -> Preorder:
    """Put trees whose nodes stand end to end in preorder; nodes that no walk reaches are left out.

    ``sizes`` are their numbers of nodes, the first of which is the root; ``children`` are left and
    right ones, counted within each tree, -1 at leaves.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    stops = np.cumsum(sizes)
    roots = stops - sizes
    left, right = (np.where(links == -1, -1, links + np.repeat(roots, sizes)) for links in children)
    is_inner, n_nodes = left != -1, len(left)
    reached = np.zeros(n_nodes, dtype=bool)
    tree, latest = np.empty((2, n_nodes), dtype=np.int64)
    tree[roots] = np.arange(len(roots))

    def refuse(wrong: np.ndarray, nodes: Any, of_tree: Any, what: str) -> None:
        if wrong.any():
            node, m = nodes[np.argmax(wrong)], of_tree[np.argmax(wrong)]
            raise InvalidModelError(
                f"Node {node - roots[m]} of tree {m} of the {library} model {what}."
            )

    levels, level = [], roots
    while len(level):
        latest[level] = np.arange(len(level))
        is_again = reached[level] | (latest[level] != np.arange(len(level)))
        refuse(is_again, level, tree[level], "is reached twice")
        reached[level] = True
        refuse(is_inner[level] != (right[level] != -1), level, tree[level], "has one child")
        parents = level[is_inner[level]]
        levels.append(parents)
        level = np.concatenate([left[parents], right[parents]])
        of_tree = np.concatenate([tree[parents]] * 2)
        is_outside = (level < roots[of_tree]) | (level >= stops[of_tree])
        refuse(is_outside, level, of_tree, "is not there")
        tree[level] = of_tree

    size = reached.astype(np.int64)
    for parents in reversed(levels):
        size[parents] += size[left[parents]] + size[right[parents]]
    tree_offset = np.concatenate([[0], np.cumsum(size[roots])]).astype(np.int64)
    place = np.full(n_nodes, -1, dtype=np.int64)
    place[roots] = tree_offset[:-1]
    for parents in levels:
        place[left[parents]] = place[parents] + 1
        place[right[parents]] = place[parents] + 1 + size[left[parents]]
    order = np.empty(tree_offset[-1], dtype=np.int64)
    order[place[reached]] = np.flatnonzero(reached)
    left, right = (np.where(is_inner[order], place[links[order]], -1) for links in (left, right))
    return Preorder(order, left, right, tree_offset)
