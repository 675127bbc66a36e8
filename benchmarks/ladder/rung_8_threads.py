"""Rung 8, threads: columns do not depend on each other, so every core takes some of them.

    thread 1    columns 0, 2, 4, ...    count, survey  |  |  look inside  |  |
    thread 2    columns 1, 3, 5, ...    count, survey  |  |  look inside  |  |
                                                 best of both        best of both

Each thread keeps its own list of the best cuts. The lists are put together twice a level, first so
that bins are held against the best score of all columns. Integer sums and a fixed rule about ties
make the result the same for any number of threads, to the last bit.

Cost: some fifty microseconds a thread and phase for calling it from Python, which small tables do
not earn back.
"""

import os
from concurrent.futures import ThreadPoolExecutor

from benchmarks.ladder import rung_4_codes, rung_7_subtraction
from benchmarks.ladder.rung_3_compiled import compiled
from benchmarks.ladder.rung_4_codes import keep_better
from benchmarks.ladder.rung_6_bounds import prepare

__all__ = ["grow", "prepare"]

N_THREADS = os.cpu_count() or 1
POOL = ThreadPoolExecutor(N_THREADS)


class Search(rung_7_subtraction.Search):
    """The search of rung 7, on several threads."""

    def __call__(self, table, level, reg_lambda):
        """Find the best cuts of all nodes of a level."""
        self.begin(table, level)
        shares = [range(i, len(table.bins), N_THREADS) for i in range(N_THREADS)]
        for phase in (self.survey, self.look_inside):
            levels = [with_own_cuts(level) for _ in shares]
            running = [
                POOL.submit(phase, columns, table, own, reg_lambda)
                for columns, own in zip(shares, levels, strict=True)
            ]
            for own, thread in zip(levels, running, strict=True):
                thread.result()  # waits, and raises what the thread raised
                merge(own, level)


def with_own_cuts(level):
    """Return the same nodes with a list of best cuts that nobody else writes to."""
    own = {name: getattr(level, name).copy() for name in ("score", "feature", "code")}
    return level._replace(**own)


@compiled
def merge(own, level):
    """Take over the cuts of one thread that are better."""
    for t in range(len(level.score)):
        keep_better(t, own.feature[t], own.code[t], own.score[t], level)


def grow(table, gradient, max_depth, reg_lambda):
    """Grow a tree."""
    return rung_4_codes.grow(table, gradient, max_depth, reg_lambda, search=Search())
