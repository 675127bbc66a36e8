"""Rounds: tree after tree in one call, the loop of boosting compiled.

In the paper's letters::

    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

A tree is some phases, whose tasks the threads of a team share (``gbt.kernels.trees.tasks``)::

    start_tree       DERIVE, MEASURE, QUANTISE, DRAW; open the root
    search_depth     SEARCH, REFINE
    split_depth      PARTITION; again from search_depth, until no node splits
    end_tree         FINISH, which also updates the raw predictions

After as many of these steps as the caller allows the leader returns, and continues when it is
called again: in between Python handles signals such as Ctrl-C.

Handing the arrays from Python to one kernel after the other took some 15 microseconds a tree, of
145 that a tree of 1,000 rows and 50 columns took in all.
"""

import numpy as np

from gbt.kernels.cuts.memory import BY_ROWS
from gbt.kernels.platform import thread_team
from gbt.kernels.platform.compiling import inlined, internal, uncounted
from gbt.kernels.platform.handing import handed
from gbt.kernels.trees.experience import look_back, remember
from gbt.kernels.trees.finish import finish_splits, put_in_preorder, rates_of
from gbt.kernels.trees.growth import (
    list_refinements,
    list_searches,
    list_splits,
    open_root,
    record_splits,
    release_slots,
)
from gbt.kernels.trees.quantise import choose_scales
from gbt.kernels.trees.tasks import (
    DERIVE,
    DRAW,
    FINISH,
    MEASURE,
    NODES_PER_TASK,
    PARTITION,
    QUANTISE,
    REFINE,
    SEARCH,
    blocks_of,
    run_task,
)

OF_SUM, OF_SQUARE = 1, 2  # overflows


@internal
def do_tasks(n_tasks, thread, work, policy):
    """Do tasks of a phase until all are done; a helper goes on with those of the next phases."""
    queue = work.queue
    task = thread_team.next_task(queue, n_tasks)
    while task >= 0:
        run_task(queue[thread_team.KIND], task, thread, work, policy)
        thread_team.report_done(queue)
        task = thread_team.next_task(queue, n_tasks)


@internal
def run_phase(kind, n_tasks, work, policy):
    """Share the tasks of a phase with the helpers; return when all are done."""
    if n_tasks > 0:
        thread_team.offer_tasks(work.queue, kind, n_tasks)
        do_tasks(n_tasks, np.int64(0), work, policy)


@internal
def add_up_scores(nodes, rules, scores):
    """Add up the scores of all candidate splits by column, whether or not they were made."""
    for k in range(len(scores)):
        scores[k] = 0.0
    for j in range(len(nodes)):
        if nodes[j].candidate >= 0:
            gain = nodes[j].gain / rules.g_scale * (rules.h_scale / rules.g_scale)
            scores[nodes[j].candidate] += gain


@internal
def keep_levels(nodes, columns, levels):
    """Keep which levels go left at the nodes of a tree, in preorder.

    Returns whether that can be told of a node by its rows alone, before the next tree moves them.
    """
    is_by_rows = False
    for j in range(len(nodes) if len(levels) > 0 else 0):
        for word in range(levels.shape[1]):
            levels[nodes[j].place, word] = nodes[j].levels[word]
        if nodes[j].left >= 0:
            is_by_rows |= columns[nodes[j].feature].has_levels == BY_ROWS
    return is_by_rows


@inlined
def start_tree(work, policy):
    """Turn derivatives at the raw predictions so far into integers, and open the root."""
    rules, n_blocks = work.rules[0], blocks_of(work.rules[0].n_listed)
    run_phase(DERIVE, blocks_of(len(work.rows.node)), work, policy)
    run_phase(MEASURE, n_blocks, work, policy)
    if not choose_scales(work.training, rules, work.blocks[:n_blocks]):
        rules.overflow = OF_SUM
        return
    run_phase(QUANTISE, n_blocks, work, policy)
    if rules.has_sets:
        run_phase(DRAW, n_blocks, work, policy)
        for i in range(rules.n_listed):
            work.rows.listed[i] = work.rows.buffer[i]
        look_back(rules, work.judging)
    rules.first_open, rules.n_nodes, rules.is_searched = 0, 1, 0
    rules.n_searches = open_root(work)


@inlined
def search_depth(work, policy):
    """Find the splits of the nodes opened last."""
    rules = work.rules[0]
    first, n_nodes = rules.first_open, rules.n_nodes
    run_phase(SEARCH, rules.n_searches, work, policy)
    if not rules.has_sets:
        run_phase(REFINE, list_refinements(first, n_nodes, work), work, policy)
    record_splits(first, n_nodes, work, policy)
    rules.is_searched = 1


@inlined
def split_depth(work, policy):
    """Split nodes and list how their children are searched; return whether any was split."""
    rules = work.rules[0]
    first, n_nodes = rules.first_open, rules.n_nodes
    release_slots(first, n_nodes, work)
    n_splits = list_splits(first, n_nodes, work)
    run_phase(PARTITION, n_splits, work, policy)
    first, n_nodes = n_nodes, n_nodes + 2 * n_splits
    rules.first_open, rules.n_nodes = first, n_nodes
    rules.n_searches = list_searches(first, n_nodes, work)
    rules.is_searched = 0
    return n_splits > 0


@inlined
def end_tree(work, policy):
    """Store the tree that has grown."""
    rules, nodes, grown = work.rules[0], work.nodes[: work.rules[0].n_nodes], work.grown
    put_in_preorder(nodes)
    run_phase(FINISH, (len(nodes) + NODES_PER_TASK - 1) // NODES_PER_TASK, work, policy)
    if not finish_splits(
        nodes, rates_of(rules), grown.trees[rules.first_node :],
        grown.rows_at_cut[rules.first_node :],
    ):  # fmt: skip
        rules.overflow = OF_SQUARE
    is_last = keep_levels(nodes, work.table.columns, grown.levels[rules.first_node :])
    if rules.has_sets:
        add_up_scores(nodes, rules, work.judging.scores[rules.n_grown])
        remember(nodes, rules, work.judging)
    grown.sizes[rules.n_grown] = rules.n_nodes
    rules.n_grown, rules.first_node = rules.n_grown + 1, rules.first_node + rules.n_nodes
    rules.n_nodes = 0
    if is_last:
        rules.n_trees = rules.n_grown


@uncounted
def grow_trees(thread, work, policy):
    """Grow trees until all are grown, or all allowed steps have been taken.

    A helper does tasks until none have been offered for a while.

    thread   int64             0 leads, the others help
    work     ``Work``  INOUT   see ``gbt.kernels.cuts.memory``
    policy                     address of a kernel, see ``gbt.kernels.trees.tasks``
    """
    work = handed(work)
    queue, rules = work.queue, work.rules[0]
    if thread > 0:
        do_tasks(thread_team.ANY_PHASE, thread, work, policy)
        return
    thread_team.begin(queue)
    while rules.n_grown < rules.n_trees and rules.n_steps > 0 and rules.overflow == 0:
        rules.n_steps -= 1
        if rules.n_nodes == 0:
            start_tree(work, policy)
        elif rules.is_searched == 0:
            search_depth(work, policy)
        elif not split_depth(work, policy):
            end_tree(work, policy)
    thread_team.end(queue)
