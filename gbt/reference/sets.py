"""Sets of rows and bins of values, in plain loops: what the fast search gives the third page.

``gbt.reference.policies`` decides on a split, given which set every row of a node is in and, if
cuts are to lie at the edges of bins, which bin every value is in. Both are settled before a tree
grows: bins for a fit, sets for a tree.
"""

import math

import numpy as np

WORD = 2**64
ROWS_OF_BLOCK = 512
MOST_BINS, MOST_BINS_BESIDE_MISSING = 256, 240


def scrambled(x: int) -> int:
    """Return 64 bits each of which depends on all bits of ``x`` (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def parts_of(n_rows: int, n_parts: int, seed: int, tree: int) -> np.ndarray:
    """Return in which part the rows of a tree are: dealt out in turn, and shuffled in every block.

    Shuffling is that of Fisher and Yates; what is random is a hash of the seed, the number of the
    tree and the place of a row.
    """
    key = (scrambled(seed % WORD) + tree) % WORD
    parts = [place % n_parts for place in range(n_rows)]
    for start in range(0, n_rows, ROWS_OF_BLOCK):
        for place in reversed(range(start + 1, min(start + ROWS_OF_BLOCK, n_rows))):
            word = scrambled((scrambled(key) + place * 0x9E3779B97F4A7C15) % WORD)
            other = start + (word >> 32) * (place - start + 1) // 2**32
            parts[place], parts[other] = parts[other], parts[place]
    return np.array(parts)


def bins_of(x: np.ndarray) -> np.ndarray:
    """Return the bin of every value of a column, ascending; -1 where it is missing.

    Every value has a bin of its own where they are few enough. Else the first i of m bins should
    hold a share sin^2(i/m pi/2) of the rows: few at the ends of a column, where a row moves a mean
    most. A bin ends with the value that is there; and a value in which two bins or more should end
    has one to itself.
    """
    in_order = np.sort(x[~np.isnan(x)])
    values = np.unique(in_order)
    most = MOST_BINS_BESIDE_MISSING if np.isnan(x).any() else MOST_BINS
    if len(values) <= most:
        last = values.tolist()  # of each bin
    else:
        m = 4 * most - 1
        while len(ends_of(m, len(in_order))) > most:
            m -= 1
        ends = [float(in_order[end - 1]) for end in ends_of(m, len(in_order))]
        last = []
        for value in sorted(set(ends)):
            before = values[values < value]
            if ends.count(value) > 1 and len(before) and before[-1] not in last:
                last.append(float(before[-1]))
            last.append(value)
    return np.where(np.isnan(x), -1, np.searchsorted(last, x))


def ends_of(m: int, n_rows: int) -> list[int]:
    """Return how many rows the first of m bins, the first two, ... all of them should hold."""
    shares = [math.sin(i / m * math.pi / 2) ** 2 for i in range(1, m + 1)]
    return sorted({round(n_rows * share) for share in shares} - {0})
