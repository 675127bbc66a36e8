"""Threads, processes and forks: everything that a user's own parallelism may do around a fit."""

import os
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from gbt import parallel
from gbt.parallel import effective_n_jobs, over_blocks, run_all
from tests.asserts import assert_same
from tests.trainer import fit


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6000, 30))  # enough work for threads to be used
    return X, X[:, 0] + rng.normal(size=6000)


def value_of_a_fit(seed, n_jobs=2):
    return fit(*problem(seed), n_jobs=n_jobs, n_estimators=2).ensemble.value


@pytest.mark.parametrize("n_rows", [0, 1, 1023, 1024, 5000])
@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_blocks_cover_every_row_once(n_rows, n_jobs):
    seen = np.zeros(n_rows, dtype=int)

    def work(start, stop):
        seen[start:stop] += 1

    over_blocks(work, n_rows, n_jobs)
    assert_same(seen, np.ones(n_rows, dtype=int))


def test_n_jobs_is_that_of_scikit_learn():
    cores = parallel.available_cores()
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


def test_tasks_of_tasks_do_not_wait_for_each_other():
    """More of them than the pool has threads, each asking for threads itself."""
    done = np.zeros((8, 8), dtype=int)

    def inner(i, j):
        done[i, j] += 1

    def outer(i):
        run_all([lambda j=j: inner(i, j) for j in range(8)])

    run_all([lambda i=i: outer(i) for i in range(8)])
    assert_same(done, np.ones((8, 8), dtype=int))


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
