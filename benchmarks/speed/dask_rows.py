"""Ten million rows that are never in memory together: Dask's workers, and the command line.

    python -m benchmarks.speed.dask_rows --write                 1e7 rows, some minutes on two cores
    python -m benchmarks.speed.dask_rows --rows 200000 --file-rows 100000 200000       a small run

A model is fitted on 20,000 rows. Then rows of 20 columns are made in chunks of 100,000, 17 MB each,
on a cluster of two worker processes of one thread, and judged there by ``tree_inner`` and its like.
The same rows are written to two Parquet files, chunk by chunk, which the command line judges in
batches. Beside the seconds stands the largest resident memory. For the workers the system is asked
after each call, and the table also says how much more that is than before the call. The command
line runs in a fresh process for each file; how much more it takes for the larger file is what rows
take, which one file alone would not say. Two chunks in one process verify the cluster's answer
before anything is printed.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import gbt
from attributions import absolute, partial_inner, permutation, predecomp, total_gain, tree_inner
from gbt.parallel.cores import available_cores

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/dask_rows.md"
ROWS_PER_CHUNK, N_COLUMNS = 100_000, 20
N_TRAINED = 20_000
TREES, DEPTH = 30, 4


def chunk_of(number: int, n_rows: int = ROWS_PER_CHUNK) -> np.ndarray:
    """Return rows and, in the last column, their targets; each chunk has a seed of its own."""
    rng = np.random.default_rng([7, number])
    table = rng.normal(size=(n_rows, N_COLUMNS + 1))
    signal = table[:, 0] + np.sin(3 * table[:, 1]) + table[:, 2] * table[:, 3]
    table[:, -1] += signal
    return table


def rows_of(n_chunks: int):
    """Return lazy rows and targets."""
    import dask
    import dask.array as da

    shape = (ROWS_PER_CHUNK, N_COLUMNS + 1)
    load = dask.delayed(chunk_of, pure=False)
    chunks = [da.from_delayed(load(k), shape, float) for k in range(1, n_chunks + 1)]
    table = da.concatenate(chunks)
    return table[:, :-1], table[:, -1]


def peak_of_process() -> float:
    """Return the largest resident memory of the calling process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def forget_peak() -> None:
    """Let the system count this process's largest resident memory anew."""
    Path("/proc/self/clear_refs").write_text("5")


def verify(model, client) -> None:
    """Compare two chunks on the cluster with the same rows in this process."""
    X, y = rows_of(2)
    table = np.concatenate([chunk_of(1), chunk_of(2)])
    here = tree_inner(model, table[:, :-1], table[:, -1])
    there = tree_inner(model, X, y)
    terms = np.abs(table[:, -1]).sum() * np.abs(model.ensemble_.value).sum()
    worst = np.abs(there.values - here.values).max() / (np.finfo(float).eps * terms)
    if worst > 64 or there.n_samples != here.n_samples:
        raise SystemExit(f"the cluster's answer is {worst:.3g} roundings away; nothing timed")


def measure(n_chunks: int, n_measures: int) -> list[str]:
    """Judge the rows on a cluster by some measures; return the lines of a table."""
    import dask
    from distributed import Client, LocalCluster

    table = chunk_of(0, N_TRAINED)
    model = gbt.GBTRegressor(TREES, max_depth=DEPTH, splitter="greedy").fit(
        table[:, :-1], table[:, -1]
    )
    X, y = rows_of(n_chunks)

    def refitted():
        return total_gain(model.ensemble_.refit_statistics(X, y))

    asked = {
        "tree_inner": partial(tree_inner, model, X, y),
        "tree_inner, no standard errors": partial(tree_inner, model, X, y, standard_error=False),
        "mean size of predecomp of all rows": lambda: (
            np.abs(predecomp(model, X).values).mean(axis=0).compute()
        ),
        "partial_inner": partial(partial_inner, model, X, y),
        "absolute": partial(absolute, model, X),
        "refit_statistics, total_gain": refitted,
        "permutation, one repeat": partial(permutation, model, X, y, n_repeats=1, random_state=0),
    }
    lines = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        dask.config.set(scheduler=client),
    ):
        verify(model, client)
        for name, work in list(asked.items())[:n_measures]:
            client.run(forget_peak)
            before = client.run(peak_of_process)
            started, here = time.perf_counter(), peak_of_process()
            work()
            seconds = time.perf_counter() - started
            peaks = client.run(peak_of_process)
            more = max(peaks[worker] - before[worker] for worker in peaks)
            rows = n_chunks * ROWS_PER_CHUNK
            line = (
                f"| {name} | {seconds:.0f} | {rows / seconds / 1e3:,.0f} | {more:.0f} |"
                f" {max(peaks.values()):.0f} | {max(peak_of_process() - here, 0):.0f} |"
            )
            print(line, flush=True)
            lines.append(line)
    return lines


def write_parquet(path: Path, n_chunks: int) -> None:
    """Write the rows chunk by chunk."""
    import pyarrow
    from pyarrow import parquet

    names = [*(f"x{k}" for k in range(N_COLUMNS)), "y"]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for k in range(1, n_chunks + 1):
            columns = [pyarrow.array(column) for column in chunk_of(k).T]
            writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema))


COMMAND = (
    "import resource, sys\n"
    "from attributions.__main__ import main\n"
    "status = main(sys.argv[1:])\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)\n"
    "sys.exit(status)\n"
)


def judge_file(n_chunks: int) -> tuple[float, float, float]:
    """Judge a Parquet file by the command line; return its GB, seconds, and the peak in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = Path(folder, "rows.parquet"), Path(folder, "model.json")
        table = chunk_of(0, N_TRAINED)
        gbt.GBTRegressor(TREES, max_depth=DEPTH, splitter="greedy").fit(
            table[:, :-1], table[:, -1]
        ).save(saved)
        write_parquet(path, n_chunks)
        arguments = ["--data", path, "--target", "y", "--model", saved, "--out", folder]
        command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
        started = time.perf_counter()
        printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        seconds = time.perf_counter() - started
        return path.stat().st_size / 1e9, seconds, float(printed.stdout.splitlines()[-1])


def judge_files(sizes: list[int]) -> list[str]:
    """Judge files of some numbers of rows; return a table, and what the larger ones take more."""
    lines = [
        "`python -m attributions --data rows.parquet --target y --model model.json`, the"
        " interpreter and compiled kernels included:",
        "",
        "| rows | GB of the file | s | largest resident memory, MB |",
        "|---|---|---|---|",
    ]
    found = []
    for n_rows in sizes:
        n_chunks = max(1, n_rows // ROWS_PER_CHUNK)
        found.append((n_chunks * ROWS_PER_CHUNK, *judge_file(n_chunks)))
        lines.append("| {:,} | {:.2f} | {:.0f} | {:.0f} |".format(*found[-1]))
    return [*lines, *(difference(found[0], larger) for larger in found[1:])]


def difference(small: tuple[float, ...], large: tuple[float, ...]) -> str:
    """Say what a larger file takes more than a smaller one, and that for each row."""
    rows, size, _, peak = (b - a for a, b in zip(small, large, strict=True))
    return (
        f"\nFrom {small[0]:,} to {large[0]:,} rows the file grows by {1000 * size:,.0f} MB and the"
        f" largest resident memory by {peak:,.0f} MB, {1e6 * peak / rows:.0f} bytes a row."
    )


def main() -> int:
    """Print the table, and write it down if asked to."""
    import dask

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument(
        "--file-rows", type=int, nargs="+", default=[1_000_000, 10_000_000],
        help="of the Parquet files",
    )  # fmt: skip
    parser.add_argument("--measures", type=int, default=7, help="how many of the seven")
    parser.add_argument("--write", action="store_true", help=f"to {RESULTS.relative_to(ROOT)}")
    asked = parser.parse_args()
    n_chunks = max(1, asked.rows // ROWS_PER_CHUNK)
    n_rows = n_chunks * ROWS_PER_CHUNK
    file_rows = " ".join(map(str, asked.file_rows))
    head = [
        f"`python -m benchmarks.speed.dask_rows --rows {n_rows} --file-rows {file_rows}"
        f" --measures {asked.measures}`:"
        f" {n_rows:,} rows of {N_COLUMNS} columns,"
        f" {8 * n_rows * (N_COLUMNS + 1) / 1e9:.2f} GB, in {n_chunks} chunks of"
        f" {8 * ROWS_PER_CHUNK * (N_COLUMNS + 1) / 1e6:.0f} MB; {TREES} trees of depth {DEPTH}; two"
        f" worker processes of one thread; {platform.machine()}, {available_cores()} cores, gbt"
        f" {gbt.__version__}, Dask {dask.__version__}; load {os.getloadavg()[0]:.1f} at the start.",
        "",
        "| | s | thousand rows a second | MB more in a worker | MB of a worker | MB more here |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(head), flush=True)
    lines = [*head, *measure(n_chunks, asked.measures), ""]
    of_files = judge_files(asked.file_rows)
    print("", *of_files, sep="\n")
    if asked.write:
        RESULTS.write_text("\n".join([*lines, *of_files]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
