"""A table as a terminal and a notebook show it: columns that are aligned.

Numbers of one column have the same number of decimals, so that their points are aligned.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from attributions.names import elided, on_one_line, printed_width
from gbt.tables.names import counted

WIDTH, LONGEST_LINE = 100, 120  # of a terminal, and of lists beside numbers
NAME_WIDTH = 40


class ShownColumn(NamedTuple):
    """The heading and the cells of a column; words stand to the left, numbers to the right.

    Only a cell that is made to have them has several lines.
    """

    heading: str
    cells: list[str]
    is_text: bool = False
    most: int = NAME_WIDTH  # columns of a terminal, to which texts are cut

    @property
    def width(self) -> int:
        """Number of columns of a terminal that it takes."""
        texts = [line for text in (self.heading, *self.cells) for line in self._short(text)]
        return max(map(printed_width, texts))

    def lines(self) -> list[list[str]]:
        """Return the lines of the heading and of the cells, all of the same width."""
        width, texts = self.width, [self._short(text) for text in (self.heading, *self.cells)]
        return [[self._padded(line, width) for line in lines] for lines in texts]

    def _padded(self, line: str, width: int) -> str:
        pad = " " * (width - printed_width(line))
        return line + pad if self.is_text else pad + line

    def _short(self, text: str) -> list[str]:
        return [elided(line, self.most) for line in text.split("\n")]


@dataclass(frozen=True, eq=False, repr=False)
class ShownTable:
    """Columns below a title, and a note on what is not shown."""

    title: str
    columns: Sequence[ShownColumn]
    note: str = ""
    note_after: int | None = None  # rows above the note; None for a note below all

    def __repr__(self) -> str:
        cells = zip(*(column.lines() for column in self.columns), strict=True)
        rows = ["\n".join(map(self._line, zip_longest(*of_row))) for of_row in cells]
        if self.note:
            place = len(rows) if self.note_after is None else 1 + self.note_after
            rows.insert(place, f"  ... {self.note}")
        return "\n".join([self.title, *rows])

    def _line(self, parts: Iterable[str | None]) -> str:
        """Return a line of a row, in which some cells may have no more text."""
        blank = (" " * column.width for column in self.columns)
        texts = (b if part is None else part for part, b in zip(parts, blank, strict=True))
        return "  " + "  ".join(texts).rstrip()

    def _repr_html_(self) -> str:
        """Return the table for a notebook, names in full."""
        sides = [f' style="text-align: {"left" if c.is_text else "right"}"' for c in self.columns]
        lines = zip(*((c.heading, *c.cells) for c in self.columns), strict=True)
        tag, rows = "th", []
        for line in lines:
            cells = zip(line, sides, strict=True)
            rows.append("".join(f"<{tag}{side}>{escape(text)}</{tag}>" for text, side in cells))
            tag = "td"
        body = [f"<tr>{row}</tr>" for row in rows[1:]]
        note = f"\n<p>... {escape(self.note)}</p>" if self.note else ""
        if note and self.note_after is not None:
            gap = f'<tr><td colspan="{len(self.columns)}">... {escape(self.note)}</td></tr>'
            body.insert(self.note_after, gap)
            note = ""
        lines_of_body = "\n".join(body)
        return (
            f'<table>\n<caption style="text-align: left">{escape(self.title)}</caption>\n'
            f"<thead>\n<tr>{rows[0]}</tr>\n</thead>\n<tbody>\n{lines_of_body}\n</tbody>\n</table>{note}"
        )


class ShownAsTable:
    """A result that is printed as the table of its ``head``; NumPy takes it as its values."""

    def __repr__(self) -> str:
        return repr(self._shown())

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def __len__(self: Any) -> int:
        return len(self.values)

    def _shown(self: Any) -> ShownTable:
        return self.head()

    def __array__(self: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)


def words(heading: str, cells: Iterable[object]) -> ShownColumn:
    """Make a column of words."""
    return ShownColumn(on_one_line(heading), [on_one_line(cell) for cell in cells], is_text=True)


def lists(
    heading: str, texts: Iterable[str], beside: Iterable[ShownColumn], separator: str
) -> ShownColumn:
    """Make a column of lists, on several lines where the columns beside them leave no room.

    What the separator, a regular expression, parts is not cut, unless it is longer than a line.
    """
    room = LONGEST_LINE - 2 - sum(column.width + 2 for column in beside)
    cells = []
    for text in texts:
        lines = [""]
        for item in re.split(separator, on_one_line(text)):
            longer = f"{lines[-1]}, {item}" if lines[-1] else item
            is_full = printed_width(longer) >= room and lines[-1]  # a comma may follow
            lines[-1:] = [f"{lines[-1]},", f"  {item}"] if is_full else [longer]
        cells.append("\n".join(lines))
    return ShownColumn(on_one_line(heading), cells, is_text=True, most=room)


def numbers(heading: str, values: np.ndarray) -> ShownColumn:
    """Make a column of numbers with equally many decimals: `of_one_unit`."""
    return of_one_unit([heading], [values])[0]


def of_one_unit(headings: Iterable[object], columns: Iterable[np.ndarray]) -> list[ShownColumn]:
    """Make columns of numbers that are compared with each other, as an interval with its value.

    Each has its own decimals, if nine digits are enough and the largest number is 0.0001 or more.
    If one of them has not, all are written alike: with the same decimals, and where these do not
    help in millions, thousands of millions, or millionths: ``change (1e9)`` says a heading.
    """
    columns = [*columns]
    power, decimals = 0, [_decimals(values) for values in columns]
    if None in decimals:
        together = np.concatenate(columns)
        if (common := _decimals(together)) is None:
            power = max(3 * (_magnitudes(together)[0] // 3), -306)  # 1e-309 is no exact number
            common = _decimals(together / 10.0**power)
        decimals = [common] * len(columns)
    unit = f" (1e{power})" if power else ""
    return [
        ShownColumn(on_one_line(heading) + unit, [_fixed(v, n or 0) for v in values / 10.0**power])
        for heading, values, n in zip(headings, columns, decimals, strict=True)
    ]


def with_errors(
    values: np.ndarray, errors: np.ndarray | None, percent_of_one: float | None = None
) -> list[ShownColumn]:
    """Make a column of values and, if there are any, one of errors; in per cent if it is known."""
    columns = [values] if errors is None else [values, errors]
    if percent_of_one is None:
        return of_one_unit(("value", "standard error")[: len(columns)], columns)
    in_percent = [percent_of_one * values, *(abs(percent_of_one) * e for e in columns[1:])]
    return [*map(per_cent, ("per cent", "standard error"), in_percent)]


def _decimals(values: np.ndarray) -> int | None:
    """Return how many decimals tell numbers well, None if none do.

    They show five digits of the largest number, four if it is below 0.01 and, if six decimals and
    nine digits are enough for it, two of the smallest.
    """
    first, last = _magnitudes(values)
    if not -4 <= first < 9:
        return None
    return max(4 - max(first, -2), 3 - first, min(1 - last, 6, 8 - max(first, 0)), 0)


def _magnitudes(values: np.ndarray) -> tuple[int, int]:
    """Return which powers of ten the largest and the smallest number have; zeros do not count."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    ends = (sizes.max(), sizes.min()) if len(sizes) else (1.0, 1.0)
    first, last = np.floor(np.log10(ends)).astype(int).tolist()
    return first, last


def _fixed(value: float, decimals: int) -> str:
    """Write a number with so many decimals; what rounds to 0 has no sign."""
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


def per_cent(heading: str, values: np.ndarray) -> ShownColumn:
    """Make a column of per cent, with two decimals; what is not known is "-"."""
    return ShownColumn(heading, ["-" if np.isnan(value) else _fixed(value, 2) for value in values])


def p_values(heading: str, values: np.ndarray) -> ShownColumn:
    """Make a column of p-values, with four decimals."""
    return ShownColumn(heading, ["<0.0001" if p < 1e-4 else f"{p:.4f}" for p in values])


def more(n: int, what: str) -> str:
    """Say how many of something are not shown; nothing if all are."""
    return counted(n, f"more {what}") if n else ""
