"""Greedy tasks: the part of a thread's work in which the cut of largest gain is sought.

    LOOK, REFINE, RECORD     see ``gbt.kernels.trees.tasks``

Bounds tell which columns of a node need be looked at more closely, once all columns have been
surveyed; so its search has two phases.
"""

import numpy as np

from gbt.kernels.cuts.levels import best_set
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS, terms_of
from gbt.kernels.cuts.refine import refine_column
from gbt.kernels.cuts.scores import own_score
from gbt.kernels.cuts.search import has_closed_bins, survey
from gbt.kernels.platform.compiling import called_at, internal
from gbt.kernels.platform.instructions import max, min
from gbt.kernels.trees.tasks import (
    LOOK,
    RECORD,
    best_column,
    is_in_question,
    is_searched,
    list_levels,
    record_levels,
)

ALL_ROWS = np.int64(0)  # the only sum


@internal
def survey_columns(j, p, thread, work):
    """Survey the columns of pack p in node j, see ``gbt.kernels.cuts.search.survey``."""
    table, rules, node, pack = work.table, work.rules[0], work.nodes[j], work.table.packs[p]
    histogram, habits = work.slots.histogram[node.slot], work.judging.habits[0]
    for i in range(pack.start, pack.stop):
        k = table.in_packs[i]
        column, found = table.columns[k], work.slots.found[node.slot, k]
        terms = terms_of(column.direction, node, rules)
        found.score = found.bound = -np.inf
        if not (found.is_open and is_searched(node, rules)):
            continue
        if column.has_levels == BY_ROWS:
            found.bound = np.inf  # see `refine`
            continue
        if column.has_levels == IN_BINS:
            n_levels, own = list_levels(node, column, thread, work), work.of_levels[thread]
            best = best_set(ALL_ROWS, n_levels, terms, rules, habits, own)
            found.score, found.code, found.missing_left = best
        else:
            cut, found.bound, _ = survey(
                histogram, column, found.bits, has_closed_bins(column, found.bits),
                table.first_code[k], terms, node.to_beat, work.scratch[thread],
            )  # fmt: skip
            found.score, found.code, found.missing_left = cut.score, ~cut.code, cut.missing_left
        node.to_beat = max(node.to_beat, found.score)


@internal
def refine(j, k, thread, work):
    """Look inside the bins of one column, if a cut there could be the best of a node.

    For levels without bins nothing is known before, so their bound is above all scores.
    """
    table, rules = work.table, work.rules[0]
    node, column = work.nodes[j], table.columns[k]
    found, terms = work.slots.found[node.slot, k], terms_of(column.direction, node, rules)
    if not is_in_question(found, node):  # not any more
        return
    if column.has_levels == BY_ROWS:
        n_levels, own = list_levels(node, column, thread, work), work.of_levels[thread]
        best = best_set(ALL_ROWS, n_levels, terms, rules, work.judging.habits[0], own)
    else:
        best = refine_column(
            j, k, found, node, work.slots.histogram[node.slot], table, work.rows, terms,
            work.scratch[thread],
        )  # fmt: skip
    found.score, found.code, found.missing_left = best.score, best.code, best.missing_left
    node.to_beat = max(node.to_beat, best.score)


@internal
def refine_all(j, thread, work):
    """Refine the columns of a node, the best first: what it gains spares others."""
    found = work.slots.found[work.nodes[j].slot]
    best, n_columns = best_column(found), len(found)
    for i in range(best, best + n_columns):
        refine(j, i if i < n_columns else i - n_columns, thread, work)


@internal
def record_split(j, thread, work):
    """Write down the split of a node, if one gains enough."""
    table, rules, node = work.table, work.rules[0], work.nodes[j]
    found = work.slots.found[node.slot]
    k = best_column(found)
    best, column = found[k], table.columns[k]
    score, least_gain = own_score(node, rules)
    node.feature, node.gain = -1, best.score - score
    if node.gain > least_gain:
        if best.code < 0:  # the last of a bin
            after = min(~best.code + (1 << best.bits), column.n_bins)
            best.code = table.first_code[k, after] - 1
        node.feature, node.cut, node.missing_left = k, best.code, best.missing_left
        record_levels(node, thread, work)


@called_at
def run_greedy_task(kind, t, thread, work):
    """Do what depends on the policy; see ``gbt.kernels.trees.tasks``."""
    if kind == LOOK:
        n_packs = len(work.table.packs)
        survey_columns(t // n_packs, t % n_packs, thread, work)
    elif kind == RECORD:
        if work.nodes[t].slot < work.rules[0].n_threads:  # a small node, in a thread's own slot
            refine_all(t, thread, work)
        record_split(t, thread, work)
    else:
        refine(work.tasks[t].node, work.tasks[t].which, thread, work)
