"""Text becomes columns: a line of names, and cells between commas, semicolons, tabs or bars.

The text is read twice. ``csv`` finds what pandas would not tell: the encoding, a line that lacks a
cell, columns with cells such as 007 or TRUE, of which pandas would make 7 and True, and columns
such as 17.087 whose points may stand between thousands. Then pandas reads: numbers where all cells
of a column are numbers or missing, else texts.
"""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from attributions.command.rules.columns import CODE, texts_of
from attributions.command.rules.marks import Marks
from attributions.command.unusable import UnusableTableError
from gbt.tables.spelled import MISSING, plain_number

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
CODECS = {"UTF-8": "utf-8-sig", "UTF-16": "utf-16", "Windows-1252": "cp1252"}
N_SNIFFED = 100  # records that show which separator it is
AS_WRITTEN = re.compile(rf"{CODE.pattern}|true|false", re.IGNORECASE)  # cells that stay texts
MAY_HOLD_ONE = re.compile(r"(?:^|[\t;,|])\s*(?:0\d\d|true|false)", re.IGNORECASE)  # a row
WRITTEN_MISSING = sorted({form(m) for m in MISSING for form in (str, str.upper, str.title)})


@dataclass(frozen=True)
class Layout:
    """How a text is written."""

    encoding: str  # one of CODECS: Windows-1252, where UTF-8 does not fit
    separator: str
    names: list[str]
    comments: tuple[str, ...]  # lines before that of the names which begin with #
    n_before: int  # lines before the first row
    written: frozenset[int]  # columns that pandas is to take as they are written
    has_blank_rows: bool  # a line has nothing but separators
    decimal: str  # the mark that cells show to stand before decimals, where a comma may be it


def layout_of(opened: Callable[[], BinaryIO], path: Path) -> Layout:
    """Go through all lines; the error for a line that cannot be read says which one it is."""
    with opened() as file:
        is_utf_16 = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    try:
        return _layout(opened, "UTF-16" if is_utf_16 else "UTF-8", path)
    except UnicodeDecodeError:
        return _layout(opened, "Windows-1252", path)


def columns_of(opened: Callable[[], BinaryIO], layout: Layout, as_text: bool) -> list[Any]:
    """Return columns as series of pandas, of numbers or of texts; ``as_text``: all of texts."""
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    numbered = range(len(layout.names))
    with _text(opened, layout.encoding) as text:
        for _ in range(layout.n_before):
            text.readline()
        frame = pd.read_csv(
            text,
            sep=layout.separator,
            header=None,
            names=numbered,
            index_col=False,
            dtype=dict.fromkeys(numbered if as_text else layout.written, str),
            na_values=WRITTEN_MISSING,
            keep_default_na=False,
            on_bad_lines="skip",  # too many cells, but all blank: others have been refused
            low_memory=False,  # a column is of numbers, or all of it is as it was written
            float_precision="round_trip",
        )
    columns = [frame[k] for k in numbered]
    if layout.has_blank_rows:
        missing = [c.isna() if is_numeric_dtype(c) else texts_of(c)[1] < 0 for c in columns]
        is_there = ~np.logical_and.reduce(missing)
        columns = [column[is_there] for column in columns]
    return columns


def _text(opened: Callable[[], BinaryIO], encoding: str) -> TextIOWrapper:
    """Return lines with their ends, decoded as they come."""
    errors = "strict" if encoding == "UTF-8" else "replace"
    return TextIOWrapper(opened(), encoding=CODECS[encoding], errors=errors, newline="")


def _layout(opened: Callable[[], BinaryIO], encoding: str, path: Path) -> Layout:
    """Return the layout of a text in an encoding; UnicodeDecodeError if it is another."""
    written: set[int] = set()
    has_blank_rows, n_rows = False, 0
    with _text(opened, encoding) as text:
        above, first = _above(text)
        sample = [*first, *islice(text, 2 * N_SNIFFED)]
        separator = _sniffed_separator(sample)
        reader = csv.reader(chain(sample, text), delimiter=separator)
        try:
            names = [name.strip() for name in next(filter(_is_filled, reader), [])]
            n_before = len(above) + reader.line_num
            marks = Marks(len(names) if separator != "," else 0)
            for cells in reader:
                if not _is_filled(cells):
                    has_blank_rows = has_blank_rows or bool(cells)
                    continue
                n_rows += 1
                if len(cells) != len(names):
                    raise UnusableTableError(
                        f"Line {len(above) + reader.line_num} of {path} has {len(cells)} cells"
                        f" between {SEPARATORS[separator]}; its first line names {len(names)}"
                        " columns. Mend that line, or put quotation marks around cells that hold"
                        " the separator."
                    )
                marks.look(cells)
                if MAY_HOLD_ONE.search(separator.join(cells)):
                    written |= {k for k, c in enumerate(cells) if AS_WRITTEN.fullmatch(c.strip())}
        except csv.Error as error:
            raise UnusableTableError(
                f"Line {len(above) + reader.line_num} of {path} cannot be cut into cells"
                f" ({error}); look for a quotation mark that is not closed."
            ) from error
    if not n_rows:
        raise UnusableTableError(
            f"{path} has no rows; it needs a line of column names and at least one row."
        )
    comments = tuple(line.strip() for line in above if line.strip())
    kept = frozenset(written | marks.unclear)
    return Layout(
        encoding, separator, names, comments, n_before, kept, has_blank_rows, marks.decimal
    )


def _is_filled(cells: Sequence[str]) -> bool:
    """Say whether a line has anything but blanks and separators."""
    return any(not cell.isspace() for cell in cells if cell)


def _above(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the lines before that of the names, which are blank or begin with #, and the next.

    The last that begins with # has the names if it has as many cells as the line below, and that
    has a number.
    """
    above: list[str] = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            separator = max(SEPARATORS, key=line.count)
            cells = line.split(separator)
            is_data = len(cells) > 1 and any(isfinite(plain_number(cell)) for cell in cells)
            if above and is_data and above[-1].count(separator) + 1 == len(cells):
                return above[:-1], [above[-1], line]
            return above, [line]
        above.append(line)
    return above, []


def _sniffed_separator(sample: list[str]) -> str:
    """Return the separator for which most records have as many cells as the first.

    Ties go to the one with more cells, then to the one that is rarer within words and numbers.
    (``csv.Sniffer`` counts letters, and may split words and numbers at a letter that many contain.)
    """

    def fit(separator: str) -> tuple[bool, int, int]:
        try:
            records = list(islice(filter(None, csv.reader(sample, delimiter=separator)), N_SNIFFED))
        except csv.Error:
            records = []
        n_cells = len(records[0]) if records else 0
        n_alike = sum(len(record) == n_cells for record in records)
        return n_cells > 1, n_alike, n_cells

    return max(SEPARATORS, key=fit)
