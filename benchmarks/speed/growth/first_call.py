"""Seconds of fresh processes: importing, and the first fit, with and without compiled kernels."""

import tempfile

import numpy as np

from benchmarks.speed.growth.plan import Plan
from benchmarks.speed.growth.records import median, number, run, seconds, select
from benchmarks.study.tables import markdown

# What we promise.
MOST_SECONDS = {"import": 0.1, "empty": 10.0, "filled": 1.0}  # see `first_call_claims`
TIMED = "import time; started = time.perf_counter(); {}; print(time.perf_counter() - started)"
IMPORT = TIMED.format("import gbt")
LIBRARIES = TIMED.format(
    "import numpy, numba, scipy.special, sklearn.base, sklearn.model_selection, sklearn.utils"
)
FIRST_USE = TIMED.format(
    "import numpy as np, attributions, gbt;"
    " X = np.random.default_rng(0).standard_normal((1000, 10), dtype=np.float32);"
    " model = gbt.GBTRegressor(n_estimators=10, splitter='greedy').fit(X[:500], X[:500, 0]);"
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
