"""How names, numbers and cells are written: in sentences, in tables, for a shell."""

import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from textwrap import wrap

import numpy as np

from attributions.amounts import amount
from attributions.command.rules.columns import Column
from attributions.names import elided, first_of, on_one_line

N_NAMED = 8
NAME_WIDTH = 40
WIDTH = 100  # of a line in the terminal
N_DECIMALS, MOST_DECIMALS = 3, 7  # of importances in per cent, and of scores
LONGEST = 60  # letters of a cell or a name where there is little room
MISSING = "(missing)"
ABOVE_100 = (
    "A gain above 100 % is no mistake: each tree is credited by the slope of the loss, and slopes"
    " add up to more than the loss that they save together. Compare features with each other."
)
OPEN_ABOVE = (
    "Where an interval has no upper end, a few rows may carry the gain: how much it may be cannot"
    " be told from these rows."
)


def shown_names(names: Sequence[str]) -> str:
    """Return names for a sentence, the first of many; long ones without their middle."""
    return first_of([elided(name, NAME_WIDTH) for name in names], N_NAMED)


def apart(texts: Sequence[str], width: int) -> list[str]:
    """Return texts that are cut; those that would be alike stay whole."""
    short = [elided(text, width) for text in texts]
    times = Counter(short)
    return [on_one_line(t) if times[s] > 1 else s for t, s in zip(texts, short, strict=True)]


def option(name: str, column: str) -> str:
    """Return an option with a column's name as a shell takes it."""
    return f"{name} {argument(column)}"


def argument(column: str) -> str:
    """Return a column's name as a shell takes it."""
    return shlex.quote(on_one_line(column))


def lines_of(text: str, first: str = "", others: str = "") -> list[str]:
    """Return a text as lines of the terminal; options and names are not cut at their hyphens."""
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def value_and_interval(value: float, ends: np.ndarray) -> tuple[str, str]:
    """Write a per cent and its interval with equally many decimals, two digits of the width.

    An end that is not 0 is not written as 0, so that who reads the interval sees the verdict. An
    interval of no width is left out, since it is known exactly that nothing happened, and so is one
    of which nothing is said.
    """
    low, high = (float(end) for end in ends)
    known = [end for end in (low, high) if np.isfinite(end)]
    width = max((abs(end - value) for end in known), default=0.0)
    size = abs(2 * width or value)
    digits = int(np.clip(1 - np.floor(np.log10(size)), 0, N_DECIMALS)) if size else 0
    if not known or width == 0:
        return fixed(value, digits), "not known" if np.isinf(low) else ""
    nearest = max(low, -high, 0.0)  # its distance from 0, if the interval leaves out 0
    is_lost = 0 < nearest < 0.5 * 10.0**-N_DECIMALS
    while not is_lost and 0 < nearest < 0.5 * 10.0**-digits:
        digits += 1
    first, last = (
        "<>"[end > 0] + "0" if 0 < abs(end) < 0.5 * 10.0**-digits else fixed(end, digits)
        for end in (low, high)
    )
    return fixed(value, digits), f"{first} or more" if np.isinf(high) else f"{first} to {last}"


def alike(numbers: Sequence[float]) -> list[str]:
    """Write numbers with equally many decimals, four digits of the largest."""
    largest = max(map(abs, numbers))
    digits = max(3 - int(np.floor(np.log10(largest))), 0) if largest > 0 else 0
    if digits > MOST_DECIMALS:
        return [f"{number:.3e}" for number in numbers]
    return [fixed(number, digits) for number in numbers]


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals; what rounds to 0 has no sign."""
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def cell(column: Column, number: float) -> str:
    """Return what a file would hold for a number of a column."""
    if np.isnan(number):
        return MISSING
    if column.words:
        return elided(column.words[int(number)], LONGEST)
    if column.kind == "dates":
        moment = datetime.fromtimestamp(number, UTC)
        return f"{moment:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
    return amount(number).replace(",", "")
