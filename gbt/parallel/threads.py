"""Threads: the same serial kernel on several blocks at once, from one small pool.

Kernels release the GIL, so plain Python threads are enough. Numba's own parallel regions are not
used anywhere: its default threading layer aborts the process when two Python threads enter it at
once, and a forked child inherits its broken state. Every block writes to its own slice of the
output, so results do not depend on the number of threads.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from functools import cache, partial
from itertools import pairwise
from numbers import Integral
from weakref import WeakMethod

import joblib

THREAD_NAME = "gbt-kernel"
_pool: ThreadPoolExecutor | None = None


def _forget_pool() -> None:
    """Drop the pool: a forked child inherits the object but none of its threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def available_cores() -> int:
    """Return how many cores this process may use: by its affinity and its container's quota."""
    has_affinity = hasattr(os, "sched_getaffinity")  # which may change while the process runs
    return min(_cores_by_quota(), len(os.sched_getaffinity(0)) if has_affinity else sys.maxsize)


@cache  # even a prediction of one row asks, and counting takes longer than that
def _cores_by_quota() -> int:
    return int(joblib.cpu_count())


def effective_n_jobs(n_jobs: int | None) -> int:
    """Turn the ``n_jobs`` of scikit-learn into a number of threads.

    None means every core this process may use, but 1 inside a joblib worker, whose siblings have
    the other cores. Negative numbers count back from all cores: -1 is all of them.
    """
    if n_jobs is None:
        if joblib.parallel.get_active_backend()[0].nesting_level:
            return 1
        return available_cores()
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not allowed; use None or -1 for all cores, 1 for one"
        )
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


def _pool_of_threads() -> ThreadPoolExecutor:
    """Return the pool of threads, which is made at the first call."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(available_cores(), 2), thread_name_prefix=THREAD_NAME)
    return _pool


def _offer(method: Callable[..., object], *arguments: object) -> None:
    """Let the pool call a method, if its object is still there when a thread is free.

    Callers do the work themselves if no thread takes it. What they have done keeps no memory: the
    threads may be busy for minutes, in which a program can make thousands of predictions.

    Python starts no threads once the main thread has ended, when other threads and functions
    registered with ``atexit`` may still run. A system may also allow no more threads; the pool then
    raises an error, too, and keeps the work for the next thread that it gets.
    """
    with suppress(RuntimeError):
        _pool_of_threads().submit(_call, WeakMethod(method), *arguments)


def _call(waiting: WeakMethod, *arguments: object) -> None:
    method = waiting()
    if method is not None:
        method(*arguments)


class _Task(Future):
    """A task for a thread of the pool, with the caller's context."""

    def __init__(self, task: Callable[[], None]):
        super().__init__()
        self.run: Callable[[], None] = partial(copy_context().run, task)

    def do(self) -> None:
        """Run the task, unless it was cancelled: then another thread has run it."""
        if self.set_running_or_notify_cancel():
            try:
                self.run()
            except BaseException as error:
                self.set_exception(error)
            else:
                self.set_result(None)


def run_all(tasks: list[Callable[[], None]]) -> None:
    """Run the tasks at once, the first of them on the calling thread.

    Once the first is done, the calling thread also runs the tasks that no thread of the pool has
    begun, because these threads may be busy with another fit for minutes. Tasks within tasks run
    one after the other. The caller's ``np.errstate`` holds for all of them.
    """
    if len(tasks) < 2 or threading.current_thread().name.startswith(THREAD_NAME):
        for task in tasks:
            task()
        return
    offered = [_Task(task) for task in tasks[1:]]
    for other in offered:
        _offer(other.do)
    try:
        tasks[0]()
        for other in reversed(offered):  # backwards: the pool begins with the first
            if other.cancel():
                other.run()
    finally:  # an error here must not leave others writing to the caller's arrays
        begun = [other for other in offered if not other.cancel()]
        wait(begun)
    for other in begun:
        other.result()


def threads_for(work: int, least_work: int, n_jobs: int | None) -> int:
    """Return how many threads to use if each should have at least ``least_work``.

    A caller that is itself a thread of the pool gets 1, because the other threads are busy.
    """
    if threading.current_thread().name.startswith(THREAD_NAME):
        return 1
    return max(1, min(effective_n_jobs(n_jobs), work // least_work))


class Helpers:
    """Jobs that help the calling thread if a thread of the pool is free; it never waits for them.

    A job ends by itself when there has been nothing to help with for a while. If `call` comes just
    then, the job begins again.
    """

    def __init__(self, jobs: Sequence[Callable[[], object]]):
        self._jobs = jobs
        self._lock = threading.Lock()
        self._is_called = [False] * len(jobs)
        self._is_away = [False] * len(jobs)  # whether a job is at work or waits for a thread

    def call(self) -> None:
        """Let every job begin, or go on."""
        for i in range(len(self._jobs)):
            with self._lock:
                self._is_called[i] = True
                if not self._is_away[i]:
                    self._is_away[i] = True
                    _offer(self._help, i)

    def _help(self, i: int) -> None:
        while True:
            with self._lock:
                if not self._is_called[i]:
                    self._is_away[i] = False
                    return
                self._is_called[i] = False
            self._jobs[i]()


def over_blocks(
    work: Callable[[int, int], None], n_rows: int, n_jobs: int | None, min_rows: int = 1024
) -> None:
    """Call ``work(start, stop)`` for blocks that cover ``range(n_rows)``, one block a thread.

    A block has at least ``min_rows`` rows: handing one to a thread costs about 50 microseconds.
    """
    n_blocks = max(1, min(effective_n_jobs(n_jobs), n_rows // min_rows))
    edges = [n_rows * b // n_blocks for b in range(n_blocks + 1)]
    run_all([partial(work, start, stop) for start, stop in pairwise(edges)])
