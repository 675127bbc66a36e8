"""Names of columns, and how messages call what they were given.

Columns of a frame have names. Those of an array have numbers, which libraries write as x0, x1, ...,
as f0, f1, ... or in some other way, and which are no names: they give way to those of a frame.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

LONGEST_SHOWN = 200  # characters
_COMPLETE = (
    "Give the columns that the model was fitted on; those of pandas.get_dummies are completed by"
    " X.reindex(columns=model.feature_names_in_, fill_value=0)"
)
_SELECT = (
    "Select them, X[model.feature_names_in_] (of CatBoost feature_names_, of an Ensemble"
    " list(feature_names))"
)


def shown(value: Any) -> str:
    """Return a value as messages print it, or what it is if it is a table or else too long."""
    text = repr(value)
    if "\n" not in text and len(text) <= LONGEST_SHOWN:
        return text
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" + (f" of shape {shape}" if shape else "")


def first_ten(names: Iterable[str]) -> str:
    """List names in a message, of many the first ten."""
    listed = list(names)
    return ", ".join(listed[:10]) + ", ..." * (len(listed) > 10)


def counted(n: int, what: str) -> str:
    """Say how many there are of something: "1 row", "1,200 rows"."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def place_of(parameter: str, column: Any, names: Sequence[str]) -> int:
    """Return which column a name or an index means, given as part of a parameter."""
    if isinstance(column, Integral):
        if -len(names) <= int(column) < len(names):
            return int(column) % len(names)
        raise ValueError(
            f"{parameter} has column {column}; X has the columns 0 to {len(names) - 1}."
        )
    if column not in names:
        raise ValueError(
            f"{parameter} names {column!r}, which is no column of X; these are"
            f" {first_ten(map(repr, names))}."
        )
    return list(names).index(column)


def is_frame(X: Any) -> bool:
    """Say whether a table is a frame of pandas or polars, or one like them."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns, None if the table has none.

    Labels that are no text are written out. But if they are the numbers 0 .. p - 1, in whatever
    order, as in frames made of arrays, they become x0, x1, ..., the names of an array's columns.
    """
    labels = labels_of(X)
    if labels is None:
        return None
    prefix = "x" if set(labels) == set(range(len(labels))) else ""
    return tuple(f"{prefix}{label}" for label in labels)


def refuse_levels_of_names(X: Any) -> None:
    """Raise ValueError if the columns of a frame have names of several levels."""
    if getattr(getattr(X, "columns", None), "nlevels", 1) > 1:
        raise ValueError(
            f"X has columns in {X.columns.nlevels} levels, a MultiIndex, the first of them"
            f" {X.columns[0]!r}. Give every column one name:"
            " X.columns = [' '.join(map(str, names)) for names in X.columns]."
        )


def refuse_same_names(names: tuple[str, ...] | None) -> None:
    """Raise ValueError if two columns have one name."""
    if names is None or len(set(names)) == len(names):
        return
    name = next(name for k, name in enumerate(names) if name in names[:k])
    places = [k for k, other in enumerate(names) if other == name]
    raise ValueError(
        f"X has columns of the same name: {name!r} is the name of the columns {places}. Columns are"
        " told by their names; rename all but one, or leave them out."
    )


def names_for(feature_names: tuple[str, ...], X: Any) -> tuple[str, ...]:
    """Return a model's names of its columns, or a frame's if those are mere numbers in order.

    A frame's are also taken where the model has them as LightGBM writes them, `without_blanks`.
    """
    names, in_order = None, [*range(len(feature_names))]
    if isinstance(getattr(X, "shape", None), tuple):  # what has none is refused later
        names = column_names(X)
    if names is not None and without_blanks(names) == feature_names:
        return names
    if names is None or len(names) != len(in_order) or _numbers(feature_names) != in_order:
        return feature_names
    return names if _numbers(names) in (None, in_order) else feature_names


def are_numbers(names: tuple[str, ...]) -> bool:
    """Say whether names are mere numbers in order, as of the columns of an array."""
    return _numbers(names) == [*range(len(names))]


def without_blanks(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as LightGBM writes them: "mean radius" is "mean_radius"."""
    return tuple(name.replace(" ", "_") for name in names)


def refuse_other_columns(table: Any, feature_names: tuple[str, ...]) -> None:
    """Raise ValueError if a table has not the columns of a model, in their order.

    If the names of either side are mere numbers in order, x0, x1, ..., they are taken for none.
    Those of the model may be `without_blanks`.
    """
    names = table.names
    shape: tuple[int, ...] = getattr(table.given, "shape", None) or table.cells.shape
    if names is None:
        if len(shape) == 2:
            refuse_number(shape, feature_names)
        return
    numbers, of_model = _numbers(names), _numbers(feature_names)
    are_named = not (are_numbers(names) or are_numbers(feature_names))
    missing = _listed(" Missing: ", feature_names, names)
    if are_named and len(names) != len(feature_names):
        raise ValueError(
            f"X has {counted(len(names), 'column')}; the model needs {len(feature_names)}.{missing}"
            f"{_listed(' Not of the model: ', names, feature_names)}"
            f" {_COMPLETE if missing else _SELECT}."
        )
    refuse_number(shape, feature_names)
    without = without_blanks(names)
    pairs = zip(names, without, feature_names, strict=True)
    differing = [
        k for k, (own, short, of_model) in enumerate(pairs) if of_model not in (own, short)
    ]
    if not differing:
        return
    k = differing[0]
    where = f"column {k} is {names[k]!r} instead of {feature_names[k]!r}"
    are_numbered = numbers is not None and of_model is not None
    are_same = {*feature_names} in ({*names}, {*without})
    if are_same or (are_numbered and numbers != of_model):
        raise ValueError(f"X has the columns of the model in another order: {where}. {_SELECT}.")
    if are_named:
        raise ValueError(
            f"X has other columns than the model: {where}. {_COMPLETE}. If only names differ,"
            " rename the columns, or give an array."
        )


def refuse_number(shape: tuple[int, ...], feature_names: tuple[str, ...]) -> None:
    """Raise ValueError if this is no table of as many columns as a model has."""
    if len(shape) != 2 or shape[1] != len(feature_names):
        raise ValueError(
            f"X has shape {tuple(shape)}; the model needs a table with {len(feature_names)}"
            f" columns, the first of them {feature_names[0]!r}."
        )


def _listed(title: str, names: tuple[str, ...], others: tuple[str, ...]) -> str:
    """List the names that are not among others, blanks and underscores being the same."""
    known, without = {*without_blanks(others)}, without_blanks(names)
    lacking = [name for name, short in zip(names, without, strict=True) if short not in known]
    return f"{title}{first_ten(map(repr, lacking))}." if lacking else ""


def _numbers(names: tuple[str, ...]) -> list[int] | None:
    """Return the numbers of names that are one word, or none, and 0 .. p - 1 in any order."""
    prefix = names[0].rstrip("0123456789") if names else ""
    numbers = [name.removeprefix(prefix) for name in names]
    if {f"{prefix}{k}" for k in range(len(names))} != set(names):
        return None
    return [int(number) for number in numbers]


def labels_of(X: Any) -> list | None:
    """Return what a frame calls its columns, None if the table has no names."""
    if hasattr(X, "collect_schema"):  # polars', lazy frames among them
        return X.collect_schema().names()
    labels = X.columns if is_frame(X) else getattr(X, "column_names", None)  # pyarrow's
    return None if labels is None else list(labels)
