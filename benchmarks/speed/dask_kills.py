"""Kill workers at random times while a model is fitted on a cluster of Dask.

    python -m benchmarks.speed.dask_kills --kills 30

Three worker processes hold the rows. At a time drawn at random one of them gets SIGKILL; Dask
starts another. Every fit must end in the model that the rows in memory have, to the last bit, or in
an error that says workers were lost. What is printed is how often either came, and how long the
slowest fit took beside one that nobody disturbs.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
from threading import Timer

import numpy as np

import gbt
from gbt.training.shares.team import LostMemberError

ARRAYS = ("feature", "threshold", "n_samples", "sum_gradient", "sum_hessian", "gain", "value")


def is_same(model: gbt.GBTRegressor, other: gbt.GBTRegressor) -> bool:
    """Say whether two models have the same nodes, to the last bit."""
    return all(
        np.array_equal(getattr(model.ensemble_, name), getattr(other.ensemble_, name))
        for name in ARRAYS
    )


def main() -> int:
    """Print the counts; return 1 if a fit ended in anything else."""
    import dask.array as da
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    rng = np.random.default_rng(asked.seed)
    X = rng.normal(size=(asked.rows, 5))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=asked.rows)
    expected = gbt.GBTRegressor(20, splitter="greedy").fit(X, y)
    table = da.from_array(X, chunks=(asked.rows // 12, X.shape[1]))
    counts = {"the same model": 0, "an error that says so": 0, "another model": 0}
    times = []
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        gbt.GBTRegressor(20, splitter="greedy").fit(table, y)
        started = time.perf_counter()
        gbt.GBTRegressor(20, splitter="greedy").fit(table, y)
        undisturbed = time.perf_counter() - started
        for _ in range(asked.kills):
            client.wait_for_workers(3)
            # One that was killed when its fit was over may not be missed yet.
            alive = client.run(os.getpid, on_error="ignore")
            victim = int(rng.choice(sorted(alive.values())))
            timer = Timer(rng.uniform(0, undisturbed), os.kill, (victim, signal.SIGKILL))
            started = time.perf_counter()
            timer.start()
            try:
                model = gbt.GBTRegressor(20, splitter="greedy").fit(table, y)
                came = "the same model" if is_same(model, expected) else "another model"
            except LostMemberError:
                came = "an error that says so"
            times.append(time.perf_counter() - started)
            timer.join()
            counts[came] += 1
            print(f"{came}, after {times[-1]:.1f} s", flush=True)
            client.sync(asyncio.sleep, 0)  # its thread has let go then what it is told to
            if client.futures:
                raise SystemExit(f"{len(client.futures)} futures were left behind")
    for came, n in counts.items():
        print(f"{n:3d} of {asked.kills}: {came}")
    print(f"undisturbed {undisturbed:.1f} s, slowest {max(times):.1f} s")
    return int(counts["another model"] > 0)


if __name__ == "__main__":
    sys.exit(main())
