"""Texts that are dates: all of one form, which become seconds since 1970, and their parts.

03/04/2020 is March where every cell can be read so, as 13/04/2020 cannot. Without a zone a moment
is taken for Greenwich's, so that nothing depends on where the computer stands.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np

DAYS = (
    "%Y-%m", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("year", "month", "weekday", "days since the first")
RETURNING = PARTS[1:3]  # on later rows, too
CAN_BE_DATE = re.compile(r"(?=.*\d.*\d)[\w/.,: +-]{6,35}")


def seconds_of(texts: Sequence[str]) -> np.ndarray | None:
    """Return the seconds since 1970 of texts that are dates of one form, or None."""
    if not all(map(CAN_BE_DATE.fullmatch, texts)):
        return None
    for form in (None, *(day + time for time in TIMES for day in DAYS)):
        with suppress(ValueError, OverflowError):
            return np.array([_timestamp(text, form) for text in texts], dtype=np.float64)
    return None


def parts_of(seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the ``PARTS`` of moments, (n,) each; weekdays by number, nan where one is missing."""
    whole = np.floor(seconds / 86_400)
    is_known = ~np.isnan(whole)
    days = np.where(is_known, whole, 0).astype(np.int64)  # the first of 1970 was a Thursday
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    since = days - days[is_known].min(initial=np.iinfo(np.int64).max)
    parts = (months // 12 + 1970, months % 12 + 1, (days + 3) % 7, since)
    return {name: np.where(is_known, part, np.nan) for name, part in zip(PARTS, parts, strict=True)}


def _timestamp(text: str, form: str | None) -> float:
    """Return seconds of a text of some form, or of that of ISO 8601."""
    moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
