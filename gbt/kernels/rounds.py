"""Rounds: tree after tree in one call, the loop of boosting compiled.

In the paper's letters::

    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

Handing the arrays from Python to one kernel after the other took 20 microseconds a tree, of 145
that a tree of 1,000 rows and 50 columns took in all.
"""

from gbt.kernels import crew
from gbt.kernels.compiling import uncounted
from gbt.kernels.derivatives import GIVEN, write_derivatives
from gbt.kernels.finish import add_values, finish_tree
from gbt.kernels.growth import grow_tree
from gbt.kernels.quantise import begin_tree

SUM_OVERFLOWS, SQUARE_OVERFLOWS = -1, -2


@uncounted
def grow_trees(
    thread, board, table, rows, nodes, slots, tasks, all_rules, scratch, training, grown
):  # fmt: skip
    """Grow some trees, fewer if there is no room, and return their number, or what overflows.

    Raw predictions follow where all rows take part. See ``gbt.kernels.growth.grow_tree`` for what
    helpers do and ``gbt.kernels.memory`` for the arrays.
    """
    rules, most = all_rules[0], len(nodes)
    if thread > 0:
        return grow_tree(thread, board, table, rows, nodes, slots, tasks, rules, scratch)
    crew.begin(board)
    n_trees = start = 0
    while 0 <= n_trees < rules.n_trees and start + most <= len(grown.trees):
        if rules.loss != GIVEN:
            write_derivatives(
                rules.loss, training.y, training.raw_prediction, training.gradient,
                training.hessian,
            )  # fmt: skip
        if not begin_tree(training, rows, rules):
            n_trees = SUM_OVERFLOWS
            break
        n_nodes = grow_tree(thread, board, table, rows, nodes, slots, tasks, rules, scratch)
        stop = start + n_nodes
        if not finish_tree(
            rows.listed, nodes[:n_nodes], training.gradient, training.hessian, training.weight,
            rules.reg_lambda, rules.learning_rate, rows.node, grown.trees[start:stop],
            grown.beside[start:stop],
        ):  # fmt: skip
            n_trees = SQUARE_OVERFLOWS
            break
        if rules.n_listed == len(rows.node):
            add_values(grown.trees[start:stop], rows.node, training.raw_prediction)
        grown.sizes[n_trees] = n_nodes
        n_trees, start = n_trees + 1, stop
    crew.end(board)
    return n_trees
