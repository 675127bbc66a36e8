"""Noise planted in the tables of the folder of data, words included, beside three other tests.

300 or 1,000 rows of a table are drawn, or as many as it has; half of them judge. Two columns of
each of four kinds are planted: normal numbers, five levels, a hundred words, and columns of the
table's own in the order of other rows. The model is the default one.
"""

import warnings
from itertools import product

import pandas as pd

from attributions import LevelWarning, held_out_gain, partial_inner, permutation, tree_inner
from benchmarks.papers.held_out.noise import added_up, counted, noise_columns, rate_text
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of
from benchmarks.study.whole_tables import WHOLE, whole_table
from gbt import GBTClassifier, GBTRegressor

OF_A_KIND = 2
PLANTED = ("planted continuous", "planted 5 levels", "planted 100 levels", "planted copy")
OWN = "its own"


def partial_inner_all_the_same(*arguments, **options):
    """Judge also where the measure warns of its level, which is what is measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LevelWarning)
        return partial_inner(*arguments, **options)


METHODS = {
    "held_out_gain": held_out_gain,
    "tree_inner": tree_inner,
    "partial_inner": partial_inner_all_the_same,
    "permutation": permutation,
}
BY = ("rows", "method", "kind")  # tables are the data sets over which a rate has its error


def with_noise(X: pd.DataFrame, rng) -> pd.DataFrame:
    """Return a table with noise among its columns, in an order drawn at random."""
    columns = {f"{OWN} {name}": X[name] for name in X}
    for kind in PLANTED[:-1]:
        drawn = noise_columns(kind.removeprefix("planted "), len(X), OF_A_KIND, rng)
        columns |= {f"planted {name}": column for name, column in drawn.items()}
    for i, k in enumerate(rng.choice(X.shape[1], size=min(OF_A_KIND, X.shape[1]), replace=False)):
        moved = X.iloc[rng.permutation(len(X)), k].reset_index(drop=True)
        columns[f"{PLANTED[-1]} {i}"] = moved
    return pd.DataFrame({name: columns[name] for name in rng.permutation(list(columns))})


def experiment(cell, rng, size):
    """Fit a table with noise in it, and judge by four tests."""
    X, y, is_class = whole_table(cell["data"])
    rows = rng.permutation(len(X))[: cell["rows"] if size == "full" else 100]
    X, y = with_noise(X.iloc[rows].reset_index(drop=True), rng), y[rows]
    half = len(X) // 2
    make = GBTClassifier if is_class else GBTRegressor
    model = make(n_estimators=100 if size == "full" else 3, splitter="greedy", n_jobs=1)
    model.fit(X[:half], y[:half])
    for method, measure in METHODS.items():
        seed = int(rng.integers(2**31))
        options = {"random_state": seed} if method == "permutation" else {}
        result = measure(model, X[half:], y[half:], n_jobs=1, **options)
        for kind in (*PLANTED, OWN):
            is_kind = X.columns.str.startswith(kind)
            yield {"method": method, "kind": kind, **counted(result, is_kind)}


def table(cells) -> str:
    """List a line a number of rows and test, over all tables."""
    lines = []
    for rows, method in product(values_of(cells, "rows"), METHODS):
        of_line = chosen(cells, rows=rows, method=method)
        by_kind = [rate_text(chosen(of_line, kind=kind)) for kind in (*PLANTED, OWN)]
        lines.append([rows, f"`{method}`", *by_kind])
    return markdown(["rows", "test", *PLANTED, "columns of the table"], lines)


PART = Part(
    "planted",
    tuple({"data": name, "rows": rows} for name, rows in product(WHOLE, (300, 1000))),
    experiment,
    5,
    table,
    needs=tuple(WHOLE),
    summary=lambda rows: added_up(rows, BY),
)
