"""A saved model is judged on an Arrow or Parquet file that may be larger than memory.

The target is read first, one number a row, because what it holds decides what kind of task this is
and which scores are printed. Then the model's columns are read in batches, whose importances are
merged. Of every row the target and the prediction are kept, 16 bytes, because scores such as the
AUC need all rows at once; while they are computed they take several times that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from attributions.command.findings import Findings, findings_in_batches
from attributions.command.table.batches import BatchFile, Reader
from attributions.command.table.columns import NEARLY_ALL
from attributions.command.table.target import read_target
from attributions.command.table.task import (
    Question,
    Task,
    check_names,
    features_of_model,
    refuse_words,
    rows_of_model,
    rows_to_judge_on,
)
from attributions.names import elided
from gbt.model.ensemble import Ensemble
from gbt.tables.categories import EncodedRows


def judge_file(file: BatchFile, question: Question, model: Ensemble) -> tuple[Task, Findings]:
    """Return what was asked, without its rows, and what came of it."""
    names = [*file.names]
    check_names(file.path, names, question)
    target = read_target(
        file.read(question.target), question.task, question.positive, question.classes
    )
    labelled = rows_to_judge_on(file.path, target.y)
    features, are_by_name = features_of_model(names, question, model.feature_names)
    nothing = np.empty((0, len(features)))
    task = Task(
        description=[
            f"{file.path.name}: {len(target.y):,} rows, {len(names)} columns (read as {file.kind},"
            " in batches).",
            target.description,
            *rows_of_model(len(labelled), are_by_name),
        ],
        is_classification=target.is_classification,
        classes=target.classes,
        X_train=nothing,
        y_train=np.empty(0),
        X_valid=nothing,
        y_valid=target.y[labelled],
        feature_names=tuple(features),
    )
    levels = model.categories or (None,) * len(features)
    model = replace(model, feature_names=tuple(features))
    readers = []  # the first counts strays; another, if rows are read again, counts the same

    def read() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        readers.append(Reader(features, levels, np.nan if model.unseen_is_missing else np.inf))
        return _batches(file, readers[-1], features, target.y, model)

    findings = findings_in_batches(model, task, read)
    reader = readers[0]
    _refuse_strays(reader)
    task = replace(
        task,
        description=[*task.description, *_strays(reader)],
        unseen=reader.n_unseen / np.maximum(reader.n_known, 1),
    )
    return task, findings


def _batches(
    file: BatchFile, reader: Reader, features: Sequence[str], y: np.ndarray, model: Ensemble
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows of each batch that have a target, and their targets."""
    start = 0
    for columns in file.batches(features):
        X = reader.rows(columns)
        of_batch = y[start : start + len(X)]
        start += len(X)
        has_target = ~np.isnan(of_batch)
        if has_target.any():
            X = X[has_target]
            yield X if model.categories is None else X.view(EncodedRows), of_batch[has_target]


def _refuse_strays(reader: Reader) -> None:
    """Refuse columns that are no numbers, by the rule of ``attributions.command.table.columns``."""
    are_words = reader.n_strays > (1 - NEARLY_ALL) * reader.n_known
    refuse_words([reader.names[k] for k in np.flatnonzero(are_words).tolist()])


def _strays(reader: Reader) -> list[str]:
    """Say which cells count as missing."""
    return [
        f"{elided(name)}: cells that are no finite numbers count as missing ({n:,})."
        for name, n in zip(reader.names, reader.n_strays.tolist(), strict=True)
        if n
    ]
