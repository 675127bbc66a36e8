"""Time SHAP interaction values against XGBoost's, after checking that they agree.

    python -m benchmarks.speed.interaction_speed

One XGBoost model a case, the same that both explain. Ours visits the leaves of every tree once
(``attributions.kernels.shap_pairs``). Either writes a number for each pair of columns and row. Runs
alternate; medians. Needs the extra ``peers``.
"""

import argparse

import numpy as np

from attributions import tree_shap_pairs
from benchmarks.speed.attribution_speed import CASES, accuracy_of, boosted, data_of, paired
from benchmarks.speed.timing import conditions
from gbt.formats import as_ensemble

N_ROWS = (500, 500, 200)  # of the cases
COLUMNS = (10, 50)


def main():
    """Verify, then time, and print a Markdown table."""
    import xgboost

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print(f"{conditions('xgboost')}; float32 rows; medians of {repeats} paired runs\n")
    print("| columns | model | rows | ours, ms | XGBoost / ours |")
    print("|---|---|---|---|---|")
    for n_columns in COLUMNS:
        X, y = data_of(5_000)
        X = np.ascontiguousarray(X[:, :n_columns])
        for case, n_rows in zip(CASES, N_ROWS, strict=True):
            booster = boosted(case, X, y)
            ensemble, rows = as_ensemble(booster), X[:n_rows]
            data = xgboost.DMatrix(rows)
            theirs = booster.predict(data, pred_interactions=True)[:, :-1, :-1]
            difference = np.abs(tree_shap_pairs(ensemble, rows).values - theirs).max()
            if difference > accuracy_of(ensemble):
                raise SystemExit(f"{case.name}: not the numbers of XGBoost; nothing timed")
            pair = paired(
                lambda ensemble=ensemble, rows=rows: tree_shap_pairs(ensemble, rows),
                lambda booster=booster, data=data: booster.predict(data, pred_interactions=True),
                repeats,
            )
            print("| " + " | ".join([f"{n_columns}", case.name, f"{n_rows}", *pair]) + " |")


if __name__ == "__main__":
    main()
