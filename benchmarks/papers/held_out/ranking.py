"""Order: features that matter before features that do not, in the simulation of Sun (2022).

Five of fifty columns matter: of the ten with the fewest values, as in the paper, where whatever
punishes many values ranks well, or of all fifty, which is the control.
"""

from sklearn.metrics import roc_auc_score

from attributions import total_gain
from benchmarks.papers.comparison.parts import SIMULATED
from benchmarks.papers.held_out.planted import METHODS, judged
from benchmarks.study import Part, crossed, ours
from benchmarks.study.tables import cell_of, chosen, column, listed

N = 1000
DESIGNS = tuple(name for name in SIMULATED if name.startswith("Sun"))
RANKED = (*METHODS, "total_gain")


def experiment(cell, rng, size):
    """Rank the columns by every importance of one model."""
    n = N if size == "full" else 100
    drawn = SIMULATED[cell["design"]](2 * n, rng)
    X, is_useful = drawn.X.to_numpy(), drawn.kind == "useful"
    model = ours(drawn.is_class, n_estimators=100 if size == "full" else 3, max_depth=4)
    model.fit(X[:n], drawn.y[:n])
    results = {method: judged(method, model, X[n:], drawn.y[n:], rng) for method in METHODS}
    for method, result in {**results, "total_gain": total_gain(model)}.items():
        yield {"method": method, "auc": round(float(roc_auc_score(is_useful, result.values)), 5)}


def table(rows) -> str:
    """List mean AUCs with their errors."""
    return listed(
        rows, ("design",), ["design", *(f"`{method}`" for method in RANKED)],
        lambda own: [cell_of(column(chosen(own, method=m), "auc"), 3) for m in RANKED],
    )  # fmt: skip


PART = Part("ranking", crossed(design=DESIGNS), experiment, 30, table)
