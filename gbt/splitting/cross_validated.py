"""Cross-validated: the feature whose cut does best on rows that did not choose it.

The rows of a node are divided at random into T folds. For each feature and fold t, the best cut is
found on all rows but the fold's, and judged on the fold's. With the values that the other rows give
to either side, v = -G / (H + lambda), the fold loses to second order

    loss_t = G_t,left v_left + H_t,left v_left^2 / 2  +  the same on the right

and nothing where the other rows allow no cut. A feature with many values finds a good cut in any
noise, but that cut is as bad as any other on the fold. The feature of least loss over all folds is
chosen and cut where all rows of the node gain most; the node stays a leaf unless

    -2 sum_t loss_t  >=  G^2 / (H + lambda) + min_split_gain

that is, unless the split is better on rows that it has not seen than no split on rows that it has.

Where columns have directions (``gbt.splitting.monotone``), the steps v of the other rows and of all
are kept within bounds, and in order.

For the squared error and lambda = 0 this is the rule of Adler and Painsky, "Feature Importance in
Gradient Boosting Trees with Cross-Validation Feature Selection", Entropy 24 (2022) 687, where the
left side is the node's sum of squares less the cross-validated one. As in their program boosting
ends with the first tree that is a single leaf, unless trees see samples of rows or columns. Unlike
there, folds are by default drawn once a tree and the same for all features, and the logistic loss
keeps its hessians.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from gbt.kernels.cuts.levels import G, H
from gbt.kernels.cuts.sets import CROSS_VALIDATED, MOST_SETS
from gbt.splitting.cuts import Cuts, Sets, best_cuts
from gbt.splitting.frontier import Frontier, Limits, Splits, random_parts
from gbt.splitting.greedy import node_score
from gbt.splitting.judges import Judges


@dataclass(frozen=True)
class CrossValidated:
    """Split on the feature of least cross-validated loss.

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds, from 2 to 255.
    shared_folds : bool, default=True
        Whether all features of a node are judged on the same folds. The authors' program draws
        folds for every feature, which takes longer and adds noise to the comparison.
    stop_at_stub : bool, default=True
        Whether boosting ends with the first tree without a split, where all trees see all rows and
        columns. With ``subsample`` or ``colsample`` boosting goes on, since the next tree may find
        a split in other rows or columns.
    exact_cuts : bool, default=False
        Whether every cut between two distinct values is scanned, and folds are drawn anew for every
        node. That takes many times as long. By default cuts lie at the edges of at most 256 bins of
        a column, which is every cut where it has no more values, and folds are drawn once a tree.
        Every cut is also scanned where features have folds of their own, and with more than 16
        folds.
    """

    n_folds: int = 5
    shared_folds: bool = True
    stop_at_stub: bool = True
    exact_cuts: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.n_folds, Integral) and 2 <= self.n_folds <= 255):
            raise ValueError(f"n_folds must be an integer in [2, 255]; got {self.n_folds!r}.")

    @property
    def keeps_directions(self) -> bool:
        """Whether monotone constraints are kept: where folds are searched by histograms."""
        return not self.exact_cuts and self.shared_folds and self.n_folds <= MOST_SETS

    def judges(self, limits: Limits) -> Judges | None:
        """Return the request to the histogram search; None if every cut is to be scanned."""
        if not self.keeps_directions:
            return None
        sums = self._sums()
        n_sums = len(sums)
        return Judges(CROSS_VALIDATED, self.n_folds, sums, n_searched=n_sums, splits=n_sums - 1)

    def _sums(self) -> np.ndarray:
        """Return which folds each sum takes: all but the first, ..., all but the last, all."""
        return np.concatenate([~np.eye(self.n_folds, dtype=bool), np.ones((1, self.n_folds), bool)])

    def check_rows(self, n: int, limits: Limits) -> None:
        """Raise ValueError if trees see too few rows for a row in every fold of the root."""
        if n < self.n_folds:
            raise ValueError(
                "splitter='cross_validated' divides the rows of a tree into"
                f" n_folds={self.n_folds} folds: at least {self.n_folds} rows; got {n}."
            )

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the split of every open node of the frontier."""
        folds = random_parts(
            frontier, self.n_folds, None if self.shared_folds else len(frontier.features)
        )
        sums = self._sums()
        sets = Sets(folds, sums, n_searched=len(sums), splits=len(sums) - 1)
        cuts = best_cuts(frontier, limits, n_jobs, sets)

        nodes = np.arange(len(frontier))
        own, least_gain = node_score(cuts.total[0, :, -1], frontier, limits)
        loss = held_out_loss(cuts, limits.reg_lambda * frontier.derivatives.hessian_scale)
        loss[cuts.score[:, :, -1] == -np.inf] = np.inf  # all rows allow no cut
        best = loss.argmin(axis=0)  # of equals the lowest feature
        improvement = -2 * loss[best, nodes] - own
        gain = cuts.score[best, nodes, -1] - own
        least = frontier.derivatives.in_units(limits.min_split_gain)
        is_split = (improvement >= least) & (gain > least_gain)
        return cuts.choose(best, is_split, improvement)


def held_out_loss(cuts: Cuts, penalty: float) -> np.ndarray:
    """Return sum_t loss_t, of shape (K, J), of cuts for all but each of T folds, and for all rows.

    ``penalty`` is lambda in the units of the hessians.
    """
    n_folds = cuts.score.shape[2] - 1
    loss = np.zeros(cuts.score.shape[:2])
    for t in range(n_folds):
        left, total = cuts.left[:, :, t], cuts.total
        others_left, others = left[:, :, t], total[:, :, t]
        fold_left, fold = left[:, :, -1] - others_left, total[:, :, -1] - others
        of_fold = np.zeros(loss.shape)
        for learned, judged in ((others_left, fold_left), (others - others_left, fold - fold_left)):
            g, h = learned[..., G].astype(np.float64), learned[..., H].astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                value = -g / (h + penalty)
                of_fold += judged[..., G] * value + judged[..., H] * value * value / 2
        loss += np.where(cuts.score[:, :, t] > -np.inf, of_fold, 0.0)
    return loss
