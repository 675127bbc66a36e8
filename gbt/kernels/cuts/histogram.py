"""Histograms: for every bin of every column the sums over the rows of a node.

Each row has an *entry* of one or two integers, and adds two or four to its bin::

    entry   [g]       bin   [g, size]         where all rows have the same hessian h: that of a bin
                                              is h times its rows
            [g, h]          [g, size, h, 0]   otherwise; four are added at once, three in two steps

``size`` carries two sums in one word, the number of rows in its low bits and |g| above them, in
coarser units and rounded up. Of a row it is, with c the bits that count all rows::

    size    2 |g|, rounded up to a multiple of 2^c, + 1       sum over a bin:  [ |g| .... | rows ]

Only the bounds of ``gbt.kernels.cuts.search`` use |g|, and a bound made of too large a sum is still
a bound. Adding integers is exact, so the histogram of a node less that of one child is that of the
other.

A thread adds rows to eight *lanes* of its own, one a column, which all have room for as many bins
as a column may have, so that the compiler knows where each begins. What is in them is then moved to
the histograms of all columns, which lie end to end. Between two nodes lanes are empty.

In a node of few rows 2^bits neighbouring bins are put together to a group, which has the place of
its first bin: the last bits of every bin's number are masked. The bin of missing rows has a number
that no mask changes.

Cost: half a nanosecond a row and column with 2 numbers a bin (znver4); one read of a word of eight
bins feeds eight additions whose lanes stay in the L1 cache. Where one in twelve rows of 1,000,000
is read it is 0.6, and 0.8 without prefetching. Additions to bins that lie end to end, whose places
had to be looked up, and sizes that were not computed in a vector took 0.65.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal, optimised_first
from gbt.kernels.platform.instructions import AHEAD, add_g, add_g_and_h, min, prefetch

LANES = 8  # columns whose bins share a word
# Room for 256 bins and that of missing rows. In a node of few rows every 16th bin is in use, which
# is every fourth cache line, and of these the L1 cache holds a fourth of what it can hold. A lane
# takes 65 lines, so that the next one begins beside these: with 68 lines fits of 3,000 rows took
# 1.26 times as long.
LANE_BINS = 260
LANE_NUMBERS = LANES * LANE_BINS * 4
# Prefetching rows costs 0.1 ns an addition. It pays in large tables, and where less than one in
# eight rows is read, so that there is one in a cache line (znver4, 20,000 to 1,000,000 rows).
MOST_ROWS_NEARBY = 2**18
# Groups of 1 to 2^4 bins, and at least sqrt(16 rows) of them as far as there are as many bins. With
# sqrt(4 rows) or sqrt(64 rows) fits took equally long, within noise of 10 %.
MOST_GROUP_BITS, GROUPS_SQUARED_PER_ROW = 4, 16


def missing_bin_after(n_bins: int) -> int:
    """Return the number of the bin of missing rows: the next that is the same in groups."""
    return -(-n_bins >> MOST_GROUP_BITS) << MOST_GROUP_BITS


class Layout(NamedTuple):
    """How entries and bins are to be read."""

    width: int  # numbers a bin, 2 or 4; an entry has half as many
    count_bits: int  # that the number of all rows needs
    hessian: int  # of every row, where the width is 2


@forced_inline
def below_unit(count_bits):
    """Return the bits of |g| that are rounded up in a size."""
    return (np.int64(1) << (count_bits - 1)) - 1


@forced_inline
def magnitude_in(size, count_bits):
    """Return the sum of |g|, rounded up, in a size or in several added up."""
    return size >> count_bits << (count_bits - 1)


@forced_inline
def hessian_of(entries, row, layout):
    """Return the hessian of a row, a uint64."""
    return layout.hessian if layout.width == 2 else entries[np.uint64(2) * row + np.uint64(1)]


@forced_inline
def add_entry(entries, row, layout, histogram, bin_number):
    """Add a row to a bin; both numbers are uint64."""
    two, m = np.uint64(2), below_unit(layout.count_bits)
    if layout.width == 2:
        add_g(histogram, two * bin_number, entries[row], m)
    else:
        g, h = entries[two * row], entries[two * row + np.uint64(1)]
        add_g_and_h(histogram, np.uint64(4) * bin_number, g, h, m)


@internal
def group_bits(n_bins, n_rows):
    """Return by how many bits bins are grouped, in a node of some rows, at least one.

    Fewer groups take less time to survey, but their bounds are higher and rule out fewer cuts. If n
    rows are in k groups, one holds n/k rows. The sum of the gradients left of a cut is typically
    that of sqrt(n) rows, and the rows of one group can raise it by about n/k. With k in proportion
    to sqrt(n) the second is the same part of the first in nodes of all sizes.
    """
    bits, groups = np.int64(0), n_bins >> 1
    while bits < MOST_GROUP_BITS and groups * groups >= GROUPS_SQUARED_PER_ROW * n_rows:
        bits, groups = bits + 1, groups >> 1
    return bits


@internal
def clear(histogram, start, stop):
    """Set some places to 0."""
    part = histogram[start:stop]  # a loop from 0 on becomes vector instructions
    for place in range(len(part)):
        part[place] = 0


@internal
def subtract(histogram, start, stop, other):
    """Take some places of a histogram off those of another."""
    part, rest = histogram[start:stop], other[start:stop]
    for place in range(len(part)):
        rest[place] -= part[place]


@forced_inline
def are_far_apart(rows, packed_bins):
    """Say whether reading the bins of some rows takes longer than asking for them ahead."""
    return len(packed_bins) > MOST_ROWS_NEARBY or len(packed_bins) > LANES * len(rows)


@forced_inline
def bin_in_lanes(lane, bins):
    """Return the number of a row's bin of one column, counted through all lanes."""
    return np.uint64(lane * LANE_BINS) + (bins >> np.uint64(8 * lane) & np.uint64(255))


@forced_inline
def add_to_lanes(bins, row, entries, layout, n_lanes, lanes):
    """Add a row to its bin in every lane."""
    # Unsigned and flat: signed or two-dimensional indices take half as long again.
    two, four, m = np.uint64(2), np.uint64(4), below_unit(layout.count_bits)
    if layout.width == 2:
        g = entries[row]
        for lane in range(4):
            add_g(lanes, two * bin_in_lanes(lane, bins), g, m)
        if n_lanes > 4:
            for lane in range(4, 8):
                add_g(lanes, two * bin_in_lanes(lane, bins), g, m)
    else:
        g, h = entries[two * row], entries[two * row + np.uint64(1)]
        for lane in range(4):
            add_g_and_h(lanes, four * bin_in_lanes(lane, bins), g, h, m)
        if n_lanes > 4:
            for lane in range(4, 8):
                add_g_and_h(lanes, four * bin_in_lanes(lane, bins), g, h, m)


@optimised_first
def add_rows(packed_bins, rows, entries, layout, n_lanes, mask, lanes):
    """Add some rows to the lanes of some columns.

    packed_bins   (n,)             uint64   IN      of all rows of the table
    rows          (m,)             int32    IN
    entries       (n * width/2,)   int64    IN      of all rows
    layout        ``Layout``                IN
    mask                           uint64   IN      bits of a word that tell groups of bins apart
    lanes         (LANE_NUMBERS,)  int64    INOUT   lane by lane
    """
    numbers, last = np.uint64(layout.width >> 1), len(rows) - 1
    is_far = are_far_apart(rows, packed_bins)
    for i in range(len(rows)):
        if is_far:
            ahead = np.uint64(rows[min(i + AHEAD, last)])
            prefetch(packed_bins, ahead)
            prefetch(entries, ahead * numbers)
        row = np.uint64(rows[i])
        add_to_lanes(packed_bins[row] & mask, row, entries, layout, n_lanes, lanes)


@internal
def move(lanes, place, histogram, to, n_numbers):
    """Move some numbers from the lanes to a histogram; places are uint64, as above."""
    for i in range(np.uint64(n_numbers)):
        histogram[to + i], lanes[place + i] = lanes[place + i], 0


@internal
def move_column(lanes, lane, column, bits, width, histogram):
    """Move the groups of bins of one column from a lane to their places."""
    step, missing = np.uint64(width << bits), np.uint64(column.missing_bin * width)
    place, to = np.uint64(lane * LANE_BINS * width), np.uint64(column.first_bin * width)
    if bits == 0:
        move(lanes, place, histogram, to, column.missing_bin * width)
    else:
        # Number by number: a call for each group made fits of 3,000 rows take 1.28 times as long.
        one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
        for group in range(np.uint64(0), np.uint64(column.n_bins * width), step):
            a, b = place + group, to + group
            histogram[b], histogram[b + one] = lanes[a], lanes[a + one]
            lanes[a] = lanes[a + one] = 0
            if width == 4:
                histogram[b + two], histogram[b + three] = lanes[a + two], lanes[a + three]
                lanes[a + two] = lanes[a + three] = 0
    move(lanes, place + missing, histogram, to + missing, width)


@internal
def empty_lanes(lanes, n_lanes, width):
    """Empty the first bins of lanes without a column: rows are added to them like to others."""
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for lane in range(np.uint64(n_lanes), np.uint64(LANES)):
        place = lane * np.uint64(LANE_BINS * width)
        lanes[place] = lanes[place + one] = 0
        lanes[place + two] = lanes[place + three] = 0  # with two numbers a bin, an empty bin
