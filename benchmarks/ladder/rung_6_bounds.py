"""Rung 6, bounds: count the rest in bins, too, and look only into bins that can hold the best cut.

A column of many values is divided into bins of neighbouring codes, at most 256. Their histogram
gives the score of every cut between bins. Of a cut inside a bin it says this: beside what lies
before the bin, G_0, some of the bin's rows are on the left. If the bin's positive gradients add up
to P and its negative ones to -N, then

    G_0 - N  <=  G_l  <=  G_0 + P          and at least one of its rows is on either side.

The score is a parabola in G_l, open upwards, so it is largest at one of the two ends, and there no
larger than with the least weights that either side can have. A bin for which that is less than the
best score found so far holds no better cut, and nobody has to look inside:

    best score so far  . . . . . . . . . . . . . _ . . . . . . . .
                                     _     _    | |    _
                         _     _    | |   | |   | |   | |    _
    bound               | |   | |   | |   | |   | |   | |   | |
    bin                  A     B     C     D     E     F     G        only E is walked

The tree is the same as before: what is passed over cannot win.

Cost: as rung 5 for all columns, and a walk through the bins in question, which are few.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.ladder import rung_4_codes
from benchmarks.ladder.rung_3_compiled import compiled, score
from benchmarks.ladder.rung_4_codes import score_cut

MOST_BINS = 256  # whose number fits a byte
ROOM_FOR_ROUNDING = 1 + 1e-12  # a bound must not be less than what it bounds by some 1e-16 of it


class Table(NamedTuple):
    """Ranks as in rung 4, and bins."""

    values: list
    codes: np.ndarray
    order: np.ndarray
    bins: np.ndarray  # (p, n) uint8
    last_code: list  # of every column the last code of each bin
    start: list  # of every column where each bin begins in its order, and where the last one ends


def prepare(X):
    """Rank every column, then divide its rows, in order, into equal parts between values."""
    ranked = rung_4_codes.prepare(X)
    n, columns = len(X), []
    # Of m rows in a bin gradients may raise a sum, typically sqrt(n), by m. So m goes with sqrt(n).
    n_bins = min(MOST_BINS, round(2 * np.sqrt(n)))
    ends = np.arange(1, n_bins + 1) * n // n_bins - 1
    for codes, order in zip(ranked.codes, ranked.order, strict=True):
        n_codes = codes.max() + 1
        few = n_codes <= n_bins  # a bin for every value
        last_code = np.arange(n_codes) if few else np.unique(codes[order[ends]]).astype(np.int64)
        start = np.searchsorted(codes[order], [-1, *last_code], side="right")
        bin_of_code = np.searchsorted(last_code, np.arange(n_codes))
        columns.append((bin_of_code[codes], last_code, start))
    bins, last_code, start = zip(*columns, strict=True)
    return Table(*ranked, np.array(bins, dtype=np.uint8), list(last_code), list(start))


def search_columns(table, level, reg_lambda):
    """Find the best cuts of all nodes of a level: first between all bins, then inside some."""
    histogram, bound = room_for(table, level)
    for k, bins in enumerate(table.bins):
        count_bins(bins, level, histogram[k])
        survey(k, table.last_code[k], histogram[k], level, reg_lambda, bound[k])
    for k in range(len(table.bins)):
        walk = table.codes[k], table.order[k], table.start[k]
        look_inside(k, *walk, histogram[k], bound[k], level, reg_lambda)


def room_for(table, level):
    """Return empty histograms, and room for a bound for each of their bins."""
    shape = len(table.bins), len(level.total), max(map(len, table.last_code))
    return np.zeros((*shape, 3), dtype=np.int64), np.empty(shape)


@compiled
def count_bins(bins, level, histogram):
    """Add up g, rows and |g| in every bin of every node of a level."""
    for row in range(len(bins)):
        t, b = level.node[row] - level.first, bins[row]
        if t >= 0:
            histogram[t, b, 0] += level.gradient[row]
            histogram[t, b, 1] += 1
            histogram[t, b, 2] += abs(level.gradient[row])


@compiled
def survey(k, last_code, histogram, level, reg_lambda, bound):
    """Score the cuts between the bins of one column, and bound those inside."""
    for t in range(len(level.total)):
        total, n, _ = level.total[t]
        left_sum, left_n, code = 0, 0, -1  # sums of all bins before, and their last code
        for b in range(len(last_code)):
            g, rows, magnitude = histogram[t, b]
            bound[t, b] = -np.inf
            if rows > 1 and last_code[b] > code + 1:
                low, high = left_sum - (magnitude - g) // 2, left_sum + (magnitude + g) // 2
                least_left, least_right = left_n + 1, n - left_n - rows + 1
                bound[t, b] = ROOM_FOR_ROUNDING * max(
                    score(low, least_left, total - low, least_right, reg_lambda),
                    score(high, least_left, total - high, least_right, reg_lambda),
                )
            left_sum, left_n, code = left_sum + g, left_n + rows, last_code[b]
            if rows > 0 and left_n < n:
                score_cut(t, k, code, left_sum, left_n, level, reg_lambda)


@compiled
def look_inside(k, codes, order, start, histogram, bound, level, reg_lambda):
    """Score all cuts inside those bins of one column whose bounds reach the best scores."""
    before = np.zeros_like(level.total)  # sums of the bins on the left
    for b in range(len(start) - 1):
        is_open = bound[:, b] >= level.score
        if is_open.any():
            left, last = before.copy(), np.full(len(before), -1)
            for row in order[start[b] : start[b + 1]]:
                t, code = level.node[row] - level.first, codes[row]
                if t < 0 or not is_open[t]:
                    continue
                if code != last[t] and last[t] >= 0:
                    score_cut(t, k, last[t], left[t, 0], left[t, 1], level, reg_lambda)
                left[t, 0] += level.gradient[row]
                left[t, 1] += 1
                last[t] = code
        before += histogram[:, b]


grow = partial(rung_4_codes.grow, search=search_columns)
