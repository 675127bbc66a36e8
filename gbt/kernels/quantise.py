"""Quantise: gradients as integers; see ``gbt.fixed_point``."""

import math

import numpy as np

from gbt.kernels.compiling import uncounted
from gbt.kernels.histogram import pack_entry


@uncounted
def scale_of(x, weight, rows, largest_exponent, most_repeats):
    """Return the scale of some rows, whether whole weights multiply, and whether all are equal.

    The scale is nan where sum|weight * x| is not finite.

    x, weight           (n,)     float64   IN
    rows                (m,)     int64     IN
    largest_exponent             int64     IN    of scale
    most_repeats                 float64   IN    sum of weights up to which whole ones multiply
    """
    total = total_weight = 0.0
    is_whole = is_constant = True
    first = rows[0]
    for i in range(len(rows)):
        row = np.uint64(rows[i])  # unsigned, as in ``gbt.kernels.histogram``
        total += abs(weight[row] * x[row])
        total_weight += weight[row]
        is_whole &= weight[row] == np.rint(weight[row])
        is_constant &= (x[row] == x[first]) & (weight[row] == weight[first])
    repeats = is_whole and total_weight <= most_repeats
    if total == 0.0:
        return 1.0, repeats, is_constant
    if not np.isfinite(total):
        return np.nan, repeats, is_constant
    # total = m * 2^(61 - exponent) with 1/2 <= m < 1
    exponent = min(61 - math.frexp(total)[1], largest_exponent)
    return math.ldexp(1.0, exponent), repeats, is_constant


@uncounted
def integer_of(x, weight, scale, repeats):
    """Return weight * x * scale, rounded; with ``repeats`` a whole number of times x * scale."""
    if repeats:
        return np.int64(weight) * np.int64(np.rint(x * scale))
    return np.int64(np.rint(weight * x * scale))


@uncounted
def quantise(x, weight, rows, scale, repeats, integers):
    """Write weight * x * scale, rounded, of some rows.

    x, weight, rows        see ``scale_of``
    scale       float64    IN
    repeats     bool       IN    see ``integer_of``
    integers    (n,)   int64   OUT   of these rows
    """
    for row in rows:
        integers[row] = integer_of(x[row], weight[row], scale, repeats)


@uncounted
def scales_of(gradient, hessian, weight, rows, largest_exponent, most_repeats):
    """Return both scales, whether whole weights multiply, and the integer of all hessians.

    That is -1 where hessians or weights differ. Arguments are those of ``scale_of``.
    """
    g_scale, repeats, _ = scale_of(gradient, weight, rows, largest_exponent, most_repeats)
    h_scale, _, is_constant = scale_of(hessian, weight, rows, largest_exponent, most_repeats)
    of_all = np.int64(-1)
    if is_constant and np.isfinite(h_scale):
        of_all = integer_of(hessian[rows[0]], weight[rows[0]], h_scale, repeats)
    return g_scale, h_scale, repeats, of_all


@uncounted
def quantise_entries(
    gradient, hessian, weight, rows, gradient_scale, hessian_scale, repeats, rules, listed, entries
):
    """List some rows and write their entries, see ``gbt.kernels.histogram``.

    gradient, hessian, weight   (n,)           float64   IN
    rows                        (m,)           int64     IN
    rules                       (1,)           RULES     IN    see ``gbt.kernels.memory``
    listed                      (m,)           int32     OUT
    entries                     (n * width,)   int64     OUT   of these rows
    """
    layout = rules[0]
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        listed[i] = row
        g = integer_of(gradient[row], weight[row], gradient_scale, repeats)
        h = layout.hessian
        if layout.width == 4:
            h = integer_of(hessian[row], weight[row], hessian_scale, repeats)
        pack_entry(g, h, layout, row, entries)
