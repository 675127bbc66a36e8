"""Packed bins: up to eight columns of a node, whose histograms are filled in one pass.

The bins of a row in eight columns share a word (``gbt.tables.columns``), so that one read feeds
eight histograms. In nodes of few rows neighbouring bins are put together to groups while histograms
are filled, so that less is cleared, added up and bounded. Where rows are divided into sets
(``gbt.kernels.cuts.judging``), a node has a histogram for each, of a stretch of its rows.

Of a sparse column, which holds little but zeros, only the other values are stored, beside the rows
that have them. Its zeros have a bin of their own, and what they add up to is what the other bins
leave of the node. The sums are of whole numbers, so that the difference is exact::

    column           0  .5   0   0   2   0       row 1: bin of .5    row 4: bin of 2
    histogram        bin of .5,  bin of 2,  bin of zeros = all rows - bin of .5 - bin of 2

A pack of sparse columns has one bin more than these, the last, for all rows of the node. It takes
two nanoseconds a stored value of the node's rows, and one a bin.
"""

import numpy as np

from gbt.kernels.cuts.histogram import (
    LANES,
    add_rows,
    below_unit,
    clear,
    empty_lanes,
    group_bits,
    move_column,
    subtract,
)
from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import add_g, add_g_and_h, min

ALL_BINS = np.uint64(2**64 - 1)  # a mask that groups none


@internal
def group_bins(pack, n_rows, table, found):
    """Group the bins of the columns of one pack as in a node of so many rows.

    Returns the bits of packed bins that tell groups apart.
    """
    mask = np.uint64(0)
    for i in range(pack.start, pack.stop):
        column = table.columns[table.in_packs[i]]
        bits = min(group_bits(column.n_bins, n_rows), column.most_bits)
        found[table.in_packs[i]].bits = bits
        mask |= np.uint64(255 >> bits << bits) << np.uint64(LANES * (i - pack.start) & 63)
    return ALL_BINS if pack.is_sparse else mask


@internal
def add_stored(pack, table, rows, entries, layout, histogram):
    """Add some rows to the histograms of the columns of one sparse pack, which are empty.

    rows        (m,)             int32    IN
    entries     (n * width/2,)   int64    IN      of all rows
    layout      ``Layout``                IN
    histogram   (bins * width,)  int64    INOUT   bins of all columns, end to end
    """
    # Unsigned indices, as in ``gbt.kernels.cuts.histogram``.
    start, bins, m = table.row_start[pack.line], table.stored_bins, below_unit(layout.count_bits)
    first, all_rows = np.uint64(pack.first_bin), np.uint64(pack.last_bin - 1)
    one, two, four, width = np.uint64(1), np.uint64(2), np.uint64(4), layout.width
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        begin, end = np.uint64(start[row]), np.uint64(start[row + one])
        if width == 2:
            g = entries[row]
            add_g(histogram, two * all_rows, g, m)
            for e in range(begin, end):
                add_g(histogram, two * (first + np.uint64(bins[e])), g, m)
        else:
            g, h = entries[row * two], entries[row * two + one]
            add_g_and_h(histogram, four * all_rows, g, h, m)
            for e in range(begin, end):
                add_g_and_h(histogram, four * (first + np.uint64(bins[e])), g, h, m)
    of_all = histogram[(pack.last_bin - 1) * width : pack.last_bin * width]
    for i in range(pack.start, pack.stop):
        column = table.columns[table.in_packs[i]]
        begin, n_numbers = column.first_bin * width, (column.missing_bin + 1) * width
        own, zeros = histogram[begin : begin + n_numbers], column.zero_bin * width
        for place in range(width):
            of_stored = np.int64(0)
            for number in range(place, n_numbers, width):
                of_stored += own[number]
            own[zeros + place] += of_all[place] - of_stored


@internal
def end_of_set(listed, start, stop, s, set_of_row):
    """Return where, among listed rows in the order of their sets, a later set than s begins."""
    while start < stop:
        middle = (start + stop) // 2
        if set_of_row[listed[middle]] <= s:
            start = middle + 1
        else:
            stop = middle
    return start


@internal
def fill_histograms(p, node, mask, slot, table, rows, layout, slots, judging, lanes):
    """Make the histograms of the columns of pack p from the rows of a node, set by set.

    mask   uint64   IN   see ``group_bins``
    """
    width, pack, n_sets = layout.width, table.packs[p], judging.habits[0].n_sets
    histograms, found = slots.histogram[slot], slots.found[slot]
    size, start, n_lanes = len(histograms) // n_sets, node.start, pack.stop - pack.start
    for s in range(n_sets):
        stop = node.stop
        if s + 1 < n_sets:
            stop = end_of_set(rows.listed, start, stop, s, judging.set_of_row)
        listed, histogram = rows.listed[start:stop], histograms[s * size : (s + 1) * size]
        start = stop
        if pack.is_sparse:
            clear(histogram, pack.first_bin * width, pack.last_bin * width)
            add_stored(pack, table, listed, rows.entries, layout, histogram)
            continue
        add_rows(table.packed_bins[p], listed, rows.entries, layout, n_lanes, mask, lanes)
        for lane in range(n_lanes):
            k = table.in_packs[pack.start + lane]
            move_column(lanes, lane, table.columns[k], found[k].bits, width, histogram)
        empty_lanes(lanes, n_lanes, width)


@internal
def subtract_histograms(p, slot, other, table, width, slots, n_sets):
    """Take the histograms of the columns of pack p in one slot off those in another, set by set."""
    pack, histograms, rest = table.packs[p], slots.histogram[slot], slots.histogram[other]
    size = len(histograms) // n_sets
    for first in range(0, len(histograms), size):
        start, stop = first + pack.first_bin * width, first + pack.last_bin * width
        subtract(histograms, start, stop, rest)


@internal
def write_codes(j, column, listed, stored, rows):
    """Write the codes of a node's rows in a sparse column, by row of the table, to ``rows.side``.

    listed   (m,)        int32   IN   rows of node j
    stored   (values,)   int64   IN   row << 32 | code
    """
    for row in listed:
        rows.side[np.uint64(row)] = column.zero_code
    first = np.uint64(column.first_stored)
    for i in range(first, first + np.uint64(column.n_stored)):
        row = np.uint64(stored[i] >> 32)
        if rows.node[row] == j:  # rows of other nodes are other threads' business
            rows.side[row] = stored[i] & 0xFFFFFFFF
