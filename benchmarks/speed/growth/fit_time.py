"""Seconds of whole fits and of ranking the columns alone, and how they grow with every size."""

import numpy as np

import gbt
from benchmarks.speed.growth.plan import FULL, Plan, data_of
from benchmarks.speed.growth.records import median, number, select
from benchmarks.speed.timing import timed
from benchmarks.study import ours
from benchmarks.study.tables import markdown
from gbt.reference import boosting as reference
from gbt.tables.columns import Columns

MOST_EXPONENT = 1.10  # that we promise, of time in rows and in columns


def verify() -> None:
    """Stop unless small trees are right, and larger ones the same for 1 and 2 threads."""
    X, y = data_of(200, 4, n_distinct=9)
    model = gbt.GBTRegressor(n_estimators=2, max_depth=3, splitter="greedy").fit(X, y)
    expected = reference.boost(X, y, n_estimators=2, max_depth=3, fixed_point=True).raw_predict(X)
    if np.abs(model.predict(X) - expected).max() > 1e-12 * np.abs(y).max():
        raise SystemExit("not the trees of gbt.reference; nothing timed")
    X, y = data_of(10_000, 20)
    one, two = (
        gbt.GBTRegressor(n_estimators=3, n_jobs=n_jobs, splitter="greedy").fit(X, y).predict(X)
        for n_jobs in (1, 2)
    )
    if (one != two).any():
        raise SystemExit("trees depend on the number of threads; nothing timed")


def measure_time(plan: Plan) -> list[tuple]:
    """Time all fits of all axes, then all of them again: a drift of the machine hits all alike."""
    verify()
    records = []
    for repeat in range(plan.repeats):
        for axis in plan.axes:
            for size, fit in axis.fits():
                X, y = data_of(fit.n_rows, fit.n_columns, n_distinct=fit.n_distinct)
                shape = {"n_estimators": plan.n_rounds, "max_depth": fit.max_depth}
                model = ours(n_jobs=fit.n_threads, **shape)
                for quantity, work in (
                    ("fit", lambda m=model, X=X, y=y: m.fit(X, y)),
                    ("ranking", lambda X=X, fit=fit: Columns.from_table(X, fit.n_threads)),
                ):
                    took = timed(work).clock
                    records.append(("time", axis.name, size, repeat, quantity, took))
    return records


def series_of(records, name: str, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of an axis, ascending, and the median seconds at each."""
    sizes = sorted({r[2] for r in records if r[:2] == ("time", name)})
    return np.array(sizes), np.array(
        [median(select(records, "time", name, quantity, size)) for size in sizes]
    )


def is_upper(sizes: np.ndarray) -> np.ndarray:
    """Say which sizes are in the upper half of the range, on the log scale."""
    return sizes**2 >= float(sizes[0]) * sizes[-1]


def exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope of log value over log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def upper_exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope over the upper half of the sizes."""
    upper = is_upper(sizes)
    return exponent(sizes[upper], values[upper])


def time_table(records) -> str:
    """Tabulate every axis: seconds, and how they grow."""
    tables = []
    for axis in FULL.axes:
        sizes, fit = series_of(records, axis.name, "fit")
        _, ranking = series_of(records, axis.name, "ranking")
        header = [f"{axis.name} ({axis.constant})", *[f"{size:,}" for size in sizes]]
        rows = [["fit, s", *map(number, fit)], ["ranking alone, s", *map(number, ranking)]]
        if axis.name == "threads":
            growth = f"{sizes[-1]} threads are {fit[0] / fit[-1]:.2f} times as fast as one"
        else:
            first, *_, last = sizes[is_upper(sizes)]
            growth = (
                f"Exponent from {first:,} to {last:,}: **{upper_exponent(sizes, fit):.2f}**;"
                f" over all sizes {exponent(sizes, fit):.2f}; of ranking alone"
                f" {upper_exponent(sizes, ranking):.2f} and {exponent(sizes, ranking):.2f}"
            )
        tables.append(f"{markdown(header, rows)}\n\n{growth}.")
    return "\n\n".join(tables)


def time_claims(records) -> list[tuple[str, bool]]:
    """Say whether time is linear in rows and columns, over all sizes and where they are large."""
    claims = []
    for name in ("rows", "columns"):
        sizes, fit = series_of(records, name, "fit")
        upper = is_upper(sizes)
        for some, times in ((sizes, fit), (sizes[upper], fit[upper])):
            found = exponent(some, times)
            words = (
                f"from {some[0]:,} to {some[-1]:,} {name} time grows to the power of at most"
                f" {MOST_EXPONENT:.2f}: {found:.2f}"
            )
            claims.append((words, found <= MOST_EXPONENT))
    return claims
