"""A saved model is judged on a table in memory, or on a file that may be larger than memory.

The model's features are the columns of their names. A model that does not know the names of its
columns takes the table's columns in their order, if there are as many. Words are looked up among
the levels that the model has learned, as the table writes them.

Of an Arrow or Parquet file the target is read first, one number a row, because its values decide
what kind of task this is and which scores are printed. Then the model's columns are read in
batches: the model knows whether a column holds numbers or levels, so a batch is converted without a
look at the rest of the file. Of every row the target and the prediction are kept, 16 bytes, because
scores such as the AUC need all rows at once; while they are computed they take several times that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attributions.command.judging.findings import Findings, findings_of
from attributions.command.judging.of_table import with_hint, with_time
from attributions.command.judging.over import with_changes
from attributions.command.model_file import ModelFile
from attributions.command.question import Question
from attributions.command.rules.belonging import labels_of_groups
from attributions.command.rules.columns import (
    NEARLY_ALL,
    column_of,
    numbers_of,
    texts_of,
    written_moments,
)
from attributions.command.rules.target import Target, read_target
from attributions.command.table.file import BatchFile, TableFile
from attributions.command.table.task import Task, check_names, left_out, read_columns, what_is_there
from attributions.command.unusable import UnusableTableError, listed
from attributions.names import elided
from gbt.losses.survival.times import bounds_of
from gbt.model.ensemble import Ensemble
from gbt.parallel.chunks import Chunk
from gbt.tables.categories import EncodedRows
from gbt.tables.spelled import plain_number


def judged_in_memory(
    table: TableFile, question: Question, given: ModelFile, announce: Callable[[Task], None]
) -> Findings:
    """Judge a model on a table; ``announce`` prints the task as soon as it is known."""
    from pandas import Series

    columns, target = read_columns(table, question, may_be_codes=False)
    task = task_of_model(table, question, given.ensemble, target)
    reader = Reader(given.ensemble, task.feature_names)
    reader.refuse_words([bool(columns[name].words) for name in reader.names])
    cells = [
        Series(columns[name].numbers) if places is None else table.columns[name]
        for name, places in zip(reader.names, reader.places, strict=True)
    ]
    labelled = np.flatnonzero(target.is_known)
    task = replace(
        task,
        X_valid=reader.rows(cells)[labelled],
        unseen=reader.unseen_shares,
        target=columns[question.target],
        columns=columns,
        left_out=dict.fromkeys(columns, "the model does not take it") | left_out(question, {}),
        held_out=labelled,
    )
    announce(task)
    found = _judged(task, given)
    if found.on_training_rows:
        return found
    return with_changes(with_time(found if question.groups else with_hint(found)))


def judged_in_batches(file: BatchFile, question: Question, given: ModelFile) -> Findings:
    """Judge a model on a file; the task that the findings are about has no rows."""
    check_names(file.path, [*file.columns], question)
    target = read_target(column_of(question.target, file.read(question.target)), question)
    task = task_of_model(file, question, given.ensemble, target)
    groups = None
    if question.groups is not None:
        groups = labels_of_groups(column_of(question.groups, file.read(question.groups)))
    is_known = target.is_known
    readers = []  # the first counts strays; the others, when rows are read again, count the same

    def read() -> Iterator[Chunk]:
        readers.append(Reader(given.ensemble, task.feature_names))
        start = 0
        for columns in file.batches(task.feature_names):
            X = readers[-1].rows(columns)
            rows = start + np.flatnonzero(is_known[start : start + len(X)])
            if len(rows):
                own = None if groups is None else groups[rows]
                yield Chunk(X[rows - start], target.y[rows], groups=own)
            start += len(X)

    found = _judged(task, given, read)
    reader = readers[0]
    reader.refuse_words()
    strays = [
        f"{elided(name)}: cells that are no finite numbers count as missing ({n:,})."
        for name, n in zip(reader.names, reader.n_strays.tolist(), strict=True)
        if n
    ]
    described = [*task.description, *strays]
    return replace(found, task=replace(task, description=described, unseen=reader.unseen_shares))


def _judged(
    task: Task, given: ModelFile, read: Callable[[], Iterator[Chunk]] | None = None
) -> Findings:
    """Judge a model, under the names that the table has for its features."""
    model = replace(given.ensemble, feature_names=task.feature_names)
    found = findings_of(model, task, read)
    return replace(found, model_file=given.name, doubt=given.doubt)


def task_of_model(
    table: TableFile | BatchFile, question: Question, model: Ensemble, target: Target
) -> Task:
    """Return the task of judging a given model on all rows that have a target, without the rows."""
    features, are_by_name = _features_of_model([*table.columns], question, model.feature_names)
    labelled = np.flatnonzero(target.is_known)
    y = target.y[labelled]
    if model.loss.name == "aft" and (y[:, 0] == 0)[y[:, 1] == 1].any():
        raise UnusableTableError(
            f"{question.target} is 0 where {question.event} says that the event came; a model of"
            " times knows no event at time 0. Drop these rows."
        )
    if len(labelled) < 2 or not np.ptp(y):
        raise UnusableTableError(
            f"{table.path} has {len(labelled):,} rows with a target, all with the same value; a"
            " model can be judged on rows of different targets only."
        )
    description = [
        *what_is_there(table, target),
        f"Rows: {len(labelled):,} with a target, all of them to judge the model on.",
    ]
    if not are_by_name:
        description.append(
            "The model does not know the names of its features: columns are in order."
        )
    nothing = np.empty((0, len(features)))
    return Task(
        description=description,
        is_classification=target.is_classification,
        X_train=nothing,
        y_train=np.empty(0),
        X_valid=nothing,
        y_valid=bounds_of(y) if model.loss.name == "aft" else y,
        feature_names=tuple(features),
        question=question,
        classes=target.classes,
        path=table.path,
    )


def _features_of_model(
    columns: Sequence[str], question: Question, names: Sequence[str]
) -> tuple[list[str], bool]:
    """Return the columns that a model takes, in its order, and whether they were found by name."""
    taken = {question.target, question.event, *question.drop}
    taken |= {question.groups} if question.task == "ranking" else set()
    others = [name for name in columns if name not in taken]
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


class Reader:
    """Converts columns for a model, some rows at a time, and counts cells that it does not know.

    Levels are looked up as the table writes them, because a column of words that look like numbers
    has become numbers: 007 is 7.
    """

    def __init__(self, model: Ensemble, names: Sequence[str]) -> None:
        self.names = names
        self.unseen = np.nan if model.unseen_is_missing else np.inf  # in place of unknown levels
        levels = model.categories or (None,) * len(names)
        self.places = [
            None if known is None else {str(level): float(k) for k, level in enumerate(known)}
            for known in levels
        ]
        # Cells that are known, that are no numbers, and that are no levels.
        self.n_known, self.n_strays, self.n_unseen = np.zeros((3, len(self.names)), dtype=np.int64)

    def rows(self, columns: Sequence[Any]) -> np.ndarray:
        """Return columns as rows of floats, in which levels are encoded."""
        X = np.empty((len(columns[0]), len(columns)))
        for k, (cells, places) in enumerate(zip(columns, self.places, strict=True)):
            if places is not None:
                found = _looked_up(cells, places)
                is_unseen = np.isinf(found)
                self.n_unseen[k] += is_unseen.sum()
                self.n_known[k] += (~np.isnan(found)).sum()
                X[:, k] = np.where(is_unseen, self.unseen, found)
            else:
                X[:, k], is_stray = numbers_of(cells)
                self.n_strays[k] += is_stray.sum()
                self.n_known[k] += (is_stray | ~np.isnan(X[:, k])).sum()
        return X if all(places is None for places in self.places) else X.view(EncodedRows)

    def refuse_words(self, are_words: Sequence[bool] | None = None) -> None:
        """Refuse words where a model takes numbers; by default too many cells that are none."""
        if are_words is None:
            are_words = [*(self.n_strays > (1 - NEARLY_ALL) * self.n_known)]
        each = zip(self.names, self.places, are_words, strict=True)
        if names := [name for name, places, is_it in each if places is None and is_it]:
            raise UnusableTableError(
                f"The model takes numbers, and these columns hold words: {listed(names)}. Give a"
                " table with the numbers that the model was trained on."
            )

    @property
    def unseen_shares(self) -> np.ndarray:
        """Which share of the known cells of each column are levels that the model has not seen."""
        return self.n_unseen / np.maximum(self.n_known, 1)


def _looked_up(cells: Any, places: Mapping[str, float]) -> np.ndarray:
    """Return the place of every cell among levels: nan where it is missing, inf if it is none.

    A cell is the level that is written like it: "007" is not "7" to a model that knows both. Where
    there is none, it is the level of the same number, since a table may write 7 as "7.0".
    """
    from pandas.api.types import is_datetime64_any_dtype

    if is_datetime64_any_dtype(cells.dtype):
        cells = written_moments(cells)
    texts, rows = texts_of(cells)
    numbers = [plain_number(text) for text in texts]
    found = [
        places.get(text, places.get(text if np.isnan(number) else f"{number:.15g}", np.inf))
        for text, number in zip(texts, numbers, strict=True)
    ]
    return np.array([*found, np.nan], dtype=np.float64)[rows]
