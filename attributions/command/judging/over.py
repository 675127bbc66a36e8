"""What features are worth over time, or by the values of a column, in the rows held out.

Times become periods of about equally many rows, as many as rows allow; numbers become a few ranges.
Periods are compared with the first, other values with the one that most rows have
(``attributions.changes``).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attributions.changes.by_label import AttributionByLabel
from attributions.changes.differences import Differences
from attributions.changes.labels import Labels
from attributions.command.judging.findings import Findings
from attributions.command.rules.columns import Column
from attributions.command.table.task import Task
from attributions.command.unusable import UnusableTableError
from attributions.command.wording import MISSING, cell
from attributions.held_out.gain import held_out_gain

ROWS_OF_PERIOD, EVENTS_OF_PERIOD, GROUPS_OF_PERIOD, MOST_PERIODS = 100, 30, 30, 12
MOST_VALUES, N_RANGES = 12, 4


@dataclass(frozen=True, eq=False)
class Over:
    """What features are worth by the values of a column.

    Where rows depend on each other, changes are in per cent of the constant's loss, else in loss a
    row. There a constant's loss is a matter of how many events came, or of which grades there are,
    so that nothing would seem to help where events are few; what features explain does not move it.
    """

    column: str
    is_time: bool
    result: AttributionByLabel
    reference: int  # the number of the label with which others are compared
    changes: Differences


def with_changes(found: Findings) -> Findings:
    """Add what changed over time and by the column that was asked for."""
    task = found.task
    asked = [(task.question.time, True), (task.question.by, False)]
    over = [_over(found, name, is_time) for name, is_time in asked if name]
    return replace(found, over=tuple(each for each in over if each is not None))


def _over(found: Findings, name: str, is_time: bool) -> Over | None:
    """Judge the held-out rows by one column; None if there are too few for two periods."""
    task = found.task
    column = task.columns[name]
    numbers = column.numbers[task.held_out]
    labels = _labels(task, column, numbers, is_time)
    if len(labels.names) < 2:
        if is_time:
            return None
        raise UnusableTableError(
            f"--by {name}: all held-out rows have the same value there; name a column of several."
        )
    result: Any = held_out_gain(
        found.model, task.X_valid, task.y_valid, groups=task.groups, by=labels
    )
    reference = 0 if is_time else int(np.argmax(result.n_samples))
    unit = "loss" if found.model.loss.is_by_row else "percent"
    changes = result.changes(result.labels[reference], unit=unit)
    return Over(name, is_time, result, reference, changes)


def _labels(task: Task, column: Column, numbers: np.ndarray, is_time: bool) -> Labels:
    """Take every value for a label, or ranges of many numbers; missing is a label of its own.

    Ranges of times, of which none is missing, are periods of enough rows, events or groups.
    """
    known = numbers[~np.isnan(numbers)]
    starts, n_ranges = np.unique(known), N_RANGES
    if is_time:
        n_ranges = min(len(numbers) // ROWS_OF_PERIOD, MOST_PERIODS)
        if task.question.event:
            n_ranges = min(n_ranges, int(task.y_valid[:, 1].sum()) // EVENTS_OF_PERIOD)
        elif task.groups is not None and task.has_pairs:
            n_ranges = min(n_ranges, len(np.unique(task.groups)) // GROUPS_OF_PERIOD)
    elif column.kind == "words" and len(starts) > MOST_VALUES:
        raise UnusableTableError(
            f"--by {column.name}: {len(starts):,} different words are too many to be judged one by"
            f" one; name a column of at most {MOST_VALUES}."
        )
    are_ranges = is_time or len(starts) > MOST_VALUES
    if are_ranges:
        shares = np.arange(max(n_ranges, 1)) / max(n_ranges, 1)
        starts = np.unique(np.quantile(known, shares, method="lower"))  # one moment stays together
    names = ["from " * are_ranges + cell(column, number) for number in starts]
    of_row = np.searchsorted(starts, numbers, side="right") - 1
    missing = np.isnan(numbers)
    of_row[missing] = len(names)
    return Labels((*names, *[MISSING] * bool(missing.any())), of_row, column.kind != "words")
