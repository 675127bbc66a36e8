"""Cells become numbers, or stay words: what kind a column is, and whether it can be a feature.

A column holds *numbers* if all its known cells are numbers, or nearly all and more than ten
different ones: then the others count as missing. Where a cell such as 007 begins with a 0, as codes
do, the column holds words, unless a given model takes numbers. Numbers may wear commas between
thousands, a currency or per cent sign, or the brackets of a loss, if all wear the same sign and
none begins with a 0. Else it holds *dates* if all are dates of one form, and they become seconds
since 1970. Else it holds *words*, which are numbered here, and are categories to the engine.

Some columns only identify the row: row numbers, identifiers, names of persons. A tree can cut them
anywhere, so they promise much in training and predict nothing on new rows. ``LEFT_OUT`` states
which columns these are, and ``reason_to_leave_out`` finds them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from attributions.command.table.cells import Cells
from attributions.names import elided
from gbt.tables.spelled import is_blank, plain_number, undressed, with_typed_minus

NEARLY_ALL = 0.95
FEW = 10  # different values

LEFT_OUT = (
    "a column is left out if it has no name; if it holds dates; if it holds words that stand in"
    " fewer than two rows on average; if it holds whole numbers, all different, that leave no gap,"
    " or only rise or only fall from row to row; or if they are nearly all different and its name"
    " has 'id', 'key' or 'index' in it"
)
NO_NAME = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__")
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
IDENTIFIERS = {"id", "key", "index"}

CODE = re.compile(r"0\d\d+")  # 01 to 12 are months, hours or classes of age
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?")
DAYS = (
    "%Y-%m", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
CAN_BE_DATE = re.compile(r"(?=.*\d.*\d)[\w/.,: +-]{6,35}")


@dataclass(frozen=True, eq=False)
class Column:
    """One column as numbers.

    Parameters
    ----------
    name : str
    numbers : float64 array of shape (n,)
        nan where missing.
    kind : {"numbers", "dates", "words"}
    n_distinct : int
        Different known values.
    example : str
        The first known cell.
    words : tuple of str
        What the codes of words stand for.
    n_strays : int
        Cells that were neither missing nor what ``kind`` says; they are nan.
    stray : str
        One of those.
    has_decimal_commas : bool
        Whether commas were read as decimal marks.
    dressed : str
        A cell such as "$1,200", if numbers were read from such.
    """

    name: str
    numbers: np.ndarray
    kind: str
    n_distinct: int
    example: str = ""
    words: tuple[str, ...] = ()
    n_strays: int = 0
    stray: str = ""
    has_decimal_commas: bool = False
    dressed: str = ""


def column_of(
    name: str, cells: Cells, may_have_decimal_commas: bool = False, may_be_codes: bool = False
) -> Column:
    """Find out what a column holds and turn it into numbers; every different cell is read once.

    ``may_be_codes`` lets 007 be a word.
    """
    if cells.holds in ("numbers", "moments"):
        return _typed(name, cells)
    levels = np.array([*cells.texts], dtype=object)
    n_rows = np.bincount(cells.values, minlength=len(levels))
    known = np.array([not is_blank(cell) for cell in levels], dtype=bool)

    def column(kind: str, numbers: np.ndarray, **details: Any) -> Column:
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        strays = known & np.isnan(numbers)
        return Column(
            name=name,
            numbers=numbers[cells.values],
            kind=kind,
            n_distinct=len(np.unique(numbers[~np.isnan(numbers)])),
            example=next(iter(levels[known]), ""),
            n_strays=int(n_rows[strays].sum()),
            stray=next(iter(levels[strays]), ""),
            **details,
        )

    readings = [_each(plain_number, levels, known)]
    if may_have_decimal_commas:
        readings.append(_each(_comma_number, levels, known))
    readings.append(undressed(cells.texts))
    shares = [n_rows[known & ~np.isnan(numbers)].sum() for numbers in readings]
    best = int(np.argmax(shares))
    numbers = readings[best]
    is_number = known & ~np.isnan(numbers)
    n_distinct = len(np.unique(numbers[is_number]))
    is_nearly_all = shares[best] >= NEARLY_ALL * n_rows[known].sum()
    are_codes = may_be_codes and any(map(CODE.fullmatch, levels[known]))
    is_all = not (known & ~is_number).any()
    if not are_codes and (is_all or (is_nearly_all and n_distinct > FEW)):
        is_dressed = best == len(readings) - 1
        plain = np.isnan(readings[0]) & is_number
        return column(
            "numbers",
            numbers,
            has_decimal_commas=may_have_decimal_commas and best == 1,
            dressed=str(levels[plain][0]) if is_dressed else "",
        )
    seconds = None if are_codes else _seconds(levels, known)
    if seconds is not None:
        return column("dates", seconds)
    order = np.flatnonzero(known)[np.argsort(levels[known])]
    places = np.full(len(levels), np.nan)
    places[order] = np.arange(len(order))
    return column("words", places, words=tuple(levels[order]))


def _typed(name: str, cells: Cells) -> Column:
    """Take numbers and moments as the file has them; infinities count as missing."""
    numbers, is_stray = cells.numbers()
    known = numbers[~np.isnan(numbers)]
    is_dates = cells.holds == "moments" and len(known) > 0
    return Column(
        name=name,
        numbers=numbers,
        kind="dates" if is_dates else "numbers",
        n_distinct=len(np.unique(known)),
        example=cells.example or (f"{known[0]:.15g}" if len(known) else ""),
        n_strays=int(is_stray.sum()),
        stray=str(next(iter(cells.values[is_stray]), "")),
    )


def columns_of_rows(X: np.ndarray, names: Sequence[str]) -> dict[str, Column]:
    """Return columns of drawn data by name."""
    return {name: column_of(name, Cells("numbers", X[:, k])) for k, name in enumerate(names)}


class LevelPlaces:
    """Where cells stand among the levels that a model has learned.

    A cell is the level that is written like it: "007" is not "7" to a model that knows both. Where
    there is none, it is the level of the same number, since a table may write 7 as "7.0".

    Parameters
    ----------
    levels : sequence of str, int or bool
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._place = {str(level): float(k) for k, level in enumerate(levels)}

    def of(self, cells: Cells) -> np.ndarray:
        """Return the place of every cell: nan where it is missing, inf where the model has none."""
        cells = cells.with_texts()
        return np.array([self._find(text) for text in cells.texts], dtype=np.float64)[cells.values]

    def _find(self, cell: str) -> float:
        if is_blank(cell):
            return np.nan
        number = plain_number(cell)
        as_level = cell if np.isnan(number) else f"{number:.15g}"
        return self._place.get(cell, self._place.get(as_level, np.inf))


def reason_to_leave_out(column: Column) -> str:
    """Return why a column can be no feature, or nothing; the rule is ``LEFT_OUT``."""
    known = column.numbers[~np.isnan(column.numbers)]
    rows = f"{column.n_distinct:,} different {column.kind} in {len(known):,} rows"
    if NO_NAME.fullmatch(column.name):
        return "no name"
    if column.kind == "dates":
        return f"dates such as {elided(column.example)!r}"
    if column.kind == "words":
        is_rare = 2 * column.n_distinct > max(len(known), 2)
        return f"{rows}, such as {elided(column.example)!r}" * is_rare
    if (known != np.floor(known)).any() or column.n_distinct < max(NEARLY_ALL * len(known), 2):
        return ""
    identifiers = [p for p in NAME_PARTS.findall(column.name) if p.casefold() in IDENTIFIERS]
    if identifiers:
        return f"{rows} and {identifiers[0]!r} in the name"
    if column.n_distinct < len(column.numbers):
        return ""
    steps = np.diff(known)
    if np.ptp(known) == len(known) - 1:
        return "every number once, without a gap"
    if (steps > 0).all() or (steps < 0).all():
        return "rises from row to row" if steps[0] > 0 else "falls from row to row"
    return ""


def _each(number_of: Callable[[str], float], levels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the number that each known cell stands for, nan for others."""
    numbers = np.full(len(levels), np.nan)
    numbers[known] = [number_of(cell) for cell in levels[known]]
    return numbers


def _comma_number(cell: str) -> float:
    """Return the number in a cell with a decimal comma, and points between thousands."""
    cell = with_typed_minus(cell)
    if not DECIMAL_COMMA.fullmatch(cell):
        return np.nan
    return float(cell.replace(".", "").replace(",", "."))


def _seconds(levels: np.ndarray, known: np.ndarray) -> np.ndarray | None:
    """Return the seconds since 1970 of cells that are dates of one form, or None.

    03/04/2020 is March where every cell can be read so, as 13/04/2020 cannot.
    """
    if not all(CAN_BE_DATE.fullmatch(cell) for cell in levels[known]):
        return None
    forms = [_iso, *(_form(day + time) for time in TIMES for day in DAYS)]
    for read in forms:
        try:
            return _each(partial(_timestamp, read), levels, known)
        except (ValueError, OverflowError):
            continue
    return None


def _iso(cell: str) -> datetime:
    return datetime.fromisoformat(cell)


def _form(form: str) -> Callable[[str], datetime]:
    return lambda cell: datetime.strptime(cell, form)


def _timestamp(read: Callable[[str], datetime], cell: str) -> float:
    """Return a date as seconds since 1970; without a zone it is taken for Greenwich's."""
    moment = read(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
