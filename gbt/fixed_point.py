"""Gradients as 64-bit integers, so that the search for splits adds without rounding.

A float x becomes the integer nearest to x * scale, where scale is the power of two that brings the
sum of |x| to between 2^60 and 2^61. No sum of any rows overflows, and

* integer sums do not depend on their order: trees are bitwise equal for every number of threads;
* two cuts that separate the same rows have the same sums, whatever the feature and the direction,
  so a tie of gains is plain equality.

Precision: rounding changes a sum over n rows by at most n/2 units, that is n 2^-61 sum|x|, since
the unit is at most 2^-60 sum|x|. The bound for adding float64 one by one is n 2^-53 sum|x|. So
these sums are 256 times more exact than float64's, also where one outlier outweighs all other rows,
and one word is enough for every target.

Integers only search. The G and H that a tree stores are float64 sums of the floats themselves.
"""

from math import isfinite

import numpy as np

from gbt.kernels.quantise import quantise, scale_of, scales_of

# As many rows as a table may have. Whole weights beyond it would leave few bits for x itself.
MOST_REPEATS = 2.0**31

# Below 1e-283 the integers become smaller instead: a larger scale would not be a float64.
LARGEST_EXPONENT = 1000


def scale_for(x: np.ndarray, weight: np.ndarray, rows: np.ndarray) -> tuple[float, bool]:
    """Return the scale of ``weight * x`` in some rows, a power of two.

    And whether the weights are whole numbers that multiply the rounded x.
    """
    scale, repeats, _ = scale_of(x, weight, rows, LARGEST_EXPONENT, MOST_REPEATS)
    _refuse_overflow(scale)
    return scale, repeats


def scales_for(
    gradient: np.ndarray, hessian: np.ndarray, weight: np.ndarray, rows: np.ndarray
) -> tuple[float, float, bool, int | None]:
    """Return the scales of both, whether weights multiply, and the integer of all hessians.

    The last is None if hessians or weights differ among the rows.
    """
    g_scale, h_scale, repeats, of_all = scales_of(
        gradient, hessian, weight, rows, LARGEST_EXPONENT, MOST_REPEATS
    )
    _refuse_overflow(g_scale + h_scale)
    return g_scale, h_scale, repeats, of_all if of_all >= 0 else None


def _refuse_overflow(scale):
    if not isfinite(scale):
        raise FloatingPointError("the sum of their magnitudes overflows")


def to_fixed_point(
    x: np.ndarray, weight: np.ndarray, rows: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Return ``weight * x`` as int64 and the scale, a power of two, by which it was multiplied.

    Whole weights multiply the rounded x: a row of weight 3 is, to the last bit, three rows, and
    cuts that tie among repeated rows tie among weighted ones. With ``rows`` only those matter, and
    the others become 0.
    """
    rows = np.arange(len(x)) if rows is None else rows
    scale, repeats = scale_for(x, weight, rows)
    integers = np.zeros(len(x), dtype=np.int64)
    quantise(x, weight, rows, scale, repeats, integers)
    return integers, scale
