"""Losses for amounts: Poisson and gamma (``gbt.losses`` has their formulas), and two more.

::

    Tweedie(p), y >= 0:         value      (e^((2-p) f) - 1) / (2-p)  -  y (e^((1-p) f) - 1) / (1-p)
                                gradient    e^((2-p) f)               -  y  e^((1-p) f)
                                hessian    ((2-p) e^((2-p) f)         -  y (1-p) e^((1-p) f)), at
                                            least y^(2-p)

    SquaredLogError, y > -1:    value       r^2 / 2       with r = log((1 + f) / (1 + y))
                                gradient    r / (1 + f)
                                hessian     (1 - r) / (1 + f)^2

Tweedie's raw prediction is the logarithm of the mean, and the variance of y is a multiple of the
mean to the power p: 1 is Poisson's, 2 is gamma's, and between them are amounts of which many are 0,
such as what an insurance pays in a year. (Where 2-p or 1-p is 0, f stands for its quotient.) As
with Poisson's and gamma's losses the hessian is the largest second derivative between prediction
and target (``gbt.losses`` says why). This one is convex in f, so it is largest at one of the two,
and at the target it is y^(2-p). For p = 1.5 the one at the prediction is never smaller.

The squared logarithmic error measures by which factor a prediction is off. It is concave where
1 + f is more than e times 1 + y, so two rules are XGBoost's: the hessian is at least 1e-6, and from
f = -1 + 1e-6 downwards the loss is a straight line.
"""

from dataclasses import dataclass

import numpy as np

from gbt.losses.loss import Loss, Pair, mean, refuse_targets


class LogLink(Loss):
    """The raw prediction is the logarithm of the prediction, such as a mean."""

    def link(self, prediction: float) -> float:
        if not prediction > 0:
            raise ValueError(
                f"The {self.name} loss predicts numbers above 0; got {prediction}, as base_score"
                " or mean of y."
            )
        return float(np.log(prediction))

    def inverse_link(self, raw_prediction: np.ndarray) -> np.ndarray:
        return np.exp(raw_prediction)

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        return self.link(mean(y, weight))


@dataclass(frozen=True)
class Poisson(LogLink):
    """Half the Poisson deviance of counts or rates, up to a constant.

    With a number d for ``max_delta_step`` the hessian is e^d times the second derivative, as in
    models of other libraries: XGBoost and LightGBM have d = 0.7, scikit-learn 0.
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
        refuse_targets(self, y, y < 0, "that are not negative")


@dataclass(frozen=True)
class Gamma(LogLink):
    """Half the gamma deviance of positive amounts, up to a constant.

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
        refuse_targets(self, y, y <= 0, "above 0")


LEAST_HESSIAN = 1e-6
LEAST_PREDICTION = float(np.float32(-1 + 1e-6))  # a float32 number, as XGBoost computes with it


@dataclass(frozen=True)
class Tweedie(LogLink):
    """Half the Tweedie deviance of amounts that may be 0, up to a constant.

    Parameters
    ----------
    power : float in [1, 2]
        p: the variance is a multiple of the mean to this power.
    is_newton : bool
        Whether the hessian is the second derivative, as in models of other libraries.
    """

    power: float = 1.5
    is_newton: bool = False

    name = "tweedie"
    metric = "Tweedie loss"

    def __post_init__(self) -> None:
        if not 1 <= self.power <= 2:
            raise ValueError(f"power must be a number in [1, 2]; got {self.power!r}.")

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        of_mean, of_target = 2 - self.power, 1 - self.power
        return _integral(raw_prediction, of_mean) - y * _integral(raw_prediction, of_target)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        of_mean = np.exp((2 - self.power) * raw_prediction)
        of_target = y * np.exp((1 - self.power) * raw_prediction)
        hessian = (2 - self.power) * of_mean + (self.power - 1) * of_target
        if not self.is_newton:
            hessian = np.maximum(hessian, y ** (2 - self.power))
        return of_mean - of_target, hessian

    def check_target(self, y: np.ndarray) -> None:
        if self.power == 2 and (y <= 0).any():
            raise ValueError(
                "The tweedie loss of power 2 is gamma's and needs targets above 0; the least is"
                f" {y.min():g}."
            )
        refuse_targets(self, y, y < 0, "that are not negative")


@dataclass(frozen=True)
class SquaredLogError(Loss):
    """Half the squared difference of log(1 + prediction) and log(1 + target)."""

    name = "squared_log_error"
    metric = "half squared log error"

    def value(self, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
        within = np.maximum(raw_prediction, LEAST_PREDICTION)
        log_ratio = np.log1p(within) - np.log1p(y)
        beyond = (raw_prediction - within) / (1 + within)
        return log_ratio * (0.5 * log_ratio + beyond)

    def derivatives(self, y: np.ndarray, raw_prediction: np.ndarray) -> Pair:
        within = np.maximum(raw_prediction, LEAST_PREDICTION)
        log_ratio = np.log1p(within) - np.log1p(y)
        hessian = np.maximum((1 - log_ratio) / (1 + within) ** 2, LEAST_HESSIAN)
        return log_ratio / (1 + within), hessian

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        """Return the prediction whose logarithm is the mean of the targets' logarithms."""
        return float(np.expm1(mean(np.log1p(y), weight)))

    def check_target(self, y: np.ndarray) -> None:
        refuse_targets(self, y, y <= -1, "above -1")


def _integral(raw_prediction: np.ndarray, a: float) -> np.ndarray:
    """Return the integral of exp(a t) for t from 0 to the raw prediction."""
    return raw_prediction if a == 0 else np.expm1(a * raw_prediction) / a
