"""Rows of results become tables: choose some, count, average, write Markdown."""

from itertools import product

import numpy as np


def chosen(rows, /, **wanted):
    """Return the rows that have all of these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def by_values(rows, *names):
    """Yield values of some columns and the rows that have them; the last column turns first."""
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    for values in product(*(values_of(rows, name) for name in names)):
        if values in groups:
            yield values, groups[values]


def listed(rows, names, heads, cells) -> str:
    """Return a table with a line for each of the values of some columns, and what is in its rows.

    ``cells`` takes the rows of a line and returns what stands behind the values.
    """
    return markdown(heads, [[*values, *cells(own)] for values, own in by_values(rows, *names)])


def count_of(rows, name) -> str:
    """Return in how many rows a column is true."""
    return f"{sum(row[name] for row in rows)} of {len(rows)}"


def share(rows, part, whole) -> str:
    """Return a rate with its error over replications."""
    parts = np.array([row[part] for row in rows], dtype=float)
    wholes = np.array([row[whole] for row in rows], dtype=float)
    if not wholes.sum():
        return "-"
    rate = parts.sum() / wholes.sum()
    error = np.sqrt(np.sum((parts - rate * wholes) ** 2)) / wholes.sum()
    return f"{rate:.3f} ({error:.3f})"


def short_share(rows, part, whole) -> str:
    """Return a rate alone."""
    wholes = sum(row[whole] for row in rows)
    return f"{sum(row[part] for row in rows) / wholes:.3f}" if wholes else "-"


def any_share(rows, part) -> str:
    """Return in how many replications there was at least one."""
    return f"{np.mean([row[part] > 0 for row in rows]):.2f}"


def means_by(rows, name, value) -> np.ndarray:
    """Return the mean of what a function finds in rows, for each of the values of a column."""
    return np.array([np.mean([value(row) for row in own]) for _, own in by_values(rows, name)])


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over the replications, the first axis, and their standard errors."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def cell_of(values, digits: int, sign: str = "") -> str:
    """Return a mean with its standard error, which a single value does not have."""
    mean = f"{np.mean(values):{sign}.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ({np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f})"


def spread_of(values) -> str:
    """Return a mean with the standard deviation of single values."""
    return f"{np.mean(values):.4f} ({np.std(values, ddof=1):.4f})"


def number(value: float) -> str:
    """Write three significant digits, without an exponent where that reads well."""
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:#.3g}".rstrip(".")


def column(rows, name) -> np.ndarray:
    """Return the numbers of a column."""
    return np.array([row[name] for row in rows])


def markdown(names, rows, n_words: int | None = None) -> str:
    """Return a table; columns after the first ``n_words`` are numbers and stand to the right."""
    first = len(names) if n_words is None else n_words
    rule = ["---"] * first + ["--:"] * (len(names) - first)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [names, rule, *rows])


def values_there(rows, name, order):
    """Return those of ``order`` that a column has: a file may be older than a method."""
    there = set(values_of(rows, name))
    return [value for value in order if value in there]


def values_of(rows, name):
    """Return the distinct values of a column, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))
