"""What a member of a team does with rows: find their bins, divide those of a node, add them up."""

import numpy as np

from gbt.kernels.cuts.histogram import LANE_BINS, LANES, add_entry, add_rows, empty_lanes, move
from gbt.kernels.cuts.packed_bins import ALL_BINS
from gbt.kernels.platform.compiling import uncounted
from gbt.kernels.platform.instructions import AHEAD, min, prefetch
from gbt.kernels.rows.sums import add_to_partials, two_sum
from gbt.kernels.trees.quantise import of_row

# Values whose bins are found side by side. One after the other each step of a search waits for the
# step before: 74 ns a value among 4,080 bins, and 9 side by side (znver4).
BESIDE = 256


@uncounted
def find_bins(values, edges, missing, bins, low, high):
    """Write the bin of every value: bin b has those above edges[b - 1] and up to edges[b].

    values   (n,)       float32 or float64   IN
    edges    (2^m-1,)   the same             IN      ascending; filled up with inf
    missing             int64                IN      the number of the bin of missing values
    bins     (n,)       uint16               OUT
    low      (bins,)    float64              INOUT   least value in every bin
    high     (bins,)    float64              INOUT   largest
    """
    half = (len(edges) + 1) >> 1
    for start in range(0, len(values), BESIDE):
        some, found = values[start : start + BESIDE], bins[start : start + BESIDE]
        for i in range(len(some)):
            found[i] = 0
        step = half
        while step > 0:
            for i in range(len(some)):  # which half is anybody's guess: no branch
                b = np.int64(found[i])
                found[i] = b + step if edges[np.uint64(b + step - 1)] < some[i] else b
            step >>= 1
        for i in range(len(some)):
            value, b = some[i], np.uint64(found[i])
            if np.isnan(value):
                found[i] = missing
            else:
                low[b], high[b] = min(low[b], np.float64(value)), max(high[b], np.float64(value))


@uncounted
def partition_values(values, cut, missing_left, rows, buffer):
    """Partition the rows of a node as ``gbt.kernels.trees.partition`` does, by values.

    Returns how many go left, the highest value on the left and the lowest on the right; -inf and
    inf where no row with a value is on that side.

    values         (n,)   float32 or float64   IN      of the split column
    cut                   float64              IN      values up to it go left
    missing_left          bool                 IN
    rows           (m,)   int32                INOUT   of the node
    buffer         (m,)   int32                scratch
    """
    n_left, n_right, last = 0, 0, len(rows) - 1
    for i in range(len(rows)):
        prefetch(values, rows[min(i + AHEAD, last)])
        row = rows[i]
        value = np.float64(values[row])
        is_left = value <= cut or (missing_left and np.isnan(value))
        rows[n_left] = row
        buffer[n_right] = row
        n_left += np.int64(is_left)
        n_right += 1 - np.int64(is_left)
    for i in range(n_right):
        rows[n_left + i] = buffer[i]
    # In the loop above these would take four times as long: which one a row may change is anybody's
    # guess there, and hardly any row changes it here.
    low, high = -np.inf, np.inf
    for i in range(n_left):
        value = np.float64(values[rows[i]])
        if value > low:  # never of nan
            low = value
    for i in range(n_left, len(rows)):
        value = np.float64(values[rows[i]])
        if value < high:
            high = value
    return n_left, low, high


@uncounted
def fill_columns(packed_bins, rows, entries, layout, first_bin, lanes, histogram):
    """Make the histograms of all columns from some rows.

    packed_bins   (packs, n)        uint64      IN
    rows          (m,)              int32       IN
    entries                         int64       IN        of all rows
    layout                          ``Layout``  IN        see ``gbt.kernels.cuts.histogram``
    first_bin     (p + 1,)          int64       IN        of each column, and how many there are
    lanes         (LANE_NUMBERS,)   int64       scratch   empty
    histogram     (bins * width,)   int64       OUT
    """
    width = layout.width
    for p in range(len(packed_bins)):
        first = p * LANES
        n_lanes = min(len(first_bin) - 1 - first, np.int64(LANES))
        add_rows(packed_bins[p], rows, entries, layout, n_lanes, ALL_BINS, lanes)
        for lane in range(n_lanes):
            start, stop = first_bin[first + lane], first_bin[first + lane + 1]
            place, to = np.uint64(lane * LANE_BINS * width), np.uint64(start * width)
            move(lanes, place, histogram, to, (stop - start) * width)
        empty_lanes(lanes, n_lanes, width)


@uncounted
def fill_pieces(bins, rows, entries, layout, slots, histogram):
    """Add some rows to the pieces of one column that are looked into.

    Where most rows are in these, a loop without a branch is faster. With that, too, fits in which
    no column explains the target took a twentieth less time.

    bins        (n,)     uint16      IN      fine ones
    rows        (m,)     int32       IN
    entries              int64       IN      of all rows
    layout               ``Layout``  IN
    slots       (bins,)  int32       IN      the piece of a fine bin, -1 if it is none
    histogram            int64       INOUT   of all pieces
    """
    last = len(rows) - 1
    for i in range(len(rows)):
        prefetch(bins, rows[min(i + AHEAD, last)])
        row = np.uint64(rows[i])
        slot = slots[bins[row]]
        if slot >= 0:  # a branch that is guessed
            add_entry(entries, row, layout, histogram, np.uint64(slot))


@uncounted
def pick_rows(bins, rows, slots, picked, slot_of):
    """Write down which of some rows are in fine bins that have a slot; return how many.

    bins      (n,)      uint16   IN
    rows      (m,)      int32    IN
    slots     (bins,)   int32    IN    of a fine bin, -1 if it has none
    picked    (m + 1,)  int32    OUT
    slot_of   (m + 1,)  int32    OUT
    """
    n, last = 0, len(rows) - 1
    for i in range(len(rows)):
        prefetch(bins, rows[min(i + AHEAD, last)])
        row = rows[i]
        slot = slots[bins[row]]
        if slot >= 0:  # as few are: a branch that is guessed
            picked[n], slot_of[n] = row, slot
            n += 1
    return n


@uncounted
def add_value(rows, value, to):
    """Add a number to the places of some rows.

    rows   (m,)   int32     IN
    to     (n,)   float64   INOUT
    """
    for i in range(len(rows)):
        to[np.uint64(rows[i])] += value


@uncounted
def add_up_products(x, weight, rows, is_of_magnitudes, total):
    """Add up weight * x, or |weight * x|, of some rows.

    Written are how far the exact sum may be off, and two numbers whose exact sum it is but for
    that. What an addition loses is added up, and what these additions lose, too: sums of few rows,
    or of numbers of few digits, which are often as near to one float as to the next, lose nothing.

    x, weight   (n,) or (1,)   float64   IN
    rows        (m,)           int32     IN
    total       (3,)           float64   OUT
    """
    high = low = off = 0.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        product = of_row(weight, row) * of_row(x, row)
        high, lost = two_sum(high, abs(product) if is_of_magnitudes else product)
        low, lost = two_sum(low, lost)
        off += abs(lost)
    total[0], total[1], total[2] = 2.0 * off, low, high  # twice, for what ``off`` has lost


@uncounted
def list_partials(x, weight, rows, partials):
    """Add up weight * x into partial sums, whose exact sum it is; return how many they are.

    x, weight   (n,) or (1,)   float64   IN
    rows        (m,)           int32     IN
    partials    (m,)           float64   OUT   see ``gbt.kernels.rows.sums``
    """
    zero = np.int64(0)
    n = zero
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        n = add_to_partials(of_row(weight, row) * of_row(x, row), partials, zero, n)
    return n
