"""A table becomes a task: what is predicted, from which columns, and on which rows it is judged.

``attributions.command.rules`` tell the kind of task by the values of the target, and by those of a
column whether it can be a feature; ``halves`` says which rows are held out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from attributions.command.question import SAID_BY, Question
from attributions.command.rules.belonging import labels_of_groups
from attributions.command.rules.columns import (
    LEFT_OUT,
    PARTS,
    Column,
    column_of,
    columns_of_date,
    reason_to_leave_out,
)
from attributions.command.rules.target import Target, read_grades, read_target, read_times
from attributions.command.table.file import BatchFile, TableFile
from attributions.command.table.halves import halves_of
from attributions.command.table.text import SEPARATORS
from attributions.command.unusable import UnusableTableError, listed, nearest
from attributions.names import elided, first_of

N_COUNTED = 8  # columns of words that are named


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
    question: Question = field(default_factory=lambda: Question(""))  # that it answers
    noise: int | None = None  # the feature that is known to be random, in the demonstration
    classes: tuple[str, ...] = ()  # in words, where they are more than two
    unseen: np.ndarray | None = None  # (p,), shares of cells that a given model does not know
    path: Path | None = None  # the table's; None for drawn data
    target: Column = field(default_factory=lambda: Column("y", np.empty(0), "numbers", 0))
    columns: Mapping[str, Column] = field(default_factory=dict)  # all of the table
    of_dates: Mapping[str, Column] = field(default_factory=dict)  # features made of dates
    left_out: Mapping[str, str] = field(default_factory=dict)  # what is no feature, and why
    held_out: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # rows
    loss: str | None = None  # of the fit; None: the estimators' default
    n_without_time: int = 0  # rows that were left out for that

    @property
    def has_pairs(self) -> bool:
        """Whether y has two columns: times and events, or grades and groups."""
        return self.y_valid.ndim == 2

    @property
    def features(self) -> list[Column]:
        """The columns of the features, as far as they are there."""
        known = {**self.columns, **self.of_dates}
        return [known[name] for name in self.feature_names if name in known]

    @cached_property
    def groups(self) -> np.ndarray | None:
        """A number for each held-out row, shared by rows that belong together; None without."""
        column = self.columns.get(self.question.groups or "")
        return None if column is None else labels_of_groups(column)[self.held_out]


def table_task(
    table: TableFile, question: Question, columns: Mapping[str, Column], target: Target
) -> Task:
    """Return the task that is asked of a table, whose columns `read_columns` has read."""
    features, reasons = _features(columns, question)
    halves = halves_of(table.path, columns, target, question)
    X_train, X_valid = (
        np.column_stack([column.numbers[half] for column in features])
        for half in (halves.train, halves.valid)
    )
    return Task(
        description=[
            *what_is_there(table, target),
            *halves.description,
            *_how_cells_were_read(table, columns[question.target], features),
            *_what_is_left_out(question, reasons),
        ],
        is_classification=target.is_classification,
        X_train=X_train,
        y_train=halves.y[halves.train],
        X_valid=X_valid,
        y_valid=halves.y[halves.valid],
        feature_names=tuple(column.name for column in features),
        question=question,
        classes=halves.classes,
        path=table.path,
        target=columns[question.target],
        columns=columns,
        of_dates={c.name: c for c in features if c.name not in columns},
        left_out=left_out(question, reasons),
        held_out=halves.valid,
        loss=target.loss,
        n_without_time=halves.n_without_time,
    )


def left_out(question: Question, reasons: Mapping[str, str]) -> dict[str, str]:
    """Return why columns are no features, for those that the question speaks of and others."""
    asked = dict.fromkeys(question.drop, "as asked for")
    return {**asked, **reasons, question.event or "": f"it says {SAID_BY['event']}"}


def read_columns(
    table: TableFile, question: Question, may_be_codes: bool = True
) -> tuple[dict[str, Column], Target]:
    """Return all columns of a table by name, and what is to be predicted.

    ``may_be_codes`` is False for a given model, which may take 007 for a number.
    """
    check_names(table.path, [*table.columns], question)
    columns = {
        name: column_of(name, cells, table.has_decimal_commas, may_be_codes, table.decimal)
        for name, cells in table.columns.items()
    }
    target = columns[question.target]
    if question.event is not None:
        return columns, read_times(target, columns[question.event], question.positive)
    if question.task == "ranking" and question.groups is not None:
        groups = labels_of_groups(columns[question.groups])
        for option, name in (("--time", question.time), ("--by", question.by)):
            if name is not None:
                _refuse_to_cut_groups(f"{option} {name}", columns[name].numbers, groups)
        return columns, read_grades(target, groups)
    return columns, read_target(target, question)


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
    columns: Mapping[str, Column], question: Question
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


def what_is_there(table: TableFile | BatchFile, target: Target) -> list[str]:
    """Return lines that say what the file holds, and what is predicted."""
    size = f"{len(target.y):,} rows, {len(table.columns)} columns"
    return [f"{table.path.name}: {size} (read as {table.read_as}).", target.description]


def _how_cells_were_read(
    table: TableFile, target: Column, features: Sequence[Column]
) -> Iterator[str]:
    if "Windows-1252" in table.read_as:
        yield (
            "The file is not UTF-8, so Windows-1252 was assumed: letters beyond ASCII may be wrong."
        )
    if table.comments:
        yield (
            f"Lines before the names of columns that begin with # are comments"
            f" ({len(table.comments)}, such as {elided(table.comments[0])!r})."
        )
    if with_commas := [elided(column.name) for column in features if column.has_decimal_commas]:
        yield f"Decimal commas were read in: {', '.join(with_commas)}."
    if dressed := [c for c in (*features, target) if c.dressed]:
        shown = ", ".join(f"{elided(c.name)} (such as {elided(c.dressed)!r})" for c in dressed)
        yield f"Numbers were read between their signs and marks of thousands in: {shown}."
    for column in features:
        if column.n_strays:
            yield (
                f"{elided(column.name)}: cells that are no finite numbers count as missing"
                f" ({column.n_strays:,}, such as {elided(column.stray)!r})."
            )
    if words := sorted((c for c in features if c.kind == "words"), key=lambda c: -c.n_distinct):
        counts = [f"{elided(column.name)} ({column.n_distinct:,})" for column in words]
        yield (
            f"Words are categories in {len(words)} of {len(features)} features, with so many"
            f" different words: {first_of(counts, N_COUNTED)}."
        )
    if dates := [elided(column.name) for column in features if column.kind == "dates"]:
        yield f"Dates became seconds since 1970: {', '.join(dates)}."


def _what_is_left_out(question: Question, reasons: Mapping[str, str]) -> Iterator[str]:
    groups = question.groups
    if question.drop:
        yield f"Left out, as asked for: {', '.join(map(elided, question.drop))}."
    if groups in reasons:
        yield f"{elided(str(groups))} says which rows belong together, so it is no feature."
    if others := [f"{elided(name)} ({why})" for name, why in reasons.items() if name != groups]:
        yield (
            f"Left out: {'; '.join(others)}. --keep NAME takes a column in. (The rule: {LEFT_OUT}.)"
        )
