"""Growth: the decisions of a team's leader while a tree grows.

Each depth of the tree, or with ``max_leaves`` each split, has the phases SEARCH, REFINE (of greedy
trees alone) and PARTITION, whose tasks all threads share (``gbt.kernels.trees.tasks``). Before each
phase the leader lists its tasks: which nodes to search, in which columns to look inside bins, which
nodes to split, which histograms to keep.
"""

import numpy as np

from gbt.kernels.platform.compiling import inlined, internal
from gbt.kernels.platform.handing import call_at
from gbt.kernels.trees.nodes import open_node
from gbt.kernels.trees.tasks import (
    ALL_PACKS,
    RECORD,
    begin_search,
    best_column,
    blocks_of,
    by_size,
    is_in_question,
    is_large,
    is_searched,
)

# With a type of NumPy, for the reason given in ``gbt.kernels.trees.tasks``.
ZERO, NOTHING = np.int64(0), np.int64(-1)


@internal
def release_slot(node, slots):
    """Give back the slot of a node, if it has one."""
    if node.slot >= 0:
        height = slots.free[-1]
        slots.free[height] = node.slot
        slots.free[-1] = height + 1
        node.slot = -1


@internal
def take_slot(node, slots):
    """Take a slot for a node."""
    slots.free[-1] -= 1
    node.slot = slots.free[slots.free[-1]]


@internal
def list_task(tasks, n_tasks, node, other, which):
    """Append a task and return the number of tasks."""
    task = tasks[n_tasks]
    task.node, task.other, task.which = node, other, which
    return n_tasks + 1


@inlined
def open_root(work):
    """Open the root, which owns all listed rows; list its search and return the number of tasks."""
    root, slots, tasks, rules = work.nodes[0], work.slots, work.tasks, work.rules[0]
    n_threads, n_slots, n_packs = rules.n_threads, len(slots.found), len(work.table.packs)
    for slot in range(n_threads, n_slots):  # the first ones are the threads' own
        slots.free[slot - n_threads] = slot
    slots.free[-1] = n_slots - n_threads
    open_node(root, ZERO, rules.n_listed, ZERO)
    root.g = root.h = root.magnitude = 0
    root.state, root.path = 0, 1
    root.lowest, root.highest = -np.inf, np.inf
    for b in range(blocks_of(rules.n_listed)):
        root.g, root.h = root.g + work.blocks[b].g, root.h + work.blocks[b].h
        root.magnitude += work.blocks[b].magnitude
    if not is_searched(root, rules):
        return 0
    if not is_large(root.stop, rules):
        return list_task(tasks, ZERO, ZERO, NOTHING, ALL_PACKS)
    take_slot(root, slots)
    begin_search(root, work)
    for p in range(n_packs):
        list_task(tasks, np.int64(p), ZERO, NOTHING, np.int64(p))
    return n_packs


@inlined
def list_searches(first, n_nodes, work):
    """List the searches of the nodes opened last, small ones first; assign slots to large ones."""
    n_tasks, nodes, slots, tasks, rules = ZERO, work.nodes, work.slots, work.tasks, work.rules[0]
    for left in range(first, n_nodes, 2):
        smaller, larger = by_size(nodes, left)
        n_rows = nodes[larger].stop - nodes[larger].start
        is_wanted = is_searched(nodes[smaller], rules) or is_searched(nodes[larger], rules)
        if is_wanted and is_large(n_rows, rules):
            take_slot(nodes[smaller], slots)
            for j in (smaller, larger):
                begin_search(nodes[j], work)
            continue
        release_slot(nodes[larger], slots)
        for j in (larger, smaller):
            if is_searched(nodes[j], rules):
                n_tasks = list_task(tasks, n_tasks, j, NOTHING, ALL_PACKS)
    for p in range(len(work.table.packs)):
        for left in range(first, n_nodes, 2):
            if nodes[left].slot >= 0:
                smaller, larger = by_size(nodes, left)
                n_tasks = list_task(tasks, n_tasks, smaller, larger, p)
    return n_tasks


@inlined
def list_refinements(first, n_nodes, work):
    """List the columns of large nodes where a cut that was not scored may be the best."""
    n_tasks, nodes, n_columns = ZERO, work.nodes, work.slots.found.shape[1]
    for j in range(first, n_nodes):
        if nodes[j].slot >= 0:
            found = work.slots.found[nodes[j].slot]
            best = best_column(found)
            for i in range(best + 1, best + 1 + n_columns):  # the best last: it is taken first
                k = i if i < n_columns else i - n_columns
                if is_in_question(found[k], nodes[j]):
                    n_tasks = list_task(work.tasks, n_tasks, j, NOTHING, k)
    return n_tasks


@inlined
def record_splits(first, n_nodes, work, policy):
    """Record the splits of the large nodes; those of small nodes are recorded already."""
    for j in range(first, n_nodes):
        if work.nodes[j].slot >= 0:
            call_at(policy, RECORD, j, ZERO, work)


@inlined
def release_slots(first, n_nodes, work):
    """Release the slots of all nodes whose children do not need them."""
    for j in range(first, n_nodes):
        node = work.nodes[j]
        keeps = node.feature >= 0 and is_large(node.stop - node.start, work.rules[0])
        if node.slot >= 0 and not keeps:
            release_slot(node, work.slots)


@inlined
def list_splits(first, n_nodes, work):
    """List the nodes to split now, all or that of largest gain, and number their children."""
    n_tasks, nodes, tasks, max_leaves = ZERO, work.nodes, work.tasks, work.rules[0].max_leaves
    if max_leaves < 0:
        for j in range(first, n_nodes):
            if nodes[j].feature >= 0:
                n_tasks = list_task(tasks, n_tasks, j, NOTHING, ZERO)
    elif (n_nodes + 1) // 2 < max_leaves:
        best = NOTHING
        for j in range(n_nodes):
            waits = nodes[j].feature >= 0 and nodes[j].left < 0
            if waits and (best < 0 or nodes[j].gain > nodes[best].gain):
                best = j
        if best >= 0:
            n_tasks = list_task(tasks, n_tasks, best, NOTHING, ZERO)
    for t in range(n_tasks):
        parent = nodes[tasks[t].node]
        parent.left, parent.right = n_nodes + 2 * t, n_nodes + 2 * t + 1
    return n_tasks
