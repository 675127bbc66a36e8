"""What is known of a table before anybody fits a model to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Truth:
    """A table of which something is known that its reader should learn, or must not believe."""

    what: str  # the table, in words
    columns: Columns  # as a file has them, the target among them
    target: str = "y"
    options: tuple[str, ...] = ()  # further ones of the command line
    matter: tuple[str, ...] = ()  # columns that help: one at least must be said to, none to hurt
    noise: tuple[str, ...] = ()  # columns that say nothing, or nothing that holds for new groups
    groups: str = ""  # the column that holds rows together, or nothing
    may_group: tuple[str, ...] = ()  # of which that may be said: new values are hard to predict
    leaks: tuple[str, ...] = ()  # columns that give the answer away; one of them must be named
    may_leak: bool = False  # a warning is neither right nor wrong: nobody may know
    twins: Mapping[str, str] = field(default_factory=dict)  # that repeat others: must be told
    said: tuple[str, ...] = ()  # what else must be printed
    separator: str = ","  # between the cells of the file
