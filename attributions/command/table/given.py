"""A given model is judged on a table: which columns it takes, and how it reads their cells.

The model's features are the columns of their names. A model that does not know the names of its
columns takes the table's columns in their order, if there are as many. Words are looked up among
the levels that the model has learned, as the table writes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attributions.command.table.columns import Column, texts_of, written_moments
from attributions.command.table.description import what_is_there
from attributions.command.table.file import BatchFile, TableFile
from attributions.command.table.target import Target
from attributions.command.table.task import Question, Task, groups_of, read_columns
from attributions.command.table.unusable import UnusableTableError, listed
from gbt.model.ensemble import Ensemble
from gbt.tables.categories import EncodedRows
from gbt.tables.spelled import plain_number


def task_of_model(table: TableFile, question: Question, model: Ensemble) -> Task:
    """Return the task of judging a given model: all rows of the table that have a target."""
    columns, target = read_columns(table, question, may_be_codes=False)
    task, labelled = task_without_rows(table, question, model, [*columns], target)
    X, unseen = as_model_takes([columns[name] for name in task.feature_names], table.columns, model)
    reasons = dict.fromkeys(columns.keys() - {*task.feature_names, question.target})
    return replace(
        task,
        X_valid=X[labelled],
        unseen=unseen,
        target=columns[question.target],
        columns=columns,
        left_out={
            **dict.fromkeys(question.drop, "as asked for"),
            **{name: "the model does not take it" for name in columns if name in reasons},
        },
        held_out=labelled,
        groups=groups_of(columns, question, labelled),
        grouped_by=question.groups or "",
    )


def task_without_rows(
    table: TableFile | BatchFile,
    question: Question,
    model: Ensemble,
    names: list[str],
    target: Target,
) -> tuple[Task, np.ndarray]:
    """Return the task of judging a given model without X, and which rows have a target."""
    features, are_by_name = _features_of_model(names, question, model.feature_names)
    labelled = np.flatnonzero(~np.isnan(target.y))
    if len(labelled) < 2 or not np.ptp(target.y[labelled]):
        raise UnusableTableError(
            f"{table.path} has {len(labelled):,} rows with a target, all with the same value; a"
            " model can be judged on rows of different targets only."
        )
    description = [
        *what_is_there(table, target, len(names)),
        f"Rows: {len(labelled):,} with a target, all of them to judge the model on.",
    ]
    if not are_by_name:
        description.append(
            "The model does not know the names of its features: columns are in order."
        )
    nothing = np.empty((0, len(features)))
    task = Task(
        description=description,
        is_classification=target.is_classification,
        X_train=nothing,
        y_train=np.empty(0),
        X_valid=nothing,
        y_valid=target.y[labelled],
        feature_names=tuple(features),
        classes=target.classes,
        path=table.path,
    )
    return task, labelled


def _features_of_model(
    columns: Sequence[str], question: Question, names: Sequence[str]
) -> tuple[list[str], bool]:
    """Return the columns that a model takes, in its order, and whether they were found by name."""
    others = [name for name in columns if name != question.target and name not in question.drop]
    by_name = {name.replace(" ", "_"): name for name in others}  # as LightGBM writes it
    by_name |= {name: name for name in others}
    are_by_name = all(name in by_name for name in names)
    if not are_by_name and (len(others) != len(names) or any(name in by_name for name in names)):
        absent = [name for name in names if name not in by_name]
        raise UnusableTableError(
            f"The model has {len(names)} features, and the table has no column for"
            f" {listed(absent)}. Its columns beside the target are {listed(others)}. Rename"
            " columns, or leave out with --drop what the model does not take."
        )
    return [by_name[name] for name in names] if are_by_name else others, are_by_name


def refuse_words(names: Sequence[str]) -> None:
    """Refuse columns of words where a model takes numbers."""
    if names:
        raise UnusableTableError(
            f"The model takes numbers, and these columns hold words: {listed(names)}. Give a table"
            " with the numbers that the model was trained on."
        )


def as_model_takes(
    features: Sequence[Column], cells: Mapping[str, Any], model: Ensemble
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of numbers, and which share of each feature's known cells are unseen levels.

    Levels become the numbers that the model has for them. They are looked up as the table writes
    them, because a column of words that look like numbers has become numbers: 007 is 7.
    """
    levels = model.categories or (None,) * len(features)
    refuse_words(
        [c.name for c, known in zip(features, levels, strict=True) if c.words and known is None]
    )
    X = np.column_stack(
        [
            column.numbers if known is None else LevelPlaces(known).of(cells[column.name])
            for column, known in zip(features, levels, strict=True)
        ]
    )
    is_unseen = np.isinf(X)  # numbers of columns are finite
    shares = is_unseen.sum(axis=0) / np.maximum((~np.isnan(X)).sum(axis=0), 1)
    X[is_unseen] = np.nan if model.unseen_is_missing else np.inf
    return X if model.categories is None else X.view(EncodedRows), shares


class LevelPlaces:
    """Where cells stand among the levels that a model has learned.

    A cell is the level that is written like it: "007" is not "7" to a model that knows both. Where
    there is none, it is the level of the same number, since a table may write 7 as "7.0".

    Parameters
    ----------
    levels : sequence of str, int or bool
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._place = {str(level): float(k) for k, level in enumerate(levels)}

    def of(self, cells: Any) -> np.ndarray:
        """Return the place of every cell: nan where it is missing, inf where the model has none."""
        from pandas.api.types import is_datetime64_any_dtype

        if is_datetime64_any_dtype(cells.dtype):
            cells = written_moments(cells)
        texts, rows = texts_of(cells)
        return np.array([*map(self._find, texts), np.nan], dtype=np.float64)[rows]

    def _find(self, text: str) -> float:
        number = plain_number(text)
        as_level = text if np.isnan(number) else f"{number:.15g}"
        return self._place.get(text, self._place.get(as_level, np.inf))
