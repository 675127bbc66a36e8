"""Where the bins of a column begin, by how many rows have each of its values.

Each value has a bin of its own if there are few enough. Otherwise of m bins the first i should hold
a share f = sin^2(i/m pi/2) of the rows. They then are as large as sqrt(f (1 - f)), which is what
the gradient sum of a share of the rows varies by, so that what is not known inside a bin weighs the
same everywhere. In equal bins a cut beside some few rows at an end of the column would have to be
looked at whatever they are.

A bin ends after the value at the position where it should end. A value in which two or more bins
should end has a bin of its own: with a few rows of other values beside its many, the bound of the
cuts between them would be useless.

Where cuts lie between bins alone (``max_bins``), bins are part of the model. So that they are the
same for rows on several machines, some rows stand for all where these are many.
"""

from bisect import bisect_left
from functools import lru_cache

import numpy as np

from gbt.kernels.cuts.histogram import MOST_GROUP_BITS

# The number of a bin fits into a byte. That of missing values, if any, is one of 16, 32, ...
MAX_BINS = 256
MAX_BINS_BESIDE_MISSING = MAX_BINS - 2**MOST_GROUP_BITS
MOST_STANDING = 2**17  # rows that stand for all


def most_bins(max_bins: int | None, has_missing: bool) -> int:
    """Return how many bins the present values of a column may have."""
    most = MAX_BINS_BESIDE_MISSING if has_missing else MAX_BINS
    return most if max_bins is None else min(most, max_bins)


def standing_rows(n_rows: int) -> np.ndarray:
    """Return the rows that stand for all, ascending and in equal distances."""
    return np.linspace(0, n_rows - 1, min(n_rows, MOST_STANDING)).astype(np.int64)


def first_codes(up_to: np.ndarray, most: int) -> np.ndarray:
    """Return the codes with which bins begin, given how many rows have a code up to each."""
    occurs = np.append(up_to[:1] > 0, up_to[1:] > up_to[:-1])
    if np.count_nonzero(occurs) <= most:
        return np.append(0, np.flatnonzero(occurs)[:-1] + 1)
    at_ends = np.searchsorted(up_to, bin_ends(int(up_to[-1]), most).astype(up_to.dtype))
    codes, n_ends = np.unique(at_ends, return_counts=True)
    return np.union1d([0, *(codes[:-1] + 1)], codes[n_ends > 1])


@lru_cache(maxsize=64)
def bin_ends(n_rows: int, most: int) -> np.ndarray:
    """Return how many rows the first bin, the first two, ... all of them hold, without ties."""

    def ends(m: int) -> np.ndarray:
        share = np.sin(np.arange(1, m + 1) / m * (np.pi / 2)) ** 2
        ends = np.unique(np.rint(n_rows * share).astype(np.int64))
        return ends[ends > 0]

    # Among many bins the outermost would hold less than a row; these become one.
    return ends(bisect_left(range(4 * most), most + 1, key=lambda m: len(ends(m))) - 1)
