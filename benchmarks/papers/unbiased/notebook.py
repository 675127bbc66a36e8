"""The authors' notebook: five features, of which the second matters with strength rho.

x1 is continuous, x2 to x5 have 2, 4, 10 and 20 levels; one tree at learning rate 1. Levels are cut
as numbers by this library's tree. Where LightGBM is installed its tree is there, too, with levels
as categories, as in the notebook.
"""

import warnings

import numpy as np
from scipy.stats import rankdata

from attributions import total_gain
from benchmarks.papers.unbiased.models import N_ROWS, TASKS, estimator, unbiased_of
from benchmarks.study.part import Part
from benchmarks.study.tables import by_values, chosen, markdown, values_of
from gbt.formats import as_ensemble

LEVELS = (2, 4, 10, 20)  # of x2 to x5
FEATURES = tuple(f"x{k}" for k in range(1, 2 + len(LEVELS)))
INFORMATIVE = "x2"
RHO = tuple(round(0.1 * i, 1) for i in range(11))


def draw(task: str, rho: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw x1 continuous and four features of few levels, of which x2 is informative."""
    X = np.column_stack([rng.normal(size=n), *(rng.integers(0, m, n) for m in LEVELS)])
    if task == "regression":
        return X, rho * (X[:, 1] - 0.5) + rng.normal(size=n)
    return X, np.where(rng.random(n) < (1 - rho) / 2, 1 - X[:, 1], X[:, 1])


def on_the_tree_of_lightgbm(task: str, train, valid) -> dict[str, np.ndarray]:
    """Return importances on LightGBM's tree, levels as categories; none without LightGBM.

    LightGBM adds ``cat_l2``, 10, to the hessians of a split between sets of levels, and its own
    gain is what is left. The gain from G and H alone is larger.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import lightgbm
    except ImportError:
        return {}
    cls = lightgbm.LGBMRegressor if task == "regression" else lightgbm.LGBMClassifier
    model = cls(n_estimators=1, learning_rate=1.0, importance_type="gain", verbose=-1, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*train, categorical_feature=list(range(1, 1 + len(LEVELS))))
        trees = as_ensemble(model, *train)
    return {
        "gain, LightGBM's own": model.feature_importances_.astype(float),
        "gain, LightGBM's trees": total_gain(trees).values,
        "unbiased, LightGBM's trees": unbiased_of(trees, train, valid),
    }


def experiment(cell, rng, size):
    """Return the importances of one data set by every method."""
    train, valid = (draw(cell["task"], cell["rho"], N_ROWS[size], rng) for _ in range(2))
    model = estimator(cell["task"], n_estimators=1, learning_rate=1.0).fit(*train)
    found = {
        "gain": total_gain(model).values,
        "unbiased": unbiased_of(model, train, valid),
        **on_the_tree_of_lightgbm(cell["task"], train, valid),
    }
    return [{"method": method, "values": values.tolist()} for method, values in found.items()]


def summary(rows) -> list[dict]:
    """Return mean ranks, where the largest value has the last, and quartiles of every feature."""
    lines = []
    for cell in CELLS:
        for method in values_of(rows, "method"):
            values = np.array([row["values"] for row in chosen(rows, **cell, method=method)])
            mean_rank = rankdata(values, axis=1).mean(axis=0)
            q25, median, q75 = np.percentile(values, [25, 50, 75], axis=0)
            lines += [
                {
                    **cell,
                    "method": method,
                    "feature": feature,
                    "repetitions": len(values),
                    "mean_rank": mean_rank[k],
                    "q25": q25[k],
                    "median": median[k],
                    "q75": q75[k],
                }
                for k, feature in enumerate(FEATURES)
            ]
    return lines


def ranks_table(rows) -> str:
    """List the mean rank of the informative feature, a column a rho."""
    lines = []
    for cell, found in by_values(chosen(rows, feature=INFORMATIVE), "task", "method"):
        lines.append([*cell, *(f"{row['mean_rank']:.2f}" for row in found)])
    return markdown(["task", "method", *(f"rho {rho:g}" for rho in RHO)], lines)


def null_table(rows) -> str:
    """List the quartiles of every feature at rho 0."""
    lines = []
    for cell, found in by_values(chosen(rows, rho=0), "task", "method"):
        lines.append(
            [*cell, *(f"{r['median']:.1f} ({r['q25']:.1f} to {r['q75']:.1f})" for r in found)]
        )
    names = ("x1 (continuous)", *(f"x{k + 2} ({m})" for k, m in enumerate(LEVELS)))
    return markdown(["task", "method", *names], lines)


CELLS = tuple({"task": task, "rho": rho} for task in TASKS for rho in RHO)
PART = Part("ranks", CELLS, experiment, 1000, ranks_table, summary=summary)
