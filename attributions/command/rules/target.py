"""A target's values decide what kind of task it is: classes, or numbers.

``CLASSES_OR_NUMBERS`` states the rule. It is printed together with the option that overrides it,
since whole numbers of few different values are classes more often than amounts, but not always.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from attributions.command.question import Question
from attributions.command.rules.columns import FEW, Column, reason_to_leave_out
from attributions.command.unusable import UnusableTableError, listed, nearest
from attributions.names import elided
from gbt.losses.ranking.pairs import LARGEST_GRADE
from gbt.losses.ranking.queries import Queries
from gbt.tables.names import counted

CLASSES_OR_NUMBERS = (
    f"words, two different values, and whole numbers of which at most {FEW} are different, are"
    " classes, unless they count from 0 on and few rows have the largest; other numbers are"
    " regressed"
)
RARE = 0.05  # the share of rows that have the largest of numbers that count
MOST_CLASSES = 50  # every one has a tree in each of 400 rounds
LARGEST = 1e100  # sums of squares of targets up to this do not overflow


@dataclass(frozen=True, eq=False)
class Target:
    """The target of every row, nan where it is missing, and what kind it is and why.

    If there are more than two ``classes``, y has their numbers and ``classes`` their names.
    ``loss`` is that of the fit; None is the estimators' default. Of times to an event y has two
    columns, the time and whether the event came; of an order the grade and the group.
    """

    y: np.ndarray
    is_classification: bool
    description: str
    classes: tuple[str, ...] = ()
    loss: str | None = None

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a target."""
        return ~np.isnan(self.y.reshape(len(self.y), -1)).any(axis=1)

    @property
    def has_shares(self) -> bool:
        """Whether each half of the rows gets the same share of classes, or of events."""
        return self.is_classification or self.loss == "cox"

    @property
    def shared(self) -> np.ndarray:
        """Classes, events, grades, or numbers."""
        return self.y if self.y.ndim == 1 else self.y[:, int(self.loss == "cox")]


def read_target(column: Column, question: Question) -> Target:
    """Take a target for classes or numbers, as is asked.

    Without a task the rule is ``CLASSES_OR_NUMBERS``. The class ``positive`` becomes 1, by default
    the last of two; more are all told apart.
    """
    task, positive = question.task, question.positive
    name, single = _usable(column), ""
    names: tuple[str, ...] = ()
    is_asked = task is not None or positive is not None
    is_regression = task in ("regression", "counts")
    if not is_regression and positive is None and question.classes is None:
        column, single = _without_single_rows(column, is_asked)
    if is_regression or not (is_asked or _looks_like_classes(column)):
        y, what = _numbers(column, task, name), f"regression of {name}"
        what += " by the Poisson loss" * (task == "counts")
    else:
        y, names, classes = _classes(column, question)
        what = f"classification of {name}, {classes}"
    why = f"because it holds {column.n_distinct:,} different {column.kind}"
    rule = f" (The rule: {CLASSES_OR_NUMBERS}; --task says otherwise.)"
    why, rule = ("as asked for", "") if is_asked else (why, rule)
    said = f"Task: {what}, {why}.{single}{rule}"
    loss = "poisson" if task == "counts" else None
    return Target(y, y is not column.numbers, said, names, loss)


def read_times(column: Column, event: Column, positive: str | None) -> Target:
    """Take a column for times, and another for whether the event came then.

    ``positive`` is the value that says so; None: the last of two.
    """
    name = _usable(column)
    time = _numbers(column, "survival", name)
    if np.nanmin(time) < 0:
        row = int(np.nanargmin(time))
        raise UnusableTableError(
            f"The target {name} holds {time[row]:.15g} in row {row + 1}. It must hold times from"
            " the beginning of observation on, which are not negative; correct it, or empty the"
            " cell to leave the row out."
        )
    values, labels = _values_and_labels(event)
    if positive is None and labels != ["1"] and len(labels) != 2:
        raise UnusableTableError(
            f"--event {event.name} holds {listed(labels)}. It must hold two values, the last of"
            " which says that the event came, such as 0 and 1; or say with --positive which does."
        )
    which = -1 if positive is None else _place(positive, labels, f"--event {event.name}")
    came = np.where(np.isnan(event.numbers), np.nan, event.numbers == values[which])
    y = np.column_stack([time, came])
    y[np.isnan(y).any(axis=1)] = np.nan
    if not np.nansum(y[:, 1]):
        raise UnusableTableError(
            f"No row with a time has the event: {event.name!r} is nowhere {labels[which]!r} there."
            " Nothing can be learned of when events come."
        )
    what = (
        f"Task: the time to an event, {name}; the event had come where {elided(event.name)!r} is"
        f" {elided(labels[which])!r} ({100 * np.nanmean(y[:, 1]):.1f} % of rows), and others are"
        " censored: observed for so long without it."
    )
    return Target(y, False, what, loss="cox")


def read_grades(column: Column, groups: np.ndarray) -> Target:
    """Take a column for grades, larger for better rows; ``groups`` are numbers of groups.

    Rows that are alone in their group are left out.
    """
    name = _usable(column)
    grade = _numbers(column, "ranking", name)
    known = ~np.isnan(grade)
    is_wrong = known & ~((grade >= 0) & (grade <= LARGEST_GRADE) & (grade % 1 == 0))
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise UnusableTableError(
            f"The target {name} holds {grade[row]:.15g} in row {row + 1}. Grades are whole numbers"
            f" from 0 to {LARGEST_GRADE}, larger for better rows; make some of other numbers, such"
            " as 0 to 3 by quarters."
        )
    sizes = np.bincount(groups[known], minlength=int(groups.max(initial=0)) + 1)
    is_alone = known & (sizes[groups] < 2)
    y = np.column_stack([grade, groups])
    y[~known | is_alone] = np.nan
    if not differ(y[known & ~is_alone], "ndcg"):
        raise UnusableTableError(
            f"No two rows of one group have different grades in {name}, and only rows of one group"
            " are put in order. Does --groups name another column?"
        )
    n_alone = int(is_alone.sum())
    alone = f"; without {counted(n_alone, 'row')} alone in a group" * bool(n_alone)
    what = (
        f"Task: the order of the rows of each of {int((sizes > 1).sum()):,} groups by {name},"
        f" larger first{alone}."
    )
    return Target(y, False, what, loss="ndcg")


def differ(y: np.ndarray, loss: str | None) -> bool:
    """Say whether rows differ in their target, without which nothing is learned or judged.

    An event must come before that of another row, and some group have rows of different grades.
    """
    if loss == "cox":
        time, came = y[:, 0], y[:, 1] == 1
        first = time[came].min(initial=np.inf)
        return bool(((time > first) | ((time == first) & ~came)).any())
    if loss == "ndcg":
        return bool(len(y) and Queries.of(y).has_order.any())
    return bool(len(y) and np.ptp(y))


def _usable(column: Column) -> str:
    """Return a target's name for messages; raise UnusableTableError if it cannot be one."""
    name = repr(elided(column.name))
    if column.kind == "dates":
        raise UnusableTableError(
            f"The target {name} holds {reason_to_leave_out(column)}; it must hold classes or"
            " numbers. Choose another column, or add one that holds what you want to know of the"
            " date: the days until then, the year, or whether it was before a certain day."
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
    return name


def _numbers(column: Column, task: str | None, name: str) -> np.ndarray:
    if column.kind == "words":
        raise UnusableTableError(
            f"The target {name} holds words such as {elided(column.example)!r}, and a regression"
            " needs numbers; choose a target of numbers, or leave out the --task or --model that"
            " asks for a regression."
        )
    y = column.numbers
    if np.nanmax(np.abs(y)) > LARGEST or np.nanmax(y) - np.nanmin(y) < 1 / LARGEST:
        raise UnusableTableError(
            f"The target {name} ranges from {np.nanmin(y):.3g} to {np.nanmax(y):.3g}, and its"
            " squares do not fit into floating point; write it in another unit."
        )
    if task == "counts" and np.nanmin(y) < 0:
        raise UnusableTableError(
            f"The target {name} holds {np.nanmin(y):.15g}, and counts are not negative; give"
            " --task regression."
        )
    return y


def _looks_like_classes(column: Column) -> bool:
    known = column.known
    is_few = column.n_distinct <= FEW and bool((known == np.floor(known)).all())
    if column.kind == "words" or column.n_distinct == 2:
        return True
    return is_few and not looks_like_counts(known)


def looks_like_counts(numbers: np.ndarray) -> bool:
    """Say whether whole numbers count something: from 0 on, and the larger the rarer.

    Visits to a doctor are 0, 1, 2, ..., 6, hardly ever the largest. Classes that are numbered from
    0 have no such tail; beyond the most frequent value the counts of amounts fall, but for chance.
    """
    if numbers.min() != 0 or (numbers != np.floor(numbers)).any() or numbers.max() > len(numbers):
        return False
    counts = np.bincount(numbers.astype(np.int64))
    tail = counts[counts.argmax() :]
    chance = 2 * np.sqrt(tail[1:] + tail[:-1])  # two standard errors of a difference of counts
    falls = bool((np.diff(tail) <= chance).all())
    return len(counts) >= 4 and len(tail) >= 3 and falls and counts[-1] <= RARE * counts.sum()


def _without_single_rows(column: Column, is_asked: bool) -> tuple[Column, str]:
    """Leave out classes of a single row, which cannot be in both halves, and say so."""
    values, labels = _values_and_labels(column)
    is_single = np.unique(column.known, return_counts=True)[1] < 2
    n_left = len(values) - int(is_single.sum())
    are_classes = is_asked or _looks_like_classes(column)
    if not is_single.any() or not 2 <= n_left <= MOST_CLASSES or not are_classes:
        return column, ""
    is_gone = np.isin(column.numbers, values[is_single])
    numbers = np.where(is_gone, np.nan, column.numbers)
    gone = [label for label, single in zip(labels, is_single, strict=True) if single]
    are, rows = ("is", "this row is") if len(gone) == 1 else ("are", "these rows are")
    said = f" {listed(gone)} {are} in one row alone, and a class is needed in both halves: {rows}"
    said += " left out."
    return replace(column, numbers=numbers, n_distinct=n_left), said


def _classes(column: Column, question: Question) -> tuple[np.ndarray, tuple[str, ...], str]:
    """Return the class of every row, nan where missing, as 0 and 1, or as number of several.

    Also the names of several classes, and words for them or for the two.
    """
    values, labels = _values_and_labels(column)
    name, classes, positive = repr(elided(column.name)), question.classes, question.positive
    if classes is None and (positive is not None or len(labels) == 2):
        place = 1 if positive is None else _place(positive, labels, f"The target {name}")
        y = np.where(np.isnan(column.numbers), np.nan, column.numbers == values[place])
        others = f"the other {len(labels) - 1} classes"
        others = repr(elided(labels[1 - place])) if len(labels) == 2 else others
        what = f"{elided(labels[place])!r} ({100 * np.nanmean(y):.1f} % of rows) against {others}"
        return y, (), what
    if classes is None and len(labels) > MOST_CLASSES:
        others = ", or, if they are amounts, --task regression" * (column.kind == "numbers")
        raise UnusableTableError(
            f"The target {name} holds {len(labels):,} classes: {listed(labels)}. At most"
            f" {MOST_CLASSES} are told apart; choose --positive LABEL, one class against the"
            f" rest{others}."
        )
    classes = classes or labels
    if unknown := [label for label in labels if label not in classes]:
        raise UnusableTableError(
            f"The target {name} holds {listed(unknown)}, and the model's classes are"
            f" {listed([*classes])}. Give rows of these, by these names."
        )
    number = {value: classes.index(label) for value, label in zip(values, labels, strict=True)}
    y = np.array([number.get(value, np.nan) for value in column.numbers.tolist()], dtype=float)
    counts = np.bincount(y[~np.isnan(y)].astype(np.intp))
    largest, share = elided(classes[int(counts.argmax())]), 100 * counts.max() / counts.sum()
    what = f"{len(classes)} classes, the largest {largest!r} ({share:.1f} % of rows)"
    return y, tuple(classes), what


def _values_and_labels(column: Column) -> tuple[np.ndarray, list[str]]:
    """Return the different values of a column, ascending, and how a file would write them."""
    values = np.unique(column.known)
    if column.words:
        return values, [column.words[int(value)] for value in values]
    return values, [f"{value:.15g}" for value in values]


def _place(label: str, labels: list[str], name: str) -> int:
    """Return which label is meant; 1.0 means the number 1."""
    if label not in labels:
        with suppress(ValueError):
            label = f"{float(label):.15g}"
    if label not in labels:
        hint = nearest(label, labels, f"; it holds {listed(labels)}.")
        raise UnusableTableError(
            f"{name} holds no {label!r}, the class to predict by --positive or --model{hint}"
        )
    return labels.index(label)
