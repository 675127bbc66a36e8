"""Growth: a whole tree by exact greedy splits in one call, by one thread or a crew of them.

A level of the tree is three phases, whose tasks the crew shares (``gbt.kernels.crew``)::

    PART     a node that splits       partition its rows, add up its children
    SEARCH   a large pair of          histogram of the smaller child from its rows, of the larger
             children, one word of    one by subtraction from their parent's; survey of the columns
             columns
             a small node             the whole search, all columns
    REFINE   a large node, a column   row by row inside bins, if it could beat all others

Between the phases the leader decides which nodes to split and which histograms to keep. It makes no
difference which thread runs a task: sums are integers, and an old value of the score to beat only
makes a thread look at more cuts than it needs to.

Compiling takes longer the deeper calls are nested and the more arrays they hand on, so nodes are
records in one array. A view of part of an array costs some nanoseconds each time it is made, so
arrays are handed on whole, with the place to look at.
"""

import numpy as np

from gbt.kernels import crew
from gbt.kernels.compiling import inlined, internal
from gbt.kernels.histogram import LANES, hessian_of, subtract
from gbt.kernels.instructions import AHEAD, prefetch
from gbt.kernels.memory import (
    FIRST_BIN,
    MISSING_BIN,
    N_BINS,
    N_VALUES,
    has_all_rows,
    layout_of,
    limits_of,
    notes_of,
    sums_of,
)
from gbt.kernels.nodes import open_node
from gbt.kernels.partition import partition_rows
from gbt.kernels.refine import last_code, refine_column
from gbt.kernels.words import ALL_BINS, fill_word, fold_word, group_word, sort_word, survey_word

PART, SEARCH, REFINE = 0, 1, 2
# Typed: numbers as they are written would compile what they are given to for each of them.
ZERO, NOTHING, ALL_WORDS = np.int64(0), np.int64(-1), np.int64(-1)
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
    """Say whether a node is to be searched at all."""
    is_deep = rules.max_depth >= 0 and node.depth >= rules.max_depth
    return not is_deep and node.stop - node.start >= 2 * rules.min_rows


@internal
def gather(rows, node, layout):
    """Put the entries of a node's rows beside each other, and add up g, h and |g|."""
    # Unsigned indices, as in ``gbt.kernels.histogram``.
    one, numbers = np.uint64(1), np.uint64(layout.width // 2)
    g = h = magnitude = np.int64(0)
    if has_all_rows(node, rows):  # beside each other they are already
        for row in range(np.uint64(len(rows.node))):
            g += rows.entries[row * numbers]
            magnitude += abs(rows.entries[row * numbers])
            h += hessian_of(rows.entries, row, layout)
    else:
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


@inlined
def search_pair(smaller, larger, word, thread, table, rows, nodes, slots, rules, scratch):
    """Survey the columns of one word in a pair of large nodes; the root comes alone, with -1."""
    own, width = nodes[smaller].slot, rules.width
    n_rows = nodes[smaller].stop - nodes[smaller].start
    for k in range(LANES * word, min(LANES * (word + 1), len(table.facts))):
        slots.bits[own, k] = 0
    fill_word(word, nodes[smaller], ALL_BINS, table, rows, layout_of(rules), own, slots)
    if larger >= 0:
        other = nodes[larger].slot
        subtract(
            slots.histogram[own], table.word_start[word] * width,
            table.word_start[word + 1] * width, slots.histogram[other],
        )  # fmt: skip
        survey_word(word, nodes[larger], other, thread, table, slots, rules, scratch)
        if not is_large(n_rows, table):  # nothing will be subtracted from its histogram
            fold_word(word, n_rows, width, table, own, slots)
    if may_split(nodes[smaller], rules):
        survey_word(word, nodes[smaller], own, thread, table, slots, rules, scratch)
    else:
        for k in range(LANES * word, min(LANES * (word + 1), len(table.facts))):
            slots.score[own, k] = slots.bound[own, k] = -np.inf


@inlined
def run_task(kind, task, thread, table, rows, nodes, slots, tasks, rules, scratch):
    """Do one task of a phase; what it is about stands in ``tasks``."""
    first, second, word = tasks[task, 0], tasks[task, 1], tasks[task, 2]
    if kind == PART:
        part(first, table, rows, nodes, rules)
    elif kind == REFINE:
        slot = nodes[first].slot
        refine(first, second, slot, thread, table, rows, nodes, slots, rules, scratch)
    elif word == ALL_WORDS:
        search_small(first, thread, table, rows, nodes, slots, rules, scratch)
    else:
        search_pair(first, second, word, thread, table, rows, nodes, slots, rules, scratch)


@internal
def release(node, slots):
    """Give back the slot of a node, if it has one."""
    if node.slot >= 0:
        height = slots.free[-1]
        slots.free[height] = node.slot
        slots.free[-1] = height + 1
        node.slot = -1


@internal
def take(node, slots):
    """Take a slot for a node."""
    slots.free[-1] -= 1
    node.slot = slots.free[slots.free[-1]]


@internal
def list_task(tasks, n_tasks, first, second, word):
    """Write down a task and return how many there are now."""
    tasks[n_tasks, 0], tasks[n_tasks, 1], tasks[n_tasks, 2] = first, second, word
    return n_tasks + 1


@inlined
def list_searches(first, n_nodes, table, nodes, slots, tasks, rules):
    """List the searches of the nodes opened last, small ones first; settle who has a slot."""
    n_tasks = ZERO
    for left in range(first, n_nodes, 2):
        smaller, larger = by_size(nodes, left)
        n_rows = nodes[larger].stop - nodes[larger].start
        if may_split(nodes[larger], rules) and is_large(n_rows, table):
            take(nodes[smaller], slots)
            aim(nodes[smaller], nodes[smaller].slot, slots, rules)
            aim(nodes[larger], nodes[larger].slot, slots, rules)
            continue
        release(nodes[larger], slots)
        if may_split(nodes[larger], rules):
            n_tasks = list_task(tasks, n_tasks, larger, NOTHING, ALL_WORDS)
        if may_split(nodes[smaller], rules):
            n_tasks = list_task(tasks, n_tasks, smaller, NOTHING, ALL_WORDS)
    for word in range(len(table.words)):
        for left in range(first, n_nodes, 2):
            if nodes[left].slot >= 0:
                smaller, larger = by_size(nodes, left)
                n_tasks = list_task(tasks, n_tasks, smaller, larger, word)
    return n_tasks


@inlined
def list_candidates(first, n_nodes, table, nodes, slots, tasks):
    """List the columns of large nodes in which a cut not looked at could beat all others."""
    n_tasks = ZERO
    for j in range(first, n_nodes):
        slot = nodes[j].slot
        if slot >= 0:
            best, p = best_column(slot, slots), len(table.facts)
            for i in range(best + 1, best + 1 + p):  # the best last: it is taken first
                k = i if i < p else i - p
                if is_in_question(slot, k, slots):
                    n_tasks = list_task(tasks, n_tasks, j, k, ZERO)
    return n_tasks


@inlined
def conclude_all(first, n_nodes, table, nodes, slots, rules):
    """Write down the splits of the large nodes; keep the slots that their children will need."""
    for j in range(first, n_nodes):
        node = nodes[j]
        if node.slot >= 0:
            conclude(node, node.slot, table, slots, rules)
            if node.feature < 0 or not is_large(node.stop - node.start, table):
                release(node, slots)


@inlined
def open_children(first, n_nodes, nodes, tasks, rules):
    """List the nodes to split now, all that can be or the one of largest gain; number children."""
    n_tasks = ZERO
    if rules.max_leaves < 0:
        for j in range(first, n_nodes):
            if nodes[j].feature >= 0:
                n_tasks = list_task(tasks, n_tasks, j, NOTHING, ZERO)
    elif (n_nodes + 1) // 2 < rules.max_leaves:
        best = NOTHING
        for j in range(n_nodes):
            waits = nodes[j].feature >= 0 and nodes[j].left < 0
            if waits and (best < 0 or nodes[j].gain > nodes[best].gain):
                best = j
        if best >= 0:
            n_tasks = list_task(tasks, n_tasks, best, NOTHING, ZERO)
    for task in range(n_tasks):
        parent = nodes[tasks[task, 0]]
        parent.left, parent.right = n_nodes + 2 * task, n_nodes + 2 * task + 1
    return n_tasks


@inlined
def plant(table, rows, nodes, slots, tasks, rules, n_threads):
    """Open the root, which owns all listed rows, list its search and count the tasks."""
    n_slots = len(slots.to_beat)
    for slot in range(n_threads, n_slots):  # the first ones are the threads' own
        slots.free[slot - n_threads] = slot
    slots.free[-1] = n_slots - n_threads
    root = nodes[0]
    open_node(root, 0, rules.n_listed, 0)
    rows.node[:] = 0 if has_all_rows(root, rows) else -1
    if not has_all_rows(root, rows):
        for i in range(root.stop):
            rows.node[rows.listed[i]] = 0
    gather(rows, root, layout_of(rules))
    if not may_split(root, rules):
        return 0
    if not is_large(root.stop, table):
        return list_task(tasks, ZERO, ZERO, NOTHING, ALL_WORDS)
    take(root, slots)
    aim(root, root.slot, slots, rules)
    for word in range(len(table.words)):
        list_task(tasks, np.int64(word), ZERO, NOTHING, np.int64(word))
    return len(table.words)


@inlined
def next_phase(kind, first, n_nodes, table, nodes, slots, tasks, rules):
    """Decide what comes after a phase; return kind and number of tasks, and which nodes are new.

    The nodes first .. n_nodes - 1 are those that were opened last. No tasks at the end.
    """
    n_tasks = ZERO
    while n_tasks == 0:
        if kind == SEARCH:
            kind = REFINE
            n_tasks = list_candidates(first, n_nodes, table, nodes, slots, tasks)
        elif kind == REFINE:
            kind = PART
            conclude_all(first, n_nodes, table, nodes, slots, rules)
            n_tasks = open_children(first, n_nodes, nodes, tasks, rules)
            if n_tasks == 0:
                break
            first, n_nodes = n_nodes, n_nodes + 2 * n_tasks
        else:
            kind = SEARCH
            n_tasks = list_searches(first, n_nodes, table, nodes, slots, tasks, rules)
    return kind, n_tasks, first, n_nodes


@internal
def grow_tree(thread, board, table, rows, nodes, slots, tasks, rules, scratch):
    """Grow a tree, alone or as the leader of a crew, and return the number of its nodes.

    A helper does tasks of this tree, and of the next ones, until none are offered for a while.

    thread   int64                  IN      0 leads, the others help
    board    (BOARD_LENGTH,)        INOUT   see ``gbt.kernels.crew``
    nodes    (most,)     NODE       OUT
    tasks    (most, 3)   int64      what the tasks of a phase are about: nodes, column or word
    """
    kind, first, n_nodes, n_tasks = np.int64(SEARCH), ZERO, np.int64(1), ZERO
    if thread == 0:
        n_tasks = plant(table, rows, nodes, slots, tasks, rules, len(scratch.keys))
        crew.open_phase(board, kind, n_tasks)
    while True:
        task = crew.next_task(board, n_tasks) if thread == 0 else crew.next_offer(board)
        if task >= 0:
            kind = board[crew.KIND]
            run_task(kind, task, thread, table, rows, nodes, slots, tasks, rules, scratch)
            crew.report_done(board)
            continue
        if thread == 0:
            kind, n_tasks, first, n_nodes = next_phase(
                kind, first, n_nodes, table, nodes, slots, tasks, rules
            )
            if n_tasks > 0:
                crew.open_phase(board, kind, n_tasks)
                continue
        return n_nodes
