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

from gbt.kernels.derivatives import HALF_LOGISTIC, HALF_SQUARED_ERROR, write_derivatives


class Loss(Protocol):
    """What boosting and attributions need of a loss.

    Boosting itself takes derivatives by ``kind``, in kernels.
    """

    name: str
    metric: str
    kind: int  # that kernels know it by, see ``gbt.kernels.derivatives``
    has_one_hessian: bool  # for all rows and predictions

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the loss of every row."""
        ...

    def gradient_hessian(
        self,
        y: np.ndarray,
        raw_prediction: np.ndarray,
        out: np.ndarray | tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivative of every row's loss in its raw prediction.

        Parameters
        ----------
        y : float64 array of shape (n,)
        raw_prediction : float64 array of shape (n,) or (T, n)
            The second are those before each of T trees.
        out : two float64 arrays of raw_prediction's shape, C-contiguous, optional
            Where to put the two; else new arrays are made.
        """
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
    kind = HALF_SQUARED_ERROR
    has_one_hessian = True

    def value(self, y, raw_prediction):
        return 0.5 * (y - raw_prediction) ** 2

    def gradient_hessian(self, y, raw_prediction, out=None):
        return _derivatives(self.kind, y, raw_prediction, out)

    def link(self, prediction):
        return float(prediction)

    def inverse_link(self, raw_prediction):
        return raw_prediction


class HalfLogistic:
    """Log loss of a label 0 or 1; the raw prediction is the log-odds of 1."""

    name = "half_logistic"
    metric = "log loss"
    kind = HALF_LOGISTIC
    has_one_hessian = False

    def value(self, y, raw_prediction):
        # -log p = log(1 + exp(-f)), -log q = log(1 + exp(f))
        return y * np.logaddexp(0.0, -raw_prediction) + (1 - y) * np.logaddexp(0.0, raw_prediction)

    def gradient_hessian(self, y, raw_prediction, out=None):
        return _derivatives(self.kind, y, raw_prediction, out)

    def link(self, prediction):
        return float(logit(prediction))

    def inverse_link(self, raw_prediction):
        return expit(raw_prediction)


def _derivatives(kind, y, raw_prediction, out):
    """Return the derivatives of a loss that kernels know."""
    if raw_prediction.shape[-1:] != y.shape:  # the kernel does not ask
        raise ValueError(f"y has shape {y.shape}, raw predictions {raw_prediction.shape}.")
    gradient, hessian = np.empty((2, *raw_prediction.shape)) if out is None else out
    if len(y) > 0:
        f, g, h = raw_prediction, gradient, hessian
        if f.ndim > 1:
            f, g, h = f.reshape(-1), g.reshape(-1), h.reshape(-1)
        write_derivatives(kind, y, f, g, h)
    return gradient, hessian


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HalfSquaredError(), HalfLogistic())}


def best_constant(y: np.ndarray, sample_weight: np.ndarray) -> float:
    """Return the prediction that, given to every row, has the least loss.

    For both losses here it is the weighted mean: sum w (f - y) = 0 and sum w (p - y) = 0. One
    weight stands for all rows.
    """
    return float(np.average(y, weights=sample_weight if len(sample_weight) == len(y) else None))
