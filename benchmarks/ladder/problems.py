"""What the rungs are given: a table, and the gradients on which one tree after the other grows.

The gradients are those of a real boosting, under half the squared error: what is left of the
targets before each round. They are computed once and given to all rungs alike, as integers.
"""

from typing import NamedTuple

import numpy as np

import gbt

UNIT = 2.0**-30  # of the integers: 200,000 gradients of 4 add up to 2^50, which a float64 can hold
LEARNING_RATE = 0.1


class Problem(NamedTuple):
    """A table without missing values, and what trees on it are grown with."""

    X: np.ndarray  # (n, p) float64
    y: np.ndarray  # (n,) float64
    gradients: list  # int64 (n,), one array a tree
    max_depth: int = 6
    reg_lambda: float = 1.0


def problem_of(n_rows, n_columns, n_trees, seed=0):
    """Return a problem: every second column has a value of its own a row, others 11 and more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    for k in range(1, n_columns, 2):
        X[:, k] = np.round(X[:, k] * 2 ** (k / 4))
    y = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    model = gbt.GBTRegressor(
        n_estimators=n_trees - 1,
        learning_rate=LEARNING_RATE,
        base_score=float(y.mean()),
        splitter="greedy",
    )
    before = [np.full(n_rows, y.mean())]
    if n_trees > 1:
        before.extend(model.fit(X, y).staged_predict(X))
    return Problem(X, y, [np.rint((f - y) / UNIT).astype(np.int64) for f in before])


def drawn_problem(rng, most_rows=60):
    """Draw a small problem with ties: few values, few gradients, columns that are constant."""
    n, p = rng.integers(2, most_rows), rng.integers(1, 5)
    levels = rng.choice([1, 2, 5, 1000], size=p)
    X = rng.integers(0, levels, size=(n, p)) / 3
    largest = rng.choice([1, 3, 2**30])
    gradient = rng.integers(-largest, largest + 1, size=n)
    return Problem(X, -gradient * UNIT, [gradient], int(rng.integers(1, 6)), rng.choice([0, 1, 10]))
