"""Judges: what a policy that divides rows into sets asks of the histogram search.

A policy either finds the best cuts of every node itself, by a scan of all cuts
(``gbt.splitting.cuts``), or trees grow in compiled code, in which cuts lie at the edges of bins and
sets are drawn once a tree (``gbt.kernels.cuts.judging``). For that it says beforehand, with a
`Judges`, what it would have asked.
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
        Parts of equal size that the rows of a tree are divided into. Each is a set, but the last
        set takes all that are left.
    sums : bool array of shape (L, S)
        Whether sum l takes set s.
    n_searched, splits : int
        As in `gbt.splitting.cuts.Sets`.
    min_rows_of_all : int
        As in `gbt.splitting.cuts.best_cuts`.
    """

    kind: int
    n_parts: int
    sums: np.ndarray
    n_searched: int
    splits: int = 0
    min_rows_of_all: int = 0

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return self.sums.shape[1]
