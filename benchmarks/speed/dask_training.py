"""Training on a cluster of Dask, beside XGBoost's and LightGBM's, in one run.

    python -m benchmarks.speed.dask_training --write          1e6 rows x 20, 20 trees of depth 6
    python -m benchmarks.speed.dask_training --rows 3000000 --trees 100 --kinds signal    late trees
    python -m benchmarks.speed.dask_training --rows 100000 --trees 5                 a small run

Two worker processes of one thread hold the rows, float32, in chunks of 50,000, made where they are.
Each library gets the same table and targets, and its whole call is timed, preparation included: the
clock, and the processor time of both workers and of this process. "noise" has targets that nothing
explains, where bounds spare least. Beside it stands the largest resident memory of a worker, and
how much more that is than before the call.

What travels is counted in a fit of its own, which is not timed: questions to all workers, by tree,
and the bytes of questions and answers. The model of the cluster is compared with that of the rows
in memory before anything is printed.
"""

import argparse
import os
import pickle
import platform
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gbt
from benchmarks.speed.dask_rows import forget_peak, peak_of_process
from gbt.parallel.cores import available_cores
from gbt.training.shares.cluster import Cluster
from gbt.training.shares.packing import packed

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/dask_training.md"
ROWS_PER_CHUNK = 50_000
OURS = "gbt"


def chunk_of(number: int, n_rows: int, n_columns: int, kind: str) -> np.ndarray:
    """Return rows and, in the last column, their targets; each chunk has a seed of its own."""
    rng = np.random.default_rng([11, number])
    table = rng.normal(size=(n_rows, n_columns + 1)).astype(np.float32)
    if kind == "signal":
        table[:, -1] += table[:, 0] + np.sin(3 * table[:, 1]) + table[:, 2] * table[:, 3]
    return table


def rows_of(n_rows: int, n_columns: int, kind: str) -> tuple[Any, Any]:
    """Return lazy rows and targets."""
    import dask
    import dask.array as da

    load, size = dask.delayed(chunk_of, pure=True), min(ROWS_PER_CHUNK, n_rows)
    shape = (size, n_columns + 1)
    chunks = [
        da.from_delayed(load(k, size, n_columns, kind), shape, np.float32)
        for k in range(n_rows // size)
    ]
    table = da.concatenate(chunks)
    return table[:, :-1], table[:, -1]


def ours(X: Any, y: Any, trees: int, client: Any) -> Any:
    """Fit our trees."""
    return gbt.GBTRegressor(trees, splitter="greedy").fit(X, y)


def xgboosts(X: Any, y: Any, trees: int, client: Any) -> Any:
    """Fit XGBoost's by histograms of 256 bins."""
    import xgboost.dask as peer

    data = peer.DaskQuantileDMatrix(client, X, y)
    asked = {"tree_method": "hist", "max_depth": 6, "eta": 0.1, "nthread": 1, "verbosity": 0}
    return peer.train(client, asked, data, num_boost_round=trees)


def lightgbms(X: Any, y: Any, trees: int, client: Any) -> Any:
    """Fit LightGBM's, of as many leaves."""
    import lightgbm

    model = lightgbm.DaskLGBMRegressor(
        n_estimators=trees, num_leaves=64, max_depth=6, n_jobs=1, verbose=-1, client=client,
        min_child_samples=1,
    )  # fmt: skip
    return model.fit(X, y)


LIBRARIES: dict[str, Callable[..., Any]] = {
    OURS: ours, "XGBoost hist": xgboosts, "LightGBM": lightgbms,
}  # fmt: skip


def processor_time() -> float:
    """Return the processor time of the calling process so far, in s."""
    return time.process_time()


def timed(fit: Callable[..., Any], X: Any, y: Any, trees: int, client: Any) -> list[float]:
    """Return s by the clock, s of processors, and MB of a worker: the most, and the most more."""
    client.run(forget_peak)
    memory, used = client.run(peak_of_process), client.run(processor_time)
    here, start = time.process_time(), time.perf_counter()
    fit(X, y, trees, client)
    seconds, here = time.perf_counter() - start, time.process_time() - here
    after, peaks = client.run(processor_time), client.run(peak_of_process)
    of_workers = sum(after[worker] - used[worker] for worker in after)
    more = max(peaks[worker] - memory[worker] for worker in peaks)
    return [seconds, of_workers + here, max(peaks.values()), more]


def count_what_travels(X: Any, y: Any, trees: int, client: Any) -> tuple[float, float]:
    """Return questions to all workers a tree, and MB a tree and worker, of the trees themselves."""
    counted: list[tuple[int, int]] = []
    right = Cluster.ask

    def ask(self: Cluster, questions: Any) -> Any:
        answers = right(self, questions)
        size = sum(len(pickle.dumps(packed(part))) for part in (*questions, *answers))
        counted.append((size, any(name == "start_tree" for q in questions for name, _ in q)))
        return answers

    Cluster.ask = ask  # type: ignore[method-assign]
    try:
        ours(X, y, trees, client)
    finally:
        Cluster.ask = right  # type: ignore[method-assign]
    first = next(i for i, (_, is_start) in enumerate(counted) if is_start)
    sizes = [size for size, _ in counted[first + 1 : -1]]  # the last asks for hashes of rows
    n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
    return len(sizes) / trees, sum(sizes) / 1e6 / trees / n_workers


def verify(n_columns: int, client: Any) -> None:
    """Compare a small fit on the cluster with the same rows in memory; all libraries warm up."""
    X, y = rows_of(100_000, n_columns, "signal")  # enough for all kernels to be loaded
    here = gbt.GBTRegressor(3, splitter="greedy").fit(X.compute(), y.compute()).ensemble_
    there = ours(X, y, 3, client).ensemble_
    names = ("feature", "threshold", "sum_gradient", "sum_hessian", "value", "gain")
    if not all(np.array_equal(getattr(here, n), getattr(there, n)) for n in names):
        raise SystemExit("the cluster grew other trees than one process; nothing timed")
    for fit in LIBRARIES.values():
        fit(X, y, 1, client)


def measure(asked: argparse.Namespace) -> list[str]:
    """Time all libraries on a cluster; return the lines of tables."""
    from distributed import Client, LocalCluster

    lines = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        verify(asked.columns, client)
        for kind in asked.kinds:
            X, y = (part.persist() for part in rows_of(asked.rows, asked.columns, kind))
            client.run(time.time)  # workers have answered, so the rows are being made
            for part in (X, y):
                part.sum().compute()
            for name, fit in LIBRARIES.items():
                found = timed(partial(fit), X, y, asked.trees, client)
                line = f"| {kind} | {name} | {found[0]:.1f} | {found[1]:.1f} | {found[2]:.0f} |"
                line += f" {found[3]:.0f} |"
                print(line, flush=True)
                lines.append(line)
            rounds, size = count_what_travels(X, y, min(asked.trees, 10), client)
            said = f"{kind}, first {min(asked.trees, 10)} trees: {rounds:.1f} rounds a tree, "
            lines.append(said + f"{size:.1f} MB a tree and worker.")
            print(lines[-1], flush=True)
            del X, y
    return sorted(lines, key=lambda line: not line.startswith("|"))


def main() -> int:
    """Print the tables, and write them down if asked to."""
    import dask

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--kinds", nargs="+", default=["signal", "noise"])
    parser.add_argument(
        "--write", type=Path, nargs="?", const=RESULTS, metavar="FILE",
        help=f"default: {RESULTS.relative_to(ROOT)}",
    )  # fmt: skip
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    share = 4 * asked.rows * asked.columns / 2 / 1e6
    head = [
        f"`python -m benchmarks.speed.dask_training --rows {asked.rows} --columns {asked.columns}"
        f" --trees {asked.trees} --kinds {' '.join(asked.kinds)}`: {asked.trees} trees of depth 6"
        f" on {asked.rows:,} rows of {asked.columns} columns, float32, of which a worker has"
        f" {share:.0f} MB; two worker processes of one thread; {platform.machine()},"
        f" {available_cores()} cores, gbt {gbt.__version__}, Dask {dask.__version__}; load"
        f" {os.getloadavg()[0]:.1f} at the start.",
        "",
        "| targets | | s | s of processors | MB of a worker | MB more than before |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(head), flush=True)
    lines = [*head, *measure(asked)]
    if asked.write:
        n_table = sum(line.startswith("|") for line in lines) + 2
        asked.write.write_text(
            "\n".join([*lines[:n_table], "", "\n\n".join(lines[n_table:])]) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
