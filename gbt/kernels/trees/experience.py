r"""Experience: how splits have held up so far, by depth and column, and what follows for a tree.

Of a split the rows that chose it *claim* a gain, and rows that did not choose it *confirm* some of
that. One node's confirmation is mostly noise; those of all nodes of a depth, in the trees of the
last rounds, are not::

    depth     claimed   confirmed    share
      0         .40        .38        .95      u = .55: the tree has three depths of splits, because
      1         .35        .30        .86      the third is the last whose share is above u
      2         .30        .20        .67
      3         .25        .05        .20

Each tree draws u from [0, 1), is grown until the last depth of which the share is above u, and no
node of the first `UNASKED` depths is asked. So splits at a depth are made as often as they have
held up, also below a root of which nothing is confirmed, as in exclusive or.

If no share is above u, as mostly in noise, all nodes are asked; below `UNASKED` depths always. By
chance other rows confirm half of what noise claims, so experience has a say. A node is split if

    what other rows confirm + (share of its depth + share of its column) * claim >= 0

(or `min_split_gain`), a share of which nothing is known being 0. In noise shares are below 0, so
of its splits few are made; and a column that has held up is split although a few rows say no.

From `FEW` rows on the limit is u^2, so splits are made more often: with the square root of the
share as probability. Of many trees the mean forgives what a single split gets wrong. On real tables
of more than 1,000 rows that leaves less of the loss; fewer rows gain nothing, and noise gets more
of the gain. A cube root is no better.

The cuts of a column claim and confirm as well, whether or not the column is taken. Its share, at
least 0 and at most 1, is the *trust* in it. A node takes the column of largest

    OWN * (what other rows say of its cut, s_2) + (1 - OWN) * trust * (what its cut claims)

The second term is what experience expects the cut to be worth. It is not as noisy as the first,
which few rows of a single node say; and columns whose cuts only ever claim get nothing by it. If
all trust is 0, the first term decides; a column that has claimed nothing yet has s_2 alone.
`gbt.reference.policies` has the plain twin.
"""

import numpy as np

from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import max, min
from gbt.kernels.trees.drawing import HALF, STEP, key_of_tree, scrambled

DEPTHS = 64  # the last stands for all below, too
KEPT = 0.98  # of what earlier rounds have told, in every round; see docs/accuracy.md
UNASKED = 6  # deeper nodes are many and small: what they add up to says little of any one
FEW = 500  # fewer rows than this are careful, see above
OWN = 0.05  # on real tables 0.02 is as good; with 0.2 noise gets twice as much gain

# Of each output, added up over trees: what has been claimed, and what was confirmed of it. By depth
# in parts of all that a tree claims, then by column.
CLAIMED, CONFIRMED = 0, 1
# What threads add up is in whole numbers, so that their order does not matter. Sums of |g| and of
# hessians are near 2^60 (``gbt.kernels.trees.quantise``), and so is a large claim.
UNIT, MOST = 2.0**28, 2.0**40


def nothing_held_up(n_columns, n_outputs=1):
    """Return what has held up before the first tree, (K, 2, DEPTHS + p)."""
    return np.zeros((n_outputs, 2, DEPTHS + n_columns))


@internal
def output_of(rules, judging):
    """Return the number of the output that the tree is of."""
    return (rules.first_tree + rules.n_grown) % len(judging.held_up)


@internal
def share_of(own, place):
    """Return what part of the claims of a depth or a column was confirmed, NaN without claims."""
    claimed = own[CLAIMED, place]
    return own[CONFIRMED, place] / claimed if 0.0 < claimed < np.inf else np.nan


@internal
def look_back(rules, judging):
    """Say how deep the tree is grown, and from which depth on its nodes are asked.

    rules     RULES         INOUT
    judging   ``Judging``   INOUT   ``told``, which begins anew
    """
    habits = judging.habits[0]
    rules.max_depth, rules.first_asked = habits.max_depth, 0
    if habits.pools == 0:
        return
    for i in range(len(judging.told)):
        judging.told[i] = 0
    own = judging.held_up[output_of(rules, judging)]
    u = np.float64(scrambled(key_of_tree(rules) - STEP) >> HALF) / 2.0**32
    if rules.n_listed >= FEW:
        u *= u
    depth = np.int64(0)
    for d in range(DEPTHS):
        if own[CONFIRMED, d] > u * own[CLAIMED, d]:
            depth = np.int64(d) + 1
    rules.first_asked = min(depth, np.int64(UNASKED))
    if 0 < depth < DEPTHS and (habits.max_depth < 0 or depth < habits.max_depth):
        rules.max_depth = depth  # earlier fits may have gone deeper than this one may


@internal
def rank_of(found, k, own):
    """Return by what column k is chosen for its cut."""
    share = share_of(own, DEPTHS + k)
    if np.isnan(share):
        return found.score
    return OWN * found.score + (1.0 - OWN) * min(max(share, 0.0), 1.0) * found.claim


@internal
def expected_of(claim, depth, k, own):
    """Return what experience with a depth and with column k adds to what a node says of a cut."""
    of_depth, of_column = share_of(own, min(depth, DEPTHS - 1)), share_of(own, DEPTHS + k)
    known = (0.0 if np.isnan(of_depth) else of_depth) + (0.0 if np.isnan(of_column) else of_column)
    return known * max(claim, 0.0)


@internal
def tell(found, place, told):
    """Add what a cut claims, if anything, and what is confirmed of it.

    place   int64                 of its column and thread
    told    (numbers,)   INOUT    see ``Judging``
    """
    if found.claim > 0.0:
        told[place] += np.int64(min(found.claim / UNIT, MOST))
        told[place + 1] += np.int64(min(max(found.worth / UNIT, -MOST), MOST))


@internal
def remember(nodes, rules, judging):
    """Add what the splits of a tree claimed, and what was confirmed of it.

    nodes     (n_nodes,)   NODE        IN      of which the searched ones have candidates
    judging                ``Judging``   INOUT   ``held_up``
    """
    if judging.habits[0].pools == 0:
        return
    own = judging.held_up[output_of(rules, judging)]
    unit, told = UNIT / rules.g_scale * (rules.h_scale / rules.g_scale), judging.told
    n_columns = own.shape[1] - DEPTHS
    for line in range(2):
        for d in range(own.shape[1]):
            own[line, d] *= KEPT
        for k in range(n_columns):
            of_column = np.int64(0)
            for place in range(2 * k + line, len(told), 2 * n_columns):
                of_column += told[place]
            own[line, DEPTHS + k] += of_column * unit
    total = 0.0
    for j in range(len(nodes)):
        if nodes[j].candidate >= 0:
            total += max(nodes[j].claim, 0.0)
    for j in range(len(nodes) if total > 0.0 else 0):
        if nodes[j].candidate >= 0:
            d = min(nodes[j].depth, DEPTHS - 1)
            own[CLAIMED, d] += max(nodes[j].claim, 0.0) / total
            own[CONFIRMED, d] += nodes[j].gain / total
