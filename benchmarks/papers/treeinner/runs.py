"""Replications: what must be run, in parallel, kept as they finish, and read again.

A *piece* of work is one model: one replication of a task at one setting, judged at one or several
numbers of rounds. It is done by one process with one thread. Each finished piece is one line of
``finished.jsonl`` in the results folder, appended by a single write, so an interruption loses only
the pieces under way. ``--resume`` counts the lines that are there; a line cut off by a crash is
dropped. The first line says how everything was made, and other work is refused::

    {"made": {"protocol": "code", "seed": 2022, ..., "gbt": "0.1.0"}}
    {"piece": ["model", "ChIP", "regression", "low", 0.01, 4, 1.0, 1.0, 0], "records": {"400": ...}}

Pieces are ordered by replication, so the time left is easy to tell.
"""

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import joblib
import numba
import numpy as np
import scipy

import attributions
import gbt
from benchmarks.papers.treeinner.methods import Cell, judge_cross_fit, judge_model
from benchmarks.papers.treeinner.protocol import (
    STANDARD,
    TASKS,
    Protocol,
    Setting,
    Sweep,
    Task,
    chip_digest,
)

SECONDS_BETWEEN_LINES = {True: 0.5, False: 30.0}  # on a terminal, in a file
BAR_WIDTH = 30
HOME = Path(__file__).parent


class OtherRunError(ValueError):
    """A results folder that holds something else."""


@dataclass(frozen=True)
class Piece:
    """One model, or one cross-fit.

    Parameters
    ----------
    kind : {"model", "cross-fit"}
    task : Task
    setting : Setting
        Of a model its largest number of rounds.
    rounds : tuple of int
        Numbers of rounds at which a model is judged.
    replication : int
    """

    kind: str
    task: Task
    setting: Setting
    rounds: tuple[int, ...]
    replication: int

    def run(self, protocol: Protocol) -> dict:
        """Do the work; return a line of the file of finished pieces."""
        if self.kind == "model":
            records, seconds = judge_model(
                protocol, self.task, self.setting, self.rounds, self.replication
            )
        else:
            record, seconds = judge_cross_fit(protocol, self.task, self.setting, self.replication)
            records = {self.setting.rounds: record}
        for record in records.values():
            record["scores"] = {"|".join(cell): found for cell, found in record["scores"].items()}
        key = [self.kind, *vars(self.task).values(), *_without_rounds(self.setting)]
        return {"piece": [*key, self.replication], "records": records, "seconds": seconds}


def _without_rounds(setting: Setting) -> list[float]:
    return [setting.eta, setting.depth, setting.min_child_weight, setting.reg_lambda]


Key = tuple[str, Task, Setting, int]  # kind, task, setting with its rounds, replication


def read_line(line: dict) -> Iterator[tuple[Key, dict]]:
    """Yield the key and the record of every setting in a line of finished pieces."""
    kind, data, target, relevant, eta, depth, min_child_weight, reg_lambda, r = line["piece"]
    for rounds, record in line["records"].items():
        setting = Setting(eta, depth, min_child_weight, int(rounds), reg_lambda)
        scores = {Cell(*name.split("|")): found for name, found in record["scores"].items()}
        yield (kind, Task(data, target, relevant), setting, r), {**record, "scores": scores}


def plan(wanted: Iterable[Key], finished: Iterable[Key]) -> list[Piece]:
    """Return the pieces that give what is wanted and not finished, by replication.

    Settings that differ in the number of rounds alone share a model.
    """
    done = set(finished)
    together: dict[tuple, set[int]] = {}
    for key in wanted:
        if key not in done:
            kind, task, setting, r = key
            model = (r, kind, task, replace(setting, rounds=STANDARD.rounds))
            together.setdefault(model, set()).add(setting.rounds)
    pieces = [
        Piece(kind, task, replace(setting, rounds=max(rounds)), tuple(sorted(rounds)), r)
        for (r, kind, task, setting), rounds in together.items()
    ]
    return sorted(pieces, key=lambda piece: piece.replication)


# ------------------------------------------------------------------------------- what is kept


def made_by(protocol: Protocol) -> dict:
    """Name all that results depend on."""
    return {
        "protocol": protocol.variant,
        "seed": protocol.seed,
        "shrink": protocol.shrink,
        "ChIP": chip_digest(protocol.folder) if protocol.folder else None,
        **versions(),
    }


def versions() -> dict[str, str]:
    """Name the programs. ``sources`` is a digest of ours, since a version covers many states."""
    digest = hashlib.sha256()
    folders = (Path(gbt.__file__).parent, Path(attributions.__file__).parent)
    own = [HOME / name for name in ("protocol.py", "methods.py")]
    for path in [*own, *(path for folder in folders for path in sorted(folder.rglob("*.py")))]:
        digest.update(path.read_bytes())
    return {
        "gbt": gbt.__version__,
        "sources": digest.hexdigest()[:12],
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }


class Finished:
    """The file of finished pieces in a results folder.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    made : dict
        What `made_by` says of the run to come.
    resume : bool
        Whether finished pieces of the same making count. Without it there must be none.
    """

    def __init__(self, folder: Path, made: dict, resume: bool):
        self.path = folder / "finished.jsonl"
        self.records: dict[Key, dict] = {}
        self.seconds: dict[str, dict[str, float]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        earlier, n_bytes = _whole_lines(self.path)
        n_pieces = sum("piece" in line for line in earlier)
        if n_pieces and not resume:
            raise OtherRunError(
                f"{self.path} keeps {n_pieces} finished pieces of an earlier run. Add --resume to"
                " go on from them, or give another folder with --out."
            )
        if not resume:
            earlier, n_bytes = [], 0
        for line in earlier:
            if "made" in line:
                _check_same_making(line["made"], made, self.path)
        if self.path.exists():
            os.truncate(self.path, n_bytes)
        for line in earlier:
            if "piece" in line:
                self.records.update(read_line(line))
        if {"made": made} not in earlier:
            self._append({"made": made})

    def add(self, line: dict) -> None:
        """Keep a finished piece."""
        text = self._append(line)
        self.records.update(read_line(json.loads(text)))
        of_data = self.seconds.setdefault(line["piece"][1], {})
        for part, seconds in line["seconds"].items():
            of_data[part] = of_data.get(part, 0.0) + seconds

    def _append(self, line: dict) -> str:
        text = json.dumps(line)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, f"{text}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return text


def _whole_lines(path: Path) -> tuple[list[dict], int]:
    """Return the lines before the first that has no end or cannot be read, and their bytes."""
    lines, n_bytes = [], 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        try:
            read = json.loads(line)
        except ValueError:
            break
        if not line.endswith(b"\n"):
            break
        lines.append(read)
        n_bytes += len(line)
    return lines, n_bytes


def _check_same_making(earlier: dict, now: dict, path: Path) -> None:
    """Refuse to mix results of different making; a run without ChIP data may gain them."""
    different = [
        f"{name} was {earlier.get(name)} and is {value}"
        for name, value in now.items()
        if earlier.get(name) != value
        and not (name == "ChIP" and None in (earlier.get(name), value))
    ]
    if different:
        raise OtherRunError(
            f"{path} was made otherwise and cannot be resumed: {'; '.join(different)}. Give another"
            " folder with --out."
        )


# ----------------------------------------------------------------------------------- running


class Progress:
    """A line on standard error: a bar, pieces done, time spent and time left.

    On a terminal the line is rewritten; in a file there is a new one now and then.
    """

    def __init__(self, n_pieces: int):
        self.n_pieces = n_pieces
        self.done = 0
        self.started = self.shown = time.monotonic()
        self.line = ""
        self.is_terminal = sys.stderr.isatty()
        self.pause = SECONDS_BETWEEN_LINES[self.is_terminal]

    def step(self) -> None:
        """Count a piece and, if the last line is old enough, write another."""
        self.done += 1
        now = time.monotonic()
        if now - self.shown < self.pause and self.done < self.n_pieces:
            return
        self.shown = now
        spent = now - self.started
        left = spent / self.done * (self.n_pieces - self.done)
        bar = "#" * (BAR_WIDTH * self.done // self.n_pieces)
        line = (
            f"[{bar:.<{BAR_WIDTH}}] {self.done}/{self.n_pieces} models,"
            f" {duration(spent)} spent, {duration(left)} left"
        )
        is_last = self.done == self.n_pieces
        start, end = ("\r", "\n" if is_last else "") if self.is_terminal else ("", "\n")
        sys.stderr.write(f"{start}{line:<{len(self.line)}}{end}")
        sys.stderr.flush()
        self.line = line


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s"


def run(pieces: list[Piece], protocol: Protocol, finished: Finished, jobs: int) -> None:
    """Run the pieces in so many processes, and keep each as it ends."""
    progress = Progress(len(pieces))
    for line in _results(pieces, protocol, jobs):
        finished.add(line)
        progress.step()


def _results(pieces, protocol, jobs) -> Iterator[dict]:
    """Yield the lines of finished pieces, in the order in which they finish."""
    if jobs == 1:
        yield from (piece.run(protocol) for piece in pieces)
        return
    work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    yield from work(joblib.delayed(Piece.run)(piece, protocol) for piece in pieces)


def compile_kernels(protocol: Protocol) -> None:
    """Run everything once on a little data, so that workers find compiled kernels on disk."""
    little = replace(protocol, shrink=STANDARD.rounds)
    for kind in ("classification", "regression"):
        judge_model(little, Task("Simulated", kind), STANDARD, (STANDARD.rounds,), 0)


# ----------------------------------------------------------------------------------- results


class Results:
    """Numbers by task, setting and score; arrays over replications in their order."""

    def __init__(self, records: dict[Key, dict]):
        self.records: dict[tuple[str, Task, Setting], dict[int, dict]] = {}
        for (kind, task, setting, r), record in sorted(
            records.items(), key=lambda item: item[0][-1]
        ):
            self.records.setdefault((kind, task, setting), {})[r] = record

    def tasks(self, among: Iterable[Task], setting: Setting = STANDARD) -> list[Task]:
        """Return the tasks that were run at a setting."""
        return [task for task in among if ("model", task, setting) in self.records]

    def tasks_of(self, sweep: Sweep, among: Iterable[Task] = TASKS) -> list[Task]:
        """Return the tasks that were run at every setting of a sweep."""
        return [task for task in among if all(self.tasks([task], s) for s in sweep.settings)]

    def replications(
        self, task: Task, setting: Setting = STANDARD, kind="model"
    ) -> dict[int, dict]:
        """Return records by replication."""
        return self.records.get((kind, task, setting), {})

    def scores(
        self, task: Task, cell: Cell, quantity: str = "auc", setting: Setting = STANDARD
    ) -> np.ndarray:
        """Return AUC, or mean normalised score of noisy or relevant features, by replication."""
        kind = "cross-fit" if cell.rows == "cross-fitted" else "model"
        position = ("auc", "noisy", "relevant").index(quantity)
        records = self.replications(task, setting, kind)
        return np.array([record["scores"][cell][position] for record in records.values()])

    def of_models(self, task: Task, quantity: str, setting: Setting = STANDARD) -> np.ndarray:
        """Return ``risk`` or ``identity_error`` by replication."""
        return np.array([r[quantity] for r in self.replications(task, setting).values()])


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean over replications and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
