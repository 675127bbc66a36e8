"""Timing: runs in turn, medians of ratios of neighbouring runs, and what numbers depend on.

A ratio of neighbouring runs holds when the machine's speed drifts. Seconds of processors are those
of all threads together, and depend less on what else the machine does.

Before each run comes some settling. The threads of OpenMP, which XGBoost and LightGBM use, look for
more work for some milliseconds after their last, and meanwhile take a core from whoever runs next:
three milliseconds of prediction on two threads took five. A pause would do, but let the processor
fall asleep and wake up slowly. So time is spent here, at work, until they have gone.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_name

import gbt
from benchmarks.study.files import RESULTS
from gbt.parallel.threads import available_cores

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


def machine(n_jobs: int | None = None) -> str:
    """Say on what machine and with how many threads something was measured."""
    n_threads = n_jobs or available_cores()
    return f"{platform.machine()}, {get_host_cpu_name()}, {n_threads} threads"


def conditions(*libraries: str, n_jobs: int | None = None) -> str:
    """Say on what machine, with how many threads and with which versions something was measured."""
    programs = [f"Python {platform.python_version()}", f"gbt {gbt.__version__}"]
    programs += [f"{name} {version(name)}" for name in libraries]
    return f"{machine(n_jobs)}, {', '.join(programs)}; load {os.getloadavg()[0]:.1f} at the start"


class Page:
    """A program's options, and lines that it prints and, with ``--write``, leaves in its file.

    An option is named with its default: a number, some of a kind, or False. A program of several
    parts has a file for each.
    """

    def __init__(self, name: str, description: str | None, parts: Iterable = (), **defaults: Any):
        parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
        for option, default in defaults.items():
            how: dict[str, Any] = {"action": "store_true"}
            if isinstance(default, list):
                how = {"nargs": "*", "type": type(default[0]), "default": default}
            elif default is not False:
                how = {"type": type(default), "default": default}
            parser.add_argument(f"--{option.replace('_', '-')}", **how)
        parser.add_argument("--write", action="store_true", help="to benchmarks/results")
        if parts:
            parser.add_argument("part", choices=[*parts])
        self.name, self.asked, self.lines = name, parser.parse_args(), list[str]()
        self.path = RESULTS / (f"{name}_{self.asked.part}.md" if parts else f"{name}.md")

    def add(self, *lines: str) -> None:
        """Print and keep some lines."""
        print(*lines, sep="\n", flush=True)
        self.lines += lines

    def begin(self, text: str, *libraries: str, n_jobs: int | None = None) -> None:
        """Say which command measures what, and where."""
        command = " ".join([f"python -m benchmarks.speed.{self.name}", *sys.argv[1:]])
        self.add(f"`{command}`: {text}; {conditions(*libraries, n_jobs=n_jobs)}.")

    def head(self, *names: str) -> None:
        """Begin a table."""
        self.add("", f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}")

    def row(self, *cells: Any) -> None:
        """Add a line of a table."""
        self.add(f"| {' | '.join(map(str, cells))} |")

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, problem: Any, *_: Any) -> None:
        if problem is None and self.asked.write:
            self.path.write_text("\n".join(self.lines).lstrip() + "\n")
