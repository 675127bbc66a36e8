"""A crew: threads that share the tasks of one phase after the other, without going back to Python.

Growing a tree goes through several short phases a level. Handing work to a Python thread takes some
60 microseconds, as long as a whole level of a small tree. So threads enter a kernel and stay there,
from one tree to the next. One of them, the leader, opens phase after phase::

    leader   open(5 tasks)   claim 4 ... claim 2 ... claim 0 ... wait for all done   open(3 tasks)
    helper                      claim 3 ... claim 1 ...          nothing left: look again

Only tasks that were claimed are waited for, never a thread: a helper may come late or not at all,
and the leader then does everything itself. It must not matter which thread runs a task. Between
two calls a helper looks for the next one for a while, then goes home, and is called again.

All look at one board, an int64 array. Its ticket holds phase << 32 | tasks left; a claim replaces
it by one less in a single step, so a ticket that was read in an earlier phase is worth nothing.
"""

import numpy as np

from gbt.kernels.atomics import add, give_way, load, pause, replace, store
from gbt.kernels.compiling import internal

# Entries of the board, a cache line of 8 words apart, so that threads do not slow each other down.
TICKET, DONE, KIND, LEADING, ALONE, BOARD_LENGTH = 0, 8, 16, 24, 32, 40
TASKS_LEFT = (1 << 32) - 1
LOOKS_BEFORE_GIVING_WAY = 100  # some microseconds, the usual time between two phases
LOOKS_BEFORE_GOING_HOME = 20_000  # longer than Python takes between two calls for some 1,000 rows


def board_for(n_threads: int) -> np.ndarray:
    """Return a board; a thread that is alone needs no atomic steps."""
    board = np.zeros(BOARD_LENGTH, dtype=np.int64)
    board[ALONE] = n_threads == 1
    return board


@internal
def begin(board):
    """Let helpers wait for phases to open, however long that takes."""
    if not board[ALONE]:
        store(board, LEADING, 1)


@internal
def end(board):
    """Let helpers go home if nothing else begins soon."""
    if not board[ALONE]:
        store(board, LEADING, 0)


@internal
def open_phase(board, kind, n_tasks):
    """Offer tasks 0 .. n_tasks - 1 of one kind; the phase before must be over."""
    board[KIND] = kind
    if board[ALONE]:
        board[TICKET] = n_tasks
        return
    phase = (load(board, TICKET) >> 32) + 1
    store(board, DONE, 0)
    store(board, TICKET, phase << 32 | n_tasks)


@internal
def claim(board):
    """Return the number of a task that is now the caller's, the highest first; -1 if none is left.

    Until the task is reported done the phase lasts, and ``board[KIND]`` says what to do.
    """
    if board[ALONE]:
        board[TICKET] -= 1
        return board[TICKET]
    while True:
        ticket = load(board, TICKET)
        if ticket & TASKS_LEFT == 0:
            return np.int64(-1)
        if replace(board, TICKET, ticket, ticket - 1):
            return np.int64((ticket & TASKS_LEFT) - 1)


@internal
def report_done(board):
    """Say that a claimed task is done."""
    if not board[ALONE]:
        add(board, DONE, 1)


@internal
def look_again(looks):
    """Count the looks at the board in vain, giving way to other threads now and then."""
    pause()
    if looks % LOOKS_BEFORE_GIVING_WAY == LOOKS_BEFORE_GIVING_WAY - 1:
        give_way()
    return looks + 1


@internal
def next_task(board, n_tasks):
    """Return a task of the phase to the leader; -1 when all its tasks are done."""
    task = claim(board)
    if task < 0 and not board[ALONE]:
        looks = np.int64(0)
        while load(board, DONE) != n_tasks:
            looks = look_again(looks)
    return task


@internal
def next_offer(board):
    """Return a task to a helper, waiting for one to be offered; -1 if nobody leads for a while."""
    looks = np.int64(0)
    while looks < LOOKS_BEFORE_GOING_HOME or load(board, LEADING):
        task = claim(board)
        if task >= 0:
            return task
        looks = look_again(looks)
    return np.int64(-1)
