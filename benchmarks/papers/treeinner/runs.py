"""The parts of the study, and their numbers by task, setting and score.

A cell is a task at a setting. Settings of a sweep that differ in the number of rounds alone share a
model, which is judged at all of them; the standard setting is run once, as Table 4. ChIP tasks are
parts of their own, which are skipped where the folder of data does not have them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import itemgetter

import numpy as np

from benchmarks.papers.treeinner import protocol
from benchmarks.papers.treeinner.methods import MODEL, Cell, judge_model
from benchmarks.papers.treeinner.protocol import STANDARD, TASKS, Protocol, Setting, Sweep, Task
from benchmarks.study import NumberedPart, column

TASK_FIELDS = ("data", "task", "relevant_of")
N_REPLICATIONS = 20
ROUNDS = tuple(int(value) for value in protocol.SWEEPS["rounds"].values if value != STANDARD.rounds)


def cell_of(task: Task, setting: Setting) -> dict:
    """Return a cell: a task at a setting."""
    return dict(zip(TASK_FIELDS, vars(task).values(), strict=True)) | vars(setting)


def task_and_setting(row: dict) -> tuple[Task, Setting]:
    """Return what `cell_of` was given."""
    setting = Setting(**{name: row[name] for name in vars(STANDARD)})
    return Task(*(row[name] for name in TASK_FIELDS)), setting


def models(cell, replication: int, size: str) -> Iterator[dict]:
    """Fit one model, and judge it at its numbers of rounds, which replace that of the cell."""
    task, setting = task_and_setting(cell)
    rounds = ROUNDS if setting.rounds == max(ROUNDS) else (setting.rounds,)
    drawn_by = Protocol(1 if size == "full" else protocol.QUICK_SHRINKS)
    return judge_model(drawn_by, task, setting, rounds, replication)


def parts(table) -> tuple[NumberedPart, ...]:
    """Return the parts; ``table`` takes the rows of one."""
    asked = {"table4": (TASKS, [STANDARD]), "control": (protocol.CONTROL, [STANDARD])}
    for name, sweep in protocol.SWEEPS.items():
        asked[name] = TASKS, [s for s in sweep.settings if s != STANDARD]
    asked["rounds"] = TASKS, [replace(STANDARD, rounds=max(ROUNDS))]
    found = []
    for name, (tasks, settings) in asked.items():
        for data, needs in (("Simulated", ()), ("ChIP", protocol.CHIP_PARTS)):
            cells = tuple(cell_of(t, s) for t in tasks for s in settings if t.data == data)
            part = f"{name}-chip" if needs else name
            found.append(NumberedPart(part, cells, models, N_REPLICATIONS, table, needs))
    return tuple(part for part in found if part.cells)


class Results:
    """Rows by task, setting and score, in the order of replications."""

    def __init__(self, rows: Iterable[dict]):
        self.rows: dict[tuple[Task, Setting, Cell], list[dict]] = {}
        for row in sorted(rows, key=itemgetter("replication")):
            cell = Cell(*(row[name] for name in Cell._fields))
            self.rows.setdefault((*task_and_setting(row), cell), []).append(row)

    def tasks(self, among: Iterable[Task], setting: Setting = STANDARD) -> list[Task]:
        """Return the tasks of which models were judged at a setting."""
        return [task for task in among if (task, setting, MODEL) in self.rows]

    def tasks_of(self, sweep: Sweep) -> list[Task]:
        """Return the tasks that were run at every setting of a sweep."""
        return [task for task in TASKS if all(self.tasks([task], s) for s in sweep.settings)]

    def of(
        self, task: Task, cell: Cell, quantity: str = "auc", setting: Setting = STANDARD
    ) -> np.ndarray:
        """Return what one score is worth in a quantity, by replication."""
        return column(self.rows.get((task, setting, cell), ()), quantity)
