"""Seconds of fresh processes: importing, and what each first call costs.

Each of four programs is timed whole, imports included, in turn with all the others: with an empty
folder for machine code, with what that process has compiled, and, where it is given, by the
Python of an environment in which a wheel with machine code is installed (``$GBT_WHEEL``), with an
empty folder.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.speed.timing import timed
from benchmarks.study import NumberedPart, chosen, column, crossed
from benchmarks.study.tables import markdown, number

ROOT = Path(__file__).parents[3]
COLD_STARTS = 3  # of processes that compile

IMPORT = (
    "import time; started = time.perf_counter(); import gbt; print(time.perf_counter() - started)"
)
LIBRARIES = "import numpy, numba, scipy.special, sklearn.base, sklearn.model_selection"
FIT = (
    "import numpy as np, attributions, gbt;"
    " X = np.random.default_rng(0).standard_normal((1000, 10), dtype=np.float32);"
    " model = gbt.GBTRegressor(n_estimators=10, random_state=0).fit(X[:500], X[:500, 0])"
)
README = (ROOT / "README.md").read_text().partition("```python\n")[2].partition("```")[0]

PROGRAMS = {  # series: words, arguments of Python
    "example": ("README's example: `held_out_gain` of another library's model", ("-c", README)),
    "fit": ("a default fit", ("-c", FIT)),
    "shap": ("a default fit and `tree_shap`", ("-c", f"{FIT}; attributions.tree_shap(model, X)")),
    "command": ("README's first command", ("-m", "attributions", "--out")),
}
IMPORTS = {"import": "`import gbt`", "libraries": "NumPy, Numba, SciPy, scikit-learn alone"}
STATES = {
    "empty": "nothing compiled yet",
    "wheel": "wheel with machine code",
    "filled": "compiled before",
}
# What we promise of a process, libraries and imports included.
MOST_SECONDS = {"example": 6.0, "fit": 30.0, "shap": 34.0, "command": 32.0}
MOST_SECONDS_OF_WHEEL = 4.0


def run(*arguments: str, python=sys.executable, cwd=ROOT, **environment: str) -> str:
    """Return what a Python process prints."""
    how = {"stdout": subprocess.PIPE, "text": True, "check": True}
    done = subprocess.run([python, *arguments], cwd=cwd, env=os.environ | environment, **how)
    return done.stdout


def experiment(cell, replication: int, size: str):
    """Time fresh processes of a program, which has an empty folder at first if it compiles."""
    program = cell["program"]
    if program in IMPORTS:
        run("-c", LIBRARIES)  # from the disk into memory
        took = float(run("-c", IMPORT)) if program == "import" else timed_libraries()
        yield {"state": "", "seconds": f"{took:.6g}"}
    elif size == "full" and replication < COLD_STARTS:
        with tempfile.TemporaryDirectory() as folder:
            for state, options in _states().items():
                took = timed(lambda: _run(program, state, Path(folder), options))  # noqa: B023
                yield {"state": state, "seconds": f"{took.clock:.6g}"}


def timed_libraries() -> float:
    """Return the seconds of a process that imports what we do."""
    return timed(lambda: run("-c", LIBRARIES)).clock


def _states():
    """Name the states that are timed, in turn, and where each one's program runs."""
    here = {"PYTHONPATH": str(ROOT)}
    states = {"empty": here, "filled": here}
    if wheel := os.environ.get("GBT_WHEEL"):
        states["wheel"] = {"python": wheel}
    return states


def _run(program, state, folder, options):
    """Run a program; ``filled`` finds what ``empty`` compiled."""
    arguments = PROGRAMS[program][1]
    if program == "command":
        arguments = *arguments, f"{folder}/{state}_out"
    code = folder / ("empty" if state == "filled" else state)
    run("-W", "ignore", *arguments, cwd=folder, NUMBA_CACHE_DIR=str(code), **options)


def seconds_of(rows, program: str, state: str) -> np.ndarray:
    """Return the seconds of all processes of a program in a state."""
    return column(chosen(rows, program=program, state=state), "seconds").astype(float)


def table(rows) -> str:
    """Tabulate medians over processes, with their ranges."""

    def cell(program, state):
        found = seconds_of(rows, program, state)
        if not len(found):
            return ""
        return f"{number(np.median(found))} ({number(min(found))} to {number(max(found))})"

    states = [state for state in STATES if chosen(rows, state=state)]
    lines = [
        [words, *(cell(program, state) for state in states)]
        for program, (words, _) in PROGRAMS.items()
    ]
    lines += [
        [words, *("" for _ in states[1:]), cell(program, "")] for program, words in IMPORTS.items()
    ]
    heads = [STATES[state] for state in states] or ["compiled before"]
    found = [line for line in lines if any(line[1:])]
    return markdown(["whole process, seconds: median (range)", *heads], found)


def claims(rows) -> list[tuple[str, bool]]:
    """Say whether first calls keep the promised times."""
    limits = {(program, "empty"): most for program, most in MOST_SECONDS.items()}
    limits |= {(program, "wheel"): MOST_SECONDS_OF_WHEEL for program in MOST_SECONDS}
    limits["import", ""] = 0.1
    said = []
    for (program, state), most in limits.items():
        found = seconds_of(rows, program, state)
        if len(found):
            words = f"{PROGRAMS[program][0]}, {STATES[state]}" if state else IMPORTS[program]
            took = np.median(found)
            said.append((f"{words}: less than {most:g} s: {number(took)}", bool(took < most)))
    return said


PART = NumberedPart(
    "first-call", crossed(program=(*IMPORTS, *PROGRAMS)), experiment, 5, table, is_timed=True
)
