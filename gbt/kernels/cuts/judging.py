r"""Judging: the best cuts of one column of a node, where some of its rows choose and others judge.

Cross-validated and unbiased splits divide the rows into *sets*, once for a tree
(``gbt.kernels.trees.drawing``), so that a set of a node is the sets of its children put together.
Rows of a node are listed set by set. So the histogram of a set is filled from a stretch of the
list, and that of one child is had by subtraction (``gbt.kernels.cuts.histogram``)::

    rows of a node      a d g | b e h | c f           histogram of set 0   [ bin | bin | bin | ...
    set                   0       1      2                         set 1   [ bin | bin | bin | ...
                                                                   set 2   [ bin | bin | bin | ...

Cuts lie at the edges of bins, at most 256 a column. Running sums over the bins are written down
where a bin has rows of the node. The best cut of some *sums* of sets is found, and from all sums on
its left follows what it is worth::

    unbiased            sums: D, D1', D2'                          best cuts: of the first
    cross-validated     sums: all but fold 1, ..., fold T, all     best cuts: of each

Levels are put in order first (``gbt.kernels.cuts.levels``).

Cost: of a node and column half a nanosecond a row, and one a bin and set.
"""

import numpy as np

from gbt.kernels.cuts.bounds import step_within, within_of
from gbt.kernels.cuts.levels import G, H, N, best_set, place_of_sum
from gbt.kernels.cuts.scores import Terms, bound_score, free_score, own_score, sums_of_bin
from gbt.kernels.cuts.sets import CROSS_VALIDATED, UNBIASED
from gbt.kernels.platform.compiling import forced_inline, internal, optimised_first
from gbt.kernels.platform.instructions import max, min

D, D1 = 0, 1  # sums of an unbiased policy; the last one is D2', or D1' and D2' merged
LOWEST = -np.finfo(np.float64).max  # above the score of a cut that is not allowed


@internal
def list_cuts(histograms, column, n_sets, width, judge):
    """List the bins after which there is a cut, those in which any set has a row; count them."""
    sizes, size = judge.sizes[: column.n_bins], len(histograms) // n_sets
    for b in range(len(sizes)):
        sizes[b] = 0
    for s in range(n_sets):
        place = np.uint64(s * size + column.first_bin * width + 1)  # that of ``size``
        for b in range(len(sizes)):
            sizes[b] |= histograms[place]
            place += np.uint64(width)
    n_cuts = np.uint64(0)
    for b in range(len(sizes)):
        judge.row[n_cuts] = b
        n_cuts += np.uint64(sizes[b] > 0)
    return np.int64(n_cuts)


@optimised_first
def add_up_sets_of_bins(histograms, column, terms, n_sets, n_cuts, judge):
    """Write down what every set has left of every cut, in all, and of missing rows.

    Returns 1 if any set has missing rows, else 0. The last cut is that after all present rows.
    """
    size, width, mask = len(histograms) // n_sets, terms.width, (1 << terms.count_bits) - 1
    one, two, has_missing = np.uint64(1), np.uint64(2), np.int64(0)
    for s in range(n_sets):
        of_g, of_h, of_n = judge.left[s, G], judge.left[s, H], judge.left[s, N]
        first = np.uint64(s * size + column.first_bin * width)
        g = h = n = np.int64(0)
        for cut in range(n_cuts):
            place = first + np.uint64(judge.row[cut] * width)
            rows = histograms[place + one] & mask
            g, n = g + histograms[place], n + rows
            h += histograms[place + two] if width == 4 else rows * terms.hessian
            of_g[cut], of_h[cut], of_n[cut] = g, h, n
        own = histograms[s * size : (s + 1) * size]
        missing = sums_of_bin(own, column.first_bin, column.missing_bin, terms)
        has_missing |= np.int64(missing.n > 0)
        judge.missing[s, G], judge.missing[s, H], judge.missing[s, N] = missing
        judge.total[s, G], judge.total[s, H] = g + missing.g, h + missing.h
        judge.total[s, N] = n + missing.n
    return has_missing


@internal
def add_numbers(some, total):
    """Add numbers to others."""
    for i in range(len(some)):
        total[i] += some[i]


@internal
def take_from(total, some):
    """Put what is left of some totals in place of what is taken from them."""
    for i in range(len(some)):
        some[i] = total[i] - some[i]


@optimised_first
def take_all_but_one(n_folds, n_cuts, judge):
    """Turn the sums of folds into those of all but each, and add the sum of all."""
    judge.missing[n_folds] = judge.total[n_folds] = 0
    for t in range(n_folds):
        add_numbers(judge.missing[t], judge.missing[n_folds])
        add_numbers(judge.total[t], judge.total[n_folds])
    for t in range(n_folds):
        take_from(judge.missing[n_folds], judge.missing[t])
        take_from(judge.total[n_folds], judge.total[t])
    for line in range(3):
        of_all = judge.left[n_folds, line, :n_cuts]
        for cut in range(n_cuts):
            of_all[cut] = 0
        for t in range(n_folds):
            add_numbers(judge.left[t, line, :n_cuts], of_all)
        for t in range(n_folds):
            take_from(of_all, judge.left[t, line, :n_cuts])


@forced_inline
def terms_of_sum(q, rules, judge, within):
    """Return what enters the scores of cuts for sum q."""
    return Terms(
        judge.total[q, G], judge.total[q, H], judge.total[q, N], rules.penalty, rules.min_hessian,
        rules.min_rows, rules.width, rules.count_bits, rules.hessian, within,
    )  # fmt: skip


@optimised_first
def score_cuts(q, missing, n_cuts, terms, habits, judge, score):
    """Score some cuts for sum q; -inf where a side is too light or a sum has too few rows.

    missing   (L, 3)    int64     IN    sums of the missing rows that go left, or 0
    score     (cuts,)   float64   OUT
    """
    of_g, of_h, of_n = judge.left[q, G], judge.left[q, H], judge.left[q, N]
    g, h, n = missing[q, G], missing[q, H], missing[q, N]
    if terms.within.binds:
        for c in range(n_cuts):  # of numbers the last is between all present and all missing rows
            score[c] = bound_score(of_g[c] + g, of_h[c] + h, of_n[c] + n, terms, c + 1 == n_cuts)
    else:
        for c in range(n_cuts):
            score[c] = free_score(of_g[c] + g, of_h[c] + h, of_n[c] + n, terms)
    least = habits.min_rows_of_all
    for l in range(habits.n_sums if least > 0 else 0):
        of_n, more, of_all = judge.left[l, N], missing[l, N], judge.total[l, N]
        for c in range(n_cuts):
            n = of_n[c] + more
            score[c] = score[c] if (n >= least) & (of_all - n >= least) else -np.inf


@optimised_first
def keep_best(q, n_cuts, has_missing, rules, habits, judge, within):
    """Score the cuts for sum q and keep the best, of equals the last.

    Missing rows go where the score is higher; if it is the same, where the present rows have more
    hessian, then left.
    """
    terms = terms_of_sum(q, rules, judge, within)
    best, right, left = judge.best[q], judge.score[0], judge.score[has_missing]
    score_cuts(q, judge.nothing, n_cuts, terms, habits, judge, right)
    if has_missing > 0:
        score_cuts(q, judge.missing, n_cuts, terms, habits, judge, left)
    best.score, found, largest = -np.inf, np.int64(-1), LOWEST
    for c in range(n_cuts):
        either = max(right[c], left[c])
        if either >= largest:
            found, largest = c, either
    if found < 0:
        return
    h = judge.left[q, H, found]
    more_on_the_left = h >= terms.h - judge.missing[q, H] - h
    is_better = left[found] > right[found]
    goes_left = is_better or (left[found] == right[found] and more_on_the_left)
    best.score, best.row, best.missing_left = largest, judge.row[found], goes_left
    for l in range(habits.n_sums):
        for line in range(3):
            more = judge.missing[l, line] if goes_left else np.int64(0)
            judge.left_of_best[q, l, line] = judge.left[l, line, found] + more


@internal
def search_bins(histograms, column, terms, rules, judging, judge):
    """Find the best cuts of a column of numbers, and what all sums have on their left."""
    habits = judging.habits[0]
    n_cuts = list_cuts(histograms, column, habits.n_sets, terms.width, judge)
    has_missing = add_up_sets_of_bins(histograms, column, terms, habits.n_sets, n_cuts, judge)
    if habits.kind == CROSS_VALIDATED:
        take_all_but_one(habits.n_sets, n_cuts, judge)
    for q in range(habits.n_searched):
        keep_best(q, n_cuts, has_missing, rules, habits, judge, terms.within)


@internal
def search_levels(n_levels, rules, habits, judge, own, within):
    """Find the best cuts between the levels of a node, and what all sums have on their left.

    In place of a bin a cut has how many levels, in their order, go left.
    """
    judge.missing[:] = 0  # beside the levels there is nothing
    judge.total[:] = 0
    for i in range(n_levels):
        add_to_sums(i, habits, own.sums, judge.total)
    for q in range(habits.n_searched):
        best, terms = judge.best[q], terms_of_sum(q, rules, judge, within)
        cut = best_set(q, n_levels, terms, rules, habits, own)
        best.score, best.row, best.missing_left = cut.score, cut.code, cut.missing_left
        left, order = judge.left_of_best[q], own.order[0]
        left[:] = 0
        for i in range(cut.code):
            add_to_sums(np.int64(order[i]), habits, own.sums, left)


@internal
def add_to_sums(i, habits, sums, total):
    """Add the sums of a level to some totals."""
    for l in range(habits.n_sums):
        place = place_of_sum(i, l, habits.n_sums)
        for line in range(3):
            total[l, line] += sums[place + np.uint64(line)]


@forced_inline
def product(g, judge_g, judge_h, penalty, within):
    """Return G G' / (H' + lambda), 0 where the judge has no weight.

    That is what the step of the judge is worth to G; it may have to keep within bounds.
    """
    weight = np.float64(judge_h) + penalty
    if not within.binds:
        return np.float64(g) * np.float64(judge_g) / weight if weight > 0.0 else 0.0
    step = step_within(np.float64(judge_g), weight, within)
    return -np.float64(g) * step if weight > 0.0 else 0.0


@internal
def worth_to(s, g, of_all, left, total, penalty, within):
    """Return what a cut is worth to the set s, which has not learned it.

    g, of_all     int64           IN   gradients left of the cut, and in all, of those who have
    left, total   (L, 3)  int64   IN
    """
    left_g, left_h, all_g, all_h = left[s, G], left[s, H], total[s, G], total[s, H]
    return (
        product(g, left_g, left_h, penalty, within)
        + product(of_all - g, all_g - left_g, all_h - left_h, penalty, within)
        - product(of_all, all_g, all_h, penalty, within)
    )


@internal
def judge_unbiased(found, penalty, n_sets, judge, within):
    """Let D1' and D2' judge the best cut of D; see ``gbt.splitting.unbiased``."""
    left, total, last = judge.left_of_best[0], judge.total, n_sets - 1
    g, of_all = left[D, G], total[D, G]
    h, of_all_h = left[D, H], total[D, H]
    found.score = worth_to(D1, g, of_all, left, total, penalty, within)
    if last != D1:
        g, of_all = g + left[D1, G], of_all + total[D1, G]
        h, of_all_h = h + left[D1, H], of_all_h + total[D1, H]
    found.worth = worth_to(last, g, of_all, left, total, penalty, within)
    found.claim = (
        product(g, g, h, penalty, within)
        + product(of_all - g, of_all - g, of_all_h - h, penalty, within)
        - product(of_all, of_all, of_all_h, penalty, within)
    )
    found.may_split = keeps_order(found, n_sets, penalty, judge, within)


@internal
def keeps_order(found, n_sets, penalty, judge, within):
    """Say whether the steps that all rows take beside the best cut of D are in order: 1 or 0."""
    if not within.binds:
        return np.int64(1)
    left_g = left_h = right_g = right_h = right_n = np.int64(0)
    for s in range(n_sets):
        left, total = judge.left_of_best[0, s], judge.total[s]
        left_g, left_h = left_g + left[G], left_h + left[H]
        right_g, right_h = right_g + total[G] - left[G], right_h + total[H] - left[H]
        right_n += total[N] - left[N] - judge.missing[s, N]
    of_left = step_within(float(left_g), float(left_h) + penalty, within)
    of_right = step_within(float(right_g), float(right_h) + penalty, within)
    any_order = right_n == 0 and not found.missing_left  # on the right all are missing
    return np.int64(any_order or within.direction * of_left <= within.direction * of_right)


@forced_inline
def loss_on(g, h, learned_g, learned_h, penalty, within):
    """Return what rows lose to second order by the step that others have learned."""
    step = -np.float64(learned_g) / (np.float64(learned_h) + penalty)
    if within.binds:
        step = min(max(step, within.lowest), within.highest)
    return np.float64(g) * step + np.float64(h) * step * step / 2


@internal
def judge_folds(found, own_score, least_gain, penalty, n_folds, judge, within):
    """Let every fold judge the best cut of the others; see ``gbt.splitting.cross_validated``."""
    loss, total = 0.0, judge.total
    for t in range(n_folds):
        if judge.best[t].score > -np.inf:
            left = judge.left_of_best[t]
            left_g, left_h = left[t, G], left[t, H]
            right_g, right_h = total[t, G] - left_g, total[t, H] - left_h
            fold_g, fold_h = left[n_folds, G] - left_g, left[n_folds, H] - left_h
            loss += loss_on(fold_g, fold_h, left_g, left_h, penalty, within) + loss_on(
                total[n_folds, G] - total[t, G] - fold_g,
                total[n_folds, H] - total[t, H] - fold_h,
                right_g, right_h, penalty, within,
            )  # fmt: skip
    found.score, found.worth = -loss, -2.0 * loss - own_score
    found.may_split = judge.best[n_folds].score - own_score > least_gain


@internal
def judge_column(column, found, node, rules, judging, judge):
    """Write down what the best cuts of a column are worth to the rows that judge them."""
    habits, best = judging.habits[0], judge.best[judging.habits[0].splits]
    found.score = -np.inf
    if best.score == -np.inf:
        return
    found.code, found.missing_left = best.row, best.missing_left
    within = within_of(column.direction, node, rules)
    if habits.kind == UNBIASED:
        judge_unbiased(found, rules.penalty, habits.n_sets, judge, within)
    else:
        score, least_gain = own_score(node, rules)
        judge_folds(found, score, least_gain, rules.penalty, habits.n_sets, judge, within)
