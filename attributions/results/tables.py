"""A table as a terminal and a notebook show it: columns that are aligned.

Numbers of one column have the same number of decimals, so that their points are aligned.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from attributions.names import elided, on_one_line, printed_width

WIDTH = 100  # of a line in a terminal
NAME_WIDTH = 40


class ShownColumn(NamedTuple):
    """The heading and the cells of a column; words stand to the left, numbers to the right."""

    heading: str
    cells: list[str]
    is_text: bool = False
    most: int = NAME_WIDTH  # columns of a terminal, to which texts are cut

    @property
    def width(self) -> int:
        """Number of columns of a terminal that it takes."""
        return max(printed_width(self._short(text)) for text in (self.heading, *self.cells))

    def lines(self) -> list[str]:
        """Return the heading and the cells, all of the same width."""
        texts = [self._short(text) for text in (self.heading, *self.cells)]
        width = self.width
        pads = [" " * (width - printed_width(text)) for text in texts]
        return [t + pad if self.is_text else pad + t for t, pad in zip(texts, pads, strict=True)]

    def _short(self, text: str) -> str:
        return elided(text, self.most)


@dataclass(frozen=True, eq=False, repr=False)
class ShownTable:
    """Columns below a title, and a note on what is not shown."""

    title: str
    columns: Sequence[ShownColumn]
    note: str = ""
    note_after: int | None = None  # rows above the note; None for a note below all

    def __repr__(self) -> str:
        lines = zip(*(column.lines() for column in self.columns), strict=True)
        rows = ["  " + "  ".join(cells).rstrip() for cells in lines]
        if self.note:
            place = len(rows) if self.note_after is None else 1 + self.note_after
            rows.insert(place, f"  ... {self.note}")
        return "\n".join([self.title, *rows])

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


def numbers(heading: str, values: np.ndarray) -> ShownColumn:
    """Make a column of numbers with equally many decimals.

    They show five digits of the largest number and, if six decimals and nine digits are enough for
    it, two of the smallest. If five digits of the largest take more, all numbers are written with
    powers of ten.
    """
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    largest, smallest = (sizes.max(), sizes.min()) if len(sizes) else (1.0, 1.0)
    first, last = int(np.floor(np.log10(largest))), int(np.floor(np.log10(smallest)))
    decimals = max(4 - first, min(1 - last, 6, 8 - max(first, 0)), 0)
    is_long = decimals > 6 or max(first, 0) + 1 + decimals > 9
    style = ".3e" if is_long else f".{decimals}f"
    return ShownColumn(on_one_line(heading), [f"{value:{style}}" for value in values])


def per_cent(heading: str, values: np.ndarray) -> ShownColumn:
    """Make a column of per cent, with two decimals; nothing is written as minus zero."""
    return ShownColumn(heading, [f"{value:.2f}" for value in np.round(values, 2) + 0.0])


def p_values(heading: str, values: np.ndarray) -> ShownColumn:
    """Make a column of p-values, with four decimals."""
    return ShownColumn(heading, ["<0.0001" if p < 1e-4 else f"{p:.4f}" for p in values])


def more(n: int, what: str) -> str:
    """Say how many of something are not shown; nothing if all are."""
    return f"{n:,} more {what}{'s' * (n > 1)}" if n else ""
