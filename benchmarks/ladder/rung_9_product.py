"""The last rung, the product: ``gbt``, which takes the same steps and then some.

What it does beside: eight columns share a word, so that one read of a row feeds eight histograms;
bins are put together to groups in small nodes; bins in question are walked, sorted or divided once
more, whichever costs least; bounds are taken eight at a time by vector instructions; a tree is one
compiled call, and so are many trees when nobody watches. docs/exact_search.md has all of it. It
also knows missing values, weights, other losses, and the limits of leaves.
"""

import numpy as np

from benchmarks.ladder.problems import UNIT
from benchmarks.ladder.rung_1_page import tree_of_one_leaf
from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN
from gbt.splitting.greedy import Greedy
from gbt.splitting.policy import Limits
from gbt.tables.columns import Columns
from gbt.training.plan import Plan
from gbt.training.policy_growth import growth_of


class Table:
    """A table, and the memory that growing trees on it takes."""

    def __init__(self, X):
        self.columns = Columns.from_table(X)
        one, nothing = np.ones(1), np.zeros(len(X))
        self.training = Training(nothing, one, nothing, np.zeros(len(X)), one)
        self.growth = None


def prepare(X):
    """Rank every column, and divide it into bins."""
    return Table(X)


def grow(table, gradient, max_depth, reg_lambda):
    """Grow a tree, and write it down as the other rungs do."""
    if table.growth is None:
        limits = Limits(reg_lambda, min_child_weight=0.0, max_depth=max_depth)
        plan = Plan(GIVEN, limits, learning_rate=1.0, n_jobs=None)
        table.growth = growth_of(Greedy(), table.columns, table.training, plan)
    np.multiply(gradient, UNIT, out=table.training.gradient)
    nodes = table.growth.grow(0, None, np.arange(table.columns.n_columns), 1).nodes
    return renumbered(nodes, max_depth)


def renumbered(nodes, max_depth):
    """Return a tree whose nodes are in preorder as one whose children are 2 t + 1 and 2 t + 2."""
    tree, number = tree_of_one_leaf(max_depth), np.zeros(len(nodes), dtype=np.int64)
    for i in np.flatnonzero(nodes["feature"] >= 0):
        t = number[i]
        number[nodes["left"][i]], number[nodes["right"][i]] = 2 * t + 1, 2 * t + 2
        tree.feature[t], tree.threshold[t] = nodes["feature"][i], nodes["threshold"][i]
        tree.gain[t] = nodes["gain"][i] / UNIT**2
    return tree
