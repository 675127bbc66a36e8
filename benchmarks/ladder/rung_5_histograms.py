"""Rung 5, histograms: where a column has few values, count instead of walking.

A column of 50 distinct values has 49 cuts, however many rows there are. The sums of gradients and
rows of every value are all that these cuts need, and they can be collected in whatever order the
rows come. The best order is that of memory, where a processor reads ahead by itself:

    row            0   1   2   3   4   5  ...          walking: rows 4, 0, 7, 2, 5, 1 ...
    code           1   3   2   2   0   2  ...          counting: rows 0, 1, 2, 3, 4, 5 ...

    code           0     1     2     3
    sum of g      -4     2     5     1
    rows           1     1     3     1                 then running sums over the codes: 3 cuts

Columns of many values are walked as before; their turn comes in rung 6.

Cost: a nanosecond or two a row, column and level, and nodes x values for the cuts.
"""

from functools import partial

import numpy as np

from benchmarks.ladder import rung_4_codes
from benchmarks.ladder.rung_3_compiled import compiled
from benchmarks.ladder.rung_4_codes import prepare, score_cut, walk_column

__all__ = ["grow", "prepare"]

MOST_VALUES = 256  # of a column that is counted: its histograms should stay in the cache


def search_columns(table, level, reg_lambda):
    """Find the best cuts of all nodes of a level."""
    for k, (codes, order) in enumerate(zip(table.codes, table.order, strict=True)):
        n_values = len(table.values[k])
        if n_values <= MOST_VALUES:
            count_column(k, codes, n_values, level, reg_lambda)
        else:
            walk_column(k, codes, order, level, reg_lambda)


@compiled
def count_column(k, codes, n_values, level, reg_lambda):
    """Score all cuts of all nodes of a level in one column, from its histograms."""
    histogram = np.zeros((len(level.total), n_values, 2), dtype=np.int64)  # sum g, rows
    for row in range(len(codes)):
        t, code = level.node[row] - level.first, codes[row]
        if t >= 0:
            histogram[t, code, 0] += level.gradient[row]
            histogram[t, code, 1] += 1
    for t in range(len(level.total)):
        left_sum = left_n = 0
        for code in range(n_values):
            g, n = histogram[t, code]
            left_sum, left_n = left_sum + g, left_n + n
            if n > 0 and left_n < level.total[t, 1]:
                score_cut(t, k, code, left_sum, left_n, level, reg_lambda)


grow = partial(rung_4_codes.grow, search=search_columns)
