"""Judges: the request of a policy that divides rows into sets to the histogram search.

A policy either answers for every node itself (``gbt.splitting.frontier``), or trees grow in
compiled code, in which cuts lie at the edges of bins and sets are drawn once a tree
(``gbt.kernels.cuts.judging``). Such a policy has a method ``judges(limits)`` in place of ``split``.
A `Judges` tells the compiled code beforehand which sets and sums the policy needs.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Judges:
    """Which sets of rows there are, which of them choose, and who judges.

    Parameters
    ----------
    kind : int
        ``UNBIASED`` or ``CROSS_VALIDATED`` of ``gbt.kernels.cuts.judging``.
    n_parts : int
        Number of equal parts into which the rows of a tree are divided. Each part is a set, and the
        last set takes all parts that are left.
    sums : bool array of shape (L, S)
        Whether sum l takes set s.
    n_searched, splits : int
        As in `gbt.splitting.cuts.Sets`.
    min_rows_of_all : int
        As in `gbt.splitting.cuts.best_cuts`.
    pools : bool
        Whether every second tree asks no node, see ``gbt.kernels.trees.pooled``.
    """

    kind: int
    n_parts: int
    sums: np.ndarray
    n_searched: int
    splits: int = 0
    min_rows_of_all: int = 0
    pools: bool = False

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return self.sums.shape[1]
