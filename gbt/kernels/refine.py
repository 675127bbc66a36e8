"""Refinement: look at every cut inside the few bins whose bound reaches the best score so far.

Three ways lead to these cuts, and the cheapest is taken:

* Walk. A column is kept in the order of its values, so the rows of a bin stand together, and a mark
  says where a new value starts. Rows of other nodes are passed over; the root has no others.
* Sort. Of the node's rows those in the bins in question are picked out and sorted by their codes.
* Narrow bins. All rows of the node go into some hundreds or thousands of narrow bins, and the same
  rules are followed once more: edges are scored, the cuts inside are bounded, and only where a
  bound still reaches the best score a walk follows.

::

    bins       |        |  in question   |        |      a column's rows, by value
    narrow     | | | | | | | | | | | | | | | | | |
    walked                  ...

Each way the sums left of a bin are known from a histogram, and what is inside adds to them. See
``gbt.kernels.search`` for what is meant by node, limits, sums and cut, and

    entries        int64   of all rows, see ``gbt.kernels.histogram``
    node_of_row    int32   of all rows, see ``gbt.kernels.memory.Rows``
"""

import numpy as np

from gbt.kernels.compiling import internal, step
from gbt.kernels.histogram import are_far_apart, hessian_of, size_of
from gbt.kernels.instructions import AHEAD, add_four, add_pair, prefetch
from gbt.kernels.ranking import position_of
from gbt.kernels.search import (
    ASKED_LENGTH,
    BIN,
    LEFT_G,
    LEFT_H,
    LEFT_N,
    ROWS,
    missing_of,
    score_both_ways,
    survey,
)

FEWEST_NARROW_BINS, MOST_NARROW_BINS = 256, 4096
MOST_SORTED = 1024
# Estimates in nanoseconds: a row put into a narrow bin, and the survey of that; a row looked at
# whether it is to be sorted, and the sorting of one. They choose a way, all of which are right.
PER_ROW, PER_NARROW_BIN = 1.0, 5.0
PER_ROW_LOOKED_AT, PER_ROW_SORTED = 0.8, 20.0


@internal
def cost_of_walking(n_rows):
    """Return nanoseconds a row walked, in a table of so many rows: it goes anywhere in memory.

    Some 5 for 20,000 rows, whose gradients fit into the L2 cache, 9 for 100,000, 12 for 500,000.
    """
    cost, n = 3.0, n_rows >> 13
    while n > 0:
        cost, n = cost + 1.5, n >> 1
    return cost


@internal
def walk(
    codes, in_order, before, number, entries, node_of_row, layout, missing, node, limits, best
):
    """Return the better of the cut ``best`` and the best inside a range of rows, walking them.

    in_order   (k,) int32   IN   part of the column's order, from where a new value starts
    before     3 x int64    IN   sums of g, h and rows left of them
    number     int64        IN   of the node, as in ``node_of_row``
    """
    numbers = layout.width // 2
    g, h, n = before
    best_score, best_code, best_missing_left = best
    n_scored, last = n, np.int64(0)
    end = len(in_order) - 1
    for i in range(len(in_order)):
        ahead = in_order[min(i + AHEAD, end)]
        prefetch(node_of_row, max(ahead, ~ahead))
        prefetch(entries, max(ahead, ~ahead) * numbers)
        row = np.int64(in_order[i])
        if row < 0:  # a new value starts: the cut before it
            row = ~row
            if n > n_scored:
                n_scored = n
                score, missing_left = score_both_ways(g, h, n, missing, node, limits)
                if score >= best_score:  # only then read the code, which may be far away
                    code = np.int64(codes[last])
                    if score > best_score or code > best_code:
                        best_score, best_code, best_missing_left = score, code, missing_left
        if node_of_row[row] == number:
            g += entries[row * numbers]
            h += hessian_of(entries, np.uint64(row), layout)
            n += 1
            last = row
    return best_score, best_code, best_missing_left


@internal
def pick(words, lane, bits, listed, marks, keys):
    """Write down which of the listed rows are in bins that are marked.

    words    (n,)     uint64   IN    bins of the column, in one of their lanes
    bits              int64    IN    bins are groups of 2^bits
    listed   (m,)     int32    IN    rows of the node
    marks             int64    IN    1 or 0 by bin
    keys              int64    OUT   one longer than these rows are many
    """
    shift, mask, n = np.uint64(8 * lane), np.uint64(255 >> bits << bits), 0
    last = len(listed) - 1
    for i in range(len(listed)):  # without a branch, as in ``gbt.kernels.partition``
        prefetch(words, listed[min(i + AHEAD, last)])
        row = listed[i]
        keys[n] = row
        n += marks[words[np.uint64(row)] >> shift & mask]


@internal
def sort_keys(keys, n):
    """Sort the first n in place, by Shell's method: as fast as any for some tens of keys.

    Numba's own sort keeps a list, and so cannot be part of kernels that count no references.
    """
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1  # 1, 4, 13, 40, ...: Knuth's gaps
    while gap > 0:
        for i in range(gap, n):
            key, place = keys[i], i
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3


@internal
def scan(keys, start, stop, before, entries, layout, missing, node, limits, best):
    """Return the better of the cut ``best`` and the best after any of some rows in their order.

    keys     int64       IN   code << 32 | row
    before   3 x int64   IN   sums of g, h and rows left of them
    """
    numbers = layout.width // 2
    g, h, n = before
    best_score, best_code, best_missing_left = best
    for k in range(start, stop):
        row, code = keys[k] & 0xFFFFFFFF, keys[k] >> 32
        g += entries[row * numbers]
        h += hessian_of(entries, np.uint64(row), layout)
        n += 1
        if k + 1 == stop or keys[k + 1] >> 32 != code:
            score, missing_left = score_both_ways(g, h, n, missing, node, limits)
            if score > best_score or (score == best_score and code > best_code):
                best_score, best_code, best_missing_left = score, code, missing_left
    return best_score, best_code, best_missing_left


@step
def add_row(codes, padding, shift, entries, row, layout, narrow):
    """Add a row to its narrow bin. Widths are written out and numbers unsigned."""
    narrow_bin, two = (np.uint64(codes[row]) + padding) >> shift, np.uint64(2)
    if layout.width == 2:
        g = entries[row]
        add_pair(narrow, narrow_bin * two, g, size_of(g, layout.count_bits))
    else:
        g, h = entries[row * two], entries[row * two + np.uint64(1)]
        size, nothing = size_of(g, layout.count_bits), np.int64(0)
        add_four(narrow, narrow_bin * np.uint64(4), g, size, h, nothing)


@internal
def fill_narrow_bins(codes, padding, shift, listed, entries, layout, narrow):
    """Add the rows of a node to the narrow bins of one column.

    listed     (m,)                int32   IN      rows of the node
    entries                        int64   IN      of all rows
    narrow     (bins * width,)     int64   INOUT
    """
    padding, shift = np.uint64(padding), np.uint64(shift)
    numbers = np.uint64(layout.width // 2)
    last = len(listed) - 1
    if len(listed) == len(codes):  # in their order: half the time
        for i in range(len(codes)):
            add_row(codes, padding, shift, entries, np.uint64(i), layout, narrow)
    elif are_far_apart(listed, codes):
        for i in range(len(listed)):
            ahead = np.uint64(listed[min(i + AHEAD, last)])
            prefetch(codes, ahead)
            prefetch(entries, ahead * numbers)
            add_row(codes, padding, shift, entries, np.uint64(listed[i]), layout, narrow)
    else:
        for row in listed:
            add_row(codes, padding, shift, entries, np.uint64(row), layout, narrow)


@internal
def narrow_shift(n_values, n_rows):
    """Return by how many bits codes are shifted to give a node of so many rows narrow bins."""
    shift, most = np.int64(0), min(MOST_NARROW_BINS, max(n_rows, FEWEST_NARROW_BINS))
    while n_values >> shift >= most:
        shift += 1
    return shift


@internal
def narrow_padding(n_values, shift):
    """Return what to add to codes before they are shifted, so that missing rows stay alone.

    Theirs is the code after the last. Padded it is the first of a narrow bin, the one after the
    last of present rows.
    """
    return -n_values & ((np.int64(1) << shift) - 1)


@internal
def search_narrow_bins(
    codes, order, n_values, n_present, shift, listed, number, entries, node_of_row,
    layout, node, limits, to_beat, notes, marks, narrow, best,
):  # fmt: skip
    """Return the better of the cut ``best`` and the best of a column, by way of narrow bins."""
    padding = narrow_padding(n_values, shift)
    asked, bounds = notes.asked, notes.bounds
    n_bins, nothing = (n_values + padding) >> shift, np.int64(0)
    for place in range((n_bins + 1) * layout.width):
        narrow[place] = 0
    fill_narrow_bins(codes, padding, shift, listed, entries, layout, narrow)
    # Of narrow bins it is not known which hold one value; marks are all 0.
    score, last, missing_left, _, n_asked = survey(
        narrow, nothing, n_bins, n_bins, nothing, shift == 0, marks, layout, node, limits,
        max(to_beat, best[0]), notes,
    )  # fmt: skip
    code = ((last + 1) << shift) - padding - 1
    if score > best[0] or (score == best[0] and last >= 0 and code > best[1]):
        best = (score, code, missing_left)
    if shift == 0:
        return best
    missing = missing_of(narrow, nothing, n_bins, layout)
    for a in range(n_asked):
        if bounds[a] >= best[0]:
            low = (asked[a, BIN] << shift) - padding
            start = position_of(codes, order, nothing, n_present, low)
            stop = position_of(codes, order, start, n_present, low + (np.int64(1) << shift))
            before = asked[a, LEFT_G], asked[a, LEFT_H], asked[a, LEFT_N]
            best = walk(
                codes, order[start:stop], before, number, entries, node_of_row, layout, missing,
                node, limits, best,
            )  # fmt: skip
    return best


@internal
def last_code(codes, order, bin_start, n_bins, bits, b):
    """Return the last code of a bin, or of the group of 2^bits bins that begins with it."""
    row = order[bin_start[min(b + (1 << bits), n_bins)] - 1]
    return np.int64(codes[max(row, ~row)])


@internal
def drop_below(score, asked, bounds, n_asked):
    """Keep the bins in question whose bound reaches a score; return how many they are."""
    n_kept = np.int64(0)
    for a in range(n_asked):
        if bounds[a] >= score:
            bounds[n_kept] = bounds[a]
            for c in range(ASKED_LENGTH):
                asked[n_kept, c] = asked[a, c]
            n_kept += 1
    return n_kept


@internal
def refine_column(
    codes, order, bin_start, one_value, n_values, n_bins, missing_bin, bits, words, lane,
    histogram, first, layout, listed, number, entries, node_of_row, node, limits,
    to_beat, notes, marks, narrow, keys,
):  # fmt: skip
    """Return the best cut of one feature, if its score reaches ``to_beat``, else some cut.

    codes, ..., n_values, n_bins, missing_bin   of the feature, see ``gbt.columns.Columns``
    words, lane                                 its bins, see ``pick``
    histogram, first, bits, layout              see ``gbt.kernels.search.survey``
    listed                                      rows of the node
    number                                      of the node in ``node_of_row``
    marks     (most bins,)            int64     INOUT   all 0
    notes, narrow, keys                         scratch, see ``gbt.kernels.search.Notes``
    """
    asked, bounds = notes.asked, notes.bounds
    score, last, missing_left, _, n_asked = survey(
        histogram, first, n_bins, missing_bin, bits, n_bins == n_values, one_value, layout, node,
        limits, to_beat, notes,
    )  # fmt: skip
    best = (score, np.int64(-1), missing_left)
    if last >= 0:
        best = (score, last_code(codes, order, bin_start, n_bins, bits, last), missing_left)
    n_asked = drop_below(score, asked, bounds, n_asked)
    n_own = n_all = np.int64(0)
    for a in range(n_asked):
        b = asked[a, BIN]
        n_own += asked[a, ROWS]
        n_all += bin_start[min(b + (1 << bits), n_bins)] - bin_start[b]
    shift = narrow_shift(n_values, len(listed))
    time_of_walk = n_all * cost_of_walking(len(codes))
    time_of_sort = len(listed) * PER_ROW_LOOKED_AT + n_own * PER_ROW_SORTED
    time_of_narrow = len(listed) * PER_ROW + (n_values >> shift) * PER_NARROW_BIN
    missing = missing_of(histogram, first, missing_bin, layout)
    if n_own <= MOST_SORTED and time_of_sort < min(time_of_walk, time_of_narrow):
        for a in range(n_asked):
            marks[asked[a, BIN]] = 1
        pick(words, lane, bits, listed, marks, keys)
        for k in range(n_own):
            keys[k] |= np.int64(codes[keys[k]]) << 32
        sort_keys(keys, n_own)
        start = np.int64(0)
        for a in range(n_asked):
            marks[asked[a, BIN]] = 0
            stop = start + asked[a, ROWS]
            before = asked[a, LEFT_G], asked[a, LEFT_H], asked[a, LEFT_N]
            best = scan(keys, start, stop, before, entries, layout, missing, node, limits, best)
            start = stop
    elif time_of_walk < time_of_narrow:
        for a in range(n_asked):
            if bounds[a] >= best[0]:
                b = asked[a, BIN]
                start, stop = bin_start[b], bin_start[min(b + (1 << bits), n_bins)]
                before = asked[a, LEFT_G], asked[a, LEFT_H], asked[a, LEFT_N]
                best = walk(
                    codes, order[start:stop], before, number, entries, node_of_row, layout,
                    missing, node, limits, best,
                )  # fmt: skip
    else:
        best = search_narrow_bins(
            codes, order, n_values, bin_start[n_bins], shift, listed, number, entries,
            node_of_row, layout, node, limits, to_beat, notes, marks,
            narrow, best,
        )  # fmt: skip
    return best


@internal
def sort_column(codes, missing_code, listed, entries, layout, node, limits, keys):
    """Return the best cut of one feature of a small node, by sorting all its rows.

    keys   (m,) int64   scratch
    """
    numbers, nothing = layout.width // 2, np.int64(0)
    n_present = missing_g = missing_h = missing_n = nothing
    for row in listed:
        if codes[row] == missing_code:
            missing_g += entries[row * numbers]
            missing_h += hessian_of(entries, np.uint64(row), layout)
            missing_n += 1
        else:
            keys[n_present] = np.int64(codes[row]) << 32 | row
            n_present += 1
    sort_keys(keys, n_present)
    return scan(
        keys, nothing, n_present, (nothing, nothing, nothing), entries, layout,
        (missing_g, missing_h, missing_n), node, limits, (-np.inf, nothing, np.bool_(False)),
    )  # fmt: skip
