"""Columns of noise of four kinds, and how what is found among them is counted."""

import numpy as np
import pandas as pd

from benchmarks.study.tables import by_values, column

KINDS = ("continuous", "2 levels", "5 levels", "100 levels")
P_VALUE = 0.05
ALLOWED = 0.065  # share of noise with p < 0.05 in one cell, beyond it two simulation errors


def level_column(n: int, n_levels: int, rng) -> pd.Series:
    """Draw levels whose names are not in the order of their codes."""
    codes = rng.permutation(n_levels)[rng.integers(n_levels, size=n)]
    return pd.Series(codes).map(lambda code: f"level {code}").astype("category")


def noise_columns(kind: str, n: int, n_columns: int, rng) -> dict[str, pd.Series]:
    """Draw columns of one kind, by name."""
    if kind == "continuous":
        return {f"{kind} {i}": pd.Series(rng.normal(size=n)) for i in range(n_columns)}
    n_levels = int(kind.split()[0])
    return {f"{kind} {i}": level_column(n, n_levels, rng) for i in range(n_columns)}


def of_all_kinds(n: int, n_columns: int, rng) -> dict[str, pd.Series]:
    """Draw columns of each kind."""
    columns = {}
    for kind in KINDS:
        columns |= noise_columns(kind, n, n_columns, rng)
    return columns


def in_any_order(columns, rng) -> pd.DataFrame:
    """Return a table with its columns in an order drawn at random, since ties prefer the first."""
    return pd.DataFrame({name: columns[name] for name in rng.permutation(list(columns))})


def by_kind(result, X, kinds):
    """Yield counts of each kind of columns that is there: their names begin with it."""
    for kind in kinds:
        is_kind = X.columns.str.startswith(kind)
        if is_kind.any():
            yield {"kind": kind, **counted(result, is_kind)}


def counted(result, is_kind) -> dict[str, int]:
    """Count, among the columns of a kind, what is found and what is called reliable.

    A column that no tree uses counts as reliable and not found: its p-value is 1.
    """
    found = result.p_values() < P_VALUE
    reliable = np.ones_like(found) if result.is_reliable is None else result.is_reliable
    return {
        "n": int(is_kind.sum()),
        "found": int(found[is_kind].sum()),
        "n_reliable": int(reliable[is_kind].sum()),
        "found_reliable": int((found & reliable)[is_kind].sum()),
    }


COUNTED = ("n", "found", "n_reliable", "found_reliable")


def added_up(rows, by) -> list[dict]:
    """Add counts of replications up, cell by cell, with the error of the rate over data sets."""
    return [
        {
            **dict(zip(by, key, strict=True)),
            "data_sets": len(members),
            **{name: sum(row[name] for row in members) for name in COUNTED},
            "squared_error": squared_error(members),
        }
        for key, members in by_values(rows, *by)
    ]


def squared_error(members) -> float:
    """Return the sum of (found - rate n)^2 over data sets, by which cells can be pooled."""
    found, n = column(members, "found_reliable"), column(members, "n_reliable")
    rate = found.sum() / n.sum() if n.sum() else 0.0
    return float(np.sum((found - rate * n) ** 2))


def rate_and_error(cells) -> tuple[float, float]:
    """Return the rate among reliable columns over some cells, and its simulation error."""
    n = sum(cell["n_reliable"] for cell in cells)
    if not n:
        return float("nan"), float("nan")
    found = sum(cell["found_reliable"] for cell in cells)
    return found / n, np.sqrt(sum(cell["squared_error"] for cell in cells)) / n


def rate_text(cells) -> str:
    """Return the rate among reliable columns, its error, and the share that is not reliable."""
    if not cells:
        return "-"
    n = sum(cell["n"] for cell in cells)
    rate, error = rate_and_error(cells)
    unreliable = 1 - sum(cell["n_reliable"] for cell in cells) / n
    return f"{rate:.3f} ({error:.3f}); {unreliable:.2f}"


def is_too_high(cells) -> bool:
    """Say whether noise is found more often than is allowed."""
    rate, error = rate_and_error(cells)
    return bool(rate > ALLOWED + 2 * error)
