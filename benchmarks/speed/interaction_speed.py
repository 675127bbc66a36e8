"""Time SHAP interaction values against XGBoost's, after checking that they agree.

    python -m benchmarks.speed.interaction_speed

One XGBoost model a case, the same that both explain. Ours visits the leaves of every tree once
(``attributions.kernels.shap_pairs``). Either writes a number for each pair of columns and row. Runs
alternate; medians. Needs the extra ``peers``.
"""

from functools import partial

import numpy as np

from attributions import tree_shap_pairs
from benchmarks.speed.attribution_speed import CASES, accuracy_of, boosted, data_of, paired
from benchmarks.speed.timing import Page
from gbt.formats import as_ensemble

N_ROWS = (500, 500, 200)  # of the cases
COLUMNS = (10, 50)


def main():
    """Verify, then time, and print a Markdown table."""
    import xgboost

    with Page("interaction_speed", __doc__, repeats=3) as page:
        repeats = page.asked.repeats
        page.begin(f"float32 rows; medians of {repeats} paired runs", "xgboost")
        page.head("columns", "model", "rows", "ours, ms", "XGBoost / ours")
        for n_columns in COLUMNS:
            X, y = data_of(5_000)
            X = np.ascontiguousarray(X[:, :n_columns])
            for case, n_rows in zip(CASES, N_ROWS, strict=True):
                booster = boosted(case, X, y)
                ensemble, rows = as_ensemble(booster), X[:n_rows]
                data = xgboost.DMatrix(rows)
                peer = partial(booster.predict, data, pred_interactions=True)
                own = partial(tree_shap_pairs, ensemble, rows)
                difference = np.abs(own().values - peer()[:, :-1, :-1]).max()
                if difference > accuracy_of(ensemble):
                    raise SystemExit(f"{case.name}: not the numbers of XGBoost; nothing timed")
                page.row(n_columns, case.name, n_rows, *paired(own, peer, repeats))


if __name__ == "__main__":
    main()
