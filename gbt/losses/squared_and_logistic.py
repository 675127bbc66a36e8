"""The two losses that kernels know: half the squared error, and half the binomial deviance."""

from typing import Any

import numpy as np
from scipy.special import expit, logit

from gbt.kernels.rows.derivatives import HALF_LOGISTIC, HALF_SQUARED_ERROR, write_derivatives
from gbt.losses.loss import Loss, Pair, mean
from gbt.losses.sums import exact_sum


class KnownLoss(Loss):
    """A loss whose formulas kernels have."""

    def gradient_hessian(
        self, y: Any, raw_prediction: np.ndarray, out: np.ndarray | Pair | None = None
    ) -> Pair:
        if raw_prediction.shape[-1:] != y.shape:  # the kernel does not check
            raise ValueError(f"y has shape {y.shape}, raw predictions {raw_prediction.shape}.")
        gradient, hessian = np.empty((2, *raw_prediction.shape)) if out is None else out
        if len(y) > 0:
            flat = (part.reshape(-1) for part in (raw_prediction, gradient, hessian))
            write_derivatives(self.kind, y, *flat)
        return gradient, hessian


class HalfSquaredError(KnownLoss):
    """Half the squared error; the raw prediction is the prediction."""

    name = "half_squared_error"
    metric = "half squared error"
    kind = HALF_SQUARED_ERROR
    has_one_hessian = True

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        return 0.5 * (y - raw_prediction) ** 2

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return mean(y, weight)


class HalfLogistic(KnownLoss):
    """Log loss of a label 0 or 1; the raw prediction is the log-odds of 1."""

    name = "half_logistic"
    metric = "log loss"
    kind = HALF_LOGISTIC

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        # -log p = log(1 + exp(-f)), -log q = log(1 + exp(f))
        return y * np.logaddexp(0.0, -raw_prediction) + (1 - y) * np.logaddexp(0.0, raw_prediction)

    def link(self, prediction: float) -> float:
        return float(logit(prediction))

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return expit(raw_prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        """Return the log-odds of the two classes' weights, exactly negated if labels are swapped.

        The logit of the mean is not: near-ties between splits would then depend on which class is
        called 1.
        """
        each = weight if len(weight) == len(y) else 1.0
        of_1, of_0 = exact_sum(each * y), exact_sum(each * (1.0 - y))
        larger, smaller = max(of_1, of_0), min(of_1, of_0)
        size = np.inf if smaller == 0 else float(np.log(larger / smaller))
        return size if of_1 > of_0 else -size


class CrossEntropy(HalfLogistic):
    """Log loss of a share or probability between 0 and 1, the same formulas as for labels.

    A row with target y is equivalent to two rows: label 1 with weight y, and 0 with weight 1 - y.
    """

    name = "cross_entropy"

    def link(self, prediction: float) -> float:
        if not 0 < prediction < 1:
            raise ValueError(
                f"Under {self.name} boosting starts from a probability between 0 and 1; got"
                f" {prediction:g}: all of y is that number, or base_score is outside of (0, 1)."
            )
        return super().link(prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        self.link(mean(y, weight))  # refuses targets that are all 0, or all 1
        return super().best_constant(y, weight)

    def check_target(self, y: np.ndarray) -> None:
        if (wrong := (y < 0) | (y > 1)).any():
            raise ValueError(
                f"y must be within [0, 1] under {self.name}; it holds {y[wrong][0]:g}."
            )


# The two whose formulas kernels have. They have no parameters, so one object of each is enough.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (HalfSquaredError(), HalfLogistic())}
