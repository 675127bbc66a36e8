"""Points and commas in numbers: which of them stands before decimals, and which between thousands.

17.087 is seventeen and a bit, or seventeen thousand; 17.5, 0.123 and 1,234.500 can be read in one
way only, and so can 1.234.567, whose points stand between thousands, so that a comma is the decimal
mark. Where a comma separates no cells, such numbers of all columns decide for the file (`Marks`).
"""

import re
from collections.abc import Sequence

import numpy as np

POINT, COMMA = ".", ","
OTHER = {POINT: COMMA, COMMA: POINT}
BEFORE, AFTER = r"[^\w.,]*", r"(?:e[+-]?\d+)?[^\w.,]*"  # signs, an exponent
BESIDE_DIGIT = re.compile(r"\d[.,]|[.,]\d")


def _shows(mark: str) -> re.Pattern[str]:
    """Return what numbers look like in which nothing but ``mark`` can be the decimal mark."""
    decimal, other = re.escape(mark), re.escape(OTHER[mark])
    thousands = rf"\d{{1,3}}(?:{other}\d{{3}})"
    either = rf"[1-9]\d{{0,2}}{decimal}\d{{3}}"
    octets = rf"(?!\d+(?:{other}\d+){{3}}{BEFORE}$)"  # of an address, 192.168.100.200
    several = rf"{octets}{thousands}{{2,}}"
    number = rf"(?!{either}{BEFORE}$)\d*{decimal}\d+|{thousands}+{decimal}\d+|{several}"
    return re.compile(rf"{BEFORE}(?:{number}){AFTER}", re.IGNORECASE)


def _fits(mark: str) -> re.Pattern[str]:
    """Return what numbers look like in which ``mark`` may stand between thousands."""
    return re.compile(rf"{BEFORE}[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+{BEFORE}")


SHOWS = {mark: _shows(mark) for mark in OTHER}
MAY_BE_THOUSANDS = {mark: _fits(mark) for mark in OTHER}


class Marks:
    """Looks at all cells, row by row, for what they show of a file's decimal mark."""

    def __init__(self, n_columns: int) -> None:
        self.open = [*range(n_columns)]  # columns that have shown nothing so far
        self.shown: dict[str, int] = dict.fromkeys(OTHER, 0)  # columns that have
        self.with_points: set[int] = set()

    def look(self, cells: Sequence[str]) -> None:
        """Look at one row."""
        for k in [k for k in self.open if POINT in cells[k] or COMMA in cells[k]]:
            if POINT in cells[k]:
                self.with_points.add(k)
            for mark, number in SHOWS.items():
                if number.fullmatch(cells[k]):
                    self.shown[mark] += 1
                    self.open.remove(k)
                    break

    @property
    def decimal(self) -> str:
        """The mark that more columns show to stand before decimals; nothing if as many do."""
        points, commas = (self.shown[mark] for mark in (POINT, COMMA))
        return "" if points == commas else POINT if points > commas else COMMA

    @property
    def unclear(self) -> set[int]:
        """Columns with points in which each may stand between thousands."""
        return self.with_points.intersection(self.open)


def marked(texts: np.ndarray, mark: str) -> list[str]:
    """Return the numbers with a mark if it may stand between thousands in each; else nothing."""
    found = [text for text in texts if mark in text and BESIDE_DIGIT.search(text)]
    return found if all(map(MAY_BE_THOUSANDS[mark].fullmatch, found)) else []


def without_thousands(texts: np.ndarray, decimal: str) -> np.ndarray:
    """Return texts without the mark of thousands where ``decimal`` is known to be the other."""
    mark = OTHER.get(decimal, "")
    if not mark or not (found := {*marked(texts, mark)}):
        return texts
    return np.array([t.replace(mark, "") if t in found else t for t in texts], dtype=object)
