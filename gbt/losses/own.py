"""A loss of one's own: an object of the user's, and checks of what it returns.

It has four methods in plain NumPy::

    value(y, raw_prediction)              the loss of every row
    gradient_hessian(y, raw_prediction)   two arrays, the second not negative
    link(prediction)                      a number to a raw prediction
    inverse_link(raw_prediction)          raw predictions to predictions

For a classifier targets are numbers of classes, 0 .. K - 1. With two classes a raw prediction is
one number a row, and ``inverse_link`` returns the probability of 1. With more, raw predictions,
gradients and hessians have the shape (n, K), ``link`` takes K probabilities, and ``inverse_link``
returns those of every row.

Such an object works wherever a loss does. A model file has only the name of its class. ``value``
and ``gradient_hessian`` are given read-only arrays, because these are the caller's targets and the
predictions with which boosting continues.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.losses.loss import Loss, Pair, mean, root_between, sum_of_gradients

OF_A_LOSS = ("value", "gradient_hessian", "link", "inverse_link")  # methods that make a loss
MOST_DOUBLINGS = 64  # of a step, in search of where a loss is least


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class OwnLoss(Loss):
    """A user's loss: an object with the methods ``OF_A_LOSS``, in plain NumPy.

    Its results are checked here, because boosting and attributions trust every loss.
    """

    loss: Any
    n_classes: int = 0  # of a classifier; 0 for a regressor

    metric = "loss"
    takes_one_set = True

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """One for numbers and for two classes."""
        return max(1, self.n_classes) if self.n_classes != 2 else 1

    @property
    def name(self) -> str:
        """The name of the class, marked as the user's."""
        return f"{type(self.loss).__name__} (of your own)"

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        value = self.loss.value(read_only(y), read_only(raw_prediction))
        return self._checked("value", value, raw_prediction.shape[:1])

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        returned = self.loss.gradient_hessian(read_only(y), read_only(raw_prediction))
        try:
            gradient, hessian = returned
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"gradient_hessian of {self.name} must return the pair (gradient, hessian); got a"
                f" {type(returned).__name__}."
            ) from error
        gradient = self._checked("gradient_hessian", gradient, raw_prediction.shape)
        hessian = self._checked("gradient_hessian", hessian, raw_prediction.shape)
        if (hessian < 0).any():
            raise ValueError(
                f"gradient_hessian of {self.name} returned a negative hessian, {hessian.min():g}; a"
                " step against it would go uphill. Return its absolute value, or 1."
            )
        return gradient, hessian

    def check_shape(self, y: np.ndarray, raw_prediction: np.ndarray) -> None:
        shape = y.shape if self.n_outputs == 1 else (len(y), self.n_outputs)
        if raw_prediction.shape[-len(shape) :] != shape:
            raise ValueError(f"y has shape {y.shape}, raw predictions {raw_prediction.shape}.")

    def link(self, prediction: Any) -> Any:
        """Turn a prediction into a raw prediction, K probabilities into K."""
        if self.n_outputs == 1:
            return float(self.loss.link(prediction))
        link = self.loss.link(np.asarray(prediction, dtype=np.float64))
        return self._checked("link", link, (self.n_outputs,), "one for each class").copy()

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        found = self.loss.inverse_link(np.array(raw_prediction))  # which it may return as it is
        if not self.n_classes:
            return found
        each = "one for each row and class"
        found = self._checked("inverse_link", found, raw_prediction.shape, each)
        if found.size and not 0 <= found.min() <= found.max() <= 1:
            raise ValueError(
                f"inverse_link of {self.name} must return probabilities, within [0, 1]; got"
                f" {found.min():g} to {found.max():g}."
            )
        return found

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> Any:
        """Return where the gradients add up to 0, near the mean of the targets.

        For several classes it is the link of their shares.
        """
        if self.n_outputs > 1:
            each = np.broadcast_to(weight, y.shape)
            shares = np.bincount(y.astype(np.intp), each, minlength=self.n_outputs)
            return self.link(shares / shares.sum())
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

    def _checked(
        self, method: str, array: Any, shape: tuple[int, ...], each: str = "one for each row"
    ) -> np.ndarray:
        array = np.asarray(array, dtype=np.float64)
        if array.shape not in (shape, ()) or not np.isfinite(array).all():
            others = array[~np.isfinite(array)]
            got = f"{others[0]} among them" if len(others) else f"shape {array.shape}"
            raise ValueError(
                f"{method} of {self.name} must return finite numbers, {each}, {shape}; got {got}."
            )
        return np.broadcast_to(array, shape)


NAMES_OF_ERRORS = ("_error", "_loss", "_deviance", "mse", "mae", "mape", "logloss")  # their ends


def is_name_of_error(name: str) -> bool:
    """Say whether a function of this name is smaller for better predictions."""
    return name.lower().endswith(NAMES_OF_ERRORS) and not name.startswith("neg")
