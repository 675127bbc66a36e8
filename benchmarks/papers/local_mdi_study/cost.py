"""What methods cost: beside each other on one table, and as trees grow deeper and tables longer.

*seconds*: 300 rows of 30 columns, 100 trees; one row is explained, then 200 more. Each method is
called as a user would, LIME with its default of 5,000 samples.

*cost*: forests of two trees, grown without a least number of rows to a largest depth, on 20
columns. The paper says of local MDI+ that it costs exponentially much in the depth. A tree of depth
d has up to 2^d - 1 splits, but never more than it has rows, so what counts is whether the cost is
in proportion to splits. imodels makes a matrix of rows times splits, and is left out where that has
more than eight million numbers. Memory is by how much the peak of the process rises. All rows are
explained, after linear models have been fitted to them.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import ElasticNetCV
from threadpoolctl import threadpool_limits

from attributions import held_out_gain_rows, local_mdi, predecomp, saabas, tree_shap
from benchmarks.papers.local_mdi_study.methods import LABELS, METHODS, methods_of
from benchmarks.papers.local_mdi_study.models import KINDS, N_TREES, fitted
from benchmarks.papers.local_mdi_study.simulated import noisy, numbers
from benchmarks.speed.resident import forget_peak, peak
from benchmarks.speed.timing import timed
from benchmarks.study import chosen, column, markdown
from benchmarks.study.tables import by_values, cell_of, values_of, values_there

N_ROWS = 300
N_EXPLAINED = 200
N_LIME = 5
ROWS = (1_000, 10_000, 100_000)
DEPTHS = (5, 10, 15, 20)
TREES = 2
MOST_NUMBERS = 8_000_000  # of imodels' matrix
RATIOS = [0.1, 0.5, 0.99]
LEAST_SQUARES = {"linear_model": "ols", "raw": False, "rows": "inbag"}
TICK = 1e-9  # seconds, the least difference of two times that a clock tells
PROGRAMS = {"elastic net": "local MDI+, elastic net", "imodels": "local MDI+, imodels"}


def lime_of(model, X_fit) -> Callable:
    """Return a function that explains rows by LIME's defaults."""
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X_fit, mode="regression", random_state=0)

    def explain(X):
        for row in X:
            explainer.explain_instance(row, model.predict, num_features=X.shape[1])

    return explain


def as_called(model, X_fit, y_fit, y_new) -> dict[str, Callable]:
    """Return what a user calls to explain rows, by method."""
    of_fit = model, X_fit, y_fit
    return {
        "saabas": lambda X: saabas(model, X, n_jobs=1),
        "predecomp": lambda X: predecomp(model, X, n_jobs=1),
        "tree_shap": lambda X: tree_shap(model, X, n_jobs=1),
        "ols": lambda X: local_mdi(*of_fit, X, **LEAST_SQUARES, n_jobs=1),
        "elastic_net": lambda X: local_mdi(*of_fit, X, n_jobs=1),
        "held_out": lambda X: held_out_gain_rows(model, X, y_new[: len(X)], n_jobs=1),
        **({"lime": lime_of(model, X_fit)} if find_spec("lime") else {}),
    }


def seconds(cell, rng, size):
    """Yield the seconds of one row and of each further one."""
    n_fit = N_ROWS if size == "full" else 40
    X = rng.normal(size=(n_fit + N_EXPLAINED + 1, 30))
    y = noisy(X[:, :5].sum(axis=1), 0.4, rng)
    table = numbers(X[:n_fit], y[:n_fit])
    model = fitted(cell["model"], table, size, int(rng.integers(2**31)))
    calls = as_called(model, table.X, table.y, y[n_fit:])
    with threadpool_limits(1):
        for method in methods_of(cell["model"]):
            n = (N_LIME if size == "full" else 1) if method == "lime" else N_EXPLAINED
            call = calls[method]
            call(X[n_fit : n_fit + 2])
            first, all_rows = (
                min(timed(partial(call, X[n_fit : n_fit + many])).processors for _ in range(2))
                for many in (1, n + 1)
            )
            yield {
                "method": method,
                "first row": float(f"{first:.4g}"),
                "each further row": float(f"{max(all_rows - first, TICK) / n:.4g}"),
            }


def programs(forest, X, y, n_splits: float, size: str) -> dict[str, Callable]:
    """Return what each program does: fits its linear models, and explains all rows."""
    found = {"elastic net": lambda: local_mdi(forest, X, y, n_jobs=1)}
    if size == "full" and find_spec("imodels") and len(X) * n_splits <= MOST_NUMBERS:
        from benchmarks.speed.local_mdi_speed import imodels_scores

        linear = ElasticNetCV(cv=3, l1_ratio=RATIOS, max_iter=2000, random_state=0)
        found["imodels"] = lambda: imodels_scores(forest, X, y, linear)
    return found


def cost(cell, rng, size):
    """Yield seconds a tree and bytes of every program."""
    n = cell["rows"] if size == "full" else 60
    X = rng.normal(size=(n, 20)).astype(np.float32).astype(np.float64)
    y = noisy(X[:, :5].sum(axis=1), 0.4, rng)
    forest = RandomForestRegressor(TREES, max_depth=cell["depth"], random_state=0).fit(X, y)
    n_splits = np.mean([tree.tree_.n_leaves - 1 for tree in forest.estimators_])
    with threadpool_limits(1):
        for name, work in programs(forest, X, y, n_splits, size).items():
            if n < ROWS[-1] and name != "imodels":
                work()  # compiled, and warm, which does not show where rows are many
            before = forget_peak()
            took = timed(work).processors
            yield {
                "program": name,
                "splits a tree": float(n_splits),
                "seconds a tree": float(f"{took / TREES:.4g}"),
                "megabytes": round((peak() - before) / 1e6, 1),
            }


def seconds_table(rows) -> str:
    """List milliseconds of the first row and microseconds of others, a line a method."""
    kinds = values_there(rows, "model", KINDS)
    measures = (("first row", "ms", 1e3), ("each further row", "µs", 1e6))
    columns = [(kind, *measure) for kind in kinds for measure in measures]
    lines = []
    for method in values_there(rows, "method", METHODS):
        cells = []
        for kind, measure, _, unit in columns:
            own = chosen(rows, method=method, model=kind)
            cells.append(cell_of(unit * column(own, measure), 1) if own else "-")
        lines.append([LABELS[method], *cells])
    heads = [f"{KINDS[kind]}: {measure}, {name}" for kind, measure, name, _ in columns]
    return markdown([f"method, {N_TREES} trees", *heads], lines)


def cost_table(rows) -> str:
    """List a line a number of rows and depth, a column a program."""
    names = values_there(rows, "program", PROGRAMS)
    lines = []
    for (n, depth), own in by_values(rows, "rows", "depth"):
        cells = [cost_cell(chosen(own, program=name)) for name in names]
        splits = np.mean([row["splits a tree"] for row in own])
        lines.append([f"{n:,}", depth, f"{splits:,.0f}", *cells])
    heads = [f"{PROGRAMS[name]}, s a tree; MB" for name in names]
    return markdown(["rows", "depth", "splits a tree", *heads], lines)


def cost_cell(rows) -> str:
    """Return seconds with their error, and the largest number of megabytes."""
    if not rows:
        return "-"
    taken = column(rows, "seconds a tree")
    digits = 3 if np.mean(taken) >= 0.1 else 4
    return f"{cell_of(taken, digits)}; {column(rows, 'megabytes').max():.0f}"


def slopes(rows) -> dict[tuple[str, int], float]:
    """Return, of a program and a number of rows, by which power of the splits the time grows."""
    found = {}
    for cell, own in by_values(rows, "program", "rows"):
        if len(values_of(own, "depth")) > 1:
            splits = np.log(column(own, "splits a tree"))
            times = np.log(np.maximum(column(own, "seconds a tree"), 1e-6))
            found[cell] = float(np.polyfit(splits, times, 1)[0])
    return found
