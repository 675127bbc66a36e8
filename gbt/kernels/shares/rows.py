"""What a member of a team does with the rows of a node: divide them, add them up in bins."""

import numpy as np

from gbt.kernels.cuts.histogram import Layout, add_rows, size_of
from gbt.kernels.cuts.packed_bins import ALL_BINS
from gbt.kernels.platform.compiling import uncounted
from gbt.kernels.platform.instructions import AHEAD, add_four, add_pair, prefetch
from gbt.kernels.rows.sums import add_to_partials
from gbt.kernels.trees.quantise import of_row


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
    low, high = -np.inf, np.inf
    for i in range(len(rows)):
        prefetch(values, rows[min(i + AHEAD, last)])
        row = rows[i]
        value = np.float64(values[row])
        is_left = value <= cut or (missing_left and np.isnan(value))
        rows[n_left] = row
        buffer[n_right] = row
        n_left += np.int64(is_left)
        n_right += 1 - np.int64(is_left)
        low = value if is_left and value > low else low  # never of nan
        high = value if not is_left and value < high else high
    for i in range(n_right):
        rows[n_left + i] = buffer[i]
    return n_left, low, high


@uncounted
def magnitude_of(entries, numbers, rows):
    """Return the sum of |g| over some rows, whose entries have so many numbers each."""
    magnitude = np.int64(0)
    for i in range(len(rows)):
        magnitude += abs(entries[np.int64(rows[i]) * numbers])
    return magnitude


@uncounted
def fill_columns(packed_bins, rows, entries, layout, packs, histogram):
    """Add some rows to the histograms of all columns.

    packed_bins   (packs, n)   uint64             IN
    rows          (m,)         int32              IN
    entries                    int64              IN      of all rows
    layout                     3 x int64          IN      see ``gbt.kernels.cuts.histogram``
    packs         (packs,)     PACK               IN
    histogram                  int64              INOUT
    """
    for p in range(len(packs)):
        add_rows(
            packed_bins[p], rows, entries, Layout(layout[0], layout[1], layout[2]), packs[p],
            ALL_BINS, histogram,
        )  # fmt: skip


@uncounted
def fill_parts(bins, rows, entries, layout, shift, slots, histogram):
    """Add some rows to the parts of some bins of one column.

    bins        (n,)     uint16      IN      fine ones, of which 2^shift make a coarse one
    rows        (m,)     int32       IN
    entries              int64       IN      of all rows
    layout               3 x int64   IN
    slots       (bins,)  int64       IN      of a coarse bin; the last place is for all others
    histogram            int64       INOUT   2^shift bins a slot
    """
    width, count_bits = np.uint64(layout[0]), layout[1]
    numbers, one, nothing = np.uint64(layout[0] // 2), np.uint64(1), np.int64(0)
    mask, last = (np.int64(1) << shift) - 1, len(rows) - 1
    for i in range(len(rows)):
        ahead = rows[min(i + AHEAD, last)]
        prefetch(bins, ahead)
        row = np.uint64(rows[i])
        b = np.int64(bins[row])
        place = np.uint64((slots[b >> shift] << shift) + (b & mask)) * width
        g = entries[row * numbers]
        size = size_of(g, count_bits)
        if width == 2:
            add_pair(histogram, place, g, size)
        else:
            add_four(histogram, place, g, size, entries[row * numbers + one], nothing)


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
    for i in range(len(rows)):  # without a branch, as in ``gbt.kernels.trees.partition``
        prefetch(bins, rows[min(i + AHEAD, last)])
        row = rows[i]
        slot = slots[bins[row]]
        picked[n], slot_of[n] = row, slot
        n += np.int64(slot >= 0)
    return n


@uncounted
def add_up_products(x, weight, rows, is_of_magnitudes, partials):
    """Add up weight * x, or |weight * x|, into partial sums; return how many they are.

    x, weight   (n,) or (1,)   float64   IN
    rows        (m,)           int32     IN
    partials    (m,)           float64   OUT   see ``gbt.kernels.rows.sums``
    """
    zero = np.int64(0)
    n = zero
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        product = of_row(weight, row) * of_row(x, row)
        n = add_to_partials(abs(product) if is_of_magnitudes else product, partials, zero, n)
    return n
