r"""The outputs of a model while it is fitted: raw predictions, and the trees that follow them.

With one output, tree after tree is grown on the derivatives at the raw predictions so far; in the
histogram search (``gbt.training.histogram_growth``), where kernels know the loss, one call grows
many. With K outputs (``gbt.losses.several_outputs``) all K trees of a round are grown on the
derivatives before it. They do not depend on each other, so threads grow them side by side, each in
memory of its own::

    raw predictions -> loss -> g, h -> thread 0: trees 0, 2, 3 -> raw predictions
        (K, n)              (K, n) \-> thread 1: trees 1, 4    -/     (K, n)

A thread that is done takes the next tree that no other has begun; a tree does not depend on the
thread that grows it. Threads that share one tree wait for each other several times for every depth
of it; threads with trees of their own wait once a round. When no tree is left to begin, threads
help with those that still grow: of seven trees two threads grow three each, and share the seventh.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN
from gbt.losses.loss import Loss
from gbt.losses.overflow import refusing_overflow
from gbt.losses.own import OwnLoss
from gbt.parallel.threads import effective_n_jobs, over_blocks, run_all, threads_for
from gbt.splitting.policies_by_name import POLICIES
from gbt.splitting.policy import Policy
from gbt.tables.columns import Columns
from gbt.training.grown_trees import NewTrees
from gbt.training.histogram_growth import HistogramGrowth
from gbt.training.plan import Plan
from gbt.training.policy_growth import growth_of
from gbt.training.sampling import Draws

# Handing trees to a thread takes some 60 microseconds a round. It pays if the thread's trees read
# this many values, rows times columns.
LEAST_VALUES_PER_THREAD = 20_000
# Losses that kernels do not know take several passes in NumPy, in which so many values stay in
# caches. With a quarter as many two threads wait for Python more than they compute: derivatives of
# seven classes take 2.0 instead of 1.2 milliseconds a round of 20,000 rows.
VALUES_AT_ONCE = 2**16


class Outputs:
    """The raw predictions of all outputs, and the memory in which their trees grow.

    ``start``, float64 of shape (K, n), are those before the first tree. A single weight may stand
    for those of all rows.
    """

    def __init__(
        self,
        loss: Loss,
        start: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray,
        columns: Columns,
        splitter: Policy,
        plan: Plan,
        draws: Draws,
    ):
        n_threads = effective_n_jobs(plan.n_jobs)
        self.loss, self.y = loss, loss.prepared(y, sample_weight, n_threads)
        # Whether a policy of the user's own overflows is not ours to refuse.
        is_ours = type(splitter) in POLICIES.values()
        self.X: Any = columns.table
        self.draws = draws
        self.guard: Callable[[], AbstractContextManager[None]]
        self.guard = refusing_overflow if is_ours else nullcontext
        self.raw = start
        self._derived = np.empty((2, *start.shape))  # takes no memory where kernels derive
        n_values = columns.n_rows * columns.n_columns * loss.n_outputs
        n_beside = min(loss.n_outputs, threads_for(n_values, LEAST_VALUES_PER_THREAD, n_threads))
        self._n_threads = n_threads
        self.n_jobs = n_threads // n_beside
        of_each = replace(plan, n_jobs=self.n_jobs, has_guest=self.n_jobs == 1 < n_beside)
        self.workers: list[tuple[Training, HistogramGrowth]] = []
        for _ in range(n_beside):
            training = Training(
                y=y if y.ndim == 1 else y[:, 0].copy(),  # for losses that kernels know
                weight=sample_weight,
                raw_prediction=self.raw[0] if len(self.raw) == 1 else np.empty(len(y)),
                gradient=np.empty(len(y)),
                hessian=np.empty(1 if loss.has_one_hessian else len(y)),
            )
            self.workers.append((training, growth_of(splitter, columns, training, of_each)))

    def grow(self, m: int, most: int, learning_rate: float) -> list[NewTrees]:
        """Grow the round of tree ``m``; with one output, up to ``most`` trees.

        Rows that a tree has not seen go down it to be predicted.
        """
        draws, derivatives = self.draws, self._derivatives()
        grown: dict[int, NewTrees] = {}
        waiting = iter(range(len(self.raw)))  # one for all threads
        growing: list[HistogramGrowth] = []  # a tree, at present

        def grow_what_waits(training: Training, growth: HistogramGrowth) -> None:
            growth.rules["learning_rate"] = learning_rate
            try:
                for k in waiting:
                    if derivatives is not None:
                        gradient, hessian = (part[k] for part in derivatives)
                        training.gradient[:] = gradient
                        training.hessian[:] = hessian[: len(training.hessian)]  # or one for all
                    training.raw_prediction[:] = self.raw[k]
                    rows = draws.rows(m + k)
                    growing.append(growth)
                    try:
                        with self.guard():
                            grown[k] = growth.grow(m + k, rows, draws.columns(m + k), most)
                    finally:
                        growing.remove(growth)
                    if rows is not None and len(rows) < len(self.X):
                        grown[k].to_walk().add_values(self.X, training.raw_prediction, self.n_jobs)
                    self.raw[k] = training.raw_prediction
            finally:
                list(waiting)  # after an error or an interrupt nobody begins another tree
            while any(growth.help() for growth in tuple(growing)):
                pass

        run_all([partial(grow_what_waits, *own) for own in self.workers])
        return [grown[k] for k in range(len(self.raw))]

    def _derivatives(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return g and h of all outputs, of shape (K, n); None where kernels write them."""
        if self.loss.kind != GIVEN:
            return None
        gradient, hessian = self._derived
        is_one = len(self.raw) == 1

        def write(start: int, stop: int) -> None:
            for first in range(start, stop, at_once):
                rows = slice(first, min(first + at_once, stop))
                raw, g, h = (
                    part[0, rows] if is_one else part[:, rows].T
                    for part in (self.raw, gradient, hessian)
                )
                y = self.y[rows] if self.loss.is_by_row else self.y
                self.loss.gradient_hessian(y, raw, out=(g, h))

        if isinstance(self.loss, OwnLoss):  # a user's code may not expect some of the rows
            at_once = len(self.y)
            write(0, at_once)
            return gradient, hessian
        at_once, least = len(self.y), len(self.y)  # rows that depend on each other are one block
        if self.loss.is_by_row:
            at_once = max(VALUES_AT_ONCE // len(self.raw), 1)
            least = max(LEAST_VALUES_PER_THREAD // len(self.raw), 1)
        with refusing_overflow():
            over_blocks(write, len(self.y), self._n_threads, least)
        return gradient, hessian
