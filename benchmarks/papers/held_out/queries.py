"""Losses of an order: noise beside lists of 5 to 200 rows, and a weak column beside permutation's.

A row's use is signal plus noise. Grades are 1 for the best fifth of all rows, or 0 to 4 by where
the use lies. 100 queries are fitted, and 100 others judge. There are three columns of noise of each
kind and one that is the same for all rows of a query; 50 trees of depth 3.
"""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from attributions import held_out_gain, permutation
from benchmarks.papers.held_out.censoring import EFFECTS, above, heads, rates, summary
from benchmarks.papers.held_out.noise import KINDS, counted, noise_columns
from benchmarks.papers.held_out.targets import Target
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of

N_QUERIES = 100
ROWS = ("5", "20", "200", "5 to 200")  # of a query
GRADES = {"0, 1": [0.8], "0 to 4": [0.5, 0.75, 0.9, 0.97]}  # shares of rows below each grade
BY = ("loss", "list", "grades", "signal", "kind")
OF_QUERY = "of the query"


def drawn(cell, n_queries: int, rng):
    """Draw a table with its columns in an order drawn at random, grades, and queries."""
    ends = [int(end) for end in cell["list"].split(" to ")]
    lengths = np.exp(rng.uniform(*np.log([ends[0], ends[-1] + 1e-9]), n_queries)).round()
    query = np.repeat(np.arange(n_queries), lengths.astype(int))
    n = len(query)
    columns, use = {}, rng.normal(size=n)
    if cell["signal"] == "beside a signal":
        for name, effect in EFFECTS.items():
            columns[name] = pd.Series(rng.normal(size=n))
            use = use + effect * columns[name].to_numpy()
    columns[OF_QUERY] = pd.Series(lengths[query] + rng.normal(size=n_queries)[query])
    for kind in KINDS:
        columns |= noise_columns(kind, n, 3, rng)
    X = pd.DataFrame({name: columns[name] for name in rng.permutation(list(columns))})
    return X, np.digitize(use, np.quantile(use, GRADES[cell["grades"]])), query


def experiment(cell, rng, size):
    """Fit one model, and count what is found, and how many columns of noise lie below the weak."""
    X, grade, query = drawn(cell, 2 * N_QUERIES, rng)
    is_new = query >= N_QUERIES
    model = Target(lambda *_: None, cell["loss"]).model(size)
    model.fit(X[~is_new], grade[~is_new], groups=query[~is_new])
    new = X[is_new], grade[is_new]
    result = held_out_gain(model, *new, groups=query[is_new], n_jobs=1)
    shuffled = None
    if "weak" in X:
        seed = int(rng.integers(2**31))
        shuffled = permutation(model, *new, groups=query[is_new], n_jobs=1, random_state=seed)
    for kind in (*KINDS, OF_QUERY, "weak"):
        is_kind = X.columns.str.startswith(kind)
        if is_kind.any():
            row = {"kind": kind, **counted(result, is_kind)}
            if kind == "weak":
                row |= {"above": above(result, X), "above_shuffled": above(shuffled, X)}
            yield {"above": 0.0, "above_shuffled": 0.0, **row}


def table(cells) -> str:
    """List a line a design."""
    lines = []
    for design in product(*(values_of(cells, name) for name in BY[:4])):
        of_line = chosen(cells, **dict(zip(BY[:4], design, strict=True)))
        lines.append([*design, *rates(of_line, OF_QUERY)])
    return markdown(["loss", "rows a query", "grades", "null", *heads(OF_QUERY)], lines)


PART = Part(
    "queries",
    tuple(
        {"loss": loss, "list": rows, "grades": grades, "signal": signal}
        for loss, rows, grades, signal in product(
            ("pairwise", "ndcg"), ROWS, GRADES, ("complete null", "beside a signal")
        )
    ),
    experiment,
    10,
    table,
    summary=partial(summary, by=BY),
)
