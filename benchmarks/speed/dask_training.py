"""Training on a cluster of Dask, beside XGBoost's and LightGBM's, in one run.

    python -m benchmarks.speed.dask_training --write          1e6 rows x 20, 20 trees of depth 6

Two worker processes of one thread hold the rows, float32, in chunks of 50,000, made where they are.
Each library gets the same table and targets, and its whole call is timed, preparation included: the
clock, and the processor time of both workers and of this process. "noise" has targets that nothing
explains, where bounds spare least. Beside it stands the largest resident memory of a worker, and
how much more that is than before the call.

What travels is counted in a fit of its own, which is not timed: questions to all workers, by tree,
and the bytes of questions and answers. The model of the cluster is compared with that of the rows
in memory before anything is printed.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import gbt
from benchmarks.speed import clusters
from benchmarks.speed.timing import Page
from gbt.training.distributed.cluster import Cluster
from gbt.training.distributed.packing import packed

ROWS_PER_CHUNK = 50_000


def rows_of(n_rows: int, n_columns: int, kind: str) -> tuple[Any, Any]:
    """Return lazy rows and targets."""
    size = min(ROWS_PER_CHUNK, n_rows)
    return clusters.rows_of(range(n_rows // size), size, n_columns, kind)


def ours(X: Any, y: Any, trees: int, client: Any) -> Any:
    """Fit our trees with exact cuts."""
    return gbt.GBTRegressor(trees, splitter="greedy").fit(X, y)


def ours_in_bins(X: Any, y: Any, trees: int, client: Any) -> Any:
    """Fit ours as the peers do, and as `auto` does at this size: with cuts between 256 bins."""
    return gbt.GBTRegressor(trees, splitter="greedy", max_bins=256).fit(X, y)


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


OURS: dict[str, Callable[..., Any]] = {"gbt, 256 bins": ours_in_bins, "gbt, exact cuts": ours}
LIBRARIES = {**OURS, "XGBoost hist": xgboosts, "LightGBM": lightgbms}


def count_what_travels(
    fit: Callable[..., Any], X: Any, y: Any, trees: int, client: Any
) -> tuple[float, float]:
    """Return questions to all workers a tree, and MB a tree and worker, of the trees themselves."""
    counted: list[tuple[int, int]] = []
    right = Cluster.ask

    def ask(self: Cluster, questions: Any) -> Any:
        answers = right(self, questions)
        size = sum(len(packed(part)) for part in (*questions, *answers))
        counted.append((size, any(name == "start_tree" for q in questions for name, _ in q)))
        return answers

    Cluster.ask = ask  # type: ignore[method-assign]
    try:
        fit(X, y, trees, client)
    finally:
        Cluster.ask = right  # type: ignore[method-assign]
    first = next(i for i, (_, is_start) in enumerate(counted) if is_start)
    sizes = [size for size, _ in counted[first + 1 : -1]]  # the last asks for hashes of rows
    n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
    return len(sizes) / trees, sum(sizes) / 1e6 / trees / n_workers


def verify(n_columns: int, client: Any) -> None:
    """Compare a small fit on the cluster with the same rows in memory; all libraries warm up."""
    X, y = rows_of(100_000, n_columns, "signal")  # enough for all kernels to be loaded
    here = gbt.GBTRegressor(3, splitter="greedy").fit(X.compute(), y.compute())
    if not clusters.is_same(ours(X, y, 3, client), here):
        raise SystemExit("the cluster grew other trees than one process; nothing timed")
    for fit in LIBRARIES.values():
        fit(X, y, 1, client)


def measure(page: Page) -> None:
    """Time all libraries on a cluster, a line each, and say what travels."""
    asked = page.asked
    travels, n_counted = [], min(asked.trees, 10)
    with clusters.workers() as client:
        verify(asked.columns, client)
        for kind in asked.kinds:
            X, y = (part.persist() for part in rows_of(asked.rows, asked.columns, kind))
            client.run(time.time)  # workers have answered, so the rows are being made
            for part in (X, y):
                part.sum().compute()
            for name, fit in LIBRARIES.items():
                took, _ = clusters.measured(
                    lambda fit=fit, X=X, y=y: fit(X, y, asked.trees, client), client
                )
                seconds = (f"{number:.1f}" for number in (took.seconds, took.processors))
                sizes = (f"{size:.0f}" for size in (took.of_worker, took.more_of_worker))
                page.row(kind, name, *seconds, *sizes)
            for name, fit in OURS.items():
                rounds, size = count_what_travels(fit, X, y, n_counted, client)
                travels.append(
                    f"{kind}, {name}, first {n_counted} trees: {rounds:.1f} rounds a tree,"
                    f" {size:.1f} MB a tree and worker."
                )
            del X, y
    for line in travels:
        page.add("", line)


def main() -> None:
    """Print the tables."""
    asked = {"rows": 1_000_000, "columns": 20, "trees": 20, "kinds": ["signal", "noise"]}
    with Page("dask_training", __doc__, **asked) as page:
        asked = page.asked
        warnings.simplefilter("ignore")
        share = 4 * asked.rows * asked.columns / 2 / 1e6
        page.begin(
            f"{asked.trees} trees of depth 6 on {asked.rows:,} rows of {asked.columns} columns,"
            f" float32, of which a worker has {share:.0f} MB; two worker processes of one thread",
            "dask",
        )
        page.head("targets", "", "s", "s of processors", "MB of a worker", "MB more than before")
        measure(page)


if __name__ == "__main__":
    main()
