"""Cross-fitting: how often its intervals cover what the K models are worth on new rows.

1,000 rows in five folds. The truth of a replication is the mean over its five models of what 5,000
fresh rows say; its own error is added to the intervals, root of sum of squares. Beside it, one
model fitted on half of the same rows and judged on the other half.

Four intervals are tried: the one that `cross_fit` returns, about the common mean; about the means
of the folds; Student's t of the five sums of folds; and the first with sqrt(2) standard errors. The
last is an upper bound under a simple model: where a contribution is a sum of products of a judging
row and of fitted rows, as it is for noise in a linear smoother, each pair of rows counts twice,
once either way round, and the variance of the sum is twice that of single rows.
"""

import numpy as np
import scipy.stats
from sklearn.model_selection import KFold

from attributions import cross_fit, partial_inner, partial_inner_rows, tree_inner, tree_inner_rows
from benchmarks.papers.inference.judging import counted
from benchmarks.papers.inference.paper import N_FEATURES, SETTINGS, Source, fit
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, share, short_share, values_of

N, N_FOLDS = 1000, 5
METHODS = {
    "tree_inner": (tree_inner, tree_inner_rows),
    "partial_inner": (partial_inner, partial_inner_rows),
}
INTERVALS = {"pooled": "coverage", "within": "within folds", "t": "t of folds", "wide": "sqrt 2"}
CELLS = ("regression, .05", "regression, .3", "classification, paper")


class Fitted:
    """Hands out models that have been fitted, one after the other."""

    def __init__(self, models):
        self.models = iter(models)

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        """Return the next model."""
        return next(self.models)


def experiment(cell, rng, size):
    """Cross-fit, and fit on one half."""
    setting = next(s for s in SETTINGS if s.name == cell["setting"])
    n_trees, n_fresh = (400, 5_000) if size == "full" else (5, 200)
    source = Source.drawn(setting, rng)
    X, y = source.draw(N, rng)
    X_fresh, y_fresh = source.draw(n_fresh, rng)
    is_null = ~np.isin(np.arange(N_FEATURES), source.relevant)
    folds = KFold(N_FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    half = fit(setting, X[: N // 2], y[: N // 2], n_trees)
    models = [fit(setting, X[own], y[own], n_trees) for own, _ in folds.split(X)]
    for name, (method, rows_of) in METHODS.items():
        of_folds = []

        def measure(*model_and_rows, method=method, of_folds=of_folds):
            of_folds.append(method(*model_and_rows, n_jobs=1))
            return of_folds[-1]

        result = cross_fit(Fitted(models), X, y, measure, cv=folds)
        fresh = sum(rows_of(m, X_fresh, y_fresh, n_jobs=1).values for m in models) / N_FOLDS
        truth = N * fresh.mean(axis=0), N / np.sqrt(n_fresh) * fresh.std(axis=0)
        single = method(half, X[N // 2 :], y[N // 2 :], n_jobs=1)
        for way, found in (("cross-fit", result), ("half", single)):
            row = {"method": name, "way": way, **counted(found, is_null)}
            row |= covered(found, of_folds, truth, is_null, way == "cross-fit")
            rank = scipy.stats.rankdata(found.values)[~is_null].sum()
            n_true, n_null = row["n_other"], row["n_null"]
            row["auc"] = float((rank - n_true * (n_true + 1) / 2) / (n_true * n_null))
            yield row


def covered(result, of_folds, truth, is_null, is_crossed) -> dict:
    """Count the features whose truth lies in each of the intervals."""
    names = [f"{name}{part}" for name in INTERVALS for part in ("", "_relevant")]
    if not is_crossed:
        return {"n": 0, **dict.fromkeys(names, 0)}
    normal, t = scipy.stats.norm.ppf(0.975), scipy.stats.t.ppf(0.975, N_FOLDS - 1)
    sums = np.array([fold.values for fold in of_folds])
    half_width = {
        "pooled": normal * result.standard_error,
        "within": normal * np.sqrt(sum(fold.standard_error**2 for fold in of_folds)),
        "t": t * np.sqrt(N_FOLDS) * sums.std(axis=0, ddof=1),
        "wide": normal * np.sqrt(2) * result.standard_error,
    }
    expected, error = truth
    counts = {"n": len(expected)}
    for name, width in half_width.items():
        inside = np.abs(result.values - expected) <= np.hypot(width, normal * error)
        counts |= {name: int(inside.sum()), f"{name}_relevant": int(inside[~is_null].sum())}
    return counts


def table(rows) -> str:
    """Coverage, false positives, power and ranking."""
    lines = []
    for setting in values_of(rows, "setting"):
        for method in METHODS:
            for way in ("half", "cross-fit"):
                found = chosen(rows, setting=setting, method=method, way=way)
                is_crossed = way == "cross-fit"
                coverage = [short_share(found, name, "n") for name in INTERVALS]
                relevant = short_share(found, "pooled_relevant", "n_other")
                fdp = [r["false_bh"] / max(r["false_bh"] + r["true_bh"], 1) for r in found]
                lines.append(
                    [
                        setting,
                        f"`{method}`",
                        way,
                        *(coverage if is_crossed else "-" * len(INTERVALS)),
                        relevant if is_crossed else "-",
                        share(found, "false", "n_null"),
                        short_share(found, "true", "n_other"),
                        f"{np.mean(fdp):.3f} ({np.std(fdp, ddof=1) / np.sqrt(len(fdp)):.3f})",
                        short_share(found, "true_bh", "n_other"),
                        f"{np.mean([r['auc'] for r in found]):.3f}",
                    ]
                )
    names = ["setting", "measure", "rows", *INTERVALS.values(), "of relevant", "noise, p < .05"]
    return markdown([*names, "relevant, p < .05", "FDR, BH", "power, BH", "AUC"], lines)


PART = Part("cross-fit", tuple({"setting": name} for name in CELLS), experiment, 60, table)
