"""Sets: what is kept where some rows of a node choose its split and others judge it.

``gbt.kernels.cuts.judging`` says what these arrays are for. A greedy tree has one set of rows, with
one sum.
"""

from typing import NamedTuple

import numpy as np

UNBIASED, CROSS_VALIDATED = 0, 1
MOST_SETS = 16
MOST_SUMS = MOST_SETS + 1
MOST_CUTS = 256 + 16  # those of all bins, and some to spare

# The best cut for a sum.
CUT = np.dtype(
    [
        ("score", np.float64),  # -inf where no cut is allowed
        ("row", np.int64),  # the bin before it; of levels how many, in order, go left
        ("missing_left", np.int64),
    ]
)


class Judges(NamedTuple):
    """Which sets of rows there are, and how they judge: the request of a policy.

    A policy returns it from its method ``judges(limits)``, which it has in place of ``split``
    (``gbt.splitting.policy``). Then trees grow in compiled code, cuts lie at the edges of bins,
    and sets are drawn once a tree. Greedy trees have one set.
    """

    kind: int  # UNBIASED or CROSS_VALIDATED
    n_parts: int  # of equal size, into which the rows of a tree are divided
    n_sets: int  # that these make up: the last takes all parts from its number on
    min_rows_of_all: int = 0  # that every sum must have on either side of any cut
    pools: bool = False  # whether trees have a drawn depth, see ``gbt.kernels.trees.experience``


# How a policy judges. A record, because it changes from tree to tree.
HABITS = np.dtype(
    [
        *((name, np.int64) for name in Judges._fields),
        ("n_sums", np.int64),
        ("n_searched", np.int64),  # the first sums, for which the best cuts are found
        ("splits", np.int64),  # the sum whose best cut splits the node
        ("max_depth", np.int64),  # of any tree
    ]
)

# Each thread's own arrays, with room for as many sets as there may be, so that they have one type.
JUDGE = np.dtype(
    [
        ("left", np.int64, (MOST_SUMS, 3, MOST_CUTS)),  # sums left of the cuts
        ("row", np.int64, (MOST_CUTS,)),  # the bin before each
        ("sizes", np.int64, (MOST_CUTS,)),  # of all sets in a bin, or-ed: 0 where it is empty
        ("score", np.float64, (2, MOST_CUTS)),  # of the cuts, missing rows on the right and left
        ("missing", np.int64, (MOST_SUMS, 3)),
        ("nothing", np.int64, (MOST_SUMS, 3)),  # all 0
        ("total", np.int64, (MOST_SUMS, 3)),
        ("left_of_best", np.int64, (MOST_SUMS, MOST_SUMS, 3)),  # of each best cut all sums
        ("best", CUT, (MOST_SUMS,)),
    ],
    align=True,
)


class Judging(NamedTuple):
    """What growing needs where rows are divided into sets."""

    habits: np.ndarray  # (1,) HABITS
    set_of_row: np.ndarray  # (n,) uint8, by row of the table
    judges: np.ndarray  # (threads,) JUDGE
    deals: np.ndarray  # (threads,) DEAL, see ``gbt.kernels.trees.drawing``
    scores: np.ndarray  # (trees, p) float64, what the splits looked at were worth, by column
    # See ``gbt.kernels.trees.experience``:
    told: np.ndarray  # (threads * p * 2,) int64, by the tree that grows
    held_up: np.ndarray  # (K, 2, DEPTHS + p) float64, by those before; workers share it
