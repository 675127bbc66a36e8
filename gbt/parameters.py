"""What every parameter of the estimators may be, in words and as a test.

One table says it once: the words go into the error message, the test decides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Allowed:
    """What a parameter may be, in words and as a test."""

    words: str
    admits: Callable[[Any], bool]


def number_in(kind: type, interval: str, *others: Any) -> Allowed:
    """Allow numbers of a kind in an interval written as in mathematics, and a few other values."""
    low, high = (float(end) for end in interval[1:-1].split(","))

    def admits(value):
        if isinstance(value, kind) and not isinstance(value, bool):
            above = value >= low if interval[0] == "[" else value > low
            below = value <= high if interval[-1] == "]" else value < high
            return above and below
        return any(value is other for other in others)

    noun = "an integer" if kind is Integral else "a number"
    return Allowed(" or ".join([f"{noun} in {interval}", *map(repr, others)]), admits)


OF_REGRESSOR = {
    "n_estimators": number_in(Integral, "[1, inf)"),
    "learning_rate": number_in(Real, "(0, inf)"),
    "max_depth": number_in(Integral, "[1, inf)", None),
    "max_leaves": number_in(Integral, "[2, inf)", None),
    "min_child_weight": number_in(Real, "[0, inf)"),
    "min_samples_leaf": number_in(Integral, "[1, inf)"),
    "reg_lambda": number_in(Real, "[0, inf)"),
    "min_split_gain": number_in(Real, "[0, inf)"),
    "subsample": number_in(Real, "(0, 1]"),
    "colsample": number_in(Real, "(0, 1]"),
    "base_score": number_in(Real, "(-inf, inf)", None),
    "splitter": Allowed(
        "'greedy' or an object with the method split of gbt.splitting.frontier.Policy"
        " ('cross_validated' and 'unbiased' are not available yet)",
        lambda value: value == "greedy" if isinstance(value, str) else is_splitter(value),
    ),
    "categorical_features": Allowed(
        "'from_dtype' or None (categories are not supported yet, so there are none to name:"
        " encode them as numbers first)",
        lambda value: value is None or (isinstance(value, str) and value == "from_dtype"),
    ),
    "early_stopping_rounds": number_in(Integral, "[1, inf)", None),
    "validation_fraction": number_in(Real, "(0, 1)"),
    "n_jobs": number_in(Integral, "(-inf, inf)", None),
    "random_state": Allowed(
        "None, an integer in [0, 4294967295], a numpy RandomState or a numpy Generator",
        lambda value: (
            isinstance(value, np.random.RandomState | np.random.Generator)
            or number_in(Integral, "[0, 4294967295]", None).admits(value)
        ),
    ),
    "verbose": number_in(Integral, "[0, inf)", False, True),
}

OF_CLASSIFIER = {**OF_REGRESSOR, "base_score": number_in(Real, "(0, 1)", None)}


def is_splitter(value) -> bool:
    """Say whether something is an object that splits nodes, not the class of one."""
    return callable(getattr(value, "split", None)) and not isinstance(value, type)
