"""Power beside three other tests, each at the level that it truly has.

500 rows to fit on, 500 to judge on: a column of strong effect, one of weak effect, and four of
noise, all normal. A test finds what lies more standard errors above 0 than 95 % of the noise of all
data sets of the cell does: so a test that finds noise in 20 % of cases wins nothing by that.
``seconds`` has the time of held-out gain over that of permutation on 50 columns.
"""

from functools import partial

import numpy as np

from attributions import held_out_gain, permutation
from benchmarks.papers.held_out.planted import METHODS, judged
from benchmarks.papers.held_out.targets import TARGETS
from benchmarks.speed.timing import in_turn
from benchmarks.study import Part, crossed
from benchmarks.study.tables import chosen, column, listed

N = 500
WEAK = 1
N_NOISE = 4
WEAK_EFFECT = 0.12
COMPARED = held_out_gain, permutation


def experiment(cell, rng, size):
    """Judge one model by all tests, and keep how many standard errors every feature is above 0."""
    n, target = N if size == "full" else 100, TARGETS[cell["target"]]
    X = rng.normal(size=(2 * n, 2 + N_NOISE))
    y = target.draw(X[:, :2] @ [0.6, WEAK_EFFECT], rng)
    model = target.model(size).fit(X[:n], y[:n])
    for method in METHODS:
        result = judged(method, model, X[n:], y[n:], rng)
        z = np.full(X.shape[1], -9.0)
        np.divide(result.values, result.standard_error, out=z, where=result.standard_error > 0)
        yield {"method": method, **{f"z{k}": round(float(z[k]), 4) for k in range(len(z))}}


def level_and_power(rows) -> tuple[float, float, float]:
    """Return how often noise has p < 0.05, and the power at 5 % of the noise, with its error."""
    noise = np.array([[row[f"z{2 + k}"] for k in range(N_NOISE)] for row in rows])
    weak = np.array([row[f"z{WEAK}"] for row in rows])
    found = weak > np.quantile(noise, 0.95)
    error = np.sqrt(found.mean() * (1 - found.mean()) / len(rows))
    return float((noise > 1.6449).mean()), float(found.mean()), float(error)


def table(rows) -> str:
    """List a line a loss: every test's level at 0.05, and its power at a true 5 %."""

    def cells(own):
        found = [level_and_power(chosen(own, method=method)) for method in METHODS]
        levels = [f"{level:.3f}" for level, _, _ in found]
        return [*levels, *(f"{power:.2f} ({error:.2f})" for _, power, error in found)]

    heads = [f"{what}, `{method}`" for what in ("noise", "power") for method in METHODS]
    return listed(rows, ("target",), ["target", *heads], cells)


def seconds(cell, rng, size):
    """Time both on the same model, one after the other, after a call that compiles."""
    n, target = 1000 if size == "full" else 50, TARGETS[cell["target"]]
    X = rng.normal(size=(2 * n, 50))
    y = target.draw(X[:, 0], rng)
    model = target.model(size, n_estimators=100 if size == "full" else 3, max_depth=4)
    model.fit(X[:n], y[:n])
    held_out_gain(model, X[n:], y[n:], n_jobs=1)
    permutation(model, X[n:], y[n:], n_repeats=1, n_jobs=1, random_state=0)
    calls = {of.__name__: partial(of, model, X[n:], y[n:], n_jobs=1) for of in COMPARED}
    yield {name: round(float(times[0, 0]), 5) for name, times in in_turn(calls, 1).items()}


def seconds_table(rows) -> str:
    """List medians of both and of their ratio."""

    def cells(own):
        both = gain, shuffled = [column(own, of.__name__) for of in COMPARED]
        ratio = f"{np.median(gain / shuffled):.2f}"
        return [*(f"{1000 * np.median(times):.1f}" for times in both), ratio]

    heads = ["target", "`held_out_gain`, ms", "`permutation`, ms", "ratio"]
    return listed(rows, ("target",), heads, cells)


TIMED = ("squared error", "two classes", "four classes", "Poisson")
PARTS = (
    Part("power", crossed(target=TARGETS), experiment, 60, table),
    Part("seconds", crossed(target=TIMED), seconds, 5, seconds_table, is_timed=True),
)
