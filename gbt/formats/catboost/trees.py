r"""The nodes of CatBoost's trees in preorder, from the two forms in which it stores trees.

**Symmetric** trees have one split for all nodes of a depth: d splits ``x > border`` and 2^d leaves;
bit i of a leaf's number says whether split i holds. The last split is put at the root, so that
leaves are in order::

                   split 1                    leaves   0   1   2   3
                  /       \                    split 0  no  yes no  yes
             split 0     split 0              split 1  no  no  yes yes
             /    \       /    \
            0      1     2      3

Trees of one depth have one shape, so they are converted together.

**Other** trees (``grow_policy="Depthwise"`` and ``"Lossguide"``) are lists of nodes. A node has two
distances in the list: to the node for rows for which its split does not hold, and to that for rows
for which it does. 0 ends the walk: a node with two zeros is a leaf. A node with a single 0 is also
the leaf of that side, which gets a node of its own here, after it::

    node                 a       b       c     d               a
    distances            1 2     0 0     0 1   0 0            / \
                                                             b   c
                                                                / \
                                                  new leaf of c     d

A split of categories holds where x is one level. There an `Ensemble` sends the level left and all
others right, so such nodes change sides.
"""

from typing import NamedTuple

import numpy as np

from gbt.formats.catboost.binary import Model
from gbt.formats.nodes import Preorder, in_preorder


class CatBoostNodes(NamedTuple):
    """All nodes in preorder, a tree of every output in each round."""

    tree: Preorder
    split: np.ndarray  # which of the model's splits; at leaves, a number after the last
    value: np.ndarray  # 0 at inner nodes
    weight: np.ndarray  # 0 at inner nodes
    leaf: np.ndarray  # CatBoost's number of a leaf in its tree; 0 at inner nodes


def read_trees(model: Model) -> CatBoostNodes:
    """Return the nodes of all trees."""
    return _symmetric(model) if model.has_symmetric_trees else _others(model)


def _symmetric(model: Model) -> CatBoostNodes:
    n_outputs, depth = model.n_outputs, model.size.astype(np.int64)
    first_split = np.cumsum(depth) - depth
    n_leaves = 2**depth
    first_leaf = np.cumsum(n_leaves) - n_leaves
    changed = _changed_sides(model, depth, first_split)
    tree_offset = np.cumsum(np.append(0, np.repeat(2 * n_leaves - 1, n_outputs)))
    n_nodes = int(tree_offset[-1])
    split = np.full(n_nodes, len(model.feature))
    value, weight = np.zeros((2, n_nodes))
    leaf = np.zeros(n_nodes, dtype=np.int64)
    left, right = np.full((2, n_nodes), -1)
    leaf_value = model.leaf_value.reshape(-1, n_outputs)
    for d in np.unique(depth).tolist():
        level, lower_left, lower_right = _complete_tree(d)
        is_leaf = level == d
        for k in range(n_outputs):
            m = np.flatnonzero(depth == d)
            start = tree_offset[:-1][m * n_outputs + k][:, np.newaxis]
            inner, leaves = start + np.flatnonzero(~is_leaf), start + np.flatnonzero(is_leaf)
            left[inner], right[inner] = start + lower_left, start + lower_right
            split[inner] = model.split[first_split[m][:, np.newaxis] + d - 1 - level[~is_leaf]]
            leaf[leaves] = np.arange(2**d) ^ changed[m][:, np.newaxis]
            own = first_leaf[m][:, np.newaxis] + leaf[leaves]
            value[leaves], weight[leaves] = leaf_value[own, k], model.leaf_weight[own]
    tree = Preorder(np.arange(n_nodes), left, right, tree_offset)
    return CatBoostNodes(tree, split, value, weight, leaf)


def _changed_sides(model: Model, depth: np.ndarray, first_split: np.ndarray) -> np.ndarray:
    """Return for every tree a number whose bit i says whether split i changes sides."""
    tree = np.repeat(np.arange(len(depth)), depth)
    bit = 2 ** (np.arange(len(tree)) - first_split[tree])
    has_level = model.level[model.split] >= 0
    return np.bincount(tree, bit * has_level, minlength=len(depth)).astype(np.int64)


def _complete_tree(depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the depth of each node of a complete tree in preorder, and inner nodes' children."""
    level = np.zeros(1, dtype=np.int64)
    for _ in range(depth):
        level = np.concatenate([[0], level + 1, level + 1])
    inner = np.flatnonzero(level < depth)
    return level, inner + 1, inner + 2 ** (depth - level[inner])


def _others(model: Model) -> CatBoostNodes:
    further = model.further.astype(np.int64)
    ends = further == 0
    is_leaf, is_half_a_leaf = ends.all(axis=1), ends.any(axis=1) & ~ends.all(axis=1)
    number = np.arange(len(further))
    place = number + np.cumsum(is_half_a_leaf) - is_half_a_leaf
    n_nodes = len(number) + int(is_half_a_leaf.sum())
    children = np.where(ends, place[:, np.newaxis] + 1, place[number[:, np.newaxis] + further])
    children[is_leaf] = -1
    split = np.full(n_nodes, len(model.feature))
    split[place] = np.where(is_leaf, len(model.feature), model.split)
    leaf = np.repeat(model.leaf_of_node.astype(np.int64), 1 + is_half_a_leaf)
    links = np.full((n_nodes, 2), -1)
    links[place] = children
    has_level = np.append(model.level, -1)[split] >= 0
    links[has_level] = links[has_level, ::-1]
    tree = np.repeat(np.arange(len(model.size)), model.size)
    stops = np.cumsum(np.bincount(tree, 1 + is_half_a_leaf)).astype(np.int64)
    starts = np.append(0, stops[:-1])
    # Every output has all trees, so there is a copy of all nodes for each.
    copy = n_nodes * np.arange(model.n_outputs)
    left, right = (np.where(side < 0, -1, side + copy[:, np.newaxis]).ravel() for side in links.T)
    roots, ends_of_trees = ((of[:, np.newaxis] + copy).ravel() for of in (starts, stops))
    nodes = in_preorder("CatBoost", roots, ends_of_trees, left, right)
    output, node = np.divmod(nodes.order, n_nodes)
    value, weight = np.zeros((2, len(node)))
    own = leaf[node][nodes.is_leaf]
    value[nodes.is_leaf] = model.leaf_value[own + output[nodes.is_leaf]]
    weight[nodes.is_leaf] = model.leaf_weight[own // model.n_outputs]
    place_of_leaf = np.where(nodes.is_leaf, leaf[node], np.iinfo(np.int64).max)
    first = np.minimum.reduceat(place_of_leaf, nodes.tree_offset[:-1])
    in_tree = place_of_leaf - np.repeat(first, np.diff(nodes.tree_offset))
    in_tree = np.where(nodes.is_leaf, in_tree // model.n_outputs, 0)
    return CatBoostNodes(nodes, split[node], value, weight, in_tree)
