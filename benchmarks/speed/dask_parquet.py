"""A model of ten million rows of a Parquet folder, on two workers that hold two gigabytes each.

    python -m benchmarks.speed.dask_parquet --write

The rows, 20 columns of float32 and their targets, are written part by part and read by Dask's
workers, two processes of one thread, whose memory is limited: Dask pauses a worker at 80 % of its
limit and kills it at 95 %. A model is trained on the first nine tenths of the parts and judged on
the last by held-out gain, where the rows are. Beside the seconds stands the largest resident memory
of a worker while it lasted, and of this process.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from attributions import held_out_gain
from benchmarks.speed import clusters
from benchmarks.speed.timing import Page
from benchmarks.study import ours

N_COLUMNS, N_PARTS, LIMIT = clusters.N_COLUMNS, 50, "2GB"
NAMES = [f"x{k}" for k in range(N_COLUMNS)]


def write_parts(folder: str, n_rows: int) -> int:
    """Write the parts; return how many bytes they have."""
    for number in range(N_PARTS):
        frame = pd.DataFrame(clusters.chunk_of(number, n_rows // N_PARTS), columns=[*NAMES, "y"])
        frame.to_parquet(Path(folder, f"part.{number:03d}.parquet"), compression=None)
    return sum(path.stat().st_size for path in Path(folder).iterdir())


def main() -> None:
    """Print the table."""
    import dask.dataframe as dd

    asked = {"rows": 10_000_000, "trees": 10}
    with Page("dask_parquet", __doc__, **asked) as page, TemporaryDirectory() as folder:
        n_rows, n_trees = page.asked.rows, page.asked.trees
        size = write_parts(folder, n_rows)
        share = 4 * 0.9 * n_rows * N_COLUMNS / 2 / 1e6
        page.begin(
            f"{n_rows:,} rows of {N_COLUMNS} columns, {size / 1e9:.2f} GB of Parquet in {N_PARTS}"
            f" parts; {n_trees} trees of depth 6 on nine tenths of them, of which a worker has"
            f" {share:,.0f} MB as float32; two worker processes of one thread and {LIMIT}", "dask",
        )  # fmt: skip
        page.head("", "s", "MB of a worker", "MB of the process that leads")
        with clusters.workers(memory_limit=LIMIT) as client:
            table = dd.read_parquet(folder)
            n_trained = table.npartitions * 9 // 10
            rows, held_out = table.partitions[:n_trained], table.partitions[n_trained:]
            model = ours(n_estimators=n_trees, n_jobs=None)
            for name, work in {
                "trained": lambda: model.fit(rows[NAMES], rows["y"]),
                "held-out gain": lambda: held_out_gain(model, held_out[NAMES], held_out["y"]),
            }.items():
                took, result = clusters.measured(work, client)
                memory = f"{took.of_worker:,.0f}", f"{took.here:,.0f}"
                page.row(name, f"{took.seconds:.0f}", *memory)
            best = ", ".join(NAMES[k] for k in result.ranking()[:4])
            page.add("", f"The first four columns by it: {best}.")


if __name__ == "__main__":
    main()
