r"""The loss of accelerated failure time: at what time the event comes (Wei 1992).

The logarithm of the time is the raw prediction f and noise of a given law (``laws``)::

    log T  =  f  +  scale Z                 z = (log t - f) / scale

What is known of T is an interval: one moment, if the event was seen there; all that comes after t,
if it has not come by then; all before t, if it had come when one first looked; from one visit to
the next, if it came between them. With phi the density of Z and P the probability of the interval::

                 the event is seen at t                T lies between two bounds
    value        -log( phi(z) / (scale t) )            -log P
    gradient     (d log phi / dz) / scale              (d log P / dz) / scale
    hessian      -(d^2 log phi / dz^2) / scale^2       -(d^2 log P / dz^2) / scale^2

All of it is convex in f. ``predict`` returns e^f, as XGBoost does: with the normal and the logistic
law the time by which half of such rows have had the event, with the extreme law 63 % of them.

The hessian is the larger one of those at f and at the prediction nearest to f within the interval:
far off, Newton's step with that at f alone may be e^(distance) times too long, as ``gbt.losses``
tells of Poisson's loss. XGBoost and CatBoost have that at f, and clip it to at most 15 and
gradients to [-15, 15] (``is_newton``): for the normal law hessians are clipped at all scales below
0.26. Where P is below 1e-12 or so their derivatives of intervals are rounding errors; those here
are not.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.losses.amounts import LogLink
from gbt.losses.loss import Pair, root_between
from gbt.losses.sums import exact_sum
from gbt.losses.survival.concordance import concordance
from gbt.losses.survival.laws import LARGEST, LAWS, Law
from gbt.losses.survival.times import as_bounds, check_bounds

LEAST_HESSIAN, STEEPEST = 1e-16, 15.0  # XGBoost's and CatBoost's


@dataclass(frozen=True)
class Aft(LogLink):
    """The negative log-likelihood of accelerated failure time.

    Parameters
    ----------
    distribution : {"normal", "logistic", "extreme"}
        The law of the noise.
    scale : float
        What it is multiplied by, above 0.
    is_newton : bool
        Whether derivatives are those of XGBoost and CatBoost: the hessian is the second derivative,
        and both are clipped.
    """

    distribution: str = "normal"
    scale: float = 1.0
    is_newton: bool = False

    name = "aft"
    metric = "AFT loss"
    name_of_score = "concordance"
    has_pairs = True

    def __post_init__(self) -> None:
        if self.distribution not in LAWS:
            raise ValueError(f"distribution must be one of {[*LAWS]}; got {self.distribution!r}.")
        if not 0 < self.scale < np.inf:
            raise ValueError(f"scale must be a number in (0, inf); got {self.scale!r}.")

    @property
    def law(self) -> Law:
        return LAWS[self.distribution]

    def as_pairs(self, y: Any) -> np.ndarray:
        return as_bounds(y)

    def check_target(self, y: np.ndarray) -> None:
        check_bounds(y)

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return self._value(y, *self._bounds(y, raw_prediction))

    def _value(self, y: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the loss for bounds of z; those of an interval may have been rounded to one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            per_time = -np.log(self.scale * y[:, 0])
            log_size = np.where(y[:, 0] == y[:, 1], per_time, np.log(self._width(y)))
            of_moment = self.law.log_density(low) + log_size
        return -np.where(low == high, of_moment, self.law.log_probability(low, high))

    def _width(self, y: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.subtract(*np.log(y.T[::-1])) / self.scale

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        with np.errstate(divide="ignore"):
            lower, upper, raw_prediction = np.broadcast_arrays(*np.log(y.T), raw_prediction)
        gradient, hessian = self._moved(lower, upper, raw_prediction)
        if self.is_newton:
            gradient = np.clip(gradient, -STEEPEST, STEEPEST)
            return gradient, np.clip(hessian, LEAST_HESSIAN, STEEPEST)
        within = np.clip(raw_prediction, lower, upper)
        out = within != raw_prediction
        _, hessian_within = self._moved(lower[out], upper[out], within[out])
        hessian[out] = np.maximum(hessian[out], hessian_within)
        return gradient, np.maximum(hessian, LEAST_HESSIAN)

    def _moved(self, lower: np.ndarray, upper: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        """Return both derivatives by f, of which the bounds of log T are given."""
        low, high = (lower - raw_prediction) / self.scale, (upper - raw_prediction) / self.scale
        gradient, hessian = self.law.moved(low, high)
        return gradient / self.scale, hessian / self.scale**2

    def _bounds(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        """Return z of the lower and of the upper bounds."""
        with np.errstate(divide="ignore"):
            lower, upper = np.log(y.T)
        return (lower - raw_prediction) / self.scale, (upper - raw_prediction) / self.scale

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        """Return where the gradients add up to 0; if most rows are censored, beyond all bounds."""
        sides = ("an upper", "before", np.isinf(y[:, 1])), ("a lower", "after", y[:, 0] == 0)
        for side, when, is_open in sides:
            if is_open.all():
                raise ValueError(
                    f"y has no row with {side} bound: no event is known to have come {when} any"
                    " time, and no time fits best."
                )

        def slope(f: float) -> float:
            gradient, _ = self.law.moved(*self._bounds(y, np.full(len(y), f)))
            return exact_sum(weight * gradient)

        bounds = np.log(y[(y > 0) & np.isfinite(y)])
        low, high = bounds.min(), bounds.max()
        step = max(high - low, self.scale)
        while slope(low) > 0:
            low, step = low - step, 2 * step
        while slope(high) < 0:
            high, step = high + step, 2 * step
        return float(root_between(low, high, slope))

    def least(self, y: np.ndarray) -> np.ndarray:
        """Return the loss of rows at the prediction that suits each of them best."""
        width = self._width(y)
        low = self.law.best_start(np.clip(width, 1e-300, LARGEST))
        is_open = np.isinf(width)
        of_interval = self._value(y, low, low + np.where(is_open, LARGEST, width))
        return np.where(is_open, 0.0, of_interval)

    def score(self, y: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> float:
        return concordance(y, -prediction, weight)
