"""How often a table has a false verdict, and how many true ones, by intervals that hold together.

A model is fitted to some rows and judged on as many others, five times on new ones. A third of the
features matter. Beside the verdicts of the command stand those of Holm's p-values of both sides
together, which bound false verdicts as the command does.

What is true of a feature depends on the model, which is fixed: the expectation of its held-out
gain. It is estimated from forty times as many fresh rows, with a standard error. A verdict counts
as true where the estimate is on its side by two standard errors, and otherwise as false: so noise
that is said to help is a false verdict, and so is a verdict of which the fresh rows do not know.
"""

import numpy as np
from scipy.special import ndtr

from attributions import held_out_gain
from attributions.command.judging.verdicts import HELPS, HURTS, MISTAKEN, said_of
from benchmarks.study import Part, crossed, model_of, ours
from benchmarks.study.tables import by_values, markdown

N_TABLES = 5
TIMES_AS_MANY = 40
N_TREES = 30
COMMON = 0.6  # correlation of any two features where they go together


def draw(n: int, p: int, correlation: float, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw features, of which the first third matter, the first the most, and a target."""
    common = np.sqrt(correlation) * rng.normal(size=(n, 1))
    X = common + np.sqrt(1 - correlation) * rng.normal(size=(n, p))
    size = np.linspace(1.0, 0.2, p // 3)
    y = X[:, : p // 3] @ size
    return X, y / np.linalg.norm(size) + rng.normal(size=n)


def fitted(trainer: str, X: np.ndarray, y: np.ndarray, seed: int):
    """Fit a small model."""
    options = {"n_estimators": N_TREES, "max_depth": 3, "random_state": seed}
    if trainer == "ours":
        return ours(splitter="auto", **options).fit(X, y)
    return model_of(trainer, False, **options).fit(X, y)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Say which hypotheses Holm's procedure rejects."""
    order = np.argsort(p_values, kind="stable")
    n_left = np.arange(len(order), 0, -1)
    is_rejected = np.zeros(len(order), dtype=bool)
    is_rejected[order] = np.maximum.accumulate(n_left * p_values[order]) <= MISTAKEN
    return is_rejected


def directions(result, said, is_used: np.ndarray) -> dict[str, np.ndarray]:
    """Return 1 for features that help, -1 for those that hurt, 0 for others, by each rule."""
    words = np.array(said.verdicts)
    found = {"joint": (words == HELPS).astype(int) - (words == HURTS)}
    told = is_used & result.is_reliable & (result.standard_error > 0)
    z = result.values[told] / result.standard_error[told]
    found["holm"] = np.zeros(len(is_used), dtype=int)
    found["holm"][told] = np.sign(z) * holm(2 * ndtr(-np.abs(z)))
    return found


def experiment(cell, rng, size):
    """Fit a model, find out what is true of it and judge it on a few tables."""
    n, p, correlation = cell["rows"], cell["features"], COMMON * cell["correlated"]
    model = fitted(cell["trainer"], *draw(n, p, correlation, rng), int(rng.integers(2**31)))
    times = TIMES_AS_MANY if size == "full" else 2
    fresh = held_out_gain(model, *draw(times * n, p, correlation, rng), n_jobs=1)
    is_used, row = fresh.standard_error > 0, {"tables": N_TABLES, "missed": 0}
    known = np.where(np.abs(fresh.values) > 2 * fresh.standard_error, np.sign(fresh.values), 0)
    for _ in range(N_TABLES):
        result = held_out_gain(model, *draw(n, p, correlation, rng), n_jobs=1)
        said = said_of(result, is_used)
        for name, found in directions(result, said, is_used).items():
            is_false = bool(((found != 0) & (found != known)).any())
            row[f"{name}_false"] = row.get(f"{name}_false", 0) + is_false
            n_true = int(((found != 0) & (found == known)).sum())
            row[f"{name}_true"] = row.get(f"{name}_true", 0) + n_true
        low, high = times * said.intervals.T  # nan where a feature is not used
        row["missed"] += bool(((fresh.values < low) | (fresh.values > high)).any())
    yield row


def table(rows) -> str:
    """Return false and true verdicts of each cell."""
    lines = []
    for cell, there in by_values(rows, "trainer", "correlated", "features", "rows"):
        trainer, correlated, *sizes = cell
        lines.append([trainer, ("no", "yes")[correlated], *sizes, *_counts(there)])
    lines.append(["all", "", "", "", *_counts(rows)])
    head = ["trainer", "correlated", "features", "rows", "tables", "an interval misses"]
    head += ["false: joint", "Holm", "true: joint", "Holm"]
    return markdown(head, lines)


def _counts(rows) -> list:
    sums = [f"{name}_{what}" for what in ("false", "true") for name in ("joint", "holm")]
    return [sum(row[key] for row in rows) for key in ("tables", "missed", *sums)]


CELLS = crossed(
    trainer=("ours", "LightGBM"), correlated=(0, 1), features=(6, 30, 100), rows=(200, 1000)
)
JOINT = Part("joint", CELLS, experiment, 20, table)
