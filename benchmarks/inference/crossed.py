"""Cross-fitting: how often its intervals cover what the K models are worth on new rows.

1,000 rows in five folds. The truth of a replication is the mean over its five models of what 10,000
fresh rows say. Beside it, one model fitted on half of the same rows and judged on the other half.
"""

import numpy as np
import scipy.stats
from sklearn.model_selection import KFold

from attributions import cross_fit, partial_inner, tree_inner
from benchmarks.inference.judging import counted
from benchmarks.inference.paper import N_FEATURES, SETTINGS, Source, fit
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, share, short_share, values_of

N, N_FOLDS = 1000, 5
METHODS = {"tree_inner": tree_inner, "partial_inner": partial_inner}
CELLS = ("regression, .05", "regression, .3", "classification, paper")


class Remembering:
    """Fits the paper's model to each fold, and keeps the models."""

    def __init__(self, setting, n_trees, models):
        self.setting, self.n_trees, self.models = setting, n_trees, models

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        """Fit one more model."""
        self.models.append(fit(self.setting, X, y, self.n_trees))
        return self.models[-1]


def experiment(cell, rng, size):
    """Cross-fit, and fit on one half."""
    setting = next(s for s in SETTINGS if s.name == cell["setting"])
    n_trees, n_fresh = (400, 10_000) if size == "full" else (5, 200)
    source = Source.drawn(setting, rng)
    X, y = source.draw(N, rng)
    X_fresh, y_fresh = source.draw(n_fresh, rng)
    is_null = ~np.isin(np.arange(N_FEATURES), source.relevant)
    folds = KFold(N_FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    half = fit(setting, X[: N // 2], y[: N // 2], n_trees)
    for name, method in METHODS.items():
        models = []
        result = cross_fit(Remembering(setting, n_trees, models), X, y, method, cv=folds)
        of_models = [
            method(m, X_fresh, y_fresh, standard_error=False, n_jobs=1).values for m in models
        ]
        truth = np.mean(of_models, axis=0) * (N / n_fresh)
        single = method(half, X[N // 2 :], y[N // 2 :], n_jobs=1)
        for way, found in (("cross-fit", result), ("half", single)):
            row = {"method": name, "way": way, **counted(found, is_null)}
            if way == "cross-fit":
                low, high = found.confidence_interval().T
                inside = (low <= truth) & (truth <= high)
                row |= {"covered": int(inside.sum()), "n": N_FEATURES}
                row |= {"covered_relevant": int(inside[~is_null].sum())}
            else:
                row |= {"covered": 0, "n": 0, "covered_relevant": 0}
            rank = scipy.stats.rankdata(found.values)[~is_null].sum()
            n_true, n_null = row["n_other"], row["n_null"]
            row["auc"] = float((rank - n_true * (n_true + 1) / 2) / (n_true * n_null))
            yield row


def table(rows) -> str:
    """Coverage, false positives, power and ranking."""
    lines = []
    for setting in values_of(rows, "setting"):
        for method in METHODS:
            for way in ("half", "cross-fit"):
                found = chosen(rows, setting=setting, method=method, way=way)
                relevant = short_share(found, "covered_relevant", "n_other")
                fdp = [r["false_bh"] / max(r["false_bh"] + r["true_bh"], 1) for r in found]
                lines.append(
                    [
                        setting,
                        f"`{method}`",
                        way,
                        short_share(found, "covered", "n"),
                        relevant if way == "cross-fit" else "-",
                        share(found, "false", "n_null"),
                        short_share(found, "true", "n_other"),
                        f"{np.mean(fdp):.3f} ({np.std(fdp, ddof=1) / np.sqrt(len(fdp)):.3f})",
                        short_share(found, "true_bh", "n_other"),
                        f"{np.mean([r['auc'] for r in found]):.3f}",
                    ]
                )
    names = ["setting", "measure", "rows", "coverage", "of relevant", "noise, p < .05"]
    return markdown([*names, "relevant, p < .05", "FDR, BH", "power, BH", "AUC"], lines)


PART = Part("cross-fit", tuple({"setting": name} for name in CELLS), experiment, 20, table)
