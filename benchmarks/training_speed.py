"""Time training against XGBoost's exact method, after checking that the trees are the same.

    python -m benchmarks.training_speed

Every case is fitted by both in turn, several times; the ratio of a pair is that of two neighbouring
runs, so it holds when the machine's speed drifts, and the table gives the median over the pairs.

No time is printed unless the first trees predict alike to float32 accuracy and all trees together
leave the same training error within 5 %. (Node by node the trees are compared in
``tests/test_parity_xgboost.py``. XGBoost rounds gains to float32, so that in a long run of deep
trees one of two nearly equal cuts is sooner or later chosen otherwise, and predictions drift apart:
at depth 8 the training errors were seen to differ by 3 %.) Needs the extra ``peers``.
"""

import argparse
import platform
import statistics
import time
from dataclasses import dataclass, replace

import numpy as np
import xgboost

import gbt
from gbt.parallel import available_cores


@dataclass(frozen=True)
class Case:
    """A data set and the parameters that both libraries are given."""

    name: str
    n_rows: int
    n_columns: int
    max_depth: int
    n_rounds: int
    discrete: bool = False


CASES = [
    Case("1,000 x 50 discrete", 1_000, 50, 4, 400, discrete=True),
    Case("3,000 x 20 continuous", 3_000, 20, 8, 60),
    Case("20,000 x 50 continuous", 20_000, 50, 6, 100),
    Case("100,000 x 50 continuous", 100_000, 50, 6, 20),
]


def data_of(case: Case):
    """Return float32-representable rows and targets with signal, interaction and noise."""
    rng = np.random.default_rng(0)
    if case.discrete:
        X = rng.integers(0, np.arange(2, case.n_columns + 2), size=(case.n_rows, case.n_columns))
        X = X / np.arange(1, case.n_columns + 1)
    else:
        X = rng.normal(size=(case.n_rows, case.n_columns))
    X = X.astype(np.float32)
    y = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=case.n_rows)
    return X, y.astype(np.float32).astype(float)


def fit_ours(case, X, y):
    """Fit, column preparation included, and return the predictions on the training rows."""
    model = gbt.GBTRegressor(
        n_estimators=case.n_rounds, max_depth=case.max_depth, base_score=0.5
    ).fit(X, y)
    return lambda: model.predict(X)


def fit_xgboost(case, X, y, tree_method):
    """Fit, DMatrix included."""
    data = xgboost.DMatrix(X, y)
    booster = xgboost.train(
        {
            "tree_method": tree_method,
            "max_depth": case.max_depth,
            "eta": 0.1,
            "base_score": 0.5,
            "nthread": available_cores(),
        },
        data,
        case.n_rounds,
    )
    return lambda: booster.predict(data)


def is_verified(case, X, y):
    """Say whether both libraries grow the same first trees and leave the same training error."""
    first = replace(case, n_rounds=3)
    difference = fit_ours(first, X, y)() - fit_xgboost(first, X, y, "exact")()
    ours, theirs = (
        np.mean((predict() - y) ** 2)
        for predict in (fit_ours(case, X, y), fit_xgboost(case, X, y, "exact"))
    )
    return np.abs(difference).max() < 1e-5 * np.abs(y).max() and abs(ours / theirs - 1) < 0.05


def seconds(fit, *arguments):
    """Return the time of one fit."""
    started = time.perf_counter()
    fit(*arguments)
    return time.perf_counter() - started


def main():
    """Verify, then time, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    print(
        f"{platform.machine()}, {available_cores()} threads, Python {platform.python_version()},"
        f" gbt {gbt.__version__}, XGBoost {xgboost.__version__};"
        f" medians of {repeats} paired runs, column preparation included\n"
    )
    print("| data | depth | rounds | ours, s | XGBoost exact / ours | XGBoost hist / ours |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        X, y = data_of(case)
        if not is_verified(case, X, y):
            raise SystemExit(f"{case.name}: not the trees of XGBoost exact; nothing timed")
        own, exact, hist = [], [], []
        for _ in range(repeats):
            ours = seconds(fit_ours, case, X, y)
            own.append(ours)
            exact.append(seconds(fit_xgboost, case, X, y, "exact") / ours)
            hist.append(seconds(fit_xgboost, case, X, y, "hist") / ours)
        print(
            f"| {case.name} | {case.max_depth} | {case.n_rounds} | {statistics.median(own):.2f}"
            f" | {statistics.median(exact):.1f} | {statistics.median(hist):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
