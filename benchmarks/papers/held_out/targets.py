"""Targets of every loss: how they are drawn around a signal, and the model that is fitted to them.

The signal of a row is a number near 0 (0 everywhere for a complete null). It moves what the loss
asks for: the mean, the log-odds, the logarithm of the mean, the quantile, the median, the centre.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.study import ours
from gbt.losses import Huber, PseudoHuber, Quantile

N_TREES, MAX_DEPTH = 50, 3


@dataclass(frozen=True)
class Target:
    """A law of y around a signal, and the loss that it is fitted by; None for classes."""

    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    loss: Any = None
    is_class: bool = False

    def model(self, size: str, **options):
        """Return a model of one thread; a quick one has few trees."""
        n_trees = N_TREES if size == "full" else 20
        options = {"n_estimators": n_trees, "max_depth": MAX_DEPTH, **options}
        return ours(True, **options) if self.is_class else ours(loss=self.loss, **options)


def two_classes(offset: float):
    """Return the law of a class whose log-odds are the signal and an offset."""
    return lambda signal, rng: (rng.random(len(signal)) < expit(signal + offset)).astype(float)


def four_classes(signal, rng):
    """Draw one of four classes: the signal favours the first and disfavours the second."""
    scores = np.stack([signal, -signal, 0 * signal, 0 * signal])
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=0).astype(float)


def normal(signal, rng):
    """Draw the signal and normal noise."""
    return signal + rng.normal(size=len(signal))


def heavy(signal, rng):
    """Draw the signal and noise of Student's t law with two degrees of freedom."""
    return signal + rng.standard_t(2, len(signal))


def compound(signal, rng):
    """Draw sums of Poisson many gamma amounts: most are 0."""
    n_amounts = rng.poisson(0.5, size=len(signal))
    return np.exp(signal) * rng.gamma(np.maximum(n_amounts, 1)) * (n_amounts > 0)


TARGETS = {
    "squared error": Target(normal),
    "two classes": Target(two_classes(0.0), is_class=True),
    "four classes": Target(four_classes, is_class=True),
    "Poisson": Target(lambda signal, rng: rng.poisson(0.3 * np.exp(signal)) * 1.0, "poisson"),
    "gamma": Target(lambda signal, rng: np.exp(signal) * rng.gamma(0.5, 2, len(signal)), "gamma"),
    "Tweedie": Target(compound, "tweedie"),
    "quantile .9": Target(normal, Quantile(0.9)),
    "absolute, sd 10": Target(lambda signal, rng: 10 * normal(signal, rng), "absolute"),
    "Huber, t2": Target(heavy, Huber(1.0)),
    "pseudo-Huber, t2": Target(heavy, PseudoHuber(1.0)),
}
RARE = {
    "two classes, 10 %": Target(two_classes(-2.2), is_class=True),
    "two classes, 3 %": Target(two_classes(-3.5), is_class=True),
    "two classes, 1 %": Target(two_classes(-4.6), is_class=True),
}
