"""Losses of an order: noise beside lists of 5 to 200 rows, and a weak column beside permutation's.

A row's use is signal plus noise. Grades are 1 for the best fifth of all rows, or 0 to 4 by where
the use lies. 100 queries are fitted, and 100 others judge. There are three columns of noise of each
kind and one that is the same for all rows of a query; 50 trees of depth 3.
"""

from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.papers.held_out.censoring import (
    COLUMNS,
    EFFECTS,
    found_beside_weak,
    heads,
    rates,
    summary,
    table_of_intervals,
    useful,
)
from benchmarks.papers.held_out.coverage import judged_again
from benchmarks.papers.held_out.noise import in_any_order, of_all_kinds
from benchmarks.papers.held_out.targets import Target
from benchmarks.study import Part, crossed
from benchmarks.study.tables import listed

N_QUERIES = 100
ROWS = ("5", "20", "200", "5 to 200")  # of a query
GRADES = {"0, 1": [0.8], "0 to 4": [0.5, 0.75, 0.9, 0.97]}  # shares of rows below each grade
BY = ("loss", "list", "grades", "signal", "kind")
OF_QUERY = "of the query"
SIZES = (30, 100)  # queries of the draws by which intervals are judged


def drawn(cell, n_queries: int, rng, at=None):
    """Draw a table with its columns in an order drawn at random, grades, and queries.

    Grades are parted ``at`` uses, or by the shares of the rows.
    """
    ends = [int(end) for end in cell["list"].split(" to ")]
    lengths = np.exp(rng.uniform(*np.log([ends[0], ends[-1] + 1e-9]), n_queries)).round()
    query = np.repeat(np.arange(n_queries), lengths.astype(int))
    columns, use = useful(cell, rng.normal(size=len(query)), rng)
    columns[OF_QUERY] = pd.Series(lengths[query] + rng.normal(size=n_queries)[query])
    X = in_any_order(columns | of_all_kinds(len(query), 3, rng), rng)
    at = np.quantile(use, GRADES[cell["grades"]]) if at is None else at
    return X, np.digitize(use, at), query


def experiment(cell, rng, size):
    """Fit one model and count what is found."""
    X, grade, query = drawn(cell, 2 * N_QUERIES, rng)
    is_new = query >= N_QUERIES
    model = Target(lambda *_: None, cell["loss"]).model(size)
    model.fit(X[~is_new], grade[~is_new], groups=query[~is_new])
    new = X[is_new], grade[is_new]
    yield from found_beside_weak(model, *new, OF_QUERY, rng, groups=query[is_new])


def table(cells) -> str:
    """List a line a design."""
    names = ["loss", "rows a query", "grades", "null", *heads(OF_QUERY)]
    return listed(cells, BY[:4], names, lambda own: rates(own, OF_QUERY))


CELLS = crossed(
    loss=("pairwise", "ndcg"), list=ROWS, grades=GRADES, signal=("complete null", "beside a signal")
)


def intervals(cell, rng, size):
    """Fit one model to 100 queries, and judge it by draws of a population that judges it, too."""
    design = {"signal": "beside a signal", "grades": "0 to 4", **cell}
    sd = np.sqrt(1 + np.square([*EFFECTS.values()]).sum())

    def draw(n):
        X, grade, query = drawn(design, n, rng, sd * norm.ppf(GRADES["0 to 4"]))
        names = sorted(name for name in X if name.startswith(COLUMNS))
        return X[names], np.column_stack([grade, query])

    model = Target(lambda *_: None, cell["loss"]).model(size).fit(*draw(N_QUERIES))
    yield from judged_again(model, draw, 5_000, size == "full", SIZES)


PARTS = (
    Part("queries", CELLS, experiment, 10, table, summary=partial(summary, by=BY)),
    Part(
        "queries-intervals", crossed(loss=("pairwise", "ndcg"), list=("5", "5 to 200")), intervals,
        4, partial(table_of_intervals, by=("loss", "list"), unit="lists"),
    ),
)  # fmt: skip
