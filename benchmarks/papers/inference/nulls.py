"""Global nulls: y has nothing to do with X, so everything that is found is false.

1,000 rows to fit on and 1,000 to judge on, 300 trees at learning rate 0.1. The target is normal, is
Student's t of two degrees of freedom (no variance), is lognormal, or is a column of real prices; X
is 16 independent normal columns, or the columns of a real table, which are correlated and skewed.
"""

import numpy as np

from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import counted, measured
from benchmarks.study import Part, chosen, crossed, data, markdown
from benchmarks.study.tables import any_share, by_values, share, short_share, values_there

N = 1000
PRICES, REAL_X = "house_prices_kaggle", "jm1"
METHODS = {
    "tree_inner": ("tree_inner", {}),
    "partial_inner": ("partial_inner", {}),
    "partial_inner, PreDecomp": ("partial_inner", {"ifa": "predecomp"}),
    "permutation": ("permutation", {}),
    "held_out_gain": ("held_out_gain", {}),
}
GUARDED = ("tree_inner", "partial_inner")
GATED = (*GUARDED, "held_out_gain")


def target_of(name: str, n: int, rng) -> np.ndarray:
    """Draw a target that knows nothing of X."""
    if name == "prices":
        return rng.choice(data.table(PRICES)[1], size=n) / 1e5
    if name == "t2":
        return rng.standard_t(2, size=n)
    return rng.normal(size=n) if name == "normal" else rng.lognormal(size=n)


def experiment(cell, rng, size):
    """Fit noise, and count what is found in it."""
    n = N if size == "full" else 60
    X = rng.normal(size=(2 * n, 16)) if cell["X"] == "normal" else data.drawn(REAL_X, rng, 2 * n)[0]
    y = target_of(cell["y"], len(X), rng)
    model = judging.model(size, max_depth=cell["depth"], reg_lambda=cell["lambda"])
    model.fit(X[:n], y[:n])
    is_null = np.ones(X.shape[1], dtype=bool)
    for method, (name, options) in METHODS.items():
        training = {"training": (X[:n], y[:n])} if method in GUARDED else {}
        result = measured(name, model, X[n:], y[n:], rng, **options, **training)
        trusted = is_null if result.is_reliable is None else result.is_reliable
        p = result.p_values()
        yield {
            "method": method,
            **counted(result, is_null),
            "n_flagged": int((~trusted).sum()),
            "false_trusted": int((p[trusted] < judging.P_VALUE).sum()),
            "n_trusted": int(trusted.sum()),
        }


def table(rows) -> str:
    """Tabulate false positives at 0.05: a line a law of X, y and penalty, and all of them."""
    lines = [[*cell, *rates(own)] for cell, own in by_values(rows, "X", "y", "lambda")]
    lines.append(["**all**", "", "", *rates(rows)])
    names = map(judging.as_code, values_there(rows, "method", METHODS))
    heads = ["BH: tree", "BH: partial", "flagged, partial", "not flagged"]
    return markdown(["X", "y", "lambda", *names, *heads], lines)


def rates(cell) -> list[str]:
    """Return false positives of every method, how often BH finds any, and what the guard does."""
    methods = values_there(cell, "method", METHODS)
    by_method = {method: chosen(cell, method=method) for method in methods}
    partial = by_method["partial_inner"]
    return [
        *(share(of_method, "false", "n_null") for of_method in by_method.values()),
        *(any_share(by_method[method], "false_bh") for method in GUARDED),
        short_share(partial, "n_flagged", "n_null"),
        short_share(partial, "false_trusted", "n_trusted"),
    ]


CELLS = crossed(
    X=("normal", "real"), y=("normal", "t2", "lognormal", "prices"), depth=(4, 8),
    **{"lambda": (1, 10, 30)},
)  # fmt: skip
PART = Part("nulls", CELLS, experiment, 60, table, needs=(PRICES, REAL_X))
