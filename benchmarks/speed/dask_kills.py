"""Kill workers at random times while models are fitted on clusters of Dask.

    python -m benchmarks.speed.dask_kills --write                             thirty kills

Every fit has a cluster of its own, three worker processes of one thread. One of them gets SIGKILL
at a random time between the start of the fit and the time that an undisturbed fit took; Dask starts
another. A fit that ended before its kill is not counted. Every other must end in the model that the
rows in memory have, to the last bit, or within ten seconds of the kill in an error that says
workers were lost, and leave nothing behind. A fit that takes a minute counts as one that hangs.
"""

import argparse
import asyncio
import logging
import os
import platform
import signal
import sys
import time
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import numpy as np

import gbt
from gbt.parallel.cores import available_cores
from gbt.training.shares.team import LostMemberError

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks/results/dask_kills.md"
ARRAYS = ("feature", "threshold", "n_samples", "sum_gradient", "sum_hessian", "gain", "value")
SAME, SAID, OTHER, LATE, HANGS = (
    "the same model", "an error that says so", "another model", "an error after ten seconds",
    "no end within a minute",
)  # fmt: skip
N_COLUMNS, WORKERS, CHUNKS = 5, 3, 12
LATEST, HANGING = 10.0, 60.0  # s after the kill, and of a fit


def is_same(model: gbt.GBTRegressor, other: gbt.GBTRegressor) -> bool:
    """Say whether two models have the same nodes, to the last bit."""
    return all(
        np.array_equal(getattr(model.ensemble_, name), getattr(other.ensemble_, name))
        for name in ARRAYS
    )


def fit_and_kill(
    X: np.ndarray, y: np.ndarray, trees: int, expected: Any, after: float, rng: Any
) -> tuple[str, float, float]:
    """Fit on a cluster of its own, with a kill; return what came, when, and when the kill was."""
    import dask.array as da
    from distributed import Client, LocalCluster

    table = da.from_array(X, chunks=(len(X) // CHUNKS, X.shape[1]))
    ended: list[Any] = []

    def fit() -> None:
        try:
            ended.append(gbt.GBTRegressor(trees, splitter="greedy").fit(table, y))
        except LostMemberError:
            ended.append(None)  # not the error, which would keep all that its frames hold

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(WORKERS)
        # Kernels are loaded when a model has been fitted once, as on a cluster that is in use.
        gbt.GBTRegressor(1, splitter="greedy").fit(table, y)
        victim = int(rng.choice(sorted(client.run(os.getpid).values())))
        killed: list[float] = []

        def kill() -> None:
            os.kill(victim, signal.SIGKILL)
            killed.append(time.perf_counter())

        thread, timer = Thread(target=fit, daemon=True), Timer(after, kill)
        started = time.perf_counter()
        thread.start()
        timer.start()
        thread.join(HANGING)
        stopped = time.perf_counter()
        timer.join()
        if not ended:
            return HANGS, stopped - started, killed[0] - started
        client.sync(asyncio.sleep, 0)  # its thread has let go then what it is told to
        if client.futures:
            raise SystemExit(f"{len(client.futures)} futures were left behind")
    if ended[0] is None:
        came = SAID if stopped - killed[0] <= LATEST else LATE
    else:
        came = SAME if is_same(ended[0], expected) else OTHER
    return came, stopped - started, killed[0] - started


def main() -> int:
    """Print the counts; return 1 if a fit ended in anything that it must not end in."""
    import dask

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--trees", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"to {RESULTS.relative_to(ROOT)}")
    asked = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    rng = np.random.default_rng(asked.seed)
    X = rng.normal(size=(asked.rows, N_COLUMNS))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=asked.rows)
    expected = gbt.GBTRegressor(asked.trees, splitter="greedy").fit(X, y)
    # Here the kill comes long after the end of the fit, so nothing disturbs it.
    came, undisturbed, _ = fit_and_kill(X, y, asked.trees, expected, HANGING / 2, rng)
    if came != SAME:
        raise SystemExit(f"undisturbed: {came}")
    found: list[tuple[str, float, float]] = []
    while len(found) < asked.kills:
        came, end, kill = fit_and_kill(
            X, y, asked.trees, expected, rng.uniform(0, undisturbed), rng
        )
        if kill < end:
            found.append((came, end, kill))
        else:
            undisturbed = min(undisturbed, end)
        print(f"{len(found)}: {came}, {end:.1f} s, killed at {kill:.1f}", flush=True)
    lines = [
        f"`python -m benchmarks.speed.dask_kills --kills {asked.kills} --rows {asked.rows} --trees"
        f" {asked.trees} --seed {asked.seed}`: a worker of {WORKERS}, each a process, gets SIGKILL"
        f" at a random time of a fit of {asked.trees} trees on {asked.rows:,} rows of {N_COLUMNS}"
        f" columns in {CHUNKS} chunks, every time on a new cluster; {platform.machine()},"
        f" {available_cores()} cores, gbt {gbt.__version__}, Dask {dask.__version__}.",
        "",
        "| came | fits | longest after the kill, s |",
        "|---|---|---|",
    ]
    for kind in (SAME, SAID, OTHER, LATE, HANGS):
        own = [end - kill for came, end, kill in found if came == kind]
        lines.append(f"| {kind} | {len(own)} | {max(own):.1f} |" if own else f"| {kind} | 0 | |")
    slowest = max(end for _, end, _ in found)
    lines += [
        "",
        f"A fit that nobody disturbed took {undisturbed:.1f} s, the slowest of these"
        f" {slowest:.1f} s.",
    ]
    print("\n".join(lines))
    if asked.write:
        RESULTS.write_text("\n".join(lines) + "\n")
    return int(any(came in (OTHER, LATE, HANGS) for came, _, _ in found))


if __name__ == "__main__":
    sys.exit(main())
