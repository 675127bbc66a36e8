"""Quantise: gradients as integers; see ``gbt.fixed_point``.

Hessians and weights may be arrays of one number, which then stands for all rows.
"""

import math

import numpy as np

from gbt.kernels.compiling import internal, step, uncounted

# As many rows as a table may have. Whole weights beyond it would leave few bits for x itself.
MOST_REPEATS = 2.0**31
# Below 1e-283 the integers become smaller instead: a larger scale would not be a float64.
LARGEST_EXPONENT = 1000


@step
def of_row(x, row):
    """Return the number of a row, a uint64, or that of all rows."""
    return x[row] if len(x) > 1 else x[0]


@uncounted
def scale_of(x, weight, rows, n_rows):
    """Return the scale of weight * x in some rows, and whether whole weights multiply.

    The scale is nan where sum|weight * x| is not finite.

    x, weight   (n,) or (1,)   float64   IN
    rows        (n_rows,)      int32     IN    none: the first n_rows
    n_rows                     int64     IN
    """
    total = total_weight = 0.0
    is_whole = True
    if len(x) == 1 and len(weight) == 1:
        total, total_weight = n_rows * abs(weight[0] * x[0]), n_rows * weight[0]
        is_whole = weight[0] == np.rint(weight[0])
    else:
        for i in range(np.uint64(n_rows)):  # unsigned, as in ``gbt.kernels.histogram``
            row = np.uint64(rows[i]) if len(rows) > 0 else i
            w = of_row(weight, row)
            total += abs(w * of_row(x, row))
            total_weight += w
            is_whole &= w == np.rint(w)
    repeats = is_whole and total_weight <= MOST_REPEATS
    if total == 0.0:
        return 1.0, repeats
    if not np.isfinite(total):
        return np.nan, repeats
    # total = m * 2^(61 - exponent) with 1/2 <= m < 1
    exponent = min(61 - math.frexp(total)[1], LARGEST_EXPONENT)
    return math.ldexp(1.0, exponent), repeats


@step
def integer_of(x, weight, scale, repeats):
    """Return weight * x * scale, rounded; with ``repeats`` a whole number of times x * scale."""
    if repeats:
        return np.int64(weight) * np.int64(np.rint(x * scale))
    return np.int64(np.rint(weight * x * scale))


@uncounted
def quantise(x, weight, rows, scale, repeats, integers):
    """Write weight * x * scale, rounded, of some rows.

    x, weight   (n,) or (1,)   float64   IN
    rows        (n_rows,)      int32     IN
    scale                      float64   IN
    repeats                    bool      IN    see ``integer_of``
    integers    (n,)           int64     OUT   of these rows
    """
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        integers[row] = integer_of(of_row(x, row), of_row(weight, row), scale, repeats)


@internal
def begin_tree(training, rows, rules):
    """Write the entries and rules of a tree; say whether all sums are finite.

    Its rows are listed already, unless they are all.
    """
    gradient, hessian, weight = training.gradient, training.hessian, training.weight
    listed, entries, n_rows = rows.listed, rows.entries, rules.n_listed
    has_all = n_rows == len(gradient)
    some = listed[: 0 if has_all else n_rows]
    g_scale, repeats = scale_of(gradient, weight, some, n_rows)
    h_scale, _ = scale_of(hessian, weight, some, n_rows)
    if not (np.isfinite(g_scale) and np.isfinite(h_scale)):
        return False
    rules.penalty, rules.min_hessian = rules.reg_lambda * h_scale, rules.min_child_weight * h_scale
    # In this order nothing overflows that is not out of reach anyway.
    rules.least_gain = rules.min_split_gain * g_scale * (g_scale / h_scale)
    rules.count_bits = 0
    while n_rows >> rules.count_bits > 0:
        rules.count_bits += 1
    rules.hessian = integer_of(hessian[0], weight[0], h_scale, repeats) if rules.width == 2 else 0

    two, one = np.uint64(2), np.uint64(1)
    for i in range(np.uint64(n_rows)):
        row = i if has_all else np.uint64(listed[i])
        w = of_row(weight, row)
        listed[i] = row
        g = integer_of(gradient[row], w, g_scale, repeats)
        if rules.width == 2:
            entries[row] = g
        else:
            entries[row * two] = g
            entries[row * two + one] = integer_of(of_row(hessian, row), w, h_scale, repeats)
    return True
