"""Noise planted in real tables, and four tests side by side with what they cost.

Up to 1,000 rows to fit on and as many to judge on, drawn anew in every replication from the numeric
columns of a real table. Ten columns that have nothing to do with it are added: four normal ones,
three shuffled copies of columns of its own, and three of 200 levels.
"""

import numpy as np

from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import counted, measured
from benchmarks.study import data
from benchmarks.study.part import Part
from benchmarks.study.tables import by_values, markdown, share, short_share

N = 1000
N_PLANTED = 10


def planted(X, rng) -> np.ndarray:
    """Return ten columns of noise."""
    normal = rng.normal(size=(len(X), 4))
    copies = X[:, rng.choice(X.shape[1], size=3, replace=False)]
    copies = np.column_stack([rng.permutation(column) for column in copies.T])
    return np.column_stack([normal, copies, rng.integers(200, size=(len(X), 3))])


def experiment(cell, rng, size):
    """Fit a real table with noise in it, and judge by four tests."""
    X, y, is_class = data.drawn(cell["data"], rng, 2 * N if size == "full" else 120)
    X = np.column_stack([X, planted(X, rng)])
    half = len(X) // 2
    make = judging.classifier if is_class else judging.regressor
    model = make(size, max_depth=4, n_estimators=200).fit(X[:half], y[:half])
    is_null = np.arange(X.shape[1]) >= X.shape[1] - N_PLANTED
    for method in judging.MEASURES:
        result, seconds = measured(method, model, X[half:], y[half:], rng)
        yield {"method": method, **counted(result, is_null), "seconds": seconds}


def table(rows) -> str:
    """Rates by table and test."""
    lines = []
    for (name, method), found in by_values(rows, "data", "method"):
        z = sum(r["sum_z"] for r in found) / max(sum(r["n_used"] for r in found), 1)
        lines.append(
            [
                name,
                f"`{method}`",
                share(found, "false", "n_null"),
                f"{z:+.2f}",
                short_share(found, "true", "n_other"),
                short_share(found, "true_bh", "n_other"),
                f"{1000 * np.median([r['seconds'] for r in found]):.0f}",
            ]
        )
    return markdown(
        ["data", "test", "noise, p < .05", "mean z", "real, p < .05", "real, BH", "ms"], lines
    )


PART = Part(
    "real",
    tuple({"data": name} for name in data.SETS),
    experiment,
    60,
    table,
    needs=tuple(data.SETS),
)
