"""A table that cannot be used: the error, and the names and hints that such messages have."""

import os
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from attributions.names import elided, first_of

N_SHOWN, LEAST_ALIKE = 20, 0.5  # names in a message; of letters that are the same
BYTES_A_CELL = 32  # a float in the column, the rows, a half of them, and the trainer's table


class UnusableTableError(ValueError):
    """A file that cannot be fitted; the message says why, and what to do."""


def check_fits(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a table that the machine has not the memory for."""
    needed, memory = BYTES_A_CELL * n_rows * n_columns, _memory_of_machine()
    if memory is not None and needed > memory:
        raise UnusableTableError(
            f"{path} has {n_rows:,} rows and {n_columns} columns. To fit a model here, or to write"
            f" a report, takes some {needed / 1e9:.0f} GB of memory, and the machine has"
            f" {memory / 1e9:.0f} GB. Fit on some of the rows; a saved model is judged on all of"
            " them, in batches, by --model FILE without --report."
        )


def _memory_of_machine() -> int | None:
    """Return the bytes of memory, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def named(names: Sequence[str], path: Path) -> list[str]:
    """Return names of columns; one without a name gets its number, as pandas would call it.

    A table that was saved twice with its index has a column of that very name already.
    """
    names = [" ".join(name.split()) for name in names]
    for k in (k for k, name in enumerate(names) if not name):
        names[k] = f"Unnamed: {k}" if f"Unnamed: {k}" not in names else f"Unnamed: {k}.1"
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnusableTableError(
            f"{path} has two columns of the same name, {listed(twice)}; rename one."
        )
    return names


def nearest(
    name: str, names: Iterable[str], otherwise: str, part: Callable[[str], str] = str
) -> str:
    """Return "; did you mean 'a' or 'b'?" with the names most like ``name``, or ``otherwise``.

    One that is equal but for capitals is the only one.
    """
    others, asked = {part(other).casefold(): other for other in names}, part(name).casefold()
    n_shown = 1 if asked in others else 3
    found = get_close_matches(asked, others, n=n_shown, cutoff=LEAST_ALIKE)
    alike = " or ".join(repr(others[key]) for key in found)
    return f"; did you mean {alike}?" if found else otherwise


def listed(names: Sequence[str]) -> str:
    """Return names for a message, the first of many."""
    return first_of([repr(elided(name)) for name in names], N_SHOWN) or "nothing"
