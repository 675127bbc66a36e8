"""Arrow and Parquet files, whole or a batch of rows at a time; columns stay typed.

In memory are one batch and what pyarrow holds of the file: a group of rows of Parquet, nothing of
an Arrow file that is not packed. Where only polars is installed, it reads files whole.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from attributions.command.table.cells import Cells, joined
from attributions.command.table.unusable import UnusableTableError, check_fits, named

KINDS = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}  # by what a file begins with
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

    @property
    def read_as(self) -> str:
        """What the file turned out to be, for the reader."""
        return f"{self.kind}, in batches"

    def batches(self, columns: Sequence[str]) -> Iterator[list[Cells]]:
        """Yield some columns of each batch, in the order asked for."""
        n_rows = max(LEAST_ROWS, CELLS_AT_ONCE // max(len(columns), 1))
        originals = [self.names[name] for name in columns]
        with _errors_of("pyarrow", self.path):
            for batch in _batches(self.path, self.kind, originals, n_rows):
                for start in range(0, batch.num_rows, n_rows):
                    part = batch.slice(start, n_rows)
                    yield [cells_of_pyarrow(part.column(name)) for name in originals]

    def read(self, name: str) -> Cells:
        """Read one whole column."""
        return joined([cells for (cells,) in self.batches([name])])


def open_batches(path: Path) -> BatchFile | None:
    """Open an Arrow or Parquet file; return None if the file is neither, or cannot be opened."""
    try:
        with path.open("rb") as file:
            kind = kind_of(file.read(8))
    except OSError:
        return None  # `read_table` will try to read it and say why it cannot
    if not kind or find_spec("pyarrow") is None:
        return None
    with _errors_of("pyarrow", path):
        originals = _schema(path, kind).names
    return BatchFile(path, kind, dict(zip(named(originals, path), originals, strict=True)))


def kind_of(content: bytes) -> str:
    """Return "Parquet" or "Arrow" for a content that begins so, else nothing."""
    return next((kind for start, kind in KINDS.items() if content.startswith(start)), "")


def read_whole(content: bytes, path: Path, kind: str) -> dict[str, Cells]:
    """Return the columns of a Parquet or Arrow file."""
    reader = next((name for name in ("pyarrow", "polars") if find_spec(name) is not None), None)
    if reader is None:
        raise UnusableTableError(
            f"{path} is a file of {kind}, which pyarrow or polars can read, and neither is"
            " installed: pip install pyarrow, or save the table as CSV."
        )
    with _errors_of(reader, path):
        if reader == "pyarrow":
            names, cells = _by_pyarrow(content, path, kind)
        else:
            import polars

            read = polars.read_parquet if kind == "Parquet" else polars.read_ipc
            frame = read(BytesIO(content))
            names, cells = frame.columns, [_of_polars(column) for column in frame]
    if not cells or not len(cells[0].values):
        raise UnusableTableError(f"{path} has no rows.")
    return dict(zip(named(names, path), cells, strict=True))


def _by_pyarrow(content: bytes, path: Path, kind: str) -> tuple[list[str], list[Cells]]:
    """Return names and columns; refuse a table that does not fit into memory."""
    from pyarrow import feather, parquet

    if kind == "Parquet":
        with parquet.ParquetFile(BytesIO(content)) as file:
            check_fits(path, file.metadata.num_rows, file.metadata.num_columns)
            # One column after the other: a whole table would stay beside its copies.
            names = file.schema_arrow.names
            return names, [_column_of_parquet(file, name) for name in names]
    table = feather.read_table(BytesIO(content))
    check_fits(path, table.num_rows, table.num_columns)
    whole = (column.combine_chunks() for column in table.columns)
    return table.column_names, [cells_of_pyarrow(column) for column in whole]


def _column_of_parquet(file: Any, name: str) -> Cells:
    """Read one column; what is asked for by "a" may be "a" and "a.b"."""
    part = file.read(columns=[name])
    return cells_of_pyarrow(part.column(part.column_names.index(name)).combine_chunks())


def cells_of_pyarrow(column: Any) -> Cells:
    """Return an array of pyarrow as cells."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_boolean(kind):
        return _booleans(column.to_pylist())
    if types.is_date(kind) or types.is_timestamp(kind):
        micro = column.cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64())
        return _moments(_floats(micro) / 1e6, column.drop_null()[:1].to_pylist())
    if types.is_integer(kind) and not column.null_count:
        return Cells("numbers", column.to_numpy(zero_copy_only=False))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Cells("numbers", _floats(column))
    if types.is_string(kind) or types.is_large_string(kind):
        column = column.dictionary_encode()
    if not types.is_dictionary(column.type):
        return Cells.of(column.to_pylist())
    levels = column.dictionary.to_pylist()
    rows = column.indices.cast(pyarrow.int64()).fill_null(len(levels))
    return Cells.of([*levels, None], rows.to_numpy(zero_copy_only=False))


def _floats(column: Any) -> np.ndarray:
    """Return numbers of pyarrow as float64, nan where missing."""
    return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)


def _of_polars(column: Any) -> Cells:
    """Return a series of polars as cells."""
    import polars

    if column.dtype == polars.Boolean:
        return _booleans(column.to_list())
    if column.dtype in (polars.Date, polars.Datetime):
        micro = column.cast(polars.Datetime("us")).to_physical()
        seconds = micro.cast(polars.Float64).to_numpy() / 1e6
        return _moments(seconds, column.drop_nulls()[:1].to_list())
    if column.dtype.is_numeric():
        return Cells("numbers", column.cast(polars.Float64).to_numpy())
    return Cells.of(column.to_list())


def _booleans(values: Iterable[Any]) -> Cells:
    cells = Cells.of(values)
    return Cells("booleans", cells.values, cells.texts)


def _moments(seconds: np.ndarray, first: Sequence[Any]) -> Cells:
    return Cells("moments", seconds, example=str(first[0]) if first else "")


def _schema(path: Path, kind: str) -> Any:
    import pyarrow
    from pyarrow import parquet

    if kind == "Parquet":
        return parquet.read_schema(path)
    with pyarrow.memory_map(str(path)) as file:
        return pyarrow.ipc.open_file(file).schema


def _batches(path: Path, kind: str, columns: list[str], n_rows: int) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    if kind == "Parquet":
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=n_rows, columns=columns)
        return
    with pyarrow.memory_map(str(path)) as file:
        reader = pyarrow.ipc.open_file(file)
        for k in range(reader.num_record_batches):
            yield reader.get_batch(k).select(columns)


@contextmanager
def _errors_of(reader: str, path: Path) -> Iterator[None]:
    """Say of which file an error of a library speaks; each has errors of its own."""
    try:
        yield
    except (UnusableTableError, GeneratorExit):
        raise
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise UnusableTableError(f"{path} cannot be read by {reader}: {reason}") from error
