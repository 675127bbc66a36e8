"""A file becomes named columns of cells; its content says what kind of file it is, not its name.

Text with a line of column names: cells between commas, semicolons, tabs or bars, in UTF-8, UTF-16
or, where it is neither, in what is taken for Latin-1; packed by gzip or not. Parquet and Arrow
(Feather) files, where pyarrow or polars is installed: their values become the cells that a text
file of them would hold. What was found out is told in ``TableFile.read_as``. Memory: one Python
string a cell; a Parquet file that would not fit is refused before its cells are read.
"""

import csv
import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from typing import Any

from attributions.names import elided

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
N_SNIFFED = 100  # records that show which separator it is
GZIP, PARQUET, ARROW = b"\x1f\x8b", b"PAR1", b"ARROW1"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
FOREIGN = {
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b"(\xb5/\xfd": "packed by zstd",
}
N_SHOWN = 10  # names in a message
BYTES_A_CELL = 70  # a short string of Python's and the pointer to it


class UnusableTableError(ValueError):
    """A file that cannot be fitted; the message says why, and what to do."""


@dataclass(frozen=True, eq=False)
class TableFile:
    """What a file holds.

    Parameters
    ----------
    path : Path
    columns : dict of str to list of str
        The cells of every column, without surrounding blanks; all columns are equally long.
    read_as : str
        What the file turned out to be, for the reader: ``"gzip, UTF-8, commas"``.
    is_latin_1_assumed : bool
        Whether no encoding fitted, so that letters beyond ASCII may be wrong.
    has_decimal_commas : bool
        Whether a comma may be a decimal mark, since it separates no cells.
    """

    path: Path
    columns: dict[str, list[str]]
    read_as: str
    is_latin_1_assumed: bool = False
    has_decimal_commas: bool = False


def read_table(path: Path) -> TableFile:
    """Read a file whose first line, or schema, names its columns."""
    content = _content(path)
    steps = []
    if content.startswith(GZIP):
        steps.append("gzip")
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            raise UnusableTableError(
                f"{path} is packed by gzip and damaged ({error}); get it once more."
            ) from error
    for beginning, kind in ((PARQUET, "Parquet"), (ARROW, "Arrow")):
        if content.startswith(beginning):
            names, cells = _columnar(content, path, kind)
            by_name = dict(zip(named(names, path), cells, strict=True))
            return TableFile(path, by_name, ", ".join([*steps, kind]))
    text, encoding = _text(content, path)
    separator = _sniffed_separator(text)
    names, *rows = _records(text, separator, path)
    cells = [list(column) for column in zip(*rows, strict=True)]
    return TableFile(
        path,
        dict(zip(named(names, path), cells, strict=True)),
        ", ".join([*steps, encoding, SEPARATORS[separator]]),
        is_latin_1_assumed=encoding == "Latin-1",
        has_decimal_commas=separator != ",",
    )


def _content(path: Path) -> bytes:
    """Return the bytes of a file; where there is none, say what there is."""
    folder = path.parent
    try:
        if path.is_dir():
            files = sorted(file.name for file in path.iterdir() if file.is_file())
            raise UnusableTableError(f"{path} is a folder; give one file of {listed(files)}.")
        content = path.read_bytes()
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise UnusableTableError(f"There is no folder {folder}, so no file {path}.") from error
        files = [file.name for file in folder.iterdir() if file.is_file()]
        hint = nearest(path.name, files, "; check its name and its folder.", _stem)
        raise UnusableTableError(f"There is no file {path}{hint}") from error
    except OSError as error:
        raise UnusableTableError(f"{path} cannot be read: {error.strerror}.") from error
    if not content.strip():
        raise UnusableTableError(
            f"{path} is empty; it needs a line of column names and at least one row."
        )
    return content


def _stem(name: str) -> str:
    """Return a file's name without the endings that many share."""
    return name.split(".")[0]


def _text(content: bytes, path: Path) -> tuple[str, str]:
    """Return text and the name of its encoding; Latin-1 fits anything, so it comes last."""
    for beginning, what in FOREIGN.items():
        if content.startswith(beginning):
            raise UnusableTableError(
                f"{path} is {what}; save or unpack it as CSV or Parquet and give that file."
            )
    if not content.startswith(UTF_16) and b"\0" in content:
        raise UnusableTableError(
            f"{path} is neither text nor Parquet (it holds zero bytes); save its table as CSV."
        )
    if content.startswith(UTF_16):
        return content.decode("utf-16", errors="replace"), "UTF-16"
    try:
        return content.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "Latin-1"


def _sniffed_separator(text: str) -> str:
    """Return the separator for which most records have as many cells as the first.

    If tied, the one with more cells, and then the one that is rarer in words and numbers.
    (``csv.Sniffer`` counts letters: it takes words and numbers apart at letters that they share.)
    """
    sample = list(islice(StringIO(text, newline=""), 2 * N_SNIFFED))

    def fit(separator: str) -> tuple[bool, int, int]:
        try:
            records = list(islice(filter(None, csv.reader(sample, delimiter=separator)), N_SNIFFED))
        except csv.Error:
            records = []
        n_cells = len(records[0]) if records else 0
        n_alike = sum(len(record) == n_cells for record in records)
        return n_cells > 1, n_alike, n_cells

    return max(SEPARATORS, key=fit)


def _records(text: str, separator: str, path: Path) -> list[list[str]]:
    """Return the lines as lists of cells, all of one length, without lines of empty cells."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    records: list[list[str]] = []
    try:
        for cells in reader:
            record = [cell.strip() for cell in cells]
            if not any(record):
                continue
            if records and len(record) != len(records[0]):
                raise UnusableTableError(
                    f"Line {reader.line_num} of {path} has {len(record)} cells between"
                    f" {SEPARATORS[separator]}; its first line names {len(records[0])} columns."
                    " Mend that line, or put quotation marks around cells that hold the separator."
                )
            records.append(record)
    except csv.Error as error:
        raise UnusableTableError(
            f"Line {reader.line_num} of {path} cannot be cut into cells ({error}); look for a"
            " quotation mark that is not closed."
        ) from error
    if len(records) < 2:
        raise UnusableTableError(
            f"{path} has no rows; it needs a line of column names and at least one row."
        )
    return records


def _columnar(content: bytes, path: Path, kind: str) -> tuple[list[str], list[list[str]]]:
    """Return the names and cells of a Parquet or Arrow file."""
    reader = next((name for name in ("pyarrow", "polars") if find_spec(name) is not None), None)
    if reader is None:
        raise UnusableTableError(
            f"{path} is a file of {kind}, which pyarrow or polars can read, and neither is"
            " installed: pip install pyarrow, or save the table as CSV."
        )
    try:
        if reader == "pyarrow":
            names, columns = _by_pyarrow(content, path, kind)
        else:
            import polars

            read = polars.read_parquet if kind == "Parquet" else polars.read_ipc
            frame = read(BytesIO(content))
            names, columns = frame.columns, [column.to_list() for column in frame]
    except UnusableTableError:
        raise
    except Exception as error:  # each library has errors of its own
        reason = str(error).strip().split("\n")[0]
        raise UnusableTableError(f"{path} cannot be read by {reader}: {reason}") from error
    if not columns or not columns[0]:
        raise UnusableTableError(f"{path} has no rows.")
    cells = [["" if v is None else str(v).strip() for v in column] for column in columns]
    return names, cells


def _by_pyarrow(content: bytes, path: Path, kind: str) -> tuple[list[str], list[list[Any]]]:
    """Return names and values; refuse a table whose cells do not fit into memory."""
    from pyarrow import feather, parquet

    if kind == "Parquet":
        about = parquet.read_metadata(BytesIO(content))
        check_fits(path, about.num_rows, about.num_columns)
        arrow = parquet.read_table(BytesIO(content))
    else:
        arrow = feather.read_table(BytesIO(content))
        check_fits(path, arrow.num_rows, arrow.num_columns)
    return arrow.column_names, [column.to_pylist() for column in arrow.columns]


def check_fits(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a table whose cells as Python's strings are more than the machine's memory."""
    needed, memory = BYTES_A_CELL * n_rows * n_columns, _memory_of_machine()
    if memory is not None and needed > memory:
        raise UnusableTableError(
            f"{path} has {n_rows:,} rows and {n_columns} columns. To fit a model here, or to write"
            f" a report, takes some {needed / 1e9:.0f} GB of memory, and the machine has"
            f" {memory / 1e9:.0f} GB. Fit on some of the rows; a saved model is judged on all of"
            " them, in batches, by --model FILE without --report."
        )


def _memory_of_machine() -> int | None:
    """Return the bytes of memory, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def named(names: Sequence[str], path: Path) -> list[str]:
    """Return names of columns; one without a name gets its number, as pandas would call it."""
    names = [" ".join(name.split()) or f"Unnamed: {k}" for k, name in enumerate(names)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnusableTableError(
            f"{path} has two columns of the same name, {listed(twice)}; rename one."
        )
    return names


def nearest(
    name: str, names: Iterable[str], otherwise: str, part: Callable[[str], str] = str
) -> str:
    """Return "; did you mean 'a' or 'b'?" with the names most like ``name``, or ``otherwise``."""
    others = {part(other).casefold(): other for other in names}
    found = get_close_matches(part(name).casefold(), others, n=3)
    alike = " or ".join(repr(others[key]) for key in found)
    return f"; did you mean {alike}?" if found else otherwise


def listed(names: Sequence[str]) -> str:
    """Return names for a message, the first ten of many."""
    shown = ", ".join(repr(elided(name)) for name in names[:N_SHOWN])
    more = f" and {len(names) - N_SHOWN} more" * (len(names) > N_SHOWN)
    return shown + more if names else "nothing"
