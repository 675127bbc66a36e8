"""Noise planted in the tables of the folder of data, words included, beside three other tests.

300 or 1,000 rows of a table are drawn, or as many as it has; half of them judge. Two columns of
each of four kinds are planted: normal numbers, five levels, a hundred words, and columns of the
table's own in the order of other rows. The model is the default one.
"""

import warnings

import pandas as pd

from attributions import LevelWarning, held_out_gain, partial_inner, permutation, tree_inner
from benchmarks.papers.held_out import noise
from benchmarks.study import Part, crossed, ours
from benchmarks.study.tables import by_values, chosen, markdown
from benchmarks.study.whole_tables import WHOLE, whole_table

OF_A_KIND = 2
PLANTED = ("planted continuous", "planted 5 levels", "planted 100 levels", "planted copy")
OWN = "its own"


METHODS = {
    "held_out_gain": held_out_gain,
    "tree_inner": tree_inner,
    "partial_inner": partial_inner,
    "permutation": permutation,
}
BY = ("rows", "method", "kind")  # tables are the data sets over which a rate has its error


def judged(method: str, model, X, y, rng):
    """Judge also where a measure warns of its level, which is what is measured here."""
    seed = int(rng.integers(2**31))
    options = {"random_state": seed} if method == "permutation" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LevelWarning)
        return METHODS[method](model, X, y, n_jobs=1, **options)


def with_noise(X: pd.DataFrame, rng) -> pd.DataFrame:
    """Return a table with noise among its columns, in an order drawn at random."""
    columns = {f"{OWN} {name}": X[name] for name in X}
    for kind in PLANTED[:-1]:
        drawn = noise.noise_columns(kind.removeprefix("planted "), len(X), OF_A_KIND, rng)
        columns |= {f"planted {name}": column for name, column in drawn.items()}
    for i, k in enumerate(rng.choice(X.shape[1], size=min(OF_A_KIND, X.shape[1]), replace=False)):
        moved = X.iloc[rng.permutation(len(X)), k].reset_index(drop=True)
        columns[f"{PLANTED[-1]} {i}"] = moved
    return noise.in_any_order(columns, rng)


def experiment(cell, rng, size):
    """Fit a table with noise in it, and judge by four tests."""
    X, y, is_class = whole_table(cell["data"])
    rows = rng.permutation(len(X))[: cell["rows"] if size == "full" else 100]
    X, y = with_noise(X.iloc[rows].reset_index(drop=True), rng), y[rows]
    half = len(X) // 2
    model = ours(is_class, n_estimators=100 if size == "full" else 3).fit(X[:half], y[:half])
    for method in METHODS:
        result = judged(method, model, X[half:], y[half:], rng)
        for row in noise.by_kind(result, X, (*PLANTED, OWN)):
            yield {"method": method, **row}


def table(cells) -> str:
    """List a line a number of rows and test, over all tables."""
    lines = []
    for (rows, method), own in by_values(cells, "rows", "method"):
        rates = [noise.rate_text(chosen(own, kind=kind)) for kind in (*PLANTED, OWN)]
        lines.append([rows, f"`{method}`", *rates])
    return markdown(["rows", "test", *PLANTED, "columns of the table"], lines)


PART = Part(
    "planted", crossed(data=WHOLE, rows=(300, 1000)), experiment, 5, table, tuple(WHOLE),
    lambda rows: noise.added_up(rows, BY),
)  # fmt: skip
