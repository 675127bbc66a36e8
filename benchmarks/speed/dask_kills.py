"""Kill workers at random times while models are fitted on a cluster of Dask, and fit two at once.

    python -m benchmarks.speed.dask_kills --write              thirty kills, ten pairs

The cluster has three worker processes of one thread. In a fit one of them gets SIGKILL at a random
time between the start and the time that an undisturbed fit took; Dask starts another. A fit that
ended before its kill is not counted. The two fits of a pair have the same table, so that they share
its chunks; nobody is killed. Every fit must end within a minute in the model that the rows in
memory have, to the last bit, or within ten seconds of a kill in an error that says workers were
lost. Afterwards nothing may be left: no future of the client, no task or actor on the cluster, and
no new thread but Dask's own. The first fit for which this does not hold ends the program.
"""

import logging
import os
import signal
import time
from threading import Thread, Timer
from threading import enumerate as all_threads
from typing import Any, NamedTuple

import numpy as np

import gbt
from benchmarks.speed.clusters import is_same, workers
from benchmarks.speed.timing import Page
from gbt.training.distributed.team import LostMemberError

SAME, SAID = "the same model", "an error that says so"
N_COLUMNS, WORKERS, CHUNKS = 5, 3, 12
# Threads that come with a worker in another's place.
OF_DASK = ("AsyncProcess", "Dask", "QueueFeeder")
LATEST, HANGING = 10.0, 60.0  # s after the kill, and of a fit


class Ended(NamedTuple):
    """How a fit ended, after how many seconds, and when a worker was killed; inf if none was."""

    came: str
    end: float
    kill: float


class Problem(NamedTuple):
    """Rows in chunks on a cluster, targets, how many trees to fit, and the right model."""

    table: Any
    y: np.ndarray
    trees: int
    expected: Any


def fit_at_once(
    client: Any, problem: Problem, n_fits: int, after: float = np.inf, victim: int = 0
) -> list[Ended]:
    """Fit a model several times at once, and kill a process after some seconds; inf is never."""
    before = set(all_threads())
    ended: list[tuple[str, float]] = []
    killed = [np.inf]

    def fit() -> None:
        came = "an error of another kind"
        try:
            model = gbt.GBTRegressor(problem.trees, splitter="greedy").fit(problem.table, problem.y)
            came = SAME if is_same(model, problem.expected) else "another model"
        except LostMemberError:
            came = SAID
        finally:
            ended.append((came, time.perf_counter() - started))

    def kill() -> None:
        os.kill(victim, signal.SIGKILL)
        killed.append(time.perf_counter() - started)

    threads = [Thread(target=fit, daemon=True) for _ in range(n_fits)]
    timers = [] if np.isinf(after) else [Timer(after, kill)]
    started = time.perf_counter()
    for thread in [*threads, *timers]:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, HANGING - (time.perf_counter() - started)))
    for timer in timers:
        timer.join()
    if len(ended) < n_fits:
        raise SystemExit(f"no end within {HANGING:.0f} s; a worker was killed at {killed[-1]:.1f}")
    found = [Ended(came, end, killed[-1]) for came, end in ended]
    for fit_ended in found:
        is_said = fit_ended.came == SAID and fit_ended.end - fit_ended.kill <= LATEST
        if fit_ended.came != SAME and not is_said:
            raise SystemExit(str(fit_ended))
    refuse_leftovers(client, before)
    return found


def refuse_leftovers(client: Any, before: set[Thread]) -> None:
    """End the program if fits have left something behind; the cluster has a moment to forget."""
    for _ in range(50):
        left = [f"future {key}" for key in client.futures]
        left += client.run_on_scheduler(lambda dask_scheduler: list(map(str, dask_scheduler.tasks)))
        of_workers = client.run(
            lambda dask_worker: list(map(str, dask_worker.state.actors)), on_error="ignore"
        )  # a worker that was killed after the fit may still be listed
        left += [f"actor {key}" for actors in of_workers.values() for key in actors]
        new = [thread.name for thread in all_threads() if thread not in before]
        left += [f"thread {name}" for name in new if not name.startswith(OF_DASK)]
        if not left:
            return
        time.sleep(0.1)
    raise SystemExit(f"left behind: {', '.join(left)}")


def main() -> None:
    """Print the counts."""
    import dask.array as da

    numbers = {"kills": 30, "pairs": 10, "rows": 10_000, "trees": 8, "seed": 0}
    page = Page("dask_kills", __doc__, **numbers)
    asked = page.asked
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    rng = np.random.default_rng(asked.seed)
    X = rng.normal(size=(asked.rows, N_COLUMNS))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=asked.rows)
    expected = gbt.GBTRegressor(asked.trees, splitter="greedy").fit(X, y)
    table = da.from_array(X, chunks=(len(X) // CHUNKS, N_COLUMNS))
    problem = Problem(table, y, asked.trees, expected)
    pairs: list[Ended] = []
    found: list[Ended] = []
    with workers(WORKERS) as client:
        client.wait_for_workers(WORKERS)
        fit_at_once(client, problem, 1)  # which loads kernels
        (alone,) = fit_at_once(client, problem, 1)
        undisturbed = alone.end
        for i in range(asked.pairs):
            pairs += fit_at_once(client, problem, 2)
            print(f"pair {i + 1}:", *(f"{e.came}, {e.end:.1f} s" for e in pairs[-2:]), flush=True)
        while len(found) < asked.kills:
            while len(client.scheduler_info(n_workers=-1)["workers"]) < WORKERS:
                client.cluster.scale(WORKERS)  # which gives up a worker that begins anew too slowly
                time.sleep(0.5)
            # Kernels are loaded in the process that takes the place of the one that was killed.
            gbt.GBTRegressor(1, splitter="greedy").fit(table, y)
            victim = int(rng.choice(sorted(client.run(os.getpid).values())))
            (new,) = fit_at_once(client, problem, 1, rng.uniform(0, undisturbed), victim)
            if new.kill < new.end:
                found.append(new)
            else:
                undisturbed = min(undisturbed, new.end)
            said = f"{new.came}, {new.end:.1f} s, killed at {new.kill:.1f}"
            print(f"{len(found)}: {said}", flush=True)
    with page:
        report(page, found, pairs, undisturbed)


def report(page: Page, found: list[Ended], pairs: list[Ended], undisturbed: float) -> None:
    """Print how fits with a kill, and fits in pairs, have ended."""
    page.begin(
        f"fits of {page.asked.trees} trees on {page.asked.rows:,} rows of {N_COLUMNS} columns in"
        f" {CHUNKS} chunks, on a cluster of {WORKERS} workers, each a process; a worker gets"
        " SIGKILL at a random time of the fit, or two fits work at once; nothing was left behind,"
        " be it a future, a task, an actor or a thread", "dask",
    )  # fmt: skip
    after = "longest after the kill, s"
    page.head("came", "fits with a kill", after, "fits in pairs", "longest, s")
    for kind in (SAME, SAID):
        after_kill = _counted([e.end - e.kill for e in found if e.came == kind])
        page.row(kind, *after_kill, *_counted([e.end for e in pairs if e.came == kind]))
    page.add("", f"A fit that nobody disturbed took {undisturbed:.1f} s.")


def _counted(seconds: list[float]) -> tuple[int, str]:
    return len(seconds), f"{max(seconds):.1f}" if seconds else ""


if __name__ == "__main__":
    main()
