r"""Laws of the noise Z in a log time: normal, logistic, and that of the smallest of many.

============  ======================  ======================  ==================
law           density phi             probability below z     T = e^(f + scale Z)
============  ======================  ======================  ==================
``normal``    e^(-z^2/2) / sqrt(2pi)  Phi(z)                  log-normal
``logistic``  p (1 - p)               p = 1 / (1 + e^-z)      log-logistic
``extreme``   w e^-w, w = e^z         1 - e^-w                Weibull
============  ======================  ======================  ==================

A law is asked for log P, where P is the probability of an interval from l to u, and for how log P
changes if the interval is moved: d is its derivative when both bounds grow alike, c minus the next.
Where the bounds are one moment, log phi stands for log P. With a = phi(u) / P and b = phi(l) / P

    d  =  a - b               c  =  (a - b)^2 - a s(u) + b s(l)          s = d log phi / dz

which is worked out for each law, so that nothing is the difference of two numbers nearly equal::

    logistic     d  =  1 - p_u - p_l           c  =  p_u (1 - p_u) + p_l (1 - p_l)
    extreme      d  =  D - w_l                 c  =  w_l + D (D e^x - 1)

with x = w_u - w_l and D = x / (e^x - 1), which is 1 at 0. All three densities are highest at 0.

The normal law is asked where its probabilities are small numbers: an interval that is rather above
0 than below is turned over. With Mills' ratio M = Phi / phi, near 1 / |z| far below 0,

    phi(l) / phi(u)  =  e^F         Phi(l) / Phi(u)  =  e^F M(l) / M(u)        F = (u^2 - l^2) / 2
    a  =  1 / (M(u) (1 - Phi(l) / Phi(u)))           d  =  a (1 - e^F)

so that nothing is 0 or infinite, however far from 0 the interval is.
"""

import numpy as np
from scipy.special import erfcx, expit, log_expit, log_ndtr

Pair = tuple[np.ndarray, np.ndarray]
NARROW = 1e-5  # a narrower interval of the normal law, for its distance from 0, is its middle
FAR = 300.0  # beyond it c of the normal law is 1 within 1e-5, and a sum of far larger numbers
LARGEST = 700.0  # z of the extreme law beyond it counts as that: e^700 is a float64 number


class Law:
    """What is asked of a law; the lower bound may be -infinity, and the upper one infinity."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        """Return log phi."""
        raise NotImplementedError

    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return log P."""
        raise NotImplementedError

    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        """Return d and c; the bounds may be equal."""
        raise NotImplementedError

    def best_start(self, width: np.ndarray) -> np.ndarray:
        """Return where an interval of this width begins that has the largest probability."""
        return -0.5 * width  # of a symmetric density


class Normal(Law):
    """The law of a log-normal time."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return -0.5 * (z * z + np.log(2 * np.pi))

    @np.errstate(all="ignore")  # bounds may be infinite, and equal
    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        low, high, _, _, outside, _ = _turned(low, high)
        of_middle = self.log_density(0.5 * (low + high)) + np.log(high - low)
        return np.where(_is_narrow(low, high), of_middle, log_ndtr(high) + np.log(outside))

    @np.errstate(all="ignore")
    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        """Work out the intervals alone; of moments, as most events are, the density is enough."""
        moved, bends = -0.5 * (low + high), np.ones(low.shape)
        is_wide = ~_is_narrow(low, high)
        low, high, sign, log_fall, outside, mills = _turned(low[is_wide], high[is_wide])
        a = 1 / (mills * outside)
        b, d = a * np.exp(log_fall), -a * np.expm1(log_fall)
        bend = d**2 + np.where(a > 0, a * high, 0.0) - np.where(b > 0, b * low, 0.0)
        moved[is_wide] = sign * d
        bends[is_wide] = np.where(high < -FAR, 1.0, np.clip(bend, 0.0, 1.0))
        return moved, bends


class Logistic(Law):
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


class Extreme(Law):
    """The law of a Weibull time: the smallest of many."""

    def log_density(self, z: np.ndarray) -> np.ndarray:
        return z - _exp(z)

    def log_probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        log_x = self._log_x(low, high)
        with np.errstate(divide="ignore"):
            of_large = np.log(-np.expm1(-_exp(log_x)))
        return np.where(log_x < -LARGEST, log_x, of_large) - _exp(low)

    def moved(self, low: np.ndarray, high: np.ndarray) -> Pair:
        w, x = _exp(low), np.clip(_exp(self._log_x(low, high)), 1e-300, LARGEST)
        part = x / np.expm1(x)
        return part - w, w + part * (x / -np.expm1(-x) - 1)

    def _log_x(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return log(w_u - w_l)."""
        with np.errstate(divide="ignore"):
            return high + np.log(-np.expm1(low - high))

    def best_start(self, width: np.ndarray) -> np.ndarray:
        return np.log(width / np.expm1(width))


def _exp(z: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(z, LARGEST))


def _mills(z: np.ndarray) -> np.ndarray:
    """Return Phi / phi."""
    return np.sqrt(np.pi / 2) * erfcx(-z / np.sqrt(2))


def _turned(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return bounds with the middle below 0; 1, or -1 if turned; F; 1 - Phi(l) / Phi(u); M(u)."""
    is_above = low + high > 0
    low, high = np.where(is_above, -high, low), np.where(is_above, -low, high)
    log_fall = np.where(np.isinf(low), -np.inf, 0.5 * (high - low) * (high + low))
    mills = _mills(high)
    outside = -np.expm1(log_fall + np.log(_mills(low) / mills))
    return low, high, np.where(is_above, -1.0, 1.0), log_fall, outside, mills


def _is_narrow(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (high - low) * np.maximum(1.0, 0.5 * np.abs(low + high)) < NARROW


LAWS: dict[str, Law] = {"normal": Normal(), "logistic": Logistic(), "extreme": Extreme()}
