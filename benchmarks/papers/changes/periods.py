"""Drawn periods of a table whose target is known, in which something changes or nothing does.

The target is f = 1.5 x0 + x1 x2 + sin(2 x3) / 2 plus noise, or a class of log-odds 2 f - 8.5 (some
2 % of the rows). Columns x4 and x5 say nothing. A model is fitted to ``N_FIT`` rows of its own.
"""

import numpy as np

from benchmarks.study import ours

N_FIT, N_COLUMNS, N_TREES = 1500, 6, 100
IN_GROUP = 5  # rows


def effects(X: np.ndarray) -> np.ndarray:
    """Return what x0, x1 and x2, and x3 say of the target, (n, 3)."""
    return np.column_stack([1.5 * X[:, 0], X[:, 1] * X[:, 2], np.sin(2 * X[:, 3]) / 2])


def draw(target: str, n: int, rng, change: str = "nothing", subjects=None):
    """Return columns, target and groups (or None) of n rows of a period.

    ``change`` says what is otherwise in it than in others: "lost" (x0 has no effect), "turned" (its
    effect has the other sign), "moved" (x0 itself is higher by one standard deviation), or nothing.
    """
    X, groups = rng.normal(size=(n, N_COLUMNS)), None
    if change == "moved":
        X[:, 0] += 1.0
    of_columns = effects(X)
    of_columns[:, 0] *= {"lost": 0.0, "turned": -1.0}.get(change, 1.0)
    f = of_columns.sum(axis=1)
    if target == "rare class":
        return X, (rng.random(n) < 1 / (1 + np.exp(8.5 - 2 * f))).astype(float), groups
    noise = rng.standard_t(2.5, size=n) / 2 if target == "long tails" else rng.normal(size=n)
    if target == "groups":  # days: what hours share is the same, and fades from hour to hour
        groups = np.arange(n) // IN_GROUP
        common = np.repeat(rng.normal(size=(n // IN_GROUP, N_COLUMNS)), IN_GROUP, axis=0)
        X = np.sqrt(0.5) * (X + common)
        f = effects(X).sum(axis=1)
        for hour in range(1, IN_GROUP):
            late = np.arange(hour, n, IN_GROUP)
            noise[late] = 0.8 * noise[late - 1] + 0.6 * noise[late]
    if subjects is not None:  # which are there in every period, with a level and columns of theirs
        groups = np.arange(n) % len(subjects)
        X[:, 4] = subjects[groups, 0]
        noise = np.sqrt(0.5) * (noise + subjects[groups, 1])
    return X, f + noise, groups


def fitted(target: str, trainer: str, X: np.ndarray, y: np.ndarray, seed: int):
    """Fit a model: the default one, or greedy trees of depth 6."""
    options = {"splitter": "auto"} if trainer == "default" else {"n_estimators": N_TREES}
    return ours(target == "rare class", random_state=seed, **options).fit(X, y)
