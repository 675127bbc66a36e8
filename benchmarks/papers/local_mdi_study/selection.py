"""Remove and retrain: what is left of a table if every row keeps its best features alone.

In every row that a model was fitted on the best features by that row's own scores keep their
values, and the others get the mean of their column, words the most frequent one. (The paper flips
columns of two values instead.) A forest is fitted to what is left, and judged on rows of which
nothing was removed: R^2, or AUC. Which features a row keeps may itself tell the row's target, so
this does not reward good attributions alone; ``chance`` keeps features drawn anew in every row.

The paper's ablation goes from local MDI to local MDI+ one thing at a time, all of it by sums:
`LADDER`. Its last step, ranks, is an aggregate here, which all methods have.
"""

from operator import itemgetter

import numpy as np
import scipy.stats
from scipy.stats import rankdata
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.papers.local_mdi_study import methods
from benchmarks.papers.local_mdi_study.methods import LABELS, LADDER, Explained
from benchmarks.papers.local_mdi_study.models import KINDS, fitted, forest
from benchmarks.papers.local_mdi_study.simulated import lines_of
from benchmarks.papers.local_mdi_study.tables import TASKS, Table, halves
from benchmarks.papers.rankings.ranks import critical_difference
from benchmarks.study.tables import cell_of, chosen, markdown, means_by, values_of, values_there

N_ROWS, SHARE_TO_FIT = 450, 0.67
KEPT = (0.1, 0.2, 0.3, 0.4)
N_TREES_AGAIN = 25
CHANCE = "chance"
STEPS = {  # of the ablation, with what the paper compares them to
    **{(name, "sum"): words for name, (words, *_) in LADDER.items()},
    ("elastic_net", "rank"): "LMDI+: elastic net, all rows, raw columns, by ranks",
    ("tree_shap", "sum"): "TreeSHAP",
    ("lime", "sum"): "LIME",
}
BY_RANKS = {  # all by the aggregate that the paper gives to one
    (name, "rank"): LABELS[name] for name in ("saabas", "elastic_net", "tree_shap", "lime")
}


def experiment(cell, rng, size):
    """Yield a line a method and aggregate, with the score for every share that is kept."""
    fit, new = halves(cell["data"], rng, size, N_ROWS, SHARE_TO_FIT)
    seed = int(rng.integers(2**31))
    explained = Explained(fitted(cell["model"], fit, size, seed), fit, seed, size)
    filling = np.where(fit.is_word, most_frequent(fit.X), fit.X.mean(axis=0))

    def line(method, aggregate, scores):
        return {"method": method, "aggregate": aggregate} | {
            f"kept {share:g}": round(again(fit, new, top(scores, share), filling, size), 5)
            for share in KEPT
        }

    for method, scores in explained.of_all(methods.methods_of(cell["model"]), fit.X, fit.y):
        for aggregate in methods.AGGREGATES:
            yield line(method, aggregate, scores.by(aggregate))
    for method in LADDER:
        if method != "elastic_net" and method not in methods.methods_of(cell["model"]):
            yield line(method, "sum", explained.scores(method, fit.X).by("sum"))
    yield line(CHANCE, "sum", rng.random(fit.X.shape))


def top(scores, share: float) -> np.ndarray:
    """Mark each row's best features: the share of them, at least one."""
    n_kept = max(1, int(np.ceil(share * scores.shape[1])))
    ranks = rankdata(-scores, method="ordinal", axis=1)
    return ranks <= n_kept


def most_frequent(X: np.ndarray) -> np.ndarray:
    """Return the most frequent value of every column."""
    return scipy.stats.mode(X, axis=0).mode


def again(fit: Table, new: Table, is_kept, filling, size: str) -> float:
    """Fit a forest to what is kept, and judge it on whole rows."""
    n_trees = N_TREES_AGAIN if size == "full" else 3
    model = forest(fit, np.where(is_kept, fit.X, filling), n_trees, 42)
    if fit.is_class:
        return float(roc_auc_score(new.y, model.predict_proba(new.X)[:, 1]))
    return float(r2_score(new.y, model.predict(new.X)))


def mean_over_shares(row) -> float:
    """Return the mean over the shares that are kept."""
    return float(np.mean([row[f"kept {share:g}"] for share in KEPT]))


def table(rows) -> str:
    """List means over tables and repetitions: R^2 and AUC of tasks apart, a column a share."""
    lines = []
    drawn = [(kind, CHANCE, "sum") for kind in values_of(rows, "model")]
    for kind, method, aggregate in [*lines_of(rows), *drawn]:
        cells = []
        of_line = chosen(rows, model=kind, method=method, aggregate=aggregate)
        for task in ("number", "class"):
            of_task = [row for row in of_line if TASKS[row["data"]] == task]
            for share in KEPT:
                means = means_by(of_task, "replication", itemgetter(f"kept {share:g}"))
                cells.append(cell_of(means, 3) if len(means) else "-")
        lines.append([KINDS[kind], LABELS.get(method, method), aggregate, *cells])
    heads = [f"{name}, {share:.0%} kept" for name in ("R^2", "AUC") for share in KEPT]
    return markdown(["model", "method", "aggregate", *heads], lines)


def tables_and_scores(rows, kind: str, compared) -> tuple[list, list[str], np.ndarray]:
    """Return methods and aggregates, tables, and the mean score of each in each."""
    of_kind = chosen(rows, model=kind)
    there = {(row["method"], row["aggregate"]) for row in of_kind}
    compared = [pair for pair in compared if as_named(pair, kind) in there]
    names = values_there(of_kind, "data", TASKS)
    scores = np.empty((len(names), len(compared)))
    for j, pair in enumerate(compared):
        method, aggregate = as_named(pair, kind)
        for i, name in enumerate(names):
            of_cell = chosen(of_kind, data=name, method=method, aggregate=aggregate)
            scores[i, j] = np.mean([mean_over_shares(row) for row in of_cell])
    return compared, names, scores


def as_named(pair: tuple[str, str], kind: str) -> tuple[str, str]:
    """Return what a pair is called in a model: least squares in a forest are called Saabas."""
    return pair if pair[0] != "ols" or kind != "forest" else ("saabas", pair[1])


def ladder_table(rows) -> str:
    """List mean ranks over tables, of the steps of the ablation and of all by ranks."""
    lines = []
    for kind in values_there(rows, "model", KINDS):
        for compared in (STEPS, BY_RANKS):
            pairs, names, scores = tables_and_scores(rows, kind, compared)
            ranks = rankdata(-scores, axis=1)
            difference = critical_difference(len(pairs), len(names))
            how = "by sums, and one by ranks" if compared is STEPS else "all by ranks"
            for pair, of_pair in zip(pairs, ranks.T, strict=True):
                line = [KINDS[kind], how, compared[pair], cell_of(of_pair, 2)]
                lines.append([*line, f"{difference:.2f}", f"{len(names)}"])
    heads = ["model", "compared", "method", "mean rank", "ranks differ from", "tables"]
    return markdown(heads, lines)
