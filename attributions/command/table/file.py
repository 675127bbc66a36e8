"""A file becomes named columns of cells; its content says what kind of file it is, not its name.

Text with a line of column names: cells between commas, semicolons, tabs or bars, in UTF-8, UTF-16
or, where it is neither, in what is taken for Latin-1; packed by gzip or not. Parquet and Arrow
(Feather) files, where pyarrow or polars is installed (``arrow``). What was found out is told in
``TableFile.read_as``.
"""

import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from attributions.command.table.arrow import kind_of, read_whole
from attributions.command.table.cells import Cells, GrowingCells
from attributions.command.table.unusable import UnusableTableError, listed, named, nearest
from gbt.tables.spelled import plain_number

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
N_SNIFFED = 100  # records that show which separator it is
RECORDS_AT_ONCE = 4096
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
FOREIGN = {
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b"(\xb5/\xfd": "packed by zstd",
}


@dataclass(frozen=True, eq=False)
class TableFile:
    """What a file holds.

    Parameters
    ----------
    path : Path
    cells : dict of str to Cells
        Of every column; all are equally long.
    read_as : str
        What the file turned out to be, for the reader: ``"gzip, UTF-8, commas"``.
    is_latin_1_assumed : bool
        Whether no encoding fitted, so that letters beyond ASCII may be wrong.
    has_decimal_commas : bool
        Whether a comma may be a decimal mark, since it separates no cells.
    comments : tuple of str
        Lines before that of the names which begin with #.
    """

    path: Path
    cells: dict[str, Cells]
    read_as: str
    is_latin_1_assumed: bool = False
    has_decimal_commas: bool = False
    comments: tuple[str, ...] = ()


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
    if kind := kind_of(content):
        return TableFile(path, read_whole(content, path, kind), ", ".join([*steps, kind]))
    codec, encoding = _encoding(content, path)
    comments = _comments(_lines(content, codec))
    separator = _sniffed_separator(islice(_lines(content, codec), len(comments), None))
    names, columns = _columns(_lines(content, codec), separator, path, len(comments))
    return TableFile(
        path,
        dict(zip(named(names, path), columns, strict=True)),
        ", ".join([*steps, encoding, SEPARATORS[separator]]),
        is_latin_1_assumed=encoding == "Latin-1",
        has_decimal_commas=separator != ",",
        comments=comments,
    )


def _content(path: Path) -> bytes:
    """Return the bytes of a file; the error for a missing one lists what there is."""
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
        otherwise = "; check its name and its folder."
        hint = nearest(path.name, files, otherwise, lambda name: name.split(".")[0])
        raise UnusableTableError(f"There is no file {path}{hint}") from error
    except OSError as error:
        raise UnusableTableError(f"{path} cannot be read: {error.strerror}.") from error
    if not content.strip():
        raise UnusableTableError(
            f"{path} is empty; it needs a line of column names and at least one row."
        )
    return content


def _encoding(content: bytes, path: Path) -> tuple[str, str]:
    """Return an encoding and its name for readers; Latin-1 fits anything, so it comes last."""
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
        return "utf-16", "UTF-16"
    try:
        for _ in _lines(content, "utf-8-sig", errors="strict"):
            pass
    except UnicodeDecodeError:
        return "latin-1", "Latin-1"
    return "utf-8-sig", "UTF-8"


def _lines(content: bytes, codec: str, errors: str = "replace") -> TextIOWrapper:
    """Return lines with their ends, decoded as they come: the text is never there whole."""
    return TextIOWrapper(BytesIO(content), encoding=codec, errors=errors, newline="")


def _comments(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines before that of the names: those that begin with #.

    The last of them has the names if it has as many cells as the line below, and that has a number.
    """
    comments: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            separator = max(SEPARATORS, key=line.count)
            cells = line.split(separator)
            is_data = len(cells) > 1 and any(isfinite(plain_number(cell)) for cell in cells)
            if comments and is_data and comments[-1].count(separator) + 1 == len(cells):
                comments.pop()
            break
        comments.append(line.strip())
    return tuple(comments)


def _sniffed_separator(lines: Iterable[str]) -> str:
    """Return the separator for which most records have as many cells as the first.

    Ties go to the one with more cells, then to the one that is rarer within words and numbers.
    (``csv.Sniffer`` counts letters, and may split words and numbers at a letter that many contain.)
    """
    sample = list(islice(lines, 2 * N_SNIFFED))

    def fit(separator: str) -> tuple[bool, int, int]:
        try:
            records = list(islice(filter(None, csv.reader(sample, delimiter=separator)), N_SNIFFED))
        except csv.Error:
            records = []
        n_cells = len(records[0]) if records else 0
        n_alike = sum(len(record) == n_cells for record in records)
        return n_cells > 1, n_alike, n_cells

    return max(SEPARATORS, key=fit)


def _columns(
    lines: Iterable[str], separator: str, path: Path, n_comments: int
) -> tuple[list[str], list[Cells]]:
    """Return names and columns; lines without a filled cell are skipped, others are equally long.

    Lines are read some at a time: as lists of texts a large table takes twenty times the
    size of its file.
    """
    reader = csv.reader(islice(lines, n_comments, None), delimiter=separator)
    records = _records(reader, separator, path, n_comments)
    try:
        names = next(records, [])
        columns = [GrowingCells() for _ in names]
        while block := list(islice(records, RECORDS_AT_ONCE)):
            for column, cells in zip(columns, zip(*block, strict=True), strict=True):
                column.extend(cells)
    except csv.Error as error:
        raise UnusableTableError(
            f"Line {n_comments + reader.line_num} of {path} cannot be cut into cells ({error});"
            " look for a quotation mark that is not closed."
        ) from error
    if not columns or not columns[0].place:
        raise UnusableTableError(
            f"{path} has no rows; it needs a line of column names and at least one row."
        )
    return names, [column.cells() for column in columns]


def _records(reader: Any, separator: str, path: Path, n_comments: int) -> Iterator[list[str]]:
    """Yield the cells of each line that has any; the first has the names."""
    n_columns = None
    for cells in reader:
        record = [cell.strip() for cell in cells]
        if not any(record):
            continue
        if n_columns is not None and len(record) != n_columns:
            raise UnusableTableError(
                f"Line {n_comments + reader.line_num} of {path} has {len(record)} cells between"
                f" {SEPARATORS[separator]}; its first line names {n_columns} columns."
                " Mend that line, or put quotation marks around cells that hold the separator."
            )
        n_columns = len(record)
        yield record
