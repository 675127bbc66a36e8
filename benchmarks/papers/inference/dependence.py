"""Where independence fails: columns that copy others, and rows that belong together.

``copies``  y is the sum of three of 20 normal columns and noise of the same variance; three more
            are noisy copies of these, null given the originals, and the other 14 are noise.
``rows``    y is noise that subjects share, or a series with memory, and so are the columns; and
            rows that were used to fit or to choose parameters.
"""

import warnings

import numpy as np

from attributions.inputs import SeenRowsWarning
from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import counted, measured
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, chosen, listed, markdown, share, values_there

N = 1000
METHODS = tuple(judging.MEASURES)


def copies(cell, rng, size):
    """Judge noisy copies of columns that matter."""
    n = N if size == "full" else 60
    X = rng.normal(size=(2 * n, 20))
    rho = cell["correlation"]
    X[:, 3:6] = rho * X[:, :3] + np.sqrt(1 - rho**2) * X[:, 3:6]
    y = X[:, :3].sum(axis=1) + np.sqrt(3) * rng.normal(size=2 * n)
    options = {"max_depth": 4, "colsample": cell["colsample"], "random_state": 0}
    model = judging.model(size, n_estimators=200, **options).fit(X[:n], y[:n])
    for method in METHODS:
        found = measured(method, model, X[n:], y[n:], rng)[0].p_values() < judging.P_VALUE
        row = {"method": method}
        for kind, of in (("copies", found[3:6]), ("noise", found[6:]), ("true", found[:3])):
            row |= {kind: int(of.sum()), f"n_{kind}": len(of)}
        yield row


def copies_table(rows) -> str:
    """Tabulate false positives of copies and of independent noise."""
    lines = []
    for (*cell, method), found in by_values(rows, "colsample", "correlation", "method"):
        rates = [share(found, a, f"n_{a}") for a in ("copies", "noise", "true")]
        lines.append([*cell, f"`{method}`", *rates])
    names = ["colsample", "correlation", "test", "copies, p < .05", "noise", "originals"]
    return markdown(names, lines)


COPIES = crossed(colsample=(1.0, 0.3), correlation=(0.5, 0.8, 0.95))

# ---------------------------------------------------------------------------------------- rows

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


def rows_that_are_not_independent(cell, rng, size):
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
            result, _ = measured(method, model, X[judged], y[judged], rng, **options)
        yield {"method": method, **counted(result, np.ones(10, dtype=bool))}


def tuned(size, X, y, fitted_on, held_out):
    """Return the best of 24 models by the rows that will judge it."""
    settings = crossed(
        max_depth=(2, 4), learning_rate=(0.03, 0.1), reg_lambda=(1, 10, 100), n_estimators=(30, 100)
    )
    models = [judging.model(size, **s).fit(X[fitted_on], y[fitted_on]) for s in settings]
    errors = [np.mean((m.predict(X[held_out]) - y[held_out]) ** 2) for m in models]
    return models[int(np.argmin(errors))]


def rows_table(rows) -> str:
    """Tabulate false positives by case and test."""
    methods = values_there(rows, "method", METHODS)
    return listed(
        rows, ("case",), ["rows that judge", *(f"`{m}`" for m in methods)],
        lambda own: [share(chosen(own, method=m), "false", "n_null") for m in methods],
    )  # fmt: skip


PARTS = (
    Part("copies", COPIES, copies, 60, copies_table),
    Part("rows", crossed(case=CASES), rows_that_are_not_independent, 60, rows_table),
)
