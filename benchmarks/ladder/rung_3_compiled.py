"""Rung 3, compile: the same loop, as machine code.

Python spends a tenth of a microsecond on finding out what ``left += gradient[i]`` means, each time.
Numba finds it out once, for an array of integers, and what remains is an addition. The loop below
is that of rung 2, and so are its results.

Cost: a few nanoseconds a row and column for the scan; now it is sorting that takes the time.
"""

from functools import partial

import numpy as np
from numba import njit

from benchmarks.ladder import rung_1_page
from benchmarks.ladder.rung_1_page import prepare

__all__ = ["grow", "prepare"]

# Divisions by zero give inf instead of raising, and Python's other threads may run meanwhile.
compiled = njit(error_model="numpy", nogil=True)
score = compiled(rung_1_page.score)


def best_cut(X, gradient, reg_lambda):
    """Return (score, -feature, threshold) of the best cut of some rows."""
    best = (-np.inf, 0, 0.0)
    for feature in range(X.shape[1]):
        order = np.argsort(X[:, feature])
        found, threshold = best_of_column(X[order, feature], gradient[order], reg_lambda)
        best = max(best, (found, -feature, threshold))
    return best


@compiled
def best_of_column(x, gradient, reg_lambda):
    """Return the score and the threshold of the best cut of one column, given in order."""
    best, threshold = -np.inf, 0.0
    n, total, left = len(x), gradient.sum(), 0
    for i in range(n - 1):
        left += gradient[i]
        if x[i] < x[i + 1]:
            found = score(left, i + 1, total - left, n - i - 1, reg_lambda)
            if found >= best:  # of equals the highest threshold
                best, threshold = found, x[i]
    return best, threshold


grow = partial(rung_1_page.grow, best_cut=best_cut)
