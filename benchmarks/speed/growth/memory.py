"""Peak memory of fits, each in a process of its own, and what its arrays add up to."""

import json
import sys
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed.growth.plan import Memory, Plan
from benchmarks.speed.growth.records import run
from benchmarks.study.tables import markdown
from gbt.kernels.cuts.histogram import LANES
from gbt.kernels.cuts.memory import SCRATCH
from gbt.kernels.trees.tasks import LARGE
from gbt.parallel.cores import available_cores
from gbt.tables.bins import MAX_BINS

MEGABYTE = 1e6
MOST_MEMORY = 3.5  # that we promise: peak beyond the input / size of the input as float32


def bytes_by_part(
    n_rows: int, n_columns: int, max_depth: int, n_threads: int, is_logistic: bool = False
) -> dict[str, int]:
    """Return the sizes of the arrays that a fit holds at its peak.

    That is while the second or a later tree grows, without sampling and evaluation sets, on
    continuous columns, which are not counted themselves. Of the places for histograms only those
    count that a tree of this depth can come to use: memory never written to is not resident.
    """
    n_words, numbers = -(-n_columns // LANES), 2 if is_logistic else 1  # in an entry: g, h
    n_bins = n_columns * (MAX_BINS + 1)
    most_large = n_rows * n_columns // (LARGE * n_bins) + 1  # nodes of a level that have histograms
    n_slots = n_threads + min(2 ** (max_depth - 1), 2 * most_large)
    return {
        "codes": 4 * n_rows * n_columns,
        "order": 4 * n_rows * n_columns,
        "packed bins": 8 * n_rows * n_words,
        "where bins start and with which code": 8 * (MAX_BINS + 2 + MAX_BINS + 1) * n_columns,
        "entries": 8 * numbers * n_rows,
        "node numbers, rows listed, rows that wait": 12 * n_rows,
        "raw predictions, g": 16 * n_rows,
        "targets, h": 16 * n_rows if is_logistic else 0,
        "scratch": SCRATCH.itemsize * n_threads,
        "histograms": 16 * numbers * n_slots * n_bins,
    }


def peak_so_far() -> int:
    """Return the largest resident memory of this process, in bytes.

    On Linux ``ru_maxrss`` of a new process starts at what its *parent* had; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    import resource  # not there on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def peaks_of(case: Memory) -> dict[str, int]:
    """Return the peaks of this process with kernels loaded, with the data, and after a fit."""
    model = case.estimator
    model.fit(*case.data(3_000, 20))  # enough for both threads
    peaks = {"interpreter": peak_so_far()}
    X, y = case.data(case.n_rows, case.n_columns)
    peaks["data"] = peak_so_far()
    model.fit(X, y)
    peaks["fit"] = peak_so_far()
    # Something larger that came before the data would hide them, and a part of the fit.
    if peaks["data"] - peaks["interpreter"] < 0.9 * (X.nbytes + y.nbytes) - 8 * MEGABYTE:
        raise SystemExit("kernels were compiled on the way; run once more")
    return peaks


CHILD = """
import json, sys
from benchmarks.speed.growth.memory import Memory, peaks_of
print(json.dumps(peaks_of(Memory(*json.loads(sys.argv[1])))))
"""


def measure_memory(plan: Plan) -> list[tuple]:
    """Weigh every case in a process of its own."""
    records = []
    for case in plan.memory:
        case.estimator.fit(*case.data(100, 20))  # compile here, not there
        peaks = json.loads(run("-c", CHILD, json.dumps(astuple(case))))
        size = {"float32 size": 4 * case.n_rows * case.n_columns}
        shape = case.n_rows, case.n_columns, case.max_depth
        parts = bytes_by_part(*shape, available_cores(), case.is_logistic)
        calculated = {f"calculated: {part}": of for part, of in parts.items()}
        for quantity, value in (peaks | size | calculated).items():
            records.append(("memory", case.name, 0, 0, quantity, float(value)))
    return records


class Weighed(NamedTuple):
    """What was measured and calculated of one case, in bytes."""

    name: str
    size: float  # of the input as float32
    beyond_input: float
    beyond_interpreter: float
    parts: dict[str, float]


def weighed(records) -> list[Weighed]:
    """Put the records of every case together."""
    found = []
    for name in dict.fromkeys(r[1] for r in records if r[0] == "memory"):
        of = {r[4]: r[5] for r in records if r[:2] == ("memory", name)}
        parts = {q.partition(": ")[2]: of[q] for q in of if q.startswith("calculated")}
        beyond = (of["fit"] - of[before] for before in ("data", "interpreter"))
        found.append(Weighed(name, of["float32 size"], *beyond, parts))
    return found


def memory_table(records) -> str:
    """Tabulate what was measured and, part by part, what was calculated."""
    cases = weighed(records)
    rows = []
    for case in cases:
        calculated = sum(case.parts.values())
        measured = [megabytes(case.beyond_input), f"**{case.beyond_input / case.size:.2f}**"]
        shown = [megabytes(calculated), f"{calculated / case.size:.2f}"]
        beyond = megabytes(case.beyond_interpreter)
        rows.append([case.name, megabytes(case.size), *measured, *shown, beyond])
    header = ["input", "as float32, MB", "peak beyond the input, MB", "times float32"]
    header += ["calculated, MB", "times float32", "peak beyond the interpreter, MB"]
    shares = [[part, *(megabytes(case.parts[part]) for case in cases)] for part in cases[0].parts]
    of_parts = markdown(["calculated, MB", *(case.name for case in cases)], shares)
    return f"{markdown(header, rows)}\n\n{of_parts}"


def memory_claims(records) -> list[tuple[str, bool]]:
    """Say whether each case keeps within the promised multiple of its size."""
    words = f"peak beyond the input at most {MOST_MEMORY} times its size as float32"
    times = {case.name: case.beyond_input / case.size for case in weighed(records)}
    return [(f"{name}: {words}: {t:.2f}", t <= MOST_MEMORY) for name, t in times.items()]


def megabytes(value: float) -> str:
    """Write bytes as megabytes."""
    return f"{value / MEGABYTE:,.1f}"
