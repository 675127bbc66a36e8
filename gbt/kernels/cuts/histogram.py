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

Histograms of all columns lie end to end; lanes of a word that belong to no column count into the
last bin of all, which nobody reads. In a node of few rows 2^bits neighbouring bins are put together
to a group, which has the place of its first bin: the last bits of every bin's number are masked.
The bin of missing rows has a number that no mask changes.

Cost: 0.4 to 0.6 nanoseconds a row and column with 2 numbers a bin (znver4); one read of a word
of eight bins feeds eight additions whose histograms stay in the L1 cache. Where one in twelve rows
of 1,000,000 is read it is 1.0, and 2.2 without prefetching.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import AHEAD, add_four, add_pair, min, prefetch

LANES = 8  # columns whose bins share a word
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
def size_of(g, count_bits):
    """Return what a row of gradient g adds to the size of its bin.

    2 |g| adds up to no more than 2^62, and rounding adds less than 2^count_bits a row.
    """
    unit = 1 << (count_bits - 1)
    return (abs(g) + unit - 1 & -unit) << 1 | 1


@forced_inline
def magnitude_in(size, count_bits):
    """Return the sum of |g|, rounded up, in a size or in several added up."""
    return size >> count_bits << (count_bits - 1)


@forced_inline
def hessian_of(entries, row, layout):
    """Return the hessian of a row, a uint64."""
    return layout.hessian if layout.width == 2 else entries[np.uint64(2) * row + np.uint64(1)]


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


@internal
def clear_column(column, bits, width, histogram):
    """Empty the groups of one column."""
    # Unsigned indices, as below.
    one, last, place = np.uint64(1), np.uint64(width - 1), np.uint64(column.first_bin * width)
    for _ in range(0, column.n_bins, 1 << bits):
        histogram[place] = histogram[place + one] = 0
        histogram[place + last - one] = histogram[place + last] = 0
        place += np.uint64(width << bits)
    missing = (column.first_bin + column.missing_bin) * width
    clear(histogram, missing, missing + width)


@forced_inline
def are_far_apart(rows, packed_bins):
    """Say whether reading the bins of some rows takes longer than asking for them ahead."""
    return len(packed_bins) > MOST_ROWS_NEARBY or len(packed_bins) > LANES * len(rows)


@forced_inline
def add_row(i, packed_bins, rows, entries, layout, starts, mask, n_lanes, histogram):
    """Add the i-th of some rows, see ``add_rows``."""
    # Unsigned and flat: signed or two-dimensional indices take half as long again.
    one, two, four, byte = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(255)
    row, nothing = np.uint64(rows[i]), np.int64(0)
    bins = packed_bins[row] & mask
    if layout.width == 2:
        g = entries[row]
        size = size_of(g, layout.count_bits)
        for lane in range(4):
            add_pair(histogram, starts[lane] + (bins >> np.uint64(8 * lane) & byte) * two, g, size)
        if n_lanes > 4:
            for lane in range(4, 8):
                place = starts[lane] + (bins >> np.uint64(8 * lane) & byte) * two
                add_pair(histogram, place, g, size)
    else:
        g, h = entries[row * two], entries[row * two + one]
        size = size_of(g, layout.count_bits)
        for lane in range(4):
            place = starts[lane] + (bins >> np.uint64(8 * lane) & byte) * four
            add_four(histogram, place, g, size, h, nothing)
        if n_lanes > 4:
            for lane in range(4, 8):
                place = starts[lane] + (bins >> np.uint64(8 * lane) & byte) * four
                add_four(histogram, place, g, size, h, nothing)


@internal
def add_rows(packed_bins, rows, entries, layout, pack, mask, histogram):
    """Add some rows to the histograms of the columns of one pack.

    packed_bins   (n,)             uint64   IN      of all rows of the table
    rows          (m,)             int32    IN
    entries       (n * width/2,)   int64    IN      of all rows
    layout        ``Layout``                IN
    pack          PACK                      IN      see ``gbt.kernels.cuts.memory``
    mask                           uint64   IN      bits of a word that tell groups of bins apart
    histogram     (bins * width,)  int64    INOUT   bins of all columns, end to end
    """
    # Read once: what is read inside the loop might, for all the compiler knows, be overwritten by
    # every addition, and would be read again.
    first, width = pack.lane_first_bin, np.uint64(layout.width)
    starts = (
        first[0] * width, first[1] * width, first[2] * width, first[3] * width,
        first[4] * width, first[5] * width, first[6] * width, first[7] * width,
    )  # fmt: skip
    n_lanes, numbers, last = pack.stop - pack.start, np.uint64(layout.width // 2), len(rows) - 1
    is_far = are_far_apart(rows, packed_bins)
    for i in range(len(rows)):
        if is_far:
            ahead = np.uint64(rows[min(i + AHEAD, last)])
            prefetch(packed_bins, ahead)
            prefetch(entries, ahead * numbers)
        add_row(i, packed_bins, rows, entries, layout, starts, mask, n_lanes, histogram)
