"""BLAS on one thread, while threads of ours work side by side.

The matrices of a tree's linear model have some fifty columns. OpenBLAS divides even these among
all cores, and its threads then wait for the next product in a loop that takes the whole core: on
two cores that are busy with other work, `local_mdi` took four times the processor time that it
takes with BLAS on one thread.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_limits: list[Any] = []  # to be undone: one entry for every caller that is inside


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS on one thread, in the whole process; the last caller to leave undoes it."""
    with _lock:
        _limits.append(_libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            own = _limits.pop()
            if not _limits:
                own.restore_original_limits()


@cache
def _libraries() -> Any:
    """Return a handle on the loaded libraries; cached, since a search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
