"""A team of threads that share the tasks of one phase after the other, without leaving the kernel.

Growing a tree goes through several short phases a depth. Handing work to a Python thread takes some
60 microseconds, as long as a whole depth of a small tree. So threads enter a kernel and stay there,
from one tree to the next. One of them, the leader, offers the tasks of phase after phase::

    leader   offer(5 tasks)   claim 4 ... claim 2 ... claim 0 ... wait for all done   offer(3 tasks)
    helper                       claim 3 ... claim 1 ...          nothing left: look again

The leader waits for tasks that were claimed, never for a thread: a helper may come late or not at
all, and the leader then does everything itself. Results may not depend on which thread runs a task.
Between two calls a helper looks for the next one for a while, then leaves, and is called again.

All threads look at one task queue, an int64 array. Its ticket holds phase << 32 | tasks left. A
claim replaces the ticket by one less in a single step, so a ticket that was read in an earlier
phase can claim nothing.
"""

import numpy as np

from gbt.kernels.platform.atomics import add, give_way, load, pause, replace, store
from gbt.kernels.platform.compiling import internal

# Places of the queue, a cache line of 8 words apart, so that threads do not slow each other down.
TICKET, DONE, KIND, LEADING, ALONE, PATIENCE, QUEUE_LENGTH = 0, 8, 16, 24, 32, 33, 40
TASKS_LEFT = (1 << 32) - 1
ANY_PHASE = np.int64(-1)  # in place of the number of its tasks
LOOKS_BEFORE_GIVING_WAY = 100  # some microseconds, the usual time between two phases
LOOKS_BEFORE_LEAVING = 20_000  # longer than Python takes between two calls for some 1,000 rows
LOOKS_OF_A_GUEST = 1_000  # of a thread that may have trees of its own to grow


def task_queue(n_threads: int, patience: int = LOOKS_BEFORE_LEAVING) -> np.ndarray:
    """Return a queue for a team; a thread that is alone needs no atomic steps.

    A helper looks at it ``patience`` times in vain before it leaves.
    """
    queue = np.zeros(QUEUE_LENGTH, dtype=np.int64)
    queue[ALONE], queue[PATIENCE] = n_threads == 1, patience
    return queue


@internal
def begin(queue):
    """Let helpers wait for tasks, however long it takes until there are some."""
    if not queue[ALONE]:
        store(queue, LEADING, 1)


@internal
def end(queue):
    """Let helpers leave if nothing else begins soon."""
    if not queue[ALONE]:
        store(queue, LEADING, 0)


@internal
def offer_tasks(queue, kind, n_tasks):
    """Offer tasks 0 .. n_tasks - 1 of one kind; the phase before must be over."""
    queue[KIND] = kind
    if queue[ALONE]:
        queue[TICKET] = n_tasks
        return
    phase = (load(queue, TICKET) >> 32) + 1
    store(queue, DONE, 0)
    store(queue, TICKET, phase << 32 | n_tasks)


@internal
def claim(queue):
    """Return the number of a task that is now the caller's, the highest first; -1 if none is left.

    Until the task is reported done the phase lasts, and ``queue[KIND]`` says what to do.
    """
    if queue[ALONE]:
        queue[TICKET] -= 1
        return queue[TICKET]
    while True:
        ticket = load(queue, TICKET)
        if ticket & TASKS_LEFT == 0:
            return np.int64(-1)
        if replace(queue, TICKET, ticket, ticket - 1):
            return np.int64((ticket & TASKS_LEFT) - 1)


@internal
def report_done(queue):
    """Say that a claimed task is done."""
    if not queue[ALONE]:
        add(queue, DONE, 1)


@internal
def look_again(looks):
    """Count the looks at the queue in vain, giving way to other threads now and then."""
    pause()
    if looks % LOOKS_BEFORE_GIVING_WAY == LOOKS_BEFORE_GIVING_WAY - 1:
        give_way()
    return looks + 1


@internal
def is_worth_waiting(queue, n_tasks, looks):
    """Say whether a thread for which no task was left, so many times, looks again.

    The leader does until all its tasks are done, a helper for a while, and while somebody leads.
    """
    if n_tasks == ANY_PHASE:
        return looks < queue[PATIENCE] or load(queue, LEADING) != 0
    return not queue[ALONE] and load(queue, DONE) != n_tasks


@internal
def next_task(queue, n_tasks):
    """Return the number of a task, or -1: to the leader when the tasks of its phase are all done.

    A helper says ``ANY_PHASE``. It waits for a task to be offered, and is told -1 when nobody has
    led for a while.
    """
    looks, task = np.int64(0), claim(queue)
    while task < 0 and is_worth_waiting(queue, n_tasks, looks):
        looks = look_again(looks)
        task = claim(queue)
    return task
