"""Time training against XGBoost's exact method, after checking that the trees are the same.

    python -m benchmarks.training_speed

Every case is fitted by both in turn, several times; the ratio of a pair is that of two neighbouring
runs, so it holds when the machine's speed drifts, and the table gives the median over the pairs. No
time is printed for a model that predicts otherwise than its peer. Needs the extra ``peers``.
"""

import argparse
import platform
import statistics
import time
from dataclasses import dataclass

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
        difference = fit_ours(case, X, y)() - fit_xgboost(case, X, y, "exact")()
        if np.sqrt(np.mean(difference**2)) > 1e-3 * y.std():
            raise SystemExit(f"{case.name}: predictions differ from XGBoost exact; nothing timed")
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
