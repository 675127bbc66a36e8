"""Categories: columns of words, of numbers that name things, or of booleans become numbers.

The *levels* of a column are its distinct values. They are learned when a model is fitted, sorted,
kept with it as the words, numbers or booleans that they were, and numbered::

    column   "red"   "blue"   None   "red"   "green"        levels   ("blue", "green", "red")
    number     2       0      nan      2        1

In every later table levels are looked up by value: other codes of a pandas or polars category,
another order of levels, and plain words instead of categories give the same numbers. Missing values
remain nan, and a level that training has not seen becomes missing, too. Later code sees rows of
floats.

Which columns: those of categories and of words, found by their type ("from_dtype"), or those that
are named. Columns of booleans are numbers, 0 and 1, unless they are named: there is one way to
split two levels, and numbers are faster.
"""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise, repeat
from numbers import Number
from typing import Any

import numpy as np

from gbt.tables.level_sets import LevelSets
from gbt.tables.names import place_of
from gbt.tables.sparse_rows import SparseRows
from gbt.tables.spelled import spells_number
from gbt.tables.table import Table

Level = str | int | bool
Levels = tuple[Level, ...]
Categories = tuple[Levels | None, ...]

MOST_LEVELS = 65_536
KINDS = {"words": str, "booleans": bool, "numbers": int}  # of levels, and their types in Python
FROM_DTYPE = "from_dtype"
LEAST_QUANTITIES = 10  # fewer may be sizes or grades


class EncodedRows(np.ndarray):
    """Rows of floats in which levels are numbers already and need no look-up.

    ``categories`` has the levels; None is unknown, as after NumPy has joined rows.
    """

    categories: Categories | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.categories = getattr(source, "categories", None)

    @classmethod
    def of(cls, rows: Any, categories: Categories | None, is_prepared: bool = False) -> Any:
        """Return rows marked as encoded if there are categories, or if steps have prepared them.

        Sparse rows stay as they are.
        """
        if (categories is None and not is_prepared) or isinstance(rows, SparseRows):
            return rows
        marked = rows.view(cls)
        marked.categories = categories
        return marked


def learn(table: Table, which: Any, names: Sequence[str]) -> tuple[Categories | None, Table]:
    """Return the levels of the categorical columns of a table, and the table as `encode` makes it.

    The levels are None if it has no such columns. ``which`` is "from_dtype", None, or a sequence of
    names, of indices, or of p booleans.
    """
    chosen = categorical_columns(table, which, names)
    if chosen and table.is_sparse:
        raise ValueError(
            f"categorical_features names {len(chosen)} columns, and X is sparse: its columns are"
            " numbers. Give a frame or an array with these columns as categories; or leave it at"
            " 'from_dtype', and the numbers of the levels are split like other numbers."
        )
    found = [levels_in(table, chosen, names)]
    categories = learn_together(found, which, names) if chosen else None
    return categories, encode(table, categories, names)


def levels_in(table: Table, chosen: set[int], names: Sequence[str]) -> dict[int, list[Level]]:
    """Return the distinct levels of some columns of a table."""
    return {k: _as_levels(table.values(k)[0], names[k]) for k in chosen}


def learn_together(
    parts: Sequence[dict[int, list[Level]]], which: Any, names: Sequence[str]
) -> Categories:
    """Return the levels of the columns of a table whose chunks have some each, sorted."""
    learned: dict[int, Levels] = {}
    for k in sorted({k for part in parts for k in part}):
        given, name = [level for part in parts for level in part.get(k, [])], names[k]
        if len(set(map(type, given))) > 1:
            _refuse_two_kinds(given, name)
        learned[k] = levels = tuple(sorted(set(given)))
        if len(levels) > MOST_LEVELS:
            raise ValueError(
                f"Column {name!r} has {len(levels):,} levels; at most {MOST_LEVELS:,} are allowed,"
                " and so many say little of new rows. Drop the column, put rare levels together,"
                " or, if its values are numbers, make it one: astype(float), or leave it out of"
                " categorical_features."
            )
        if _is_from_dtype(which):
            _warn_of_numbers(levels, name)
    return tuple(learned.get(k) for k in range(len(names)))


def encode(
    table: Table,
    categories: Categories | None,
    names: Sequence[str],
    unseen_is_missing: bool = True,
) -> Table:
    """Return a table of the same kind whose levels are numbers, nan where missing.

    A level that training has not seen is nan, too, or inf, which is in no set, if
    ``unseen_is_missing`` is false. `EncodedRows` stay as they are, but those of another model are
    refused. Anything without two dimensions stays as it is, and is refused later.
    """
    _refuse_rows_of_others(table, categories)
    if categories is None or isinstance(table.given, EncodedRows):
        return table
    if table.n_columns != len(categories):
        return table
    if table.is_sparse:
        k = next(k for k, levels in enumerate(categories) if levels is not None)
        raise ValueError(
            f"Column {names[k]!r} of the model is categorical, and X is sparse, whose columns are"
            " numbers. Give a frame or an array with the levels themselves."
        )
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


def check_levels(levels: Sequence[Any]) -> Levels:
    """Return the levels of a column from a file; raise ValueError if they cannot be levels."""
    kinds = {kind for level in levels for kind, of in KINDS.items() if type(level) is of}
    if len(kinds) > 1 or any(type(level) not in KINDS.values() for level in levels):
        raise ValueError("levels must be words, whole numbers or booleans, all of one kind")
    if len(levels) > MOST_LEVELS:
        raise ValueError(f"there are {len(levels)} levels, at most {MOST_LEVELS} are allowed")
    if any(a >= b for a, b in pairwise(levels)):
        raise ValueError("levels must be sorted, none of them twice")
    return tuple(levels)


def _refuse_rows_of_others(table: Table, categories: Categories | None) -> None:
    """Raise ValueError if levels in a table became the numbers of another model."""
    X = table.given
    if isinstance(X, EncodedRows) and X.categories not in (None, categories):
        raise ValueError(
            "X has rows whose levels became the numbers of another model. Give the table"
            " itself; or np.asarray(X), if these numbers are its values."
        )


def _is_from_dtype(which: Any) -> bool:
    return isinstance(which, str) and which == FROM_DTYPE


def categorical_columns(table: Table, which: Any, names: Sequence[str]) -> set[int]:
    """Return which columns of a table are categorical; ``which`` is as `learn` takes it."""
    return table.of_categories() if _is_from_dtype(which) else chosen_columns(which, names)


def chosen_columns(which: Any, names: Sequence[str]) -> set[int]:
    """Return the numbers of columns that are given by name, by index or by a mask."""
    if which is None:
        return set()
    given = np.asarray(which).tolist() if not isinstance(which, list | tuple) else list(which)
    if given and all(isinstance(item, bool | np.bool_) for item in given):
        if len(given) != len(names):
            raise ValueError(
                f"categorical_features is a mask of {len(given)} columns; X has {len(names)}."
            )
        return {k for k, is_chosen in enumerate(given) if is_chosen}
    return {place_of("categorical_features", item, names) for item in given}


def _warn_of_numbers(levels: Levels, name: str) -> None:
    """Warn if most levels that were found by their type are words that spell quantities."""
    n_others = 0
    for level in levels:
        n_others += not _is_quantity(level)
        # A tenth of others is enough: to look at all levels took a twentieth of a small fit.
        if 10 * n_others >= len(levels):
            return
    if len(levels) - n_others >= LEAST_QUANTITIES:
        quantity = next(filter(_is_quantity, levels))
        warnings.warn(
            f"Column {name!r} holds text that spells numbers, such as {quantity!r}: its"
            f" {len(levels):,} words are taken for categories. gbt.tables.read_numbers(X) makes"
            " numbers of it, here and in the tables of later predictions; or name it in"
            " categorical_features if categories are meant.",
            UserWarning,
            stacklevel=9,  # where fit was called
        )


def _is_quantity(level: Any) -> bool:
    """Say whether a level is a word for a number with a point, commas, a currency or per cent.

    Words of digits alone, or with letters between them, are more often names.
    """
    if not isinstance(level, str):
        return False
    word = level.strip()
    return not word.isdecimal() and spells_number(word)


def _numbers_of(
    values: tuple[list[Any], np.ndarray], levels: Levels, name: str, unseen: float
) -> np.ndarray:
    """Return the numbers of a column's levels as floats, nan where there is no value."""
    distinct, place = values
    given = _as_levels(distinct, name)
    if given and levels and kind_of(given[0]) != kind_of(levels[0]):
        if kind_of(given[0]) == "booleans" and {*levels} <= {0, 1}:
            return _look_up(given, levels, unseen)[place]  # what scikit-learn makes of booleans
        how = f"astype({KINDS[kind_of(levels[0])].__name__})"
        if [kind_of(given[0]), kind_of(levels[0])] == ["words", "booleans"]:
            how = "map({'False': False, 'True': True})"  # every word would be True
        raise ValueError(
            f"Column {name!r} has {kind_of(given[0])} such as {given[0]!r}, but in training its"
            f" levels were {kind_of(levels[0])} such as {levels[0]!r}, and levels are looked up by"
            f" value. Convert the column, for instance with {how}."
        )
    return _look_up(given, levels, unseen)[place]


def _look_up(given: list[Level], levels: Levels, unseen: float) -> np.ndarray:
    """Return the numbers of some levels as floats, and last nan, which index -1 picks."""
    number = dict(zip(levels, range(len(levels)), strict=True))
    return np.array([*map(number.get, given, repeat(unseen)), np.nan])


def kind_of(value: Any) -> str:
    """Return the kind of level that a value is, or an empty string if it cannot be a level."""
    if isinstance(value, bool | np.bool_):
        return "booleans"
    if isinstance(value, str):
        return "words"
    return "numbers" if isinstance(value, Number) else ""


def _as_levels(distinct: list[Any], name: str) -> list[Level]:
    """Return the distinct values of a column as the levels that they are.

    If all values have one type, as in nearly all columns, they are not looked at one by one in
    Python: 10,000 whole numbers then take 1 ms instead of 25.
    """
    types = set(map(type, distinct))
    if types == {float} and all(map(float.is_integer, distinct)):
        return list(map(int, distinct))
    if len(types) == 1 and types <= set(KINDS.values()):
        return distinct
    _refuse_two_kinds(distinct, name)
    return [_as_level(value, name) for value in distinct]


def _as_level(value: Any, name: str) -> Level:
    """Return a value as the level that it is, a plain word, integer or boolean."""
    kind = kind_of(value)
    if kind == "numbers":
        with suppress(TypeError, ValueError, OverflowError):  # complex, nan, infinite
            if value == int(value):
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
