"""Titles and labels of pictures: what is seen, in which unit, and what marks mean."""

from collections.abc import Collection
from typing import Any

import numpy as np

from attributions.methods import facts_of, kind_of
from attributions.plots.colors import BLUE, GREY, VERMILION
from gbt.tables.names import counted

TWO_SIDED_95 = 1.959963984540054
OF_CONSTANT = "% of the loss of a constant prediction"
HOLLOW = "hollow: a few rows may carry it"
UNTOLD = "grey: cannot be told, the interval has 0 in it"


def unit_of(result: Any, intervals: bool = True) -> tuple[float, str]:
    """Return what numbers are multiplied by to be drawn, and the label of their axis.

    The unit is what people know best: per cent, a mean over rows, or that of the method.
    """
    facts, n_rows = facts_of(result.method), counted(result.n_samples, "row")
    kind = kind_of(result.method)
    if result.percent_of_one is not None:
        factor, unit, over = result.percent_of_one, f"{facts.title}, {OF_CONSTANT}", n_rows
    elif kind == "total_gain":
        factor, unit, over = 100 / (result.values.sum() or 1.0), "% of all gain", "training rows"
    elif kind == "absolute":
        factor, unit, over = 1 / result.n_samples, f"mean {facts.unit}", n_rows
    else:
        factor, unit, over = 1.0, facts.unit, "" if facts.no_sum else f"sum over {n_rows}"
    errors = "95 % intervals" if intervals and result.standard_error is not None else ""
    return factor, ", ".join(filter(None, (unit, over, errors)))


def ends_of(result: Any) -> np.ndarray | None:
    """Return the 95 % intervals of all values, each by itself, (p, 2); None without errors."""
    if result.standard_error is None:
        return None
    half = TWO_SIDED_95 * result.standard_error
    return np.column_stack([result.values - half, result.values + half])


def bounded(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return intervals that can be drawn, (p, 2); those of which nothing is said have no width.

    Where one end is not bounded it is drawn as far from the value as the other one.
    """
    reach = np.abs(np.nan_to_num(ends - values[:, np.newaxis], posinf=np.inf, neginf=-np.inf))
    reach = np.where(np.isinf(reach), reach[:, ::-1], reach)
    reach[np.isinf(reach)] = 0.0  # nothing bounds either end
    return values[:, np.newaxis] + reach * (-1, 1)


def verdict_colors(values: np.ndarray, ends: np.ndarray | None) -> list[str]:
    """Return blue for what helps, vermilion for what hurts, grey where an interval has 0 in it."""
    if ends is None:  # nothing is in doubt
        return [VERMILION if value < 0 else BLUE for value in values]
    return [BLUE if low > 0 else VERMILION if high < 0 else GREY for low, high in ends]


def notes(colors: Collection[str], doubtful: np.ndarray) -> str:
    """Return a line that says what grey and hollow marks mean, if there are any."""
    said = [UNTOLD] * (GREY in colors) + [HOLLOW] * bool(np.any(doubtful))
    return f"\n({'; '.join(said)})" if said else ""


def are_doubtful(result: Any) -> np.ndarray:
    """Return which features are known to have intervals that are not to be relied on."""
    if result.is_reliable is None:
        return np.zeros(len(result.values), dtype=bool)
    return ~result.is_reliable


def share(n_shown: int, n: int, best: str = "", of: str = "features") -> str:
    """Return a text that says how many of the features are shown; empty if all are."""
    return f" ({best}{n_shown:,} of {n:,} {of})" if n_shown < n else ""
