"""Greedy: the cut of largest gain over all cuts of all features.

What XGBoost calls the exact method, and what every other policy is measured against::

    gain = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda)

Of equal gains the lowest feature is taken, then the highest cut.

`Greedy.split` answers like any other policy. In fits ``gbt.training.histogram_growth`` grows whole
trees instead, the same ones to the last bit but faster by an order of magnitude, because histograms
are kept and bounds spare it most cuts.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from gbt.kernels.cuts.levels import G, H
from gbt.kernels.cuts.scores import ROUNDING
from gbt.splitting.cuts import Cuts, best_cuts
from gbt.splitting.monotone import score_of_steps, steps_within
from gbt.splitting.policy import Frontier, Limits, Splits


class Greedy:
    """Split every node where the gain is largest."""

    keeps_directions: ClassVar[bool] = True

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the split of every open node of the frontier."""
        return largest_gain(best_cuts(frontier, limits, n_jobs), frontier, limits)


def largest_gain(cuts: Cuts, frontier: Frontier, limits: Limits) -> Splits:
    """Return for every node, of the best cuts of its columns, the one that gains most."""
    score = cuts.score[:, :, 0]
    best = score.argmax(axis=0)  # of equals the lowest feature
    nodes = np.arange(len(frontier))
    own, least_gain = node_score(cuts.total[0, :, 0], frontier, limits)
    gain = score[best, nodes] - own
    # Without candidates no scores are added up: nodes keep the gains, which are the scores here.
    return replace(cuts.choose(best, gain > least_gain, gain), candidate=None)


def node_score(
    totals: np.ndarray, frontier: Frontier, limits: Limits
) -> tuple[np.ndarray, np.ndarray]:
    """Return G^2 / (H + lambda) of every node, and the gain that a split must exceed.

    Where nodes have bounds, the score is that of the step within them.

    ``totals``, int64 of shape (J, 3), are the sums of g, h and rows.
    """
    derivatives = frontier.derivatives
    penalty = limits.reg_lambda * derivatives.hessian_scale  # in the units of the integers
    weight = totals[:, H].astype(np.float64) + penalty
    g = totals[:, G].astype(np.float64)
    magnitude = np.array(
        [np.abs(derivatives.gradient[frontier.rows_of(j)]).sum() for j in range(len(frontier))],
        dtype=np.float64,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        score = g * g / weight
        if frontier.bounds is not None:
            step = steps_within(totals, penalty, frontier.bounds)
            score = score_of_steps(totals, penalty, step)
            magnitude += weight * np.abs(step)  # a step at a bound can be longer than the node's
        rounding = ROUNDING * (magnitude * magnitude / weight)
    least_gain = np.maximum(derivatives.in_units(limits.min_split_gain), rounding)
    has_weight = weight > 0
    return np.where(has_weight, score, 0.0), np.where(has_weight, least_gain, np.inf)
