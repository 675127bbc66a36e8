"""Packed bins: up to eight columns of a node, whose histograms are filled in one pass.

The bins of a row in eight columns share a word (``gbt.tables.columns``), so that one read feeds
eight histograms. In nodes of few rows neighbouring bins are put together to groups while histograms
are filled, so that less is cleared, added up and bounded.

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
)
from gbt.kernels.cuts.levels import best_set, levels_of_bins
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS, terms_of
from gbt.kernels.cuts.search import has_closed_bins, survey
from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import add_g, add_g_and_h, max, min

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
def fill_histograms(p, node, mask, table, rows, layout, slot, slots, scratch):
    """Make the histograms of the columns of pack p from the rows of a node, bins grouped."""
    width, pack, lanes = layout.width, table.packs[p], scratch.lanes
    histogram, found = slots.histogram[slot], slots.found[slot]
    listed, n_lanes = rows.listed[node.start : node.stop], pack.stop - pack.start
    if pack.is_sparse:
        clear(histogram, pack.first_bin * width, pack.last_bin * width)
        add_stored(pack, table, listed, rows.entries, layout, histogram)
        return
    add_rows(table.packed_bins[p], listed, rows.entries, layout, n_lanes, mask, lanes)
    for lane in range(n_lanes):
        k = table.in_packs[pack.start + lane]
        move_column(lanes, lane, table.columns[k], found[k].bits, width, histogram)
    empty_lanes(lanes, n_lanes, width)


@internal
def survey_columns(p, node, slot, table, slots, rules, scratch, of_levels):
    """Survey the columns of pack p, see ``gbt.kernels.cuts.search.survey``."""
    pack, histogram = table.packs[p], slots.histogram[slot]
    for i in range(pack.start, pack.stop):
        k = table.in_packs[i]
        column, found = table.columns[k], slots.found[slot, k]
        terms = terms_of(column.direction, node, rules)
        found.score = found.bound = -np.inf
        if found.is_open and column.has_levels == IN_BINS:
            n_levels = levels_of_bins(histogram, column, terms, rules, of_levels.levels)
            best = best_set(n_levels, terms, rules, of_levels)
            found.score, found.code, found.missing_left = best
            node.to_beat = max(node.to_beat, best.score)
        elif found.is_open and column.has_levels == BY_ROWS:
            found.bound = np.inf  # see ``gbt.kernels.trees.greedy_tasks.refine``
        elif found.is_open:
            cut, found.bound, _ = survey(
                histogram, column, found.bits, has_closed_bins(column, found.bits),
                table.first_code[k], terms, node.to_beat, scratch,
            )  # fmt: skip
            found.score, found.code, found.missing_left = cut.score, ~cut.code, cut.missing_left
            node.to_beat = max(node.to_beat, cut.score)


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
