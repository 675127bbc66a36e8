r"""The nodes of CatBoost's trees in preorder, from the two forms in which it stores trees.

**Symmetric** trees have one split for all nodes of a depth: d splits ``x > border`` and 2^d leaves;
bit i of a leaf's number says whether split i holds. The last split is put at the root, so that
leaves are in order::

                   split 1                    leaves   0   1   2   3
                  /       \                    split 0  no  yes no  yes
             split 0     split 0              split 1  no  no  yes yes
             /    \       /    \
            0      1     2      3

So it is a list of nodes, too, depth by depth, and is read as one.

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
    place: np.ndarray  # of a leaf's value among all; 0 at inner nodes


def read_trees(model: Model) -> CatBoostNodes:
    """Return the nodes of all trees."""
    if not len(model.further):  # all nodes of a depth have the same split
        model = _as_lists(model)
    further = model.further.astype(np.int64)
    ends = further == 0
    is_leaf, is_half_a_leaf = ends[:, 0] & ends[:, 1], ends[:, 0] ^ ends[:, 1]
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
    stops = np.cumsum(1 + is_half_a_leaf)[np.cumsum(model.size) - 1]
    sizes = np.diff(stops, prepend=0)
    links = np.where(links < 0, -1, links - np.repeat(stops - sizes, sizes)[:, np.newaxis])
    # Every output has all trees, so a copy of each tree follows for each.
    starts, sizes = (np.repeat(of, model.n_outputs) for of in (stops - sizes, sizes))
    node = np.arange(sizes.sum()) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    nodes = in_preorder("CatBoost", sizes, *links[node].T)
    output = nodes.by_node(np.arange(len(sizes)) % model.n_outputs)
    node, is_leaf = node[nodes.order], nodes.is_leaf
    leaf = leaf[node]
    place = np.where(is_leaf, leaf, 0)
    value = np.where(is_leaf, model.leaf_value[place + output], 0.0)
    weight = np.where(is_leaf, model.leaf_weight[place // model.n_outputs], 0.0)
    return CatBoostNodes(nodes, split[node], value, weight, place)


def _as_lists(model: Model) -> Model:
    """Return a model of symmetric trees as one whose trees are lists of nodes, depth by depth."""
    depth, n_leaves = model.size.astype(np.int64), 2 ** model.size.astype(np.int64)
    sizes = 2 * n_leaves - 1
    first_split, first_leaf, start = (np.cumsum(of) - of for of in (depth, n_leaves, sizes))
    tree = np.repeat(np.arange(len(depth)), sizes)
    place = np.arange(len(tree)) - start[tree]
    level = np.frexp(place + 1)[1] - 1
    is_leaf = level == depth[tree]
    split = np.where(is_leaf, -1, first_split[tree] + depth[tree] - 1 - level)
    leaf = first_leaf[tree] + place + 1 - n_leaves[tree]
    return model._replace(
        size=sizes,
        split=np.append(model.split, 0)[split],
        further=np.where(is_leaf, 0, [place + 1, place + 2]).T,
        leaf_of_node=model.n_outputs * leaf,
    )
