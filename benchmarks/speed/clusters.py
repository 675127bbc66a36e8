"""What benchmarks on a cluster of Dask share: workers, rows that are made there, and their memory.

Workers are processes of one thread. Tables are made in chunks, each with a seed of its own.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.resident import MEGABYTE, forget_peak, peak
from gbt.model.tree import NODE_DTYPES

N_COLUMNS = 20


@contextmanager
def workers(n_workers: int = 2, **options: Any) -> Iterator[Any]:
    """Start a cluster; yield its client."""
    from distributed import Client, LocalCluster

    how = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None, **options}
    with LocalCluster(**how) as cluster, Client(cluster) as client:
        yield client


def chunk_of(
    number: int, n_rows: int, n_columns: int = N_COLUMNS, kind: str = "signal"
) -> np.ndarray:
    """Return float32 rows and, in the last column, their targets."""
    rng = np.random.default_rng([11, number])
    table = rng.normal(size=(n_rows, n_columns + 1)).astype(np.float32)
    if kind == "signal":
        table[:, -1] += table[:, 0] + np.sin(3 * table[:, 1]) + table[:, 2] * table[:, 3]
    return table


def rows_of(numbers: Iterable[int], n_rows: int, n_columns: int, kind: str) -> tuple[Any, Any]:
    """Return lazy rows and targets of some chunks."""
    import dask
    import dask.array as da

    load, shape = dask.delayed(chunk_of, pure=True), (n_rows, n_columns + 1)
    how = n_rows, n_columns, kind
    table = da.concatenate([da.from_delayed(load(k, *how), shape, np.float32) for k in numbers])
    return table[:, :-1], table[:, -1]


def is_same(model: Any, other: Any) -> bool:
    """Say whether two models have the same nodes, to the last bit."""
    one, two = model.ensemble_, other.ensemble_
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in NODE_DTYPES)


class Measured(NamedTuple):
    """What some work took: seconds, seconds of all processors, and MB.

    Of memory the most of a worker, the most that is more than before, and the most of this process.
    """

    seconds: float
    processors: float
    of_worker: float
    more_of_worker: float
    here: float


def measured(work: Callable[[], Any], client: Any) -> tuple[Measured, Any]:
    """Return what some work took, and what it returned."""
    before, used = client.run(forget_peak), client.run(time.process_time)
    forget_peak()
    busy, started = time.process_time(), time.perf_counter()
    done = work()
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    after, peaks = client.run(time.process_time), client.run(peak)
    of_workers = sum(after[worker] - used[worker] for worker in after)
    more = max(peaks[worker] - before[worker] for worker in peaks)
    sizes = max(peaks.values()), more, peak()
    return Measured(seconds, busy + of_workers, *(size / MEGABYTE for size in sizes)), done
