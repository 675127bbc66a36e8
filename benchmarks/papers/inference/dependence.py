"""Where independence fails: rows that belong together, and rows that were used before.

y is noise that subjects share, or a series with memory, and so are the columns; and rows were used
to fit or to choose parameters.
"""

import warnings

import numpy as np

from attributions.inputs import SeenRowsWarning
from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import counted, measured
from benchmarks.study import Part, crossed
from benchmarks.study.tables import chosen, listed, share, values_there

METHODS = tuple(judging.MEASURES)
CASES = (
    "subjects, rows split at random",
    "subjects split, rows counted",
    "subjects split, groups=subjects",
    "series, rows split at random",
    "series in two halves, rows counted",
    "series in two halves, groups=50 rows",
    "series in two halves, groups=200 rows",
    "independent rows, fitted on",
    "independent rows, 24 settings chosen on them",
    "independent rows, not seen",
)


def subjects(rng, n_subjects):
    """Draw ten columns and a target that are constant, or nearly so, within subjects of 10 rows."""
    of_row = np.repeat(np.arange(n_subjects), 10)
    X = rng.normal(size=(n_subjects, 10))[of_row]
    return X, rng.normal(size=n_subjects)[of_row] + 0.5 * rng.normal(size=len(of_row)), of_row


def series(rng, n):
    """Draw ten columns and a target, all with memory 0.95 from row to row."""
    steps = rng.normal(size=(n, 11))
    for t in range(1, n):
        steps[t] = 0.95 * steps[t - 1] + np.sqrt(1 - 0.95**2) * steps[t]
    return steps[:, :10], steps[:, 10]


def experiment(cell, rng, size):
    """Judge noise on rows that share it, or that were used before."""
    case, n = cell["case"], 1000 if size == "full" else 400
    groups = None
    if case.startswith("subjects"):
        X, y, groups = subjects(rng, n // 5)
        at_random = rng.permutation(2 * n)
        split = at_random if "random" in case else np.arange(2 * n)
    elif case.startswith("series"):
        X, y = series(rng, 2 * n)
        split = rng.permutation(2 * n) if "random" in case else np.arange(2 * n)
        groups = np.arange(2 * n) // (200 if "200" in case else 50)
    else:
        X, y, split = rng.normal(size=(2 * n, 10)), rng.normal(size=2 * n), np.arange(2 * n)
    fitted_on, held_out = split[:n], split[n:]
    options = {"groups": groups[held_out]} if "groups=" in case else {}
    model = judging.model(size, n_estimators=100, max_depth=4)
    if "24 settings" in case:
        model = tuned(size, X, y, fitted_on, held_out)
    else:
        model.fit(X[fitted_on], y[fitted_on])
    judged = fitted_on if case.endswith("fitted on") else held_out
    for method in METHODS:
        with warnings.catch_warnings():  # rows that were fitted on are one of the cases
            warnings.simplefilter("ignore", SeenRowsWarning)
            result = measured(method, model, X[judged], y[judged], rng, **options)
        yield {"method": method, **counted(result, np.ones(10, dtype=bool))}


def tuned(size, X, y, fitted_on, held_out):
    """Return the best of 24 models by the rows that will judge it."""
    settings = crossed(
        max_depth=(2, 4), learning_rate=(0.03, 0.1), reg_lambda=(1, 10, 100), n_estimators=(30, 100)
    )
    models = [judging.model(size, **s).fit(X[fitted_on], y[fitted_on]) for s in settings]
    errors = [np.mean((m.predict(X[held_out]) - y[held_out]) ** 2) for m in models]
    return models[int(np.argmin(errors))]


def table(rows) -> str:
    """Tabulate false positives by case and test."""
    methods = values_there(rows, "method", METHODS)
    return listed(
        rows, ("case",), ["rows that judge", *(f"`{m}`" for m in methods)],
        lambda own: [share(chosen(own, method=m), "false", "n_null") for m in methods],
    )  # fmt: skip


PART = Part("rows", crossed(case=CASES), experiment, 60, table)
