"""What judging twelve months apart costs beside judging all rows at once: a million rows.

    python -m benchmarks.speed.by_month            one minute, two quiet cores

``held_out_gain(..., by=month)`` copies the rows of each month and walks them, so that the walks
together are no longer than that of all rows. First a month is compared with a call of its own.
"""

from functools import partial

import numpy as np

from attributions import held_out_gain
from benchmarks.speed.timing import Page, in_turn, median
from benchmarks.study import SEED
from gbt import GBTClassifier, GBTRegressor

N_COLUMNS, N_TREES, N_FITTED, N_MONTHS = 20, 100, 20_000, 12


def main() -> None:
    """Verify, then time, and print a Markdown table."""
    with Page("by_month", __doc__, rows=1_000_000, runs=5) as page:
        n_rows = page.asked.rows
        rng = np.random.default_rng(SEED)
        X = rng.normal(size=(n_rows + N_FITTED, N_COLUMNS)).astype(np.float32)
        target = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=len(X))
        month = rng.integers(N_MONTHS, size=n_rows)
        page.head("model", "all rows at once, s", f"{N_MONTHS} months, s", "months / at once")
        for kind, y in ((GBTRegressor, target), (GBTClassifier, target > 0)):
            model = kind(n_estimators=N_TREES, splitter="greedy").fit(X[-N_FITTED:], y[-N_FITTED:])
            rows, y = X[:n_rows], y[:n_rows]
            at_once = partial(held_out_gain, model, rows, y)
            by_month = partial(held_out_gain, model, rows, y, by=month)
            alone = held_out_gain(model, rows[month == 3], y[month == 3])
            if (by_month()[3].values != alone.values).any():
                raise SystemExit("a month is not what a call of its own returns; nothing timed")
            runs = in_turn({"once": at_once, "months": by_month}, page.asked.runs)
            medians = [f"{median(own).clock:.2f}" for own in runs.values()]
            page.row(kind.__name__, *medians, f"{median(runs['months'] / runs['once']).clock:.2f}")


if __name__ == "__main__":
    main()
