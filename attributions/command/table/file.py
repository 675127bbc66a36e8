"""A file becomes named columns of pandas; its content says what kind of file it is, not its name.

Text with a line of column names (``text``); Parquet and Arrow (Feather) files, which pyarrow reads;
workbooks of Excel; JSON: a list of objects, one object of columns, or an object a line. Any of them
may be packed by gzip. ``TableFile.read_as`` tells what was found out.
"""

import gzip
import json
import re
import shutil
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from attributions.command.table.text import SEPARATORS, columns_of, layout_of
from attributions.command.unusable import UnusableTableError, check_fits, listed, named, nearest

GZIP = b"\x1f\x8b"
N_LOOKED_AT = 2**16  # bytes that show what kind of file it is
BEGINNINGS = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}
NEEDED = {"Parquet": "pyarrow", "Arrow": "pyarrow", "Excel": "openpyxl"}
FOREIGN = {
    b"PK\x03\x04": "a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b"(\xb5/\xfd": "packed by zstd",
}
# A zip archive whose first file has a name that programs give to parts of a workbook.
WORKBOOK = re.compile(rb"PK\x03\x04.{26}(\[Content_Types\]\.xml|docProps/|xl/|_rels/)", re.DOTALL)
JSON = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*\{|\{\s*")')  # a list of objects, or one of columns
# A line, and the beginning of another.
A_JSON_LINE = re.compile(rb"(\xef\xbb\xbf)?\s*(?P<line>\{.*\})\s*\n\s*\{")
CELLS_AT_ONCE = 2**22  # in a batch, 32 MB as floats
LEAST_ROWS = 1024


@dataclass(frozen=True, eq=False)
class TableFile:
    """What a file holds."""

    path: Path
    columns: dict[str, Any]  # series of pandas, all equally long
    read_as: str  # what the file turned out to be, for the reader: "gzip, UTF-8, commas"
    has_decimal_commas: bool = False  # a comma separates no cells, so it may be a decimal mark
    comments: tuple[str, ...] = ()  # lines before that of the names which begin with #
    decimal: str = ""  # the mark that cells show to stand before decimals, if a comma may


class BatchFile:
    """A Parquet or Arrow file, of which some columns are read, in batches or whole."""

    def __init__(self, source: Path, kind: str, path: Path) -> None:
        from pyarrow import dataset

        self.path, self.read_as = path, f"{kind}, in batches"
        self._file = dataset.dataset(source, format=kind.lower())
        of_file = self._file.schema.names
        # The columns, by the names that they have here, as the file calls them.
        self.columns = dict(zip(named(of_file, path), of_file, strict=True))

    def batches(self, columns: Sequence[str]) -> Iterator[list[Any]]:
        """Yield some columns of each batch, in the order asked for."""
        n_rows = max(LEAST_ROWS, CELLS_AT_ONCE // max(len(columns), 1))
        asked = [self.columns[name] for name in columns]
        few = {"batch_size": n_rows, "batch_readahead": 1, "fragment_readahead": 1}
        with _errors(self.path):
            for batch in self._file.to_batches(columns=asked, use_threads=False, **few):
                yield [_series(column) for column in batch.columns]

    def read(self, name: str) -> Any:
        """Read one whole column."""
        with _errors(self.path):
            return _series(self._file.to_table(columns=[self.columns[name]]).column(0))

    def read_all(self) -> dict[str, Any]:
        """Read one column after the other: a whole table would stay beside its copies."""
        check_fits(self.path, self._file.count_rows(), len(self.columns))
        return {name: self.read(name) for name in self.columns}


def read_table(path: Path, as_text: bool = False) -> TableFile:
    """Read a file whose first line, or schema, names its columns.

    ``as_text`` keeps cells of text as they are written, also where they are numbers.
    """
    head, is_packed = _head(path)
    kind = _kind(head, path)
    _check_installed(path, "pandas", *filter(None, [NEEDED.get(kind)]))
    read_as = ["gzip"] * is_packed
    with _errors(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what has been looked at, and of options grown needless
        if kind == "text":
            opened = cast(Any, partial(gzip.open if is_packed else open, path, "rb"))
            layout = layout_of(opened, path)
            series = columns_of(opened, layout, as_text)
            return TableFile(
                path,
                dict(zip(named(layout.names, path), series, strict=True)),
                ", ".join([*read_as, layout.encoding, SEPARATORS[layout.separator]]),
                has_decimal_commas=layout.separator != ",",
                decimal=layout.decimal,
                comments=layout.comments,
            )
        with _unpacked(path) if is_packed else nullcontext(path) as source:
            if kind in BEGINNINGS.values():
                columns = BatchFile(source, kind, path).read_all()
            else:
                columns = _of_pandas(source, kind, path)
    if not columns or not len(next(iter(columns.values()))):
        raise UnusableTableError(f"{path} has no rows.")
    return TableFile(path, columns, ", ".join([*read_as, kind]))


def open_batches(path: Path) -> BatchFile | None:
    """Open an Arrow or Parquet file; return None if the file is neither, or is packed."""
    head, is_packed = _head(path)
    kind = _kind(head, path)
    if is_packed or kind not in BEGINNINGS.values():
        return None
    _check_installed(path, "pandas", "pyarrow")
    with _errors(path):
        return BatchFile(path, kind, path)


def _head(path: Path) -> tuple[bytes, bool]:
    """Return how a file begins, unpacked, and whether it is packed by gzip.

    The error for a missing file lists what there is.
    """
    folder = path.parent
    try:
        if path.is_dir():
            files = sorted(file.name for file in path.iterdir() if file.is_file())
            raise UnusableTableError(f"{path} is a folder; give one file of {listed(files)}.")
        with path.open("rb") as file:
            head = file.read(N_LOOKED_AT)
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise UnusableTableError(f"There is no folder {folder}, so no file {path}.") from error
        files = [file.name for file in folder.iterdir() if file.is_file()]
        otherwise = "; check its name and its folder."
        hint = nearest(path.name, files, otherwise, lambda name: name.split(".")[0])
        raise UnusableTableError(f"There is no file {path}{hint}") from error
    except OSError as error:
        raise UnusableTableError(f"{path} cannot be read: {error.strerror}.") from error
    if not head.strip():
        raise UnusableTableError(
            f"{path} is empty; it needs a line of column names and at least one row."
        )
    if not head.startswith(GZIP):
        return head, False
    with _errors(path), gzip.open(path) as unpacked:
        return unpacked.read(N_LOOKED_AT), True


def _kind(head: bytes, path: Path) -> str:
    """Return what kind of file begins so, for readers; what is no table is refused."""
    for beginning, kind in BEGINNINGS.items():
        if head.startswith(beginning):
            return kind
    if WORKBOOK.match(head):
        return "Excel"
    for beginning, what in FOREIGN.items():
        if head.startswith(beginning):
            raise UnusableTableError(
                f"{path} is {what}; save or unpack it as CSV or Parquet and give that file."
            )
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnusableTableError(
            f"{path} is neither text nor Parquet (it holds zero bytes); save its table as CSV."
        )
    if found := A_JSON_LINE.match(head):
        with suppress(ValueError):
            json.loads(found["line"])
            return "JSON Lines"
    return "JSON" if JSON.match(head) else "text"


def _check_installed(path: Path, *packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise UnusableTableError(
                f"To read {path} takes {package}, which is not installed: pip install {package}, or"
                " pip install '.[command]' where the program was installed from a clone."
                + " Or save the table as CSV."
                * (package != "pandas")
            )


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        whole = Path(folder, "table")
        with gzip.open(path) as packed, whole.open("wb") as out:
            shutil.copyfileobj(packed, out)
        yield whole


def _series(column: Any) -> Any:
    """Return an array of pyarrow as a series; dates are moments, and texts are kept once."""
    import pandas as pd
    import pyarrow

    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if pyarrow.types.is_decimal(column.type):
        column = column.cast("float64", safe=False)
    return pd.Series(column.to_pandas(date_as_object=False))


def _of_pandas(source: Path, kind: str, path: Path) -> dict[str, Any]:
    """Read the first sheet of a workbook, or objects of JSON, whose types are JSON's."""
    import pandas as pd

    if kind == "Excel":
        frame = pd.read_excel(source, keep_default_na=False, na_values=[""])
    elif kind == "JSON":
        frame = pd.DataFrame(json.loads(source.read_bytes()))
    else:
        lines = source.read_bytes().splitlines()
        frame = pd.DataFrame([json.loads(line) for line in lines if line.strip()])
    names = named([*map(str, frame.columns)], path)
    return {name: frame.iloc[:, k] for k, name in enumerate(names)}


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Say of which file an error of a library speaks; each has errors of its own."""
    try:
        yield
    except (UnusableTableError, GeneratorExit):
        raise
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnusableTableError(
            f"{path} is packed by gzip and damaged ({error}); get it once more."
        ) from error
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise UnusableTableError(f"{path} cannot be read: {reason}") from error
