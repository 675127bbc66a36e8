"""The loss that a user chooses: one of ours, by name or as an object, or their own.

A loss of one's own is an object with four methods in plain NumPy::

    value(y, raw_prediction)              the loss of every row
    gradient_hessian(y, raw_prediction)   two arrays, the second not negative
    link(prediction)                      a number to a raw prediction
    inverse_link(raw_prediction)          raw predictions to predictions

It then works wherever a loss does. A model file has nothing of it but the name of its class.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gbt.amount_losses import SquaredLogError, Tweedie
from gbt.losses import (
    LOSSES,
    Absolute,
    Gamma,
    GivenLoss,
    HalfLogistic,
    HalfSquaredError,
    Huber,
    Loss,
    Pair,
    Poisson,
    PseudoHuber,
    Quantile,
    mean,
    root_between,
    sum_of_gradients,
)
from gbt.several_outputs import OneOutput

# What a regressor takes as ``loss=`` by name, and what model files may name.
OF_REGRESSION: dict[str, Callable[..., Loss]] = {
    "half_squared_error": HalfSquaredError,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "squared_log_error": SquaredLogError,
    "quantile": Quantile,
    "absolute": Absolute,
    "huber": Huber,
    "pseudo_huber": PseudoHuber,
}
OF_A_LOSS = ("value", "gradient_hessian", "link", "inverse_link")  # methods that make a loss
OWN = "own"  # in files, the key of the name of a class of the user's
MOST_DOUBLINGS = 64  # of a step, in search of where a loss is least


@dataclass(frozen=True, eq=False)
class OwnLoss(GivenLoss):
    """A loss of the user's: an object with the methods ``OF_A_LOSS``, in plain NumPy.

    What it returns is checked here, because boosting and attributions trust every loss.
    """

    loss: Any

    metric = "loss"

    @property
    def name(self) -> str:
        """The class, and whose it is."""
        return f"{type(self.loss).__name__} (of your own)"

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the loss of every row, checked."""
        return self._checked("value", self.loss.value(y, raw_prediction), raw_prediction.shape)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        """Return gradients and hessians, checked."""
        if raw_prediction.ndim > 1:  # before each of T trees; a user's loss knows one dimension
            pairs = [self.derivatives(y, of_tree) for of_tree in raw_prediction]
            shape = raw_prediction.shape
            gradient, hessian = (np.reshape(part, shape) for part in zip(*pairs, strict=True))
            return gradient, hessian
        gradient, hessian = self.loss.gradient_hessian(y, raw_prediction)
        gradient = self._checked("gradient_hessian", gradient, raw_prediction.shape)
        hessian = self._checked("gradient_hessian", hessian, raw_prediction.shape)
        if (hessian < 0).any():
            raise ValueError(
                f"gradient_hessian of {self.name} returned a negative hessian, {hessian.min():g}; a"
                " step against it would go uphill. Return its absolute value, or 1."
            )
        return gradient, hessian

    def link(self, prediction: float) -> float:
        """Turn a prediction into a raw prediction."""
        return float(self.loss.link(prediction))

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Turn raw predictions into predictions."""
        return self.loss.inverse_link(raw_prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        """Return where the gradients add up to 0, near the mean of the targets."""
        slope = sum_of_gradients(self, y, weight)
        start = self.link(mean(y, weight))
        low, high = start, start
        for doubling in range(MOST_DOUBLINGS):
            at_low, at_high = slope(low), slope(high)
            if at_low <= 0 <= at_high:
                return float(low) if at_low == 0 else root_between(low, high, slope)
            step = 1e-3 * 2.0**doubling
            low, high = (low - step, high) if at_low > 0 else (low, high + step)
        raise ValueError(
            f"Found no constant where the gradients of {self.name} add up to 0. Give base_score."
        )

    def _checked(self, method: str, array: Any, shape: tuple[int, ...]) -> np.ndarray:
        array = np.asarray(array, dtype=np.float64)
        if array.shape not in (shape, ()) or not np.isfinite(array).all():
            raise ValueError(
                f"{method} of {self.name} must return finite numbers, one a row, {shape}; got shape"
                f" {array.shape}."
            )
        return np.broadcast_to(array, shape)


def as_loss(loss: Any) -> Loss:
    """Turn what a user gives for a regressor's loss into one; `is_loss` says what that may be."""
    if loss is None or isinstance(loss, str):
        name = "half_squared_error" if loss is None else loss
        return LOSSES[name] if name in LOSSES else OF_REGRESSION[name]()
    return loss if is_known(loss) else OwnLoss(loss)


def is_loss(loss: Any) -> bool:
    """Say whether something can be a regressor's loss: None, a name, or an object."""
    if loss is None or isinstance(loss, str):
        return loss is None or loss in OF_REGRESSION
    methods = (getattr(loss, name, None) for name in OF_A_LOSS)
    of_classes = isinstance(loss, type) or type(loss) is HalfLogistic
    return all(map(callable, methods)) and not of_classes


def parameters_of(loss: Loss) -> dict[str, float]:
    """Return what a loss of a name was made with."""
    return asdict(loss) if hasattr(loss, "__dataclass_fields__") else {}  # type: ignore[call-overload]


def is_same(loss: Loss, other: Loss) -> bool:
    """Say whether two losses are one, as far as can be told: of one's own, by the class."""
    is_own = isinstance(loss, OwnLoss)
    return loss.name == other.name and (is_own or parameters_of(loss) == parameters_of(other))


def is_known(loss: Any) -> bool:
    """Say whether a model can have this loss."""
    is_one = isinstance(loss, HalfSquaredError | HalfLogistic | GivenLoss)
    return is_one and not isinstance(loss, OneOutput)


def describe_loss(loss: Loss) -> str | dict[str, Any]:
    """Return what a model file says of a loss; ``gbt.loading`` reads it again."""
    if isinstance(loss, OwnLoss):
        return {OWN: type(loss.loss).__name__}
    parameters = parameters_of(loss)
    return {"name": loss.name, **parameters} if parameters else loss.name
