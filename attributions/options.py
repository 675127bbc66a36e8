"""Checks of options, by their names and in the same words, and imports of optional packages."""

import operator
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from gbt.tables.names import shown


def whole_number(value: Any) -> int | None:
    """Return a whole number of Python's or NumPy's; None for anything else, True among it."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def whole(least: int, **given: Any) -> int:
    """Return an option, given by its name, that is a whole number from the least on."""
    ((name, value),) = given.items()
    number = whole_number(value)
    if number is None or number < least:
        raise ValueError(f"{name}={shown(value)}; it must be a whole number, from {least}.")
    return number


def check_one_of(allowed: Sequence[Any], **given: Any) -> None:
    """Refuse an option, given by its name, that is none of those allowed."""
    ((name, value),) = given.items()
    if value not in allowed:
        *others, last = map(repr, allowed)
        raise ValueError(f"{name}={shown(value)}; use {', '.join(others)} or {last}.")


def check_share(usual: float, **given: Any) -> None:
    """Refuse an option, given by its name, that is no number between 0 and 1."""
    ((name, value),) = given.items()
    if not (isinstance(value, int | float | np.number) and 0 < value < 1):
        raise ValueError(f"{name}={shown(value)}; it must lie between 0 and 1, as {usual} does.")


def imported(package: str, what: str, instead: str = "") -> Any:
    """Return an optional package, or raise an error that says how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install {package}{instead}.") from error
