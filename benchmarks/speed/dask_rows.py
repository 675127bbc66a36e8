"""Ten million rows that are never in memory together: Dask's workers, and the command line.

    python -m benchmarks.speed.dask_rows --write                 1e7 rows, some minutes on two cores

A model is fitted on 20,000 rows. Then rows of 20 columns are made in chunks of 100,000, 17 MB each,
on a cluster of two worker processes of one thread, and judged there by ``tree_inner`` and its like.
The same rows are written to two Parquet files, chunk by chunk, which the command line judges in
batches. Beside the seconds stands the largest resident memory. For the workers the system is asked
after each call, and the table also says how much more that is than before the call. The command
line runs in a fresh process for each file; how much more it takes for the larger file is what rows
take, which one file alone would not say. Two chunks in one process verify the cluster's answer
before anything is printed.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from attributions import absolute, partial_inner, permutation, predecomp, total_gain, tree_inner
from benchmarks.speed import clusters
from benchmarks.speed.large_file import seconds_and_memory
from benchmarks.speed.timing import Page, conditions
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


def measure(page: Page, n_chunks: int, n_measures: int) -> None:
    """Judge the rows on a cluster by some measures, a line each."""
    import dask

    model, (X, y) = fitted(), rows_of(n_chunks)
    asked = {
        "tree_inner": lambda: tree_inner(model, X, y),
        "tree_inner, no standard errors": lambda: tree_inner(model, X, y, standard_error=False),
        "mean size of predecomp of all rows": lambda: (
            np.abs(predecomp(model, X).values).mean(axis=0).compute()
        ),
        "partial_inner": lambda: partial_inner(model, X, y),
        "absolute": lambda: absolute(model, X),
        "refit_statistics, total_gain": lambda: total_gain(model.ensemble_.refit_statistics(X, y)),
        "permutation, one repeat": lambda: permutation(model, X, y, n_repeats=1, random_state=0),
    }
    with clusters.workers() as client, dask.config.set(scheduler=client):
        verify(model)
        for name, work in list(asked.items())[:n_measures]:
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


def judge_file(n_chunks: int) -> tuple[float, float, float]:
    """Judge a Parquet file by the command line; return its GB, seconds, and the peak in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = Path(folder, "rows.parquet"), Path(folder, "model.json")
        fitted().save(saved)
        write_parquet(path, n_chunks)
        return path.stat().st_size / 1e9, *seconds_and_memory(path, "--model", str(saved))


def judge_files(page: Page, sizes: list[int]) -> None:
    """Judge files of some numbers of rows, and say what the larger ones take more."""
    page.add(
        "",
        "`python -m attributions --data rows.parquet --target y --model model.json`, the"
        " interpreter and compiled kernels included:",
    )
    page.head("rows", "GB of the file", "s", "largest resident memory, MB")
    found = []
    for n_rows in sizes:
        n_chunks = max(1, n_rows // ROWS_PER_CHUNK)
        found.append((n_chunks * ROWS_PER_CHUNK, *judge_file(n_chunks)))
        page.row(*map("{:{}}".format, found[-1], (",", ".2f", ".0f", ".0f")))
    for larger in found[1:]:
        rows, size, _, peak = (b - a for a, b in zip(found[0], larger, strict=True))
        page.add(
            "",
            f"From {found[0][0]:,} to {larger[0]:,} rows the file grows by {1000 * size:,.0f} MB"
            f" and the largest resident memory by {peak:,.0f} MB, {1e6 * peak / rows:.0f} bytes a"
            " row.",
        )


def main() -> None:
    """Print the tables."""
    asked = {"rows": 10_000_000, "file_rows": [1_000_000, 10_000_000], "measures": 7}
    with Page("dask_rows", __doc__, **asked) as page:
        n_chunks = max(1, page.asked.rows // ROWS_PER_CHUNK)
        n_rows, file_rows = n_chunks * ROWS_PER_CHUNK, " ".join(map(str, page.asked.file_rows))
        page.add(
            f"`python -m benchmarks.speed.dask_rows --rows {n_rows} --file-rows {file_rows}"
            f" --measures {page.asked.measures}`: {n_rows:,} rows of {N_COLUMNS} columns,"
            f" {8 * n_rows * (N_COLUMNS + 1) / 1e9:.2f} GB, in {n_chunks} chunks of"
            f" {8 * ROWS_PER_CHUNK * (N_COLUMNS + 1) / 1e6:.0f} MB; {TREES} trees of depth {DEPTH};"
            f" two worker processes of one thread; {conditions('dask')}."
        )
        more = ("MB more in a worker", "MB of a worker", "MB more here")
        page.head("", "s", "thousand rows a second", *more)
        measure(page, n_chunks, page.asked.measures)
        judge_files(page, page.asked.file_rows)


if __name__ == "__main__":
    main()
