"""Partition: put the rows that go left before those that go right, both in their old order.

Growing keeps one list of rows in which every node owns a stretch. Splitting a node partitions its
stretch in place; right-going rows wait in a buffer until the left-going ones have closed ranks::

    rows      a b c d e f            b, c and f go right
    in place  a d e . . .            buffer   b c f
    after     a d e b c f            left child a d e, right child b c f

Since the order is kept, the rows of a node are always ascending: memory is read forwards.
"""

import numpy as np

from gbt.kernels.compiling import uncounted
from gbt.kernels.instructions import AHEAD, prefetch


@uncounted
def partition_rows(codes, missing_code, cut, missing_left, rows, buffer):
    """Partition the rows of one node and return how many go left.

    codes          (n,)   int32   IN      of the split feature
    missing_code          int64   IN      of rows without a value
    cut                   int64   IN      codes up to it go left
    missing_left          bool    IN
    rows           (m,)   int32   INOUT   of the node
    buffer         (m,)   int32   scratch
    """
    # Where missing rows go left all codes are one higher, and theirs, beyond the last, becomes 0.
    shift = np.int64(missing_left)
    n_left, n_right, last = 0, 0, len(rows) - 1
    for i in range(len(rows)):
        # Whether a row goes left is anybody's guess, and wrong guesses of the processor made
        # this loop three times as slow. So there is no branch: write to both sides, keep one.
        prefetch(codes, rows[min(i + AHEAD, last)])
        row = rows[i]
        code = np.int64(codes[row]) + shift
        code *= np.int64(code <= missing_code)
        is_right = (cut + shift - code) >> 63 & 1
        rows[n_left] = row
        buffer[n_right] = row
        n_left += 1 - is_right
        n_right += is_right
    for i in range(n_right):  # assigning slices would compile two seconds longer
        rows[n_left + i] = buffer[i]
    return n_left


@uncounted
def rows_at_the_cut(codes, missing_code, rows, n_left):
    """Return a row of the highest value on the left and one of the lowest on the right.

    Arguments are those of ``partition_rows`` after the partition. The second row is -1 if no row
    with a value went right.
    """
    low, high = np.int64(-1), np.int64(missing_code) << 32
    for row in rows[:n_left]:
        code = np.int64(codes[row])
        low = max(low, code << 32 | row if code < missing_code else np.int64(-1))
    for row in rows[n_left:]:
        high = min(high, np.int64(codes[row]) << 32 | row)
    return low & 0xFFFFFFFF, high & 0xFFFFFFFF if high >> 32 < missing_code else np.int64(-1)
