"""Intervals and p-values of all features of a result that hold together.

``attributions.statistics.together`` says how. It takes t = (value - expectation) / error for
Student's. Where few rows may carry a value (`is_reliable` is False) t is not: a table that has
missed the rare large contributions has a value and an error that are both too small. The large
contributions to held-out gain are those that help, since steps are large where training targets
were, so t is then far below 0 too often and above 0 seldom. This was measured: however long the
tails, lower ends hold, and upper ends do not (docs/report.md, "Long tails"). So the interval of
such a feature has no upper end. For other measures neither end holds, and for a feature of which
the rows say nothing at all neither is known.
"""

from typing import Any

import numpy as np

from attributions.methods import kind_of
from attributions.statistics.row_sums import RowSums
from attributions.statistics.together import MOST_FEATURES, Largest


def intervals(result: Any, error: np.ndarray, level: float) -> np.ndarray:
    """Return intervals that hold together, (p, 2), of a result with these standard errors."""
    counted, is_doubtful = _counted(result, error)
    ends = np.column_stack([result.values, result.values])
    ends[is_doubtful] = -np.inf, np.inf
    if counted.any():
        below, above = _largest(result, counted).factors(level)
        low = result.values - below * error
        high = np.where(is_doubtful, np.inf, result.values + above * error)
        ends[counted] = np.column_stack([low, high])[counted]
    return ends


def p_values(result: Any, error: np.ndarray) -> np.ndarray:
    """Return for each feature the 1 - level at which its interval begins to leave out 0, (p,)."""
    counted, is_doubtful = _counted(result, error)
    p_values = np.where((error == 0) & (result.values != 0), 0.0, 1.0)
    if counted.any():
        t = result.values[counted] / error[counted]
        p_values[counted] = _largest(result, counted).p_values(t, ~is_doubtful[counted])
    return p_values


def _counted(result: Any, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which features have an end of an interval, and of which few rows may carry the value.

    Only the first count among the features that must hold together.
    """
    if result.is_reliable is None:
        return error > 0, np.zeros(len(error), dtype=bool)
    has_lower = result.is_reliable
    if kind_of(result.method) == "held_out_gain":
        has_lower = np.isfinite(result.kurtosis)
    return (error > 0) & has_lower, ~result.is_reliable


def _largest(result: Any, counted: np.ndarray) -> Largest:
    """Return the distribution of the largest t, as far as the result knows it."""
    n_features = int(counted.sum())
    products = None
    if result.contributions is not None and n_features <= MOST_FEATURES:
        products = RowSums.of(result.contributions[:, counted], second_moments=True).products
    elif result.second_moments is not None:
        products = result.second_moments[np.ix_(counted, counted)]
    return Largest.of(result.n_draws, n_features, products)
