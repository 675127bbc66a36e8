"""Arrow and Parquet files a batch of rows at a time, for tables that are larger than memory.

The model says whether a column holds numbers or its levels. So a batch can be made into the rows of
floats that the model compares without a look at the rest of the file. Cells are read as the rest of
the command line reads them: dates are seconds since 1970, text that spells a number is that number,
and where numbers are wanted other text is missing, and counted. In memory are one batch and what
pyarrow holds of the file: a group of rows of Parquet, nothing of an Arrow file that is not packed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from attributions.command.table.columns import (
    Column,
    LevelPlaces,
    cell_number,
    column_of,
    is_missing,
)
from attributions.command.table.file import ARROW, PARQUET, UnusableTableError, named

CELLS_AT_ONCE = 2**22  # in a batch, 32 MB as floats
LEAST_ROWS = 1024


@dataclass(frozen=True)
class BatchFile:
    """A file that is read in batches.

    Parameters
    ----------
    path : Path
    kind : {"Parquet", "Arrow"}
    names : dict of str to str
        The columns, by the names that they have here, and what the file calls them.
    """

    path: Path
    kind: str
    names: dict[str, str]

    def batches(self, columns: Sequence[str]) -> Iterator[list[Any]]:
        """Yield some columns of each batch, as arrays of pyarrow, in the order asked for."""
        n_rows = max(LEAST_ROWS, CELLS_AT_ONCE // max(len(columns), 1))
        originals = [self.names[name] for name in columns]
        with _errors_of_pyarrow(self.path):
            for batch in _PARTS[self.kind](self.path, originals, n_rows):
                for start in range(0, batch.num_rows, n_rows):
                    part = batch.slice(start, n_rows)
                    yield [part.column(name) for name in originals]

    def read(self, name: str) -> Column:
        """Read one whole column."""
        numbers: list[np.ndarray] = []
        codes: list[np.ndarray] = []
        place: dict[str, int] = {}
        for (column,) in self.batches([name]):
            if _is_number(column.type):
                numbers.append(_floats(column))
            else:
                texts, code = _distinct(column)
                of_text = np.array([place.setdefault(text, len(place)) for text in texts], np.int64)
                codes.append(of_text[code])
        if codes:
            return column_of(name, list(place), np.concatenate(codes))
        known = np.concatenate([np.empty(0), *numbers])
        finite = known[np.isfinite(known)]
        stray = next(iter(known[np.isinf(known)]), "")
        return Column(
            name=name,
            numbers=np.where(np.isfinite(known), known, np.nan),
            kind="numbers",
            n_distinct=len(np.unique(finite)),
            example=f"{finite[0]:.15g}" if len(finite) else "",
            n_strays=int(np.isinf(known).sum()),
            stray=str(stray),
        )


def open_batches(path: Path) -> BatchFile | None:
    """Open an Arrow or Parquet file; return None if the file is neither, or cannot be opened."""
    try:
        with path.open("rb") as file:
            beginning = file.read(len(ARROW))
    except OSError:
        return None  # `table_file` will try to read it and say why it cannot
    kind = {ARROW: "Arrow", PARQUET + beginning[4:]: "Parquet"}.get(beginning)
    if kind is None or find_spec("pyarrow") is None:
        return None
    with _errors_of_pyarrow(path):
        originals = _SCHEMAS[kind](path).names
    return BatchFile(path, kind, dict(zip(named(originals, path), originals, strict=True)))


class Reader:
    """Columns of batches as a model takes them; counts what it does not know.

    Parameters
    ----------
    names : sequence of str
    levels : sequence
        Of each column the model's levels, or None where it takes numbers.
    unseen : float
        What stands for a level that the model does not know.
    """

    def __init__(
        self, names: Sequence[str], levels: Sequence[tuple | None], unseen: float = np.nan
    ) -> None:
        self.names, self.unseen = names, unseen
        self.places = [None if known is None else LevelPlaces(known) for known in levels]
        self.n_known = np.zeros(len(names), dtype=np.int64)
        self.n_strays = np.zeros(len(names), dtype=np.int64)  # cells that are no numbers
        self.n_unseen = np.zeros(len(names), dtype=np.int64)  # cells that are no levels

    def rows(self, columns: Sequence[Any]) -> np.ndarray:
        """Return a batch as rows of floats."""
        X = np.empty((len(columns[0]), len(columns)))
        for k, (column, places) in enumerate(zip(columns, self.places, strict=True)):
            X[:, k] = (
                self._numbers(k, column) if places is None else self._levels(k, column, places)
            )
        return X

    def _levels(self, k: int, column: Any, places: LevelPlaces) -> np.ndarray:
        """Return a column of the places of levels; those of unseen levels are counted."""
        texts, code = _distinct(column)
        found = places.of(texts)[code]
        is_unseen = np.isinf(found)
        self.n_known[k] += int((~np.isnan(found)).sum())
        self.n_unseen[k] += int(is_unseen.sum())
        return np.where(is_unseen, self.unseen, found)

    def _numbers(self, k: int, column: Any) -> np.ndarray:
        """Return a column of numbers; what is none is nan, and counted."""
        if _is_number(column.type) or _is_moment(column.type):
            numbers = _floats(column)
            known, strays = ~np.isnan(numbers), np.isinf(numbers)
        else:
            texts, code = _distinct(column)
            numbers = np.array([np.nan if is_missing(t) else cell_number(t) for t in texts])[code]
            known = ~np.array([is_missing(text) for text in texts], dtype=bool)[code]
            strays = known & ~np.isfinite(numbers)
        self.n_known[k] += int(known.sum())
        self.n_strays[k] += int(strays.sum())
        return np.where(strays, np.nan, numbers)


def _distinct(column: Any) -> tuple[list[str], np.ndarray]:
    """Return the different cells of a column as texts, "" where missing, and each row's place."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    texts = ["" if v is None else str(v).strip() for v in column.dictionary.to_pylist()]
    codes = column.indices.cast(pyarrow.int64()).fill_null(len(texts))
    return [*texts, ""], codes.to_numpy(zero_copy_only=False)


def _is_number(kind: Any) -> bool:
    """Say whether a type of pyarrow is one of numbers; booleans are words."""
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def _is_moment(kind: Any) -> bool:
    """Say whether a type is one of dates, or of booleans, which are 0 and 1."""
    from pyarrow import types

    return types.is_date(kind) or types.is_timestamp(kind) or types.is_boolean(kind)


def _floats(column: Any) -> np.ndarray:
    """Return numbers as float64, nan where missing; dates as seconds since 1970."""
    import pyarrow

    if pyarrow.types.is_date(column.type) or pyarrow.types.is_timestamp(column.type):
        micro = column.cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64())
        return _floats(micro) / 1e6
    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.uint8())
    floats = column.cast(pyarrow.float64(), safe=False)
    return floats.to_numpy(zero_copy_only=False)


def _schema_of_parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.read_schema(path)


def _schema_of_arrow(path: Path) -> Any:
    import pyarrow

    with pyarrow.memory_map(str(path)) as file:
        return pyarrow.ipc.open_file(file).schema


def _parts_of_parquet(path: Path, columns: list[str], n_rows: int) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        yield from file.iter_batches(batch_size=n_rows, columns=columns)


def _parts_of_arrow(path: Path, columns: list[str], n_rows: int) -> Iterator[Any]:
    import pyarrow

    with pyarrow.memory_map(str(path)) as file:
        reader = pyarrow.ipc.open_file(file)
        for k in range(reader.num_record_batches):
            yield reader.get_batch(k).select(columns)


_PARTS = {"Parquet": _parts_of_parquet, "Arrow": _parts_of_arrow}
_SCHEMAS = {"Parquet": _schema_of_parquet, "Arrow": _schema_of_arrow}


@contextmanager
def _errors_of_pyarrow(path: Path) -> Iterator[None]:
    """Say of which file an error of pyarrow speaks."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnusableTableError(f"{path} cannot be read by pyarrow: {reason}") from error
