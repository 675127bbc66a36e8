"""Numbers as a reader knows them: the words, dates and amounts that the table's file holds."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from attributions.command.findings import Findings
from attributions.command.rules.columns import Column
from attributions.names import cut_in_the_middle, on_one_line

LONGEST = 60  # letters of a cell or a name where there is little room
LENGTHENED = 12
MISSING = "(missing)"


def cell(column: Column, number: float) -> str:
    """Return what a file would hold for a number of a column."""
    if np.isnan(number):
        return MISSING
    if column.words:
        return shortened(column.words[int(number)])
    if column.kind == "dates":
        moment = datetime.fromtimestamp(number, UTC)
        return f"{moment:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
    return amount(number).replace(",", "")


def amount(number: float, digits: int = 6) -> str:
    """Return a number with so many digits at most; commas stand between thousands."""
    if number == 0:
        return "0"
    size = math.floor(math.log10(abs(number)))
    if not -5 <= size < 15:
        return f"{number:.{digits - 1}e}"
    text = f"{number:,.{max(digits - 1 - size, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shortened(text: str, length: int = LONGEST) -> str:
    """Return a text on one line, without its middle if it is long."""
    text = on_one_line(text)
    return text if len(text) <= length else cut_in_the_middle(text, length - 1)


def shortened_apart(texts: Sequence[str], length: int = LONGEST) -> list[str]:
    """Return texts cut to a length; those that would be alike are cut less, until they differ."""
    lengths = dict.fromkeys(texts, length)
    while True:
        cut = {text: shortened(text, lengths[text]) for text in lengths}
        alike = Counter(cut.values())
        longer = [t for t in lengths if alike[cut[t]] > 1 and lengths[t] < len(t)]
        if not longer:
            return [cut[text] for text in texts]
        lengths |= {text: lengths[text] + LENGTHENED for text in longer}


def raw_unit(found: Findings) -> str:
    """Return the unit of contributions to a prediction, in words."""
    task, loss = found.task, found.model.loss
    if task.classes:
        return "unnormalised log-probability"
    if task.is_classification:
        return "log-odds"
    if task.event:
        return "the logarithm of the " + ("hazard" if loss.name == "cox" else "time")
    if task.has_pairs:
        return "points of a score"
    if loss.inverse_link(np.ones(1)) != 1.0:
        return "the raw prediction's unit"
    return f"units of {shortened(task.target.name)}"
