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

Whichever way is taken, the sums over the rows left of a bin are known from a histogram, and the
rows inside the bin are added to them one by one. ``gbt.kernels.cuts.search`` says what is meant by
terms, sums and cut, and ``gbt.kernels.cuts.memory`` what the rows carry.
"""

import numpy as np

from gbt.kernels.cuts.histogram import LANES, add_entry, are_far_apart, hessian_of
from gbt.kernels.cuts.ranking import position_of
from gbt.kernels.cuts.scores import Cut, Sums, score_both_ways, sums_of_bin
from gbt.kernels.cuts.search import has_closed_bins, survey
from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import AHEAD, max, min, prefetch

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


@forced_inline
def left_of(candidate):
    """Return the sums over the rows before a candidate."""
    return Sums(candidate.left_g, candidate.left_h, candidate.left_n)


@internal
def walk(first_code, in_order, before, missing, number, rows, terms, best):
    """Return the better of the cut ``best`` and the best inside a range of rows, walking them.

    first_code int64        IN   of the first of them
    in_order   (k,) int32   IN   part of the column's order, from where a new value starts
    before     Sums         IN   over the node's rows left of them
    number     int64        IN   of the node, as in ``rows.node``
    """
    entries, node_of_row, numbers = rows.entries, rows.node, terms.width >> 1
    g, h, n = before
    n_scored, code, last_code = n, first_code - 1, np.int64(0)
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
                score, missing_left = score_both_ways(g, h, n, missing, terms)
                if score > best.score or (score == best.score and last_code > best.code):
                    best = Cut(score, last_code, missing_left)
            code += 1
        if node_of_row[row] == number:
            g += entries[row * numbers]
            h += hessian_of(entries, np.uint64(row), terms)
            n += 1
            last_code = code
    return best


@internal
def pick(packed_bins, lane, bits, listed, marks, keys):
    """Write down which of the listed rows are in bins that are marked.

    packed_bins   (n,)   uint64   IN    of all rows, those of the column in one lane
    bits                 int64    IN    bins are groups of 2^bits
    listed        (m,)   int32    IN    rows of the node
    marks                int64    IN    1 or 0 by bin
    keys                 int64    OUT   one longer than the number of these rows
    """
    shift, mask, n = np.uint64(8 * lane), np.uint64(255 >> bits << bits), 0
    last = len(listed) - 1
    for i in range(len(listed)):  # without a branch, as in ``gbt.kernels.trees.partition``
        prefetch(packed_bins, listed[min(i + AHEAD, last)])
        row = listed[i]
        keys[n] = row
        n += marks[packed_bins[np.uint64(row)] >> shift & mask]


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
def scan(keys, start, stop, before, missing, entries, terms, best):
    """Return the better of the cut ``best`` and the best after any of some rows in their order.

    keys     int64   IN   code << 32 | row
    before   Sums    IN   over the node's rows left of them
    """
    numbers = terms.width >> 1
    g, h, n = before
    for k in range(start, stop):
        row, code = keys[k] & 0xFFFFFFFF, keys[k] >> 32
        g += entries[row * numbers]
        h += hessian_of(entries, np.uint64(row), terms)
        n += 1
        if k + 1 == stop or keys[k + 1] >> 32 != code:
            score, missing_left = score_both_ways(g, h, n, missing, terms)
            if score > best.score or (score == best.score and code > best.code):
                best = Cut(score, code, missing_left)
    return best


@internal
def fill_narrow_bins(codes, padding, shift, listed, entries, terms, narrow):
    """Add the rows of a node to the narrow bins of one column.

    listed     (m,)                int32   IN      rows of the node
    entries                        int64   IN      of all rows
    narrow     (bins * width,)     int64   INOUT
    """
    padding, shift = np.uint64(padding), np.uint64(shift)
    numbers, last = np.uint64(terms.width >> 1), len(listed) - 1
    if len(listed) == len(codes):  # in their order: half the time
        for i in range(len(codes)):
            row = np.uint64(i)
            add_entry(entries, row, terms, narrow, (np.uint64(codes[row]) + padding) >> shift)
        return
    is_far = are_far_apart(listed, codes)
    for i in range(len(listed)):
        if is_far:
            ahead = np.uint64(listed[min(i + AHEAD, last)])
            prefetch(codes, ahead)
            prefetch(entries, ahead * numbers)
        row = np.uint64(listed[i])
        add_entry(entries, row, terms, narrow, (np.uint64(codes[row]) + padding) >> shift)


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
    k, shift, number, listed, table, rows, terms, to_beat, scratch, best
):  # fmt: skip
    """Return the better of the cut ``best`` and the best of column k, by way of narrow bins."""
    codes, nothing = table.codes[table.columns[k].line], np.int64(0)
    order = table.order[table.columns[k].first_place :]
    narrow, nowhere = scratch.narrow[:], scratch.marks[:]  # slices are of the type of other arrays
    n_values, candidates = table.columns[k].n_values, scratch.candidates
    padding, column = narrow_padding(n_values, shift), scratch.column
    column.first_bin, column.n_bins = 0, (n_values + padding) >> shift
    column.missing_bin = column.n_bins
    for place in range((column.n_bins + 1) * terms.width):
        narrow[place] = 0
    fill_narrow_bins(codes, padding, shift, listed, rows.entries, terms, narrow)
    # Of narrow bins it is not known which hold one value.
    edge, _, n_candidates = survey(
        narrow, column, nothing, shift == 0, nowhere, terms, max(to_beat, best.score), scratch
    )
    code = ((edge.code + 1) << shift) - padding - 1
    if edge.score > best.score or (
        edge.score == best.score and edge.code >= 0 and code > best.code
    ):
        best = Cut(edge.score, code, edge.missing_left)
    if shift == 0:
        return best
    missing = sums_of_bin(narrow, nothing, column.n_bins, terms)
    for a in range(n_candidates):
        candidate = candidates[a]
        if candidate.bound >= best.score:
            low = (candidate.bin << shift) - padding
            start = position_of(codes, order, nothing, table.columns[k].n_present, low)
            stop = position_of(
                codes, order, start, table.columns[k].n_present, low + (np.int64(1) << shift)
            )
            best = walk(
                max(low, nothing), order[start:stop], left_of(candidate), missing, number, rows,
                terms, best,
            )  # fmt: skip
    return best


@internal
def drop_below(score, candidates, n_candidates):
    """Keep the candidates whose bound reaches a score; return how many they are."""
    n_kept = np.int64(0)
    for a in range(n_candidates):
        if candidates[a].bound >= score:
            candidates[n_kept] = candidates[a]
            n_kept += 1
    return n_kept


@forced_inline  # a function of its own made fits of numbers take up to 1.4 times as long
def refine_column(j, k, found, node, histogram, table, rows, terms, scratch):
    """Return the best cut of column k in node j, if its score reaches that to beat, else some cut.

    found   FOUND   IN   what a survey found of the column, see ``gbt.kernels.cuts.memory``
    """
    column, bin_start, bits = table.columns[k], table.bin_start[k], found.bits
    codes, order = table.codes[column.line], table.order[column.first_place :]
    listed, candidates = rows.listed[node.start : node.stop], scratch.candidates
    first_code = table.first_code[k]
    is_closed = has_closed_bins(column, bits)
    best, _, n_candidates = survey(
        histogram, column, bits, is_closed, first_code, terms, node.to_beat, scratch
    )
    if best.code >= 0:
        after = min(best.code + (1 << bits), column.n_bins)
        best = Cut(best.score, first_code[after] - 1, best.missing_left)
    n_candidates = drop_below(best.score, candidates, n_candidates)
    n_own = n_all = np.int64(0)
    for a in range(n_candidates):
        b = candidates[a].bin
        n_own += candidates[a].rows
        n_all += bin_start[min(b + (1 << bits), column.n_bins)] - bin_start[b]
    shift = narrow_shift(column.n_values, len(listed))
    # Of a sparse column only the order is at hand.
    time_of_walk = 0.0 if column.is_sparse else n_all * cost_of_walking(len(codes))
    time_of_sort = len(listed) * PER_ROW_LOOKED_AT + n_own * PER_ROW_SORTED
    time_of_narrow = len(listed) * PER_ROW + (column.n_values >> shift) * PER_NARROW_BIN
    missing = sums_of_bin(histogram, column.first_bin, column.missing_bin, terms)
    if n_own <= MOST_SORTED and time_of_sort < min(time_of_walk, time_of_narrow):
        keys, marks, start = scratch.keys, scratch.marks, np.int64(0)
        for a in range(n_candidates):
            marks[candidates[a].bin] = 1
        line = column.line
        pick(table.packed_bins[line // LANES], line % LANES, bits, listed, marks, keys)
        for i in range(n_own):
            keys[i] |= np.int64(codes[keys[i]]) << 32
        sort_keys(keys, n_own)
        for a in range(n_candidates):
            candidate = candidates[a]
            marks[candidate.bin] = 0
            stop = start + candidate.rows
            best = scan(keys, start, stop, left_of(candidate), missing, rows.entries, terms, best)
            start = stop
    elif time_of_walk < time_of_narrow:
        for a in range(n_candidates):
            candidate = candidates[a]
            if candidate.bound >= best.score:
                b = candidate.bin
                in_order = order[bin_start[b] : bin_start[min(b + (1 << bits), column.n_bins)]]
                best = walk(
                    first_code[b], in_order, left_of(candidate), missing, j, rows, terms, best
                )
    else:
        best = search_narrow_bins(
            k, shift, j, listed, table, rows, terms, node.to_beat, scratch, best
        )
    return best
