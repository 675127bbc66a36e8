"""Intervals and p-values of all features of a result that hold together, each beside the other.

``attributions.statistics.together`` says how. Only features of which something can be told are
counted: those with a standard error, less those whose value few rows may carry. Of the latter
nothing is promised: their intervals are unbounded, and their p-values 1.
"""

from typing import Any

import numpy as np

from attributions.statistics.row_sums import RowSums
from attributions.statistics.together import MOST_FEATURES, Largest


def intervals(result: Any, error: np.ndarray, level: float) -> np.ndarray:
    """Return intervals that hold together, (p, 2), of a result with these standard errors."""
    told, doubtful = _told(result, error)
    ends = np.column_stack([result.values, result.values])
    ends[doubtful] = -np.inf, np.inf
    if told.any():
        below, above = _largest(result, told).factors(level)
        ends[told] += error[told, np.newaxis] * np.array([-below, above])
    return ends


def p_values(result: Any, error: np.ndarray) -> np.ndarray:
    """Return for each feature the 1 - level at which its interval begins to leave out 0, (p,)."""
    told, _ = _told(result, error)
    p_values = np.where((error == 0) & (result.values != 0), 0.0, 1.0)
    if told.any():
        p_values[told] = _largest(result, told).p_values(result.values[told] / error[told])
    return p_values


def _told(result: Any, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which features are counted, and of which few rows may carry the value."""
    doubtful = np.zeros(len(error), dtype=bool)
    if result.is_reliable is not None:
        doubtful = ~result.is_reliable
    return (error > 0) & ~doubtful, doubtful


def _largest(result: Any, told: np.ndarray) -> Largest:
    """Return the distribution of the largest t, as far as the result knows it."""
    n_features = int(told.sum())
    products = None
    if result.contributions is not None and n_features <= MOST_FEATURES:
        products = RowSums.of(result.contributions[:, told], second_moments=True).products
    elif result.second_moments is not None:
        products = result.second_moments[np.ix_(told, told)]
    return Largest.of(result.n_draws, n_features, products)
