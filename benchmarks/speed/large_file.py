"""The command line on a file of a million rows: seconds, and the most memory that it takes.

    python -m benchmarks.speed.large_file --write                 1e6 rows x 20 columns

The table has numbers, whole numbers, amounts and two columns of words. It is written as Parquet and
as CSV, and ``python -m attributions`` reads each in a process of its own: it fits a model to half
of the rows, judges it on the others and writes the report. Kernels are compiled before.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import attributions.warmup
from benchmarks.speed.timing import Page

N_TOWNS = 60


def table_of(n_rows: int) -> pd.DataFrame:
    """Return nineteen columns, of which five tell something of the last one, y."""
    rng = np.random.default_rng(0)
    columns = {f"normal {k}": rng.normal(size=n_rows).round(4) for k in range(10)}
    columns |= {f"whole {n}": rng.integers(0, n, n_rows) for n in (5, 100, 1_000, 100_000)}
    columns |= {f"amount {k}": np.exp(rng.normal(size=n_rows)).round(2) for k in range(3)}
    towns, of_town = rng.integers(N_TOWNS, size=n_rows), rng.normal(size=N_TOWNS)
    table = pd.DataFrame(columns)
    table["kind"] = np.array([f"kind {i}" for i in range(8)])[rng.integers(8, size=n_rows)]
    table["town"] = np.array([f"town {i}" for i in range(N_TOWNS)])[towns]
    signal = table["normal 0"] + np.abs(table["normal 1"]) + 0.3 * (table["whole 100"] > 50)
    signal += of_town[towns] + 0.5 * table["amount 0"]
    table["y"] = (signal + rng.normal(size=n_rows)).round(3)
    return table


def seconds_and_memory(file: Path, *options: str) -> tuple[float, float]:
    """Run the command on a file; return its seconds and the most MB that were resident."""
    command = [sys.executable, "-m", "attributions", "--data", str(file), "--target", "y"]
    command += ["--out", str(file.parent / "out"), *options]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)  # which says what it used, as `wait` does not
    process.returncode = status
    if status:
        raise SystemExit(f"{' '.join(command)} ended with status {status}")
    return time.perf_counter() - started, used.ru_maxrss / 1000


def main() -> None:
    """Print the table."""
    with Page("large_file", __doc__, rows=1_000_000) as page, TemporaryDirectory() as folder:
        n_rows = page.asked.rows
        attributions.warmup.main([])
        page.begin(f"{n_rows:,} rows of 20 columns")
        page.head("file", "MB", "s", "MB of memory")
        table = table_of(n_rows)
        files = {"Parquet": Path(folder, "table.parquet"), "CSV": Path(folder, "table.csv")}
        table.to_parquet(files["Parquet"], index=False)
        table.to_csv(files["CSV"], index=False)
        del table
        for kind, file in files.items():
            report = "--report", str(file.with_suffix(".html"))
            seconds, memory = seconds_and_memory(file, *report)
            size = file.stat().st_size / 1e6
            page.row(kind, f"{size:.0f}", f"{seconds:.0f}", f"{memory:,.0f}")


if __name__ == "__main__":
    main()
