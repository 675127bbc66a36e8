"""Tasks: the work of a team's threads, each a small part of a round of boosting.

    DERIVE      a block of rows          gradients at the raw predictions so far
    MEASURE     a block of the rows      how large these are
                that take part
    QUANTISE    the same                 gradients as integers, and their sums
    DRAW        the same                 sets, where some rows choose and others judge
    SEARCH      a large pair of          histogram of the smaller child from its rows, of the larger
                children, one pack of    one by subtraction from their parent's; search of the
                columns                  columns
                a small node             the whole search, all columns, and its split
    REFINE      a large node, a column   row by row inside bins, if it could beat all others; or
                                         levels that have no bins, from the rows
    PARTITION   a node that splits       partition its rows, add up its children
    FINISH      some nodes               sums and values of those that are leaves; raw predictions
                                         of their rows

DRAW and REFINE depend on the policy (``gbt.kernels.trees.greedy_tasks``, ``judged_tasks``), and so
do two parts of SEARCH:

    LOOK        a node, one pack         find the best cuts of the columns, whose histograms are
                                         there
    RECORD      a node                   write down its split, if one is good enough

Who grows trees is told the address of the kernel that does these four, so that all else is compiled
once for all policies.

Results do not depend on which thread runs a task. Sums over rows are of integers, or correctly
rounded (``gbt.kernels.rows.sums``); and a thread that reads an old value of the score to beat only
looks at more cuts than necessary.
"""

import numpy as np

from gbt.kernels.cuts.bounds import NO_DIRECTION, share_bounds
from gbt.kernels.cuts.histogram import hessian_of
from gbt.kernels.cuts.levels import (
    levels_of_bins,
    levels_of_rows,
    record_bits,
    sides_by_bits,
    sides_by_rows,
)
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS, layout_of, terms_of
from gbt.kernels.cuts.packed_bins import (
    ALL_BINS,
    fill_histograms,
    group_bins,
    subtract_histograms,
    write_codes,
)
from gbt.kernels.cuts.scores import own_score
from gbt.kernels.cuts.search import SAFETY
from gbt.kernels.platform.compiling import inlined, internal
from gbt.kernels.platform.handing import call_at
from gbt.kernels.platform.instructions import AHEAD, min, prefetch
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
LOOK, RECORD = np.int64(8), np.int64(9)
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


@internal
def mark_rows(node, listed, codes, thread, work):
    """Mark the rows of a node with their side of its set of levels: ``LEFT`` or not."""
    column, own = work.table.columns[node.feature], work.of_levels[thread]
    if column.has_levels == IN_BINS:
        sides_by_bits(node, codes, listed, work.rows.side)
    elif column.has_levels == BY_ROWS:
        sides_by_rows(
            node, listed, codes, column.n_values + 1, work.rows, work.rules[0], work.judging, own
        )


@inlined
def partition(j, thread, work):
    """Give the rows of a node to its children."""
    table, rows, nodes, rules = work.table, work.rows, work.nodes, work.rules[0]
    parent = nodes[j]
    start, stop, k = parent.start, parent.stop, parent.feature
    listed, buffer = rows.listed[start:stop], rows.buffer[start:stop]
    column, codes = table.columns[k], table.codes[table.columns[k].line]
    cut, missing_left, missing_code = parent.cut, parent.missing_left, column.n_values
    if column.has_levels > 0:
        mark_rows(parent, listed, codes, thread, work)
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
    pass_on(parent, nodes[parent.left], nodes[parent.right], rules, work.following)
    all_listed, node_of_row = rows.listed, rows.node
    for child in (parent.left, parent.right):
        if may_split(nodes[child], rules):  # else it is not searched
            for i in range(nodes[child].start, nodes[child].stop):
                node_of_row[np.uint64(all_listed[np.uint64(i)])] = child
    add_up_rows_of_children(parent, rows, nodes, rules, column.direction)


@inlined
def add_up_rows_of_children(parent, rows, nodes, rules, direction):
    """Add up the rows of a node's smaller child, and take these sums off the node's for the larger.

    Children that are not split need sums only where a ``direction`` bounds their steps.
    """
    first, second = by_size(nodes, parent.left)
    smaller, larger = nodes[first], nodes[second]
    larger.slot = parent.slot
    if direction != 0 or may_split(larger, rules):
        add_up_rows(rows, smaller, layout_of(rules))
        larger.g, larger.h = parent.g - smaller.g, parent.h - smaller.h
        larger.magnitude = parent.magnitude - smaller.magnitude
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
def best_column(found):
    """Return the column of the best cut found, the lowest among equals."""
    best = np.int64(0)
    for k in range(1, len(found)):
        if found[k].score > found[best].score:
            best = k
    return best


@internal
def list_levels(node, column, thread, work):
    """List the levels of a column that a node has; return how many these are."""
    table, rows, rules, own = work.table, work.rows, work.rules[0], work.of_levels[thread]
    if column.has_levels == BY_ROWS:
        listed, codes = rows.listed[node.start : node.stop], table.codes[column.line]
        return levels_of_rows(listed, codes, column.n_values + 1, rows, rules, work.judging, own)
    histograms, terms = work.slots.histogram[node.slot], terms_of(NO_DIRECTION, node, rules)
    return levels_of_bins(histograms, column, terms, rules, work.judging.habits[0], own)


@internal
def record_levels(node, thread, work):
    """Write down which levels go left at a node that splits on them, if these have bins."""
    column, habits = work.table.columns[node.feature], work.judging.habits[0]
    if column.has_levels == IN_BINS:
        n_levels, own = list_levels(node, column, thread, work), work.of_levels[thread]
        record_bits(node, n_levels, column.n_bins, work.rules[0], habits, own)


@internal
def begin_search(node, work):
    """Mark the columns that are open to a node, and set the score to beat.

    That is its own score plus the least gain.
    """
    rules, found = work.rules[0], work.slots.found[node.slot]
    open_columns(node, work.table.columns, rules, work.following, found)
    score, least_gain = own_score(node, rules)
    node.to_beat = score + least_gain


@inlined
def search(task, thread, work, policy):
    """Search a small node, in the thread's own slot, or one pack in a pair of large nodes.

    The root comes alone, with -1 for its sibling.
    """
    table, rules, n_packs = work.table, work.rules[0], len(work.table.packs)
    node, slots, judging = work.nodes[task.node], work.slots, work.judging
    layout, lanes, is_small = layout_of(rules), work.scratch[thread].lanes, task.which == ALL_PACKS
    if is_small:
        node.slot = thread
        begin_search(node, work)
    first, last = (ZERO, n_packs) if is_small else (task.which, task.which + 1)
    for p in range(first, last):
        mask = ALL_BINS
        if is_small and not rules.has_sets:
            mask = group_bins(table.packs[p], node.stop - node.start, table, slots.found[thread])
        fill_histograms(p, node, mask, node.slot, table, work.rows, layout, slots, judging, lanes)
        if task.other >= 0:
            other = work.nodes[task.other].slot
            subtract_histograms(
                p, node.slot, other, table, rules.width, slots, judging.habits[0].n_sets
            )
            call_at(policy, LOOK, task.other * n_packs + p, thread, work)
        call_at(policy, LOOK, task.node * n_packs + p, thread, work)
    if is_small:
        call_at(policy, RECORD, task.node, thread, work)
        node.slot = -1


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
def finish(first, work):
    """Finish the leaves among some nodes."""
    rows, rules = work.rows, work.rules[0]
    finish_leaves(
        first, min(first + NODES_PER_TASK, rules.n_nodes), rows.listed, work.nodes, work.training,
        rates_of(rules), rows.node, work.grown.trees[rules.first_node :], work.partials,
    )  # fmt: skip


@internal
def run_task(kind, t, thread, work, policy):
    """Do task t of a phase; some kinds are described in ``work.tasks``."""
    rows, rules, training = work.rows, work.rules[0], work.training
    start = t * ROWS_PER_TASK
    stop = min(start + ROWS_PER_TASK, rules.n_listed)
    if kind == DERIVE:
        derive(t, rows, training, rules)
    elif kind == MEASURE:
        measure_rows(training, rows, rules, start, stop, work.blocks[t])
    elif kind == QUANTISE:
        quantise_rows(training, rows, rules, start, stop, work.blocks[t])
    elif kind == PARTITION:
        partition(work.tasks[t].node, thread, work)
    elif kind == FINISH:
        finish(t * NODES_PER_TASK, work)
    elif kind == SEARCH:
        search(work.tasks[t], thread, work, policy)
    else:
        call_at(policy, kind, t, thread, work)
