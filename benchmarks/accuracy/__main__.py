"""How well trainers predict on real tables: ours at many settings, four libraries, a linear model.

    python -m benchmarks.accuracy --data FOLDER --write

Every fit is a cell of its own, so that a run may be cut off, and one with ``--more`` fits what the
CSV file does not have yet. Defaults are chosen on one half of the tables. All settings of ours are
fitted there, once and to few rows; the main ones everywhere.
"""

import sys
import time
import warnings
from functools import lru_cache

import numpy as np
from sklearn.metrics import log_loss, mean_squared_error
from threadpoolctl import threadpool_limits

from benchmarks.accuracy import many, others, ours, report
from benchmarks.accuracy.tasks import MOST, SIZES, Task, all_tasks, halves
from benchmarks.study import NumberedPart, crossed
from benchmarks.study.command import Study, main

SLOW = {"CatBoost, own defaults": 300}  # the most rows that it gets
TASKS = {str(task): task for task in all_tasks()}


def loss_of(kind: str, y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean squared error, or the mean log loss."""
    if kind == "number":
        return mean_squared_error(y, predicted)
    return log_loss(y, predicted, labels=np.arange(predicted.shape[1]))


def is_asked(task: Task, trainer: str, n_rows: int, repetition: int) -> bool:
    """Say whether a trainer is fitted to so many rows of a task."""
    is_tried = halves()[task.table] == "choose" and repetition == 0 and n_rows <= SIZES[1]
    is_ours = trainer in ours.settings() and trainer not in ours.MAIN
    return n_rows <= SLOW.get(trainer, n_rows) and (is_tried or not is_ours)


@lru_cache(maxsize=2)
def drawn(task: Task, n_rows: int, repetition: int):
    """Return rows to train on, rows to test on, and the loss of the constant."""
    train, (X, y) = task.split(n_rows, repetition)
    constant = others.predict("constant", task.kind, train, X, repetition)
    return train, X, y, loss_of(task.kind, y, constant)


def fit(cell, repetition: int, size: str):
    """Yield the loss of one trainer on new rows, divided by that of the constant."""
    task, trainer = TASKS[cell["task"]], cell["trainer"]
    n_rows = task.rows_of(cell["size"]) if size == "full" else 60
    if n_rows and is_asked(task, trainer, n_rows, repetition):
        loss, _ = loss_and_seconds(task, trainer, n_rows, repetition)
        yield {"rows": n_rows, "loss": f"{loss:.4f}"}


def fit_to_many(cell, repetition: int, size: str):
    """Yield the same with the seconds that the fit takes, and the predictions."""
    task, n_rows = many.TASKS[cell["task"]], cell["rows"] if size == "full" else 60
    if many.is_asked(task, n_rows):
        loss_and_seconds(task, cell["trainer"], 60, repetition)  # so that all code is loaded
        loss, seconds = loss_and_seconds(task, cell["trainer"], n_rows, repetition)
        yield {"loss": round(loss, 4), "seconds": round(seconds, 3)}


def loss_and_seconds(task: Task, trainer: str, n_rows: int, repetition: int):
    """Return the loss of one trainer, divided by that of the constant, and its processor time."""
    train, X, y, of_constant = drawn(task, n_rows, repetition)
    asked = task.kind, train, X, repetition
    # One thread each: where cores are shared, threads that wait for each other take very long.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        start = time.process_time()
        if ours.is_ours(trainer):
            predicted = ours.predict(ours.parameters_of(trainer), *asked)
        else:
            predicted = others.predict(trainer, *asked)
        seconds = time.process_time() - start
    return loss_of(task.kind, y, predicted) / of_constant, seconds


CELLS = crossed(task=TASKS, size=(*SIZES, MOST), trainer=(*others.names(), *ours.settings()))
PARTS = (
    NumberedPart("losses", CELLS, fit, 3, None, tuple(report.NEEDED)),
    NumberedPart(
        "many", many.CELLS, fit_to_many, 1, many.means, tuple(t.table for t in many.ON_DISK),
        is_timed=True,
    ),
)  # fmt: skip


def beside(tables: dict[str, list[dict]]) -> dict[str, str]:
    """Return the tables of the page but for the means with many rows."""
    found = report.sections(tables["losses"]) if "losses" in tables else {}
    return found | ({"tasks": many.by_task(tables["many"])} if "many" in tables else {})


STUDY = Study(
    "accuracy", __doc__, PARTS, beside,
    draw=lambda tables: report.draw(tables["losses"]), folder="", pages={"words": "categories"},
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
