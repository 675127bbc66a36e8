"""Judged tasks: the part of a thread's work where some rows choose splits and others judge them.

    DRAW, LOOK, RECORD     see ``gbt.kernels.trees.tasks``

Columns are cut by some sets of rows and judged by others as soon as their histograms are there.
"""

import numpy as np

from gbt.kernels.cuts.judging import judge_column, search_bins, search_levels
from gbt.kernels.cuts.memory import terms_of
from gbt.kernels.platform.compiling import called_at, internal
from gbt.kernels.platform.instructions import min
from gbt.kernels.trees.drawing import deal_out, key_of_tree
from gbt.kernels.trees.experience import expected_of, output_of, rank_of, tell
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.kernels.trees.tasks import (
    LOOK,
    RECORD,
    best_column,
    is_searched,
    list_levels,
    record_levels,
)


@internal
def judge_columns(j, p, thread, work):
    """Find the best cuts of the columns of pack p in node j, and judge them by the rows that do."""
    table, rules, judging, node = work.table, work.rules[0], work.judging, work.nodes[j]
    pack, judge = table.packs[p], judging.judges[thread]
    held_up = judging.held_up[output_of(rules, judging)]
    for i in range(pack.start, pack.stop):
        k = table.in_packs[i]
        column, found = table.columns[k], work.slots.found[node.slot, k]
        found.score = -np.inf
        if found.is_open and is_searched(node, rules):
            terms = terms_of(column.direction, node, rules)
            if column.has_levels > 0:
                n_levels = list_levels(node, column, thread, work)
                own = work.of_levels[thread]
                search_levels(n_levels, rules, judging.habits[0], judge, own, terms.within)
            else:
                search_bins(work.slots.histogram[node.slot], column, terms, rules, judging, judge)
            judge_column(column, found, node, rules, judging, judge)
            if judging.habits[0].pools > 0 and found.score > -np.inf:
                tell(found, 2 * (thread * len(table.columns) + k), judging.told)
                found.score = rank_of(found, k, held_up)


@internal
def is_made(found, expected, depth, rules):
    """Say whether a split that rows have judged is made: if its worth to other rows is enough.

    Where no node is asked, it is enough to claim something; where nodes are asked, what is
    ``expected`` is added to the worth, see ``gbt.kernels.trees.experience``.
    """
    is_enough = found.claim > 0.0
    if depth >= rules.first_asked:
        is_enough = found.worth + expected >= rules.least_gain
    return is_enough and found.may_split != 0


@internal
def record_judged_split(j, thread, work):
    """Record the split that rows have judged best, if it is made."""
    table, rules, node = work.table, work.rules[0], work.nodes[j]
    found = work.slots.found[node.slot]
    k = best_column(found)
    best, column, expected = found[k], table.columns[k], 0.0
    if best.score == -np.inf:
        return
    node.candidate, node.gain, node.claim = k, best.worth, best.claim
    if work.judging.habits[0].pools > 0:
        held_up = work.judging.held_up[output_of(rules, work.judging)]
        expected = expected_of(best.claim, node.depth, k, held_up)
    if is_made(best, expected, node.depth, rules):
        node.feature, node.cut, node.missing_left = k, best.code, best.missing_left
        if column.has_levels == 0:
            node.cut = table.first_code[k, best.code + 1] - 1
        record_levels(node, thread, work)


@internal
def draw_sets(t, thread, work):
    """Draw the sets of a block of the rows that take part, and put these in order."""
    judging, rules, start = work.judging, work.rules[0], t * ROWS_PER_TASK
    deal_out(
        start, min(start + ROWS_PER_TASK, rules.n_listed), rules.n_listed, key_of_tree(rules),
        work.rows.listed, judging.habits[0], judging.deals[thread], judging.set_of_row,
        work.rows.buffer,
    )  # fmt: skip


@called_at
def run_judged_task(kind, t, thread, work):
    """Do what depends on the policy; see ``gbt.kernels.trees.tasks``."""
    if kind == LOOK:
        n_packs = len(work.table.packs)
        judge_columns(t // n_packs, t % n_packs, thread, work)
    elif kind == RECORD:
        record_judged_split(t, thread, work)
    else:
        draw_sets(t, thread, work)
