"""What judging twelve months apart costs beside judging all rows at once: a million rows.

    python -m benchmarks.speed.by_month            one minute, two quiet cores

``held_out_gain(..., by=month)`` copies the rows of each month and walks them, so that the walks
together are no longer than that of all rows. First a month is compared with a call of its own.
"""

import argparse
from functools import partial

import numpy as np

from attributions import held_out_gain
from benchmarks.speed.timing import in_turn, median
from benchmarks.study import SEED
from benchmarks.study.tables import markdown
from gbt import GBTClassifier, GBTRegressor

N_COLUMNS, N_TREES, N_FITTED, N_MONTHS = 20, 100, 20_000, 12


def main() -> None:
    """Verify, then time, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(options.rows + N_FITTED, N_COLUMNS)).astype(np.float32)
    target = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    month = rng.integers(N_MONTHS, size=options.rows)
    lines = []
    for kind, y in ((GBTRegressor, target), (GBTClassifier, target > 0)):
        model = kind(n_estimators=N_TREES, splitter="greedy").fit(X[-N_FITTED:], y[-N_FITTED:])
        rows, y = X[: options.rows], y[: options.rows]
        at_once = partial(held_out_gain, model, rows, y)
        by_month = partial(held_out_gain, model, rows, y, by=month)
        alone = held_out_gain(model, rows[month == 3], y[month == 3])
        if (by_month()[3].values != alone.values).any():
            raise SystemExit("a month is not what a call of its own returns; nothing timed")
        runs = in_turn({"once": at_once, "months": by_month}, options.runs)
        medians = [f"{median(own).clock:.2f}" for own in runs.values()]
        ratio = median(runs["months"] / runs["once"]).clock
        lines.append([kind.__name__, *medians, f"{ratio:.2f}"])
    heads = ["model", "all rows at once, s", f"{N_MONTHS} months, s", "months / at once"]
    print(markdown(heads, lines))


if __name__ == "__main__":
    main()
