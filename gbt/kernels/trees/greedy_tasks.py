"""Greedy tasks: the work of a team's threads where the cut of largest gain is sought.

    SEARCH, REFINE, RECORD, MARK     see ``gbt.kernels.trees.tasks``

Bounds tell which columns of a large node need be looked at more closely, once all columns have been
surveyed; so its search has two phases.
"""

import numpy as np

from gbt.kernels.cuts.histogram import subtract
from gbt.kernels.cuts.levels import best_set_of_rows, record_bits, sides_by_bits, sides_by_rows
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS, layout_of, terms_of
from gbt.kernels.cuts.packed_bins import ALL_BINS, fill_histograms, group_bins, survey_columns
from gbt.kernels.cuts.refine import refine_column
from gbt.kernels.cuts.scores import own_score
from gbt.kernels.platform.compiling import called_at, inlined, internal
from gbt.kernels.platform.instructions import max, min
from gbt.kernels.trees.tasks import (
    ALL_PACKS,
    MARK,
    RECORD,
    REFINE,
    begin_search,
    best_column,
    is_in_question,
    is_searched,
)


@internal
def refine(j, k, slot, thread, work):
    """Look inside the bins of one column, if a cut there could be the best of a node.

    For levels without bins nothing is known before, so their bound is above all scores.
    """
    table, rows, rules = work.table, work.rows, work.rules[0]
    node, found, column = work.nodes[j], work.slots.found[slot, k], table.columns[k]
    if not is_in_question(found, node):  # not any more
        return
    if column.has_levels == BY_ROWS:
        best = best_set_of_rows(k, node, table, rows, rules, work.searching.of_levels[thread])
    else:
        best = refine_column(
            j, k, found, node, work.slots.histogram[slot], table, rows,
            terms_of(column.direction, node, rules), work.searching.scratch[thread],
        )  # fmt: skip
    found.score, found.code, found.missing_left = best.score, best.code, best.missing_left
    node.to_beat = max(node.to_beat, best.score)


@internal
def record_split(j, slot, thread, work):
    """Write down the split of a node, if one gains enough."""
    table, rules, node, found = work.table, work.rules[0], work.nodes[j], work.slots.found[slot]
    k = best_column(found)
    best, column = found[k], table.columns[k]
    score, least_gain = own_score(node, rules)
    node.feature, node.gain = -1, best.score - score
    if node.gain > least_gain:
        if best.code < 0:  # the last of a bin
            after = min(~best.code + (1 << best.bits), column.n_bins)
            best.code = table.first_code[k, after] - 1
        node.feature, node.cut, node.missing_left = k, best.code, best.missing_left
        if column.has_levels == IN_BINS:
            histogram, terms = work.slots.histogram[slot], terms_of(column.direction, node, rules)
            record_bits(node, histogram, column, terms, rules, work.searching.of_levels[thread])


@internal
def mark_rows(j, thread, work):
    """Mark the rows of a node with their side of its set of levels."""
    rows, node, table = work.rows, work.nodes[j], work.table
    column, codes = table.columns[node.feature], table.codes[table.columns[node.feature].line]
    listed, own = rows.listed[node.start : node.stop], work.searching.of_levels[thread]
    if column.has_levels == IN_BINS:
        sides_by_bits(node, codes, listed, rows.side)
    else:
        sides_by_rows(node, listed, codes, column.n_values + 1, rows, work.rules[0], own)


@inlined
def search_small(j, thread, work):
    """Find the split of a small node, in the thread's own slot."""
    table, slots, rules = work.table, work.slots, work.rules[0]
    node, found, scratch = work.nodes[j], slots.found[thread], work.searching.scratch[thread]
    n_rows, of_levels = node.stop - node.start, work.searching.of_levels[thread]
    begin_search(node, thread, table, rules, work.following, slots.found)
    for p in range(len(table.packs)):
        mask = group_bins(table.packs[p], n_rows, table, found)
        fill_histograms(p, node, mask, table, work.rows, layout_of(rules), thread, slots, scratch)
        survey_columns(p, node, thread, table, slots, rules, scratch, of_levels)
    best, n_columns = best_column(found), len(found)  # what it gains spares others
    for i in range(best, best + n_columns):
        refine(j, i if i < n_columns else i - n_columns, thread, thread, work)
    record_split(j, thread, thread, work)


@inlined
def search_pair(task, thread, work):
    """Survey the columns of a pack in a pair of large nodes; the root comes alone, with -1."""
    smaller, larger, p = task.node, task.other, task.place
    table, rows, nodes, slots, rules = work.table, work.rows, work.nodes, work.slots, work.rules[0]
    scratch, of_levels = work.searching.scratch[thread], work.searching.of_levels[thread]
    own, width, pack = nodes[smaller].slot, rules.width, table.packs[p]
    fill_histograms(p, nodes[smaller], ALL_BINS, table, rows, layout_of(rules), own, slots, scratch)
    if larger >= 0:
        subtract(
            slots.histogram[own], pack.first_bin * width, pack.last_bin * width,
            slots.histogram[nodes[larger].slot],
        )  # fmt: skip
    for j in (larger, smaller):
        if j >= 0 and is_searched(nodes[j], rules):
            survey_columns(p, nodes[j], nodes[j].slot, table, slots, rules, scratch, of_levels)
        elif j >= 0:
            for i in range(pack.start, pack.stop):
                found = slots.found[nodes[j].slot, table.in_packs[i]]
                found.score = found.bound = -np.inf


@called_at
def run_greedy_task(kind, t, thread, work):
    """Do task t of a phase, or what is asked about node t."""
    if kind == RECORD:
        record_split(t, work.nodes[t].slot, thread, work)
    elif kind == MARK:
        mark_rows(t, thread, work)
    elif kind == REFINE:
        task = work.tasks[t]
        refine(task.node, task.place, work.nodes[task.node].slot, thread, work)
    elif work.tasks[t].place == ALL_PACKS:
        search_small(work.tasks[t].node, thread, work)
    else:
        search_pair(work.tasks[t], thread, work)
