"""What a measure costs: 1,000,000 rows and 400 trees against one prediction of the rows.

    python -m benchmarks.speed.measure_cost held_out_gain            three minutes, two quiet cores
    python -m benchmarks.speed.measure_cost unbiased_gain --write    and the CSV file and the page

Held-out gain is asked about all rows; for unbiased gain half of them are for training and half for
validation. A measure is timed beside what a user calls to predict all rows, ``predict`` or
``predict_proba``, which check the table as it does, and beside the trees alone,
``ensemble_.raw_predict``. Runs come in turn; the table has medians of ratios of neighbouring runs.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np

from attributions import held_out_gain, unbiased_gain
from benchmarks.speed.timing import in_turn, median
from benchmarks.study import SEED, crossed, ours
from benchmarks.study.files import RESULTS, fill, read_rows, write_rows
from benchmarks.study.tables import markdown

MEASURES = {
    "held_out_gain": lambda model, X, y, half, **asked: held_out_gain(model, X, y, **asked),
    "unbiased_gain": lambda model, X, y, half, **asked: unbiased_gain(
        model, X[:half], y[:half], X[half:], y[half:], **asked
    ),
}
N_ROWS, N_COLUMNS, N_TREES, N_TRAINED_ON = 1_000_000, 50, 400, 20_000


def file_of(measure: str) -> Path:
    """Return where the results of a measure are kept."""
    return RESULTS / f"{measure.removesuffix('_gain')}_cost.csv"


def cost(
    measure: str, n_runs: int, n_jobs: int, n_rows: int = N_ROWS, n_trees: int = N_TREES
) -> list[dict]:
    """Time a measure beside one prediction of its rows."""
    rng = np.random.default_rng(SEED)
    half, few = n_rows // 2, min(N_TRAINED_ON, n_rows // 2)
    X = rng.normal(size=(n_rows + few, N_COLUMNS)).astype(np.float32)
    target = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    X, X_fit = X[:n_rows], X[n_rows:]
    rows = []
    for cell in crossed(task=("regression", "binary"), max_depth=(4, 6), standard_error=(0, 1)):
        is_class, standard_error = cell["task"] == "binary", bool(cell["standard_error"])
        y, y_fit = np.split((target > 0).astype(float) if is_class else target, [n_rows])
        shape = {"n_estimators": n_trees, "max_depth": cell["max_depth"]}
        model = ours(is_class, n_jobs=n_jobs, **shape).fit(X_fit, y_fit)
        options = {"standard_error": standard_error, "n_jobs": n_jobs}
        measured = partial(MEASURES[measure], model, X, y, half, **options)
        measured()
        runs = in_turn(
            {
                "measure": measured,
                "predicting": partial(model.predict_proba if is_class else model.predict, X),
                "the_trees_alone": partial(model.ensemble_.raw_predict, X, n_jobs),
            },
            n_runs,
        )
        row = {"rows": n_rows, "trees": n_trees, "threads": n_jobs, "repetitions": n_runs}
        row["seconds"] = median(runs["measure"]).clock
        for name in ("predicting", "the_trees_alone"):
            row[f"times_{name}"] = median(runs["measure"] / runs[name]).clock
        rows.append(cell | row)
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


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


def main(arguments=None) -> int:
    """Time, or read what was timed, print the table and, if asked, write it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.measure_cost", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("measure", choices=MEASURES)
    add("--runs", type=int, default=5, help="of each kind, for every line")
    add("--n-jobs", type=int, default=2, help="threads")
    add("--write", action="store_true", help="the CSV file and the page")
    add("--from-results", action="store_true", help="read the CSV file")
    asked = parser.parse_args(arguments)
    file = file_of(asked.measure)
    rows = read_rows(file) if asked.from_results else cost(asked.measure, asked.runs, asked.n_jobs)
    print(table(rows))
    if asked.write:
        if not asked.from_results:
            command = f"python -m benchmarks.speed.measure_cost {asked.measure} --write"
            write_rows(file, rows, command)
        fill({"cost": table(rows)}, asked.measure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
