"""Judges: the request of a policy that divides rows into sets to the histogram search.

A policy either answers for every node (``gbt.splitting.frontier``) by its method ``split``, or has
a method ``judges(limits)`` in its place. Then trees grow in compiled code, cuts lie at the edges of
bins, and sets are drawn once a tree (``gbt.kernels.cuts.judging``). Greedy trees have one set.

A `Judges` tells the compiled code beforehand which sets the policy needs.
"""

from typing import NamedTuple


class Judges(NamedTuple):
    """Which sets of rows there are, and how they judge."""

    kind: int  # ``UNBIASED`` or ``CROSS_VALIDATED`` of ``gbt.kernels.cuts.judging``
    n_parts: int  # of equal size, into which the rows of a tree are divided
    n_sets: int  # each part is a set, and the last set takes all parts that are left
    min_rows_of_all: int = 0  # that every set must have on either side of any cut
    pools: bool = False  # whether trees have a drawn depth, see ``gbt.kernels.trees.pooled``
