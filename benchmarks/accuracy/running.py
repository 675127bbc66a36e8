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

SLOW = {"CatBoost, own defaults": 300}  # the most rows that it gets
OF_CELL = ("half", "task", "rows", "repetition")  # columns of the CSV file before the losses
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


def keys_of(rows: list[dict]) -> set[Key]:
    """Return the keys of all losses that the lines of a CSV file have."""
    return {
        (row["task"], row["rows"], row["repetition"], name)
        for row in rows
        for name in list(row)[len(OF_CELL) :]
        if row[name] != ""
    }


def run(
    path: Path,
    cells: list[tuple[Task, int, int]],
    trainers: list[str],
    seconds: float,
    published: list[dict] = (),
) -> bool:
    """Fit what is in neither file until the time is over; return whether all is done."""
    started, own = perf_counter(), set(read(path))
    done = own | keys_of(published)
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
            if (str(task), size, repetition, "constant") not in own:
                left = ["constant", *(name for name in left if name != "constant")]  # the unit
            train, (X, y) = task.split(size, repetition)
            for name in left:
                if perf_counter() - started > seconds:
                    return False
                begun = perf_counter()
                parameters = mine.get(name)
                asked = task.kind, train, X, repetition
                predict = others.predict if parameters is None else ours.predict
                predicted = predict(parameters or name, *asked)
                line = {"key": [str(task), size, repetition, name]}
                line["loss"] = loss_of(task.kind, y, predicted)
                line["seconds"] = round(perf_counter() - begun, 3)
                file.write(json.dumps(line) + "\n")
                file.flush()
            print(f"{number + 1} of {len(cells)}: {task}, {size} rows", file=sys.stderr, flush=True)
    return True


def as_rows(done: dict[Key, dict], published: list[dict] = ()) -> list[dict]:
    """Return a row a task, size and repetition: losses of all trainers over the constant's.

    Rows of the CSV file that has been published come along, without what was fitted again.
    """
    of_half, order = halves(), [*others.names(), *ours.settings()]
    shares = {tuple(row[name] for name in OF_CELL[1:]): dict(row) for row in published}
    cells: dict[tuple, dict[str, float]] = {}
    for (task, size, repetition, name), line in done.items():
        cells.setdefault((task, size, repetition), {})[name] = line["loss"]
    for key, losses in cells.items():
        shares.setdefault(key, {}).update(
            {name: f"{loss / losses['constant']:.4f}" for name, loss in losses.items()}
        )
    return [
        dict(zip(OF_CELL, (of_half[key[0].split(",")[0]], *key), strict=True))
        | {name: of_cell.get(name, "") for name in order}
        for key, of_cell in sorted(shares.items())
    ]
