"""A model of ten million rows of a Parquet folder, on two workers that hold two gigabytes each.

    python -m benchmarks.speed.dask_parquet --write
    python -m benchmarks.speed.dask_parquet --rows 200000 --trees 3                  a small run

The rows, 20 columns of float32 and their targets, are written part by part and read by Dask's
workers, two processes of one thread, whose memory is limited: Dask pauses a worker at 80 % of its
limit and kills it at 95 %. A model is trained on the first nine tenths of the parts and judged on
the last by held-out gain, where the rows are. Beside the seconds stands the largest resident memory
of a worker while it lasted, and of this process.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gbt
from attributions import held_out_gain
from benchmarks.speed.dask_rows import forget_peak, peak_of_process
from benchmarks.speed.dask_training import chunk_of
from gbt.parallel.cores import available_cores

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/dask_parquet.md"
N_COLUMNS, N_PARTS, LIMIT = 20, 50, "2GB"
NAMES = [f"x{k}" for k in range(N_COLUMNS)]


def write_parts(folder: str, n_rows: int) -> int:
    """Write the parts; return how many bytes they have."""
    import pandas

    for number in range(N_PARTS):
        table = chunk_of(number, n_rows // N_PARTS, N_COLUMNS, "signal")
        frame = pandas.DataFrame(table, columns=[*NAMES, "y"])
        frame.to_parquet(Path(folder, f"part.{number:03d}.parquet"), compression=None)
    return sum(path.stat().st_size for path in Path(folder).iterdir())


def measured(name: str, work: Callable[[], Any], client: Any) -> tuple[str, Any]:
    """Return a line about some work, and what it returned."""
    client.run(forget_peak)
    forget_peak()
    started = time.perf_counter()
    done = work()
    seconds = time.perf_counter() - started
    of_worker = max(client.run(peak_of_process).values())
    line = f"| {name} | {seconds:.0f} | {of_worker:,.0f} | {peak_of_process():,.0f} |"
    print(line, flush=True)
    return line, done


def main() -> int:
    """Print the table, and write it down if asked to."""
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--write", action="store_true", help=f"to {RESULTS.relative_to(ROOT)}")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = write_parts(folder, asked.rows)
        share = 4 * 0.9 * asked.rows * N_COLUMNS / 2 / 1e6
        lines = [
            f"`python -m benchmarks.speed.dask_parquet --rows {asked.rows} --trees {asked.trees}`:"
            f" {asked.rows:,} rows of {N_COLUMNS} columns, {size / 1e9:.2f} GB of Parquet in"
            f" {N_PARTS} parts; {asked.trees} trees of depth 6 on nine tenths of them, of which a"
            f" worker has {share:,.0f} MB as float32; two worker processes of one thread and"
            f" {LIMIT}; {platform.machine()}, {available_cores()} cores, gbt {gbt.__version__},"
            f" Dask {dask.__version__}; load {os.getloadavg()[0]:.1f} at the start.",
            "",
            "| | s | MB of a worker | MB of the process that leads |",
            "|---|---|---|---|",
        ]
        print("\n".join(lines), flush=True)
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            table = dd.read_parquet(folder)
            n_trained = table.npartitions * 9 // 10
            rows, held_out = table.partitions[:n_trained], table.partitions[n_trained:]
            model = gbt.GBTRegressor(asked.trees, splitter="greedy")
            line, _ = measured("trained", lambda: model.fit(rows[NAMES], rows["y"]), client)
            lines.append(line)
            line, result = measured(
                "held-out gain",
                lambda: held_out_gain(model, held_out[NAMES], held_out["y"]),
                client,
            )
            lines.append(line)
            best = ", ".join(NAMES[k] for k in result.ranking()[:4])
            lines += ["", f"The first four columns by it: {best}."]
            print(lines[-1])
    if asked.write:
        RESULTS.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
