"""Refinement: look at every cut inside the few bins whose bound reaches the best score so far.

Three ways lead to these cuts, and the cheapest is taken:

* Walk. A column is kept in the order of its values, so the rows of a bin stand together, and a mark
  says where a new value starts. Rows of other nodes are passed over; the root has no others.
* Sort. Of the node's rows those in the bins in question are picked out and sorted by their codes.
* Narrow bins. All rows of the node go into some thousands of narrow bins instead of 255, and the
  same rules are followed once more: edges are scored, the cuts inside are bounded, and only where a
  bound still reaches the best score a walk follows.

::

    bins       |        |  in question   |        |      a column's rows, by value
    narrow     | | | | | | | | | | | | | | | | | |
    walked                  ...

Each way the sums left of a bin are known from a histogram, and what is inside adds to them. See
``gbt.kernels.search`` for what is meant by node, limits, sums and cut, and

    entries        (n * width,)   int64   of all rows, see ``gbt.kernels.histogram``
    node_of_row    (n,)           int32
"""

import numpy as np

from gbt.kernels.compiling import internal
from gbt.kernels.instructions import AHEAD, prefetch
from gbt.kernels.search import add_up, best_edge, bound_inside, score_both_ways, settle

FEWEST_NARROW_BINS, MOST_NARROW_BINS = 1024, 4096
MOST_SORTED = 1024
# Estimates in nanoseconds: a row put into a narrow bin, and the survey of that; a row looked at
# whether it is to be sorted, and the sorting of one. They choose a way, all of which are right.
PER_ROW, PER_NARROW_BIN = 1.5, 5.0
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
    width = layout.width
    g, h, n = before
    best_score, best_code, best_missing_left = best
    n_scored, last = n, np.int64(0)
    end = len(in_order) - 1
    for i in range(len(in_order)):
        ahead = in_order[min(i + AHEAD, end)]
        prefetch(node_of_row, max(ahead, ~ahead))
        prefetch(entries, max(ahead, ~ahead) * width)
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
            g += entries[row * width]
            h += layout.hessian if width == 2 else entries[row * width + 1]
            n += 1
            last = row
    return best_score, best_code, best_missing_left


@internal
def position_of(codes, order, start, stop, code):
    """Return the first position in start:stop of a column's order whose code is not below one."""
    while start < stop:
        middle = (start + stop) // 2
        row = order[middle]
        if codes[max(row, ~row)] < code:
            start = middle + 1
        else:
            stop = middle
    return start


@internal
def ask(sums, n_held, bin_start, n_bins, bound, to_beat, asked):
    """Mark the bins in question; return how many rows they hold, of the node and in all.

    bound   (n_held,)       float64   IN    of the bins that hold rows of the node
    asked   (n_bins + 1,)   int64     OUT   1 or 0 for every bin, 0 for missing rows
    """
    before_n, number = sums[2], sums[4]
    n_own = n_all = np.int64(0)
    for b in range(n_bins + 1):
        asked[b] = 0
    for c in range(n_held):
        b = number[c]
        if bound[c] >= to_beat and bound[c] > -np.inf:
            asked[b] = 1
            n_own += before_n[c + 1] - before_n[c]
            n_all += bin_start[b + 1] - bin_start[b]
    return n_own, n_all


@internal
def pick(words, lane, listed, asked, keys):
    """Write down which of the listed rows are in bins in question.

    words    (n,)   uint64   IN    bins of the column, in one of their lanes
    listed   (m,)   int32    IN    rows of the node
    keys            int64    OUT   one longer than these rows are many
    """
    bits, byte, n = np.uint64(8 * lane), np.uint64(255), 0
    last = len(listed) - 1
    for i in range(len(listed)):  # without a branch, as in ``gbt.kernels.partition``
        prefetch(words, listed[min(i + AHEAD, last)])
        row = listed[i]
        keys[n] = row
        n += asked[words[np.uint64(row)] >> bits & byte]


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
    width = layout.width
    g, h, n = before
    best_score, best_code, best_missing_left = best
    for k in range(start, stop):
        row, code = keys[k] & 0xFFFFFFFF, keys[k] >> 32
        g += entries[row * width]
        h += layout.hessian if width == 2 else entries[row * width + 1]
        n += 1
        if k + 1 == stop or keys[k + 1] >> 32 != code:
            score, missing_left = score_both_ways(g, h, n, missing, node, limits)
            if score > best_score or (score == best_score and code > best_code):
                best_score, best_code, best_missing_left = score, code, missing_left
    return best_score, best_code, best_missing_left


@internal
def fill_narrow_bins(codes, padding, shift, listed, gathered, width, narrow):
    """Add the rows of a node to the narrow bins of one column.

    listed     (m,)                int32   IN      rows of the node
    gathered   (m * width,)        int64   IN      their entries
    narrow     (bins * width,)     int64   INOUT
    """
    # Unsigned numbers and widths written out, as in ``gbt.kernels.histogram``: twice as fast.
    padding, shift = np.uint64(padding), np.uint64(shift)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for i in range(len(listed)):
        narrow_bin = (np.uint64(codes[np.uint64(listed[i])]) + padding) >> shift
        if width == 2:
            place, entry = narrow_bin * two, np.uint64(i) * two
            narrow[place] += gathered[entry]
            narrow[place + one] += gathered[entry + one]
        else:
            place, entry = narrow_bin * three, np.uint64(i) * three
            narrow[place] += gathered[entry]
            narrow[place + one] += gathered[entry + one]
            narrow[place + two] += gathered[entry + two]


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
    codes, order, n_values, n_present, shift, listed, gathered, number, entries, node_of_row,
    layout, node, limits, to_beat, sums, bound, narrow, best,
):  # fmt: skip
    """Return the better of the cut ``best`` and the best of a column, by way of narrow bins."""
    padding = narrow_padding(n_values, shift)
    n_bins = (n_values + padding) >> shift
    for place in range((n_bins + 1) * layout.width):
        narrow[place] = 0
    fill_narrow_bins(codes, padding, shift, listed, gathered, layout.width, narrow)
    n_held, missing = add_up(narrow, np.int64(0), n_bins, np.int64(0), layout, sums)
    before_g, before_h, before_n, bins = sums[0], sums[1], sums[2], sums[4]
    score, place, missing_left = best_edge(sums, n_held, missing, node, limits, bound)
    if score > -np.inf and score >= best[0]:
        best = (score, ((bins[place] + 1) << shift) - padding - 1, missing_left)
    if shift == 0:
        return best
    bound_inside(sums, n_held, missing, node, limits, bound)
    for c in range(n_held):
        if bound[c] >= max(to_beat, best[0]) and bound[c] > -np.inf:
            low = (bins[c] << shift) - padding
            start = position_of(codes, order, np.int64(0), n_present, low)
            stop = position_of(codes, order, start, n_present, low + (np.int64(1) << shift))
            best = walk(
                codes, order[start:stop], (before_g[c], before_h[c], before_n[c]), number, entries,
                node_of_row, layout, missing, node, limits, best,
            )  # fmt: skip
    return best


@internal
def edge_of_column(
    codes, order, bin_start, n_bins, histogram, first, layout, node, limits, sums, work
):
    """Return the best cut between bins; its code is the last one of the bin before it."""
    n_held, missing = add_up(histogram, first, n_bins, np.int64(0), layout, sums)
    score, place, missing_left = best_edge(sums, n_held, missing, node, limits, work)
    last = order[bin_start[sums[4][place] + 1] - 1]
    return score, np.int64(codes[max(last, ~last)]), missing_left


@internal
def refine_column(
    codes, order, bin_start, repeats_one, n_values, n_bins, words, lane, histogram, first, layout,
    listed, gathered, number, entries, node_of_row, node, limits, edge_score, to_beat, sums, bound,
    asked, narrow, keys,
):  # fmt: skip
    """Return the best cut of one feature, if its score reaches ``to_beat``, else some cut.

    The cut is that of the best edge, whose score is given, if its code is -1.

    codes, ..., n_values, n_bins                of the feature, see ``gbt.columns.Columns``
    words, lane                                 its bins, see ``pick``
    histogram, first, layout                    see ``gbt.kernels.search.add_up``
    listed, gathered                            rows of the node, and their entries
    number                                      of the node in ``node_of_row``
    sums, bound, asked, narrow, keys            scratch
    """
    n_held, missing = add_up(histogram, first, n_bins, np.int64(0), layout, sums)
    settle(sums, n_held, n_bins, repeats_one)
    bound_inside(sums, n_held, missing, node, limits, bound)
    n_own, n_all = ask(sums, n_held, bin_start, n_bins, bound, to_beat, asked)
    before_g, before_h, before_n, bins = sums[0], sums[1], sums[2], sums[4]
    shift = narrow_shift(n_values, len(listed))
    time_of_walk = n_all * cost_of_walking(len(codes))
    time_of_sort = len(listed) * PER_ROW_LOOKED_AT + n_own * PER_ROW_SORTED
    time_of_narrow = len(listed) * PER_ROW + (n_values >> shift) * PER_NARROW_BIN
    best = (edge_score, np.int64(-1), False)
    if n_own <= MOST_SORTED and time_of_sort < min(time_of_walk, time_of_narrow):
        pick(words, lane, listed, asked, keys)
        for k in range(n_own):
            keys[k] |= np.int64(codes[keys[k]]) << 32
        sort_keys(keys, n_own)
        start = np.int64(0)
        for c in range(n_held):
            if asked[bins[c]]:
                stop = start + before_n[c + 1] - before_n[c]
                best = scan(
                    keys, start, stop, (before_g[c], before_h[c], before_n[c]), entries, layout,
                    missing, node, limits, best,
                )  # fmt: skip
                start = stop
    elif time_of_walk < time_of_narrow:
        for c in range(n_held):
            if asked[bins[c]]:
                start, stop = bin_start[bins[c]], bin_start[bins[c] + 1]
                best = walk(
                    codes, order[start:stop], (before_g[c], before_h[c], before_n[c]), number,
                    entries, node_of_row, layout, missing, node, limits, best,
                )  # fmt: skip
    else:
        best = search_narrow_bins(
            codes, order, n_values, bin_start[n_bins], shift, listed, gathered, number, entries,
            node_of_row, layout, node, limits, to_beat, sums, bound, narrow, best,
        )  # fmt: skip
    if best[0] == edge_score and best[1] >= 0:  # a tie: which of the two is higher?
        edge = edge_of_column(
            codes, order, bin_start, n_bins, histogram, first, layout, node, limits, sums, bound
        )
        if edge[1] > best[1]:
            best = edge
    return best


@internal
def sort_column(codes, missing_code, listed, entries, layout, node, limits, keys):
    """Return the best cut of one feature of a small node, by sorting all its rows.

    keys   (m,) int64   scratch
    """
    width = layout.width
    n_present = 0
    missing_g = missing_h = missing_n = np.int64(0)
    for row in listed:
        if codes[row] == missing_code:
            missing_g += entries[row * width]
            missing_h += layout.hessian if width == 2 else entries[row * width + 1]
            missing_n += 1
        else:
            keys[n_present] = np.int64(codes[row]) << 32 | row
            n_present += 1
    sort_keys(keys, n_present)
    nothing = (np.int64(0), np.int64(0), np.int64(0))
    return scan(
        keys, np.int64(0), n_present, nothing, entries, layout,
        (missing_g, missing_h, missing_n), node, limits, (-np.inf, np.int64(0), False),
    )  # fmt: skip
