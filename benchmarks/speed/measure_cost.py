"""What a measure costs: 1,000,000 rows and 400 trees against one prediction of the rows.

    python -m benchmarks.papers.held_out cost --write        three minutes, two quiet cores
    python -m benchmarks.papers.unbiased cost --write

Held-out gain is asked about all rows; for unbiased gain half of them are for training and half for
validation. A measure is timed beside what a user calls to predict all rows, ``predict`` or
``predict_proba``, which check the table as it does, and beside the trees alone,
``ensemble_.raw_predict``. Runs come in turn; the table has medians of ratios of neighbouring runs.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.speed.timing import in_turn, median
from benchmarks.study import SEED, Part, crossed, ours
from benchmarks.study.tables import markdown

N_ROWS, N_COLUMNS, N_TREES, N_TRAINED_ON, N_JOBS, REPEATS = 1_000_000, 50, 400, 20_000, 2, 5


def experiment(measure: Callable, cell, rng, size):
    """Time a measure, which takes a model, X and y, beside one prediction of its rows."""
    n_rows, n_trees = (N_ROWS, N_TREES) if size == "full" else (400, 2)
    few = min(N_TRAINED_ON, n_rows // 2)
    rng = np.random.default_rng(SEED)  # the same rows in all cells
    X = rng.normal(size=(n_rows + few, N_COLUMNS)).astype(np.float32)
    y = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    is_class = cell["task"] == "binary"
    y = (y > 0).astype(float) if is_class else y
    shape = {"n_estimators": n_trees, "max_depth": cell["max_depth"]}
    model = ours(is_class, n_jobs=N_JOBS, **shape).fit(X[n_rows:], y[n_rows:])
    X, y = X[:n_rows], y[:n_rows]
    options = {"standard_error": bool(cell["standard_error"]), "n_jobs": N_JOBS}
    measured = partial(measure, model, X, y, **options)
    measured()
    runs = in_turn(
        {
            "measure": measured,
            "predicting": partial(model.predict_proba if is_class else model.predict, X),
            "the_trees_alone": partial(model.ensemble_.raw_predict, X, N_JOBS),
        },
        REPEATS if size == "full" else 1,
    )
    row = {"rows": n_rows, "trees": n_trees, "threads": N_JOBS, "repetitions": REPEATS}
    row["seconds"] = median(runs["measure"]).clock
    for name in ("predicting", "the_trees_alone"):
        row[f"times_{name}"] = median(runs["measure"] / runs[name]).clock
    yield row


def table(rows: list[dict]) -> str:
    """Make a line a model."""
    lines = []
    for row in rows:
        words = "with" if row["standard_error"] else "without"
        model = f"{row['task']}, {row['trees']} trees of depth {row['max_depth']}"
        ratios = [f"{row[f'times_{what}']:.1f}" for what in ("predicting", "the_trees_alone")]
        lines.append([model, words, *ratios])
    heading = ["model", "standard errors", "times predicting the rows", "times the trees alone"]
    return markdown(heading, lines)


def cost_of(measure: Callable) -> Part:
    """Return the part that times a measure."""
    cells = crossed(task=("regression", "binary"), max_depth=(4, 6), standard_error=(0, 1))
    return Part("cost", cells, partial(experiment, measure), 1, table, is_timed=True)
