"""A saved model is judged on an Arrow or Parquet file that may be larger than memory.

The target is read first, one number a row, because its values decide what kind of task this is and
which scores are printed. Then the model's columns are read in batches: the model knows whether a
column holds numbers or levels, so a batch is converted without a look at the rest of the file. Of
every row the target and the prediction are kept, 16 bytes, because scores such as the AUC need all
rows at once; while they are computed they take several times that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attributions.command.findings import Findings, findings_in_batches
from attributions.command.model_file import ModelFile
from attributions.command.table.belonging import labels_of_groups
from attributions.command.table.columns import NEARLY_ALL, column_of, numbers_of
from attributions.command.table.file import BatchFile
from attributions.command.table.given import LevelPlaces, refuse_words, task_without_rows
from attributions.command.table.target import read_target
from attributions.command.table.task import Question, check_names
from attributions.names import elided
from gbt.model.ensemble import Ensemble
from gbt.tables.categories import EncodedRows


def findings_of_file(file: BatchFile, question: Question, given: ModelFile) -> Findings:
    """Judge a model on a file; the task that the findings are about has no rows."""
    names = [*file.names]
    check_names(file.path, names, question)
    column = column_of(question.target, file.read(question.target))
    target = read_target(column, question.task, question.positive, question.classes)
    task, _ = task_without_rows(file, question, given.ensemble, names, target)
    model = replace(given.ensemble, feature_names=task.feature_names)
    groups = None
    if question.groups is not None:
        groups = labels_of_groups(column_of(question.groups, file.read(question.groups)))
    readers = []  # the first counts strays; the others, when rows are read again, count the same

    def read() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        readers.append(Reader.of(model))
        return _batches(file, readers[-1], target.y, groups, model)

    found = findings_in_batches(model, task, read, given.name, given.doubt)
    reader = readers[0]
    are_words = reader.n_strays > (1 - NEARLY_ALL) * reader.n_known  # the rule of columns
    refuse_words([reader.names[k] for k in np.flatnonzero(are_words).tolist()])
    strays = [
        f"{elided(name)}: cells that are no finite numbers count as missing ({n:,})."
        for name, n in zip(reader.names, reader.n_strays.tolist(), strict=True)
        if n
    ]
    unseen = reader.n_unseen / np.maximum(reader.n_known, 1)
    return replace(
        found, task=replace(task, description=[*task.description, *strays], unseen=unseen)
    )


class Reader:
    """Converts columns of batches for a model, and counts cells that the model does not know.

    Parameters
    ----------
    names : sequence of str
    levels : sequence
        Of each column the model's levels, or None where it takes numbers.
    unseen : float
        What stands for a level that the model does not know.
    """

    def __init__(
        self, names: Sequence[str], levels: Sequence[tuple | None], unseen: float = np.nan
    ) -> None:
        self.names, self.unseen = names, unseen
        self.places = [None if known is None else LevelPlaces(known) for known in levels]
        self.n_known = np.zeros(len(names), dtype=np.int64)
        self.n_strays = np.zeros(len(names), dtype=np.int64)  # cells that are no numbers
        self.n_unseen = np.zeros(len(names), dtype=np.int64)  # cells that are no levels

    @classmethod
    def of(cls, model: Ensemble) -> "Reader":
        """Read what a model takes."""
        levels = model.categories or (None,) * model.n_features
        return cls(model.feature_names, levels, np.nan if model.unseen_is_missing else np.inf)

    def rows(self, columns: Sequence[Any]) -> np.ndarray:
        """Return a batch as rows of floats."""
        X = np.empty((len(columns[0]), len(columns)))
        for k, (cells, places) in enumerate(zip(columns, self.places, strict=True)):
            if places is None:
                X[:, k], is_other = numbers_of(cells)
                self.n_strays[k] += is_other.sum()
                self.n_known[k] += (is_other | ~np.isnan(X[:, k])).sum()
            else:
                found = places.of(cells)
                is_other = np.isinf(found)
                self.n_unseen[k] += is_other.sum()
                self.n_known[k] += (~np.isnan(found)).sum()
                X[:, k] = np.where(is_other, self.unseen, found)
        return X


def _batches(
    file: BatchFile, reader: Reader, y: np.ndarray, groups: np.ndarray | None, model: Ensemble
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Yield the rows of each batch that have a target, their targets and groups."""
    start = 0
    for columns in file.batches(reader.names):
        X = reader.rows(columns)
        rows = start + np.flatnonzero(~np.isnan(y[start : start + len(X)]))
        if len(rows):
            X_there = X[rows - start]
            yield (
                X_there if model.categories is None else X_there.view(EncodedRows),
                y[rows],
                None if groups is None else groups[rows],
            )
        start += len(X)
