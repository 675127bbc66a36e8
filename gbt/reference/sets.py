"""Sets of rows, bins of values and columns of nodes, in plain loops: what the fast search draws.

``gbt.reference.policies`` decides on a split, given which set every row of a node is in and, if
cuts are to lie at the edges of bins, which bin every value is in. Both are settled before a tree
grows: bins for a fit, sets for a tree. While it grows, columns may be drawn for every depth and
every node (``colsample_bylevel``, ``colsample_bynode``).
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
    """Return the part of every row of a tree: dealt out in turn, and shuffled in every block.

    Shuffling is that of Fisher and Yates; the random numbers are hashes of the seed, the number of
    the tree and the place of a row.
    """
    key = (scrambled(seed % WORD) + tree) % WORD
    parts = [place % n_parts for place in range(n_rows)]
    for start in range(0, n_rows, ROWS_OF_BLOCK):
        for place in reversed(range(start + 1, min(start + ROWS_OF_BLOCK, n_rows))):
            word = scrambled((scrambled(key) + place * 0x9E3779B97F4A7C15) % WORD)
            other = start + (word >> 32) * (place - start + 1) // 2**32
            parts[place], parts[other] = parts[other], parts[place]
    return np.array(parts)


def number_of_tree(seed: int, tree: int) -> float:
    """Return a number from [0, 1), by which the depth of a tree is drawn."""
    key = scrambled((scrambled(seed % WORD) + tree) % WORD)
    return (scrambled((key - 0x9E3779B97F4A7C15) % WORD) >> 32) / 2**32


def columns_of_depth(
    columns: list[int], share: float, seed: int, tree: int, depth: int
) -> list[int]:
    """Return the columns, of those of the tree, on which nodes of one depth may be split."""
    return drawn_columns(columns, share, key_of_depth(seed, tree, depth))


def columns_of_node(
    columns: list[int], share: float, seed: int, tree: int, turns: str
) -> list[int]:
    """Return the columns, of those of its depth that may follow on its path, of a node.

    ``turns`` are the sides taken on the way to it: "" at the root, "01" is left, then right.
    """
    key = key_of_depth(seed, tree, len(turns)) + int(f"1{turns}", base=2)
    return drawn_columns(columns, share, scrambled(key % WORD))


def key_of_depth(seed: int, tree: int, depth: int) -> int:
    """Return the key from which the draws at one depth of a tree follow."""
    of_tree = scrambled((scrambled(seed % WORD) + tree) % WORD)
    return scrambled((of_tree + depth + 1) % WORD)


def drawn_columns(columns: list[int], share: float, key: int) -> list[int]:
    """Draw a share of some columns, one at least, each as likely as another.

    The next column is taken with the probability (columns still wanted) / (columns still left)
    (Algorithm S of Knuth, The Art of Computer Programming 2, section 3.4.2).
    """
    if share == 1.0:
        return columns
    wanted = max(round(share * len(columns)), 1)
    drawn: list[int] = []
    for i, k in enumerate(columns):
        word = scrambled((key + k * 0x9E3779B97F4A7C15) % WORD)
        if (word >> 32) * (len(columns) - i) // 2**32 < wanted - len(drawn):
            drawn.append(k)
    return drawn


def bins_of(x: np.ndarray, max_bins: int = MOST_BINS) -> np.ndarray:
    """Return the bin of every value of a column, ascending; -1 where it is missing.

    Every value has a bin of its own if there are few enough. Otherwise the first i of m bins should
    hold a share sin^2(i/m pi/2) of the rows: few at the ends of a column, where a row moves a mean
    most. A bin ends after the value at that position; a value in which two or more bins should end
    has a bin of its own.
    """
    in_order = np.sort(x[~np.isnan(x)])
    values = np.unique(in_order)
    most = min(max_bins, MOST_BINS_BESIDE_MISSING if np.isnan(x).any() else MOST_BINS)
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
