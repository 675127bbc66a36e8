r"""Laws of the noise Z in a log time: normal, logistic, and that of the smallest of many.

============  ======================  ======================  ==================
law           density phi             probability below z     T = e^(f + scale Z)
============  ======================  ======================  ==================
``normal``    e^(-z^2/2) / sqrt(2pi)  Phi(z)                  log-normal
``logistic``  p (1 - p)               p = 1 / (1 + e^-z)      log-logistic
``extreme``   w e^-w, w = e^z         1 - e^-w                Weibull
============  ======================  ======================  ==================

Asked of a law is the probability P of an interval, from l to u, as log P, and what becomes of log P
if the interval is moved: d is its derivative when both bounds grow alike, and c minus the second.
Where the bounds are one moment, log phi stands for log P. With a = phi(u) / P and b = phi(l) / P

    d  =  a - b               c  =  (a - b)^2 - a s(u) + b s(l)          s = d log phi / dz

which is worked out for each law, so that nothing is the difference of two numbers nearly equal::

    logistic     d  =  1 - p_u - p_l           c  =  p_u (1 - p_u) + p_l (1 - p_l)
    extreme      d  =  D - w_l                 c  =  w_l + D (D e^x - 1)

with x = w_u - w_l and D = x / (e^x - 1), which is 1 at 0. All three densities are highest at 0.
"""

from typing import Protocol

import numpy as np
from scipy.special import expit, log_expit, log_ndtr

Pair = tuple[np.ndarray, np.ndarray]
NARROW = 1e-6  # a narrower interval of the normal law counts as its middle


class Law(Protocol):
    """What is asked of a law; bounds are finite, and at most 700 from 0."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        """Return log phi."""
        ...

    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return log P."""
        ...

    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        """Return d and c; the bounds may be equal."""
        ...

    def best_start(self, width: np.ndarray) -> np.ndarray:
        """Return where an interval of this width begins that has the largest probability."""
        ...


class Normal:
    """The law of a log-normal time."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return -0.5 * (z * z + np.log(2 * np.pi))

    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Take the smaller tail from the larger, on the side where both are small numbers."""
        low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
        large = log_ndtr(high)
        with np.errstate(divide="ignore"):  # of equal bounds
            of_interval = large + np.log(-np.expm1(log_ndtr(low) - large))
            of_middle = self.log_density(0.5 * (low + high)) + np.log(high - low)
        return np.where(high - low < NARROW, of_middle, of_interval)

    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        middle, is_narrow = 0.5 * (low + high), high - low < NARROW
        log_P = self.log_probability(low, np.where(is_narrow, low + 1.0, high))
        a, b = (np.exp(self.log_density(z) - log_P) for z in (high, low))
        bend = np.clip((a - b) ** 2 + a * high - b * low, 0.0, 1.0)
        return np.where(is_narrow, -middle, a - b), np.where(is_narrow, 1.0, bend)

    def best_start(self, width: np.ndarray) -> np.ndarray:
        return -0.5 * width


class Logistic:
    """The law of a log-logistic time."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return log_expit(z) + log_expit(-z)

    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return log_expit(high) + log_expit(-low) + np.log(-np.expm1(low - high))

    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        below = [expit(z) for z in (low, high)]
        above = [expit(-z) for z in (low, high)]
        return above[1] - below[0], below[0] * above[0] + below[1] * above[1]

    def best_start(self, width: np.ndarray) -> np.ndarray:
        return -0.5 * width


class Extreme:
    """The law of a Weibull time: the smallest of many."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return z - np.exp(z)

    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(-np.expm1(np.exp(low) - np.exp(high))) - np.exp(low)

    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        w = np.exp(low)
        x = np.clip(np.exp(high) - w, 1e-300, 700.0)
        part = x / np.expm1(x)
        return part - w, w + part * (x / -np.expm1(-x) - 1)

    def best_start(self, width: np.ndarray) -> np.ndarray:
        return np.log(width / np.expm1(width))


LAWS: dict[str, Law] = {"normal": Normal(), "logistic": Logistic(), "extreme": Extreme()}
