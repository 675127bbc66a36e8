"""Tasks: the work of a team's threads, each a small part of a round of boosting.

    DERIVE      a block of rows          gradients at the raw predictions so far
    MEASURE     a block of the rows      how large these are
                that take part
    QUANTISE    the same                 gradients as integers, and their sums
    DRAW        the same                 sets, where some rows choose and others judge
    SEARCH      a large pair of          histogram of the smaller child from its rows, of the larger
                children, one pack of    one by subtraction from their parent's; survey of the
                columns                  columns
                a small node             the whole search, all columns
    REFINE      a large node, a column   row by row inside bins, if it could beat all others; or
                                         levels that have no bins, from the rows
    PARTITION   a node that splits       partition its rows, add up its children
    FINISH      some nodes               sums and values of those that are leaves; raw predictions
                                         of their rows

Results do not depend on which thread runs a task. Sums over rows are of integers, or correctly
rounded (``gbt.kernels.rows.sums``); and a thread that reads an old value of the score to beat only
looks at more cuts than necessary.
"""

import numpy as np

from gbt.kernels.cuts.bounds import share_bounds
from gbt.kernels.cuts.histogram import hessian_of, subtract
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS, layout_of, terms_of
from gbt.kernels.cuts.node_levels import best_set_of_rows, record_bits, sides_by_bits, sides_by_rows
from gbt.kernels.cuts.packed_bins import (
    ALL_BINS,
    fill_histograms,
    group_bins,
    survey_columns,
    write_codes,
)
from gbt.kernels.cuts.refine import refine_column
from gbt.kernels.cuts.search import SAFETY, own_score
from gbt.kernels.platform.compiling import inlined, internal
from gbt.kernels.platform.instructions import AHEAD, max, min, prefetch
from gbt.kernels.rows.derivatives import GIVEN, write_derivatives
from gbt.kernels.trees.finish import finish_leaves, rates_of
from gbt.kernels.trees.node_columns import open_columns, pass_on
from gbt.kernels.trees.nodes import LEFT, NO_SIDE, open_node
from gbt.kernels.trees.partition import partition_rows
from gbt.kernels.trees.quantise import ROWS_PER_TASK, measure_rows, quantise_rows

# These have a type of NumPy because Numba takes every plain number for a type of its own, and would
# compile a kernel once more for each that it is handed.
DERIVE, MEASURE, QUANTISE, SEARCH = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
REFINE, PARTITION, FINISH, DRAW = np.int64(4), np.int64(5), np.int64(6), np.int64(7)
ALL_PACKS, ZERO = np.int64(-1), np.int64(0)
NODES_PER_TASK = 8
# A node is large if its rows times columns are this many times the bins of its histogram: then
# subtracting that, from beyond the L1 cache, takes less time than adding rows.
LARGE = 4


@internal
def is_large(n_rows, rules):
    """Say whether nodes of so many rows keep a histogram."""
    return n_rows > rules.most_rows_small


@internal
def may_split(node, rules):
    """Say whether depth and number of rows allow a node to be split."""
    is_deep = rules.max_depth >= 0 and node.depth >= rules.max_depth
    return not is_deep and node.stop - node.start >= 2 * rules.min_rows


@internal
def is_searched(node, rules):
    """Say whether a node is searched, once its sums are known: two children must weigh enough."""
    return may_split(node, rules) and float(node.h) * SAFETY >= 2.0 * rules.min_hessian


@internal
def add_up_rows(rows, node, layout):
    """Add up g, h and |g| of a node's rows."""
    numbers = np.uint64(layout.width >> 1)  # unsigned, as in ``gbt.kernels.cuts.histogram``
    listed, entries, last = rows.listed, rows.entries, np.uint64(node.stop - 1)
    g = h = magnitude = np.int64(0)
    for i in range(np.uint64(node.start), np.uint64(node.stop)):
        ahead = np.uint64(listed[min(i + np.uint64(AHEAD), last)])
        prefetch(entries, ahead * numbers)
        row = np.uint64(listed[i])
        of_row = entries[row * numbers]
        g += of_row
        magnitude += abs(of_row)
        h += hessian_of(entries, row, layout)
    node.g, node.h, node.magnitude = g, h, magnitude


@inlined
def partition(j, table, rows, nodes, rules, following, of_levels):
    """Give the rows of a node to its children.

    Without ``of_levels`` its rows are marked already with their side of a set of levels.
    """
    parent = nodes[j]
    start, stop, k = parent.start, parent.stop, parent.feature
    listed, buffer = rows.listed[start:stop], rows.buffer[start:stop]
    column, codes = table.columns[k], table.codes[table.columns[k].line]
    cut, missing_left, has_levels = parent.cut, parent.missing_left, column.has_levels
    missing_code = column.n_values
    if of_levels is not None:
        if has_levels == IN_BINS:
            sides_by_bits(parent, codes, listed, rows.side)
        elif has_levels == BY_ROWS:
            sides_by_rows(parent, listed, codes, missing_code + 1, rows, rules, of_levels)
    if has_levels > 0:
        codes, missing_code, cut, missing_left = rows.side[:], NO_SIDE, LEFT, ZERO
    if column.is_sparse:
        write_codes(j, column, listed, table.stored, rows)
        codes = rows.side[:]
    n_left, parent.low_row, parent.high_row = partition_rows(
        codes, missing_code, cut, missing_left, listed, buffer
    )
    middle, depth = start + n_left, parent.depth + 1
    open_node(nodes[parent.left], start, middle, depth)
    open_node(nodes[parent.right], middle, stop, depth)
    pass_on(parent, nodes[parent.left], nodes[parent.right], rules, following)
    all_listed, node_of_row = rows.listed, rows.node
    for child in (parent.left, parent.right):
        if may_split(nodes[child], rules):  # else it is not searched
            for i in range(nodes[child].start, nodes[child].stop):
                node_of_row[np.uint64(all_listed[np.uint64(i)])] = child
    add_up_children(parent, rows, nodes, rules)
    bound_children(parent, rows, nodes, rules, column.direction)


@inlined
def add_up_children(parent, rows, nodes, rules):
    """Add up the rows of a node's children; of one child if the other follows by subtraction."""
    first, second = by_size(nodes, parent.left)
    smaller, larger = nodes[first], nodes[second]
    larger.slot = parent.slot
    if may_split(larger, rules):
        add_up_rows(rows, smaller, layout_of(rules))
        if is_large(larger.stop - larger.start, rules):  # its histogram will be a difference, too
            larger.g, larger.h = parent.g - smaller.g, parent.h - smaller.h
            larger.magnitude = parent.magnitude - smaller.magnitude
        else:
            add_up_rows(rows, larger, layout_of(rules))


@internal
def bound_children(parent, rows, nodes, rules, direction):
    """Give a node's children the bounds of their steps, where it is split on a column so directed.

    Without a direction these are the node's own.
    """
    first, second = by_size(nodes, parent.left)
    smaller, larger = nodes[first], nodes[second]
    if direction != 0 and not may_split(larger, rules):  # else they are added up already
        add_up_rows(rows, smaller, layout_of(rules))
        larger.g, larger.h = parent.g - smaller.g, parent.h - smaller.h
    share_bounds(parent, nodes[parent.left], nodes[parent.right], direction, rules.penalty)


@internal
def by_size(nodes, left):
    """Return the smaller and the larger of two siblings, which stand beside each other."""
    right = left + 1
    if nodes[left].stop - nodes[left].start > nodes[right].stop - nodes[right].start:
        return right, left
    return left, right


@internal
def is_in_question(found, node):
    """Say whether a cut of one column that was not scored may be the best of a node."""
    return found.bound > -np.inf and found.bound >= node.to_beat


@internal
def refine(j, k, slot, table, rows, nodes, slots, rules, scratch, of_levels):
    """Look inside the bins of one column, if a cut there could be the best of a node.

    For levels without bins nothing is known before, so their bound is above all scores.
    """
    node, found = nodes[j], slots.found[slot, k]
    if not is_in_question(found, node):  # not any more
        return
    if table.columns[k].has_levels == BY_ROWS:
        best = best_set_of_rows(k, node, table, rows, rules, of_levels)
    else:
        best = refine_column(
            j, k, found, node, slots.histogram[slot], table, rows,
            terms_of(table.columns[k].direction, node, rules), scratch,
        )  # fmt: skip
    found.score, found.code, found.missing_left = best.score, best.code, best.missing_left
    node.to_beat = max(node.to_beat, best.score)


@internal
def best_column(found):
    """Return the column of the best cut found, the lowest among equals."""
    best = np.int64(0)
    for k in range(1, len(found)):
        if found[k].score > found[best].score:
            best = k
    return best


@internal
def begin_search(node, slot, table, rules, following, found):
    """Mark the columns that are open to a node, and set the score to beat.

    That is its own score plus the least gain.
    """
    open_columns(node, table.columns, rules, following, found[slot])
    score, least_gain = own_score(node, rules)
    node.to_beat = score + least_gain


@internal
def record_split(node, slot, table, slots, rules, of_levels):
    """Write down the split of a node, if one gains enough."""
    found = slots.found[slot]
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
            histogram, terms = slots.histogram[slot], terms_of(column.direction, node, rules)
            record_bits(node, histogram, column, terms, rules, of_levels)


@inlined
def search_small(j, slot, table, rows, nodes, slots, rules, following, scratch, of_levels):
    """Find the split of a small node, in the thread's own slot."""
    node, found = nodes[j], slots.found[slot]
    n_rows = node.stop - node.start
    begin_search(node, slot, table, rules, following, slots.found)
    for p in range(len(table.packs)):
        mask = group_bins(table.packs[p], n_rows, table, found)
        fill_histograms(p, node, mask, table, rows, layout_of(rules), slot, slots, scratch)
        survey_columns(p, node, slot, table, slots, rules, scratch, of_levels)
    best, n_columns = best_column(found), len(found)  # what it gains spares others
    for i in range(best, best + n_columns):
        k = i if i < n_columns else i - n_columns
        refine(j, k, slot, table, rows, nodes, slots, rules, scratch, of_levels)
    record_split(node, slot, table, slots, rules, of_levels)


@inlined
def search_pair(smaller, larger, p, table, rows, nodes, slots, rules, scratch, of_levels):
    """Survey the columns of pack p in a pair of large nodes; the root comes alone, with -1."""
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


@internal
def blocks_of(n_rows):
    """Return how many blocks so many rows make."""
    return (n_rows + ROWS_PER_TASK - 1) // ROWS_PER_TASK


@inlined
def derive(block, rows, training, rules):
    """Write the derivatives of a block of the table's rows, none of which is in the tree yet."""
    start = block * ROWS_PER_TASK
    stop = min(start + ROWS_PER_TASK, len(rows.node))
    rows.node[start:stop] = -1
    if rules.loss != GIVEN:
        has_one = len(training.hessian) == 1
        write_derivatives(
            rules.loss, training.y[start:stop], training.raw_prediction[start:stop],
            training.gradient[start:stop], training.hessian[(0 if has_one else start) : stop],
        )  # fmt: skip


@inlined
def finish(first, table, rows, nodes, training, rules, grown, partials):
    """Finish the leaves among some nodes."""
    tree, rates = grown.trees[rules.first_node :], rates_of(rules)
    last = min(first + NODES_PER_TASK, rules.n_nodes)
    finish_leaves(first, last, rows.listed, nodes, training, rates, rows.node, tree, partials)


@inlined
def run_search_task(kind, t, thread, work, searching):
    """Do task t of a phase in which greedy splits are found and made."""
    table, rows, nodes, slots = work.table, work.rows, work.nodes, work.slots
    rules, task = work.rules[0], work.tasks[t]
    scratch, of_levels = searching.scratch[thread], searching.of_levels[thread]
    if kind == REFINE:
        slot = nodes[task.node].slot
        refine(task.node, task.place, slot, table, rows, nodes, slots, rules, scratch, of_levels)
    elif kind == PARTITION:
        partition(task.node, table, rows, nodes, rules, work.following, of_levels)
    elif task.place == ALL_PACKS:
        search_small(
            task.node, thread, table, rows, nodes, slots, rules, work.following, scratch, of_levels
        )
    else:
        search_pair(
            task.node, task.other, task.place, table, rows, nodes, slots, rules, scratch,
            of_levels,
        )  # fmt: skip


@inlined
def run_round_task(kind, t, work):
    """Do task t of a phase in which a tree is begun or ended."""
    rows, rules, training = work.rows, work.rules[0], work.training
    start = t * ROWS_PER_TASK
    stop = min(start + ROWS_PER_TASK, rules.n_listed)
    if kind == DERIVE:
        derive(t, rows, training, rules)
    elif kind == MEASURE:
        measure_rows(training, rows, rules, start, stop, work.blocks[t])
    elif kind == QUANTISE:
        quantise_rows(training, rows, rules, start, stop, work.blocks[t])
    else:
        finish(
            t * NODES_PER_TASK, work.table, rows, work.nodes, training, rules, work.grown,
            work.partials,
        )  # fmt: skip
