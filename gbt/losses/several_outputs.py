"""Losses of several raw predictions a row: K classes, or K targets.

Trees come in rounds of K: tree m adds to output m mod K, and all trees of a round are grown on the
derivatives before the round. Of the K x K second derivatives only those on the diagonal are used.

``Softmax``, y in 0 .. K - 1, with p_k = exp(f_k) / (exp(f_1) + ... + exp(f_K)):

    value -log p_y        gradient p_k - [y = k]        hessian max(c p_k (1 - p_k), 1e-16)

c = 2 is XGBoost's (``src/objective/multiclass_obj.cu``: ``fmax(2 p (1 - p), 1e-16)``), which makes
steps half as long as c = 1 would; with two classes it is the curvature of moving one raw prediction
up and the other down. LightGBM has c = K / (K - 1), scikit-learn 1.

Raw predictions have the shape (n, K) here, or (T, n, K) before each of T rounds.
"""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from gbt.losses.loss import Loss, Pair
from gbt.losses.squared_and_logistic import LOSSES
from gbt.losses.sums import exact_sum

LEAST_HESSIAN = 1e-16


class SeveralOutputs(Loss):
    """The base of both losses: raw predictions have K columns."""

    def check_shape(self, y: np.ndarray, raw_prediction: np.ndarray) -> None:
        if raw_prediction.shape[-2:] != (len(y), self.n_outputs):
            raise ValueError(
                f"y has shape {y.shape}, raw predictions {raw_prediction.shape}; they need"
                f" {self.n_outputs} columns."
            )


@dataclass(frozen=True)
class Softmax(SeveralOutputs):
    """Log loss of a class 0 .. K - 1; raw predictions are log p_k, shifted alike.

    Parameters
    ----------
    n_outputs : int
        K, the number of classes.
    hessian_factor : float
        c, see the module's docstring.
    """

    n_outputs: int = 3
    hessian_factor: float = 2.0

    name = "softmax"
    metric = "log loss"

    def __post_init__(self) -> None:
        if self.n_outputs < 2 or not 0 < self.hessian_factor < np.inf:
            raise ValueError(
                "softmax needs two classes or more and a hessian_factor in (0, inf); got"
                f" {self.n_outputs} and {self.hessian_factor}."
            )

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        shifted = raw_prediction - raw_prediction.max(axis=-1, keepdims=True)
        own = np.take_along_axis(shifted, y.astype(np.intp)[:, np.newaxis], axis=-1)[..., 0]
        return np.log(np.exp(shifted).sum(axis=-1)) - own

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        p = self.inverse_link(raw_prediction)
        hessian = self.hessian_factor * p
        hessian *= 1 - p
        np.maximum(hessian, LEAST_HESSIAN, out=hessian)
        p[..., np.arange(len(y)), y.astype(np.intp)] -= 1
        return p, hessian

    def link(self, prediction: ArrayLike) -> np.ndarray:
        if np.shape(prediction) != (self.n_outputs,):
            raise ValueError(
                f"base_score={prediction!r} is the probability of one of two classes; with"
                f" {self.n_outputs} classes it must be None, which stands for their shares."
            )
        return np.log(prediction)

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        p = np.exp(raw_prediction - raw_prediction.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        return p

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the logarithms of the shares of the classes."""
        each = np.broadcast_to(weight, y.shape)
        shares = np.array([exact_sum(each[y == k]) for k in range(self.n_outputs)])
        with np.errstate(divide="ignore"):
            return np.log(shares / exact_sum(each))

    def check_target(self, y: np.ndarray) -> None:
        wrong = ~np.isin(y, np.arange(self.n_outputs))
        if wrong.any():
            raise ValueError(
                f"y must hold numbers of classes, 0 to {self.n_outputs - 1}; it holds"
                f" {y[wrong][0]:g}."
            )


@dataclass(frozen=True)
class SeveralTargets(SeveralOutputs):
    """A loss of one output for each of K targets, added up; y has the shape (n, K)."""

    n_outputs: int = 2
    of_each: str = "half_squared_error"

    name = "several_targets"
    metric = "sum of losses"

    @property
    def loss(self) -> Loss:
        return LOSSES[self.of_each]

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return self.loss.value(y, raw_prediction).sum(axis=-1)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        pairs = [
            self.loss.gradient_hessian(
                np.ascontiguousarray(y[:, k]), np.ascontiguousarray(raw_prediction[..., k])
            )
            for k in range(self.n_outputs)
        ]
        gradient, hessian = (np.stack(part, axis=-1) for part in zip(*pairs, strict=True))
        return gradient, hessian

    def link(self, prediction: ArrayLike) -> np.ndarray:
        return np.array([self.loss.link(number) for number in np.asarray(prediction)])

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return self.loss.inverse_link(raw_prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.array([self.loss.best_constant(column, weight) for column in y.T])

    def check_target(self, y: np.ndarray) -> None:
        if y.ndim != 2 or y.shape[1] != self.n_outputs:
            raise ValueError(
                f"y has shape {y.shape}; the model has {self.n_outputs} targets a row."
            )


@dataclass(frozen=True)
class OneOutput(Loss):
    """The loss of the trees of one output: it refuses, because it would need all outputs."""

    loss: Loss
    output: int

    metric = "loss"

    @property
    def name(self) -> str:
        """Which output, of what loss."""
        return f"output {self.output} of {self.loss.name}"

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> NoReturn:
        raise ValueError(
            f"The trees of {self.name} were grown on gradients that take the raw predictions of all"
            " outputs; give the whole model."
        )

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> NoReturn:
        self.derivatives(y, raw_prediction)
