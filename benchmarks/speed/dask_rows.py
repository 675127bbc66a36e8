"""Ten million rows that are never in memory together: Dask's workers, and the command line.

    python -m benchmarks.speed.dask_rows --write                 1e7 rows, some minutes on two cores

A model is fitted on 20,000 rows. Then rows of 20 columns are made in chunks of 100,000, 17 MB each,
on a cluster of two worker processes of one thread, and judged there. A tenth of the rows is written
to a Parquet file, chunk by chunk, which the command line judges in batches. Beside the seconds
stands the largest resident memory. For the workers the system is asked after each call, and the
table also says how much more that is than before the call. Two chunks in one process verify the
cluster's answer before anything is printed.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from attributions import predecomp, tree_inner
from benchmarks.speed import clusters
from benchmarks.speed.large_file import seconds_and_memory
from benchmarks.speed.timing import Page
from benchmarks.study import ours

ROWS_PER_CHUNK, N_COLUMNS = 100_000, clusters.N_COLUMNS
N_TRAINED = 20_000
TREES, DEPTH = 30, 4
chunk_of = partial(clusters.chunk_of, dtype=np.float64)


def rows_of(n_chunks: int):
    """Return lazy rows and targets."""
    return clusters.rows_of(range(1, n_chunks + 1), ROWS_PER_CHUNK, dtype=np.float64)


def fitted():
    """Return a model of rows that are in no chunk that is judged."""
    table = chunk_of(0, N_TRAINED)
    model = ours(n_estimators=TREES, max_depth=DEPTH, n_jobs=None)
    return model.fit(table[:, :-1], table[:, -1])


def verify(model) -> None:
    """Compare two chunks on the cluster with the same rows in this process."""
    table = np.concatenate([chunk_of(k, ROWS_PER_CHUNK) for k in (1, 2)])
    here = tree_inner(model, table[:, :-1], table[:, -1])
    there = tree_inner(model, *rows_of(2))
    terms = np.abs(table[:, -1]).sum() * np.abs(model.ensemble_.value).sum()
    worst = np.abs(there.values - here.values).max() / (np.finfo(float).eps * terms)
    if worst > 64 or there.n_samples != here.n_samples:
        raise SystemExit(f"the cluster's answer is {worst:.3g} roundings away; nothing timed")


def measure(page: Page, n_chunks: int) -> None:
    """Judge the rows on a cluster, a line a measure."""
    import dask

    model, (X, y) = fitted(), rows_of(n_chunks)
    asked = {
        "tree_inner": lambda: tree_inner(model, X, y),
        "tree_inner, no standard errors": lambda: tree_inner(model, X, y, standard_error=False),
        "mean size of predecomp of all rows": lambda: (
            np.abs(predecomp(model, X).values).mean(axis=0).compute()
        ),
    }
    with clusters.workers() as client, dask.config.set(scheduler=client):
        verify(model)
        for name, work in asked.items():
            took, _ = clusters.measured(work, client)
            speed = n_chunks * ROWS_PER_CHUNK / took.seconds / 1e3
            numbers = took.seconds, speed, took.more_of_worker, took.of_worker, took.more_here
            page.row(name, *(f"{number:,.0f}" for number in numbers))


def write_parquet(path: Path, n_chunks: int) -> None:
    """Write the rows chunk by chunk."""
    import pyarrow
    from pyarrow import parquet

    names = [*(f"x{k}" for k in range(N_COLUMNS)), "y"]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for k in range(1, n_chunks + 1):
            columns = [pyarrow.array(column) for column in chunk_of(k, ROWS_PER_CHUNK).T]
            writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema))


def judge_file(page: Page, n_chunks: int) -> None:
    """Judge a Parquet file by the command line."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = Path(folder, "rows.parquet"), Path(folder, "model.json")
        fitted().save(saved)
        write_parquet(path, n_chunks)
        size = path.stat().st_size / 1e9
        seconds, memory = seconds_and_memory(path, "--model", str(saved))
    page.add(
        "",
        "`python -m attributions --data rows.parquet --target y --model model.json` on a file of"
        f" {n_chunks * ROWS_PER_CHUNK:,} rows, {size:.2f} GB: {seconds:.0f} s, largest resident"
        f" memory {memory:,.0f} MB, the interpreter and compiled kernels included.",
    )


def main() -> None:
    """Print the table, and what is found of the file."""
    with Page("dask_rows", __doc__, rows=10_000_000) as page:
        n_chunks = max(1, page.asked.rows // ROWS_PER_CHUNK)
        megabytes = 8 * ROWS_PER_CHUNK * (N_COLUMNS + 1) / 1e6
        page.begin(
            f"{n_chunks * ROWS_PER_CHUNK:,} rows of {N_COLUMNS} columns,"
            f" {n_chunks * megabytes / 1e3:.2f} GB, in {n_chunks} chunks of {megabytes:.0f} MB;"
            f" {TREES} trees of depth {DEPTH}; two worker processes of one thread", "dask",
        )  # fmt: skip
        more = ("MB more in a worker", "MB of a worker", "MB more here")
        page.head("", "s", "thousand rows a second", *more)
        measure(page, n_chunks)
        judge_file(page, max(1, n_chunks // 10))


if __name__ == "__main__":
    main()
