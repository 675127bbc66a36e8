r"""Pooled: how deep splits have held up so far, and how deep the next tree is grown for that.

Of a split the rows that chose it *claim* a gain, and rows that did not choose it *confirm* some of
that. One node's confirmation is mostly noise; those of all nodes of a depth, in the trees of the
last rounds, are not::

    depth     claimed   confirmed    share
      0         .40        .38        .93      u = .55: the tree has three depths of splits, because
      1         .35        .30        .82      the third is the last whose share is above u
      2         .30        .20        .60
      3         .25        .05        .10

A tree of which no node is asked draws u from [0, 1) and is grown until the last depth of which the
share, less one standard error, is above u. So splits at a depth are made as often as they have held
up, also below a root of which nothing is confirmed, as in exclusive or. `gbt.reference.policies`
has the plain twin.
"""

import numpy as np

from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import max, min
from gbt.kernels.trees.drawing import HALF, STEP, key_of_tree, scrambled

DEPTHS = 64  # the last stands for all below, too
KEPT = 0.97  # of what earlier rounds have told, in every round

# What the splits of one output have claimed and what was confirmed, by depth.
HELD_UP = np.dtype(
    [
        ("claimed", np.float64, (DEPTHS,)),  # parts of all that a tree claims, added up over trees
        ("confirmed", np.float64, (DEPTHS,)),
        ("square", np.float64, (DEPTHS,)),  # squares of what the trees' splits confirmed
        ("of_tree", np.float64, (DEPTHS,)),
    ]
)


@internal
def settle_depth(rules, habits, held_up):
    """Say how deep the tree is grown, and whether its nodes are asked: in every second round.

    rules      RULES            INOUT
    habits     HABITS           IN
    held_up    (K,)   HELD_UP   IN      one an output
    """
    tree = rules.first_tree + rules.n_grown
    rules.max_depth, rules.asks_nodes = habits.max_depth, 1
    if habits.pools == 0 or (tree // len(held_up)) % 2 == 1:
        return
    own, depth = held_up[tree % len(held_up)], np.int64(0)
    u = np.float64(scrambled(key_of_tree(rules) - STEP) >> HALF) / 2.0**32
    for d in range(DEPTHS):
        if own.confirmed[d] - np.sqrt(own.square[d]) > u * own.claimed[d]:
            depth = np.int64(d) + 1
    if depth > 0:
        rules.asks_nodes = 0
        if depth < DEPTHS:
            rules.max_depth = depth


@internal
def remember(nodes, rules, habits, held_up):
    """Add what the splits of a tree claimed, and what was confirmed of it.

    nodes      (n_nodes,)   NODE      IN      of which the searched ones have candidates
    held_up    (K,)         HELD_UP   INOUT
    """
    if habits.pools == 0:
        return
    own = held_up[(rules.first_tree + rules.n_grown) % len(held_up)]
    total = 0.0
    for j in range(len(nodes)):
        if nodes[j].candidate >= 0:
            total += max(nodes[j].claim, 0.0)
    for d in range(DEPTHS):
        own.claimed[d], own.confirmed[d] = KEPT * own.claimed[d], KEPT * own.confirmed[d]
        own.square[d], own.of_tree[d] = KEPT * KEPT * own.square[d], 0.0
    if total <= 0.0:
        return
    for j in range(len(nodes)):
        if nodes[j].candidate >= 0:
            d = min(nodes[j].depth, DEPTHS - 1)
            own.claimed[d] += max(nodes[j].claim, 0.0) / total
            own.of_tree[d] += nodes[j].gain / total
    for d in range(DEPTHS):
        own.confirmed[d] += own.of_tree[d]
        own.square[d] += own.of_tree[d] * own.of_tree[d]
