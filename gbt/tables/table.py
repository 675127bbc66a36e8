"""Tables as people have them: arrays and frames become rows of floats, nan for a missing value.

A `Table` is made once, where a table comes in, and knows what its columns are called and which of
them hold what is no number. All later code takes the Table::

    Table(X)  ->  names  ->  levels become numbers (`gbt.tables.categories`)  ->  rows of floats

Sparse matrices become `SparseRows`, which have no names and hold numbers alone.

NumPy would make floats of much that is no number: of a date the nanoseconds since 1970, of text the
number that it spells, of a masked entry what lies under the mask. So columns of dates and text are
refused, by name, and entries under a mask are missing values.
"""

import os
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array

from gbt.tables.cells import (
    ADVICE,
    first_other_value,
    is_missing,
    kind_of_dtype,
    kind_of_value,
)
from gbt.tables.names import (
    column_names,
    first_ten,
    is_frame,
    labels_of,
    refuse_levels_of_names,
    refuse_same_names,
)
from gbt.tables.sparse_rows import SparseRows

# Where a column of 100,000 whole numbers has as many, 1.2 ms instead of 6 find the distinct ones
# without sorting; 2.4 where the largest is 8 times that, and 5 where it is 16 times that.
MOST_NUMBERS_PER_ROW = 8


class Table:
    """A table as it was given, and its columns: of a frame, an array or a list of rows.

    Parameters
    ----------
    X : frame of pandas or polars, table of pyarrow, array, sparse matrix, or list of rows
        A lazy frame of polars is collected. Anything else is refused, with what to do about it.
    """

    def __init__(self, X: Any):
        X = collected(X)
        _refuse_no_table(X)
        self.given = _unmasked(X)
        refuse_levels_of_names(self.given)
        self.names = column_names(self.given)
        refuse_same_names(self.names)
        self._values: dict[int, tuple[list[Any], np.ndarray]] = {}

    @cached_property
    def cells(self) -> Any:
        """The frame itself, or an array, of which columns are taken by position."""
        X = self.given
        is_array = is_frame(X) or isinstance(X, np.ndarray) or self.is_sparse
        return X if is_array else np.array(X, dtype=object)

    @property
    def is_sparse(self) -> bool:
        """Whether the table is a sparse matrix, or was one."""
        return issparse(self.given) or isinstance(self.given, SparseRows)

    @property
    def n_columns(self) -> int:
        """Number of columns; 0 of what has not two dimensions, which scikit-learn then refuses."""
        shape: tuple[int, ...] = getattr(self.cells, "shape", ())
        return shape[1] if len(shape) == 2 else 0

    @cached_property
    def not_numbers(self) -> dict[int, tuple[str, str]]:
        """Which columns hold what is no number: its kind, a key of ``ADVICE``, and its name."""
        found = {}
        for k, dtype in enumerate(self._dtypes()):
            kind, shown = kind_of_dtype(dtype), dtype
            if dtype.lower() == "object":
                values = list(self.column(k))
                if (row := first_other_value(values)) is not None:
                    value = values[row]
                    kind, shown = kind_of_value(value), f"object, {value!r} in row {row}"
            if kind is not None:
                found[k] = kind, shown
        return found

    def _dtypes(self) -> list[str]:
        if is_frame(self.given):
            return list(map(str, self.given.dtypes))
        if hasattr(self.given, "schema"):  # pyarrow's
            return list(map(str, self.given.schema.types))
        may_be_other = isinstance(self.given, np.ndarray | list | tuple)
        if may_be_other and self.cells.dtype.kind in "OUSmM":
            return [str(self.cells.dtype)] * self.n_columns
        return []

    def of_categories(self) -> set[int]:
        """Return the columns that are categorical by their type: categories, or words among it."""
        return {k for k, (kind, _) in self.not_numbers.items() if kind in ("category", "text")}

    def column(self, k: int) -> Any:
        """Return column k, by position."""
        return getattr(self.cells, "iloc", self.cells)[:, k]

    def values(self, k: int) -> tuple[list[Any], np.ndarray]:
        """Return the distinct values of a column and where each row's stands, -1 if missing."""
        if k not in self._values:
            self._values[k] = self._find_values(k)
        return self._values[k]

    def _find_values(self, k: int) -> tuple[list[Any], np.ndarray]:
        column = self.column(k)
        if hasattr(column, "cat") and str(column.dtype) == "category":
            used, place = _distinct_numbers(np.asarray(column.cat.codes))
            categories = _intervals_as_words(column.cat.categories.tolist())
            place = place - (len(used) > 0 and used[0] < 0)
            return [categories[code] for code in used.tolist() if code >= 0], place
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            known, place = _distinct_numbers(np.ascontiguousarray(column))
            return known.tolist(), place
        rows = column.to_list() if hasattr(column, "to_list") else column.tolist()
        if str(column.dtype).startswith("interval"):
            rows = _intervals_as_words(rows)
        types = set(map(type, rows)) - {str, type(None)}
        try:
            # To a dict 1, 1.0 and True are one. With their types they are not, in twice the time.
            keys = rows if len(types) < 2 else list(zip(map(type, rows), rows, strict=True))
            value = dict(zip(keys, rows, strict=True))
        except TypeError as error:
            raise ValueError(
                f"Column {k} is categorical and holds what cannot be compared ({error}); levels are"
                " words, whole numbers or booleans."
            ) from error
        is_known = np.array([not is_missing(v) for v in value.values()], dtype=bool)
        places = np.where(is_known, is_known.cumsum() - 1, -1).tolist()
        place_of = dict(zip(value, places, strict=True))
        place = np.fromiter(map(place_of.__getitem__, keys), np.intp, len(rows))
        return list(compress(value.values(), is_known)), place

    def with_columns(self, numbers: dict[int, np.ndarray]) -> "Table":
        """Return the table with numbers in the place of some columns."""
        table = Table(self._replaced(numbers))
        table.not_numbers = {k: v for k, v in self.not_numbers.items() if k not in numbers}
        return table

    def _replaced(self, numbers: dict[int, np.ndarray]) -> Any:
        X = self.given
        if hasattr(X, "isetitem"):
            table = X.copy(deep=False)
            for k, column in numbers.items():
                table.isetitem(k, column)
            return table
        if is_frame(X):
            import polars

            return X.with_columns([polars.Series(X.columns[k], v) for k, v in numbers.items()])
        if hasattr(X, "set_column"):  # pyarrow's
            for k, column in numbers.items():
                X = X.set_column(k, X.column_names[k], [column])
            return X
        cells = self.cells
        others = [k for k in range(self.n_columns) if k not in numbers]
        table = np.empty(cells.shape, dtype=object if cells.dtype.kind in "OUS" else np.float64)
        table[:, others] = cells[:, others]
        for k, column in numbers.items():
            table[:, k] = column
        return table

    def refuse_other_values(self, *, categories_are_numbers: bool) -> None:
        """Raise ValueError if columns are not numbers; name them and say what to do."""
        labels, refused, kinds = labels_of(self.given), [], []
        for k, (kind, shown) in self.not_numbers.items():
            if kind == "category" and categories_are_numbers:
                distinct, _ = self.values(k)
                if (row := first_other_value(distinct)) is None:
                    continue
                kind, shown = kind_of_value(distinct[row]), f"{shown} of {distinct[row]!r}"
            label = f"column {k}" if labels is None else repr(labels[k])
            refused.append(f"{label} ({shown})")
            kinds += ["category", "text"] if kind == "text" else [kind]
        if refused:
            advice = " ".join(text for kind, text in ADVICE.items() if kind in kinds)
            error = TypeError if "other" in kinds else ValueError  # as NumPy would raise
            raise error(f"X has columns that are not numbers: {first_ten(refused)}. {advice}")

    def as_floats(self, unstored: float | None = 0.0) -> np.ndarray | SparseRows:
        """Return rows of float64, or of float32 if the table holds these.

        ``unstored`` is what a sparse matrix does not store; None refuses one.
        """
        X = self.given
        is_array = isinstance(X, np.ndarray) and X.dtype in (np.float64, np.float32)
        if is_array or isinstance(X, SparseRows):
            return X
        self.refuse_other_values(categories_are_numbers=True)
        try:
            return SparseRows.of(
                check_array(
                    X,
                    accept_sparse="csr",
                    dtype=(np.float64, np.float32),
                    ensure_all_finite=False,
                    ensure_2d=False,
                    ensure_min_samples=0,
                    input_name="X",
                ),
                unstored,
            )
        except (TypeError, ValueError):
            self.refuse_other_values(categories_are_numbers=False)  # names them
            raise


def _refuse_no_table(X: Any) -> None:
    """Raise an error if what is given for a table has no rows in memory; say how to get them."""
    if getattr(X, "ndim", 2) == 1:
        raise ValueError(
            "X has one dimension, and a table has two. Reshape your data: one row is X[[i]], of a"
            " frame X.iloc[[i]]; one column is X.reshape(-1, 1), of a frame X[[name]]."
        )
    if isinstance(X, str | bytes | os.PathLike):
        advice = "Read the file first, for instance with pandas.read_csv or polars.read_parquet."
    elif type(X) is dict or (isinstance(X, list | tuple) and X and type(X[0]) is dict):
        advice = "Give pandas.DataFrame(X)."
    elif any(hasattr(X, has) for has in ("__array__", "__len__", "__dataframe__")):
        return
    else:
        advice = "Give the array or frame that it was made of."
    raise TypeError(
        f"X must be a table, such as an array or a frame; got a {type(X).__name__}. {advice}"
    )


def collected(X: Any) -> Any:
    """Return the rows of a lazy frame of polars; anything else as it is."""
    is_lazy = type(X).__name__ == "LazyFrame" and hasattr(X, "collect")
    return X.collect() if is_lazy else X


def _unmasked(X: Any) -> Any:
    """Return a masked array as one of floats with nan under the mask; anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    Table(X.data).refuse_other_values(categories_are_numbers=True)
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)


def as_given(X: Any) -> Any:
    """Return lists and masked arrays as arrays, and lazy frames as frames; others as they are.

    NumPy would make words of numbers beside words in a list, and drop the mask. Of sparse matrices
    those that cannot be asked for some of their rows become those that can.
    """
    if issparse(X):
        return X.tocsr()
    X = collected(X)
    if not isinstance(X, list | tuple):
        return _unmasked(X)
    rows = np.asarray(X)
    return np.array(X, dtype=object) if rows.dtype.kind in "US" else rows


def refuse_infinities(
    X: np.ndarray | SparseRows, names: tuple[str, ...] | None = None, is_number: ArrayLike = True
) -> None:
    """Raise ValueError if rows of floats hold an infinity in a column of numbers; say where."""
    values = X.stored.data if isinstance(X, SparseRows) else X
    ends = [end.reduce(values, axis=None, initial=0.0) for end in (np.fmin, np.fmax)]
    if np.isinf(ends).any():
        places = np.argwhere(np.isinf(values) & is_number).tolist()
        if places:
            row, k = X.place_of(*places[0]) if isinstance(X, SparseRows) else places[0]
            name = k if names is None else repr(names[k])
            raise ValueError(
                f"X holds {X[row : row + 1][0, k]} in row {row}, column {name}; numbers must be"
                " finite, or nan where missing."
            )


def _intervals_as_words(values: list[Any]) -> list[Any]:
    """Return the intervals of ``pandas.cut`` as words, such as "(0.5, 2.0]"; others as they are."""
    return [str(value) if type(value).__name__ == "Interval" else value for value in values]


def _distinct_numbers(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers of a column, sorted, and where each row's stands, -1 if nan."""
    is_missing = np.isnan(column)
    if not is_missing.all():
        least, largest = (end.reduce(column).item() for end in (np.fmin, np.fmax))
        if largest - least < MOST_NUMBERS_PER_ROW * len(column) and max(-least, largest) <= 2**53:
            present = np.where(is_missing, least, column) if is_missing.any() else column
            whole = present.astype(np.int64)
            if (whole == present).all():
                # They are looked up in a table as long as the largest of them, not sorted.
                whole -= int(least)
                is_there = np.zeros(whole.max() + 1, dtype=bool)
                is_there[whole] = True
                place = np.where(is_missing, -1, (is_there.cumsum() - 1)[whole])
                return (np.flatnonzero(is_there) + int(least)).astype(column.dtype), place
    known, place = np.unique(column, return_inverse=True)
    if len(known) and known[-1] != known[-1]:  # all nan are one, behind the numbers
        known = known[:-1]
        place[place == len(known)] = -1
    return known, place
