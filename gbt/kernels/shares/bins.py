"""Bins of a column by edges that all members of a team share."""

import numpy as np

from gbt.kernels.platform.compiling import uncounted


@uncounted
def find_bins(values, edges, missing, bins, low, high):
    """Write the bin of every value: bin b has those above edges[b - 1] and up to edges[b].

    values   (n,)       float32 or float64   IN
    edges    (2^m-1,)   the same             IN      ascending; filled up with inf
    missing             int64                IN      the number of the bin of missing values
    bins     (n,)       uint16               OUT
    low      (bins,)    float64              INOUT   least value in every bin
    high     (bins,)    float64              INOUT   largest
    """
    half = (len(edges) + 1) >> 1
    for i in range(len(values)):
        value, b, step = values[i], 0, half
        while step > 0:  # which half is anybody's guess: no branch
            b += step * np.int64(edges[b + step - 1] < value)
            step >>= 1
        if np.isnan(value):
            bins[i] = missing
        else:
            bins[i] = b
            low[b], high[b] = min(low[b], np.float64(value)), max(high[b], np.float64(value))
