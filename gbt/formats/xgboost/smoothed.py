"""The derivatives on which XGBoost, from 3.4 on, grows trees of the absolute and quantile loss.

These losses have no curvature. XGBoost smooths both at a scale S that it computes from all rows
before every round, with residuals r = f - y and weights w::

    S = (sum of w sqrt|r| / sum of w)^2

    absolute     g = r S / sqrt(S^2 + r^2)               h = S / sqrt(S^2 + r^2)
    quantile(a)  g = S/2 (tanh(x) + 1 - 2 a)             h = 1/(2 c) max(tanh(x) / x, 3e-4)
                 with x = r / (c S) and c = 0.04

(``absolute_error_obj.cc`` and ``quantile_obj.cc`` of its source.) As the scale changes, these are
not the derivatives of a single loss, and new rows have no scale. So attributions use the loss
itself, and these derivatives serve one purpose: to recognise the training rows, since the model's
sums of hessians are made of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.losses.loss import Loss, Pair
from gbt.losses.robust import Absolute

QUANTILE_SCALE, LEAST_RATIO = 0.04, 3e-4


@dataclass(frozen=True, eq=False)
class Smoothed(Loss):
    """XGBoost's smoothed form of a loss for training rows of these weights, all above 0."""

    loss: Any  # `Absolute`, or `Quantile` with its alpha
    weight: np.ndarray

    name = "smoothed"

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        """Return gradient and hessian of all rows of a training."""
        residual = raw_prediction - y
        scale = np.average(np.sqrt(np.abs(residual)), weights=self.weight) ** 2
        if scale == 0:  # every row is predicted exactly
            return np.zeros_like(residual), np.full_like(residual, isinstance(self.loss, Absolute))
        if isinstance(self.loss, Absolute):
            curvature = scale / np.hypot(scale, residual)
            return residual * curvature, curvature
        x = residual / (QUANTILE_SCALE * scale)
        ratio = np.divide(np.tanh(x), x, out=np.ones_like(x), where=x != 0)
        gradient = 0.5 * scale * (np.tanh(x) + 1 - 2 * self.loss.alpha)
        return gradient, 0.5 / QUANTILE_SCALE * np.maximum(ratio, LEAST_RATIO)
