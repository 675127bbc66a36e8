r"""The loss of the best constant prediction: importance in per cent is a share of it.

The constant is the one that has the least loss on the rows themselves, counted from the least that
any prediction could have, which is 0 for most losses but not for Poisson's, gamma's and Tweedie's,
nor for shares. To find it takes all targets: of chunks the distinct ones are kept, with the weight
of each, as long as there are no more than ``MOST_DISTINCT``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from gbt.losses.amounts import LogLink
from gbt.losses.loss import Loss
from gbt.losses.ranking import NDCG
from gbt.losses.squared_and_logistic import CrossEntropy
from gbt.losses.survival import Aft, Cox
from gbt.model.ensemble import Ensemble

MOST_DISTINCT = 2**20  # 16 MB travel from where the rows are


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets with their weights; None for both where distinct ones are too many to keep."""

    y: np.ndarray | None
    weight: Any

    def merge(self, other: "Targets") -> "Targets":
        """Return the distinct targets of both, which come from chunks."""
        if self.y is None or other.y is None:
            return Targets(None, None)
        both = np.concatenate([self.y, other.y])
        weight = np.concatenate([self.weight, other.weight])
        distinct, which = np.unique(both, axis=0, return_inverse=True)
        if len(distinct) > MOST_DISTINCT:
            return Targets(None, None)
        return Targets(distinct, np.bincount(which.reshape(-1), weight, minlength=len(distinct)))

    def constant_loss(self, loss: Loss) -> float | None:
        """Return the summed loss of the best constant; None where the targets are not known.

        0 where the constant is as good as a perfect prediction, as it is for rows of one class.
        """
        if self.y is None:
            return None
        counts = self.weight > 0
        counted = self if counts.all() else Targets(self.y[counts], self.weight[counts])
        with np.errstate(all="ignore"):
            # No ``@``: threads of BLAS wait in a loop, and slow down what is called next.
            excess = counted.excess(loss).sum()
        return float(excess) if np.isfinite(excess) and excess > 0 else 0.0

    def excess(self, loss: Loss) -> np.ndarray:
        """Return how much more loss the best constant has at each target than is needed, (n,).

        Of rows of one class the constant is infinite, and right.
        """
        y: Any = self.y
        weight = self.weight
        try:
            with np.errstate(all="ignore"):
                constant = loss.best_constant(y, weight)
                raw = np.ascontiguousarray(np.broadcast_to(constant, (len(y), *np.shape(constant))))
                y = loss.prepared(y, weight)
                if isinstance(loss, NDCG):
                    return weight * loss.at_start(y)
                excess = weight * (loss.value(y, raw) - least_loss(loss, y))
                return np.where(np.isnan(excess), 0.0, excess)
        except ValueError:  # targets of which all are 0 have no logarithm of their mean
            return np.zeros(len(y))


def percent_of_one(ensemble: Ensemble, targets: Targets, removes_own_work: bool) -> float | None:
    """Return how many per cent of the best constant's loss an importance of 1 stands for.

    Importance is in units of total gain: times the learning rate alpha it is the loss saved, to
    first order. TreeInner asks every step where the model stood before it, and its steps add up,
    to first order, to the way from the start of boosting to the model:

        100 alpha value / sum_i w_i L(y_i, constant)

    Held-out gain and the partial form ask where the model would be *without* feature k. From there
    the loss curves upwards along F_k, and with the squared error what is saved until the feature
    has done all its work is half of the slope at the start times the way, hence

        100 alpha value / (2 sum_i w_i L(y_i, constant))

    With the squared error that is 100 times the covariance of the feature's contributions with what
    they had to explain, over the variance of y: R^2 in per cent for a model of one feature that has
    learned all there is. For a feature that has barely begun to learn, it is half of the saving.
    """
    loss = targets.constant_loss(ensemble.loss)
    if not loss:
        return None
    return 100 * ensemble.learning_rate / (2 * loss if removes_own_work else loss)


def least_loss(loss: Loss, y: Any) -> Any:
    """Return the least loss that every target could have, at a prediction that is right."""
    if isinstance(loss, Aft | Cox):
        return loss.least(y)
    if isinstance(loss, CrossEntropy):
        return -(xlogy(y, y) + xlogy(1 - y, 1 - y))
    if isinstance(loss, LogLink):
        return loss.value(y, np.log(np.maximum(y, np.finfo(np.float64).tiny)))
    return 0.0
