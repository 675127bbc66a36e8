"""Gradients as 64-bit integers, so that the search for splits adds without rounding.

A float x becomes the integer nearest to x * scale, where scale is the power of two that brings the
sum of |x| to between 2^60 and 2^61. No sum of any rows overflows, and

* integer sums do not depend on their order: trees are bitwise equal for every number of threads;
* two cuts that separate the same rows have the same sums, whatever the feature and the direction,
  so a tie of gains is plain equality.

Precision: rounding changes a sum over n rows by at most n/2 units, that is n 2^-61 sum|x|, since
the unit is at most 2^-60 sum|x|. The bound for adding float64 one by one is n 2^-53 sum|x|. So
these sums are 256 times more exact than float64's, also where one outlier outweighs all other rows,
and one word is enough for every target. Whole weights multiply the rounded numbers, which is w/2
units a row; where they are more than 256 on average, and that would be less exact than float64,
they are treated as other weights are.

Integers only search. The G and H that a tree stores are float64 sums of the floats themselves.
"""

from math import isfinite

import numpy as np

from gbt.kernels.trees.quantise import quantise, scale_of
from gbt.losses.overflow import refuse_overflow


def to_fixed_point(
    x: np.ndarray, weight: np.ndarray, rows: np.ndarray | None = None, n_rows: int | None = None
) -> tuple[np.ndarray, float]:
    """Return ``weight * x`` as int64 and the scale, a power of two, by which it was multiplied.

    Whole weights, of 256 or less on average, multiply the rounded x: a row of weight 3 is, to the
    last bit, three rows, and cuts that tie among repeated rows tie among weighted ones. With
    ``rows``, int32, all other rows become 0. A single x or weight stands for those of all
    ``n_rows``.
    """
    n_rows = len(x) if n_rows is None else n_rows
    rows = np.arange(n_rows, dtype=np.int32) if rows is None else rows
    scale, repeats = scale_of(x, weight, rows)
    if not isfinite(scale):
        refuse_overflow()
    integers = np.zeros(n_rows, dtype=np.int64)
    quantise(x, weight, rows, scale, repeats, integers)
    return integers, scale
