"""Seconds of whole fits and of ranking the columns alone, and how they grow with every size."""

from functools import cache

import numpy as np

from benchmarks.speed import splitter_cost
from benchmarks.speed.growth.tables import AXES, data_of
from benchmarks.speed.timing import timed
from benchmarks.study import Part, chosen, column, ours
from benchmarks.study.tables import by_values, markdown, number
from gbt.tables.columns import Columns

N_ROUNDS = 10
MOST_EXPONENT = 1.10  # that we promise, of time in rows and in columns


@cache
def verify() -> None:
    """Stop unless small trees are right, and larger ones the same for 1 and 2 threads."""
    for n_levels in (9, None):  # few distinct numbers, and continuous ones
        table = splitter_cost.Table(10_000, 20, n_levels=n_levels)
        splitter_cost.verify(splitter_cost.POLICIES["greedy"], splitter_cost.NUMBERS, table)


def experiment(cell, rng, size):
    """Time one fit; all fits come before any is repeated, so that a drift hits all alike."""
    verify()
    axis = next(axis for axis in AXES if axis.name == cell["axis"])
    fit = axis.fit_of(cell["size"])
    shrinks = 1 if size == "full" else 1000
    n_rows, n_columns = max(fit.n_rows // shrinks, 50), max(fit.n_columns // shrinks, 5)
    X, y = data_of(n_rows, n_columns, n_distinct=fit.n_distinct)
    model = ours(n_jobs=fit.n_threads, n_estimators=N_ROUNDS, max_depth=fit.max_depth)
    yield {
        "fit": f"{timed(lambda: model.fit(X, y)).clock:.6g}",
        "ranking": f"{timed(lambda: Columns.from_table(X, fit.n_threads)).clock:.6g}",
    }


def series_of(rows, axis: str, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of an axis, ascending, and the median seconds at each."""
    of_sizes = dict(by_values(chosen(rows, axis=axis), "size"))
    medians = [np.median(column(own, quantity).astype(float)) for own in of_sizes.values()]
    return np.array([size for (size,) in of_sizes]), np.array(medians)


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


def table(rows) -> str:
    """Tabulate every axis: seconds, and how they grow."""
    tables = []
    for axis in AXES:
        sizes, fit = series_of(rows, axis.name, "fit")
        _, ranking = series_of(rows, axis.name, "ranking")
        header = [f"{axis.name} ({axis.constant})", *[f"{size:,}" for size in sizes]]
        lines = [["fit, s", *map(number, fit)], ["ranking alone, s", *map(number, ranking)]]
        if axis.name == "threads":
            growth = f"{sizes[-1]} threads are {fit[0] / fit[-1]:.2f} times as fast as one"
        else:
            first, *_, last = sizes[is_upper(sizes)]
            growth = (
                f"Exponent from {first:,} to {last:,}: **{upper_exponent(sizes, fit):.2f}**;"
                f" over all sizes {exponent(sizes, fit):.2f}; of ranking alone"
                f" {upper_exponent(sizes, ranking):.2f} and {exponent(sizes, ranking):.2f}"
            )
        tables.append(f"{markdown(header, lines)}\n\n{growth}.")
    return "\n\n".join(tables)


def claims(rows) -> list[tuple[str, bool]]:
    """Say whether time is linear in rows and columns, over all sizes and where they are large."""
    found = []
    for name in ("rows", "columns"):
        sizes, fit = series_of(rows, name, "fit")
        upper = is_upper(sizes)
        for some, times in ((sizes, fit), (sizes[upper], fit[upper])):
            power = exponent(some, times)
            words = (
                f"from {some[0]:,} to {some[-1]:,} {name} time grows to the power of at most"
                f" {MOST_EXPONENT:.2f}: {power:.2f}"
            )
            found.append((words, power <= MOST_EXPONENT))
    return found


CELLS = tuple({"axis": axis.name, "size": size} for axis in AXES for size in axis.sizes)
PART = Part("time", CELLS, experiment, 3, table, is_timed=True)
