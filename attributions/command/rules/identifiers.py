"""Columns that only say which row it is: row numbers, identifiers, names of persons, dates.

A tree can cut them anywhere, so they promise much in training and predict nothing on new rows.
``LEFT_OUT`` states which columns these are, and `reason_to_leave_out` finds them.
"""

import re

import numpy as np

from attributions.command.rules.columns import NEARLY_ALL, Column
from attributions.names import elided

LEFT_OUT = (
    "a column is left out if it has no name; if it holds dates, in whose place year, month, weekday"
    " and days since the first are features unless --no-dates is given; if it holds words that"
    " stand in fewer than two rows on average; if it holds whole numbers, all different, that leave"
    " no gap, or only rise or only fall from row to row; or if they are nearly all different and"
    " its name has 'id', 'key' or 'index' in it"
)
NO_NAME = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__")
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
IDENTIFIERS = {"id", "key", "index"}


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
