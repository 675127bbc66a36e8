"""Partition: put the rows that go left before those that go right, both in their old order.

Growing keeps one list of rows in which every node owns a stretch. Splitting a node partitions its
stretch in place; right-going rows wait in a buffer until the left-going ones have closed ranks::

    rows      a b c d e f            b, c and f go right
    in place  a d e . . .            buffer   b c f
    after     a d e b c f            left child a d e, right child b c f

Since the order is kept, the rows of a node are always ascending: memory is read forwards. Gradients
and hessians move along, so that no search has to look them up.
"""

import numpy as np

from gbt.kernels.compiling import kernel


@kernel
def partition_node(codes, missing_code, cut, missing_left, data, buffers, sums):
    """Partition one node; return its number of left rows and the codes on both sides of the cut.

    codes     (n,)   int32   IN      of the split feature
    cut              int64   IN      codes up to it go left
    data      rows (m,) int32, gradient (m,) int64, hessian (m,) int64 of the node   INOUT
    buffers   likewise, for the rows that go right
    sums      (3,)   int64   OUT     of g, h and |g| over those that go left

    The codes returned are the highest present one on the left and the lowest on the right, which is
    that of missing values if no present one is there.
    """
    rows, gradient, hessian = data
    right_rows, right_gradient, right_hessian = buffers
    n_left, n_right = 0, 0
    low_code, high_code = -1, missing_code
    sums[:] = 0
    for i in range(len(rows)):
        row, g, h = rows[i], gradient[i], hessian[i]
        code = codes[row]
        is_missing = code == missing_code
        if missing_left if is_missing else code <= cut:
            rows[n_left], gradient[n_left], hessian[n_left] = row, g, h
            n_left += 1
            sums[0] += g
            sums[1] += h
            sums[2] += abs(g)
            if not is_missing:
                low_code = max(low_code, code)
        else:
            right_rows[n_right], right_gradient[n_right], right_hessian[n_right] = row, g, h
            n_right += 1
            high_code = min(high_code, code)
    for i in range(n_right):  # assigning slices would compile two seconds longer
        rows[n_left + i] = right_rows[i]
        gradient[n_left + i] = right_gradient[i]
        hessian[n_left + i] = right_hessian[i]
    return n_left, low_code, high_code


@kernel
def partition_nodes(codes, missing_code, feature, cut, missing_left, data, start, stop, found):
    """Partition several nodes; see ``partition_node``.

    codes          (p, n)     int32   IN
    missing_code   (nodes,)   int64   IN      of each node's split feature
    feature, cut   (nodes,)   int64   IN
    missing_left   (nodes,)   bool    IN
    data           of all rows, those of a node beside each other   INOUT
    start, stop    (nodes,)   int64   IN
    found          where the right child starts, low code, high code (nodes,) int64,
                   sums over the left child (nodes, 3) int64        OUT
    """
    rows, gradient, hessian = data
    middle, low_code, high_code, sums = found
    most_rows = 0
    for j in range(len(start)):
        most_rows = max(most_rows, stop[j] - start[j])
    buffers = (
        np.empty(most_rows, dtype=np.int32),
        np.empty(most_rows, dtype=np.int64),
        np.empty(most_rows, dtype=np.int64),
    )
    for j in range(len(start)):
        own = slice(start[j], stop[j])
        its_data = (rows[own], gradient[own], hessian[own])
        its_codes = codes[feature[j]]
        n_left, low_code[j], high_code[j] = partition_node(
            its_codes, missing_code[j], cut[j], missing_left[j], its_data, buffers, sums[j]
        )
        middle[j] = start[j] + n_left
