"""A saved model is judged on an Arrow or Parquet file that may be larger than memory.

The target is read first, one number a row, because its values decide what kind of task this is and
which scores are printed. Then the model's columns are read in batches: the model knows whether a
column holds numbers or levels, so a batch is converted without a look at the rest of the file. Of
every row the target and the prediction are kept, 16 bytes, because scores such as the AUC need all
rows at once; while they are computed they take several times that.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attributions.command.judging.findings import Findings, findings_in_batches
from attributions.command.model_file import ModelFile
from attributions.command.rules.belonging import labels_of_groups
from attributions.command.rules.columns import column_of
from attributions.command.rules.target import read_target
from attributions.command.table.file import BatchFile
from attributions.command.table.given import Reader, task_without_rows
from attributions.command.table.task import Question, check_names
from attributions.names import elided


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
        readers.append(Reader(model))
        return _batches(file, readers[-1], target.y, groups)

    found = findings_in_batches(model, task, read, given.name, given.doubt)
    reader = readers[0]
    reader.refuse_words()
    strays = [
        f"{elided(name)}: cells that are no finite numbers count as missing ({n:,})."
        for name, n in zip(reader.names, reader.n_strays.tolist(), strict=True)
        if n
    ]
    return replace(
        found,
        task=replace(task, description=[*task.description, *strays], unseen=reader.unseen_shares),
    )


def _batches(
    file: BatchFile, reader: Reader, y: np.ndarray, groups: np.ndarray | None
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Yield the rows of each batch that have a target, their targets and groups."""
    start = 0
    for columns in file.batches(reader.names):
        X = reader.rows(columns)
        rows = start + np.flatnonzero(~np.isnan(y[start : start + len(X)]))
        if len(rows):
            yield X[rows - start], y[rows], None if groups is None else groups[rows]
        start += len(X)
