"""Cells: what a value is that is no number, and what to do about it."""

import datetime
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np

# How the names of dtypes that are not numbers begin in NumPy, pandas, pyarrow and polars.
NOT_NUMBERS = {
    "category": ("category", "categorical", "enum", "dictionary", "interval"),
    "list": ("list", "array(", "fixed_size_list", "struct"),  # before "str"
    "text": ("str", "large_str", "utf8", "<U", ">U", "|S", "binary", "large_binary"),  # not ">u4"
    "date": ("date", "time", "duration", "period"),
    "sparse": ("sparse",),
}
_NOTHING_IN_PANDAS = ("NAType", "NaTType")  # types of missing values, told without pandas
ADVICE = {
    "category": "Categories are named in categorical_features when the model is fitted, or found by"
    " its default, 'from_dtype'.",
    "text": "Text that spells numbers becomes numbers by astype(float) or pandas.to_numeric.",
    "date": "Turn dates into numbers that mean something, such as days since an event.",
    "sparse": "Make sparse columns dense, with X.sparse.to_dense(), or give the matrix"
    " X.sparse.to_coo().",
    "list": "Give each place of a list a column of its own.",
    "other": "A missing value is nan or None; astype('Float64') takes NA among numbers. Any"
    " other cell given as argument must be a string or a number.",
}


def kind_of_dtype(dtype: str) -> str | None:
    """Return what columns of a dtype hold, a key of `ADVICE`, or None if these are numbers."""
    for kind, beginnings in NOT_NUMBERS.items():
        if dtype.startswith(beginnings) or dtype.lower().startswith(beginnings):
            return kind
    return None


def kind_of_value(value: Any) -> str:
    """Return what a value is that is no number, a key of `ADVICE`."""
    if isinstance(value, str | bytes):
        return "text"
    if isinstance(value, datetime.date | datetime.timedelta | np.datetime64 | np.timedelta64):
        return "date"
    return "other"


def first_other_value(values: Iterable) -> int | None:
    """Return the position of the first value that is neither a number nor None.

    pandas' missing values among objects, which NumPy cannot turn into numbers, are such a value if
    there is no other.
    """
    of_nothing = None
    for row, value in enumerate(values):
        if value is None or isinstance(value, Number | np.bool_):
            continue
        if type(value).__name__ not in _NOTHING_IN_PANDAS:
            return row
        of_nothing = row if of_nothing is None else of_nothing
    return of_nothing


def is_missing(value: Any) -> bool:
    """Say whether a value is None, nan or pandas' NA or NaT."""
    if isinstance(value, str):
        return False
    return value is None or type(value).__name__ in _NOTHING_IN_PANDAS or bool(value != value)
