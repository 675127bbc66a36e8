"""Ranking: codes, order and bins of one column; its rows are sorted digit by digit.

::

    row              0     1     2     3     4
    column          0.3   7.0   nan   0.3  -1.5
    rows by value    4     0     3     1     2       missing last
    order           ~4    ~0     3    ~1    ~2       ~row where a new value starts
    codes            1     2     3     1     0

Of every value the bits are turned into a key, a whole number in the order of the values. Rows are
put in the order of the last digit of their keys, then in that of the last but one, and so on, each
time keeping the order of equal ones, which is linear in the rows (Knuth, "Sorting and Searching",
section 5.2.5)::

    keys  42 17 12 47       by last digit  42 12 17 47       by first digit  12 17 42 47

Digits have 11 bits: 2,048 places to write to, whose cache lines fit the L2 cache. For 20,000 to
2,000,000 continuous values of float32 ranking takes 0.4 to 0.75 of the time that it takes with
NumPy's ``argsort``, digit by digit of 16 bits (znver4).
"""

import numpy as np

from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.platform.instructions import AHEAD, max, min, prefetch

DIGIT_BITS = 11
N_DIGITS = 3  # of 32 bits


@uncounted
def write_keys(bits, infinity, keys):
    """Write whole numbers in the order of some floats; return how many are missing.

    In negative numbers all bits are flipped, in others the sign. Missing, any nan, is the largest
    of all, and -0 is 0.

    bits       (n,)          int32 or int64   IN    of float32 or float64
    infinity                 int64            IN    its bits
    keys       (n, 1 or 2)   uint32           OUT   low and high half, where there are two
    """
    has_halves, n_missing = keys.shape[1] == 2, np.int64(0)
    sign = np.int64(1) << (63 if has_halves else 31)
    for row in range(len(bits)):
        key = np.int64(bits[row])
        magnitude = key & (sign - 1)
        if magnitude > infinity:
            key, n_missing = np.int64(-1), n_missing + 1
        elif magnitude == 0 or key >= 0:
            key = magnitude | sign
        else:
            key = ~key
        keys[row, 0] = np.uint32(key)
        if has_halves:
            keys[row, 1] = np.uint32(key >> 32)
    return n_missing


@internal
def digit_of(key, digit):
    """Return one digit of 32 bits, the last one is number 0."""
    return np.uint64(key >> np.uint32(DIGIT_BITS * digit) & np.uint32((1 << DIGIT_BITS) - 1))


@internal
def count_digits(keys, half, counts):
    """Count how often every digit has every value."""
    for digit in range(N_DIGITS):
        for value in range(1 << DIGIT_BITS):
            counts[digit, value] = 0
    for row in range(len(keys)):
        for digit in range(N_DIGITS):
            counts[digit, digit_of(keys[row, half], digit)] += 1


@internal
def sort_by_digit(keys, half, digit, counts, rows, to):
    """Put rows in the order of one digit, given how often it has every value."""
    places, place = counts[digit], np.int32(0)
    for value in range(1 << DIGIT_BITS):
        place, places[value] = place + places[value], place
    last = len(rows) - 1
    for i in range(len(rows)):
        ahead = np.int64(rows[min(i + AHEAD, last)])
        prefetch(keys, ahead * keys.shape[1] + half)
        row = rows[i]
        value = digit_of(keys[np.uint64(row), half], digit)
        to[np.uint64(places[value])] = row
        places[value] += 1


@uncounted
def rank_rows(keys, counts, codes, order):
    """Sort the rows by their keys, and give every row the rank of its key.

    keys     (n, 1 or 2)       uint32   IN    see ``write_keys``
    counts   (3, 2^11)         int32    scratch
    codes    (n,)              int32    OUT
    order    (n,)              int32    OUT   rows by key, with ~row where a new key starts
    """
    rows, other = order, codes
    for row in range(len(rows)):
        rows[row] = row
    n_moves = 0
    for half in range(keys.shape[1]):
        count_digits(keys, half, counts)
        for digit in range(N_DIGITS):
            if counts[digit, digit_of(keys[0, half], digit)] < len(rows):  # else it is one value
                sort_by_digit(keys, half, digit, counts, rows, other)
                rows, other, n_moves = other, rows, n_moves + 1
    if n_moves % 2 == 1:
        for i in range(len(order)):
            order[i] = codes[i]

    code, last, before = -1, len(order) - 1, order[0]
    for i in range(len(order)):
        ahead = order[min(i + AHEAD, last)]
        prefetch(keys, np.int64(ahead) * keys.shape[1])
        prefetch(codes, ahead)
        row = order[i]
        starts = i == 0
        for half in range(keys.shape[1]):
            starts |= keys[row, half] != keys[before, half]
        code += starts
        codes[row] = code
        order[i] = ~row if starts else row
        before = row


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


@uncounted
def bin_rows(order, bin_start, missing_bin, bins):
    """Write the bin of every row.

    order       (n,)          int32   IN    see ``rank_rows``
    bin_start   (bins + 2,)   int64   IN    bin b owns the positions bin_start[b]:bin_start[b + 1]
    missing_bin               int64   IN    number of the last bin, that of missing rows
    bins        (n,)          uint8   OUT   one lane of the packed bins
    """
    n_bins = len(bin_start) - 2
    for b in range(n_bins + 1):
        for position in range(bin_start[b], bin_start[b + 1]):
            row = order[position]
            bins[max(row, ~row)] = b if b < n_bins else missing_bin
