"""Tasks: what a thread of a crew does, each a small part of a round of boosting.

    DERIVE   a block of rows          gradients at the raw predictions so far, and their magnitude
                                      where all rows take part
    ENTER    a block of rows          gradients as integers, and their sums
    PART     a node that splits       partition its rows, add up its children
    SEARCH   a large pair of          histogram of the smaller child from its rows, of the larger
             children, one word of    one by subtraction from their parent's; survey of the columns
             columns
             a small node             the whole search, all columns
    REFINE   a large node, a column   row by row inside bins, if it could beat all others
    FINISH   some nodes               the sums of those that are leaves
    FOLLOW   a block of rows          raw predictions with the values of the new tree

It makes no difference which thread runs a task. Sums over rows are of integers, or of a leaf or a
block of rows in their order; and an old value of the score to beat only makes a thread look at more
cuts than it needs to.

Compiling takes longer the deeper calls are nested and the more arrays they hand on, so nodes are
records in one array. A view of part of an array costs some nanoseconds each time it is made, so
arrays are handed on whole, with the place to look at.
"""

import numpy as np

from gbt.kernels.compiling import inlined, internal
from gbt.kernels.derivatives import GIVEN, write_derivatives
from gbt.kernels.finish import add_values, finish_leaves
from gbt.kernels.histogram import LANES, hessian_of, subtract
from gbt.kernels.instructions import AHEAD, prefetch
from gbt.kernels.memory import (
    FIRST_BIN,
    MISSING_BIN,
    N_BINS,
    N_VALUES,
    layout_of,
    limits_of,
    notes_of,
    sums_of,
)
from gbt.kernels.nodes import open_node
from gbt.kernels.partition import partition_rows
from gbt.kernels.quantise import ROWS_PER_TASK, enter_rows, measure_rows
from gbt.kernels.refine import last_code, refine_column
from gbt.kernels.search import SAFETY
from gbt.kernels.words import ALL_BINS, fill_word, group_word, sort_word, survey_word

DERIVE, ENTER, PART, SEARCH, REFINE, FINISH, FOLLOW = 0, 1, 2, 3, 4, 5, 6
ALL_WORDS = np.int64(-1)  # typed: numbers as written would compile what they are given to once more
# A node is large if its rows times columns are this many times the bins of its histogram: then
# subtracting that, from beyond the L1 cache, takes less time than adding rows.
LARGE = 4
# Sorting a row takes as long as clearing and surveying this many bins, most of them in groups.
BINS_PER_SORTED_ROW = 12
# A score and that of its node carry fewer than 16 roundings between them, each of eps/2 of at most
# (sum|g|)^2/(H + lambda). A gain below that may be rounding: equal residuals must stay a leaf.
ROUNDING = 16 * np.finfo(np.float64).eps


@internal
def own_score(node, rules):
    """Return the score of an unsplit node, and the gain that a split must exceed."""
    weight = float(node.h) + rules.penalty
    if weight <= 0.0:
        return 0.0, np.inf
    g, magnitude = float(node.g), float(node.magnitude)
    rounding = ROUNDING * (magnitude * magnitude / weight)
    return g * g / weight, max(rules.least_gain, rounding)


@internal
def is_large(n_rows, table):
    """Say whether nodes of so many rows keep a histogram."""
    return n_rows * len(table.facts) > LARGE * table.n_bins


@internal
def may_split(node, rules):
    """Say whether a node may be split, as far as its depth and rows tell."""
    is_deep = rules.max_depth >= 0 and node.depth >= rules.max_depth
    return not is_deep and node.stop - node.start >= 2 * rules.min_rows


@internal
def is_searched(node, rules):
    """Say whether a node is searched, once its sums are known: two children must weigh enough."""
    return may_split(node, rules) and float(node.h) * SAFETY >= 2.0 * rules.min_hessian


@internal
def gather(rows, node, layout):
    """Put the entries of a node's rows beside each other, and add up g, h and |g|."""
    # Unsigned indices, as in ``gbt.kernels.histogram``.
    one, numbers = np.uint64(1), np.uint64(layout.width // 2)
    g = h = magnitude = np.int64(0)
    for i in range(np.uint64(node.start), np.uint64(node.stop)):
        ahead = np.uint64(rows.listed[min(i + np.uint64(AHEAD), np.uint64(node.stop - 1))])
        prefetch(rows.entries, ahead * numbers)
        row, to = np.uint64(rows.listed[i]), i * numbers
        of_row = rows.entries[row * numbers]
        rows.gathered[to] = of_row
        if layout.width == 4:
            rows.gathered[to + one] = rows.entries[row * numbers + one]
        g += of_row
        magnitude += abs(of_row)
        h += hessian_of(rows.entries, row, layout)
    node.g, node.h, node.magnitude = g, h, magnitude


@inlined
def part(j, table, rows, nodes, rules):
    """Give the rows of a node to its children."""
    parent = nodes[j]
    start, stop, k = parent.start, parent.stop, parent.feature
    codes, missing_code = table.codes[k], table.facts[k, N_VALUES]
    listed, buffer = rows.listed[start:stop], rows.buffer[start * rules.width :]
    n_left, parent.low_row, parent.high_row = partition_rows(
        codes, missing_code, parent.cut, parent.missing_left, listed, buffer
    )
    middle, depth = start + n_left, parent.depth + 1
    open_node(nodes[parent.left], start, middle, depth)
    open_node(nodes[parent.right], middle, stop, depth)
    for child in (parent.left, parent.right):
        if may_split(nodes[child], rules):  # else it is not searched
            for i in range(nodes[child].start, nodes[child].stop):
                rows.node[np.uint64(rows.listed[np.uint64(i)])] = child
    first, second = by_size(nodes, parent.left)
    smaller, larger = nodes[first], nodes[second]
    larger.slot = parent.slot
    if may_split(larger, rules):
        gather(rows, smaller, layout_of(rules))
        if is_large(larger.stop - larger.start, table):  # its histogram will be a difference, too
            larger.g, larger.h = parent.g - smaller.g, parent.h - smaller.h
            larger.magnitude = parent.magnitude - smaller.magnitude
        else:
            gather(rows, larger, layout_of(rules))


@internal
def by_size(nodes, left):
    """Return the smaller and the larger of two siblings, which stand beside each other."""
    right = left + 1
    if nodes[left].stop - nodes[left].start > nodes[right].stop - nodes[right].start:
        return right, left
    return left, right


@internal
def is_in_question(slot, k, slots):
    """Say whether a cut of one column that was not looked at could be the best of a node."""
    bound = slots.bound[slot, k]
    return bound > -np.inf and bound >= slots.to_beat[slot]


@inlined
def refine(j, k, slot, thread, table, rows, nodes, slots, rules, scratch):
    """Look inside the bins of one column, if a cut there could be the best of a node."""
    if not is_in_question(slot, k, slots):  # not any more
        return
    node = nodes[j]
    listed = rows.listed[node.start : node.stop]
    slots.score[slot, k], slots.code[slot, k], slots.missing_left[slot, k] = refine_column(
        table.codes[k], table.order[k], table.bin_start[k], table.one_value[k],
        table.facts[k, N_VALUES], table.facts[k, N_BINS], table.facts[k, MISSING_BIN],
        slots.bits[slot, k], table.words[k // LANES], k % LANES, slots.histogram[slot],
        table.facts[k, FIRST_BIN], layout_of(rules), listed, j, rows.entries, rows.node,
        sums_of(node), limits_of(rules), slots.to_beat[slot], notes_of(thread, scratch),
        scratch.marks[thread], scratch.narrow[thread], scratch.keys[thread],
    )  # fmt: skip
    slots.to_beat[slot] = max(slots.to_beat[slot], slots.score[slot, k])


@internal
def best_column(slot, slots):
    """Return the column of the best cut found, of equals the lowest."""
    best = np.int64(0)
    for k in range(1, slots.score.shape[1]):
        if slots.score[slot, k] > slots.score[slot, best]:
            best = k
    return best


@internal
def aim(node, slot, slots, rules):
    """Set the score to beat of a node before it is searched: its own and the least gain."""
    score, least_gain = own_score(node, rules)
    slots.to_beat[slot] = score + least_gain


@internal
def conclude(node, slot, table, slots, rules):
    """Write down the split of a node, if one gains enough."""
    k = best_column(slot, slots)
    score, least_gain = own_score(node, rules)
    node.feature, node.gain = -1, slots.score[slot, k] - score
    if node.gain > least_gain:
        if slots.code[slot, k] < 0:
            slots.code[slot, k] = last_code(
                table.codes[k], table.order[k], table.bin_start[k], table.facts[k, N_BINS],
                slots.bits[slot, k], ~slots.code[slot, k],
            )  # fmt: skip
        node.feature, node.cut = k, slots.code[slot, k]
        node.missing_left = slots.missing_left[slot, k]


@inlined
def search_small(j, thread, table, rows, nodes, slots, rules, scratch):
    """Find the split of a small node, in the thread's own slot."""
    node, slot = nodes[j], thread
    n_rows = node.stop - node.start
    aim(node, slot, slots, rules)
    for word in range(len(table.words)):
        n_bins = table.word_start[word + 1] - table.word_start[word]
        n_lanes = min(LANES, len(table.facts) - LANES * word)
        if n_rows * BINS_PER_SORTED_ROW * n_lanes < n_bins:
            sort_word(word, node, slot, table, rows, slots, rules, scratch.keys[thread])
        else:
            mask = group_word(word, n_rows, table, slot, slots)
            fill_word(word, node, mask, table, rows, layout_of(rules), slot, slots)
            survey_word(word, node, slot, thread, table, slots, rules, scratch)
    best, p = best_column(slot, slots), len(table.facts)  # what it gains spares others
    for i in range(best, best + p):
        k = i if i < p else i - p
        if is_in_question(slot, k, slots):
            refine(j, k, slot, thread, table, rows, nodes, slots, rules, scratch)
    conclude(node, slot, table, slots, rules)


@internal
def survey_if_searched(word, node, thread, table, slots, rules, scratch):
    """Survey the columns of one word in a large node, or say that nothing was found there."""
    if is_searched(node, rules):
        survey_word(word, node, node.slot, thread, table, slots, rules, scratch)
    else:
        for k in range(LANES * word, min(LANES * (word + 1), len(table.facts))):
            slots.score[node.slot, k] = slots.bound[node.slot, k] = -np.inf


@inlined
def search_pair(smaller, larger, word, thread, table, rows, nodes, slots, rules, scratch):
    """Survey the columns of one word in a pair of large nodes; the root comes alone, with -1."""
    own, width = nodes[smaller].slot, rules.width
    for k in range(LANES * word, min(LANES * (word + 1), len(table.facts))):
        slots.bits[own, k] = 0
    fill_word(word, nodes[smaller], ALL_BINS, table, rows, layout_of(rules), own, slots)
    if larger >= 0:
        other = nodes[larger].slot
        subtract(
            slots.histogram[own], table.word_start[word] * width,
            table.word_start[word + 1] * width, slots.histogram[other],
        )  # fmt: skip
        survey_if_searched(word, nodes[larger], thread, table, slots, rules, scratch)
    survey_if_searched(word, nodes[smaller], thread, table, slots, rules, scratch)


@internal
def blocks_of(n_rows):
    """Return how many blocks so many rows make."""
    return (n_rows + ROWS_PER_TASK - 1) // ROWS_PER_TASK


@inlined
def derive(block, rows, training, rules, blocks):
    """Write the derivatives of a block of the table's rows; measure them if all rows take part."""
    start = block * ROWS_PER_TASK
    stop = min(start + ROWS_PER_TASK, len(rows.node))
    if rules.loss != GIVEN:
        has_one = len(training.hessian) == 1
        write_derivatives(
            rules.loss, training.y[start:stop], training.raw_prediction[start:stop],
            training.gradient[start:stop], training.hessian[(0 if has_one else start) : stop],
        )  # fmt: skip
    has_all = rules.n_listed == len(rows.node)
    rows.node[start:stop] = 0 if has_all else -1
    if has_all:
        measure_rows(training, rows, rules, start, stop, blocks[block])


@inlined
def enter(block, rows, training, rules, blocks):
    """Write the entries of a block of the rows that take part."""
    start = block * ROWS_PER_TASK
    enter_rows(
        training, rows, rules, start, min(start + ROWS_PER_TASK, rules.n_listed), blocks[block]
    )


@inlined
def finish(first, last, rows, nodes, training, rules, grown):
    """Finish the leaves among some nodes."""
    finish_leaves(
        first, last, rows.listed, nodes, training.gradient, training.hessian, training.weight,
        rules.reg_lambda, rules.learning_rate, rows.node, grown.trees[rules.first_node :],
    )  # fmt: skip


@inlined
def follow(block, rows, training, rules, grown):
    """Add the values of a new tree of all rows to the raw predictions of a block of them."""
    if rules.n_listed == len(rows.node):
        part = slice(block * ROWS_PER_TASK, (block + 1) * ROWS_PER_TASK)
        tree = grown.trees[rules.first_node :]
        add_values(tree, rows.node[part], training.raw_prediction[part])


@inlined
def run_task(
    kind, task, thread, table, rows, nodes, slots, tasks, rules, scratch, training, blocks, grown
):  # fmt: skip
    """Do one task of a phase; what some are about stands in ``tasks``."""
    if kind == SEARCH:
        first, second, word = tasks[task, 0], tasks[task, 1], tasks[task, 2]
        if word == ALL_WORDS:
            search_small(first, thread, table, rows, nodes, slots, rules, scratch)
        else:
            search_pair(first, second, word, thread, table, rows, nodes, slots, rules, scratch)
    elif kind == REFINE:
        first, column = tasks[task, 0], tasks[task, 1]
        slot = nodes[first].slot
        refine(first, column, slot, thread, table, rows, nodes, slots, rules, scratch)
    elif kind == PART:
        part(tasks[task, 0], table, rows, nodes, rules)
    elif kind == DERIVE:
        derive(task, rows, training, rules, blocks)
    elif kind == ENTER:
        enter(task, rows, training, rules, blocks)
    elif kind == FINISH:
        finish(tasks[task, 0], tasks[task, 1], rows, nodes, training, rules, grown)
    else:
        follow(task, rows, training, rules, grown)
