"""Timing: runs in turn, medians of ratios of neighbouring runs, and what numbers depend on.

A ratio of neighbouring runs holds when the machine's speed drifts. Seconds of processors are those
of all threads together, and depend less on what else the machine does.

Before each run comes some settling. The threads of OpenMP, which XGBoost and LightGBM use, look for
more work for some milliseconds after their last, and meanwhile take a core from whoever runs next:
three milliseconds of prediction on two threads took five. A pause would do, but let the processor
fall asleep and wake up slowly. So time is spent here, at work, until they have gone.
"""

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_name

import gbt
from benchmarks.study.files import RESULTS
from gbt.parallel.cores import available_cores

SETTLING = 0.02  # s


def settle() -> None:
    """Keep one core busy until threads that wait in vain have given up."""
    end = time.perf_counter() + SETTLING
    while time.perf_counter() < end:
        pass


class Seconds(NamedTuple):
    """Of one run, or the medians of several."""

    clock: float
    processors: float


def timed(run: Callable) -> Seconds:
    """Time one run."""
    settle()
    started, busy = time.perf_counter(), time.process_time()
    run()
    return Seconds(time.perf_counter() - started, time.process_time() - busy)


def in_turn(runs: dict[str, Callable], repeats: int) -> dict[str, np.ndarray]:
    """Time all runs one after the other, several times; return each one's, (repeats, 2)."""
    found: dict[str, list[Seconds]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            found[name].append(timed(run))
    return {name: np.array(seconds) for name, seconds in found.items()}


def median(runs: np.ndarray) -> Seconds:
    """Return the medians of runs, or of the ratios of neighbouring ones."""
    return Seconds(*np.median(runs, axis=0).tolist())


def conditions(*libraries: str, n_jobs: int | None = None) -> str:
    """Say on what machine, with how many threads and with which versions something was measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return (
        f"{platform.machine()}, {get_host_cpu_name()}, {n_jobs or available_cores()} threads,"
        f" Python {platform.python_version()}, gbt {gbt.__version__}{versions and ', '}{versions};"
        f" load {os.getloadavg()[0]:.1f} at the start"
    )


class Page:
    """Lines that are printed as they come and, if asked for, written to a file at the end."""

    def __init__(self, name: str):
        self.path, self.lines = RESULTS / f"{name}.md", list[str]()

    def add(self, *lines: str) -> None:
        """Print and keep some lines."""
        print(*lines, sep="\n", flush=True)
        self.lines += lines

    def head(self, *names: str) -> None:
        """Begin a table."""
        self.add("", f"| {' | '.join(names)} |", "|" + "---|" * len(names))

    def write(self) -> None:
        """Write the file."""
        self.path.write_text("\n".join(self.lines) + "\n")
