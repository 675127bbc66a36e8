"""Partition: put the rows that go left before those that go right, both in their old order.

Growing keeps one list of rows in which every node owns a stretch. Splitting a node partitions its
stretch in place; right-going rows wait in a buffer until the left-going ones have closed ranks::

    rows      a b c d e f            b, c and f go right
    in place  a d e . . .            buffer   b c f
    after     a d e b c f            left child a d e, right child b c f

Since the order is kept, the rows of a node are ascending, or those of each set of rows in it are:
memory is read forwards.
"""

import numpy as np

from gbt.kernels.cuts.histogram import are_far_apart
from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import AHEAD, max, min, prefetch

HIGHEST = np.int64(2**63 - 1)


@internal
def partition_rows(codes, missing_code, cut, missing_left, rows, buffer):
    """Partition the rows of one node.

    Returns how many go left, a row of the highest value on the left and one of the lowest on the
    right. Instead of a row it is -1 where no row with a value is on that side.

    codes          (n,)   int32   IN      of the split feature
    missing_code          int64   IN      of rows without a value
    cut                   int64   IN      codes up to it go left
    missing_left          bool    IN
    rows           (m,)   int32   INOUT   of the node
    buffer         (m,)   int32   scratch
    """
    # Three loops of one thing each take half as long as one that does all (znver4): the second
    # becomes vector instructions. Until rows are put there, the buffer has room for their codes.
    last, is_far = np.uint64(len(rows) - 1), are_far_apart(rows, codes)
    for i in range(np.uint64(len(rows))):  # unsigned, as in ``gbt.kernels.cuts.histogram``
        if is_far:
            prefetch(codes, rows[min(i + np.uint64(AHEAD), last)])
        buffer[i] = codes[np.uint64(rows[i])]
    # Where missing rows go left all codes are one higher, and theirs, beyond the last, becomes 0.
    shift = np.int64(missing_left)
    low, high = np.int64(-1), HIGHEST
    for i in range(len(rows)):
        code = np.int64(buffer[i]) + shift
        code *= np.int64(code <= missing_code)
        is_right = (cut + shift - code) >> 63 & 1
        by_code = code << 32 | rows[i]
        low = max(low, by_code | -is_right)  # -1 on the right
        high = min(high, by_code | (is_right - 1 & HIGHEST))  # the highest on the left
        buffer[i] = is_right
    n_left, n_right = np.uint64(0), np.uint64(0)
    for i in range(np.uint64(len(rows))):
        # Whether a row goes left is anybody's guess, and wrong guesses of the processor made
        # this loop three times as slow. So there is no branch: write to both sides, keep one.
        row, is_right = rows[i], np.uint64(buffer[i])
        rows[n_left] = row
        buffer[n_right] = row
        n_left += np.uint64(1) - is_right
        n_right += is_right
    for i in range(n_right):  # assigning slices would compile two seconds longer
        rows[n_left + i] = buffer[i]
    low_row = low & 0xFFFFFFFF if low >= shift << 32 else np.int64(-1)
    is_above = high >> 32 < missing_code + shift
    return np.int64(n_left), low_row, high & 0xFFFFFFFF if is_above else np.int64(-1)
