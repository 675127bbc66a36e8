r"""One tree, one row at a time: left where ``x <= threshold``, until a node without children.

This is how rows go down a tree that has just been grown; many trees at once go faster in blocks of
rows, see ``gbt.kernels.rows.descent``. ``left`` and ``right`` count from the tree's root::

        a            position   0   1   2   3   4
       / \           node       a   b   d   e   c      (preorder)
      b   c          left       1   2  -1  -1  -1
     / \             right      4   3  -1  -1  -1
    d   e

Where a categorical column is split, x is the number of a level, and left if its bit is set. Models
of numbers have None for sets: what is only done with sets is then not compiled at all.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal, uncounted


class NodeSets(NamedTuple):
    """The level sets of some nodes as kernels take them, see ``gbt.tables.level_sets``."""

    first: np.ndarray  # (n_nodes,) int64, where the words of a node's set begin
    n_bits: np.ndarray  # (n_nodes,) int64, of these words; 0 where a node has no set
    words: np.ndarray  # uint64


def node_sets(level_sets) -> NodeSets | None:
    """Return the level sets of some nodes as kernels take them, None if there are none."""
    if level_sets is None:
        return None
    start, number = level_sets.start, level_sets.of_node
    first = np.where(number < 0, 0, start[number])
    end = np.where(number < 0, 0, start[number + 1])
    return NodeSets(first, 64 * (end - first), level_sets.words)


@forced_inline
def is_listed(x, node, sets):
    """Say whether x is a level in the set of a node; nan and -inf never are."""
    if sets is None:
        return False
    if not (x >= 0 and x < sets.n_bits[node]):
        return False
    level = np.uint64(x)
    word = sets.words[np.uint64(sets.first[node]) + (level >> np.uint64(6))]
    return (word >> (level & np.uint64(63))) & np.uint64(1) != np.uint64(0)


@internal
def goes_left(x, node, threshold, missing_left, sets):
    """Say whether a value takes the left branch of a node; nan is a missing value.

    threshold, missing_left   (n_nodes,)            IN   the node arrays of a ``Tree``
    sets                      ``NodeSets`` or None      IN
    """
    if np.isnan(x):
        return missing_left[node]
    if sets is not None and sets.n_bits[node] > 0:
        return is_listed(x, node, sets)
    return x <= threshold[node]


@uncounted
def find_leaves_of_tree(X, feature, threshold, left, right, missing_left, sets, out):
    """Write the leaf that each row reaches.

    X             (n, p)      float64         IN
    feature ...   (n_nodes,)                  IN   the node arrays of one ``Tree``
    sets          ``NodeSets`` or None            IN
    out           (n,)        int32           OUT
    """
    for i in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            if goes_left(X[i, feature[node]], node, threshold, missing_left, sets):
                node = left[node]
            else:
                node = right[node]
        out[i] = node


@uncounted
def add_up_children(left, right, sums):
    """Give each inner node the sum of its children, from the last node to the root.

    left, right   (n_nodes,)     int32    IN     children after their parent; -1 at a leaf
    sums          (n_nodes, k)   float64  INOUT  filled at the leaves on entry
    """
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] >= 0:
            for j in range(sums.shape[1]):
                sums[node, j] = sums[left[node], j] + sums[right[node], j]
