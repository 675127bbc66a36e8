"""Fits that are not done yet: a line a fit in a file, from which a later call goes on."""

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.metrics import log_loss, mean_squared_error
from threadpoolctl import threadpool_limits

from benchmarks.accuracy import others, ours
from benchmarks.accuracy.tasks import SIZES, Task, all_tasks, halves

SLOW = {"CatBoost, own defaults": 300, "CatBoost, stopped": 3000}  # the most rows that they get
Key = tuple[str, int, int, str]  # task, rows, repetition, trainer


def loss_of(kind: str, y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean squared error, or the mean log loss."""
    if kind == "number":
        return mean_squared_error(y, predicted)
    return log_loss(y, predicted, labels=np.arange(predicted.shape[1]))


def read(path: Path) -> dict[Key, dict]:
    """Return what is done, by its key; a line that was cut off is no line."""
    text = path.read_text() if path.exists() else ""
    lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return {tuple(line["key"]): line for line in lines}


def wanted(half: str | None, largest: int, n_repetitions: int) -> list[tuple[Task, int, int]]:
    """Return tasks, sizes and repetitions, those that tell most for their time first."""
    of_half = halves()
    cells = []
    for task in all_tasks():
        if half in (None, of_half[task.table]):
            n = len(task.rows()[1])
            for size in task.sizes(n):
                step = int(np.searchsorted(SIZES, size))  # which of the sizes this is about
                cells += [(step == len(SIZES) - 1, r, step, task, size)
                          for r in range(n_repetitions) if size <= largest]  # fmt: skip
    return [(task, size, r) for _, r, _, task, size in sorted(cells, key=lambda cell: cell[:3])]


def is_tried(task: Task, size: int, repetition: int) -> bool:
    """Say whether all settings of ours are fitted, not the main ones alone."""
    return halves()[task.table] == "choose" and repetition == 0 and size <= SIZES[1]


def run(
    path: Path, cells: list[tuple[Task, int, int]], trainers: list[str], seconds: float
) -> bool:
    """Fit what is not done until the time is over; return whether all is done."""
    started, done = perf_counter(), read(path)
    mine = ours.settings()
    path.parent.mkdir(parents=True, exist_ok=True)
    # One thread each: where cores are shared, threads that wait for each other take very long.
    with path.open("a") as file, warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for number, (task, size, repetition) in enumerate(cells):
            left = [
                name
                for name in trainers
                if (str(task), size, repetition, name) not in done
                and size <= SLOW.get(name, size)
                and (name not in mine or name in ours.MAIN or is_tried(task, size, repetition))
            ]
            if not left:
                continue
            train, (X, y) = task.split(size, repetition)
            for name in left:
                if perf_counter() - started > seconds:
                    return False
                begun = perf_counter()
                parameters = mine.get(name)
                predicted = (
                    others.predict(name, task.kind, train, X, repetition)
                    if parameters is None
                    else ours.predict(parameters, task.kind, train, X, repetition)
                )
                line = {
                    "key": [str(task), size, repetition, name],
                    "loss": loss_of(task.kind, y, predicted),
                    "seconds": round(perf_counter() - begun, 3),
                }
                file.write(json.dumps(line) + "\n")
                file.flush()
            print(f"{number + 1} of {len(cells)}: {task}, {size} rows", file=sys.stderr, flush=True)
    return True


def as_rows(done: dict[Key, dict]) -> list[dict]:
    """Return a row a task, size and repetition: losses of all trainers over the constant's."""
    of_half, order = halves(), [*others.names(), *ours.settings()]
    cells: dict[tuple, dict[str, float]] = {}
    for (task, size, repetition, name), line in done.items():
        cells.setdefault((task, size, repetition), {})[name] = line["loss"]
    return [
        {"half": of_half[key[0].split(",")[0]], "task": key[0], "rows": key[1]}
        | {"repetition": key[2]}
        | {name: f"{x[name] / x['constant']:.4f}" if name in x else "" for name in order}
        for key, x in sorted(cells.items())
    ]
