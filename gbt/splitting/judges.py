"""Judges: how a policy that divides rows into sets is handed to the histogram search.

Such a policy either asks for the best cuts of every node, scanning all cuts (``gbt.splitting.cuts``),
or lets whole trees grow in compiled code (``gbt.kernels.judging``), where cuts lie at the edges of
bins and sets are drawn once a tree. For the second it says with `Judges` what it would ask.
"""

from dataclasses import dataclass

import numpy as np

from gbt.kernels.drawing import DEAL
from gbt.kernels.judged_levels import LEVELS_OF_SETS
from gbt.kernels.judging import HABITS, JUDGE, Judging
from gbt.kernels.nodes import records


@dataclass(frozen=True, eq=False)
class Judges:
    """What a policy asks of the histogram search.

    Parameters
    ----------
    kind : int
        ``UNBIASED`` or ``CROSS_VALIDATED`` of ``gbt.kernels.judging``.
    n_parts : int
        Parts of equal size that the rows of a tree are divided into. Parts and sets have the same
        numbers, but for parts beyond the last set, which belong to it.
    sums : bool array of shape (L, S)
        Whether sum l takes set s.
    n_searched, splits, min_rows_of_all : int
        See `gbt.splitting.cuts.Sets` and `gbt.splitting.cuts.best_cuts`.
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

    def lay_out(
        self, n_rows: int, n_columns: int, n_threads: int, n_trees: int, seed: int
    ) -> Judging:
        """Return the memory of the kernels, for so many trees a call."""
        habits = records(1, HABITS)
        habits["kind"], habits["n_parts"], habits["n_sets"] = self.kind, self.n_parts, self.n_sets
        habits["n_sums"], habits["n_searched"] = len(self.sums), self.n_searched
        habits["splits"], habits["min_rows_of_all"] = self.splits, self.min_rows_of_all
        habits["seed"], habits["first_tree"] = seed % 2**64, 0
        judges = _zeros(n_threads, JUDGE)
        return Judging(
            habits=habits,
            takes=-self.sums.astype(np.int64),
            set_of_row=np.zeros(n_rows, dtype=np.uint8),
            judges=judges,
            deals=_zeros(n_threads, DEAL),
            of_levels=_zeros(n_threads, LEVELS_OF_SETS),
            scores=np.empty((n_trees, n_columns)),
        )


def _zeros(n: int, dtype: np.dtype) -> np.ndarray:
    """Return n records of zeros, which take memory only where they are written to."""
    zeros = np.zeros(n, dtype)
    return zeros if type(records(0, dtype)) is np.ndarray else zeros.view(np.recarray)
