"""The importances that are compared: what they are fitted on, and what they call a finding.

Half of the rows are for training and half are held out. The importances of a greedy model that need
held-out rows take both halves for what they are; the trainers that need none, cross-validated
boosting and UnbiasedGBM, take all rows for training.

A method with standard errors finds a feature where the value is so many standard errors above 0
that a normal variable exceeds it with probability 0.05. For most of them that is the p-value;
unbiased gain has none, because it promises noise a mean of 0 in the first tree only. Any other
method finds what is above 0, which is how a user who has only that would read it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

import attributions
from attributions import total_gain
from benchmarks.papers.comparison.designs import Drawn
from benchmarks.study import ours

P_VALUE = 0.05
N_TREES, MAX_DEPTH = 100, 4


@dataclass(frozen=True)
class Found:
    """What a method says of every feature, and the seconds that it took beside the fit."""

    values: np.ndarray
    is_found: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Halves:
    """A greedy model of one half of the rows, and both halves."""

    model: Any
    train: tuple
    held_out: tuple
    seed: int


def fitted(drawn: Drawn, X, y, splitter: str, n_trees: int, seed: int):
    """Return a model of some rows."""
    return ours(
        drawn.is_class, n_estimators=n_trees, max_depth=MAX_DEPTH, splitter=splitter,
        random_state=seed, min_child_weight=1.0, categorical_smoothing=20.0,
    ).fit(X, y)  # fmt: skip


def tested(name: str) -> Callable[[Halves], tuple[np.ndarray, np.ndarray]]:
    """Return what finds features by a measure's p-values below 0.05."""

    def find(halves):
        options = {"random_state": halves.seed} if name == "permutation" else {}
        measure = getattr(attributions, name)
        result = measure(halves.model, *halves.held_out, n_jobs=1, **options)
        return result.values, result.p_values() < P_VALUE

    return find


def gain(halves: Halves):
    """Return total gains; any above 0 is a finding."""
    values = total_gain(halves.model).values
    return values, values > 0


def mean_shap(halves: Halves):
    """Return the mean absolute TreeSHAP values of held-out rows."""
    shap = attributions.tree_shap(halves.model, halves.held_out[0], n_jobs=1)
    values = np.abs(shap.values).mean(axis=0)
    return values, values > 0


def unbiased(halves: Halves):
    """Return unbiased gains, and what is significantly above 0: they have no p-values."""
    result = attributions.unbiased_gain(halves.model, *halves.train, *halves.held_out, n_jobs=1)
    return result.values, result.values > scipy.stats.norm.isf(P_VALUE) * result.standard_error


TESTED = ("permutation", "tree_inner", "partial_inner", "held_out_gain")
OF_GREEDY = {
    "total gain": gain,
    "mean absolute SHAP": mean_shap,
    **{name: tested(name) for name in TESTED},
    "unbiased gain": unbiased,
}
TRAINERS = {
    "cross-validated boosting, gain": ("cross_validated", lambda m: total_gain(m).values),
    "UnbiasedGBM, scores": ("unbiased", lambda m: m.split_scores_),
}
METHODS = (*OF_GREEDY, *TRAINERS)


def compared(drawn: Drawn, n_trees: int, seed: int) -> dict[str, Found]:
    """Return what every method finds in one table, all from the same rows."""
    half = len(drawn.y) // 2
    train = drawn.X.iloc[:half], drawn.y[:half]
    held_out = drawn.X.iloc[half:], drawn.y[half:]
    start = time.perf_counter()
    model = fitted(drawn, *train, "greedy", n_trees, seed)
    of_fit = time.perf_counter() - start
    halves = Halves(model, train, held_out, seed)
    found = {}
    for name, method in OF_GREEDY.items():
        start = time.perf_counter()
        values, is_found = method(halves)
        found[name] = Found(values, is_found, of_fit + time.perf_counter() - start)
    for name, (splitter, importance) in TRAINERS.items():
        start = time.perf_counter()
        values = importance(fitted(drawn, drawn.X, drawn.y, splitter, n_trees, seed))
        found[name] = Found(values, values > 0, time.perf_counter() - start)
    return found
