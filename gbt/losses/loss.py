"""Losses of a raw prediction f against a target y, with their first two derivatives in f.

============================  ===========================  ============  ===============  =========
loss                          value                        gradient g    hessian h        f means
============================  ===========================  ============  ===============  =========
``HalfSquaredError``          (y - f)^2 / 2                f - y         1                mean
``HalfLogistic``, y in 0, 1   log(1 + exp(f)) - y f        p - y         p (1 - p)        log-odds
``Poisson``, y >= 0           exp(f) - y f                 m - y         max(m, y)        log mean
``Gamma``, y > 0              y exp(-f) + f                1 - y / m     max(1, y / m)    log mean
``Quantile(a)``               a (y-f)+ + (1-a) (f-y)+      -a or 1 - a   1                quantile
``Absolute``                  abs(y - f)                   sign(f - y)   1                median
``Huber(d)``                  (y - f)^2 / 2, beyond d a    f - y within  1                centre
                              line                         -d and d
``PseudoHuber(d)``            d^2 (s - 1) with             (f - y) / s   1 / s^3          centre
                              s^2 = 1 + ((y - f)/d)^2
============================  ===========================  ============  ===============  =========

with p = 1 / (1 + exp(-f)), m = exp(f), and x+ what is positive of x. The names carry the constant:
the squared error is halved, and so is the binomial deviance. Sample weights are not a loss's
business; whoever sums multiplies. Two more losses are in ``gbt.amount_losses``, those of several
outputs in ``gbt.several_outputs``.

The hessians of `Poisson` and `Gamma` are not the second derivatives at the prediction, m and y / m,
but the largest between prediction and target. With the former, Newton's step -G/H would send a row
of 5000 that is predicted as 10 to 10 exp(499), from where it comes back by a learning rate a tree,
and by the gamma loss amounts near 0 as far down. With S = sum of y and M = sum of m over the rows
of a leaf, H is at least the larger of both, and the best step is log(S/M), so that

    -G/H = (S - M) / H      has the sign of log(S/M), and is at most 1 and at most abs(log(S/M)).

No tree goes beyond where its leaves are best, and the loss of the training rows never rises.
(`Gamma`: sums of y / m and of 1.) Models of other libraries keep the hessians that these have.

Kernels have the formulas of the first two; the derivatives of the others are computed in NumPy
before each tree. The absolute and the quantile loss have no curvature, so 1 stands in its place: a
leaf's value is then -learning_rate (rows above less rows below, weighed) / (rows + lambda). No leaf
is refitted to the quantile of its rows, as some libraries do, so a step is never longer than the
learning rate: scale a target that ranges over thousands, or take more trees. Fitting warns where
the steps of all trees together are far too short (`warn_of_short_steps`).

A new loss is a class that inherits `GivenLoss`, adds ``value`` and ``derivatives``, and stands in
``OF_REGRESSION`` of ``gbt.known_losses``; `Gamma` is an example, and CONTRIBUTING.md says what else
to do. A loss of a user's own needs no file at all. Only one that is worth compiling has its
formulas in ``gbt.kernels.derivatives``, too, under a ``kind`` of its own.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from gbt.kernels.derivatives import GIVEN, HALF_LOGISTIC, HALF_SQUARED_ERROR, write_derivatives

Pair = tuple[np.ndarray, np.ndarray]


class Loss(Protocol):
    """What boosting and attributions need of a loss.

    ``gradient_hessian`` serves attributions and evaluation, and boosting if ``kind`` is ``GIVEN``.
    Of the other kinds boosting calls the kernel itself; both run the same formulas.
    """

    @property
    def name(self) -> str:
        """What files and messages call it."""
        ...

    metric: str
    kind: int  # its number in ``gbt.kernels.derivatives``, `GIVEN` where kernels have no formula
    has_one_hessian: bool  # whether h is the same for all rows and predictions

    @property
    def n_outputs(self) -> int:
        """How many raw predictions a row has."""
        ...

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the loss of every row."""
        ...

    def gradient_hessian(
        self, y: np.ndarray, raw_prediction: np.ndarray, out: np.ndarray | Pair | None = None
    ) -> Pair:
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

    def link(self, prediction: float) -> Any:
        """Turn a prediction (a mean, a probability) into a raw prediction."""
        ...

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Turn raw predictions into predictions."""
        ...

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> Any:
        """Return the raw prediction that, given to every row, has the least loss.

        One weight stands for all rows.
        """
        ...

    def check_target(self, y: np.ndarray) -> None:
        """Raise ValueError unless the targets are such as the loss is made for."""
        ...


class HalfSquaredError:
    """Half the squared error; the raw prediction is the prediction."""

    name = "half_squared_error"
    metric = "half squared error"
    kind = HALF_SQUARED_ERROR
    has_one_hessian = True
    n_outputs = 1

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return 0.5 * (y - raw_prediction) ** 2

    def gradient_hessian(
        self, y: np.ndarray, raw_prediction: np.ndarray, out: np.ndarray | Pair | None = None
    ) -> Pair:
        return _derivatives(self.kind, y, raw_prediction, out)

    def link(self, prediction: float) -> float:
        return float(prediction)

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return raw_prediction

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return mean(y, weight)

    def check_target(self, y: np.ndarray) -> None:
        pass


class HalfLogistic:
    """Log loss of a label 0 or 1; the raw prediction is the log-odds of 1."""

    name = "half_logistic"
    metric = "log loss"
    kind = HALF_LOGISTIC
    has_one_hessian = False
    n_outputs = 1

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        # -log p = log(1 + exp(-f)), -log q = log(1 + exp(f))
        return y * np.logaddexp(0.0, -raw_prediction) + (1 - y) * np.logaddexp(0.0, raw_prediction)

    def gradient_hessian(
        self, y: np.ndarray, raw_prediction: np.ndarray, out: np.ndarray | Pair | None = None
    ) -> Pair:
        return _derivatives(self.kind, y, raw_prediction, out)

    def link(self, prediction: float) -> float:
        return float(logit(prediction))

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return expit(raw_prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return self.link(mean(y, weight))

    def check_target(self, y: np.ndarray) -> None:
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError(f"y must hold 0 and 1 only; it holds {y[~np.isin(y, (0, 1))][0]:g}.")


class GivenLoss:
    """What losses share that kernels have no formulas of; each adds ``value``, ``derivatives``."""

    metric: str
    kind = GIVEN
    has_one_hessian = False
    n_outputs = 1
    largest_gradient = np.inf  # of any row

    @property
    def name(self) -> str:
        raise NotImplementedError

    def derivatives(
        self, y: np.ndarray, raw_prediction: np.ndarray
    ) -> Pair | tuple[np.ndarray, float]:
        """Return gradient and hessian; a number may stand for the hessians of all rows."""
        raise NotImplementedError

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def gradient_hessian(
        self, y: np.ndarray, raw_prediction: np.ndarray, out: np.ndarray | Pair | None = None
    ) -> Pair:
        self.check_shape(y, raw_prediction)
        gradient, hessian = np.empty((2, *raw_prediction.shape)) if out is None else out
        gradient[...], hessian[...] = self.derivatives(y, raw_prediction)
        return gradient, hessian

    def check_shape(self, y: np.ndarray, raw_prediction: np.ndarray) -> None:
        """Raise ValueError unless there is a raw prediction for every target."""
        if raw_prediction.shape[-1:] != y.shape:
            raise ValueError(f"y has shape {y.shape}, raw predictions {raw_prediction.shape}.")

    def link(self, prediction: float) -> float | np.ndarray:
        return float(prediction)

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return raw_prediction

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float | np.ndarray:
        """Return where the gradients add up to 0, between the least and the largest target."""
        low, high = y.min(), y.max()
        slope = sum_of_gradients(self, y, weight)
        return float(low) if low == high else root_between(low, high, slope)

    def check_target(self, y: np.ndarray) -> None:
        pass


class LogLink(GivenLoss):
    """The raw prediction is the logarithm of the mean."""

    def link(self, prediction: float) -> float:
        if not prediction > 0:
            raise ValueError(f"The {self.name} loss predicts means above 0; got {prediction}.")
        return float(np.log(prediction))

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return np.exp(raw_prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return self.link(mean(y, weight))


@dataclass(frozen=True)
class Poisson(LogLink):
    """Half the Poisson deviance of counts or rates, but for a constant.

    With a number for ``max_delta_step``, d, the hessian is e^d times the second derivative. That is
    for models of other libraries: XGBoost and LightGBM have d = .7, scikit-learn 0.
    """

    max_delta_step: float | None = None

    name = "poisson"
    metric = "Poisson loss"

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return np.exp(raw_prediction) - y * raw_prediction

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        predicted = np.exp(raw_prediction)
        if self.max_delta_step is None:
            return predicted - y, np.maximum(predicted, y)
        return predicted - y, predicted * np.exp(self.max_delta_step)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        if not y.any():
            raise ValueError("The poisson loss needs targets that are not all 0.")
        return super().best_constant(y, weight)

    def check_target(self, y: np.ndarray) -> None:
        if (y < 0).any():
            raise ValueError(
                f"The poisson loss needs targets that are not negative; the least is {y.min():g}."
            )


@dataclass(frozen=True)
class Gamma(LogLink):
    """Half the gamma deviance of positive amounts, but for a constant.

    With ``is_newton`` the hessian is the second derivative, as in models of other libraries.
    """

    is_newton: bool = False

    name = "gamma"
    metric = "gamma loss"

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return y * np.exp(-raw_prediction) + raw_prediction

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        ratio = y * np.exp(-raw_prediction)
        return 1 - ratio, ratio if self.is_newton else np.maximum(1.0, ratio)

    def check_target(self, y: np.ndarray) -> None:
        if (y <= 0).any():
            raise ValueError(f"The gamma loss needs targets above 0; the least is {y.min():g}.")


@dataclass(frozen=True)
class Quantile(GivenLoss):
    """The pinball loss, least at the quantile ``alpha``; 1 stands in place of its curvature.

    ``alpha`` is the share of targets, between 0 and 1, that should lie below the prediction.
    """

    alpha: float = 0.5

    name = "quantile"
    metric = "quantile loss"
    has_one_hessian = True
    largest_gradient = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be a number in (0, 1); got {self.alpha!r}.")

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        above = y - raw_prediction
        return np.where(above >= 0, self.alpha * above, (self.alpha - 1) * above)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> tuple[np.ndarray, float]:
        below = np.where(raw_prediction > y, 1 - self.alpha, 0.0)
        return np.where(raw_prediction < y, -self.alpha, below), 1.0

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return quantile(y, weight, self.alpha)


@dataclass(frozen=True)
class Absolute(GivenLoss):
    """The absolute error, least at the median; 1 stands in place of its curvature."""

    name = "absolute"
    metric = "absolute error"
    has_one_hessian = True
    largest_gradient = 1.0

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return np.abs(y - raw_prediction)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> tuple[np.ndarray, float]:
        return np.sign(raw_prediction - y), 1.0

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return quantile(y, weight, 0.5)


@dataclass(frozen=True)
class Huber(GivenLoss):
    """Half the squared error up to ``delta`` from the target, beyond it a line.

    ``delta`` is above 0 and in units of the raw prediction, which are the target's.
    """

    delta: float = 1.0

    name = "huber"
    metric = "Huber loss"
    has_one_hessian = True

    def __post_init__(self) -> None:
        _check_delta(self.delta)

    @property
    def largest_gradient(self) -> float:  # type: ignore[override]
        return self.delta

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        distance = np.abs(y - raw_prediction)
        within = np.minimum(distance, self.delta)
        return within * (distance - 0.5 * within)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> tuple[np.ndarray, float]:
        return np.clip(raw_prediction - y, -self.delta, self.delta), 1.0


@dataclass(frozen=True)
class PseudoHuber(GivenLoss):
    """A smooth Huber loss: a parabola near the target, lines of slope ``delta`` far from it.

    ``delta`` is above 0 and in units of the raw prediction, which are the target's.
    """

    delta: float = 1.0

    name = "pseudo_huber"
    metric = "pseudo-Huber loss"

    def __post_init__(self) -> None:
        _check_delta(self.delta)

    @property
    def largest_gradient(self) -> float:  # type: ignore[override]
        return self.delta

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return self.delta**2 * (np.hypot(1.0, (y - raw_prediction) / self.delta) - 1)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        root = np.hypot(1.0, (y - raw_prediction) / self.delta)
        return (raw_prediction - y) / root, root**-3.0


def warn_of_short_steps(
    loss: Loss, y: np.ndarray, n_trees: int, learning_rate: float, stacklevel: int
) -> None:
    """Warn if all steps together bridge less than a tenth of what those of squared errors would.

    These would bring a prediction by 1 - (1 - learning_rate)^n_trees of the way across the middle
    half of the targets. Where hessians are 1 no step is longer than the learning rate times the
    largest gradient. Hessians of the pseudo-Huber loss vanish far from the target, and there no
    node is heavy enough to split.
    """
    reach = n_trees * learning_rate * getattr(loss, "largest_gradient", np.inf)
    if np.isinf(reach):
        return
    low, high = np.quantile(y, (0.25, 0.75))
    way = (high - low) * (1 - (1 - min(learning_rate, 1.0)) ** n_trees)
    if way > 10 * reach:
        larger = "" if loss.name in ("absolute", "quantile") else ", take a larger delta"
        warnings.warn(
            f"The middle half of y spans {high - low:g}, and {n_trees} trees of the {loss.name}"
            f" loss with learning_rate={learning_rate:g} can hardly move a prediction by {reach:g}:"
            " predictions stay nearly constant. Divide y by its spread (and multiply"
            f" predictions by it){larger}, or raise n_estimators and learning_rate.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def _check_delta(delta: float) -> None:
    if not 0 < delta < np.inf:
        raise ValueError(f"delta must be a number in (0, inf); got {delta!r}.")


def sum_of_gradients(loss: Loss, y: np.ndarray, weight: np.ndarray) -> Callable[[float], float]:
    """Return the sum of w g as a function of one raw prediction for all rows."""

    def slope(f: float) -> float:
        gradient, _ = loss.gradient_hessian(y, np.full(len(y), f))
        return float(np.sum(weight * gradient))

    return slope


def root_between(low: float, high: float, slope: Callable[[float], float]) -> float:
    """Return where an increasing function is 0, to the precision of the interval's ends.

    ``brentq`` alone stops within 2e-12, which in a table of small units is anywhere.
    """
    eps, least = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
    return brentq(slope, low, high, xtol=max(4 * eps * (high - low), least))


def _derivatives(
    kind: int, y: np.ndarray, raw_prediction: np.ndarray, out: np.ndarray | Pair | None
) -> Pair:
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


def mean(y: np.ndarray, weight: np.ndarray) -> float:
    """Return the weighted mean; one weight stands for all rows."""
    return float(np.average(y, weights=weight if len(weight) == len(y) else None))


def quantile(y: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    """Return the least target up to which the weights are more than a share ``alpha`` of all.

    Where they are that share exactly, as half of the rows below a median of an even number, it is
    the mean of this target and the next.
    """
    order = np.argsort(y, kind="stable")
    up_to = np.cumsum(np.broadcast_to(weight, y.shape)[order])
    share = alpha * up_to[-1]
    first = min(int(np.searchsorted(up_to, share, side="left")), len(y) - 1)
    beyond = min(int(np.searchsorted(up_to, share, side="right")), len(y) - 1)
    return float((y[order[first]] + y[order[beyond]]) / 2)


# The two whose formulas kernels have. They have no parameters, so one object of each is enough.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HalfSquaredError(), HalfLogistic())}
