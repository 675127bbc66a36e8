"""Numbers as a reader knows them: the words, dates and amounts that the table's file holds."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from attributions.command.rules.columns import Column
from attributions.command.table.task import Task
from attributions.names import cut_in_the_middle, on_one_line

LONGEST = 60  # letters of a cell or a name where there is little room
LENGTHENED = 12
MISSING = "(missing)"


def held_out_numbers(task: Task, k: int) -> np.ndarray:
    """Return what a feature's column holds in the held-out rows: codes of words, seconds, numbers.

    These are the column's own, whatever a given model takes in their place.
    """
    return task.features[k].numbers[task.held_out]


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


def predicted_class(task: Task, c: int | None = None) -> str:
    """Return what a classifier predicts the probability of, as the file writes it.

    ``c`` is the number of a class where there are more than two.
    """
    label = answer(task, int(np.argmax(task.y_valid))) if c is None else shortened(task.classes[c])
    return f"{shortened(task.target.name)} = {label}"


def answer(task: Task, row: int) -> str:
    """Return the target of a held-out row as the file writes it."""
    text = cell(task.target, task.target.numbers[task.held_out[row]])
    is_censored = bool(task.event) and task.y_valid[row, 1] in (0, np.inf)
    return f"{text} or later" if is_censored else text
