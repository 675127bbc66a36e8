"""Odds, e^f, which rows of the logistic loss carry in place of raw predictions f.

A step multiplies odds by a number of its own, so that no row needs an exponential.
"""

import numpy as np

# Beyond these odds, e^345, a probability is long 0 or 1 in float64; a product of two is finite.
MAX_ODDS = 1e150


def odds(log_odds: np.ndarray) -> np.ndarray:
    """Return e to the power of log-odds, cut off at `MAX_ODDS` and its reciprocal."""
    most = np.log(MAX_ODDS)
    return np.exp(np.clip(log_odds, -most, most))
