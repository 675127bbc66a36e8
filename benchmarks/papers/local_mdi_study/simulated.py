"""Simulated tables: whether features that matter rank first, and whether correlated ones rise.

*ranking*: four functions of 30 columns. *correlation*: 50 of 100 features share a part, and six of
these matter. Two numbers are in circulation for how a group of features ranks. One is the mean rank
of the group's features. The other is what the authors' public code computes: it sorts the features
of a row, and averages the *numbers* of the features that it finds at places 0 to 5, 6 to 49 and 50
to 99, as if these were the ranks of features 0 to 5, 6 to 49 and 50 to 99. Both are here.

Columns are shuffled. In nodes of a few rows many features split equally well; our boosted models
then take the first column, and ranks count how often a feature is used at all: with the features
that matter in front, ranks by TreeSHAP found interactions that no model had learned (AUC 0.87).
"""

import numpy as np
from scipy.stats import rankdata

from benchmarks.papers.local_mdi_study import methods
from benchmarks.papers.local_mdi_study.methods import LABELS, WHERE_USED, Explained
from benchmarks.papers.local_mdi_study.models import KINDS, fitted
from benchmarks.papers.local_mdi_study.tables import Table
from benchmarks.study import chosen, column, markdown
from benchmarks.study.tables import by_values, cell_of, values_of, values_there

EXPLAINED = 0.4
CORRELATIONS = (0.5, 0.75, 0.9, 0.95, 0.99)
ROWS_OF_LIME = 25  # of the 250, in *correlation*; a seed's mean over rows varies little
SIGNALS = ("linear", "interactions", "linear and boxes", "switch")
GROUPS = {"signal": slice(0, 6), "correlated": slice(6, 50), "other": slice(50, 100)}


def numbers(X, y) -> Table:
    """Make a table without words."""
    return Table(X, y, np.zeros(X.shape[1], dtype=bool), False)


def noisy(f, explained: float, rng) -> np.ndarray:
    """Add normal noise of which ``f`` is the share ``explained`` of the variance."""
    return f + rng.normal(0.0, np.sqrt(f.var() * (1 - explained) / explained), len(f))


def signal(name: str, X) -> tuple[np.ndarray, np.ndarray]:
    """Return the regression function, and which features it depends on in each row."""
    high = np.median(X, axis=0) < X
    matters = np.zeros(X.shape, dtype=bool)
    if name == "linear":
        matters[:, :5] = True
        return X[:, :5].sum(axis=1), matters
    if name == "interactions":
        matters[:, :6] = True
        return X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] * X[:, 5], matters
    if name == "linear and boxes":
        matters[:, :6] = True
        pairs = ((0, 1), (2, 3), (4, 5))
        return sum(X[:, a] + (high[:, a] & high[:, b]) for a, b in pairs), matters
    matters[:, 0] = True  # "switch": the first feature says which others matter
    matters[high[:, 0], 1:4] = True
    matters[~high[:, 0], 4:7] = True
    return np.where(high[:, 0], X[:, 1:4].sum(axis=1), X[:, 4:7].sum(axis=1)), matters


def drawn_signal(name: str, explained: float, n: int, rng) -> tuple[np.ndarray, ...]:
    """Draw 30 independent features in any order, a target, and what matters in each row."""
    X = rng.normal(size=(n, 30))
    f, matters = signal(name, X)
    order = rng.permutation(30)
    return X[:, order], noisy(f, explained, rng), matters[:, order]


def drawn_correlated(rho: float, n: int, rng) -> tuple[np.ndarray, ...]:
    """Draw 50 features that share a part and 50 independent ones, a target, and their places."""
    X = rng.normal(size=(n, 100))
    X[:, :50] = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * X[:, :50]
    high = X > 0
    f = X[:, :6].sum(axis=1) + sum(high[:, a] & high[:, a + 1] for a in (0, 2, 4))
    y = noisy(f, 0.1, rng)
    place = rng.permutation(100)  # of a feature
    return X[:, np.argsort(place)], y, place


def mean_auc(matters, scores) -> float:
    """Return the mean over rows of the AUC of a row's scores for what matters in it."""
    n_1 = matters.sum(axis=1)
    sums = (rankdata(scores, axis=1) * matters).sum(axis=1)
    return np.mean((sums - n_1 * (n_1 + 1) / 2) / (n_1 * (matters.shape[1] - n_1)))


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
