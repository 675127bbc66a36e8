"""How training grows: its time, its peak memory, and what the first call in a process costs.

    python -m benchmarks.speed.growth --write                  some ten minutes on two quiet cores
    python -m benchmarks.speed.growth memory              one part alone: time, memory or first-call
    python -m benchmarks.speed.growth --write --from-results   page and picture alone, from the CSV

``time``        Whole fits of few trees, over rows, columns, distinct values, depth and threads, and
                beside each the ranking of the columns alone. An exponent is the slope of log time
                over log size by least squares, over all sizes or over the upper half of the range
                (on the log scale), where what a fit costs whatever its size has the least weight.
``memory``      Peak resident memory of a fresh process: with the kernels loaded, with the data,
                and after a fit; beside it what the arrays add up to by calculation.
``first-call``  Fresh processes: importing, and fitting and explaining for the first time, without
                and with compiled kernels on disk.

No time is printed unless small trees are those of ``gbt.reference`` and large ones are the same to
the last bit for 1 and 2 threads. Without ``--write`` tables and claims are printed only; with it
they go to docs/growth.md, every number to benchmarks/results/growth.csv, where the parts that were
not measured keep their lines, and the picture to docs/growth.svg.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import sklearn

import gbt
from gbt.kernels.cuts.histogram import LANES
from gbt.kernels.cuts.memory import SCRATCH
from gbt.kernels.trees.tasks import LARGE
from gbt.parallel.cores import available_cores
from gbt.reference import boosting as reference
from gbt.tables.columns import MAX_BINS, Columns

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/growth.csv"
PAGE = ROOT / "docs/growth.md"
PICTURE = ROOT / "docs/growth.svg"

SEED = 0
MEGABYTE = 1e6

# What we promise.
MOST_EXPONENT = 1.10  # of time in rows and in columns
MOST_MEMORY = 3.5  # peak beyond the input / size of the input as float32
MOST_SECONDS = {"import": 0.1, "empty": 10.0, "filled": 1.0}  # see `first_call_claims`


@dataclass(frozen=True)
class Fit:
    """A table and how it is fitted; without ``n_distinct`` its values are continuous."""

    n_rows: int = 50_000
    n_columns: int = 20
    n_distinct: int | None = None
    max_depth: int = 6
    n_threads: int | None = None


@dataclass(frozen=True)
class Axis:
    """One size that grows while the others stay: a panel of the picture."""

    name: str  # as it stands in the files
    changes: str  # the field of `Fit`
    others: Fit
    sizes: tuple[int, ...]

    @property
    def constant(self) -> str:
        """Say what stays."""
        stays = {
            "n_rows": f"{self.others.n_rows:,} rows",
            "n_columns": f"{self.others.n_columns} columns",
            "max_depth": f"depth {self.others.max_depth}",
        }
        return ", ".join(stays[name] for name in stays if name != self.changes)

    def fits(self):
        """Yield every size and the fit of that size."""
        for size in self.sizes:
            # As many distinct values as rows: continuous.
            all_distinct = self.changes == "n_distinct" and size == self.others.n_rows
            yield size, Fit(**vars(self.others) | {self.changes: None if all_distinct else size})


@dataclass(frozen=True)
class Memory:
    """A table whose fit is weighed."""

    n_rows: int
    n_columns: int
    dtype: str = "float32"
    is_logistic: bool = False  # else half the squared error
    max_depth: int = 6
    n_rounds: int = 3

    @property
    def name(self) -> str:
        """Name it as in the tables."""
        loss = ", logistic" * self.is_logistic
        return f"{self.n_rows:,} x {self.n_columns} {self.dtype}{loss}"

    @property
    def estimator(self):
        """Return an estimator that fits it."""
        kind = gbt.GBTClassifier if self.is_logistic else gbt.GBTRegressor
        return kind(n_estimators=self.n_rounds, max_depth=self.max_depth)

    def data(self, n_rows: int, n_columns: int):
        """Return rows and targets of its kind."""
        X, y = data_of(n_rows, n_columns, self.dtype)
        return X, y > 0.0 if self.is_logistic else y


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    axes: tuple[Axis, ...]
    memory: tuple[Memory, ...]
    n_rounds: int = 10
    repeats: int = 3  # of fits
    starts: int = 5  # of processes that import, or find compiled kernels
    cold_starts: int = 3  # of processes that compile


THOUSANDS = (10, 20, 50, 100, 200, 500, 1000, 2000)
FULL = Plan(
    axes=(
        Axis("rows", "n_rows", Fit(), tuple(1000 * k for k in THOUSANDS)),
        Axis("columns", "n_columns", Fit(5_000), (10, 20, 50, 100, 200, 500, 1000, 2000)),
        Axis(
            "distinct values", "n_distinct", Fit(), (2, 4, 16, 64, 256, 1024, 4096, 16_384, 50_000)
        ),
        Axis("depth", "max_depth", Fit(), tuple(range(2, 13))),
        Axis("threads", "n_threads", Fit(200_000), (1, 2)),
    ),
    memory=(
        Memory(500_000, 28),
        Memory(200_000, 50),
        Memory(50_000, 500),
        Memory(2_000_000, 10),
        Memory(200_000, 50, "float64"),
        Memory(500_000, 28, is_logistic=True),
        Memory(1_000_000, 20, is_logistic=True),
    ),
)
QUICK = Plan(
    axes=(
        Axis("rows", "n_rows", Fit(), (200, 400, 800, 1600)),
        Axis("columns", "n_columns", Fit(200), (4, 8, 16, 32)),
        Axis("distinct values", "n_distinct", Fit(200), (2, 8, 32, 200)),
        Axis("depth", "max_depth", Fit(200), (1, 2, 3, 4)),
        Axis("threads", "n_threads", Fit(200), (1, 2)),
    ),
    memory=(Memory(20_000, 10),),
    n_rounds=2,
    repeats=1,
    starts=1,
    cold_starts=0,
)


def data_of(n_rows: int, n_columns: int, dtype="float32", n_distinct: int | None = None):
    """Return rows and targets of ``benchmarks.speed.training_speed``, without large temporaries."""
    rng = np.random.default_rng(SEED)
    X = np.empty((n_rows, n_columns), dtype)
    y = rng.standard_normal(n_rows)
    if n_distinct is None:
        rng.standard_normal(out=X, dtype=X.dtype)
    else:  # as wide as the continuous ones
        X[:] = (rng.integers(n_distinct, size=X.shape) / (n_distinct - 1) - 0.5) * np.sqrt(12)
    for start in range(0, n_rows, 1000):
        rows = X[start : start + 1000]
        y[start : start + 1000] += rows[:, :5].sum(axis=1) + rows[:, 0] * rows[:, 1]
    return X, y


def median(values) -> float:
    """Return the median as a plain float."""
    return float(np.median(values))


def select(records, part, series=None, quantity=None, size=None) -> list[float]:
    """Return the values of the records (part, series, size, repeat, quantity, value) asked for."""
    asked = part, series, size, quantity
    return [
        record[-1]
        for record in records
        if all(a in (None, r) for a, r in zip(asked, (*record[:3], record[4]), strict=True))
    ]


# ----------------------------------------------------------------------------------------- time


def verify() -> None:
    """Stop unless small trees are right, and larger ones the same for 1 and 2 threads."""
    X, y = data_of(200, 4, n_distinct=9)
    model = gbt.GBTRegressor(n_estimators=2, max_depth=3).fit(X, y)
    expected = reference.boost(X, y, n_estimators=2, max_depth=3, fixed_point=True).raw_predict(X)
    if np.abs(model.predict(X) - expected).max() > 1e-12 * np.abs(y).max():
        raise SystemExit("not the trees of gbt.reference; nothing timed")
    X, y = data_of(10_000, 20)
    one, two = (
        gbt.GBTRegressor(n_estimators=3, n_jobs=n_jobs).fit(X, y).predict(X) for n_jobs in (1, 2)
    )
    if (one != two).any():
        raise SystemExit("trees depend on the number of threads; nothing timed")


def seconds(call) -> float:
    """Return the time of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def measure_time(plan: Plan) -> list[tuple]:
    """Time all fits of all axes, then all of them again: a drift of the machine hits all alike."""
    verify()
    records = []
    for repeat in range(plan.repeats):
        for axis in plan.axes:
            for size, fit in axis.fits():
                X, y = data_of(fit.n_rows, fit.n_columns, n_distinct=fit.n_distinct)
                model = gbt.GBTRegressor(
                    n_estimators=plan.n_rounds, max_depth=fit.max_depth, n_jobs=fit.n_threads
                )
                whole = seconds(lambda m=model, X=X, y=y: m.fit(X, y))
                ranking = seconds(lambda X=X, fit=fit: Columns.from_table(X, fit.n_threads))
                records.append(("time", axis.name, size, repeat, "fit", whole))
                records.append(("time", axis.name, size, repeat, "ranking", ranking))
    return records


def series_of(records, name: str, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of an axis, ascending, and the median seconds at each."""
    sizes = sorted({r[2] for r in records if r[:2] == ("time", name)})
    return np.array(sizes), np.array(
        [median(select(records, "time", name, quantity, size)) for size in sizes]
    )


def is_upper(sizes: np.ndarray) -> np.ndarray:
    """Say which sizes are in the upper half of the range, on the log scale."""
    return sizes**2 >= float(sizes[0]) * sizes[-1]


def exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope of log value over log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def upper_exponent(sizes: np.ndarray, values: np.ndarray) -> float:
    """Return the slope over the upper half of the sizes."""
    upper = is_upper(sizes)
    return exponent(sizes[upper], values[upper])


def time_table(records) -> str:
    """Tabulate every axis: seconds, and how they grow."""
    tables = []
    for axis in FULL.axes:
        sizes, fit = series_of(records, axis.name, "fit")
        _, ranking = series_of(records, axis.name, "ranking")
        header = [f"{axis.name} ({axis.constant})", *[f"{size:,}" for size in sizes]]
        rows = [
            ["fit, s", *map(number, fit)],
            ["ranking alone, s", *map(number, ranking)],
        ]
        if axis.name == "threads":
            growth = f"{sizes[-1]} threads are {fit[0] / fit[-1]:.2f} times as fast as one"
        else:
            first, *_, last = sizes[is_upper(sizes)]
            growth = (
                f"Exponent from {first:,} to {last:,}: **{upper_exponent(sizes, fit):.2f}**;"
                f" over all sizes {exponent(sizes, fit):.2f}; of ranking alone"
                f" {upper_exponent(sizes, ranking):.2f} and {exponent(sizes, ranking):.2f}"
            )
        tables.append(f"{markdown(header, rows)}\n\n{growth}.")
    return "\n\n".join(tables)


def time_claims(records) -> list[tuple[str, bool]]:
    """Say whether time is linear in rows and columns, over all sizes and where they are large."""
    claims = []
    for name in ("rows", "columns"):
        sizes, fit = series_of(records, name, "fit")
        upper = is_upper(sizes)
        for some, seconds in ((sizes, fit), (sizes[upper], fit[upper])):
            found = exponent(some, seconds)
            words = (
                f"from {some[0]:,} to {some[-1]:,} {name} time grows to the power of at most"
                f" {MOST_EXPONENT:.2f}: {found:.2f}"
            )
            claims.append((words, found <= MOST_EXPONENT))
    return claims


# --------------------------------------------------------------------------------------- memory


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
        "where bins start and which hold one value": 8 * (MAX_BINS + 2 + MAX_BINS) * n_columns,
        "entries": 8 * numbers * n_rows,
        "node numbers, rows listed, rows that wait": 12 * n_rows,
        "raw predictions, g": 16 * n_rows,
        "targets, h": 16 * n_rows if is_logistic else 0,
        "scratch": SCRATCH.itemsize * n_threads,
        "histograms": 16 * numbers * n_slots * (n_bins + 1),
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
from benchmarks.speed.growth import Memory, peaks_of
print(json.dumps(peaks_of(Memory(*json.loads(sys.argv[1])))))
"""


def run(*arguments: str, **environment: str) -> str:
    """Return what a Python process prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    return done.stdout


def measure_memory(plan: Plan) -> list[tuple]:
    """Weigh every case in a process of its own."""
    records = []
    for case in plan.memory:
        case.estimator.fit(*case.data(100, 20))  # compile here, not there
        peaks = json.loads(run("-c", CHILD, json.dumps(astuple(case))))
        size = {"float32 size": 4 * case.n_rows * case.n_columns}
        parts = bytes_by_part(
            case.n_rows, case.n_columns, case.max_depth, available_cores(), case.is_logistic
        )
        calculated = {f"calculated: {part}": parts[part] for part in parts}
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
    rows = [
        [
            case.name,
            megabytes(case.size),
            megabytes(case.beyond_input),
            f"**{case.beyond_input / case.size:.2f}**",
            megabytes(sum(case.parts.values())),
            f"{sum(case.parts.values()) / case.size:.2f}",
            megabytes(case.beyond_interpreter),
        ]
        for case in cases
    ]
    header = ["input", "as float32, MB", "peak beyond the input, MB", "times float32"]
    header += ["calculated, MB", "times float32", "peak beyond the interpreter, MB"]
    shares = [[part, *(megabytes(case.parts[part]) for case in cases)] for part in cases[0].parts]
    of_parts = markdown(["calculated, MB", *(case.name for case in cases)], shares)
    return f"{markdown(header, rows)}\n\n{of_parts}"


def memory_claims(records) -> list[tuple[str, bool]]:
    """Say whether each case keeps within the promised multiple of its size."""
    return [
        (
            f"{case.name}: peak beyond the input at most {MOST_MEMORY} times its size as float32:"
            f" {case.beyond_input / case.size:.2f}",
            case.beyond_input <= MOST_MEMORY * case.size,
        )
        for case in weighed(records)
    ]


# ----------------------------------------------------------------------------------- first call

TIMED = "import time; started = time.perf_counter(); {}; print(time.perf_counter() - started)"
IMPORT = TIMED.format("import gbt")
LIBRARIES = TIMED.format(
    "import numpy, numba, scipy.special, sklearn.base, sklearn.model_selection, sklearn.utils"
)
FIRST_USE = TIMED.format(
    "import numpy as np, attributions, gbt;"
    " X = np.random.default_rng(0).standard_normal((1000, 10), dtype=np.float32);"
    " model = gbt.GBTRegressor(n_estimators=10).fit(X[:500], X[:500, 0]);"
    " attributions.tree_inner(model, X[500:], X[500:, 0])"
)

FIRST_CALLS = {  # series: words
    "import": "`import gbt`",
    "libraries": "import NumPy, Numba, SciPy and scikit-learn, without gbt",
    "empty": "import, first fit, first tree_inner; nothing compiled yet",
    "filled": "the same; kernels compiled by an earlier process",
    "warmup": "`python -m attributions.warmup`; nothing compiled yet",
}


def measure_first_call(plan: Plan) -> list[tuple]:
    """Time fresh processes; those that compile have an empty cache folder each."""
    records = []

    def note(series, repeat, value):
        records.append(("first-call", series, 0, repeat, "seconds", value))

    run("-c", LIBRARIES)  # from the disk into memory
    with tempfile.TemporaryDirectory() as folder:
        cache = {}
        for repeat in range(plan.cold_starts):
            cache["NUMBA_CACHE_DIR"] = f"{folder}/warmup{repeat}"
            note("warmup", repeat, seconds(lambda: run("-m", "attributions.warmup", **cache)))
            cache["NUMBA_CACHE_DIR"] = f"{folder}/use{repeat}"
            note("empty", repeat, float(run("-c", FIRST_USE, **cache)))
        for repeat in range(plan.starts):  # in turn, so that a difference is that of neighbours
            note("import", repeat, float(run("-c", IMPORT)))
            note("libraries", repeat, float(run("-c", LIBRARIES)))
            note("filled", repeat, float(run("-c", FIRST_USE, **cache)))
    return records


def first_call_table(records) -> str:
    """Tabulate medians over processes."""
    rows = []
    for series, words in FIRST_CALLS.items():
        found = select(records, "first-call", series)
        if found:
            spread = f"{number(min(found))} to {number(max(found))}"
            rows.append([words, number(median(found)), spread, str(len(found))])
    return markdown(["fresh process", "median, s", "range, s", "processes"], rows)


def first_call_claims(records) -> list[tuple[str, bool]]:
    """Say whether first calls keep the promised times."""
    found = {s: np.array(select(records, "first-call", s)) for s in FIRST_CALLS}
    claims = {
        "import": ("`import gbt` takes", found["import"]),
        "empty": ("first fit and tree_inner, compilation and imports included, take",
                  found["empty"]),
        "filled": ("first fit and tree_inner with compiled kernels take, beyond the libraries,",
                   found["filled"] - found["libraries"]),
    }  # fmt: skip
    return [
        (
            f"{words} less than {MOST_SECONDS[series]:g} s: {number(median(values))}",
            median(values) < MOST_SECONDS[series],
        )
        for series, (words, values) in claims.items()
        if len(values)
    ]


# ------------------------------------------------------------------------------- tables and files

PARTS = {
    "time": (measure_time, time_table, time_claims),
    "memory": (measure_memory, memory_table, memory_claims),
    "first-call": (measure_first_call, first_call_table, first_call_claims),
}


def number(value: float) -> str:
    """Write three significant digits."""
    return f"{value:#.3g}".rstrip(".") if value >= 1e-3 else f"{value:.1e}"


def megabytes(value: float) -> str:
    """Write bytes as megabytes."""
    return f"{value / MEGABYTE:,.1f}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Lay a table out."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(part: str, records) -> str:
    """Return a part's tables and claims."""
    _, table, claims = PARTS[part]
    lines = [f"* Claim: {words}. **{holds}**" for words, holds in claims(records)]
    return "\n".join([table(records), "", *lines])


def conditions(part: str, plan: Plan) -> str:
    """Say how a part was measured, and what its numbers depend on."""
    repeats = {
        "time": f"{plan.n_rounds} trees a fit, medians of {plan.repeats}",
        "memory": f"depth 6, {plan.memory[0].n_rounds} trees, one process each",
        "first-call": f"{plan.starts} processes, {plan.cold_starts} where kernels are compiled",
    }[part]
    return (
        f"{command_of(part)} --write; seed {SEED}; {repeats};"
        f" {platform.machine()}, {available_cores()} cores; gbt {gbt.__version__},"
        f" NumPy {np.__version__}, Numba {numba.__version__}, scikit-learn {sklearn.__version__},"
        f" Python {platform.python_version()}"
    )


def write_csv(records, said: dict[str, str], path: Path) -> None:
    """Write one line a number, under a comment for each part that says where they come from."""
    with path.open("w", newline="") as file:
        file.writelines(f"# {said[part]}\n" for part in PARTS if part in said)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["part", "series", "size", "repeat", "quantity", "value"])
        for part in PARTS:
            writer.writerows([*r[:-1], f"{r[-1]:.6g}"] for r in records if r[0] == part)


def read_csv(path: Path) -> tuple[list[tuple], dict[str, str]]:
    """Read what `write_csv` wrote; of a file that is not there, nothing."""
    if not path.exists():
        return [], {}
    lines = path.read_text().splitlines(keepends=True)
    comments = [line[2:].strip() for line in lines if line.startswith("#")]
    said = {part: c for part in PARTS for c in comments if c.startswith(f"{command_of(part)} ")}
    found = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [
        (r["part"], r["series"], int(r["size"]), int(r["repeat"]), r["quantity"], float(r["value"]))
        for r in found
    ], said


def command_of(part: str) -> str:
    """Return the command that measures one part, without options."""
    return f"python -m benchmarks.speed.growth {part}"


def insert_sections(page: str, records, said: dict[str, str]) -> str:
    """Return the page with what stands between the markers of each measured part replaced."""
    for part, origin in said.items():
        start, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
        before, rest = page.split(start)
        source = f"{origin}. Every number: `benchmarks/results/growth.csv`"
        text = f"{section(part, records)}\n\n{source}"
        if part == "time":
            text = f"![Time over rows, columns, values, depth, threads]({PICTURE.name})\n\n{text}"
        page = f"{before}{start}\n{text}\n{rest[rest.index(end) :]}"
    return page


# ---------------------------------------------------------------------------------- the picture

BLUE, GREY, INK = "#0072B2", "#7A7A7A", "#333333"


def draw(records, path: Path) -> None:
    """Draw one log-log panel an axis, exponents at the lines; the last panel explains."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    style = {
        "svg.hashsalt": "growth",  # the same file from the same numbers
        "svg.fonttype": "none",  # text stays text, and its list of fonts short
        "font.sans-serif": ["DejaVu Sans", "Arial"],
    }
    with matplotlib.rc_context(style):
        figure, panels = pyplot.subplots(2, 3, figsize=(10.5, 6.2), layout="constrained")
        *panels, last = panels.flat
        for ax, axis in zip(panels, FULL.axes, strict=True):
            for quantity, color, dashes in (("ranking", GREY, "--"), ("fit", BLUE, "-")):
                draw_line(ax, *series_of(records, axis.name, quantity), color, dashes)
            dress(ax, axis, series_of(records, axis.name, "fit")[0])
        explain(last)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)


def explain(ax) -> None:
    """Say in an empty panel what is drawn in the others."""
    ax.axis("off")
    words = (
        ("whole fit", BLUE),
        ("ranking the columns alone", GREY),
        ("numbers at the lines: exponents,\nslopes through the filled points", INK),
    )
    for height, (text, color) in zip((0.75, 0.6, 0.35), words, strict=True):
        ax.text(0.05, height, text, color=color, fontsize=10)


def draw_line(ax, sizes, values, color, dashes) -> None:
    """Draw a series, filled points where it is fitted, with its exponent at the end."""
    upper = is_upper(sizes) if len(sizes) > 2 else np.ones(len(sizes), dtype=bool)
    ax.loglog(sizes, values, dashes, color=color, linewidth=1.5)
    ax.plot(sizes[upper], values[upper], "o", markersize=4, color=color)
    ax.plot(sizes[~upper], values[~upper], "o", markersize=4, color=color, markerfacecolor="white")
    slope = np.polyfit(np.log(sizes[upper]), np.log(values[upper]), 1)[0]
    ax.annotate(
        f"{slope:.2f}".replace("-", "\u2212"), (sizes[-1], values[-1]), (6, 0),
        textcoords="offset points", color=color, va="center", fontsize=9,
    )  # fmt: skip


def dress(ax, axis: Axis, sizes) -> None:
    """Give a panel its labels."""
    from matplotlib.ticker import LogLocator

    ax.set_title(f"{axis.name}\n", loc="left", fontsize=11, color=INK)
    ax.text(0, 1.04, axis.constant, transform=ax.transAxes, fontsize=8.5, color=INK)
    ax.set_ylabel("seconds", color=INK, fontsize=9)
    ticks = [sizes[0]]
    for size in sizes:  # where there is room for a number
        if np.log(size / ticks[-1]) > 0.22 * np.log(sizes[-1] / sizes[0]):
            ticks.append(size)
    ax.set_xticks(ticks, [f"{size:,}" for size in ticks])
    ax.margins(x=0.16)
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 50 * low else (1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.grid(color="#E6E6E6", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelsize=8)


def main(arguments=None) -> int:
    """Measure, print tables and claims and, if asked, write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    parser.add_argument("--write", action="store_true", help="write page, numbers and picture")
    parser.add_argument("--out", type=Path, help="draw the picture to this file")
    parser.add_argument("--from-results", action="store_true", help="read the CSV, do not measure")
    options = parser.parse_args(arguments)
    if options.quick and (options.write or options.from_results):
        parser.error("--quick is for trying out: not with --write or --from-results")
    plan = QUICK if options.quick else FULL
    asked = list(PARTS) if options.part == "all" else [options.part]
    records, said = read_csv(RESULTS) if options.write or options.from_results else ([], {})
    if options.from_results:
        asked = [part for part in asked if part in said]
    for part in asked:
        if not options.from_results:
            records = [r for r in records if r[0] != part] + PARTS[part][0](plan)
            said[part] = conditions(part, plan)
        print(f"## {part}\n\n{said[part]}\n\n{section(part, records)}\n", flush=True)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        write_csv(records, said, RESULTS)
        records, said = read_csv(RESULTS)  # the page shows what the file has, rounding included
        PAGE.write_text(insert_sections(PAGE.read_text(), records, said))
    picture = options.out or (PICTURE if options.write else None)
    if picture and "time" in said:
        draw(records, picture)
    holds = all(holds for part in asked for _, holds in PARTS[part][2](records))
    print(f"All claims hold: {holds}")
    return 0 if holds or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
