"""Text becomes columns: a line of names, and cells between commas, semicolons, tabs or bars.

``csv`` cuts lines into cells, some rows at a time. A column is one of numbers as long as NumPy
takes all that it holds; where a cell is a word, or a code such as 007, the text is read once more,
and each different text of the column is kept once.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from attributions.command.rules.columns import CODE
from attributions.command.unusable import UnusableTableError
from gbt.tables.spelled import MISSING, plain_number

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
CODECS = {"UTF-8": "utf-8-sig", "UTF-16": "utf-16", "Latin-1": "latin-1"}
N_SNIFFED = 100  # records that show which separator it is
ROWS_AT_ONCE = 2**15
A_CODE = re.compile(rf"^\s*{CODE.pattern}\s*$", re.MULTILINE)
WRITTEN_MISSING = {form(m) for m in MISSING for form in (str, str.upper, str.title)}
Open = Callable[[], BinaryIO]


@dataclass(frozen=True)
class Layout:
    """How a text is written."""

    encoding: str  # one of CODECS: Latin-1 fits anything, and is assumed where UTF-8 does not fit
    separator: str
    above: list[str]  # lines before that of the names, which are blank or begin with #

    @property
    def comments(self) -> tuple[str, ...]:
        """Lines before that of the names which begin with #."""
        return tuple(line.strip() for line in self.above if line.strip())


def read_text(opened: Open, path: Path, as_text: bool) -> tuple[Layout, list[str], list[Any]]:
    """Return how a text is written, the names, and the columns as series of pandas.

    Numbers are float64, others categories of texts; ``as_text`` makes categories of all.
    """
    with opened() as file:
        is_utf_16 = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    if not is_utf_16:
        try:
            return _read(opened, "UTF-8", path, as_text)
        except UnicodeDecodeError:
            pass
    return _read(opened, "UTF-16" if is_utf_16 else "Latin-1", path, as_text)


def _read(
    opened: Open, encoding: str, path: Path, as_text: bool
) -> tuple[Layout, list[str], list[Any]]:
    """Read a text in an encoding; UnicodeDecodeError if it is another."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    with _text(opened, encoding) as text:
        above, first = _above(text)
        layout = Layout(encoding, _sniffed_separator([*first, *islice(text, 2 * N_SNIFFED)]), above)
    names: list[str] = []
    n_rows = 0
    numbers: dict[int, list[np.ndarray]] = {}
    for block in _blocks(opened, layout, path):
        if not names:
            names = [name.strip() for (name,) in block]
            numbers = {k: [] for k in range(len(names)) if not as_text}
            continue
        n_rows += len(block[0])
        for k in [*numbers]:
            if (part := _numbers(block[k])) is None:
                del numbers[k]
            else:
                numbers[k].append(part)
    if not n_rows:
        raise UnusableTableError(
            f"{path} has no rows; it needs a line of column names and at least one row."
        )
    texts: dict[int, list[Any]] = {k: [] for k in range(len(names)) if k not in numbers}
    for block in islice(_blocks(opened, layout, path) if texts else (), 1, None):
        for k, parts in texts.items():
            parts.append(pd.Categorical(block[k]))
    columns = [
        np.concatenate(numbers.pop(k)) if k in numbers else union_categoricals(texts.pop(k))
        for k in range(len(names))
    ]
    return layout, names, [pd.Series(column) for column in columns]


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Return cells as numbers, nan where one is missing; None if any is a code, or no number."""
    joined = "\n".join(cells)
    if A_CODE.search(joined) or "_" in joined:  # to Python, 1_2 is twelve
        return None
    try:
        return np.array(
            ["nan" if cell in WRITTEN_MISSING else cell for cell in cells], dtype=np.float64
        )
    except ValueError:
        return None


def _blocks(opened: Open, layout: Layout, path: Path) -> Iterator[list[tuple[str, ...]]]:
    """Yield the cells of every column: first those of the line of names, then of some rows each.

    The error for a line that cannot be read says which one it is.
    """
    n_above, n_names, rows = len(layout.above), 0, []
    with _text(opened, layout.encoding) as text:
        reader = csv.reader(islice(text, n_above, None), delimiter=layout.separator)
        try:
            for cells in filter(_is_filled, reader):
                if n_names and len(cells) != n_names:
                    raise UnusableTableError(
                        f"Line {n_above + reader.line_num} of {path} has {len(cells)} cells between"
                        f" {SEPARATORS[layout.separator]}; its first line names {n_names} columns."
                        " Mend that line, or put quotation marks around cells that hold the"
                        " separator."
                    )
                rows.append(cells)
                if not n_names or len(rows) == ROWS_AT_ONCE:
                    n_names = len(cells)
                    yield [*zip(*rows, strict=True)]
                    rows = []
        except csv.Error as error:
            raise UnusableTableError(
                f"Line {n_above + reader.line_num} of {path} cannot be cut into cells"
                f" ({error}); look for a quotation mark that is not closed."
            ) from error
    if rows:
        yield [*zip(*rows, strict=True)]


def _is_filled(cells: Sequence[str]) -> bool:
    """Say whether a line has anything but blanks and separators."""
    return any(not cell.isspace() for cell in cells if cell)


def _text(opened: Open, encoding: str) -> TextIOWrapper:
    """Return lines with their ends, decoded as they come."""
    errors = "strict" if encoding == "UTF-8" else "replace"
    return TextIOWrapper(opened(), encoding=CODECS[encoding], errors=errors, newline="")


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
