"""Credit: which feature every column of a model is credited to, where these are not the same.

Trees read columns. People have features, and one feature may be several columns, such as the
indicators of the levels of a city. The table of credit says which::

    column      city_Bern   city_Rome   age   city x age           feature
    feature         0           0        1        2         names  city, age, city x age

A split is credited to the feature of its column. A column that is made of several features is
credited to all of them together, which is a feature of its own, a `Group`. A model without such a
table credits columns, at no cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LONGEST = 60  # characters of the name of a group; longer ones are written with fewer members
N_WRITTEN = 3


class Group(str):
    """The name of several features together, such as "city x age", which knows them by name."""

    members: tuple[str, ...]

    @classmethod
    def of(cls, members: Sequence[str], taken: Sequence[str] = ()) -> "Group":
        """Return the name of a group; that of many members lists the first ones and the last.

        A feature may have that very name, one of those ``taken``: then the number of members is
        written, too.
        """
        text, number = " x ".join(members), f" ({len(members)} columns)"
        if len(text) > LONGEST and len(members) > N_WRITTEN + 1:
            text = " x ".join(members[:N_WRITTEN]) + f" x ... x {members[-1]}{number}"
        while text in taken:
            text += number
        return cls.written(text, members)

    @classmethod
    def written(cls, text: str, members: Sequence[str]) -> "Group":
        """Return a group under a name."""
        group = cls(text)
        group.members = tuple(members)
        return group

    def __eq__(self, other: object) -> bool:
        is_written_alike = str.__eq__(self, other) is True  # as names of many members may be
        return is_written_alike and members_of(self) == getattr(other, "members", self.members)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple:
        return Group.written, (str(self), self.members)


@dataclass(frozen=True, eq=False)
class Credit:
    """Which feature every column of a model is credited to."""

    of_column: np.ndarray  # the number of the feature, int64
    # Of the features; one that has no column is worth 0 wherever columns are added up.
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_column", np.array(self.of_column, dtype=np.int64))
        object.__setattr__(self, "names", tuple(self.names))

    @classmethod
    def by_origin(cls, origins: Sequence[tuple[int, ...]], names: tuple[str, ...]) -> "Credit":
        """Return the table of columns, each of which is made of the features with some numbers.

        Columns that are made of several are credited to groups, which stand behind the features. A
        column that is made of none is constant, and no tree splits on it.
        """
        number: dict[tuple[int, ...], int] = {(k,): k for k in range(len(names))}
        groups: list[str] = []
        for origin in origins:
            if len(origin) > 1 and origin not in number:
                number[origin] = len(names) + len(groups)
                groups.append(Group.of([names[k] for k in origin], names))
        return cls(np.array([number.get(origin, 0) for origin in origins]), (*names, *groups))

    def is_of(self, n_columns: int) -> bool:
        """Say whether every one of ``n_columns`` has a feature, and every feature a name."""
        of_column = self.of_column
        is_known = (of_column >= 0) & (of_column < len(self.names))
        return of_column.shape == (n_columns,) and bool(is_known.all())

    def of_splits(self, column: np.ndarray) -> np.ndarray:
        """Return the feature of every split from the column that it reads; -1 at leaves stays."""
        return np.where(column < 0, -1, self.of_column[column]).astype(np.int32)

    def add_up(self, by_column: np.ndarray, by_feature: np.ndarray) -> np.ndarray:
        """Add the numbers of columns, (p, ...), to those of their features, and return these."""
        for k, of_column in zip(self.of_column, by_column, strict=True):
            by_feature[k] += of_column
        return by_feature


def members_of(name: str) -> tuple[str, ...]:
    """Return the features of a group, or the one feature that is none."""
    return name.members if isinstance(name, Group) else (name,)
