"""Quantise: gradients as integers; see ``gbt.fixed_point``."""

import math

import numpy as np

from gbt.kernels.compiling import uncounted


@uncounted
def quantise(x, weight, rows, largest_exponent, most_repeats, integers):
    """Write weight * x * scale, rounded, of some rows; return scale, a power of two.

    Nothing is written, and nan returned, where sum|weight * x| is not finite.

    x, weight           (n,)     float64   IN
    rows                (m,)     int64     IN
    largest_exponent             int64     IN    of scale
    most_repeats                 float64   IN    sum of weights up to which whole ones multiply
    integers            (n,)     int64     OUT   of these rows
    """
    total = total_weight = 0.0
    is_whole = True
    for row in rows:
        total += abs(weight[row] * x[row])
        total_weight += weight[row]
        is_whole &= weight[row] == np.rint(weight[row])
    if total == 0.0:
        for row in rows:
            integers[row] = 0
        return 1.0
    if not np.isfinite(total):
        return np.nan
    # total = m * 2^(61 - exponent) with 1/2 <= m < 1
    exponent = min(61 - math.frexp(total)[1], largest_exponent)
    scale = math.ldexp(1.0, exponent)
    if is_whole and total_weight <= most_repeats:
        for row in rows:
            integers[row] = np.int64(weight[row]) * np.int64(np.rint(x[row] * scale))
    else:
        for row in rows:
            integers[row] = np.int64(np.rint(weight[row] * x[row] * scale))
    return scale
