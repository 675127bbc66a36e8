"""Levels of rows in shares: the best set of each categorical column.

Every level of a column has a coarse bin of its own, so its sums over the rows of a node are there
as soon as histograms are, and nothing is looked into. They are put in order and cut by
``gbt.kernels.cuts.levels``, as in memory.
"""

import numpy as np

from gbt.kernels.cuts.bounds import NO_DIRECTION
from gbt.kernels.cuts.levels import G, H, N, best_set, levels_of_bins, mark_sides
from gbt.kernels.cuts.memory import terms_of
from gbt.kernels.platform.compiling import internal, uncounted

ALL_ROWS = np.int64(0)  # the only sum of a greedy tree


@uncounted
def weigh_levels(nodes, histograms, columns, is_open, rules, habits, own, best, is_left):
    """Find the best set of levels of every categorical column; keep it where it is the node's best.

    nodes        (m,)         NODE     INOUT   ``to_beat`` rises
    histograms   (m, bins)    int64    IN      numbers of all bins, end to end
    columns      (c,)         COLUMN   IN      ascending; ``line`` is the number of the column
    is_open      (m, c)       bool     IN      whether a node may be split on a column
    rules        (1,)         RULES    IN
    habits       (1,)         HABITS   IN      of a single set
    own          (1,)         OF_LEVELS        scratch
    best         (m,)         BEST     INOUT   ``part`` is -1 where it is found here; sums are those
                                               of all rows on the left, missing ones included
    is_left      (m, codes)   bool     OUT     by level, and last that of missing rows
    """
    for j in range(len(nodes)):
        node, found, terms = nodes[j], best[j], terms_of(NO_DIRECTION, nodes[j], rules[0])
        for c in range(len(columns)):
            if not is_open[j, c]:
                continue
            column = columns[c]
            n_levels = levels_of_bins(histograms[j], column, terms, rules[0], habits[0], own[0])
            cut = best_set(ALL_ROWS, n_levels, terms, rules[0], habits[0], own[0])
            # Columns come in their order, so of equal scores the lowest is taken.
            if cut.score > found.score and cut.score >= node.to_beat:
                node.cut, node.missing_left = cut.code, cut.missing_left
                mark_sides(node, n_levels, column.n_bins, rules[0], habits[0], own[0])
                node.to_beat = found.score = cut.score
                found.column, found.part, found.missing_left = column.line, -1, node.missing_left
                add_up_left(n_levels, own[0], found)
                write_sides(n_levels, node.missing_left, own[0], is_left[j])


@internal
def add_up_left(n_levels, own, found):
    """Write down the sums over the rows of levels that go left."""
    found.g = found.h = found.n = found.missing_g = found.missing_h = found.missing_n = 0
    sums = own.sums
    for i in range(n_levels):
        if own.is_left[i] != 0:
            found.g, found.h = found.g + sums[4 * i + G], found.h + sums[4 * i + H]
            found.n += sums[4 * i + N]


@internal
def write_sides(n_levels, missing_left, own, is_left):
    """Write down which levels go left; those that no row of the node has go where missing ones go.

    is_left   (codes,)   bool   OUT
    """
    for code in range(len(is_left)):
        is_left[code] = missing_left != 0
    for i in range(n_levels):
        is_left[own.code[i]] = own.is_left[i] != 0
