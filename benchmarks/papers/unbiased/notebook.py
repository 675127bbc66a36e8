"""The authors' notebook: five features, of which the second matters with strength rho.

x1 is continuous, x2 to x5 have 2, 4, 10 and 20 levels; one tree at learning rate 1. Levels are cut
as numbers by this library's tree, and are categories to that of the notebook, LightGBM's.
"""

import numpy as np
from scipy.stats import rankdata

from attributions import total_gain
from benchmarks.papers.unbiased.models import N_ROWS, TASKS, estimator, unbiased_of
from benchmarks.study import Part, crossed
from benchmarks.study.tables import chosen, listed, values_of

LEVELS = (2, 4, 10, 20)  # of x2 to x5
FEATURES = tuple(f"x{k}" for k in range(1, 2 + len(LEVELS)))
INFORMATIVE = "x2"
RHO = tuple(round(0.1 * i, 1) for i in range(11))


def draw(task: str, rho: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw x1 continuous and four features of few levels, of which x2 is informative."""
    X = np.column_stack([rng.normal(size=n), *(rng.integers(0, m, n) for m in LEVELS)])
    if task == "regression":
        return X, rho * (X[:, 1] - 0.5) + rng.normal(size=n)
    return X, np.where(rng.random(n) < (1 - rho) / 2, 1 - X[:, 1], X[:, 1])


def experiment(cell, rng, size):
    """Return the importances of one data set by every method."""
    train, valid = (draw(cell["task"], cell["rho"], N_ROWS[size], rng) for _ in range(2))
    model = estimator(cell["task"], n_estimators=1, learning_rate=1.0).fit(*train)
    found = {"gain": total_gain(model).values, "unbiased": unbiased_of(model, train, valid)}
    return [{"method": method, "values": values.tolist()} for method, values in found.items()]


def summary(rows) -> list[dict]:
    """Return mean ranks, where the largest value has the last, and quartiles of every feature."""
    lines = []
    for cell in CELLS:
        for method in values_of(rows, "method"):
            values = np.array([row["values"] for row in chosen(rows, **cell, method=method)])
            ranks = rankdata(values, axis=1).mean(axis=0)
            found = dict(zip(("q25", "median", "q75"),
                             np.percentile(values, [25, 50, 75], axis=0), strict=True))  # fmt: skip
            lines += [
                {**cell, "method": method, "feature": feature, "repetitions": len(values)}
                | {name: of[k] for name, of in {"mean_rank": ranks, **found}.items()}
                for k, feature in enumerate(FEATURES)
            ]
    return lines


def ranks_table(rows) -> str:
    """List the mean rank of the informative feature, a column a rho."""
    return listed(
        chosen(rows, feature=INFORMATIVE), ("task", "method"),
        ["task", "method", *(f"rho {rho:g}" for rho in RHO)],
        lambda own: [f"{row['mean_rank']:.2f}" for row in own],
    )  # fmt: skip


def null_table(rows) -> str:
    """List the quartiles of every feature at rho 0."""
    names = ("x1 (continuous)", *(f"x{k + 2} ({m})" for k, m in enumerate(LEVELS)))
    return listed(
        chosen(rows, rho=0), ("task", "method"), ["task", "method", *names],
        lambda own: [f"{r['median']:.1f} ({r['q25']:.1f} to {r['q75']:.1f})" for r in own],
    )  # fmt: skip


CELLS = crossed(task=TASKS, rho=RHO)
PART = Part("ranks", CELLS, experiment, 1000, ranks_table, summary=summary)
