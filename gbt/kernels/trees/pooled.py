r"""Pooled: how deep splits have held up so far, and how deep the next tree is grown for that.

Of a split the rows that chose it *claim* a gain, and rows that did not choose it *confirm* some of
that. One node's confirmation is mostly noise; those of all nodes of a depth, in the trees of the
last rounds, are not::

    depth     claimed   confirmed    share
      0         .40        .38        .95      u = .55: the tree has three depths of splits, because
      1         .35        .30        .86      the third is the last whose share is above u
      2         .30        .20        .67
      3         .25        .05        .20

Each tree draws u from [0, 1), is grown until the last depth of which the share is above u, and no
node is asked. So splits at a depth are made as often as they have held up, also below a root of
which nothing is confirmed, as in exclusive or. If no share is above u, which in noise is the rule,
every node is asked.

From `FEW` rows on the limit is u^2, so splits are made more often: with the square root of the
share as probability. Of many trees the mean forgives what a single split gets wrong. On real tables
of more than 1,000 rows that leaves less of the loss; fewer rows gain nothing, and noise gets more
of the gain. A cube root is no better.
`gbt.reference.policies` has the plain twin.
"""

import numpy as np

from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import max, min
from gbt.kernels.trees.drawing import HALF, STEP, key_of_tree, scrambled

DEPTHS = 64  # the last stands for all below, too
KEPT = 0.97  # of what earlier rounds have told, in every round
FEW = 500  # fewer rows than this are careful, see above

# Of each output and depth, added up over trees: parts of all that a tree claims, and what was
# confirmed of it.
CLAIMED, CONFIRMED = 0, 1


def nothing_held_up(n_outputs=1):
    """Return what has held up before the first tree, (K, 2, DEPTHS)."""
    return np.zeros((n_outputs, 2, DEPTHS))


@internal
def settle_depth(rules, habits, held_up):
    """Say how deep the tree is grown, and whether its nodes are asked.

    rules      RULES            INOUT
    habits     HABITS           IN
    held_up    (K, 2, DEPTHS)   IN
    """
    rules.max_depth, rules.asks_nodes = habits.max_depth, 1
    if habits.pools == 0:
        return
    own, depth = held_up[(rules.first_tree + rules.n_grown) % len(held_up)], np.int64(0)
    u = np.float64(scrambled(key_of_tree(rules) - STEP) >> HALF) / 2.0**32
    if rules.n_listed >= FEW:
        u *= u
    for d in range(DEPTHS):
        if own[CONFIRMED, d] > u * own[CLAIMED, d]:
            depth = np.int64(d) + 1
    if depth > 0:
        rules.asks_nodes = 0
        if depth < DEPTHS:
            rules.max_depth = depth


@internal
def remember(nodes, rules, habits, held_up):
    """Add what the splits of a tree claimed, and what was confirmed of it.

    nodes      (n_nodes,)   NODE    IN   of which the searched ones have candidates
    held_up    (K, 2, DEPTHS)   INOUT
    """
    if habits.pools == 0:
        return
    own = held_up[(rules.first_tree + rules.n_grown) % len(held_up)]
    total = 0.0
    for j in range(len(nodes)):
        if nodes[j].candidate >= 0:
            total += max(nodes[j].claim, 0.0)
    for d in range(DEPTHS):
        own[CLAIMED, d], own[CONFIRMED, d] = KEPT * own[CLAIMED, d], KEPT * own[CONFIRMED, d]
    if total <= 0.0:
        return
    for j in range(len(nodes)):
        if nodes[j].candidate >= 0:
            d = min(nodes[j].depth, DEPTHS - 1)
            own[CLAIMED, d] += max(nodes[j].claim, 0.0) / total
            own[CONFIRMED, d] += nodes[j].gain / total
