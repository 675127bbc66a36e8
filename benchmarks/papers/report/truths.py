"""What is known of a table before anybody fits a model to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Truth:
    """A table of which something is known that its reader should learn, or must not believe.

    Parameters
    ----------
    what : str
        The table, in words.
    columns : mapping of str to sequence
        As a file has them, the target among them.
    target : str
    options : tuple of str
        Further options of the command line.
    matter : tuple of str
        Columns that help. A reader must be told so of one at least, and of none the contrary.
    noise : tuple of str
        Columns that say nothing of the target, or nothing that holds for new groups of rows.
    groups : str
        The column that holds rows together, or nothing.
    may_group : tuple of str
        Columns of which that may be said, since rows of other values cannot be predicted by them.
    leaks : tuple of str
        Columns that give the answer away; a warning must name one of them.
    may_leak : bool
        Whether a warning of a leak is neither right nor wrong: of real columns nobody may know.
    twins : mapping of str to str
        Columns that say what another one says, of which the reader must be told.
    said : tuple of str
        What else must be printed.
    separator : str
        Between the cells of the file.
    """

    what: str
    columns: Columns
    target: str = "y"
    options: tuple[str, ...] = ()
    matter: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    groups: str = ""
    may_group: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    may_leak: bool = False
    twins: Mapping[str, str] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    separator: str = ","
