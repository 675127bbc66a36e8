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
def partition_node(codes, missing_code, cut, missing_left, rows, gradient, hessian, buffers, sums):
    """Partition one node; return its number of left rows and the codes on both sides of the cut.

    codes                     (n,)         int32         IN      of the split feature
    cut                                    int64         IN      codes up to it go left
    rows, gradient, hessian   (m,)         int32, int64  INOUT   of the node
    buffers                   3 x (m,)     likewise              for right-going rows
    sums                      (3,)         int64         OUT     of g, h and |g| over the left rows

    The codes returned are the highest present one on the left and the lowest on the right, which is
    that of missing values if no present one is there.
    """
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
    rows[n_left:] = right_rows[:n_right]
    gradient[n_left:] = right_gradient[:n_right]
    hessian[n_left:] = right_hessian[:n_right]
    return n_left, low_code, high_code


@kernel
def partition_nodes(
    codes, missing_code, feature, cut, missing_left, rows, gradient, hessian, start, stop,
    middle, low_code, high_code, sums,
):
    """Partition several nodes; see ``partition_node``.

    codes                     (p, n)       int32         IN
    missing_code              (nodes,)     int64         IN      of the split feature
    feature, cut, missing_left  (nodes,)                 IN
    rows, gradient, hessian   (n,)         int32, int64  INOUT
    start, stop               (nodes,)     int64         IN
    middle                    (nodes,)     int64         OUT     where the right child starts
    low_code, high_code       (nodes,)     int64         OUT
    sums                      (nodes, 3)   int64         OUT     of the left child
    """
    most_rows = np.max(stop - start)
    buffers = (
        np.empty(most_rows, dtype=rows.dtype),
        np.empty(most_rows, dtype=gradient.dtype),
        np.empty(most_rows, dtype=hessian.dtype),
    )
    for j in range(len(start)):
        own = slice(start[j], stop[j])
        n_left, low_code[j], high_code[j] = partition_node(
            codes[feature[j]], missing_code[j], cut[j], missing_left[j],
            rows[own], gradient[own], hessian[own], buffers, sums[j],
        )
        middle[j] = start[j] + n_left
