"""Several classes: accuracy and time beside XGBoost's hist and LightGBM, with verified trees.

    python -m benchmarks.speed.multiclass [--repeats 3] [--write]

Data like those of *covertype* are simulated: ten numeric columns, in which the classes are mixtures
of overlapping clouds, and forty-four indicators of which each class likes some. Half of the classes
are rare. (The table itself is not in reach of a benchmark that downloads nothing.) With K classes a
round is K trees for everyone, of the same depth, rate and penalty.

No time is printed unless the first round's trees give the probabilities of XGBoost's exact method
to float32 accuracy. Everyone has all cores and prepares columns inside the time. The peers look at
no more than 255 cuts a column, and so do ours with ``max_bins=256``. Needs the extra ``peers``.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

import gbt
from benchmarks.speed.timing import Page, in_turn, median
from benchmarks.speed.training_speed import IN_BINS, lightgbm_of, xgboost_of

DEPTH, RATE, PENALTY = 6, 0.1, 1.0


class Case(NamedTuple):
    """How many classes, rows to train on, and rounds."""

    n_classes: int
    n_rows: int
    n_rounds: int


CASES = [
    Case(7, 20_000, 10),
    Case(7, 20_000, 100),
    Case(7, 100_000, 3),
    Case(10, 20_000, 10),
    Case(10, 100_000, 3),
    Case(50, 20_000, 2),
    Case(50, 100_000, 2),
]


def data_of(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and classes, and as many rows to judge by."""
    rng = np.random.default_rng(case.n_classes)
    n, n_classes = 2 * case.n_rows, case.n_classes
    share = np.where(np.arange(n_classes) < (n_classes + 1) // 2, 4.0, 1.0)
    y = rng.choice(n_classes, size=n, p=share / share.sum())
    y[:n_classes] = np.arange(n_classes)
    cloud = rng.integers(3, size=n)
    centre = rng.normal(scale=0.9, size=(n_classes, 3, 10))
    numbers = centre[y, cloud] + rng.normal(size=(n, 10))
    liked = rng.dirichlet(np.full(44, 0.3), size=n_classes).cumsum(axis=1)
    which = (rng.random(n)[:, np.newaxis] > liked[y]).sum(axis=1).clip(max=43)
    X = np.column_stack([numbers, which[:, np.newaxis] == np.arange(44)]).astype(np.float32)
    half = case.n_rows
    return X[:half], y[:half], X[half:], y[half:]


def fit_ours(case, X, y, max_bins=None):
    """Fit, and return what predicts probabilities."""
    options = {"reg_lambda": PENALTY, "splitter": "greedy", "max_bins": max_bins}
    return gbt.GBTClassifier(case.n_rounds, RATE, DEPTH, **options).fit(X, y).predict_proba


def fit_xgboost(case, X, y, tree_method="hist", start=None):
    """Fit, DMatrix included, from log shares where they are given."""
    import xgboost

    data = xgboost.DMatrix(X, y)
    margin = None if start is None else np.tile(start, (len(X), 1))
    if margin is not None:
        data.set_base_margin(margin)
    asked = {"objective": "multi:softprob", "num_class": case.n_classes, "lambda": PENALTY}
    booster = xgboost_of(case.n_rounds, DEPTH, data, tree_method=tree_method, eta=RATE, **asked)

    def predict(rows):
        given = xgboost.DMatrix(rows)
        if start is not None:
            given.set_base_margin(np.tile(start, (len(rows), 1)))
        return booster.predict(given)

    return predict


def fit_lightgbm(case, X, y):
    """Fit trees of the same depth."""
    asked = {"objective": "multiclass", "num_class": case.n_classes}
    return lightgbm_of(case.n_rounds, DEPTH, X, y, **asked).predict


def largest_difference(case, X, y):
    """Return how far the probabilities after one round are from those of XGBoost's exact method."""
    one = case._replace(n_rounds=1)
    start = np.log(np.bincount(y) / len(y))
    ours, theirs = fit_ours(one, X, y)(X), fit_xgboost(one, X, y, "exact", start)(X)
    return float(np.abs(ours - theirs).max())


def measure(case, rows, repeats):
    """Return everyone's runs, and accuracy and log loss of the last ones."""
    X, y, X_new, y_new = rows
    predicts = {}

    def fit(name):
        predicts[name] = FITS[name](case, X, y)

    runs = in_turn({name: partial(fit, name) for name in FITS}, repeats)
    quality = []
    for predict in predicts.values():
        p = predict(X_new)
        likelihood = np.log(np.maximum(p[np.arange(len(y_new)), y_new], 1e-15))
        quality.append((np.mean(p.argmax(axis=1) == y_new), -likelihood.mean()))
    return runs, quality


FITS = {
    "ours": fit_ours,
    "XGBoost hist": fit_xgboost,
    "LightGBM": fit_lightgbm,
    "ours in 256 bins": partial(fit_ours, max_bins=256),
}
RATIOS = "XGBoost hist / ours", "LightGBM / ours", IN_BINS


def main():
    """Verify, then time, and print a Markdown table."""
    with Page("multiclass", __doc__, repeats=3) as page:
        words = f"depth {DEPTH}; medians of {page.asked.repeats} runs side by side"
        page.begin(words, "xgboost", "lightgbm")
        page.head(
            "classes", "rows", "rounds", "ours, s of processors", *RATIOS, "ours, s on the clock",
            *RATIOS, "accuracy: ours, XGBoost, LightGBM, ours in 256 bins", "log loss",
            "largest difference of probabilities from XGBoost exact, one round",
        )  # fmt: skip
        fit_ours(Case(3, 600, 2), *data_of(Case(3, 600, 2))[:2])  # compiled before any clock
        for case in CASES:
            rows = data_of(case)
            difference = largest_difference(case, *rows[:2])
            if difference > 1e-5:
                raise SystemExit(f"{case}: {difference:.2g} from XGBoost exact; nothing timed")
            runs, quality = measure(case, rows, page.asked.repeats)
            own, hist, lightgbm, binned = runs.values()
            of_all = hist / own, lightgbm / own, np.minimum(hist, lightgbm) / binned
            beside = [median(ratio) for ratio in of_all]
            cells = [case.n_classes, f"{case.n_rows:,}", case.n_rounds]
            for what in ("processors", "clock"):
                cells.append(f"{getattr(median(own), what):.3g}")
                cells += [f"{getattr(ratio, what):.2f}" for ratio in beside]
            cells += [", ".join(f"{q[i]:.3f}" for q in quality) for i in (0, 1)]
            page.row(*cells, f"{difference:.1g}")


if __name__ == "__main__":
    main()
