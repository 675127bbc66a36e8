"""Trees whose rows others hold: how they begin and end, their nodes, the sets of a member's rows.

All sums come from the members. What follows from them is as in ``gbt.kernels.trees.rounds``. What
``gbt.kernels.trees.tasks`` calls LOOK and RECORD needs histograms and no rows: the policy searches
the members' histograms, added up, by the same code as those in memory.
"""

import numpy as np

from gbt.kernels.platform.compiling import uncounted
from gbt.kernels.platform.handing import call_at, handed
from gbt.kernels.platform.instructions import min
from gbt.kernels.trees.drawing import deal_block, key_of_draws
from gbt.kernels.trees.experience import look_back, remember
from gbt.kernels.trees.finish import finish_splits, put_in_preorder, rates_of, write_leaf
from gbt.kernels.trees.quantise import ROWS_PER_TASK, settle_units
from gbt.kernels.trees.rounds import add_up_scores
from gbt.kernels.trees.tasks import LOOK, RECORD, ZERO


@uncounted
def deal_places(places, n_rows, draws, n_sets, part, set_of_place):
    """Draw the sets of some places of a tree's rows, as ``gbt.kernels.trees.drawing`` does.

    places         (m,)               int64     IN        ascending
    n_rows                            int64     IN        of the tree, all members' together
    draws          2 x uint64                   IN        seed of the fit, number of the tree
    n_sets         2 x int64                    IN        parts and sets, as in `HABITS`
    part           (ROWS_PER_TASK,)   int64     scratch   of a block of places
    set_of_place   (m,)               uint8     OUT
    """
    key, size, after = key_of_draws(draws[0], draws[1]), ROWS_PER_TASK, np.int64(0)
    for i in range(len(places)):
        if places[i] >= after:
            first = places[i] // size * size
            after = min(first + size, n_rows)
            deal_block(first, after, key, n_sets[0], part)
        set_of_place[i] = min(part[places[i] % size], n_sets[1] - 1)


@uncounted
def begin_tree(totals, is_whole, weight, rules, judging):
    """Settle the units of a tree and what is known of splits; say whether all sums are finite.

    totals     (3,)   float64       IN      see ``gbt.kernels.trees.quantise.settle_units``
    is_whole          bool          IN
    weight            float64       IN      of all rows, where they have one and a hessian of 1
    rules      (1,)   RULES         INOUT
    judging           ``Judging``   INOUT
    """
    look_back(rules[0], judging)
    return settle_units((totals[0], totals[1], totals[2]), is_whole, (1.0, weight), rules[0])


@uncounted
def search_nodes(n_nodes, work, policy):
    """Find the splits of the first nodes, each of which has a slot with its histogram.

    n_nodes   int64             IN
    work      ``Work``   INOUT  see ``gbt.kernels.cuts.memory``
    policy                      address of a kernel, see ``gbt.kernels.trees.tasks``
    """
    work = handed(work)
    n_packs = len(work.table.packs)
    for j in range(n_nodes):
        for p in range(n_packs):
            call_at(policy, LOOK, j * n_packs + p, ZERO, work)
        call_at(policy, RECORD, j, ZERO, work)


@uncounted
def end_tree_by_sums(nodes, sums, rules, judging, tree, rows_at_cut):
    """Write a tree down in preorder, and what it tells of splits; say if all numbers are finite.

    nodes         (n,)     NODE          INOUT     children after their parent
    sums          (n, 2)   float64       IN        G and H; only those of leaves are read
    rules         (1,)     RULES         IN
    judging                ``Judging``   INOUT     ``scores`` and ``held_up``
    tree          (n,)     NODE_RECORD   OUT       thresholds come later
    rows_at_cut   (n, 2)   int32         scratch
    """
    rates = rates_of(rules[0])
    put_in_preorder(nodes)
    for j in range(len(nodes)):
        if nodes[j].left < 0:
            write_leaf(tree[nodes[j].place], nodes[j], sums[j, 0], sums[j, 1], rates)
    if rules[0].has_sets:
        add_up_scores(nodes, rules[0], judging.scores[0])
        remember(nodes, rules[0], judging)
    return finish_splits(nodes, rates, tree, rows_at_cut)
