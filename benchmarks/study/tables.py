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


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over the replications, the first axis, and their standard errors."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def cell_of(values, digits: int) -> str:
    """Return a mean with its standard error, which a single value does not have."""
    mean, error = np.mean(values), np.nan
    if len(values) > 1:
        error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:.{digits}f}" + ("" if np.isnan(error) else f" ({error:.{digits}f})")


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
