"""Growth: what the leader of a crew decides while a tree grows.

A level of the tree is three phases, SEARCH, REFINE and PART, whose tasks all threads share
(``gbt.kernels.tasks``). Between them the leader lists what is to be done: which nodes to search,
in which columns to look inside bins, which nodes to split, which histograms to keep.
"""

import numpy as np

from gbt.kernels.compiling import inlined, internal
from gbt.kernels.nodes import open_node
from gbt.kernels.tasks import (
    ALL_WORDS,
    PART,
    REFINE,
    SEARCH,
    aim,
    best_column,
    blocks_of,
    by_size,
    conclude,
    is_in_question,
    is_large,
    is_searched,
)

# Typed, as in ``gbt.kernels.tasks``.
ZERO, NOTHING = np.int64(0), np.int64(-1)
GROWN = -3  # in place of a phase: no node splits


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
        is_wanted = is_searched(nodes[smaller], rules) or is_searched(nodes[larger], rules)
        if is_wanted and is_large(n_rows, table):
            take(nodes[smaller], slots)
            aim(nodes[smaller], nodes[smaller].slot, slots, rules)
            aim(nodes[larger], nodes[larger].slot, slots, rules)
            continue
        release(nodes[larger], slots)
        if is_searched(nodes[larger], rules):
            n_tasks = list_task(tasks, n_tasks, larger, NOTHING, ALL_WORDS)
        if is_searched(nodes[smaller], rules):
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
def plant(table, nodes, slots, tasks, rules, blocks, n_threads):
    """Open the root, which owns all listed rows, list its search and count the tasks."""
    n_slots = len(slots.to_beat)
    for slot in range(n_threads, n_slots):  # the first ones are the threads' own
        slots.free[slot - n_threads] = slot
    slots.free[-1] = n_slots - n_threads
    root = nodes[0]
    open_node(root, ZERO, rules.n_listed, ZERO)
    root.g = root.h = root.magnitude = 0
    for b in range(blocks_of(rules.n_listed)):
        root.g, root.h = root.g + blocks[b].g, root.h + blocks[b].h
        root.magnitude += blocks[b].magnitude
    if not is_searched(root, rules):
        return 0
    if not is_large(root.stop, table):
        return list_task(tasks, ZERO, ZERO, NOTHING, ALL_WORDS)
    take(root, slots)
    aim(root, root.slot, slots, rules)
    for word in range(len(table.words)):
        list_task(tasks, np.int64(word), ZERO, NOTHING, np.int64(word))
    return len(table.words)


@inlined
def next_phase_of_tree(kind, first, n_nodes, table, nodes, slots, tasks, rules):
    """Decide what comes after a phase of growing; return what ``gbt.kernels.rounds`` asks for."""
    if kind == SEARCH:
        kind = REFINE
        n_tasks = list_candidates(first, n_nodes, table, nodes, slots, tasks)
    elif kind == REFINE:
        kind = PART
        conclude_all(first, n_nodes, table, nodes, slots, rules)
        n_tasks = open_children(first, n_nodes, nodes, tasks, rules)
        if n_tasks == 0:
            kind = GROWN
        else:
            first, n_nodes = n_nodes, n_nodes + 2 * n_tasks
    else:
        kind = SEARCH
        n_tasks = list_searches(first, n_nodes, table, nodes, slots, tasks, rules)
    return kind, n_tasks, first, n_nodes
