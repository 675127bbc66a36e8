"""Losses of a raw prediction f against a target y, with their first two derivatives in f.

============================  ===========================  ============  ===============  =========
loss                          value                        gradient g    hessian h        f means
============================  ===========================  ============  ===============  =========
``HalfSquaredError``          (y - f)^2 / 2                f - y         1                mean
``HalfLogistic``, y in 0, 1   log(1 + exp(f)) - y f        p - y         p (1 - p)        log-odds
============================  ===========================  ============  ===============  =========

with p = 1 / (1 + exp(-f)). The names carry the constant: the squared error is halved, and so is the
binomial deviance. Sample weights are not a loss's business; whoever sums multiplies.
"""

from typing import Protocol

import numpy as np
from scipy.special import expit, logit


class Loss(Protocol):
    """What boosting and attributions need of a loss."""

    name: str
    metric: str

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the loss of every row."""
        ...

    def gradient_hessian(
        self, y: np.ndarray, raw_prediction: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivative of every row's loss in its raw prediction."""
        ...

    def link(self, prediction: float) -> float:
        """Turn a prediction (a mean, a probability) into a raw prediction."""
        ...

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Turn raw predictions into predictions."""
        ...


class HalfSquaredError:
    """Half the squared error; the raw prediction is the prediction."""

    name = "half_squared_error"
    metric = "half squared error"

    def value(self, y, raw_prediction):
        return 0.5 * (y - raw_prediction) ** 2

    def gradient_hessian(self, y, raw_prediction):
        return raw_prediction - y, np.ones_like(raw_prediction)

    def link(self, prediction):
        return float(prediction)

    def inverse_link(self, raw_prediction):
        return raw_prediction


class HalfLogistic:
    """Log loss of a label 0 or 1; the raw prediction is the log-odds of 1."""

    name = "half_logistic"
    metric = "log loss"

    def value(self, y, raw_prediction):
        # -log p = log(1 + exp(-f)), -log q = log(1 + exp(f))
        return y * np.logaddexp(0.0, -raw_prediction) + (1 - y) * np.logaddexp(0.0, raw_prediction)

    def gradient_hessian(self, y, raw_prediction):
        # Of p and q = 1 - p the larger is 1 / (1 + e), e = exp(-|f|), and the smaller e times that:
        # at f = 40 q is 4e-18, where 1 - p would be 0. One exp takes half the time of two expit.
        e = np.exp(-np.abs(raw_prediction))
        larger = 1 / (1 + e)
        smaller = e * larger
        is_likely = raw_prediction >= 0
        p, q = np.where(is_likely, larger, smaller), np.where(is_likely, smaller, larger)
        return (1 - y) * p - y * q, p * q

    def link(self, prediction):
        return float(logit(prediction))

    def inverse_link(self, raw_prediction):
        return expit(raw_prediction)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HalfSquaredError(), HalfLogistic())}


def best_constant(y: np.ndarray, sample_weight: np.ndarray) -> float:
    """Return the prediction that, given to every row, has the least loss.

    For both losses here it is the weighted mean: sum w (f - y) = 0 and sum w (p - y) = 0.
    """
    return float(np.average(y, weights=sample_weight))
