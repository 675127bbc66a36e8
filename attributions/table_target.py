"""What a target holds says what kind of task it is: two classes, or numbers.

``CLASSES_OR_NUMBERS`` states the rule, and it is printed. Whole numbers of few different values are
classes more often than amounts. Where they are amounts, or where there are more than two classes,
nothing is fitted until the user has said what is meant.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.table_columns import FEW, Column, reason_to_leave_out
from attributions.table_file import UnusableTableError, elided, listed, nearest

CLASSES_OR_NUMBERS = (
    f"words, two different values, and whole numbers of which at most {FEW} are different, are"
    " classes; other numbers are regressed"
)
LARGEST = 1e100  # sums of squares of targets up to this do not overflow


@dataclass(frozen=True, eq=False)
class Target:
    """The target of every row, nan where it is missing, and what kind it is and why."""

    y: np.ndarray
    is_classification: bool
    description: str


def as_target(column: Column, task: str | None = None, positive: str | None = None) -> Target:
    """Take a target for classes or numbers.

    Parameters
    ----------
    column : Column
    task : {"classification", "regression"} or None
        What the user says it is; None: see ``CLASSES_OR_NUMBERS``.
    positive : str or None
        The class that becomes 1, all others 0. None: the last of two.
    """
    name = repr(elided(column.name))
    if column.kind == "dates":
        raise UnusableTableError(
            f"The target {name} holds {reason_to_leave_out(column)}; it must hold classes or"
            " numbers: choose another column."
        )
    if column.n_strays:
        raise UnusableTableError(
            f"The target {name} holds numbers, and {column.n_strays:,} times something else, such"
            f" as {elided(column.stray)!r}; correct these cells, or empty them to leave their rows"
            " out."
        )
    if column.n_distinct < 2:
        values = f"one value alone, {elided(column.example)!r}" if column.n_distinct else "no value"
        raise UnusableTableError(
            f"The target {name} holds {values}; it must hold two classes, or numbers that differ."
        )
    is_asked = task is not None or positive is not None
    if task == "regression" or not (is_asked or _looks_like_classes(column)):
        if column.kind == "words":
            raise UnusableTableError(
                f"The target {name} holds words such as {elided(column.example)!r}, which cannot be"
                " regressed; leave --task away, or choose a target of numbers."
            )
        y, what = column.numbers, f"regression of {name}"
        if np.nanmax(np.abs(y)) > LARGEST or np.nanmax(y) - np.nanmin(y) < 1 / LARGEST:
            raise UnusableTableError(
                f"The target {name} ranges from {np.nanmin(y):.3g} to {np.nanmax(y):.3g}, and its"
                " squares do not fit into floating point; write it in another unit."
            )
    else:
        y, classes = _two_classes(column, positive)
        what = f"classification of {name}, {classes}"
    why = f"because it holds {column.n_distinct:,} different {column.kind}"
    rule = f" (The rule: {CLASSES_OR_NUMBERS}; --task says otherwise.)"
    why, rule = ("as asked for", "") if is_asked else (why, rule)
    return Target(y, y is not column.numbers, f"Task: {what}, {why}.{rule}")


def _looks_like_classes(column: Any) -> bool:
    """Say whether values are classes by the rule."""
    known = column.numbers[~np.isnan(column.numbers)]
    is_few = column.n_distinct <= FEW and bool((known == np.floor(known)).all())
    return column.kind == "words" or column.n_distinct == 2 or is_few


def _two_classes(column: Any, positive: str | None) -> tuple[np.ndarray, str]:
    """Return 0 and 1, nan where missing, and words for the two."""
    values = np.unique(column.numbers[~np.isnan(column.numbers)])
    labels = list(column.words) or [f"{value:.15g}" for value in values]
    name = repr(elided(column.name))
    if positive is None and len(labels) > 2:
        or_else = ", or, if they are amounts, --task regression" * (column.kind == "numbers")
        raise UnusableTableError(
            f"The target {name} holds {len(labels):,} classes: {listed(labels)}. More than two are"
            f" not supported yet; choose --positive LABEL, one class against the rest{or_else}."
        )
    place = _place(positive, labels, name) if positive is not None else 1
    y = np.where(np.isnan(column.numbers), np.nan, column.numbers == values[place])
    others = f"the other {len(labels) - 1} classes"
    others = repr(elided(labels[1 - place])) if len(labels) == 2 else others
    return y, f"{elided(labels[place])!r} ({100 * np.nanmean(y):.1f} % of rows) against {others}"


def _place(label: str, labels: list[str], name: str) -> int:
    """Return which label is meant; 1.0 means the number 1."""
    if label not in labels:
        with suppress(ValueError):
            label = f"{float(label):.15g}"
    if label not in labels:
        hint = nearest(label, labels, f"; it holds {listed(labels)}.")
        raise UnusableTableError(f"--positive: the target {name} holds no {label!r}{hint}")
    return labels.index(label)
