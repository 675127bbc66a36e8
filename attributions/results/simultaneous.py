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

from collections.abc import Iterator
from typing import Any

import numpy as np

from attributions.methods import kind_of
from attributions.statistics.row_sums import RowSums
from attributions.statistics.together import (
    ABOVE,
    BELOW,
    BEYOND_0,
    MOST_FEATURES,
    StepDown,
    draw_scores,
)


def intervals(result: Any, error: np.ndarray, level: float) -> np.ndarray:
    """Return intervals that hold together, (p, 2), of a result with these standard errors."""
    ends = np.column_stack([result.values, result.values])
    if result.is_reliable is not None:
        ends[~result.is_reliable] = -np.inf, np.inf
    for sign, counted, steps in _sides(result, error):
        of_t = steps.lower_ends(1 - level)
        end = of_t * error[counted]
        end[of_t > 0] = np.maximum(end[of_t > 0], BEYOND_0)
        ends[counted, int(sign < 0)] = sign * end
    return ends


def p_values(result: Any, error: np.ndarray) -> np.ndarray:
    """Return for each feature the 1 - level from which on its interval leaves out 0, (p,)."""
    p_values = np.where((error == 0) & (result.values != 0), 0.0, 1.0)
    for _, counted, steps in _sides(result, error):
        p_values[counted] = np.minimum(p_values[counted], steps.p_values())
    return p_values


def _sides(result: Any, error: np.ndarray) -> Iterator[tuple[int, np.ndarray, StepDown]]:
    """Yield 1 and -1, the features that have a lower, or an upper, end, and the steps to it.

    Only these count among the features whose ends must hold together.
    """
    has_upper = error > 0
    has_lower = has_upper
    if result.is_reliable is not None:
        has_upper = has_upper & result.is_reliable
        is_measured = kind_of(result.method) == "held_out_gain"
        has_lower = has_lower & np.isfinite(result.kurtosis) if is_measured else has_upper
    scores = _scores(result, has_lower)
    for sign, share, counted in (1, BELOW, has_lower), (-1, ABOVE, has_upper):
        if counted.any():
            t = sign * result.values[counted] / error[counted]
            drawn = None if scores is None else scores[counted[has_lower]]
            yield sign, counted, StepDown.of(t, result.n_draws, share, drawn)


def _scores(result: Any, counted: np.ndarray) -> np.ndarray | None:
    """Draw how these features vary together, as far as the result knows it."""
    products = None
    if result.contributions is not None and counted.sum() <= MOST_FEATURES:
        products = RowSums.of(result.contributions[:, counted], second_moments=True).products
    elif result.second_moments is not None:
        products = result.second_moments[np.ix_(counted, counted)]
    return draw_scores(products)
