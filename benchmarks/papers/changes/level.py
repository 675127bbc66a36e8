"""How often something is said to have changed where nothing has.

Six periods of one law are compared with the first, and each with the one before. Counted are the
tables in which any difference, of six features and five periods, is beyond chance at 95 %. In
"unequal" tables the first period has 1,000 rows, the others as many as the column says. "As they
are" compares values that are judged by all rows of a period at once, with their own errors.
"""

import numpy as np
from scipy.special import ndtr

from attributions import held_out_gain
from benchmarks.papers.changes.periods import N_FIT, draw, fitted
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, cell_of, column, markdown

N_PERIODS = 6
FIRST = 1000
WAYS = {
    "loss": "with the first, loss a row",
    "percent": "the same, per cent",
    "before": "with the one before, loss",
    "slope": "trend, loss",
    "as_they_are": "as they are",
}


def table_of(target, sizes, rng, changes=("nothing",) * N_PERIODS):
    """Draw periods of these sizes one after another."""
    subjects = rng.normal(size=(min(sizes), 2)) if target == "panel" else None
    parts = [
        draw(target, n, rng, change, subjects) for n, change in zip(sizes, changes, strict=True)
    ]
    X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    period = np.repeat(np.arange(len(sizes)), sizes)
    groups = None
    if parts[0][2] is not None:
        groups = np.concatenate([part[2] for part in parts])
        groups = groups if target == "panel" else groups + 10**6 * period
    return X, y, period, groups


def as_they_are(result) -> bool:
    """Say whether values of whole periods differ from the first's beyond their errors."""
    values, error = result.values_in("loss"), result.standard_error_in("loss")
    with np.errstate(invalid="ignore"):
        t = (values[1:] - values[0]) / np.hypot(error[1:], error[0])
    p = 2 * ndtr(-np.abs(t[np.isfinite(t)]))
    return bool((p * len(p) <= 0.05).any())


def experiment(cell, rng, size):
    """Fit a model, draw periods, and say which comparisons find something."""
    target, n = cell["target"], cell["rows"]
    X, y, _, _ = table_of(target, [N_FIT], rng, ("nothing",))
    model = fitted(target, cell["trainer"], X, y, int(rng.integers(2**31)))
    sizes = [FIRST if cell["unequal"] else n] + [n] * (N_PERIODS - 1)
    X, y, period, groups = table_of(target, sizes, rng)
    result = held_out_gain(model, X, y, by=period, groups=groups, n_jobs=1)
    of_first = {unit: result.changes(0, unit=unit) for unit in ("loss", "percent")}
    row = {unit: bool(found.changed().any()) for unit, found in of_first.items()}
    row["before"] = bool(result.changes(unit="loss").changed().any())
    row["as_they_are"] = as_they_are(result)
    row["slope"] = bool(result.trend(unit="loss").changed().any())
    yield {name: int(found) for name, found in row.items()}


def table(rows) -> str:
    """Return the share of tables in which something is found, cell by cell."""
    lines = []
    for (target, unequal, n), there in by_values(rows, "target", "unequal", "rows"):
        shares = [cell_of(column(there, name), 2) for name in WAYS]
        shown = f"{FIRST:,} and {n}" if unequal else f"{n:,}"
        lines.append([target, shown, len(there), *shares])
    return markdown(["target", "rows", "tables", *WAYS.values()], lines)


CELLS = crossed(
    target=("number", "long tails", "rare class", "groups", "panel"),
    trainer=("default", "greedy"), unequal=(0, 1), rows=(50, 200, 1000),
)  # fmt: skip
USED = tuple(cell for cell in CELLS if not (cell["unequal"] and cell["rows"] == FIRST))
LEVEL = Part("level", USED, experiment, 40, table)
