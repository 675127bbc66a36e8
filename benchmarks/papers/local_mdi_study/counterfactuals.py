"""Counterfactuals: a training row of another label that is explained alike, and how far it is.

For every new row the model predicts a label. Of the training rows with another label, the one that
is nearest in the space of scores is looked for, by the sum of absolute differences. What counts is
how far it is in the standardised columns, again by absolute differences; a word that differs counts
1. In the paper less is better, by which no attribution can beat looking for the nearest row in
these columns themselves: ``columns``. ``prediction`` looks for the nearest
prediction, and ``chance`` is the mean over all rows of another label. Global scores weigh the
columns in which the nearest row is looked for.

Half of the rows are for training. The synthetic table is that of the paper's appendix: ten normal
columns, 2,000 rows, y = 1{5 x1 + 4 x2 + 3 x3 + 2 x4 + x5 + noise / 10 > 0}. The held-out gain is
left out: it would have to know the new rows' targets.
"""

from collections.abc import Callable
from operator import itemgetter

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.papers.local_mdi_study.methods import AGGREGATES, Explained, by_score, methods_of
from benchmarks.papers.local_mdi_study.models import fitted
from benchmarks.papers.local_mdi_study.tables import CLASSES, Table, halves
from benchmarks.study.tables import cell_of, chosen, column, markdown, means_by, values_there

SYNTHETIC = "synthetic"
DATA = (SYNTHETIC, *CLASSES)
N_ROWS, N_SYNTHETIC, N_NEW = 400, 2000, 100
COLUMNS, PREDICTION, CHANCE = "columns", "prediction", "chance"


def synthetic(rng, size: str) -> tuple[Table, Table]:
    """Draw the paper's table, and split it in halves."""
    n = N_SYNTHETIC if size == "full" else 60
    X = rng.normal(size=(n, 10))
    y = X[:, :5] @ [5.0, 4.0, 3.0, 2.0, 1.0] + 0.1 * rng.normal(size=n) > 0
    whole = Table(X, y.astype(float), np.zeros(10, dtype=bool), True)
    return whole.rows(slice(0, n // 2)), whole.rows(slice(n // 2, n))


def experiment(cell, rng, size):
    """Yield the mean distance of the rows that are found, a line a method and aggregate."""
    if cell["data"] == SYNTHETIC:
        fit, new = synthetic(rng, size)
    else:
        fit, new = halves(cell["data"], rng, size, N_ROWS, 0.5)
    new = new.rows(slice(0, N_NEW if size == "full" else 3))
    seed = int(rng.integers(2**31))
    model = fitted(cell["model"], fit, size, seed)
    explained = Explained(model, fit, seed, size)
    is_other = fit.y != np.asarray(model.predict(new.X), dtype=float)[:, np.newaxis]
    apart = differences(fit, new)  # (p, n_new, n_fit)
    distance = apart.sum(axis=0)

    def line(method, aggregate, between):
        nearest = np.where(is_other, between, np.inf).argmin(axis=1)
        found = distance[np.arange(len(new.y)), nearest].mean()
        return {"method": method, "aggregate": aggregate, "distance": round(float(found), 4)}

    yield line(COLUMNS, "", distance)
    raw = [explained.ensemble.raw_predict(rows.X, 1)[:, np.newaxis] for rows in (new, fit)]
    yield line(PREDICTION, "", cdist(*raw))
    by_chance = (distance * is_other).sum(axis=1) / is_other.sum(axis=1)
    yield {"method": CHANCE, "aggregate": "", "distance": round(float(by_chance.mean()), 4)}
    both = np.vstack([new.X, fit.X])
    for method, scores in explained.of_all(methods_of(cell["model"], ["held_out"]), both):
        for aggregate in AGGREGATES:
            if aggregate == "global":
                between = np.tensordot(scores.weights, apart, axes=1)
            else:
                space = scores.signed if aggregate == "sum" else scores.by(aggregate)
                between = cdist(space[: len(new.y)], space[len(new.y) :], "cityblock")
            yield line(method, aggregate, between)


def differences(fit: Table, new: Table) -> np.ndarray:
    """Return how far rows are apart in every column, (p, n_new, n_fit)."""
    apart = np.abs(new.X.T[:, :, np.newaxis] - fit.X.T[:, np.newaxis])
    words = fit.is_word
    apart[words] = apart[words] > 0
    return apart


def excess_of(rows) -> Callable:
    """Return a function that divides the distance of a row by the least possible one."""
    cell = itemgetter("data", "model", "replication")
    least = {cell(row): row["distance"] for row in chosen(rows, method=COLUMNS)}
    return lambda row: row["distance"] / least[cell(row)]


def table(rows) -> str:
    """List a line a model, method and aggregate, a column a table, and the mean excess."""
    names, excess = values_there(rows, "data", DATA), excess_of(rows)
    lines = []
    for label, own in by_score(rows):
        cells = [cell_of(column(chosen(own, data=name), "distance"), 2) for name in names]
        lines.append([*label, *cells, cell_of(means_by(own, "replication", excess), 2)])
    return markdown(["model", "method", "aggregate", *names, "times the least"], lines)
