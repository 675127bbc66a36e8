"""Categories: columns of words, of numbers that name things, or of booleans become numbers.

The *levels* of a column are its distinct values. They are learned when a model is fitted, sorted,
kept with it as the words, numbers or booleans that they were, and numbered::

    column   "red"   "blue"   None   "red"   "green"        levels   ("blue", "green", "red")
    number     2       0      nan      2        1

Every later table is looked up by value: other codes of a pandas or polars category, another order
of levels, plain words instead of categories give the same numbers. What was missing stays so, nan,
and a level that training has not seen becomes missing, too. Everything behind this file sees rows
of floats.

Which columns: those of categories and of words, found by their type ("from_dtype"), or those that
are named. Columns of booleans are numbers, 0 and 1, unless they are named: there is one way to
split two levels, and numbers are faster.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np

from gbt.level_sets import LevelSets
from gbt.tables import first_other_value, is_of_categories, is_of_objects, refuse_other_columns

Level = str | int | bool
Levels = tuple[Level, ...]
Categories = tuple[Levels | None, ...]

MOST_LEVELS = 65_536
KINDS = {"words": str, "booleans": bool, "numbers": int}  # of levels, and their types in Python
FROM_DTYPE = "from_dtype"


class EncodedRows(np.ndarray):
    """Rows of floats in which numbers stand for levels already: nothing is to be looked up."""


def learn(X: Any, which: Any, names: Sequence[str]) -> Categories | None:
    """Return the levels of the categorical columns of a table, None if it has none.

    Parameters
    ----------
    X : table of shape (n, p)
    which : "from_dtype", None, or sequence of names, of indices, or of p booleans
    names : sequence of str
        Of the columns.
    """
    table = Table(X)
    chosen = table.of_categories() if _is_from_dtype(which) else chosen_columns(which, names)
    if not chosen:
        return None
    return tuple(
        _levels(table.values(k), names[k]) if k in chosen else None for k in range(len(names))
    )


def encode(
    X: Any, categories: Categories, names: Sequence[str], unseen_is_missing: bool = True
) -> Any:
    """Return a table of the same kind whose levels are numbers, nan where missing.

    A level that training has not seen is nan, too, or else inf, which is in no set. What is no
    table of two dimensions comes back as it is: who reads it says so.
    """
    table = Table(X)
    refuse_other_columns(table.X, tuple(names))
    if table.n_columns != len(categories):
        return X
    unseen = np.nan if unseen_is_missing else np.inf
    return table.with_columns(
        {
            k: _numbers_of(table.values(k), levels, names[k], unseen)
            for k, levels in enumerate(categories)
            if levels is not None
        }
    )


def count_levels(categories: Categories | None, n_columns: int) -> np.ndarray:
    """Return how many levels every column has, 0 where its values are numbers."""
    columns = categories or (None,) * n_columns
    return np.array([0 if levels is None else len(levels) for levels in columns], dtype=np.int64)


def level_names(
    categories: Categories | None, sets: LevelSets | None, feature: int, node: int
) -> Levels:
    """Return the levels of a feature that go left at a node that has a set of them."""
    levels = None if categories is None else categories[feature]
    if levels is None or sets is None:
        raise ValueError("The model has no categories: its nodes have thresholds.")
    goes_left = sets.goes_left(node, len(levels))
    return tuple(level for level, is_left in zip(levels, goes_left, strict=True) if is_left)


def describe_levels(categories: Categories) -> list[list[Level] | None]:
    """Return levels as JSON has them: words, numbers and booleans are told apart there."""
    return [None if levels is None else list(levels) for levels in categories]


def check_levels(levels: Sequence[Any]) -> Levels:
    """Return the levels of a column from a file; raise ValueError unless they are some."""
    kinds = {kind for level in levels for kind, of in KINDS.items() if type(level) is of}
    if len(kinds) > 1 or any(type(level) not in KINDS.values() for level in levels):
        raise ValueError("levels must be words, whole numbers or booleans, all of one kind")
    if len(levels) > MOST_LEVELS:
        raise ValueError(f"there are {len(levels)} levels, at most {MOST_LEVELS} are allowed")
    if any(a >= b for a, b in pairwise(levels)):
        raise ValueError("levels must be sorted, none of them twice")
    return tuple(levels)


class Table:
    """The columns of a pandas or polars frame, of an array or of a list of rows."""

    def __init__(self, X: Any):
        self.is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")
        if not self.is_frame and not isinstance(X, np.ndarray):
            X = np.array(X, dtype=object)
        self.X = X
        shape: tuple[int, ...] = getattr(X, "shape", ())
        # What is no table has no columns here, and is refused where rows are checked.
        self.n_columns = shape[1] if len(shape) == 2 else 0

    def column(self, k: int) -> Any:
        """Return column k, by position, since two columns may have one name."""
        return getattr(self.X, "iloc", self.X)[:, k]

    def of_categories(self) -> set[int]:
        """Return the columns that are categorical by their type: categories, or words among it."""
        if not self.is_frame:
            is_text = self.X.dtype.kind in "US"
            is_object = self.X.dtype.kind == "O"
            return {
                k
                for k in range(self.n_columns)
                if is_text or (is_object and has_words(self.column(k)))
            }
        return {
            k
            for k, dtype in enumerate(map(str, self.X.dtypes))
            if is_of_categories(dtype) or (is_of_objects(dtype) and has_words(self.column(k)))
        }

    def values(self, k: int) -> tuple[list[Any], np.ndarray]:
        """Return the distinct values of a column and where each row's stands, -1 if missing."""
        column = self.column(k)
        if hasattr(column, "cat") and str(column.dtype) == "category":
            codes = np.asarray(column.cat.codes, dtype=np.int64)
            used, place = np.unique(codes, return_inverse=True)
            categories = column.cat.categories.tolist()
            place = place - (len(used) > 0 and used[0] < 0)
            return [categories[code] for code in used if code >= 0], place
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            known, place = np.unique(np.asarray(column), return_inverse=True)
            if len(known) and known[-1] != known[-1]:  # all nan are one, behind the numbers
                known = known[:-1]
                place[place == len(known)] = -1
            return known.tolist(), place
        rows = column.to_list() if hasattr(column, "to_list") else column.tolist()
        typed = list(zip(map(type, rows), rows, strict=True))  # to a dict 1, 1.0 and True are one
        try:
            number = {key: i for i, key in enumerate(dict.fromkeys(typed))}
        except TypeError as error:
            raise ValueError(
                f"Column {k} is categorical and holds what cannot be compared ({error}); levels are"
                " words, whole numbers or booleans."
            ) from error
        is_known = np.array([not is_missing(value) for _, value in number], dtype=bool)
        number_of_known = np.where(is_known, is_known.cumsum() - 1, -1)
        place = number_of_known[np.fromiter(map(number.__getitem__, typed), np.intp, len(rows))]
        return [value for (_, value), known in zip(number, is_known, strict=True) if known], place

    def with_columns(self, numbers: dict[int, np.ndarray]) -> Any:
        """Return the table with other columns in some places."""
        if hasattr(self.X, "isetitem"):
            table = self.X.copy(deep=False)
            for k, column in numbers.items():
                table.isetitem(k, column)
            return table
        if self.is_frame:
            import polars

            columns = [polars.Series(self.X.columns[k], v) for k, v in numbers.items()]
            return self.X.with_columns(columns)
        others = [k for k in range(self.n_columns) if k not in numbers]
        table = np.empty(self.X.shape, dtype=object if self.X.dtype.kind in "OUS" else np.float64)
        table[:, others] = self.X[:, others]
        for k, column in numbers.items():
            table[:, k] = column
        return table


def has_words(column: Iterable[Any]) -> bool:
    """Say whether the first value of a column that is no number is a word."""
    values = list(column)
    row = first_other_value(values)
    return row is not None and isinstance(values[row], str)


def is_missing(value: Any) -> bool:
    """Say whether a value is None, nan or pandas' NA or NaT."""
    if isinstance(value, str):
        return False
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _is_from_dtype(which: Any) -> bool:
    return isinstance(which, str) and which == FROM_DTYPE


def chosen_columns(which: Any, names: Sequence[str]) -> set[int]:
    """Return the places of columns that are given by name, by index or by a mask."""
    if which is None:
        return set()
    given = np.asarray(which).tolist() if not isinstance(which, list | tuple) else list(which)
    if given and all(isinstance(item, bool | np.bool_) for item in given):
        if len(given) != len(names):
            raise ValueError(
                f"categorical_features is a mask of {len(given)} columns; X has {len(names)}."
            )
        return {k for k, is_chosen in enumerate(given) if is_chosen}
    chosen, names = set(), list(names)
    for item in given:
        if isinstance(item, str):
            if item not in names:
                raise ValueError(
                    f"categorical_features names {item!r}, which is no column of X; its columns"
                    f" are {names[:10]}{', ...' if len(names) > 10 else ''}"
                )
            chosen.add(names.index(item))
        elif -len(names) <= item < len(names):
            chosen.add(int(item) % len(names))
        else:
            raise ValueError(
                f"categorical_features has the index {item}; X has {len(names)} columns, counted"
                " from 0."
            )
    return chosen


def _levels(values: tuple[list[Any], np.ndarray], name: str) -> Levels:
    """Return the sorted levels of a column."""
    distinct, _ = values
    _refuse_two_kinds(distinct, name)
    levels = sorted({_as_level(value, name) for value in distinct})
    if len(levels) > MOST_LEVELS:
        raise ValueError(
            f"Column {name!r} has {len(levels):,} levels; at most {MOST_LEVELS:,} are allowed, and"
            " so many say little of new rows. Drop the column, put rare levels together, or, if"
            " its values are numbers, make it one: astype(float), or leave it out of"
            " categorical_features."
        )
    return tuple(levels)


def _numbers_of(
    values: tuple[list[Any], np.ndarray], levels: Levels, name: str, unseen: float
) -> np.ndarray:
    """Return the numbers of a column's levels as floats, nan where there is no value."""
    distinct, place = values
    number = {level: i for i, level in enumerate(levels)}
    _refuse_two_kinds(distinct, name)
    given = [_as_level(value, name) for value in distinct]
    if given and levels and kind_of(given[0]) != kind_of(levels[0]):
        raise ValueError(
            f"Column {name!r} has {kind_of(given[0])} such as {given[0]!r}, but in training its"
            f" levels were {kind_of(levels[0])} such as {levels[0]!r}, and levels are looked up by"
            " value. Convert the column, for instance with astype"
            f"({KINDS[kind_of(levels[0])].__name__})."
        )
    numbers = np.array([*(number.get(level, unseen) for level in given), np.nan])
    return numbers[place]


def kind_of(value: Any) -> str:
    """Return what kind of level a value is; nothing if it is none."""
    if isinstance(value, bool | np.bool_):
        return "booleans"
    if isinstance(value, str):
        return "words"
    return "numbers" if isinstance(value, Number) else ""


def _as_level(value: Any, name: str) -> Level:
    """Return a value as the level that it is, a plain word, integer or boolean."""
    kind = kind_of(value)
    if kind == "numbers":
        if not isinstance(value, complex) and np.isfinite(value) and value == int(value):
            return int(value)
        raise ValueError(
            f"Column {name!r} is declared categorical and holds {value!r}: levels that are numbers"
            " must be whole. Leave the column out of categorical_features if its values are"
            " quantities, or turn them into words, astype(str)."
        )
    if not kind:
        raise ValueError(
            f"Column {name!r} is categorical and holds {value!r}, a {type(value).__name__}; levels"
            " are words, whole numbers or booleans."
        )
    return KINDS[kind](value)


def _refuse_two_kinds(distinct: list[Any], name: str) -> None:
    """Raise ValueError if the values of a column are not all words, or numbers, or booleans."""
    examples = {kind_of(value): value for value in reversed(distinct)}
    if len(examples) < 2:
        return
    shown = " and ".join(f"{kind} such as {value!r}" for kind, value in examples.items())
    texts: dict[str, Any] = {}
    for value in distinct:
        other = texts.setdefault(str(value), value)
        if kind_of(other) != kind_of(value):
            shown += f"; {other!r} and {value!r} even have the same text"
            break
    raise ValueError(
        f"Column {name!r} is categorical and holds {shown}. Are these different levels? Say so by"
        " making all of them one type, for instance with astype(str)."
    )
