"""What a column holds: numbers, dates, or words; which is a code, and which only says the row.

A column holds *numbers* if all its known cells are numbers, or nearly all and more than ten
different ones: then the others count as missing. Where a cell such as 007 begins with a 0, as codes
do, the column holds words, unless a given model takes numbers. Numbers may wear commas between
thousands, a currency or per cent sign, or the brackets of a loss, if all wear the same sign and
none begins with a 0 (``gbt.tables.spelled``), and points between thousands where a file's decimals
have commas (``marks``). Else it holds *dates* if all are dates of one form (``DAYS``). Else it
holds *words*, which are numbered here, and are categories to the engine.

03/04/2020 is March where every cell can be read so, as 13/04/2020 cannot. Without a zone a moment
is taken for Greenwich's, so that nothing depends on where the computer stands.

Columns that only say which row it is, such as row numbers, identifiers and names of persons, can be
cut anywhere, so they promise much in training and predict nothing on new rows. ``LEFT_OUT`` states
which columns these are, and `reason_to_leave_out` finds them.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from attributions.command.rules.marks import COMMA, POINT, marked, without_thousands
from attributions.names import elided
from gbt.tables.spelled import is_blank, plain_number, undressed, with_typed_minus

NEARLY_ALL = 0.95
FEW = 10  # different values
CODE = re.compile(r"0\d\d+")  # 01 to 12 are months, hours or classes of age
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?")
DAYS = (
    "%Y-%m", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("year", "month", "weekday", "hour", "days since the first")
RETURNING = PARTS[1:4]  # on later rows, too
CAN_BE_DATE = re.compile(r"(?=.*\d.*\d)[\w/.,: +-]{6,35}")
LEFT_OUT = (
    "a column is left out if it has no name; if it holds dates, in whose place year, month,"
    " weekday, hour and days since the first are features unless --no-dates is given; if it holds"
    " words that stand in fewer than two rows on average; if it holds whole numbers, all different,"
    " that leave no gap, or only rise or only fall from row to row; or if they are nearly all"
    " different and its name has 'id', 'key' or 'index' in it"
)
NO_NAME = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__")
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
IDENTIFIERS = {"id", "key", "index"}


@dataclass(frozen=True, eq=False)
class Column:
    """One column as numbers."""

    name: str
    numbers: np.ndarray  # float64 (n,), nan where missing
    kind: str  # "numbers", "dates" or "words"
    n_distinct: int  # different known values
    example: str = ""  # the first known cell
    words: tuple[str, ...] = ()  # what the codes of words stand for
    n_strays: int = 0  # cells that were neither missing nor what `kind` says; they are nan
    stray: str = ""  # one of those
    has_decimal_commas: bool = False  # commas were read as decimal marks
    dressed: str = ""  # a cell such as "$1,200", if numbers were read from such
    unclear: str = ""  # a cell such as "1.200", read as 1.2 since nothing told that it is 1200

    @property
    def known(self) -> np.ndarray:
        """The numbers that are not missing."""
        return self.numbers[~np.isnan(self.numbers)]


def column_of(
    name: str,
    cells: Any,
    may_have_decimal_commas: bool = False,
    may_be_codes: bool = False,
    decimal: str = "",
) -> Column:
    """Find out what a series holds and turn it into numbers; every different cell is read once.

    ``may_be_codes`` lets 007 be a word. Without it, as where a given model takes numbers, booleans
    are 0 and 1. Where there may be decimal commas, ``decimal`` is the mark that the file shows to
    stand before decimals, if it shows one.
    """
    from pandas.api.types import is_datetime64_any_dtype

    if is_datetime64_any_dtype(cells.dtype):
        column = column_of_numbers(name, _seconds(cells))
        example = next(iter(written_moments(cells.dropna()[:1])), "")
        return replace(column, kind="dates" if column.n_distinct else "numbers", example=example)
    numbers = _typed_numbers(cells, booleans_and_moments=not may_be_codes)
    if numbers is not None:
        return column_of_numbers(name, numbers)
    texts, rows = texts_of(cells)
    return _of_texts(name, texts, rows, may_have_decimal_commas, may_be_codes, decimal)


def numbers_of(cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return cells as a model of numbers takes them, and which are no finite number, nor missing.

    So some rows of a column can be read without a look at the others. Booleans are 0 and 1,
    moments seconds since 1970.
    """
    numbers = _typed_numbers(cells, booleans_and_moments=True)
    if numbers is None:
        texts, rows = texts_of(cells)
        numbers = np.array([*map(plain_number, texts), np.nan], dtype=np.float64)[rows]
        is_stray = (rows >= 0) & ~np.isfinite(numbers)
    else:
        is_stray = np.isinf(numbers)
    return np.where(is_stray, np.nan, numbers), is_stray


def _typed_numbers(cells: Any, booleans_and_moments: bool) -> np.ndarray | None:
    """Return cells that are numbers by their type, nan where missing; None for others."""
    from pandas.api import types

    if booleans_and_moments and types.is_datetime64_any_dtype(cells.dtype):
        return _seconds(cells)
    if booleans_and_moments and types.infer_dtype(cells) == "boolean":
        cells = cells.astype("boolean").astype("Float64")
    if types.is_numeric_dtype(cells.dtype) and not types.is_bool_dtype(cells.dtype):
        return cells.to_numpy(np.float64, na_value=np.nan)
    return None


def column_of_numbers(name: str, numbers: np.ndarray) -> Column:
    """Take numbers as they are; infinities count as missing."""
    is_stray = np.isinf(numbers)
    stray = str(numbers[is_stray.argmax()]) if is_stray.any() else ""
    if stray:
        numbers = np.where(is_stray, np.nan, numbers)
    known = numbers[~np.isnan(numbers)]
    example = f"{known[0]:.15g}" if len(known) else ""
    n_distinct, n_strays = len(np.unique(known)), int(is_stray.sum())
    return Column(name, numbers, "numbers", n_distinct, example, n_strays=n_strays, stray=stray)


def columns_of_date(date: Column, is_in_order: bool) -> list[Column]:
    """Return columns of the year, month, weekday, hour and days since the first that vary.

    Where rows are judged that are later than all others, no year or day comes again.
    """
    whole = np.floor(date.numbers / 86_400)
    is_known = ~np.isnan(whole)
    days = np.where(is_known, whole, 0).astype(np.int64)  # the first of 1970 was a Thursday
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    since = days - days[is_known].min(initial=np.iinfo(np.int64).max)
    hours = (date.numbers - 86_400 * whole) / 3_600
    numbers_of_parts = (months // 12 + 1970, months % 12 + 1, (days + 3) % 7, hours, since)
    made = []
    for part, numbers in zip(PARTS, numbers_of_parts, strict=True):
        column = column_of_numbers(f"{date.name}: {part}", np.where(is_known, numbers, np.nan))
        if column.n_distinct > 1 and (part in RETURNING or not is_in_order):
            words = WEEKDAYS if part == "weekday" else ()
            made.append(replace(column, kind="words" if words else "numbers", words=words))
    return made


def texts_of(cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the different texts of a series in the order of rows, and each row's place there.

    Texts have no blanks around them; those that stand for nothing, such as "NA", have no place, -1.
    """
    import pandas as pd

    if cells.dtype == object:  # where 1 and True are one key, and lists are none
        cells = cells.map(str, na_action="ignore")
    rows, levels = pd.factorize(cells)
    texts = [str(level).strip() for level in levels]
    known = [None if is_blank(text) else text for text in texts]
    places, distinct = pd.factorize(np.array(known, dtype=object))
    return distinct, np.append(places, -1)[rows]


def _seconds(cells: Any) -> np.ndarray:
    """Return seconds since 1970; moments without a zone are those of Greenwich."""
    if cells.dt.tz is not None:
        cells = cells.dt.tz_convert(None)
    moments = cells.to_numpy("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)


def written_moments(cells: Any) -> Any:
    """Return moments as texts, days without the time of day."""
    return cells.astype(str).str.removesuffix(" 00:00:00")


def _of_texts(
    name: str,
    texts: np.ndarray,
    rows: np.ndarray,
    has_commas: bool,
    may_be_codes: bool,
    decimal: str,
) -> Column:
    n_rows = np.bincount(rows[rows >= 0], minlength=len(texts))

    def column(kind: str, numbers: np.ndarray, **details: Any) -> Column:
        is_stray = ~np.isfinite(numbers)
        numbers = np.where(is_stray, np.nan, numbers)
        return Column(
            name=name,
            numbers=np.append(numbers, np.nan)[rows],
            kind=kind,
            n_distinct=len(np.unique(numbers[~is_stray])),
            example=next(iter(texts), ""),
            n_strays=int(n_rows[is_stray].sum()),
            stray=next(iter(texts[is_stray]), ""),
            **details,
        )

    bare = without_thousands(texts, decimal) if has_commas else texts
    readings = _readings(bare, has_commas)
    are_numbers = [~np.isnan(numbers) for numbers in readings]
    n_read = [n_rows[is_number].sum() for is_number in are_numbers]
    best = int(np.argmax(n_read))
    n_distinct = len(np.unique(readings[best][are_numbers[best]]))
    is_nearly_all = n_read[best] >= NEARLY_ALL * n_rows.sum() and n_distinct > FEW
    are_codes = may_be_codes and any(map(CODE.fullmatch, texts))
    if not are_codes and (are_numbers[best].all() or is_nearly_all):
        is_read = are_numbers[best]
        details = _how_read(texts[is_read], bare[is_read], best, has_commas)
        if has_commas and not decimal:
            mark = COMMA if details["has_decimal_commas"] else POINT
            details["unclear"] = next(iter(marked(texts[is_read], mark)), "")
        return column("numbers", readings[best], **details)
    seconds = None if are_codes else seconds_of(texts.tolist())
    if seconds is not None:
        return column("dates", seconds)
    words, places = np.unique(texts.astype(object), return_inverse=True)
    return column("words", places.astype(np.float64), words=tuple(words.tolist()))


def _readings(texts: np.ndarray, has_commas: bool) -> list[np.ndarray]:
    """Return texts as numbers in every way that there is, nan where they are none."""
    readings = [np.array([plain_number(text) for text in texts], dtype=np.float64)]
    if has_commas:
        readings.append(np.array([_comma_number(text) for text in texts], dtype=np.float64))
    return [*readings, undressed(texts.tolist())]


def _how_read(texts: np.ndarray, bare: np.ndarray, best: int, has_commas: bool) -> dict[str, Any]:
    """Return what is to be said of texts that were read as numbers in the way ``best``.

    ``bare`` are the texts without marks of thousands, as far as the file's decimal mark is known.
    """
    with_commas = has_commas and best == 1
    dressed = texts[texts != bare]
    if not len(dressed) and best == 1 + has_commas:
        dressed = texts[np.isnan([plain_number(text) for text in texts])]
    return {
        "has_decimal_commas": with_commas and any("," in text for text in bare),
        "dressed": str(next(iter(dressed), "")),
    }


def _comma_number(text: str) -> float:
    """Return the number in a text with a decimal comma, and points between thousands."""
    text = with_typed_minus(text)
    if not DECIMAL_COMMA.fullmatch(text):
        return np.nan
    return float(text.replace(".", "").replace(",", "."))


def seconds_of(texts: Sequence[str]) -> np.ndarray | None:
    """Return the seconds since 1970 of texts that are dates of one form, or None."""
    if not all(map(CAN_BE_DATE.fullmatch, texts)):
        return None
    for form in (None, *(day + time for time in TIMES for day in DAYS)):
        with suppress(ValueError, OverflowError):
            return np.array([_timestamp(text, form) for text in texts], dtype=np.float64)
    return None


def _timestamp(text: str, form: str | None) -> float:
    """Return seconds of a text of some form, or of that of ISO 8601."""
    moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def reason_to_leave_out(column: Column) -> str:
    """Return why a column can be no feature, or nothing; the rule is ``LEFT_OUT``."""
    known = column.known
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
