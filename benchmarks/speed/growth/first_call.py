"""Seconds of fresh processes: importing, and what each first call costs.

Each of four programs is timed whole, imports included, in turn with all the others: with an empty
folder for machine code, with what that process has compiled, and, where these are given, in another
checkout (``--beside``) and by the Python of an environment in which a wheel with machine code is
installed (``--wheel``), both with an empty folder.
"""

import tempfile
from pathlib import Path
from subprocess import CalledProcessError

from benchmarks.speed.growth.plan import Plan
from benchmarks.speed.growth.records import ROOT, median, number, run, select
from benchmarks.speed.timing import timed
from benchmarks.study.tables import markdown

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
STATES = {
    "before": "former code",
    "empty": "nothing compiled yet",
    "wheel": "wheel with machine code",
    "filled": "compiled before",
}
# What we promise of a process, libraries and imports included.
MOST_SECONDS = {"example": 6.0, "fit": 30.0, "shap": 34.0, "command": 32.0}
MOST_SECONDS_OF_WHEEL = 4.0


def measure_first_call(plan: Plan) -> list[tuple]:
    """Time fresh processes; those that compile have an empty folder each."""
    records = []

    def note(series, repeat, value):
        records.append(("first-call", series, 0, repeat, "seconds", value))

    run("-c", LIBRARIES)  # from the disk into memory
    for repeat in range(plan.starts):
        note("import", repeat, float(run("-c", IMPORT)))
        note("libraries", repeat, timed(lambda: run("-c", LIBRARIES)).clock)
    for repeat in range(plan.cold_starts):
        for program in PROGRAMS:
            with tempfile.TemporaryDirectory() as folder:
                for state, options in _states(plan).items():
                    try:
                        took = timed(lambda: _run(program, state, Path(folder), options))  # noqa: B023
                    except CalledProcessError:
                        if state != "before":  # which may not know today's functions yet
                            raise
                    else:
                        note(f"{program} {state}", repeat, took.clock)
    return records


def _states(plan):
    """Name the states that are timed, in turn, and where each one's program runs."""
    here = {"PYTHONPATH": str(ROOT)}
    states = {"empty": here, "filled": here}
    if plan.beside:
        states["before"] = {"PYTHONPATH": str(plan.beside)}
    if plan.wheel:
        states["wheel"] = {"python": plan.wheel}
    return states


def _run(program, state, folder, options):
    """Run a program; ``filled`` finds what ``empty`` compiled."""
    arguments = PROGRAMS[program][1]
    if program == "command":
        arguments = *arguments, f"{folder}/{state}_out"
    code = folder / ("empty" if state == "filled" else state)
    run("-W", "ignore", *arguments, cwd=folder, NUMBA_CACHE_DIR=str(code), **options)


def first_call_table(records) -> str:
    """Tabulate medians over processes, with their ranges."""

    def cell(series):
        if not (found := select(records, "first-call", series)):
            return ""
        return f"{number(median(found))} ({number(min(found))} to {number(max(found))})"

    states = [s for s in STATES if any(r[1].endswith(f" {s}") for r in records)]
    lines = {
        words: [cell(f"{program} {state}") for state in states]
        for program, (words, _) in PROGRAMS.items()
    }
    for series, words in (
        ("import", "`import gbt`"),
        ("libraries", "NumPy, Numba, SciPy, scikit-learn alone"),
    ):
        lines[words] = [*("" for _ in states[1:]), cell(series)]
    rows = [[words, *cells] for words, cells in lines.items() if any(cells)]
    heads = [STATES[state] for state in states] or ["compiled before"]
    return markdown(["whole process, seconds: median (range)", *heads], rows)


def first_call_claims(records) -> list[tuple[str, bool]]:
    """Say whether first calls keep the promised times."""
    limits = {f"{program} empty": most for program, most in MOST_SECONDS.items()}
    limits |= {f"{program} wheel": MOST_SECONDS_OF_WHEEL for program in MOST_SECONDS}
    limits["import"] = 0.1
    claims = []
    for series, most in limits.items():
        found = select(records, "first-call", series)
        if found:
            program, _, state = series.partition(" ")
            words = PROGRAMS[program][0] + f", {STATES[state]}" if state else "`import gbt`"
            holds = median(found) < most
            claims.append((f"{words}: less than {most:g} s: {number(median(found))}", holds))
    return claims
