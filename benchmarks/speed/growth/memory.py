"""Peak memory of fits, each in a process of its own, and what its arrays add up to."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import NamedTuple

from benchmarks.speed.growth.tables import data_of
from benchmarks.speed.resident import MEGABYTE, peak
from benchmarks.study import Part, crossed, ours
from benchmarks.study.tables import markdown
from gbt.kernels.cuts.histogram import LANES
from gbt.kernels.cuts.memory import SCRATCH
from gbt.kernels.trees.tasks import LARGE
from gbt.parallel.threads import available_cores
from gbt.tables.bins import MAX_BINS

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


@dataclass(frozen=True)
class Case:
    """A table whose fit is weighed."""

    n_rows: int
    n_columns: int
    dtype: str = "float32"
    is_logistic: bool = False  # else half the squared error
    max_depth: int = 6

    @property
    def name(self) -> str:
        """Name it as in the tables."""
        loss = ", logistic" * self.is_logistic
        return f"{self.n_rows:,} x {self.n_columns} {self.dtype}{loss}"

    @property
    def estimator(self):
        """Return an estimator that fits it."""
        return ours(self.is_logistic, n_jobs=None, n_estimators=3, max_depth=self.max_depth)

    def data(self, n_rows: int, n_columns: int):
        """Return rows and targets of its kind."""
        X, y = data_of(n_rows, n_columns, self.dtype)
        return X, y > 0.0 if self.is_logistic else y


CASES = (
    Case(500_000, 28), Case(200_000, 50), Case(50_000, 500), Case(2_000_000, 10),
    Case(200_000, 50, "float64"), Case(500_000, 28, is_logistic=True),
    Case(1_000_000, 20, is_logistic=True),
)  # fmt: skip


def peaks_of(case: Case) -> dict[str, int]:
    """Return the peaks of this process with kernels loaded, with the data, and after a fit."""
    model = case.estimator
    model.fit(*case.data(3_000, 20))  # enough for both threads
    peaks = {"interpreter": peak()}
    X, y = case.data(case.n_rows, case.n_columns)
    peaks["data"] = peak()
    model.fit(X, y)
    peaks["fit"] = peak()
    # Something larger that came before the data would hide them, and a part of the fit.
    if peaks["data"] - peaks["interpreter"] < 0.9 * (X.nbytes + y.nbytes) - 8 * MEGABYTE:
        raise SystemExit("kernels were compiled on the way; run once more")
    return peaks


def experiment(cell, rng, size):
    """Weigh a case in a process of its own."""
    case = next(case for case in CASES if case.name == cell["case"])
    case = case if size == "full" else replace(case, n_rows=case.n_rows // 50)
    case.estimator.fit(*case.data(100, 20))  # compile here, not there
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        peaks = process.submit(peaks_of, case).result()
    shape = case.n_rows, case.n_columns, case.max_depth
    parts = bytes_by_part(*shape, available_cores(), case.is_logistic)
    calculated = {f"calculated: {part}": of for part, of in parts.items()}
    yield peaks | {"float32 size": 4 * case.n_rows * case.n_columns} | calculated


class Weighed(NamedTuple):
    """What was measured and calculated of one case, in bytes."""

    name: str
    size: float  # of the input as float32
    beyond_input: float
    beyond_interpreter: float
    parts: dict[str, float]


def weighed(rows) -> list[Weighed]:
    """Put the numbers of every case together."""
    found = []
    for row in rows:
        parts = {q.partition(": ")[2]: row[q] for q in row if q.startswith("calculated")}
        beyond = (row["fit"] - row[before] for before in ("data", "interpreter"))
        found.append(Weighed(row["case"], row["float32 size"], *beyond, parts))
    return found


def table(rows) -> str:
    """Tabulate what was measured and, part by part, what was calculated."""
    cases, lines = weighed(rows), []
    for case in cases:
        calculated = sum(case.parts.values())
        measured = [megabytes(case.beyond_input), f"**{case.beyond_input / case.size:.2f}**"]
        shown = [megabytes(calculated), f"{calculated / case.size:.2f}"]
        beyond = megabytes(case.beyond_interpreter)
        lines.append([case.name, megabytes(case.size), *measured, *shown, beyond])
    header = ["input", "as float32, MB", "peak beyond the input, MB", "times float32"]
    header += ["calculated, MB", "times float32", "peak beyond the interpreter, MB"]
    shares = [[part, *(megabytes(case.parts[part]) for case in cases)] for part in cases[0].parts]
    of_parts = markdown(["calculated, MB", *(case.name for case in cases)], shares)
    return f"{markdown(header, lines)}\n\n{of_parts}"


def claims(rows) -> list[tuple[str, bool]]:
    """Say whether each case keeps within the promised multiple of its size."""
    words = f"peak beyond the input at most {MOST_MEMORY} times its size as float32"
    times = {case.name: case.beyond_input / case.size for case in weighed(rows)}
    return [(f"{name}: {words}: {t:.2f}", t <= MOST_MEMORY) for name, t in times.items()]


def megabytes(value: float) -> str:
    """Write bytes as megabytes."""
    return f"{value / MEGABYTE:,.1f}"


PART = Part("memory", crossed(case=[c.name for c in CASES]), experiment, 1, table, is_timed=True)
