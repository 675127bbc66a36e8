"""Losses that large residuals pull less: quantile, absolute, Huber and pseudo-Huber."""

import warnings
from dataclasses import dataclass

import numpy as np

from gbt.losses.loss import Loss, Pair


@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss, whose minimum is the quantile ``alpha``; its hessian is set to 1.

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
class Absolute(Loss):
    """The absolute error, whose minimum is the median; its hessian is set to 1."""

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
class Huber(Loss):
    """Half the squared error up to ``delta`` from the target, beyond it a line.

    ``delta`` is above 0 and in units of the raw prediction, which are the target's.
    """

    delta: float = 1.0

    name = "huber"
    metric = "Huber loss"
    has_one_hessian = True

    def __post_init__(self) -> None:
        if not 0 < self.delta < np.inf:
            raise ValueError(f"delta must be a number in (0, inf); got {self.delta!r}.")

    @property
    def largest_gradient(self) -> float:  # type: ignore[override]
        return self.delta

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        distance = np.abs(y - raw_prediction)
        within = np.minimum(distance, self.delta)
        return within * (distance - 0.5 * within)

    def derivatives(
        self, y: np.ndarray, raw_prediction: np.ndarray
    ) -> Pair | tuple[np.ndarray, float]:
        return np.clip(raw_prediction - y, -self.delta, self.delta), 1.0


@dataclass(frozen=True)
class PseudoHuber(Huber):
    """A smooth Huber loss: a parabola near the target, lines of slope ``delta`` far from it."""

    name = "pseudo_huber"
    metric = "pseudo-Huber loss"
    has_one_hessian = False

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return self.delta**2 * (np.hypot(1.0, (y - raw_prediction) / self.delta) - 1)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        root = np.hypot(1.0, (y - raw_prediction) / self.delta)
        return (raw_prediction - y) / root, root**-3.0


def warn_of_short_steps(
    loss: Loss, y: np.ndarray, n_trees: int, learning_rate: float, stacklevel: int
) -> None:
    """Warn if all steps together reach less than a tenth as far as with squared errors.

    With squared errors a prediction could cover 1 - (1 - learning_rate)^n_trees of the range of the
    middle half of the targets. With hessians of 1 no step is longer than the learning rate times
    the largest gradient. Hessians of the pseudo-Huber loss vanish far from the target, so that no
    node there is heavy enough to split.
    """
    reach = n_trees * learning_rate * loss.largest_gradient
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


def quantile(y: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    """Return the least target up to which weights add up to more than a share ``alpha``.

    If they add up to exactly that share at a target, as at the median of an even number of rows, it
    is the mean of this target and the next. Equal targets are sorted by weight, so that sums do not
    depend on the order of the rows.
    """
    weight = np.broadcast_to(weight, y.shape)
    order = np.lexsort((weight, y))
    up_to = np.cumsum(weight[order])
    share = alpha * up_to[-1]
    first = min(int(np.searchsorted(up_to, share, side="left")), len(y) - 1)
    beyond = min(int(np.searchsorted(up_to, share, side="right")), len(y) - 1)
    return float((y[order[first]] + y[order[beyond]]) / 2)
