"""Judges: the splits of nodes whose rows others hold, where some rows choose and others judge.

The members' histograms of every set, added up, are those that ``gbt.kernels.cuts.judging`` works on
in memory; levels have bins of their own.
"""

import numpy as np

from gbt.kernels.cuts.bounds import NO_DIRECTION
from gbt.kernels.cuts.judged_levels import add_up_sums, mark_left, order_levels, search_sums
from gbt.kernels.cuts.judging import judge_column, search_bins
from gbt.kernels.cuts.levels import G, H, N, W
from gbt.kernels.cuts.memory import terms_of
from gbt.kernels.cuts.scores import sums_of_bin
from gbt.kernels.cuts.sets import UNBIASED
from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.shares.levels import OF_ROWS
from gbt.kernels.trees.judged_tasks import is_made


@uncounted
def judge_nodes(nodes, histograms, columns, is_open, weighs, rules, judging, found, best, is_left):
    """Let the rows of every node choose and judge its split.

    nodes        (m,)           NODE          INOUT   ``candidate``, ``gain`` and ``claim``
    histograms   (m, numbers)   int64         IN      of all bins, set after set
    columns      (c,)           COLUMN        IN      ascending; ``line`` is the number of a column
    is_open      (m, c)         bool          IN      whether a node may be split on a column
    weighs                      int64         IN      see ``gbt.kernels.shares.levels``
    rules        (1,)           RULES         IN
    judging                     ``Judging``   INOUT
    found        (1,)           FOUND         scratch
    best         (m,)           BEST          OUT     ``part`` is a bin; sums are those of all rows
                                                      on the left, missing ones included
    is_left      (m, codes)     bool          OUT     as in ``gbt.kernels.shares.levels``
    """
    judge, own = judging.judges[0], judging.of_levels[0]
    habits = judging.habits[0]
    for j in range(len(nodes)):
        node, kept, terms = nodes[j], best[j], terms_of(NO_DIRECTION, nodes[j], rules[0])
        kept.column, kept.score = -1, -np.inf
        for c in range(len(columns)):
            if not is_open[j, c]:
                continue
            column, n_levels = columns[c], np.int64(0)
            if column.has_levels > 0:
                n_levels = levels_of_sets_in_bins(
                    histograms[j], column, terms, weighs, rules[0], judging, own
                )
                search_sums(n_levels, rules[0], habits, judge, own, terms.within)
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
                    mark_levels(n_levels, column, habits, rules[0], own, kept, is_left[j])


@internal
def levels_of_sets_in_bins(histograms, column, terms, weighs, rules, judging, own):
    """Add up the levels of a node, ascending, missing last; return how many occur."""
    habits, n_levels = judging.habits[0], np.int64(0)
    size = len(histograms) // habits.n_sets
    for b in range(column.n_bins + 1):
        of_sets, n_rows = own.of_codes[b, : habits.n_sets], np.int64(0)
        for s in range(habits.n_sets):
            of_set, sums = histograms[s * size : (s + 1) * size], of_sets[s]
            sums[G], sums[H], sums[N] = sums_of_bin(of_set, column.first_bin, b, terms)
            sums[W] = sums[N] * rules.weight_unit
            if weighs == OF_ROWS:
                sums[W] = of_set[(column.first_bin + b) * 4 + 3]
            n_rows += sums[N]
        if n_rows > 0:
            add_up_sums(of_sets, judging, own.sums[n_levels, : habits.n_sums])
            own.code[n_levels] = b
            n_levels += 1
        of_sets[:] = 0
    return n_levels


@internal
def add_up_sets_on_the_left(habits, judge, kept):
    """Write down the sums over all rows left of the cut that splits the node."""
    left = judge.left_of_best[habits.splits]
    kept.g = kept.h = kept.n = kept.missing_g = kept.missing_h = kept.missing_n = 0
    first = 0 if habits.kind == UNBIASED else habits.splits  # a sum of all rows, the last
    for l in range(first, habits.n_sums):
        kept.g, kept.h, kept.n = kept.g + left[l, G], kept.h + left[l, H], kept.n + left[l, N]


@internal
def mark_levels(n_levels, column, habits, rules, own, kept, is_left):
    """Write down which levels go left; those that no row has go where missing values go."""
    n, which = order_levels(n_levels, habits.splits, habits.n_sums, rules, own)
    mark_left(own.order[which, :n], n_levels, kept.part, own.is_left)
    if own.code[n_levels - 1] == column.n_bins:
        kept.missing_left = own.is_left[n_levels - 1]
    is_left[:] = kept.missing_left != 0
    for i in range(n_levels):
        is_left[own.code[i]] = own.is_left[i] != 0
