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
from attributions.command.table.description import what_became_of, what_is_there
from attributions.command.table.file import TableFile
from attributions.command.table.halves import halves_in_time, halves_of_groups, random_halves
from attributions.command.table.text import SEPARATORS
from attributions.command.unusable import UnusableTableError, listed, nearest
from attributions.names import elided


@dataclass(frozen=True)
class Question:
    """The options of the command line that are about a table.

    Parameters
    ----------
    target : str
        The column to predict.
    task : {"classification", "regression", "counts", "survival", "ranking"} or None
        None for the rule of `CLASSES_OR_NUMBERS`.
    positive : str or None
        The class whose probability is modelled, against all others; or what ``event`` holds where
        the event came.
    groups : str or None
        The column whose values hold rows together.
    time : str or None
        The column in whose order the earlier rows are fitted and the later ones judge.
    looks_for_groups : bool
        Whether rows that belong together are looked for, where no column is named.
    by : str or None
        The column by whose values the held-out rows are judged apart.
    takes_dates_apart : bool
        Whether year, month, weekday and days since the first are made of dates.
    event : str or None
        The column that says whether the event had come at the target's time.
    classes : sequence of str or None
        What a given model calls its classes, where it has more than two.
    keep, drop : collections of str
        Columns that are to be features, or not to be, whatever they look like.
    seed : int
        Of the split into two halves.
    """

    target: str
    task: str | None = None
    positive: str | None = None
    keep: Collection[str] = ()
    drop: Collection[str] = ()
    seed: int = 0
    classes: Sequence[str] | None = None
    groups: str | None = None
    time: str | None = None
    looks_for_groups: bool = True
    by: str | None = None
    takes_dates_apart: bool = True
    event: str | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to fit on and rows to judge on, as floats, and the table that they come from.

    Parameters
    ----------
    description : list of str
        What is predicted, from what, and what became of the table's columns.
    is_classification : bool
    X_train, y_train, X_valid, y_valid
        Words are codes. Of more than two ``classes`` y has the numbers. There are no rows to train
        on where a model is given; X_valid then is as that model takes it, or empty where rows are
        read in batches.
    feature_names : tuple of str
    noise : int or None
        The feature that is known to be random numbers, in the demonstration.
    classes : tuple of str
        In words, where they are more than two.
    unseen : float64 array or None
        For each feature, the share of known cells with a level that a given model has not learned.
    path : Path or None
        The table's; None for drawn data.
    target : Column
        What is predicted, as the table has it.
    columns : dict of str to Column
        All columns of the table; none where rows are read in batches.
    of_dates : dict of str to Column
        Features that were made of columns of dates.
    left_out : dict of str to str
        Columns that became no features, and why.
    held_out : int64 array
        Which rows of the columns are those of X_valid.
    groups : int64 array or None
        A number for every held-out row, shared by rows that belong together.
    grouped_by, in_time, by : str
        The column that holds rows together, the one that orders them, and the one by whose values
        they are judged; or nothing.
    loss : str or None
        Loss of the fit; None is the estimators' default.
    event : str
        The column that says whether the event came.
    """

    description: list[str]
    is_classification: bool
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    feature_names: tuple[str, ...]
    noise: int | None = None
    classes: tuple[str, ...] = ()
    unseen: np.ndarray | None = None
    path: Path | None = None
    target: Column = field(default_factory=lambda: Column("y", np.empty(0), "numbers", 0))
    columns: Mapping[str, Column] = field(default_factory=dict)
    of_dates: Mapping[str, Column] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    held_out: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    groups: np.ndarray | None = None
    grouped_by: str = ""
    in_time: str = ""
    by: str = ""
    loss: str | None = None
    event: str = ""

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
        needed = {
            "cox": "an event before another row's",
            "ndcg": "rows of one group with different grades",
        }.get(target.loss or "", needed)
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
            *what_became_of(
                table, columns[question.target], features, reasons, question.drop, question.groups
            ),
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
        left_out={
            **dict.fromkeys(question.drop, "as asked for"),
            **reasons,
            question.event or "": "it says whether the event came",
        },
        held_out=valid,
        groups=groups_of(columns, question, valid),
        grouped_by=question.groups or "",
        in_time=question.time or "",
        by=question.by or "",
        loss=target.loss,
        event=question.event or "",
    )


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
        return columns, read_grades(columns[question.target], groups)
    return columns, read_target(
        columns[question.target], question.task, question.positive, question.classes
    )


def check_names(path: Path, names: Sequence[str], question: Question) -> None:
    """Raise UnusableTableError for an option that names a column which is not there."""
    made = [f"{name}: {part}" for name in names for part in PARTS]  # if it holds dates
    for option, asked in (
        ("--target", [question.target]),
        ("--keep", question.keep),
        ("--drop", [name for name in question.drop if name not in made]),
        ("--groups", [question.groups] if question.groups is not None else []),
        ("--time", [question.time] if question.time is not None else []),
        ("--by", [question.by] if question.by is not None else []),
        ("--event", [question.event] if question.event is not None else []),
    ):
        for name in asked:
            if name not in names:
                hint = nearest(name, names, f"; its columns are {listed(names)}.")
                raise UnusableTableError(f"{option}: {path} has no column {name!r}{hint}")
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
    for option, column, what in (
        ("--groups", question.groups, "which rows belong together"),
        ("--time", question.time, "when a row was"),
        ("--event", question.event, "whether the event came"),
    ):
        if column == question.target:
            raise UnusableTableError(
                f"{option} {column!r} is the target; name the column that says {what}."
            )


def _features(
    columns: dict[str, Column], question: Question
) -> tuple[list[Column], dict[str, str]]:
    """Return the columns that are features, and why each of the others is none."""
    others = [c for c in columns.values() if c.name not in (question.target, question.event)]
    reasons = {c.name: reason_to_leave_out(c) for c in others if c.name not in question.keep}
    reasons = {name: why for name, why in reasons.items() if why and name not in question.drop}
    if question.groups is not None and question.groups not in (*question.keep, *question.drop):
        reasons[question.groups] = "it says which rows belong together"
    features = []
    for column in others:
        if column.name not in reasons:
            features.append(column)
        elif (
            column.kind == "dates" and column.name != question.groups and question.takes_dates_apart
        ):
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
