"""Threads, processes and forks: everything that a user's own parallelism may do around a fit."""

import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
import pytest

from gbt.parallel import threads as parallel
from gbt.parallel.threads import (
    Helpers,
    available_cores,
    effective_n_jobs,
    over_blocks,
    run_all,
    threads_for,
)
from gbt.tables.columns import Columns
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor
from tests.trainer import grow_tree


@pytest.fixture(autouse=True)
def _pool_of_its_own():
    """No test finds in the pool what another one left there, perhaps because it failed."""
    parallel._forget_pool()


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6000, 30))  # enough work for threads to be used
    return X, X[:, 0] + rng.normal(size=6000)


def value_of_a_fit(seed, n_jobs=2):
    return GreedyRegressor(2, max_depth=3, n_jobs=n_jobs).fit(*problem(seed)).ensemble_.value


@pytest.mark.parametrize("n_rows", [0, 1, 1023, 1024, 5000])
@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_blocks_cover_every_row_once(n_rows, n_jobs):
    seen = np.zeros(n_rows, dtype=int)

    def work(start, stop):
        seen[start:stop] += 1

    over_blocks(work, n_rows, n_jobs)
    assert_same(seen, np.ones(n_rows, dtype=int))


def test_n_jobs_is_that_of_scikit_learn():
    cores = available_cores()
    assert effective_n_jobs(None) == effective_n_jobs(-1) == cores
    assert effective_n_jobs(3) == 3
    assert effective_n_jobs(-cores - 5) == 1
    with pytest.raises(ValueError, match="n_jobs=0 is not allowed"):
        effective_n_jobs(0)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_of_joblib_leave_the_other_cores_to_each_other(backend):
    jobs = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(effective_n_jobs)(None) for _ in range(2)
    )
    assert jobs == [1, 1]


def test_an_error_in_a_thread_reaches_the_caller():
    def fail():
        raise RuntimeError("in a thread")

    with pytest.raises(RuntimeError, match="in a thread"):
        run_all([lambda: None, fail])


def test_what_the_caller_asks_of_numpy_holds_in_every_thread():
    both_run = threading.Barrier(2, timeout=60)
    asked = {}

    def task(name):
        both_run.wait()
        asked[name] = np.geterr()["over"]

    with np.errstate(over="raise"):
        run_all([lambda: task("caller"), lambda: task("helper")])
    assert asked == {"caller": "raise", "helper": "raise"}


def test_tasks_of_tasks_do_not_wait_for_each_other():
    """More of them than the pool has threads, each asking for threads itself."""
    done = np.zeros((8, 8), dtype=int)

    def inner(i, j):
        done[i, j] += 1

    def outer(i):
        run_all([lambda j=j: inner(i, j) for j in range(8)])

    run_all([lambda i=i: outer(i) for i in range(8)])
    assert_same(done, np.ones((8, 8), dtype=int))


def in_the_pool(work):
    """Run something on a thread of the pool."""
    return parallel._pool_of_threads().submit(work).result()


def test_a_thread_of_the_pool_calls_no_others():
    assert threads_for(10**9, 1, 2) == 2
    assert in_the_pool(lambda: threads_for(10**9, 1, 2)) == 1


def finish_pool():
    """Wait until everything that was given to the pool is done."""
    parallel._pool_of_threads().shutdown()
    parallel._forget_pool()


class FullPool:
    """Every thread of the pool waits until this ends."""

    def __enter__(self):
        self.end = threading.Event()
        pool = parallel._pool_of_threads()
        started = [threading.Event() for _ in range(pool._max_workers)]

        def occupy(event):
            event.set()
            self.end.wait()

        self.waiting = [pool.submit(occupy, event) for event in started]
        for event in started:
            event.wait()
        return self

    def __exit__(self, *error):
        self.end.set()
        for future in self.waiting:
            future.result()


def test_tasks_are_done_when_the_pool_is_full():
    """It may be for minutes: its threads help fits."""
    done = []
    with FullPool() as full:
        too_long = threading.Timer(60, full.end.set)  # so that a defect fails, and does not hang
        too_long.start()
        run_all([lambda i=i: done.append(i) for i in range(4)])
        assert not full.end.is_set()
        too_long.cancel()
        assert sorted(done) == [0, 1, 2, 3]
    finish_pool()
    assert len(done) == 4  # and not once more when the threads are free


@contextmanager
def no_thread_begins():
    """As where a system's limit on threads is reached."""

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        yield


def test_tasks_are_done_once_when_no_thread_begins():
    done = []
    with no_thread_begins():
        run_all([lambda i=i: done.append(i) for i in range(4)])
        assert sorted(done) == [0, 1, 2, 3]
    in_the_pool(lambda: None)  # a thread that finds what was offered before
    finish_pool()
    assert len(done) == 4


@pytest.mark.parametrize("without_threads", [FullPool, no_thread_begins])
def test_helpers_come_when_a_thread_is_free_and_once_however_often_they_were_called(
    without_threads,
):
    helped = []
    helpers = Helpers([lambda: helped.append(1)])
    with without_threads():
        helpers.call()
        helpers.call()
        assert not helped
    in_the_pool(lambda: None)
    finish_pool()
    assert helped == [1]


@pytest.mark.parametrize("way", [run_all, lambda jobs: Helpers(jobs).call()], ids=["tasks", "help"])
def test_what_nobody_needs_any_more_is_not_kept_until_a_thread_is_free(way):
    """Of a fit that is over, or of a prediction, all of whose arrays would stay in memory."""

    def job():
        pass

    gone = weakref.ref(job)
    with FullPool():
        way([lambda: None, job])
        del job
        assert gone() is None


def test_an_error_on_the_calling_thread_leaves_no_task_behind():
    def fail():
        raise RuntimeError("here")

    done = []
    with FullPool(), pytest.raises(RuntimeError, match="here"):
        run_all([fail, lambda: done.append(1)])
    finish_pool()
    assert not done


def test_a_tree_grows_when_the_pool_is_full_and_from_within():
    X, y = problem()
    columns = Columns.from_table(X, n_jobs=1)
    tree, _ = grow_tree(columns, -y, np.ones(len(y)), max_depth=3, n_jobs=1)
    with FullPool():
        alone, _ = grow_tree(columns, -y, np.ones(len(y)), max_depth=3, n_jobs=2)
    assert_same(alone.value, tree.value)
    assert_same(in_the_pool(lambda: value_of_a_fit(0)), value_of_a_fit(0, n_jobs=1))


def test_four_fits_at_once_from_threads():
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(value_of_a_fit, range(4)))
    for seed, value in enumerate(found):
        assert_same(value, value_of_a_fit(seed, n_jobs=1))


def test_fits_in_processes_of_joblib():
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(value_of_a_fit)(seed) for seed in range(3))
    for seed, value in enumerate(found):
        assert_same(value, value_of_a_fit(seed, n_jobs=1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fit_in_a_child_forked_after_a_fit():
    expected = value_of_a_fit(0)
    assert parallel._pool is not None  # the parent has used threads
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(value_of_a_fit(0), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


AT_THE_END = """
import atexit, sys, threading
import numpy as np
import attributions
from gbt import GBTRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 30))
y = X[:, 0] + rng.normal(size=6000)

def numbers(n_jobs):
    model = GBTRegressor(2, splitter="greedy", n_jobs=n_jobs).fit(X, y)
    return (
        model.predict(X),
        attributions.tree_inner(model, X, y, n_jobs=n_jobs).values,
        attributions.predecomp(model, X, n_jobs=n_jobs).values,
    )

def work():
    print(all(np.array_equal(a, b) for a, b in zip(numbers(2), numbers(1), strict=True)))

def work_after_the_main_thread():
    threading.main_thread().join()
    work()

way, has_pool = sys.argv[1:]
if has_pool == "True":
    numbers(2)
if way == "a thread":
    threading.Thread(target=work_after_the_main_thread).start()
else:
    atexit.register(work)
"""


@pytest.mark.slow
@pytest.mark.parametrize("has_pool", [True, False])
@pytest.mark.parametrize("way", ["a thread", "atexit"])
def test_all_is_done_after_the_main_thread_has_ended(way, has_pool):
    """Python begins no threads then, and those of a pool have gone home."""
    run = subprocess.run(
        [sys.executable, "-c", AT_THE_END, way, str(has_pool)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert run.stdout == "True\n", run.stderr
