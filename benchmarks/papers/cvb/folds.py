"""Cross-validated splits as the paper draws them: folds of its own for every feature of every node.

The criterion is that of ``gbt.splitting.cross_validated``; here every cut between two distinct
values is looked at, in plain NumPy. It is also an example of a policy that divides rows into sets.
"""

from dataclasses import dataclass

import numpy as np

from gbt.kernels.cuts.levels import G, H
from gbt.splitting.cuts import Cuts, Sets, best_cuts
from gbt.splitting.greedy import node_score
from gbt.splitting.policy import Frontier, Limits, Splits


@dataclass(frozen=True)
class FoldsOfFeatures:
    """Split on the feature of least cross-validated loss, in ``n_folds`` folds of its own."""

    n_folds: int = 5
    stop_at_stub: bool = True

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the split of every open node of the frontier."""
        folds = random_folds(frontier, self.n_folds)
        # All but the first fold, ..., all but the last, all.
        sums = np.concatenate([~np.eye(self.n_folds, dtype=bool), np.ones((1, self.n_folds), bool)])
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


def random_folds(frontier: Frontier, n_folds: int) -> np.ndarray:
    """Return which fold every row of an open node is in, of shape (n_features, n), by row.

    Sizes differ by one row at most.
    """
    folds = np.zeros((len(frontier.features), frontier.columns.n_rows), dtype=np.uint8)
    for of_feature in folds:
        for j in range(len(frontier)):
            rows = frontier.rows_of(j)
            in_turn = np.arange(len(rows)) % n_folds
            of_feature[rows] = frontier.random.permutation(in_turn.astype(np.uint8))
    return folds


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
