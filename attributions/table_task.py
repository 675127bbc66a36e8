"""A table becomes a task: what is predicted, from which columns, and on which rows it is judged.

What the target holds says which kind of task it is (``attributions.table_target``), and what a
column holds says whether it can be a feature (``attributions.table_columns``). Half of the rows are
to train on and half are held out, at random, so that a file sorted by its target does no harm; each
half gets the same share of every class.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from attributions.table_columns import LEFT_OUT, as_column, reason_to_leave_out
from attributions.table_file import (
    SEPARATORS,
    TableFile,
    UnusableTableError,
    elided,
    listed,
    nearest,
)
from attributions.table_target import as_target

N_COUNTED = 8  # columns of words that are named


@dataclass(frozen=True)
class Question:
    """What is asked of a table: the options of the command line that are about it.

    Parameters
    ----------
    target : str
        The column to predict.
    task : {"classification", "regression"} or None
        None for what the target's values say.
    positive : str or None
        The class whose probability is modelled, against all others.
    keep, drop : collections of str
        Columns that are features, or are none, whatever they look like.
    seed : int
        Of the split into two halves.
    """

    target: str
    task: str | None = None
    positive: str | None = None
    keep: Collection[str] = ()
    drop: Collection[str] = ()
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to fit on and rows to judge on; ``relevant`` are the truth where it is known."""

    description: list[str]
    is_classification: bool
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    feature_names: tuple[str, ...]
    relevant: tuple[int, ...] | None = None


def table_task(table: TableFile, question: Question) -> Task:
    """Make of a table what is asked."""
    _check_names(table, question)
    columns = [as_column(*item, table.has_decimal_commas) for item in table.columns.items()]
    others = [column for column in columns if column.name != question.target]
    (answer,) = (column for column in columns if column.name == question.target)
    target = as_target(answer, question.task, question.positive)
    features, reasons = _features(others, question)
    labelled = np.flatnonzero(~np.isnan(target.y))
    X = np.column_stack([column.numbers for column in features])[labelled]
    y = target.y[labelled]
    train, valid = halves(y, target.is_classification, question.seed)
    if not all(len(half) and np.ptp(y[half]) for half in (train, valid)):
        raise UnusableTableError(
            f"{table.path} has {len(y):,} rows with a target: too few to have"
            f" {'every class' if target.is_classification else 'different values'} in both halves;"
            " it needs more rows."
        )
    n_rows, n_columns = len(target.y), len(table.columns)
    n_unlabelled = n_rows - len(y)
    return Task(
        description=[
            f"{table.path.name}: {n_rows:,} rows, {n_columns} columns (read as {table.read_as}).",
            target.description,
            f"Rows: {len(train):,} to train on and {len(valid):,} held out, at random (seed"
            f" {question.seed})"
            + ", with the same share of each class" * target.is_classification
            + f"; {n_unlabelled:,} without a target are left out" * (n_unlabelled > 0)
            + ".",
            *_what_became_of(table, features, reasons, question.drop),
        ],
        is_classification=target.is_classification,
        X_train=X[train],
        y_train=y[train],
        X_valid=X[valid],
        y_valid=y[valid],
        feature_names=tuple(column.name for column in features),
    )


def halves(y: np.ndarray, is_classification: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split rows at random into two halves, each class for itself; return ascending indices."""
    order = np.random.default_rng(seed).permutation(len(y))
    if is_classification:
        order = order[np.argsort(y[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def _check_names(table, question):
    """Raise UnusableTableError for a column that is asked for and not there."""
    names = [*table.columns]
    for option, asked in (
        ("--target", [question.target]),
        ("--keep", question.keep),
        ("--drop", question.drop),
    ):
        for name in asked:
            if name not in table.columns:
                hint = nearest(name, names, f"; its columns are {listed(names)}.")
                raise UnusableTableError(f"{option}: {table.path} has no column {name!r}{hint}")
    if len(names) < 2:
        raise UnusableTableError(
            f"{table.path} has no column beside the target {question.target!r}; is it separated by"
            f" {', '.join(SEPARATORS.values())}?"
        )
    for name in question.drop:
        if name == question.target or name in question.keep:
            raise UnusableTableError(f"--drop {name!r}: the same column is asked for; choose one.")


def _features(columns, question):
    """Return the columns that are features, and why each of the others is none."""
    reasons = {c.name: reason_to_leave_out(c) for c in columns if c.name not in question.keep}
    reasons = {name: why for name, why in reasons.items() if why and name not in question.drop}
    features = [c for c in columns if c.name not in reasons and c.name not in question.drop]
    if not features:
        reasons |= dict.fromkeys(question.drop, "--drop")
        left_out = "; ".join(f"{elided(name)}: {why}" for name, why in reasons.items())
        raise UnusableTableError(
            f"No column is left to predict {question.target!r} from ({left_out}); --keep NAME takes"
            " one in."
        )
    return features, reasons


def _what_became_of(table, features, reasons, dropped):
    """Say how cells became features, and which columns became none."""
    lines = []
    if table.is_latin_1_assumed:
        lines.append(
            "The file is not UTF-8, so Latin-1 was assumed: letters beyond ASCII may be wrong."
        )
    with_commas = [elided(column.name) for column in features if column.has_decimal_commas]
    if with_commas:
        lines.append(f"Decimal commas were read in: {', '.join(with_commas)}.")
    lines += [
        f"{elided(column.name)}: cells that are no finite numbers count as missing"
        f" ({column.n_strays:,}, such as {elided(column.stray)!r})."
        for column in features
        if column.n_strays
    ]
    words = sorted(
        (column for column in features if column.kind == "words"), key=lambda c: -c.n_distinct
    )
    if words:
        counts = [f"{elided(column.name)} ({column.n_distinct:,})" for column in words[:N_COUNTED]]
        more = f", and {len(words) - N_COUNTED} more" * (len(words) > N_COUNTED)
        lines.append(
            f"Words became numbers in alphabetical order in {len(words)} of {len(features)}"
            f" features, with so many different words: {', '.join(counts)}{more}."
        )
    dates = [elided(column.name) for column in features if column.kind == "dates"]
    if dates:
        lines.append(f"Dates became seconds since 1970: {', '.join(dates)}.")
    if dropped:
        lines.append(f"Left out, as asked for: {', '.join(map(elided, dropped))}.")
    if reasons:
        left_out = "; ".join(f"{elided(name)} ({reason})" for name, reason in reasons.items())
        lines.append(
            f"Left out: {left_out}. --keep NAME takes a column in. (The rule: {LEFT_OUT}.)"
        )
    return lines
