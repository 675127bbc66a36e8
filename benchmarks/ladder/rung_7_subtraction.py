"""Rung 7, subtraction: count the smaller of two siblings, and get the larger one for nothing.

Every row of a node goes to one of its children, so their histograms add up to that of the node:

    parent             5  12   7   9        known from the level before
    smaller child      1   4   0   3        counted: at most half of the rows
    larger child       4   8   7   6        parent less smaller child

Integers make this exact: nothing is lost by adding and taking away again. The rows to be counted
are listed first, so that the others cost nothing in any column.

Cost: half of the counting or less, below the root; and memory for the histograms of two levels.
"""

import numpy as np

from benchmarks.ladder import rung_4_codes
from benchmarks.ladder.rung_3_compiled import compiled
from benchmarks.ladder.rung_6_bounds import look_inside, prepare, room_for, survey

__all__ = ["grow", "prepare"]


class Search:
    """The search of rung 6, which remembers the histograms of the level before."""

    def __init__(self):
        self.histogram = None

    def __call__(self, table, level, reg_lambda):
        """Find the best cuts of all nodes of a level."""
        self.begin(table, level)
        columns = range(len(table.bins))
        self.survey(columns, table, level, reg_lambda)
        self.look_inside(columns, table, level, reg_lambda)

    def begin(self, table, level):
        """List the rows to be counted, and make room for the histograms."""
        self.parents = self.histogram
        self.histogram, self.bound = room_for(table, level)
        self.is_counted = are_smaller(level.total[:, 1])
        self.listed = list_rows(level, self.is_counted)

    def survey(self, columns, table, level, reg_lambda):
        """Score the cuts between the bins of some columns, and bound those inside."""
        for k in columns:
            histogram = self.histogram[k]
            count_listed(table.bins[k], *self.listed, histogram)
            if self.parents is not None:
                subtract(self.parents[k], self.is_counted, level.total, histogram)
            survey(k, table.last_code[k], histogram, level, reg_lambda, self.bound[k])

    def look_inside(self, columns, table, level, reg_lambda):
        """Score the cuts inside those bins of some columns that can hold the best one."""
        for k in columns:
            walk = table.codes[k], table.order[k], table.start[k]
            look_inside(k, *walk, self.histogram[k], self.bound[k], level, reg_lambda)


def are_smaller(n_rows):
    """Say of every node of a level whether it is the smaller one of two siblings, or the root."""
    if len(n_rows) == 1:
        return np.array([True])
    left_is_smaller = n_rows[::2] <= n_rows[1::2]
    return np.column_stack([left_is_smaller, ~left_is_smaller]).ravel()


@compiled
def list_rows(level, is_counted):
    """Return where the rows of each node begin in a list, the rows, and their gradients."""
    start = np.append(0, np.cumsum(level.total[:, 1] * is_counted))
    rows, gradient = np.empty(start[-1], np.int32), np.empty(start[-1], np.int64)
    place = start.copy()
    for row in range(len(level.node)):
        t = level.node[row] - level.first
        if t >= 0 and is_counted[t]:
            rows[place[t]], gradient[place[t]] = row, level.gradient[row]
            place[t] += 1
    return start, rows, gradient


@compiled
def count_listed(bins, start, rows, gradient, histogram):
    """Add up g, rows and |g| in every bin of the nodes whose rows are listed."""
    for t in range(len(histogram)):
        of_node = histogram[t]
        for i in range(start[t], start[t + 1]):
            b, g = bins[rows[i]], gradient[i]
            of_node[b, 0] += g
            of_node[b, 1] += 1
            of_node[b, 2] += abs(g)


@compiled
def subtract(parents, is_counted, total, histogram):
    """Fill in the histograms of the siblings of nodes that were counted."""
    n_nodes, n_bins, n_sums = histogram.shape
    for t in range(n_nodes):
        if not is_counted[t] and total[t, 1] > 0:
            sibling = t + 1 - 2 * (t % 2)
            for b in range(n_bins):
                for s in range(n_sums):
                    histogram[t, b, s] = parents[t // 2, b, s] - histogram[sibling, b, s]


def grow(table, gradient, max_depth, reg_lambda):
    """Grow a tree."""
    return rung_4_codes.grow(table, gradient, max_depth, reg_lambda, search=Search())
