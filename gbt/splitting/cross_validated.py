"""Cross-validated: the feature whose cut does best on rows that did not choose it.

The rows of a tree are divided at random into T folds. For each feature of a node and fold t, the
best cut is found on all rows but the fold's, and judged on the fold's. With the values that the
other rows give to either side, v = -G / (H + lambda), the fold loses to second order

    loss_t = G_t,left v_left + H_t,left v_left^2 / 2  +  the same on the right

and nothing where the other rows allow no cut. A feature with many values finds a good cut in any
noise, but that cut is as bad as any other on the fold. The feature of least loss over all folds is
chosen and cut where all rows of the node gain most; the node stays a leaf unless

    -2 sum_t loss_t  >=  G^2 / (H + lambda) + min_split_gain

that is, unless the split is better on rows that it has not seen than no split on rows that it has;
and the cut must gain on all rows, too.

Where columns have directions (``gbt.splitting.monotone``), the steps v of the other rows and of all
are kept within bounds, and in order.

For the squared error and lambda = 0 this is the rule of Adler and Painsky, "Feature Importance in
Gradient Boosting Trees with Cross-Validation Feature Selection", Entropy 24 (2022) 687, where the
left side is the node's sum of squares less the cross-validated one. As in their program boosting
ends with the first tree that is a single leaf, unless trees see samples of rows or columns. Unlike
there, folds are drawn once a tree and the same for all features, numbers are cut at the edges of at
most 256 bins, and the logistic loss keeps its hessians. (``benchmarks.papers.cvb.folds`` has the
paper's own folds.)
"""

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np

from gbt.kernels.cuts.sets import CROSS_VALIDATED, MOST_SETS, Judges
from gbt.splitting.policy import Limits


@dataclass(frozen=True)
class CrossValidated:
    """Split on the feature of least cross-validated loss.

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds, from 2 to 16.
    stop_at_stub : bool, default=True
        Whether boosting ends with the first tree without a split, where all trees see all rows and
        columns and boosting starts from the best constant. With ``subsample`` or ``colsample`` it
        goes on, since the next tree may find a split in other rows or columns; from a start of
        one's own, since trees without a split learn the level.
    """

    keeps_directions: ClassVar[bool] = True

    n_folds: int = 5
    stop_at_stub: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.n_folds, Integral) and 2 <= self.n_folds <= MOST_SETS):
            raise ValueError(
                f"n_folds must be an integer in [2, {MOST_SETS}]; got {self.n_folds!r}."
            )
        if not isinstance(self.stop_at_stub, bool | np.bool_):
            raise ValueError(f"stop_at_stub must be True or False; got {self.stop_at_stub!r}.")

    def judges(self, limits: Limits) -> Judges:
        """Return the request to the histogram search."""
        return Judges(CROSS_VALIDATED, self.n_folds, self.n_folds)

    def check_rows(self, n: int, limits: Limits) -> None:
        """Raise ValueError if trees see too few rows for a row in every fold of the root."""
        if n < self.n_folds:
            raise ValueError(
                "splitter='cross_validated' divides the rows of a tree into"
                f" n_folds={self.n_folds} folds: at least {self.n_folds} rows; got {n}."
            )
