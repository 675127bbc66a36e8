"""What a loss is, for boosting and attributions, and code that losses share.

``gbt.losses`` has the table of all losses, and the reasons for their hessians.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from gbt.kernels.rows.derivatives import GIVEN
from gbt.losses.sums import exact_sum

Pair = tuple[np.ndarray, np.ndarray]


class Loss:
    """The base of all losses; each adds ``name``, ``metric``, ``value`` and ``derivatives``.

    The defaults suit a loss of each row by itself, whose target is one number and whose raw
    prediction is the prediction.
    """

    metric: str  # what evaluation sets record
    kind = GIVEN  # of its formulas in ``gbt.kernels.rows.derivatives``, if kernels have them
    n_outputs = 1  # raw predictions of a row
    has_one_hessian = False  # whether h is the same for all rows and predictions
    is_by_row = True  # whether the loss of a row does not depend on other rows
    has_pairs = False  # whether a target is two numbers, such as a time and whether an event came
    has_queries = False  # whether a target is two numbers, the grade of a row and its query
    name_of_score = ""
    largest_gradient = np.inf  # of any row
    takes_one_set = False  # whether ``derivatives`` takes one set of raw predictions at a time

    @property
    def name(self) -> str:
        """Its name in files and messages."""
        raise NotImplementedError

    def value(self, y: Any, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the loss of every row."""
        raise NotImplementedError

    def derivatives(self, y: Any, raw_prediction: np.ndarray) -> Pair | tuple[np.ndarray, float]:
        """Return gradient and hessian; a number may stand for the hessians of all rows."""
        raise NotImplementedError

    def gradient_hessian(
        self, y: Any, raw_prediction: np.ndarray, out: np.ndarray | Pair | None = None
    ) -> Pair:
        """Return the first and second derivative in every row's raw prediction.

        Attributions and evaluation ask for them here, and so does boosting if ``kind`` is `GIVEN`;
        else it calls the kernel, which has the same formulas.

        ``y`` may be what `prepared` returns. Raw predictions of shape (T, n) are those before each
        of T trees. The two are put into ``out``, C-contiguous arrays of their shape, or into new
        ones.
        """
        self.check_shape(y, raw_prediction)
        gradient, hessian = np.empty((2, *raw_prediction.shape)) if out is None else out
        if self.takes_one_set and raw_prediction.ndim > (1 if self.n_outputs == 1 else 2):
            for of_one, *room in zip(raw_prediction, gradient, hessian, strict=True):
                self.gradient_hessian(y, of_one, (room[0], room[1]))
        else:
            gradient[...], hessian[...] = self.derivatives(y, raw_prediction)
        return gradient, hessian

    def check_shape(self, y: Any, raw_prediction: np.ndarray) -> None:
        """Raise ValueError unless there is a raw prediction for every target."""
        if raw_prediction.shape[-1:] != (len(y),):
            raise ValueError(f"y has {len(y)} rows, raw predictions {raw_prediction.shape}.")

    def prepared(self, y: np.ndarray, weight: Any, n_jobs: int | None = 1) -> Any:
        """Return targets with all that rows have to know of each other; ``len`` is still n.

        `value` and `gradient_hessian` take them in place of ``y``. Where the loss is not by row,
        these must be all the rows, and ``weight`` is theirs, or one for all. Else it is ``y``.
        ``n_jobs`` threads may share the work on them.
        """
        return y

    def as_pairs(self, y: Any) -> np.ndarray:
        """Return targets of two numbers, as people have them, as float64 of shape (n, 2)."""
        raise NotImplementedError

    def check_target(self, y: np.ndarray) -> None:
        """Raise ValueError for targets that the loss is not defined for."""

    def score(self, y: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> float:
        """Return how good predictions are for targets of two numbers, larger for better."""
        raise NotImplementedError

    def link(self, prediction: float) -> Any:
        """Turn a prediction (a mean, a probability) into a raw prediction."""
        return float(prediction)

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Turn raw predictions into predictions."""
        return raw_prediction

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> Any:
        """Return the raw prediction that has the least loss if every row gets it.

        ``weight`` may have a single entry for all rows. Here it is where the gradients add up to 0,
        between the least and the largest target.
        """
        low, high = y.min(), y.max()
        slope = sum_of_gradients(self, y, weight)
        return float(low) if low == high else root_between(low, high, slope)


def refuse_targets(loss: Loss, y: np.ndarray, is_wrong: np.ndarray, allowed: str) -> None:
    """Raise ValueError if targets are too small for a loss."""
    if is_wrong.any():
        raise ValueError(f"The {loss.name} loss needs targets {allowed}; the least is {y.min():g}.")


def sum_of_gradients(loss: Loss, y: np.ndarray, weight: np.ndarray) -> Callable[[float], float]:
    """Return the sum of w g as a function of one raw prediction for all rows."""

    def slope(f: float) -> float:
        gradient, _ = loss.gradient_hessian(y, np.full(len(y), f))
        return exact_sum(weight * gradient)

    return slope


def root_between(low: float, high: float, slope: Callable[[float], float]) -> float:
    """Return the root of an increasing function, to its own last digits.

    ``brentq`` alone stops within 2e-12, which is far off if targets are that small, and within the
    precision of the interval's ends, which is if one of them is that far away. So it is asked again
    in the interval that it leaves.
    """
    eps, least = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
    while True:
        within = max(4 * eps * (high - low), least)
        root = brentq(slope, low, high, xtol=within)
        near = max(low, root - 4 * within), min(high, root + 4 * within)
        is_found = within <= 4 * eps * abs(root) or near == (low, high)
        if is_found or not slope(near[0]) < 0 < slope(near[1]):
            return root
        low, high = near


def mean(y: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the weighted mean; a single weight, or None, is that of all rows.

    It is a quotient of correctly rounded sums, so it does not depend on the order of the rows; of
    equal numbers it is the number, which such a quotient need not be.
    """
    if len(y) and np.ptp(y) == 0:
        return float(y[0])
    if weight is None or len(weight) != len(y):
        return exact_sum(y) / len(y)
    return exact_sum(weight * y) / exact_sum(weight)
