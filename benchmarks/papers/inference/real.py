"""Noise planted in real tables, and four tests side by side with what they cost.

Up to 1,000 rows to fit on and as many to judge on, drawn anew in every replication from the numeric
columns of a real table. Ten columns that have nothing to do with it are added: four normal ones,
three shuffled copies of columns of its own, and three of 200 levels.
"""

import numpy as np

from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import counted, measured
from benchmarks.study import Part, crossed, data
from benchmarks.study.tables import column, listed, share, short_share

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
    model = judging.model(size, is_class, 200, max_depth=4).fit(X[:half], y[:half])
    is_null = np.arange(X.shape[1]) >= X.shape[1] - N_PLANTED
    for method in judging.MEASURES:
        result, seconds = measured(method, model, X[half:], y[half:], rng)
        yield {"method": method, **counted(result, is_null), "seconds": seconds}


def table(rows) -> str:
    """Rates by table and test."""

    def cells(found):
        z = sum(r["sum_z"] for r in found) / max(sum(r["n_used"] for r in found), 1)
        found_truly = [short_share(found, name, "n_other") for name in ("true", "true_bh")]
        milliseconds = f"{1000 * np.median(column(found, 'seconds')):.0f}"
        return [share(found, "false", "n_null"), f"{z:+.2f}", *found_truly, milliseconds]

    rows = [{**row, "method": f"`{row['method']}`"} for row in rows]
    heads = ["data", "test", "noise, p < .05", "mean z", "real, p < .05", "real, BH", "ms"]
    return listed(rows, ("data", "method"), heads, cells)


PART = Part("real", crossed(data=data.SETS), experiment, 60, table, needs=tuple(data.SETS))
