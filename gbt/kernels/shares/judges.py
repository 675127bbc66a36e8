"""Judges: the splits of nodes whose rows others hold, where some rows choose and others judge.

The members' histograms of every set, added up, are those that ``gbt.kernels.cuts.judging`` works on
in memory; levels have bins of their own.
"""

import numpy as np

from gbt.kernels.cuts.bounds import NO_DIRECTION
from gbt.kernels.cuts.judging import judge_column, search_bins, search_levels
from gbt.kernels.cuts.levels import G, H, N, levels_of_bins, mark_sides
from gbt.kernels.cuts.memory import terms_of
from gbt.kernels.cuts.sets import UNBIASED
from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.shares.levels import write_sides
from gbt.kernels.trees.judged_tasks import is_made


@uncounted
def judge_nodes(nodes, histograms, columns, is_open, rules, judging, found, own, best, is_left):
    """Let the rows of every node choose and judge its split.

    nodes        (m,)           NODE          INOUT   ``candidate``, ``gain`` and ``claim``
    histograms   (m, numbers)   int64         IN      of all bins, set after set
    columns      (c,)           COLUMN        IN      ascending; ``line`` is the number of a column
    is_open      (m, c)         bool          IN      whether a node may be split on a column
    rules        (1,)           RULES         IN
    judging                     ``Judging``   INOUT
    found        (1,)           FOUND         scratch
    own          (1,)           OF_LEVELS     scratch
    best         (m,)           BEST          OUT     ``part`` is a bin; sums are those of all rows
                                                      on the left, missing ones included
    is_left      (m, codes)     bool          OUT     as in ``gbt.kernels.shares.levels``
    """
    judge, habits = judging.judges[0], judging.habits[0]
    for j in range(len(nodes)):
        node, kept, terms = nodes[j], best[j], terms_of(NO_DIRECTION, nodes[j], rules[0])
        kept.column, kept.score = -1, -np.inf
        for c in range(len(columns)):
            if not is_open[j, c]:
                continue
            column, n_levels = columns[c], np.int64(0)
            if column.has_levels > 0:
                n_levels = levels_of_bins(histograms[j], column, terms, rules[0], habits, own[0])
                search_levels(n_levels, rules[0], habits, judge, own[0], terms.within)
            else:
                search_bins(histograms[j], column, terms, rules[0], judging, judge)
            judge_column(column, found[0], node, rules[0], judging, judge)
            # Columns come in their order, so of equal scores the lowest is taken.
            if found[0].score > kept.score:
                kept.score, kept.part = found[0].score, found[0].code
                kept.missing_left = found[0].missing_left
                kept.column = column.line if is_made(found[0], rules[0]) else -1
                node.candidate = column.line
                node.gain, node.claim = found[0].worth, found[0].claim
                add_up_sets_on_the_left(habits, judge, kept)
                if column.has_levels > 0:
                    node.cut, node.missing_left = kept.part, kept.missing_left
                    mark_sides(node, n_levels, column.n_bins, rules[0], habits, own[0])
                    write_sides(n_levels, node.missing_left, own[0], is_left[j])
                    kept.missing_left = node.missing_left


@internal
def add_up_sets_on_the_left(habits, judge, kept):
    """Write down the sums over all rows left of the cut that splits the node."""
    left = judge.left_of_best[habits.splits]
    kept.g = kept.h = kept.n = kept.missing_g = kept.missing_h = kept.missing_n = 0
    first = 0 if habits.kind == UNBIASED else habits.splits  # a sum of all rows, the last
    for l in range(first, habits.n_sums):
        kept.g, kept.h, kept.n = kept.g + left[l, G], kept.h + left[l, H], kept.n + left[l, N]
