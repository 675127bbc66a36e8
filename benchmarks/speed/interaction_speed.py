"""Time SHAP interaction values against XGBoost's, after checking that they agree.

    python -m benchmarks.speed.interaction_speed

One XGBoost model a case, the same that both explain. Ours visits the leaves of every tree once
(``attributions.kernels.shap_pairs``). Either writes a number for each pair of columns and row. Runs
alternate; medians. Needs the extra ``peers``.
"""

import argparse
import platform

import numpy as np
from llvmlite.binding import get_host_cpu_name

import gbt
from attributions import tree_shap_pairs
from benchmarks.speed.attribution_speed import Case, Pairs, boosted, data_of
from gbt.formats import as_ensemble
from gbt.parallel.cores import available_cores

CASES = [
    (Case(400, 4, 0, 0, 10), 500),
    (Case(100, 6, 0, 0, 10), 500),
    (Case(100, 10, 0, 0, 1), 200),
]
COLUMNS = (10, 50)


def main():
    """Verify, then time, and print a Markdown table."""
    import xgboost

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{platform.machine()}, {get_host_cpu_name()}, {available_cores()} threads,"
        f" Python {platform.python_version()}, gbt {gbt.__version__},"
        f" XGBoost {xgboost.__version__}; float32 rows; medians of {options.repeats} paired runs\n"
    )
    print("| columns | model | rows | ours, ms | XGBoost / ours |")
    print("|---|---|---|---|---|")
    for n_columns in COLUMNS:
        X, y = data_of(5_000)
        X = np.ascontiguousarray(X[:, :n_columns])
        for case, n_rows in CASES:
            booster = boosted(case, X, y)
            ensemble, rows = as_ensemble(booster), X[:n_rows]
            data = xgboost.DMatrix(rows)
            theirs = booster.predict(data, pred_interactions=True)[:, :-1, :-1]
            ours = tree_shap_pairs(ensemble, rows).values
            accuracy = 64 * np.finfo(np.float32).eps * np.abs(ensemble.value).max()
            if np.abs(ours - theirs).max() > accuracy * ensemble.n_trees:
                raise SystemExit(f"{case.name}: not the numbers of XGBoost; nothing timed")
            pairs = Pairs.of(
                lambda ensemble=ensemble, rows=rows: tree_shap_pairs(ensemble, rows),
                lambda booster=booster, data=data: booster.predict(data, pred_interactions=True),
                case.shap,
                options.repeats,
            )
            print(
                f"| {n_columns} | {case.name} | {n_rows} | {1e3 * pairs.seconds:.0f}"
                f" | {pairs.ratio:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
