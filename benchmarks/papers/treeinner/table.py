"""Table 4 beside the paper's numbers and those of the re-run, with z for every cell.

Neither's random streams are known, so two means are compared as two samples:

    z = (ours - theirs) / sqrt(s_1^2 / n_1 + s_2^2 / n_2)

The re-run kept no standard deviation; ours stands in for it. The cells of a task share data sets
and models and move together, so fourteen z of one size are little more than one.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from benchmarks.papers.treeinner.methods import CELLS, MODEL, Cell
from benchmarks.papers.treeinner.paper import N_PAPER, N_RE_RUN, PUBLISHED, RISK, Published
from benchmarks.papers.treeinner.protocol import TASKS, Task
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.tables import markdown

LARGEST_Z = 3.5  # of a cell
LARGEST_MEAN_Z = 1.5  # of a task: mean |z|


class Compared(NamedTuple):
    """One cell: our mean and standard deviation, theirs, and z of both comparisons."""

    task: Task
    cell: Cell
    mean: float
    deviation: float
    n: int
    published: Published
    z_paper: float
    z_re_run: float  # with our standard deviation for both


def z(mean_1, deviation_1, n_1, mean_2, deviation_2, n_2) -> float:
    """Return the difference of two means in standard errors of that difference."""
    difference = mean_1 - mean_2
    error = math.sqrt(deviation_1**2 / n_1 + deviation_2**2 / n_2)
    if error == 0:  # a few replications may agree exactly
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / error


def compare(results: Results) -> list[Compared]:
    """Compare every cell of every task that was run, the risk included."""
    compared = []
    for task in results.tasks(TASKS):
        for cell in (*CELLS, RISK):
            is_risk = cell == RISK
            values = results.of(task, MODEL, "risk") if is_risk else results.of(task, cell)
            ours = float(values.mean()), float(values.std(ddof=1)), len(values)
            theirs = PUBLISHED[task, cell]
            z_paper = z(*ours, theirs.mean, theirs.deviation, N_PAPER)
            z_re_run = z(*ours, theirs.re_run, ours[1], N_RE_RUN[task.data])
            compared.append(Compared(task, cell, *ours, theirs, z_paper, z_re_run))
    return compared


class Agreement(NamedTuple):
    """How near the cells of one task are to one of the two columns, the risk left out."""

    task: Task
    column: str
    largest: float
    mean: float
    missed: tuple[Cell, ...]

    @property
    def holds(self) -> bool:
        """Whether every cell and their mean are near enough."""
        return not self.missed and self.mean <= LARGEST_MEAN_Z


def agreements(compared: Iterable[Compared]) -> list[Agreement]:
    """Judge every task against the paper and against the re-run."""
    found = []
    cells = [c for c in compared if c.cell != RISK]
    for task in dict.fromkeys(c.task for c in cells):
        of_task = [c for c in cells if c.task == task]
        for column, name in (("paper", "z_paper"), ("re-run", "z_re_run")):
            size = np.abs([getattr(c, name) for c in of_task])
            missed = tuple(c.cell for c, s in zip(of_task, size, strict=True) if s > LARGEST_Z)
            found.append(Agreement(task, column, float(size.max()), float(size.mean()), missed))
    return found


# ------------------------------------------------------------------------------------- Markdown


def number(value: float) -> str:
    """Write a mean: four digits below 1 without the leading zero, as in the paper."""
    return f"{value:.4f}".lstrip("0") if abs(value) < 1 else f"{value:.4f}"


def table_of_task(compared: list[Compared]) -> str:
    """Return the lines of one task with everything known of them."""
    header = ["score", "rows", "attribution", "ours (s.d.)", "paper (s.d.)", "z", "re-run", "z"]
    rows = []
    for c in compared:
        ours, theirs = (f"{number(o.mean)} ({number(o.deviation)})" for o in (c, c.published))
        re_run = number(c.published.re_run)
        rows.append([*c.cell, ours, theirs, f"{c.z_paper:+.1f}", re_run, f"{c.z_re_run:+.1f}"])
    return markdown(header, rows, 3)


def full_table(compared: list[Compared]) -> str:
    """Return one table a task."""
    parts = []
    for task in dict.fromkeys(c.task for c in compared):
        of_task = [c for c in compared if c.task == task]
        said = f"**{task.name}**, {of_task[0].n} replications; risk: {task.metric}"
        parts.append(f"{said}\n\n{table_of_task(of_task)}")
    return "\n\n".join(parts)


def agreement_table(compared: list[Compared]) -> str:
    """Return the verdict a task and column."""
    rows = []
    for a in agreements(compared):
        holds, missed = "true" if a.holds else "false", ", ".join(map(str, a.missed)) or "none"
        rows.append([a.task.name, a.column, f"{a.largest:.2f}", f"{a.mean:.2f}", holds, missed])
    largest, mean = f"largest abs z (<= {LARGEST_Z})", f"mean abs z (<= {LARGEST_MEAN_Z})"
    return markdown(["task", "against", largest, mean, "agrees", "cells that miss"], rows, 2)
