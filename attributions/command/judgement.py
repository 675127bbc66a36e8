"""What is said of a judged model, on the page and in the terminal alike.

Both read the same verdicts and give the same warnings, because both are drawn from this record.
"""

from dataclasses import dataclass

import numpy as np

from attributions.command.findings import Findings
from attributions.command.table.columns import Column
from attributions.command.table.task import Task
from attributions.command.verdicts import RARELY, Verdicts, verdicts
from gbt.model.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class Judgement:
    """A model's findings with their verdicts, and what warnings need beside them.

    Parameters
    ----------
    model, task, findings, verdicts
    columns : list of Column
        Of the features; none where the rows were read in batches and are gone.
    n_seen : int
        Held-out rows that equal rows of training, beyond chance.
    model_file : str
        The file of a given model, or nothing.
    doubt : str
        What is doubtful about the sums of a given model's nodes, or nothing.
    """

    model: Ensemble
    task: Task
    findings: Findings
    verdicts: Verdicts
    columns: list[Column]
    n_seen: int
    model_file: str
    doubt: str

    @property
    def doubtful(self) -> np.ndarray:
        """Features whose intervals are not to be relied on, but for those that are rarely used."""
        is_reliable = self.findings.inner.is_reliable
        if is_reliable is None:
            return np.zeros(len(self.findings.inner), dtype=bool)
        return ~is_reliable & (np.array(self.verdicts.words) != RARELY)


def judge(
    model: Ensemble, task: Task, findings: Findings, model_file: str = "", doubt: str = ""
) -> Judgement:
    """Draw verdicts from findings, and look at the rows and columns that they are about."""
    X, has_rows = task.X_valid, len(task.X_valid) > 0
    known = model.seen_rows if has_rows else None
    return Judgement(
        model=model,
        task=task,
        findings=findings,
        verdicts=verdicts(findings.inner, findings.gain),
        columns=columns_of(task) if has_rows else [],
        n_seen=0 if known is None else known.count(model.as_input(X), task.y_valid),
        model_file=model_file,
        doubt=doubt,
    )


def columns_of(task: Task) -> list[Column]:
    """Return the columns of a task's features; those of drawn data are made up of its rows."""
    if task.source is not None:
        return [task.source.columns[name] for name in task.feature_names]
    numbers = np.concatenate([task.X_train, task.X_valid])
    return [
        Column(name, numbers[:, k], "numbers", len(np.unique(numbers[:, k])))
        for k, name in enumerate(task.feature_names)
    ]
