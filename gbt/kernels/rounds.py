"""Rounds: tree after tree in one call, the loop of boosting compiled.

In the paper's letters::

    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

A round is a cycle of phases. The threads of a crew share the tasks of each (``gbt.kernels.tasks``),
and when it is over the leader decides what comes next::

    DERIVE -> ENTER -> SEARCH -> REFINE -> (no node splits) -> FINISH -> FOLLOW -> next round
                         ^---- PART <---------'

After so many phases as the caller allows, the leader returns where it stands, and goes on from
there when it is called again: in between Python looks for signals such as Ctrl-C. A new request
begins as if a round of a tree without nodes were over.

Handing the arrays from Python to one kernel after the other took some 15 microseconds a tree, of
145 that a tree of 1,000 rows and 50 columns took in all.
"""

import numpy as np

from gbt.kernels import crew
from gbt.kernels.compiling import inlined, internal, uncounted
from gbt.kernels.finish import finish_splits, put_in_preorder
from gbt.kernels.growth import GROWN, list_task, next_phase_of_tree, plant
from gbt.kernels.quantise import ROWS_PER_TASK, choose_scales, measure_rows
from gbt.kernels.tasks import (
    DERIVE,
    ENTER,
    FINISH,
    FOLLOW,
    SEARCH,
    blocks_of,
    run_task,
)

END = -2  # after the last phase
SUM_OVERFLOWS, SQUARE_OVERFLOWS, PAUSED = -1, -2, -3  # in place of a number of trees
PARTS_PER_BLOCK = 4  # of the nodes, for each block of rows: leaves differ in size


@internal
def count_tree(n_nodes, rules, grown):
    """Count the tree that has grown, if there is one; say whether one more is wanted."""
    if n_nodes > 0:
        grown.sizes[rules.n_grown] = n_nodes
        rules.n_grown, rules.first_node = rules.n_grown + 1, rules.first_node + n_nodes
    return rules.n_grown < rules.n_trees


@internal
def settle(training, rows, rules, blocks):
    """Choose the units of a tree; say whether all sums are finite."""
    n_blocks = blocks_of(rules.n_listed)
    if rules.n_listed < len(rows.node):  # all rows were measured while derivatives were written
        for b in range(n_blocks):
            start = b * ROWS_PER_TASK
            stop = min(start + ROWS_PER_TASK, rules.n_listed)
            measure_rows(training, rows, rules, start, stop, blocks[b])
    return choose_scales(training, rules, blocks[:n_blocks])


@internal
def list_leaves(n_nodes, n_blocks, nodes, tasks):
    """List parts of the nodes to finish, which have their places then."""
    put_in_preorder(nodes[:n_nodes])
    n_parts, n_tasks = min(n_nodes, PARTS_PER_BLOCK * n_blocks), np.int64(0)
    for part in range(n_parts):
        first, last = n_nodes * part // n_parts, n_nodes * (part + 1) // n_parts
        n_tasks = list_task(tasks, n_tasks, first, last, np.int64(0))
    return n_tasks


@internal
def write_splits(n_nodes, nodes, rules, grown):
    """Write down the nodes that are no leaves; say whether all numbers of the tree are finite."""
    tree, beside = grown.trees[rules.first_node :], grown.beside[rules.first_node :]
    return finish_splits(nodes[:n_nodes], rules.reg_lambda, rules.learning_rate, tree, beside)


@inlined
def next_phase(
    kind, first, n_nodes, n_threads, table, rows, nodes, slots, tasks, rules, training, blocks,
    grown,
):  # fmt: skip
    """Decide what comes after a phase; return kind and number of tasks, and which nodes are new.

    The nodes first .. n_nodes - 1 are those that were opened last.
    """
    n_tasks, n_blocks = np.int64(0), blocks_of(len(rows.node))
    while n_tasks == 0 and kind != END:
        if kind == FOLLOW:
            kind, n_tasks = DERIVE, n_blocks
            if not count_tree(n_nodes, rules, grown):
                kind = END
        elif kind == DERIVE:
            kind, n_tasks = ENTER, blocks_of(rules.n_listed)
            if not settle(training, rows, rules, blocks):
                kind, rules.n_grown = END, SUM_OVERFLOWS
        elif kind == ENTER:
            kind, first, n_nodes = SEARCH, np.int64(0), np.int64(1)
            n_tasks = plant(table, nodes, slots, tasks, rules, blocks, n_threads)
        elif kind == FINISH:
            kind, n_tasks = FOLLOW, n_blocks
            if not write_splits(n_nodes, nodes, rules, grown):
                kind, rules.n_grown = END, SQUARE_OVERFLOWS
        else:
            kind, n_tasks, first, n_nodes = next_phase_of_tree(
                kind, first, n_nodes, table, nodes, slots, tasks, rules
            )
            if kind == GROWN:
                kind, n_tasks = FINISH, list_leaves(n_nodes, n_blocks, nodes, tasks)
    return kind, n_tasks, first, n_nodes


@uncounted
def grow_trees(
    thread, board, table, rows, nodes, slots, tasks, all_rules, scratch, training, blocks, grown
):  # fmt: skip
    """Grow some trees and return their number, or what overflows, or that growing is paused.

    Raw predictions follow where all rows take part. A helper does tasks until none are offered for
    a while. See ``gbt.kernels.memory`` for the arrays.

    thread      int64                  IN      0 leads, the others help
    board       (BOARD_LENGTH,)        INOUT   see ``gbt.kernels.crew``
    nodes       (most,)     NODE       OUT     of a tree
    tasks       (most, 3)   int64      what the tasks of a phase are about: nodes, column or word
    all_rules   (1,)        RULES      INOUT
    blocks      (most,)     BLOCK      of rows
    """
    rules = all_rules[0]
    kind, first, n_nodes, n_tasks = rules.phase, rules.first_open, rules.n_nodes, np.int64(0)
    if thread == 0:
        crew.begin(board)
    while True:
        if thread > 0:
            task = crew.next_offer(board)
        else:
            task = crew.next_task(board, n_tasks) if n_tasks > 0 else np.int64(-1)
        if task >= 0:
            run_task(
                board[crew.KIND], task, thread, table, rows, nodes, slots, tasks, rules, scratch,
                training, blocks, grown,
            )  # fmt: skip
            crew.report_done(board)
            continue
        if thread > 0:
            return 0
        rules.n_phases -= 1
        if rules.n_phases < 0:
            rules.phase, rules.first_open, rules.n_nodes = kind, first, n_nodes
            crew.end(board)
            return PAUSED
        kind, n_tasks, first, n_nodes = next_phase(
            kind, first, n_nodes, len(scratch.keys), table, rows, nodes, slots, tasks, rules,
            training, blocks, grown,
        )  # fmt: skip
        if kind == END:
            crew.end(board)
            return rules.n_grown
        crew.open_phase(board, kind, n_tasks)
