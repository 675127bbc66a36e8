"""Rung 4, rank codes: sort every column once, before training, and walk all nodes of a level.

A split asks only whether ``x <= threshold``, so a value may be replaced by its rank among the
column's distinct values, its *code*. Codes and the order of the rows never change: no tree sorts
again. The price is that in the order of a column the rows of all nodes are mixed. So all nodes of a
level are searched in one walk, each with a running sum of its own:

    order     row 4   row 0   row 7   row 2   row 5   row 1
    code          0       1       1       2       2       3
    node          A       B       A       A       B       B
    sum of A      +               +       +
    sum of B              +                       +       +

A cut of a node lies before each of its rows whose code differs from that of its row before.

Cost: a few nanoseconds a row, column and level; most of it is waiting for what a row's node and
gradient are, because rows in the order of a column lie anywhere in memory.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.ladder.rung_1_page import gain_of, tree_of_one_leaf
from benchmarks.ladder.rung_3_compiled import compiled, score


class Table(NamedTuple):
    """A table as ranks; ``values[k][codes[k]]`` is column k again."""

    values: list  # of every column the distinct values, ascending
    codes: np.ndarray  # (p, n) int32
    order: np.ndarray  # (p, n) int32, rows by code


class Level(NamedTuple):
    """The nodes of one level, of which the first has number ``first``, and their best cuts."""

    first: int
    node: np.ndarray  # (n,) int32, of every row; below ``first`` where it is a leaf higher up
    gradient: np.ndarray  # (n,) int64
    total: np.ndarray  # (nodes, 3) int64: sum g, rows, sum |g|
    score: np.ndarray  # (nodes,)
    feature: np.ndarray  # (nodes,)
    code: np.ndarray  # (nodes,), the highest that goes left


def prepare(X):
    """Rank every column."""
    n, p = X.shape
    table = Table([], np.empty((p, n), dtype=np.int32), np.empty((p, n), dtype=np.int32))
    for k in range(p):
        table.order[k] = order = np.argsort(X[:, k])
        x = X[order, k]
        is_new = np.append(True, x[1:] > x[:-1])
        table.codes[k, order] = np.cumsum(is_new) - 1
        table.values.append(x[is_new])
    return table


def search_columns(table, level, reg_lambda):
    """Find the best cuts of all nodes of a level."""
    for k, (codes, order) in enumerate(zip(table.codes, table.order, strict=True)):
        walk_column(k, codes, order, level, reg_lambda)


@compiled
def walk_column(k, codes, order, level, reg_lambda):
    """Score all cuts of all nodes of a level in one column."""
    n_nodes = len(level.total)
    left_sum, left_n = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    last = np.full(n_nodes, -1)  # the code of the node's row before
    for row in order:
        t, code = level.node[row] - level.first, codes[row]
        if t < 0:
            continue
        if code != last[t] and last[t] >= 0:
            score_cut(t, k, last[t], left_sum[t], left_n[t], level, reg_lambda)
        left_sum[t] += level.gradient[row]
        left_n[t] += 1
        last[t] = code


@compiled
def score_cut(t, k, code, left_sum, left_n, level, reg_lambda):
    """Score a cut of node t, and keep it if it is the best so far."""
    right_sum, right_n = level.total[t, 0] - left_sum, level.total[t, 1] - left_n
    keep_better(t, k, code, score(left_sum, left_n, right_sum, right_n, reg_lambda), level)


@compiled
def keep_better(t, k, code, found, level):
    """Keep a cut of node t if it is better; of equals the lowest feature, the highest threshold."""
    is_better = found > level.score[t]
    if found == level.score[t]:
        feature = level.feature[t]
        is_better = k < feature or (k == feature and code > level.code[t])
    if is_better:
        level.score[t], level.feature[t], level.code[t] = found, k, code


def grow(table, gradient, max_depth, reg_lambda, search=search_columns):
    """Grow a tree level by level: find the splits of all its nodes, then let all rows move on."""
    tree = tree_of_one_leaf(max_depth)
    node = np.zeros(len(gradient), dtype=np.int32)
    for depth in range(max_depth):
        first, n_nodes = 2**depth - 1, 2**depth
        nothing = np.full(n_nodes, -np.inf), np.full(n_nodes, -1), np.full(n_nodes, -1)
        level = Level(first, node, gradient, add_up(node, first, n_nodes, gradient), *nothing)
        search(table, level, reg_lambda)
        cut = np.flatnonzero(level.feature >= 0)  # nodes that have rows, and a cut
        gains = gain_of(level.score[cut], *level.total[cut].T.astype(float), reg_lambda)
        for t, gain in zip(cut[gains > 0], gains[gains > 0], strict=True):
            k = level.feature[t]
            tree.feature[first + t], tree.gain[first + t] = k, gain
            tree.threshold[first + t] = table.values[k][level.code[t]]
        move_rows(table.codes, first, tree.feature[first : first + n_nodes], level.code, node)
    return tree


@compiled
def add_up(node, first, n_nodes, gradient):
    """Return sum g, number of rows and sum |g| of every node of a level."""
    total = np.zeros((n_nodes, 3), dtype=np.int64)
    for row in range(len(node)):
        t = node[row] - first
        if t >= 0:
            total[t, 0] += gradient[row]
            total[t, 1] += 1
            total[t, 2] += abs(gradient[row])
    return total


@compiled
def move_rows(codes, first, feature, code, node):
    """Give every row of a node that is split the number of the child that it goes to."""
    for row in range(len(node)):
        t = node[row] - first
        if t >= 0 and feature[t] >= 0:
            goes_right = codes[feature[t], row] > code[t]
            node[row] = 2 * node[row] + 1 + goes_right
