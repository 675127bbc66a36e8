"""Order: features that matter before features that do not, in the simulation of Sun (2022).

Five of fifty columns matter: of the ten with the fewest values, as in the paper, where whatever
punishes many values ranks well, or of all fifty, which is the control.
"""

import numpy as np
from sklearn.metrics import roc_auc_score

from attributions import total_gain
from benchmarks.papers.comparison.parts import SIMULATED
from benchmarks.papers.held_out.planted import METHODS
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of
from gbt import GBTClassifier, GBTRegressor

N = 1000
DESIGNS = tuple(name for name in SIMULATED if name.startswith("Sun"))
RANKED = (*METHODS, "total_gain")


def experiment(cell, rng, size):
    """Rank the columns by every importance of one model."""
    n = N if size == "full" else 100
    drawn = SIMULATED[cell["design"]](2 * n, rng)
    X, is_useful = drawn.X.to_numpy(), drawn.kind == "useful"
    make = GBTClassifier if drawn.is_class else GBTRegressor
    n_trees = 100 if size == "full" else 3
    model = make(n_estimators=n_trees, max_depth=4, splitter="greedy", n_jobs=1).fit(
        X[:n], drawn.y[:n]
    )
    for method in RANKED:
        seed = int(rng.integers(2**31))
        options = {"random_state": seed} if method == "permutation" else {}
        if method == "total_gain":
            values = total_gain(model).values
        else:
            values = METHODS[method](model, X[n:], drawn.y[n:], n_jobs=1, **options).values
        yield {"method": method, "auc": round(float(roc_auc_score(is_useful, values)), 5)}


def table(rows) -> str:
    """List mean AUCs with their errors."""
    lines = []
    for design in values_of(rows, "design"):
        cells = []
        for method in RANKED:
            auc = np.array([row["auc"] for row in chosen(rows, design=design, method=method)])
            error = auc.std(ddof=1) / np.sqrt(len(auc)) if len(auc) > 1 else float("nan")
            cells.append(f"{auc.mean():.3f} ({error:.3f})")
        lines.append([design, *cells])
    return markdown(["design", *(f"`{method}`" for method in RANKED)], lines)


PART = Part("ranking", tuple({"design": design} for design in DESIGNS), experiment, 30, table)
