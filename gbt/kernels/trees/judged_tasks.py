"""Judged tasks: the work of a team's threads if some rows choose splits and others judge them.

    DRAW, SEARCH, RECORD, MARK     see ``gbt.kernels.trees.tasks``

Columns are cut by some sets of rows and judged by others as soon as their histograms are there.
"""

import numpy as np

from gbt.kernels.cuts.histogram import subtract
from gbt.kernels.cuts.judged_levels import search_levels, tell_sides
from gbt.kernels.cuts.judging import fill_sets, judge_column, search_bins
from gbt.kernels.cuts.memory import layout_of, terms_of
from gbt.kernels.platform.compiling import called_at, internal
from gbt.kernels.platform.instructions import min
from gbt.kernels.trees.drawing import deal_out, key_of_tree
from gbt.kernels.trees.node_columns import open_columns
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.kernels.trees.tasks import ALL_PACKS, DRAW, MARK, RECORD, best_column, is_searched


@internal
def judge_columns(j, p, slot, thread, work):
    """Find the best cuts of the columns of pack p, and judge them by the rows that do."""
    table, rows, rules, node = work.table, work.rows, work.rules[0], work.nodes[j]
    judging = work.judging
    listed, pack = rows.listed[node.start : node.stop], table.packs[p]
    judge = judging.judges[thread]
    for i in range(pack.start, pack.stop):
        k = table.in_packs[i]
        column, found = table.columns[k], work.slots.found[slot, k]
        found.score = -np.inf
        if found.is_open and is_searched(node, rules):
            terms = terms_of(column.direction, node, rules)
            if column.has_levels > 0:
                own = judging.of_levels[thread]
                search_levels(listed, k, table, rows, rules, judging, judge, own, terms.within)
            else:
                search_bins(work.slots.histogram[slot], column, terms, rules, judging, judge)
            judge_column(column, found, node, rules, judging, judge)


@internal
def is_made(found, rules):
    """Say whether a split that rows have judged is made: if its worth to other rows is enough.

    In a tree that asks no node (``gbt.kernels.trees.pooled``) it is enough to claim something.
    """
    is_enough = found.worth >= rules.least_gain if rules.asks_nodes else found.claim > 0.0
    return is_enough and found.may_split != 0


@internal
def record_judged_split(j, slot, work):
    """Record the split that rows have judged best, if it is made."""
    table, rules, node = work.table, work.rules[0], work.nodes[j]
    found = work.slots.found[slot]
    k = best_column(found)
    best, column = found[k], table.columns[k]
    if best.score == -np.inf:
        return
    node.candidate, node.gain, node.claim = k, best.worth, best.claim
    if is_made(best, rules):
        node.feature, node.cut, node.missing_left = k, best.code, best.missing_left
        if column.has_levels == 0:
            node.cut = table.first_code[k, best.code + 1] - 1


@internal
def search_by_sets(task, thread, work):
    """Search a small node, or a pack of a pair of large ones, where rows judge splits."""
    table, rows, nodes, slots = work.table, work.rows, work.nodes, work.slots
    judging = work.judging
    layout, judge = layout_of(work.rules[0]), judging.judges[thread]
    if task.place == ALL_PACKS:
        open_columns(
            nodes[task.node], table.columns, work.rules[0], work.following, slots.found[thread]
        )
        for p in range(len(table.packs)):
            own = slots.histogram[thread]
            fill_sets(p, nodes[task.node], table, rows, layout, own, judging, judge)
            judge_columns(task.node, p, thread, thread, work)
        record_judged_split(task.node, thread, work)
        return
    p, pack, slot = task.place, table.packs[task.place], nodes[task.node].slot
    own = slots.histogram[slot]
    fill_sets(p, nodes[task.node], table, rows, layout, own, judging, judge)
    if task.other >= 0:
        rest, size = slots.histogram[nodes[task.other].slot], len(own) // judging.habits[0].n_sets
        for start in range(0, len(own), size):
            first, last = (
                start + pack.first_bin * layout.width,
                start + pack.last_bin * layout.width,
            )
            subtract(own, first, last, rest)
        judge_columns(task.other, p, nodes[task.other].slot, thread, work)
    judge_columns(task.node, p, slot, thread, work)


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
    """Do task t of a phase, or what is asked about node t."""
    if kind == RECORD:
        record_judged_split(t, work.nodes[t].slot, work)
    elif kind == MARK:
        tell_sides(t, work.judging.of_levels[thread], work)
    elif kind == DRAW:
        draw_sets(t, thread, work)
    else:
        search_by_sets(work.tasks[t], thread, work)
