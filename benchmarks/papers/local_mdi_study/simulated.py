"""Simulated tables: whether features that matter rank first, and whether correlated ones rise.

*ranking*: the four functions of ``benchmarks.papers.local_mdi``, here with LIME and an imported
model. *correlation*: 50 of 100 features share a part, and six of these matter. Two numbers are in
circulation for how a group of features ranks. One is the mean rank of the group's features. The
other is what the authors' public code computes: it sorts the features of a row, and averages the
*numbers* of the features that it finds at places 0 to 5, 6 to 49 and 50 to 99, as if these were the
ranks of features 0 to 5, 6 to 49 and 50 to 99. Both are here.

Columns are shuffled before anything is fitted, since ties would else favour the first ones.
"""

import numpy as np
from scipy.stats import rankdata

from benchmarks.papers.local_mdi import GROUPS, SIGNALS, drawn_correlated, drawn_signal, mean_auc
from benchmarks.papers.local_mdi_study import methods
from benchmarks.papers.local_mdi_study.methods import LABELS, WHERE_USED, Explained
from benchmarks.papers.local_mdi_study.models import KINDS, fitted
from benchmarks.papers.local_mdi_study.tables import Table
from benchmarks.study import chosen, column, markdown
from benchmarks.study.tables import by_values, cell_of, values_of, values_there

EXPLAINED = 0.4
CORRELATIONS = (0.5, 0.75, 0.9, 0.95, 0.99)
ROWS_OF_LIME = 25  # of the 250, in *correlation*; a seed's mean over rows varies little


def numbers(X, y) -> Table:
    """Make a table without words."""
    return Table(X, y, np.zeros(X.shape[1], dtype=bool), False)


def ranking(cell, rng, size):
    """Yield the AUC of each row's scores for the features that matter in it, on new rows."""
    n_fit, n_new = (300, 100) if size == "full" else (40, 3)
    X, y, matters = drawn_signal(cell["function"], EXPLAINED, n_fit + n_new, rng)
    table, seed = numbers(X[:n_fit], y[:n_fit]), int(rng.integers(2**31))
    explained = Explained(fitted(cell["model"], table, size, seed), table, seed, size)
    asked = methods.methods_of(cell["model"])
    for method, scores in explained.of_all(asked, X[n_fit:], y[n_fit:]):
        for aggregate in (*methods.AGGREGATES, WHERE_USED):
            auc = mean_auc(matters[n_fit:], scores.by(aggregate))
            yield {"method": method, "aggregate": aggregate, "auc": round(float(auc), 5)}


def correlation(cell, rng, size):
    """Yield both numbers of every group, over training rows."""
    n = 250 if size == "full" else 40
    X, y, place = drawn_correlated(cell["correlation"], n, rng)
    table, seed = numbers(X, y), int(rng.integers(2**31))
    explained = Explained(fitted(cell["model"], table, size, seed), table, seed, size)
    for method in methods.methods_of(cell["model"]):
        n_rows = (ROWS_OF_LIME if size == "full" else 2) if method == "lime" else n
        scores = explained.scores(method, table.X[:n_rows], y[:n_rows])
        for aggregate in (*methods.AGGREGATES, WHERE_USED):
            found = scores.by(aggregate)[:, place]
            yield {"method": method, "aggregate": aggregate, **both_numbers(found)}


def both_numbers(scores: np.ndarray) -> dict[str, float]:
    """Return the mean rank of every group, 1 the best, and what the public code averages.

    The code counts features from 0; here they are counted from 1, as ranks are.
    """
    ranks = rankdata(-scores, axis=1)
    features = np.argsort(-scores, axis=1, kind="stable") + 1
    return {
        **{f"rank {g}": round(float(ranks[:, columns].mean()), 3) for g, columns in GROUPS.items()},
        **{f"code {g}": round(float(features[:, c].mean()), 3) for g, c in GROUPS.items()},
    }


def ranking_table(rows) -> str:
    """List a line a model, method and aggregate, a column a function."""
    names = values_there(rows, "function", SIGNALS)
    lines = []
    for kind, method, aggregate in lines_of(rows):
        own = chosen(rows, model=kind, method=method, aggregate=aggregate)
        cells = [cell_of(column(chosen(own, function=name), "auc"), 3) for name in names]
        lines.append([KINDS[kind], LABELS[method], aggregate, *cells])
    return markdown(["model", "method", "aggregate", *names], lines)


def correlation_table(rows) -> str:
    """List a line a correlation, model, method and aggregate."""
    lines = []
    measures = [f"{definition} {group}" for definition in ("rank", "code") for group in GROUPS]
    for (correlation,), some in by_values(rows, "correlation"):
        for kind, method, aggregate in lines_of(some):
            own = chosen(some, model=kind, method=method, aggregate=aggregate)
            cells = [cell_of(column(own, measure), 1) for measure in measures]
            lines.append([correlation, KINDS[kind], LABELS[method], aggregate, *cells])
    heads = [f"mean rank: {g}" for g in GROUPS] + [f"as the code: {g}" for g in GROUPS]
    return markdown(["correlation", "model", "method", "aggregate", *heads], lines)


def lines_of(rows) -> list[tuple[str, str, str]]:
    """Return models, methods and aggregates that are there, in their order."""
    there = {(row["model"], row["method"], row["aggregate"]) for row in rows}
    aggregates = values_of(rows, "aggregate")
    return [
        (kind, method, aggregate)
        for kind in KINDS
        for method in LABELS
        for aggregate in aggregates
        if (kind, method, aggregate) in there
    ]
