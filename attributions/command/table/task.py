"""A table becomes a task: what is predicted, from which columns, and on which rows it is judged.

What the target holds says which kind of task it is (``attributions.command.rules.target``), and
what a column holds says whether it can be a feature (``attributions.command.rules.columns``). Half
of the rows are to train on and half are held out, at random, so that a file sorted by its target
does no harm; each half gets the same share of every class.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from attributions.command.rules.belonging import labels_of_groups
from attributions.command.rules.columns import Column, column_of, columns_of_date
from attributions.command.rules.dates import PARTS
from attributions.command.rules.identifiers import reason_to_leave_out
from attributions.command.rules.target import Target, differ, read_grades, read_target, read_times
from attributions.command.table.description import (
    how_cells_were_read,
    what_is_left_out,
    what_is_there,
)
from attributions.command.table.file import TableFile
from attributions.command.table.halves import halves_in_time, halves_of_groups, random_halves
from attributions.command.table.text import SEPARATORS
from attributions.command.unusable import UnusableTableError, listed, nearest
from attributions.names import elided

NEEDED = {"cox": "an event before another row's", "ndcg": "rows of one group with different grades"}
SAID_BY = {
    "groups": "which rows belong together",
    "time": "when a row was",
    "event": "whether the event came",
}


@dataclass(frozen=True)
class Question:
    """The options of the command line that are about a table."""

    target: str
    task: str | None = None  # None: the rule of `CLASSES_OR_NUMBERS`
    positive: str | None = None  # the class to predict, or what `event` holds where the event came
    keep: Collection[str] = ()  # columns that are to be features, whatever they look like
    drop: Collection[str] = ()  # columns that are not to be
    seed: int = 0  # of the split into two halves
    classes: Sequence[str] | None = None  # what a given model calls its classes, if more than two
    groups: str | None = None  # the column whose values hold rows together
    time: str | None = None  # the column in whose order the earlier rows are fitted
    by: str | None = None  # the column by whose values the held-out rows are judged apart
    no_groups: bool = False  # none are looked for
    no_dates: bool = False  # dates are not taken apart
    event: str | None = None  # the column that says whether the event had come


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to fit on and rows to judge on, as floats, and the table that they come from.

    Words are codes. Of more than two ``classes`` y has the numbers. There are no rows to train on
    where a model is given; X_valid then is as that model takes it, or empty where rows are read in
    batches, and so are ``columns``.
    """

    description: list[str]  # what is predicted, from what, and what became of the columns
    is_classification: bool
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    feature_names: tuple[str, ...]
    noise: int | None = None  # the feature that is known to be random, in the demonstration
    classes: tuple[str, ...] = ()  # in words, where they are more than two
    unseen: np.ndarray | None = (
        None  # (p,), shares of cells whose level a given model does not know
    )
    path: Path | None = None  # the table's; None for drawn data
    target: Column = field(default_factory=lambda: Column("y", np.empty(0), "numbers", 0))
    columns: Mapping[str, Column] = field(default_factory=dict)  # all of the table
    of_dates: Mapping[str, Column] = field(default_factory=dict)  # features made of dates
    left_out: Mapping[str, str] = field(default_factory=dict)  # what is no feature, and why
    held_out: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # rows
    groups: np.ndarray | None = None  # (n_valid,), a number shared by rows that belong together
    grouped_by: str = ""  # the column that holds rows together, or nothing
    in_time: str = ""  # the column that orders them
    by: str = ""  # the column by whose values they are judged
    loss: str | None = None  # of the fit; None: the estimators' default
    event: str = ""  # the column that says whether the event came

    @property
    def has_pairs(self) -> bool:
        """Whether y has two columns: times and events, or grades and groups."""
        return self.y_valid.ndim == 2

    @property
    def features(self) -> list[Column]:
        """The columns of the features, as far as they are there."""
        known = {**self.columns, **self.of_dates}
        return [known[name] for name in self.feature_names if name in known]


def table_task(
    table: TableFile, question: Question, read: tuple[dict[str, Column], Target] | None = None
) -> Task:
    """Return the task that is asked of a table; ``read`` is the result of `read_columns`."""
    columns, target = read or read_columns(table, question)
    features, reasons = _features(columns, question)
    labelled, train, valid, how = _split(table, columns, target, question)
    y, classes, rare = _without_rare(target, target.y, train, valid)
    if classes or rare:
        train, valid = train[~np.isnan(y[train])], valid[~np.isnan(y[valid])]
    if not all(differ(y[half], target.loss) for half in (train, valid)):
        kept = f", with rows of the same {question.groups} in one half" * bool(question.groups)
        needed = "every class" if target.is_classification else "different values"
        needed = NEEDED.get(target.loss or "", needed)
        raise UnusableTableError(
            f"{table.path} has {len(labelled):,} rows with a target: too few to have {needed} in"
            f" both halves{kept}; it needs more rows."
        )
    n_unlabelled = len(target.y) - len(labelled)
    X_train, X_valid = (
        np.column_stack([column.numbers[half] for column in features]) for half in (train, valid)
    )
    return Task(
        description=[
            *what_is_there(table, target, len(columns)),
            f"Rows: {len(train):,} to train on and {len(valid):,} held out, {how}"
            f"{f'; {n_unlabelled:,} without a target are left out' * (n_unlabelled > 0)}.",
            *rare,
            *how_cells_were_read(table, columns[question.target], features),
            *what_is_left_out(question.drop, question.groups, reasons),
        ],
        is_classification=target.is_classification,
        X_train=X_train,
        y_train=y[train],
        X_valid=X_valid,
        y_valid=y[valid],
        feature_names=tuple(column.name for column in features),
        classes=classes,
        path=table.path,
        target=columns[question.target],
        columns=columns,
        of_dates={c.name: c for c in features if c.name not in columns},
        left_out=left_out(question, reasons),
        held_out=valid,
        groups=groups_of(columns, question, valid),
        grouped_by=question.groups or "",
        in_time=question.time or "",
        by=question.by or "",
        loss=target.loss,
        event=question.event or "",
    )


def left_out(question: Question, reasons: Mapping[str, str]) -> dict[str, str]:
    """Return why columns are no features, for those that the question speaks of and others."""
    asked = dict.fromkeys(question.drop, "as asked for")
    return {**asked, **reasons, question.event or "": f"it says {SAID_BY['event']}"}


def groups_of(
    columns: Mapping[str, Column], question: Question, rows: np.ndarray
) -> np.ndarray | None:
    """Return a number for each row, shared by rows that belong together; None without groups."""
    if question.groups is None:
        return None
    return labels_of_groups(columns[question.groups])[rows]


def _split(
    table: TableFile, columns: Mapping[str, Column], target: Target, question: Question
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Return the rows with a target, those to train on, those held out, and how they were split."""
    labelled = np.flatnonzero(target.is_known)
    y, has_shares = target.shared[labelled], target.has_shares
    if question.time is not None:
        times = columns[question.time].numbers
        if columns[question.time].kind == "words" or columns[question.time].n_distinct < 2:
            raise UnusableTableError(
                f"--time {question.time}: {table.path} has {columns[question.time].n_distinct:,}"
                f" different {columns[question.time].kind} there; it takes a column of dates or"
                " numbers, by which rows can be put in order."
            )
        labelled = labelled[~np.isnan(times[labelled])]
        train, valid = halves_in_time(times[labelled])
        how = f"the earlier and the later ones by {elided(question.time)}"
    elif question.groups is not None:
        groups = labels_of_groups(columns[question.groups])[labelled]
        train, valid = halves_of_groups(groups, y, has_shares, question.seed)
        n_each = [len(np.unique(groups[half])) for half in (train, valid)]
        how = (
            f"{n_each[0]:,} and {n_each[1]:,} whole values of {elided(question.groups)}, at random"
            f" (seed {question.seed})"
        )
    else:
        train, valid = random_halves(y, has_shares, question.seed)
        how = f"at random (seed {question.seed})"
        how += ", with the same share of each class" * target.is_classification
        how += ", with the same share of events" * (target.loss == "cox")
    return labelled, labelled[train], labelled[valid], how


def _without_rare(
    target: Target, y: np.ndarray, train: np.ndarray, valid: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
    """Leave out rows of classes that are in one half only, and renumber the other classes.

    Returns targets (nan: left out), the classes if they are more than two, and lines for the user.
    """
    if not target.classes:
        return y, target.classes, []
    counts = [
        np.bincount(y[half].astype(np.int64), minlength=len(target.classes))
        for half in (train, valid)
    ]
    is_rare = (counts[0] == 0) | (counts[1] == 0)
    if not is_rare.any():
        return y, target.classes, []
    number = np.where(is_rare, np.nan, np.cumsum(~is_rare) - 1.0)
    left = np.full(len(y), np.nan)
    known = ~np.isnan(y)
    left[known] = number[y[known].astype(np.int64)]
    names = tuple(c for c, rare in zip(target.classes, is_rare, strict=True) if not rare)
    n_rows = int((counts[0] + counts[1])[is_rare].sum())
    rare = listed([c for c, is_it in zip(target.classes, is_rare, strict=True) if is_it])
    said = (
        f"Classes that have no rows in one of the halves are left out, {n_rows:,}"
        f" row{'s' * (n_rows > 1)}: {rare}."
    )
    return left, names if len(names) > 2 else (), [said]


def read_columns(
    table: TableFile, question: Question, may_be_codes: bool = True
) -> tuple[dict[str, Column], Target]:
    """Return all columns of a table by name, and what is to be predicted.

    A given model may take 007 for a number, so that what its table holds ``may_be_codes`` no more.
    """
    check_names(table.path, [*table.columns], question)
    columns = {
        name: column_of(name, cells, table.has_decimal_commas, may_be_codes)
        for name, cells in table.columns.items()
    }
    if question.event is not None:
        times = columns[question.target], columns[question.event]
        return columns, read_times(*times, question.positive)
    if question.task == "ranking" and question.groups is not None:
        groups = labels_of_groups(columns[question.groups])
        for option, name in (("--time", question.time), ("--by", question.by)):
            if name is not None:
                _refuse_to_cut_groups(f"{option} {name}", columns[name].numbers, groups)
        return columns, read_grades(columns[question.target], groups)
    return columns, read_target(
        columns[question.target], question.task, question.positive, question.classes
    )


def _refuse_to_cut_groups(asked: str, numbers: np.ndarray, groups: np.ndarray) -> None:
    """Raise UnusableTableError if rows that are put in order together differ in a column."""
    order = np.argsort(groups, kind="stable")
    values, group = np.nan_to_num(numbers[order], nan=np.inf), groups[order]
    differs = (values[1:] != values[:-1]) & (group[1:] == group[:-1])
    if differs.any():
        row = order[1 + int(np.argmax(differs))]
        raise UnusableTableError(
            f"{asked}: row {row + 1} differs from others of its group there, and the rows of a"
            " group are put in order together; name a column that has one value in each group."
        )


def check_names(path: Path, names: Sequence[str], question: Question) -> None:
    """Raise UnusableTableError for an option that names a column which is not there."""
    made = {f"{name}: {part}" for name in names for part in PARTS}  # if it holds dates
    for option in ("target", "keep", "drop", "groups", "time", "by", "event"):
        asked = getattr(question, option)
        for name in [asked] if isinstance(asked, str) else asked or ():
            if name not in names and not (option == "drop" and name in made):
                hint = nearest(name, names, f"; its columns are {listed(names)}.")
                raise UnusableTableError(f"--{option}: {path} has no column {name!r}{hint}")
    if len(names) < 2:
        raise UnusableTableError(
            f"{path} has no column beside the target {question.target!r}; is it separated by"
            f" {', '.join(SEPARATORS.values())}?"
        )
    for name in question.drop:
        if name in (question.target, question.event, *question.keep):
            raise UnusableTableError(
                f"--drop {name!r} leaves out a column that --target, --event or --keep asks"
                " for; choose one."
            )
    for option, what in SAID_BY.items():
        if getattr(question, option) == question.target:
            raise UnusableTableError(
                f"--{option} {question.target!r} is the target; name the column that says {what}."
            )


def _features(
    columns: dict[str, Column], question: Question
) -> tuple[list[Column], dict[str, str]]:
    """Return the columns that are features, and why each of the others is none."""
    others = [c for c in columns.values() if c.name not in (question.target, question.event)]
    reasons = {c.name: reason_to_leave_out(c) for c in others if c.name not in question.keep}
    reasons = {name: why for name, why in reasons.items() if why and name not in question.drop}
    if question.groups is not None and question.groups not in (*question.keep, *question.drop):
        reasons[question.groups] = f"it says {SAID_BY['groups']}"
    features = []
    for column in others:
        if column.name not in reasons:
            features.append(column)
        elif column.kind == "dates" and column.name != question.groups and not question.no_dates:
            made = columns_of_date(column, is_in_order=column.name == question.time)
            features += [own for own in made if own.name not in columns]
            if made:
                parts = ", ".join(own.name.removeprefix(f"{column.name}: ") for own in made)
                reasons[column.name] += f", of which features were made: {parts}"
    features = [column for column in features if column.name not in question.drop]
    if not features:
        reasons |= dict.fromkeys(question.drop, "--drop")
        left_out = "; ".join(f"{elided(name)}: {why}" for name, why in reasons.items())
        raise UnusableTableError(
            f"No column is left to predict {question.target!r} from ({left_out}); --keep NAME takes"
            " one in."
        )
    return features, reasons
