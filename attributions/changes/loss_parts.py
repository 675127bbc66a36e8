r"""The loss of a model on some rows, divided: the target's spread, features, level, what is left.

A row's loss, counted from that of a perfect prediction, is on average

    loss  =  spread  -  sum_k gain_k  +  level  +  left over

*spread* is the loss of the best constant prediction: how much there is to explain. *gain_k* is what
feature k saves, to first order: its held-out gain in loss a row. *level* is what the best constant,
added to all predictions, would still save: predictions that are too high or too low as a whole.
The rest is *left over*, by definition, so that the sum is exact.

*When nothing is left over.* Let the loss be half the squared error, f = b + sum_k F_k, and let

    gain_k  =  Cov(F_k, y - sum_{j != k} F_j) / 2

which is what held-out gain comes to where the features have learned what they can. With the level
right, loss = Var(y - f) / 2 and spread = Var(y) / 2. Writing both out,

    left over  =  - 1/2 sum_k Cov(F_k, y - F_k)

So nothing is left over if every F_k is what y looks like along feature k: Cov(F_k, y) = Var(F_k).
It is above 0 where the model learned noise (Cov(F_k, y) < Var(F_k)), below 0 where it stopped
early, and for correlated features, each of which is right given the others, it is minus half the
sum of the covariances of F_k with the others' work.

*Other losses* are not squares: gain_k takes half the slope at the start of a feature's way for the
mean slope along it, which is right where the second derivative is the same along the way. For the
logistic loss it is so for small contributions, where p (1 - p) hardly changes, and what the bend of
the loss adds is left over. With several outputs, no level is taken apart: it is left over, too.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from attributions.changes.worth import Worth, worth_of
from attributions.held_out.constant_loss import Targets, least_loss
from attributions.held_out.rows_at_splits import RowsAtSplits

SPREAD, LEVEL, LEFT = "(target's spread)", "(level)", "(left over)"
MOST_DOUBLINGS = 60  # of the shift that is looked for


def loss_parts(rows: RowsAtSplits, n_jobs: int | None, size: int | None = None) -> Worth:
    """Return the parts of the loss a row: spread, level, left over, minus gains; last, the loss.

    Gains are judged in pieces of ``size`` rows, as ``attributions.changes.worth`` says.
    """
    loss, weight = rows.ensemble.loss, rows.weight
    if not loss.is_by_row:
        raise ValueError(
            f"Under the {loss.name} loss rows depend on each other, and no row has a loss of its"
            " own that could have changed. held_out_gain(..., by=labels) takes such models."
        )
    worth = worth_of(rows, "loss", n_jobs, size)
    raw = rows.ensemble.raw_predict(rows.X, n_jobs, rows.init_score)
    of_row = loss.value(rows.y, raw)
    level = of_row - loss.value(rows.y, raw + best_shift(loss, rows.y, raw, weight))
    of_row = weight * (of_row - least_loss(loss, rows.y))
    spread = Targets(rows.y, weight).excess(loss)
    known = np.column_stack([spread, weight * level, of_row])
    values = known.sum(axis=0) / weight.sum()
    moved_by = (known - np.outer(weight, values)) / weight.sum()
    if rows.groups is not None:
        _, moved_by = rows.groups.within(slice(0, len(weight)), moved_by)
    n = len(moved_by)
    left = values[2] - values[0] - values[1] + worth.values.sum()
    left_moved = moved_by[:, 2] - moved_by[:, 0] - moved_by[:, 1] + worth.moved_by.sum(axis=1)
    return Worth(
        np.concatenate([values[:2], [left], -worth.values, values[2:]]),
        np.column_stack([moved_by[:, :2], left_moved, -worth.moved_by, moved_by[:, 2:]]),
        worth.draws,
        np.concatenate([[n, n], worth.n_draws[:1], worth.n_draws, [n]]),
    )


def best_shift(loss: Any, y: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
    """Return what to add to all raw predictions of one output for the least loss; 0 for several."""
    if raw.ndim > 1:
        return 0.0

    weight = weight / weight.max()  # only the sign of a slope counts

    def slope(shift: float) -> float:
        return float((weight * loss.gradient_hessian(y, raw + shift)[0]).sum())

    at_rest = slope(0.0)
    if at_rest == 0:
        return 0.0
    far = -np.sign(at_rest) * float(np.finfo(np.float32).eps) * (1.0 + float(np.abs(raw).max()))
    for _ in range(MOST_DOUBLINGS):
        if slope(far) * at_rest <= 0:
            return float(brentq(slope, min(0.0, far), max(0.0, far)))
        far *= 2
    return 0.0  # rows of one class have no best shift
