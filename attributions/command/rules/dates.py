"""Texts that are dates: all of one form, which become seconds since 1970.

03/04/2020 is March where every cell can be read so, as 13/04/2020 cannot. Without a zone a moment
is taken for Greenwich's, so that nothing depends on where the computer stands.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

DAYS = (
    "%Y-%m", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
CAN_BE_DATE = re.compile(r"(?=.*\d.*\d)[\w/.,: +-]{6,35}")


def seconds_of(texts: Sequence[str]) -> np.ndarray | None:
    """Return the seconds since 1970 of texts that are dates of one form, or None."""
    if not all(map(CAN_BE_DATE.fullmatch, texts)):
        return None
    for read in (datetime.fromisoformat, *(_form(day + time) for time in TIMES for day in DAYS)):
        try:
            return np.array([_timestamp(read(text)) for text in texts], dtype=np.float64)
        except (ValueError, OverflowError):
            continue
    return None


def _form(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form)


def _timestamp(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
