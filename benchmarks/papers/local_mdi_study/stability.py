"""Stability: whether a row's best features are others when the model has another seed.

Five models are fitted to the same rows. What counts is how many features are among the best of a
new row by any of them, as a share of all: the share that is called best where they agree. Beside
two tables stands Friedman's function of five of 30 columns.
"""

import numpy as np

from benchmarks.papers.local_mdi_study.methods import AGGREGATES, Explained, by_score, methods_of
from benchmarks.papers.local_mdi_study.models import fitted
from benchmarks.papers.local_mdi_study.selection import top
from benchmarks.papers.local_mdi_study.simulated import noisy, numbers
from benchmarks.papers.local_mdi_study.tables import Table, halves
from benchmarks.study import chosen, column, markdown
from benchmarks.study.tables import cell_of

FRIEDMAN = "Friedman"
DATA = ("diabetes", "breast_cancer", FRIEDMAN)
N_ROWS, SHARE_TO_FIT = 600, 0.67
BEST = (0.1, 0.3)
N_SEEDS = 5


def drawn(name: str, rng, size: str) -> tuple[Table, Table]:
    """Return rows to fit on, and new ones."""
    if name != FRIEDMAN:
        return halves(name, rng, size, N_ROWS, SHARE_TO_FIT)
    n = N_ROWS if size == "full" else 60
    X = rng.random((n, 30))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y = noisy(f + 5 * X[:, 4], 0.6, rng)
    whole, n_fit = numbers(X[:, rng.permutation(30)], y), round(SHARE_TO_FIT * n)
    return whole.rows(slice(0, n_fit)), whole.rows(slice(n_fit, n))


def experiment(cell, rng, size):
    """Yield the sizes of the unions over models, a line a method and aggregate."""
    if cell["model"] == "lightgbm":  # which draws nothing, so that a seed changes nothing
        return
    fit, new = drawn(cell["data"], rng, size)
    unions: dict[tuple[str, str], dict] = {}
    for _ in range(N_SEEDS):
        seed = int(rng.integers(2**31))
        explained = Explained(fitted(cell["model"], fit, size, seed), fit, seed, size)
        asked = methods_of(cell["model"], ["lime", "held_out"])
        for method, scores in explained.of_all(asked, new.X):
            for aggregate in AGGREGATES:
                best = unions.setdefault((method, aggregate), dict.fromkeys(BEST, False))
                for share in BEST:
                    best[share] = best[share] | top(scores.by(aggregate), share)
    for (method, aggregate), best in unions.items():
        sizes = {f"best {share:g}": round(float(of.mean()), 4) for share, of in best.items()}
        yield {"method": method, "aggregate": aggregate, **sizes}


def table(rows) -> str:
    """List a line a model, method and aggregate, a column a table and share."""
    names = [(name, f"best {share:g}") for name in DATA for share in BEST]
    lines = [
        [*label, *(cell_of(column(chosen(own, data=name), best), 3) for name, best in names)]
        for label, own in by_score(rows)
    ]
    heads = [f"{name}: {best}" for name, best in names]
    return markdown(["model", "method", "aggregate", *heads], lines)
