"""Subgroups: whether clusters of scores are groups in which a linear model is good.

A model is fitted on half of a table. The other half is explained and clustered by its signed scores
(k-means); in every cluster a linear model is fitted to half of the cluster, drawn at random, and
judged on the other half, five times. What counts is the mean squared error of all clusters
together, as a share of that of one linear model for all: below 1 the groups have paid for
themselves. Beside scores, rows are clustered by their columns, by the prediction alone, and by
chance; "global" clusters the columns, each multiplied by its global score.

Linear models are ridges of penalty 1 on standardised numbers and a column a level, since a cluster
may have fewer rows than there are columns. (The paper has least squares, one table, and 100 draws.)
Tables are those whose target is a number. The held-out gain is left out: it would have to know the
targets that are then predicted.
"""

import warnings
from operator import itemgetter

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from benchmarks.papers.local_mdi_study.methods import AGGREGATES, Explained, by_score, methods_of
from benchmarks.papers.local_mdi_study.models import fitted
from benchmarks.papers.local_mdi_study.tables import NUMBERS, halves, with_columns_of_words
from benchmarks.study.tables import cell_of, chosen, markdown, means_by, values_there

N_ROWS = 2000  # of the tables that have so many
COUNTS = tuple(range(2, 11))
N_DRAWS = 5
PENALTY = 1.0
COLUMNS, PREDICTION, CHANCE = "columns", "prediction", "chance"


def experiment(cell, rng, size):
    """Yield the error over that of one linear model, a line a method and aggregate."""
    fit, new = halves(cell["data"], rng, size, N_ROWS, 0.5)
    seed = int(rng.integers(2**31))
    explained = Explained(fitted(cell["model"], fit, size, seed), fit, seed, size)
    columns = with_columns_of_words(new, new)
    counts = COUNTS if size == "full" else (2, 3)
    draws = [rng.random(len(new.y)) for _ in range(N_DRAWS if size == "full" else 1)]
    whole = error_within(columns, new.y, np.zeros(len(new.y), dtype=int), draws)

    def line(method, aggregate, groups_of):
        errors = {f"{k} groups": error_within(columns, new.y, groups_of(k), draws) for k in counts}
        ratios = {name: round(float(error / whole), 5) for name, error in errors.items()}
        return {"method": method, "aggregate": aggregate, **ratios}

    def by_means(space):
        return lambda k: clusters(space, k, seed)

    yield line(COLUMNS, "", by_means(columns))
    raw = explained.ensemble.raw_predict(new.X, 1)
    yield line(PREDICTION, "", by_means(raw[:, np.newaxis]))
    yield line(CHANCE, "", lambda k: rng.integers(k, size=len(new.y)))
    for method, scores in explained.of_all(methods_of(cell["model"], ["held_out"]), new.X):
        for aggregate in AGGREGATES:
            if aggregate == "global":
                spread = np.where(new.is_word, 1.0, new.X.std(axis=0))
                space = new.X / np.where(spread > 0, spread, 1.0) * scores.weights
            else:
                space = scores.signed if aggregate == "sum" else scores.by(aggregate)
            yield line(method, aggregate, by_means(space))


def clusters(space: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the cluster of every row; fewer than k where there are fewer distinct rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=2, random_state=seed % 2**31).fit_predict(space)


def error_within(columns, y, group, draws) -> float:
    """Return the mean squared error of linear models, each fitted to half of a group.

    A draw is a number a row, and the half of a group's rows with the lower numbers is fitted.
    """
    error = 0.0
    for draw in draws:
        for g in np.unique(group):
            rows = np.flatnonzero(group == g)
            rows = rows[np.argsort(draw[rows])]
            fit, new = np.split(rows, [(len(rows) + 1) // 2])
            if len(new) == 0:  # one row: nothing is left to judge it by but the others' mean
                fit, new = np.delete(np.arange(len(y)), rows), rows
            predicted = ridge(columns[fit], y[fit], columns[new])
            error += ((y[new] - predicted) ** 2).mean() * len(rows)
    return error / (len(y) * len(draws))


def ridge(X, y, X_new) -> np.ndarray:
    """Predict by a ridge, in whichever form is smaller."""
    centre, mean = X.mean(axis=0), y.mean()
    X, X_new, y = X - centre, X_new - centre, y - mean
    if len(X) < X.shape[1]:
        return mean + X_new @ (X.T @ np.linalg.solve(X @ X.T + PENALTY * np.eye(len(X)), y))
    return mean + X_new @ np.linalg.solve(X.T @ X + PENALTY * np.eye(X.shape[1]), X.T @ y)


def mean_over_counts(row) -> float:
    """Return the mean of the errors in all numbers of groups."""
    return float(np.mean([row[name] for name in row if name.endswith(" groups")]))


def table(rows) -> str:
    """List a line a model, method and aggregate: each table's mean over 2 to 10 groups, and all."""
    names = values_there(rows, "data", NUMBERS)
    shown = [name for name in ("2 groups", "4 groups", "10 groups") if name in rows[0]]
    lines = []
    for label, own in by_score(rows):
        parts = [(chosen(own, data=name), mean_over_counts) for name in names]
        parts += [(own, mean_over_counts), *((own, itemgetter(name)) for name in shown)]
        cells = [cell_of(means_by(part, "replication", value), 3) for part, value in parts]
        lines.append([*label, *cells])
    heads = [*names, "all", *(f"all, {name}" for name in shown)]
    return markdown(["model", "method", "aggregate", *heads], lines)
