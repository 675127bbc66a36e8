"""What a measure costs: 1,000,000 rows and 400 trees against one prediction of the rows.

    python -m benchmarks.speed.measure_cost held_out_gain            three minutes, two quiet cores
    python -m benchmarks.speed.measure_cost unbiased_gain --write    and the CSV file and the page
    python -m benchmarks.speed.measure_cost unbiased_gain --from-results --write    the page again

Held-out gain is asked about all rows; for unbiased gain half of them are for training and half for
validation. A measure is timed beside what a user calls to predict all rows, ``predict`` or
``predict_proba``, which check the table as it does, and beside the trees alone,
``ensemble_.raw_predict``. Runs come in turn; the table has medians of ratios of neighbouring runs.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from attributions import held_out_gain, unbiased_gain
from benchmarks.speed.settling import settle
from benchmarks.study.files import RESULTS, fill, read_rows, write_rows
from benchmarks.study.part import SEED
from benchmarks.study.tables import markdown
from gbt import GBTClassifier, GBTRegressor

MEASURES = {
    "held_out_gain": lambda model, X, y, half, **asked: held_out_gain(model, X, y, **asked),
    "unbiased_gain": lambda model, X, y, half, **asked: unbiased_gain(
        model, X[:half], y[:half], X[half:], y[half:], **asked
    ),
}
N_ROWS, N_COLUMNS, N_TREES, N_TRAINED_ON = 1_000_000, 50, 400, 20_000


def seconds(run: Callable) -> float:
    """Return the time of one run."""
    settle()
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


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
    for task, cls in (("regression", GBTRegressor), ("binary", GBTClassifier)):
        targets = target if task == "regression" else (target > 0).astype(float)
        y, y_fit = targets[:n_rows], targets[n_rows:]
        for max_depth in (4, 6):
            model = cls(n_estimators=n_trees, max_depth=max_depth, splitter="greedy", n_jobs=n_jobs)
            model.fit(X_fit, y_fit)
            for standard_error in (False, True):
                ours = partial(
                    MEASURES[measure], model, X, y, half,
                    standard_error=standard_error, n_jobs=n_jobs,
                )  # fmt: skip
                trees = partial(model.ensemble_.raw_predict, X, n_jobs)
                call = model.predict if task == "regression" else model.predict_proba
                ours()
                turn = ours, partial(call, X), trees
                times = np.array([[seconds(run) for run in turn] for _ in range(n_runs)])
                own = float(np.median(times[:, 0]))
                by_call, by_trees = np.median(times[:, :1] / times[:, 1:], axis=0).tolist()
                rows.append(
                    {
                        "task": task,
                        "max_depth": max_depth,
                        "standard_error": int(standard_error),
                        "rows": n_rows,
                        "trees": n_trees,
                        "threads": n_jobs,
                        "repetitions": n_runs,
                        "seconds": own,
                        "times_predicting": by_call,
                        "times_the_trees_alone": by_trees,
                    }
                )
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
    parser.add_argument("measure", choices=MEASURES)
    parser.add_argument("--runs", type=int, default=5, help="of each kind, for every line")
    parser.add_argument("--n-jobs", type=int, default=2, help="threads")
    parser.add_argument("--write", action="store_true", help="the CSV file and the page")
    parser.add_argument("--from-results", action="store_true", help="read the CSV file")
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
