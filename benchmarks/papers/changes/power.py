"""How often a change is found, and how often another feature is blamed.

Six periods; in the last x0 has lost its effect, has the opposite one, or is itself one standard
deviation higher. All are compared with the first. *Found* is x0 in the last period, *blamed* any
other feature or period. Beside held-out gain stand the permutation importance of each period, in
squared error or log-loss a row, with the errors of its rows and Bonferroni's bound, and the
two-sample test of Kolmogorov and Smirnov of residuals of each period against the first, which
cannot say which feature it is. *Worth* is the ratio of what x0 is worth in the changed law to what
it was, from fresh rows: where it is 1, what is "found" is found wrongly.
"""

import numpy as np
from scipy.special import ndtr
from scipy.stats import ks_2samp

from attributions import held_out_gain, permutation
from benchmarks.papers.changes.level import N_PERIODS, table_of
from benchmarks.papers.changes.periods import N_FIT, fitted
from benchmarks.study import Part, crossed
from benchmarks.study.tables import column, listed

WAYS = {
    "loss": "loss a row",
    "percent": "per cent",
    "permutation": "permutation",
    "residuals": "residuals",
}
OUTCOMES = ("found", "blamed")
FRESH = 20  # times the rows of a period


def likelihood(y, prediction):
    """Return the log-likelihood of every row, or minus half its squared error."""
    if set(np.unique(y)) <= {0.0, 1.0}:
        p = np.clip(prediction, 1e-12, 1 - 1e-12)
        return y * np.log(p) + (1 - y) * np.log1p(-p)
    return -((y - prediction) ** 2) / 2


def by_permutation(model, X, y, period) -> np.ndarray:
    """Return which features differ from the first period, (5, p), by permutation importance."""
    each = [
        permutation(model, X[at], y[at], metric=likelihood, n_repeats=5, random_state=0, n_jobs=1)
        for at in (period == j for j in range(N_PERIODS))
    ]
    values, error = (np.array([getattr(r, n) for r in each]) for n in ("values", "standard_error"))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (values[1:] - values[0]) / np.hypot(error[1:], error[0])
    return 2 * ndtr(-np.abs(np.nan_to_num(t))) * t.size <= 0.05


def by_residuals(model, X, y, period) -> np.ndarray:
    """Return which periods have other residuals than the first, (5, 1)."""
    predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    prediction = predict(X)
    residual = y - (prediction[:, 1] if prediction.ndim > 1 else prediction)
    first = residual[period == 0]
    p = [ks_2samp(first, residual[period == j]).pvalue for j in range(1, N_PERIODS)]
    return np.array(p)[:, np.newaxis] * (N_PERIODS - 1) <= 0.05


def experiment(cell, rng, size):
    """Fit a model, draw periods of which the last is changed, and say what is found."""
    target, n, change = cell["target"], cell["rows"], cell["change"]
    X, y, _, _ = table_of(target, [N_FIT], rng, ("nothing",))
    model = fitted(target, "greedy", X, y, int(rng.integers(2**31)))
    changes = ("nothing",) * (N_PERIODS - 1) + (change,)
    X, y, period, _ = table_of(target, [n] * N_PERIODS, rng, changes)
    result = held_out_gain(model, X, y, by=period, n_jobs=1)
    found = {unit: result.changes(0, unit=unit).changed() for unit in ("loss", "percent")}
    found["permutation"] = by_permutation(model, X, y, period)
    found["residuals"] = by_residuals(model, X, y, period)
    row = {}
    for way, changed in found.items():
        rest = changed.copy()
        rest[-1, 0] = False
        row[f"{way}_found"], row[f"{way}_blamed"] = int(changed[-1, 0]), int(rest.any())
    times = FRESH if size == "full" else 1
    X, y, period, _ = table_of(target, [times * n] * 2, rng, ("nothing", change))
    worth = held_out_gain(model, X, y, by=period, n_jobs=1).values_in("loss")[:, 0]
    yield {**row, "worth_before": float(worth[0]), "worth_after": float(worth[1])}


def table(rows) -> str:
    """Return what is found and what is blamed, cell by cell."""

    def cells(there):
        before, after = (column(there, f"worth_{when}").sum() for when in ("before", "after"))
        means = [[column(there, f"{way}_{what}").mean() for what in OUTCOMES] for way in WAYS]
        shown = ("; ".join(f"{mean:.2f}" for mean in pair) for pair in means)
        return [len(there), f"{after / before:.2f}", *shown]

    heads = ["target", "x0", "rows", "tables", "worth", *WAYS.values()]
    return listed(rows, ("target", "change", "rows"), heads, cells)


CELLS = crossed(
    target=("number", "long tails", "rare class"), change=("lost", "turned", "moved"),
    rows=(50, 200, 1000),
)  # fmt: skip
POWER = Part("power", CELLS, experiment, 20, table)
