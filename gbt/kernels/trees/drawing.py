"""Drawing: the set of every row of a tree, which is the same in all nodes.

Rows are dealt out to *parts* of equal size, block by block: where n rows have the places 0 ... n-1,
those of a block are given the numbers ``place % n_parts``, shuffled::

    places of a block     6   7   8   9  10  11
    place % 3             0   1   2   0   1   2
    shuffled              1   0   0   2   1   2

So the number of rows of a part in earlier blocks is known without counting, and threads can sort
blocks by part side by side. The random numbers are hashes of the fit's seed, the tree and the
place, so results depend on nothing else. The plain twin is `gbt.reference.sets.parts_of`.
"""

import numpy as np

from gbt.kernels.cuts.sets import MOST_SETS
from gbt.kernels.platform.compiling import forced_inline, inlined, internal, optimised_first
from gbt.kernels.platform.instructions import min
from gbt.kernels.trees.quantise import ROWS_PER_TASK

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
HALF = np.uint64(32)

# Each thread's own.
DEAL = np.dtype([("part", np.int64, (ROWS_PER_TASK,)), ("place", np.int64, (MOST_SETS,))])


@forced_inline
def scrambled(x):
    """Return a word of which every bit depends on every bit of ``x`` (Steele and others 2014)."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@forced_inline
def number_below(limit, key, place):
    """Return a random number from 0 to ``limit`` - 1; ``limit`` is a uint64."""
    return np.int64((scrambled(key + place * STEP) >> HALF) * limit >> HALF)


@internal
def key_of_tree(rules):
    """Return the key from which all draws of the growing tree follow."""
    return key_of_draws(rules.seed, np.uint64(rules.first_tree + rules.n_grown))


@forced_inline
def key_of_draws(seed, tree):
    """Return the key from which all draws of a tree follow."""
    return scrambled(scrambled(seed) + tree)


@inlined
def deal_block(start, stop, key, n_parts, part):
    """Deal the places start:stop, a block, out to parts; see the module."""
    one = np.uint64(1)
    for i in range(start, stop):
        part[i - start] = i % n_parts
    for i in range(stop - start - 1, 0, -1):
        j = number_below(np.uint64(i) + one, key, np.uint64(start + i))
        part[i], part[j] = part[j], part[i]


@optimised_first
def deal_out(start, stop, n_rows, key, listed, habits, deal, set_of_row, by_set):
    """Draw the sets of the listed rows start:stop and put these in the order of their parts.

    key                      uint64   IN    of the tree
    listed       (n_rows,)   int32    IN
    habits                   HABITS   IN
    deal                     DEAL
    set_of_row   (n,)        uint8    OUT   of these rows, by row of the table
    by_set       (n_rows,)   int32    OUT   of all blocks together
    """
    n_parts, last_set = habits.n_parts, habits.n_sets - 1
    part, place = deal.part, deal.place
    deal_block(start, stop, key, n_parts, part)
    for s in range(n_parts):  # rows of earlier parts, and of this one in earlier blocks
        place[s] = s * (n_rows // n_parts) + min(s, n_rows % n_parts)
        place[s] += (start - s + n_parts - 1) // n_parts
    for i in range(start, stop):
        s, row = part[i - start], listed[i]
        by_set[place[s]] = row
        set_of_row[row] = min(s, last_set)
        place[s] += 1
