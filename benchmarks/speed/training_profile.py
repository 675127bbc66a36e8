"""Where the time of a fit goes: its steps are counted, and each is priced by its own kernel.

    python -m benchmarks.speed.training_profile

Prices are taken alone, on numbers that lie in the caches, with one thread. Counts follow from the
fitted trees: rows added to histograms, bins surveyed, rows sent left and right. Their product is
what a fit would cost if no read ever waited, nothing had to be refined or sorted and columns were
ranked already. A fit with one thread is timed beside it. What is done once a tree or once a fit is
timed by fitting trees that may not split. The rest is refinement, sorting and waiting for memory.
"""

import time
from collections import Counter

import numpy as np
from numba import njit

from benchmarks.speed.timing import Page, conditions, in_turn
from benchmarks.speed.training_speed import SIZES, data_of
from benchmarks.study import ours
from gbt.kernels.cuts.histogram import (
    LANE_NUMBERS,
    LANES,
    Layout,
    add_rows,
    group_bits,
    missing_bin_after,
)
from gbt.kernels.cuts.memory import COLUMN, SCRATCH
from gbt.kernels.cuts.packed_bins import ALL_BINS
from gbt.kernels.cuts.scores import Terms
from gbt.kernels.cuts.search import survey
from gbt.kernels.trees.partition import partition_rows
from gbt.kernels.trees.tasks import LARGE
from gbt.tables.columns import Columns

REPEATS = 7
LAYOUT = Layout(width=2, count_bits=20, hessian=2**40)
OUT_OF_REACH = 1e300  # a score to beat
STEPS = "histograms", "surveys", "partitions", "without any split", "the rest"


@njit(nogil=True)
def add_often(times, packed_bins, rows, entries, lanes):
    """Add rows to the bins of eight columns."""
    for _ in range(times):
        add_rows(packed_bins, rows, entries, LAYOUT, LANES, ALL_BINS, lanes)


@njit(nogil=True)
def survey_often(times, histogram, column, bits, is_closed, first_code, terms, floor, scratch):
    """Survey one column."""
    for _ in range(times):
        survey(histogram, column, bits, is_closed, first_code, terms, floor, scratch)


@njit(nogil=True)
def partition_often(times, codes, n_values, cut, rows, buffer):
    """Partition the rows of one node."""
    for _ in range(times):
        partition_rows(codes, n_values, cut, False, rows, buffer)


@njit(nogil=True)
def bits_of(n_bins, n_rows):
    """Return in what groups bins are surveyed."""
    return group_bits(n_bins, n_rows)


def price(often, *arguments, times=200):
    """Return the least nanoseconds of one turn of a loop."""
    often(1, *arguments)
    found = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        often(times, *arguments)
        found.append((time.perf_counter() - started) / times * 1e9)
    return min(found)


def price_of_addition(n_bins: int) -> float:
    """Return nanoseconds to add a row to one column's histogram."""
    rng, n = np.random.default_rng(0), 2000
    bins = rng.integers(0, n_bins, size=(n, LANES)).astype(np.uint8)
    rows, entries = np.arange(n, dtype=np.int32), rng.integers(0, 99, size=n)
    packed_bins, lanes = bins.view(np.uint64)[:, 0].copy(), np.zeros(LANE_NUMBERS, dtype=np.int64)
    return price(add_often, packed_bins, rows, entries, lanes) / (n * LANES)


def price_of_partition() -> float:
    """Return nanoseconds to send a row left or right."""
    rng, n = np.random.default_rng(0), 2000
    codes = rng.integers(0, n, size=n).astype(np.int32)
    rows, buffer = np.arange(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    return price(partition_often, codes, n, n // 2, rows, buffer) / n


def price_of_survey(n_bins: int, bits: int, n_rows: int, is_closed: bool) -> float:
    """Return nanoseconds to survey a column in which no bin comes near the best of the node."""
    rng, missing_bin = np.random.default_rng(0), missing_bin_after(n_bins)
    bins, g = rng.integers(0, n_bins, size=n_rows), rng.integers(-(2**40), 2**40, size=n_rows)
    size = (2 * np.abs(g) >> LAYOUT.count_bits) + 1 << LAYOUT.count_bits | 1
    histogram = np.zeros((missing_bin + 1, 2), dtype=np.int64)
    np.add.at(histogram, bins >> bits << bits, np.column_stack([g, size]))
    terms = Terms(int(g.sum()), n_rows * LAYOUT.hessian, n_rows, 1.0, 1.0, 1, *LAYOUT)
    column, scratch = np.zeros(1, COLUMN)[0], np.zeros(1, SCRATCH)[0]
    column["n_bins"], column["missing_bin"] = n_bins, missing_bin
    first_code = np.zeros(n_bins + 1, dtype=np.int64)
    return price(
        survey_often, histogram.ravel(), column, bits, is_closed, first_code, terms, OUT_OF_REACH,
        scratch,
    )  # fmt: skip


def searches_of(tree, max_depth: int, is_large) -> tuple[int, int, list[int]]:
    """Return rows added to a histogram, rows partitioned, and the sizes of the nodes surveyed.

    The root is added up, then of every two children that may be split the smaller one, where the
    larger one is large and its histogram the difference, else both.
    """
    n, depth = tree.n_samples, tree.depth
    added, partitioned, surveyed = int(n[0]), 0, [int(n[0])]
    for t in np.flatnonzero(~tree.is_leaf):
        partitioned += int(n[t])
        smaller, larger = sorted((int(n[tree.left[t]]), int(n[tree.right[t]])))
        if depth[t] + 1 < max_depth and larger >= 2:
            if is_large(larger):
                added, surveyed = added + smaller, [*surveyed, smaller, larger]
                continue
            filled = [rows for rows in (smaller, larger) if rows >= 2]
            added, surveyed = added + sum(filled), surveyed + filled
    return added, partitioned, surveyed


def profile(case) -> tuple[float, dict[str, float]]:
    """Return microseconds a tree takes, and those that its steps should."""
    X, y = data_of(case)
    columns = Columns.from_table(X)
    n_bins, p = columns.n_bins, columns.n_columns
    all_bins = int((n_bins + 1).sum())
    options = {"n_estimators": case.n_rounds, "max_depth": case.max_depth}
    model = ours(**options).fit(X, y)

    def fit_time(**changed):
        runs = in_turn({"": lambda: ours(**options, **changed).fit(X, y)}, 3)[""]
        return runs[:, 0].min() / case.n_rounds * 1e6

    def is_large(n):
        return n * p > LARGE * all_bins

    added = partitioned = 0
    surveys: Counter[tuple[int, int, int, bool]] = Counter()
    for tree in model.ensemble_.trees:
        of_tree = searches_of(tree, case.max_depth, is_large)
        added, partitioned = added + of_tree[0], partitioned + of_tree[1]
        for n_rows in of_tree[2]:
            rounded = 2 ** round(np.log2(n_rows))
            for k in range(p):
                bits = 0 if is_large(n_rows) else bits_of(int(n_bins[k]), n_rows)
                is_closed = bits == 0 and bool(n_bins[k] == columns.n_values[k])
                surveys[int(n_bins[k]), bits, rounded, is_closed] += 1
    per_tree = 1e-3 / case.n_rounds
    steps = {
        "histograms": added * p * price_of_addition(int(n_bins.mean())) * per_tree,
        "surveys": sum(n * price_of_survey(*key) for key, n in surveys.items()) * per_tree,
        "partitions": partitioned * price_of_partition() * per_tree,
        "without any split": fit_time(min_samples_leaf=case.n_rows),
    }
    return fit_time(), steps


def main():
    """Print a Markdown table."""
    with Page("training_profile", __doc__) as page:
        page.add(f"{conditions(n_jobs=1)}; half squared error; microseconds a tree")
        page.head("rows x columns", "depth", "a tree", *STEPS)
        for case in SIZES[:4]:
            total, steps = profile(case)
            steps["the rest"] = total - sum(steps.values())
            cells = (f"{steps[name]:,.0f} ({steps[name] / total:.0%})" for name in STEPS)
            page.row(case.name, case.max_depth, f"{total:,.0f}", *cells)


if __name__ == "__main__":
    main()
