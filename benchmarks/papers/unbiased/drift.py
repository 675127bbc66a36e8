"""Features without any effect, tree by tree: where "unbiased" stops being true."""

import numpy as np

from attributions import total_gain, unbiased_gain
from benchmarks.papers.unbiased.models import N_ROWS, TASKS, estimator
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, chosen, markdown, mean_and_error, values_of

NOISE = {  # models by their words: task, learning rate and number of trees
    f"{task}, learning rate {rate:g}, {n_trees} trees": (task, rate, n_trees)
    for task in TASKS
    for rate, n_trees in ((0.1, 30), (1.0, 5))
}
SHOWN = ("1", "2", "5", "30", "all")


def draw(task: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw three continuous features, and a target that none of them tells anything about."""
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    return X, y if task == "regression" else (y > 0).astype(float)


def experiment(cell, rng, size):
    """Return what the trees of one model of noise add, all features together."""
    task, rate, n_trees = NOISE[cell["model"]]
    train, valid = (draw(task, N_ROWS[size], rng) for _ in range(2))
    model = estimator(task, n_estimators=n_trees, learning_rate=rate, max_leaves=8).fit(*train)
    gain = total_gain(model, per_tree=True)
    unbiased = unbiased_gain(model, *train, *valid, per_tree=True, standard_error=False)
    for method, found in (("gain", gain), ("unbiased", unbiased)):
        yield {"method": method, "values": found.per_tree.sum(axis=1).tolist()}


def summary(rows) -> list[dict]:
    """Return the mean of every tree and of their sum."""
    lines = []
    for (model, method), own in by_values(rows, "model", "method"):
        values = np.array([row["values"] for row in own])
        trees = [str(m + 1) for m in range(values.shape[1])]
        means, errors = mean_and_error(np.column_stack([values, values.sum(axis=1)]))
        cell = {"model": model, "method": method}
        lines += [
            {**cell, "tree": tree, "repetitions": len(values), "mean": mean, "error": error}
            for tree, mean, error in zip([*trees, "all"], means, errors, strict=True)
        ]
    return lines


def table(rows) -> str:
    """List some trees and the sum of all."""
    lines = []
    for model in values_of(rows, "model"):
        trees = {str(row["tree"]): row for row in chosen(rows, model=model, method="unbiased")}
        cells = [
            f"{trees[tree]['mean']:.1f} ({trees[tree]['error']:.1f})" if tree in trees else ""
            for tree in SHOWN
        ]
        (gain,) = chosen(rows, model=model, method="gain", tree="all")
        lines.append([model, *cells, f"{gain['mean']:.0f}"])
    names = [f"tree {tree}" for tree in SHOWN[:-1]]
    return markdown(["model", *names, "all trees", "total gain of all"], lines)


PART = Part("drift", crossed(model=NOISE), experiment, 300, table, summary=summary)
