"""Refinement: look at every cut inside the few bins whose bound reaches the best score so far.

Two ways lead to these cuts, and the cheaper is taken:

* Walk. A column is kept in the order of its values, so the rows of a bin stand together, and a mark
  says where a new value starts. Rows of other nodes are passed over; the root has no others.
* Narrow bins. Each bin in question is divided into up to 16 of its own, by the same rules once
  more: one pass over the node's rows fills them, their edges are scored, the cuts inside are
  bounded, and only where a bound still reaches the best score a walk follows.

::

    bins       |        |  in question   |        |      a column's rows, by value
    narrow               | | | | | | | | |
    walked                   ...

Either way the sums left of a bin are known from the histogram, and what is inside adds to them. See
``gbt.kernels.search`` for what is meant by node, limits, sums and cut, and

    entries        (n * width,)   int64   of all rows, see ``gbt.kernels.histogram``
    node_of_row    (n,)           int32
"""

import numpy as np

from gbt.kernels.compiling import internal
from gbt.kernels.search import add_up, best_edge, bound_inside, bound_of, score_both_ways

NARROW_BINS = 16
# In nanoseconds: a row put into a narrow bin, the survey of one of these.
PER_ROW, PER_NARROW_BIN = 3, 5


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
    for marked_row in in_order:
        row = np.int64(marked_row)
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
def divide_bins(codes, order, bin_start, n_bins, bound, to_beat, ranges):
    """Divide the bins in question; return the number of narrow bins and of rows in a walk.

    bound    (n_bins,)    float64   IN
    ranges   (4, 258)     int64     OUT   of every bin: its first code, by how many bits codes are
             shifted, the number of its first narrow bin, and its last code. Bins not in question
             share narrow bin 0
    """
    n_narrow, n_walked = np.int64(1), np.int64(0)
    for b in range(n_bins + 1):
        ranges[0, b], ranges[1, b], ranges[2, b], ranges[3, b] = 0, 62, 0, 0
        if b < n_bins and bound[b] >= to_beat and bound[b] > -np.inf:
            head, tail = order[bin_start[b]], order[bin_start[b + 1] - 1]
            first = np.int64(codes[max(head, ~head)])
            last = np.int64(codes[max(tail, ~tail)])
            shift = 0
            while (last - first) >> shift >= NARROW_BINS:
                shift += 1
            ranges[0, b], ranges[1, b], ranges[2, b], ranges[3, b] = first, shift, n_narrow, last
            n_narrow += ((last - first) >> shift) + 1
            n_walked += bin_start[b + 1] - bin_start[b]
    return n_narrow, n_walked


@internal
def fill_narrow_bins(words, lane, codes, listed, entries, width, ranges, narrow):
    """Add the rows of a node to the narrow bins.

    words      (n,)                uint64   IN      bins of the column, in one of their lanes
    listed     (m,)                int32    IN      rows of the node
    narrow     (narrow * width,)   int64    INOUT
    """
    first, shift, start = ranges[0], ranges[1], ranges[2]
    # Unsigned numbers and widths written out, as in ``gbt.kernels.histogram``: twice as fast.
    bits, byte = np.uint64(8 * lane), np.uint64(255)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for i in range(len(listed)):
        row = np.uint64(listed[i])
        b = words[row] >> bits & byte
        narrow_bin = np.uint64(start[b] + ((codes[row] - first[b]) >> shift[b]))
        if width == 2:
            place, entry = narrow_bin * two, row * two
            narrow[place] += entries[entry]
            narrow[place + one] += entries[entry + one]
        else:
            place, entry = narrow_bin * three, row * three
            narrow[place] += entries[entry]
            narrow[place + one] += entries[entry + one]
            narrow[place + two] += entries[entry + two]


@internal
def search_narrow_bins(
    b, codes, order, bin_start, ranges, narrow, before, number, entries, node_of_row, layout,
    missing, node, limits, to_beat, best,
):  # fmt: skip
    """Return the better of the cut ``best`` and the best inside one divided bin."""
    width, count_bits, to_units, hessian = layout
    first, shift, start, last = ranges[0, b], ranges[1, b], ranges[2, b], ranges[3, b]
    g, h, n = before
    for narrow_bin in range(((last - first) >> shift) + 1):
        place = (start + narrow_bin) * width
        size = narrow[place + width - 1]
        own_n = size & ((1 << count_bits) - 1)
        if own_n == 0:
            continue
        own_g = narrow[place]
        own_h = own_n * hessian if width == 2 else narrow[place + 1]
        magnitude = size >> count_bits << to_units
        low = first + (narrow_bin << shift)
        high = low + (np.int64(1) << shift)
        if own_n > 1 and shift > 0:
            bound = bound_of(g, h, own_g, own_h, magnitude, node, limits)
            if missing[2] > 0:
                g_left, h_left = g + missing[0], h + missing[1]
                other = bound_of(g_left, h_left, own_g, own_h, magnitude, node, limits)
                bound = max(bound, other)
            if bound >= max(to_beat, best[0]):
                from_, to = bin_start[b], bin_start[b + 1]
                from_ = position_of(codes, order, from_, to, low)
                to = position_of(codes, order, from_, to, high)
                best = walk(
                    codes, order[from_:to], (g, h, n), number, entries, node_of_row, layout,
                    missing, node, limits, best,
                )  # fmt: skip
        g, h, n = g + own_g, h + own_h, n + own_n
        score, missing_left = score_both_ways(g, h, n, missing, node, limits)
        code = min(high - 1, last)  # not above: the code of missing rows may follow
        if score > best[0] or (score == best[0] and code > best[1]):
            best = (score, code, missing_left)
    return best


@internal
def edge_of_column(codes, order, bin_start, n_bins, sums, missing, node, limits):
    """Return the best cut between bins; its code is the last one of the bin before it."""
    score, b, missing_left = best_edge(sums, n_bins, missing, node, limits)
    last = order[bin_start[b + 1] - 1]
    return score, np.int64(codes[max(last, ~last)]), missing_left


@internal
def refine_column(
    codes, order, bin_start, n_bins, words, lane, histogram, first, layout, listed, number,
    entries, node_of_row, node, limits, to_beat, sums, bound, ranges, narrow,
):  # fmt: skip
    """Return the best cut of one feature, if its score reaches ``to_beat``, else some cut.

    codes, order, bin_start, n_bins   of the feature, see ``gbt.columns.Columns``
    words, lane                       its bins, see ``fill_narrow_bins``
    histogram, first, layout          see ``gbt.kernels.search.add_up``
    listed, number                    rows of the node, and its number in ``node_of_row``
    sums, bound, ranges, narrow       scratch
    """
    missing = add_up(histogram, first, n_bins, layout, sums)
    before_g, before_h, before_n, _ = sums
    best = edge_of_column(codes, order, bin_start, n_bins, sums, missing, node, limits)
    bound_inside(sums, n_bins, missing, node, limits, bound)
    n_narrow, n_walked = divide_bins(codes, order, bin_start, n_bins, bound, to_beat, ranges)
    is_walked = (
        n_walked * cost_of_walking(len(codes)) <= len(listed) * PER_ROW + n_narrow * PER_NARROW_BIN
    )
    if not is_walked:
        for place in range(n_narrow * layout.width):
            narrow[place] = 0
        fill_narrow_bins(words, lane, codes, listed, entries, layout.width, ranges, narrow)
    for b in range(n_bins):
        if ranges[2, b] == 0:
            continue
        before = (before_g[b], before_h[b], before_n[b])
        if is_walked:
            best = walk(
                codes, order[bin_start[b] : bin_start[b + 1]], before, number, entries,
                node_of_row, layout, missing, node, limits, best,
            )  # fmt: skip
        else:
            best = search_narrow_bins(
                b, codes, order, bin_start, ranges, narrow, before, number, entries, node_of_row,
                layout, missing, node, limits, to_beat, best,
            )  # fmt: skip
    return best


@internal
def sort_keys(keys):
    """Sort in place, by Shell's method: as fast as any for the tens of keys that are usual here.

    Numba's own sort keeps a list, and so cannot be part of kernels that count no references.
    """
    gap = 1
    while gap < len(keys) // 3:
        gap = 3 * gap + 1  # 1, 4, 13, 40, ...: Knuth's gaps
    while gap > 0:
        for i in range(gap, len(keys)):
            key, place = keys[i], i
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3


@internal
def sort_column(codes, missing_code, listed, entries, layout, node, limits, keys):
    """Return the best cut of one feature of a small node, by sorting all its rows.

    keys   (m,) int64   scratch, code << 32 | row
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
    sort_keys(keys[:n_present])
    missing = (missing_g, missing_h, missing_n)
    g = h = n = best_code = np.int64(0)
    best_score, best_missing_left = -np.inf, False
    for k in range(n_present):
        row, code = keys[k] & 0xFFFFFFFF, keys[k] >> 32
        g += entries[row * width]
        h += layout.hessian if width == 2 else entries[row * width + 1]
        n += 1
        if k + 1 == n_present or keys[k + 1] >> 32 != code:
            score, missing_left = score_both_ways(g, h, n, missing, node, limits)
            if score >= best_score:  # of equals the highest code
                best_score, best_code, best_missing_left = score, code, missing_left
    return best_score, best_code, best_missing_left
