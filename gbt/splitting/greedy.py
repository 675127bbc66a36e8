"""Greedy: the cut of largest gain over all cuts of all features.

What XGBoost calls the exact method, and what every other policy is measured against. The search
is ``gbt.kernels.search``, the growth of a whole tree ``gbt.kernels.growth``; here the parameters
meet the integers, memory is laid out, and threads are called.
"""

from functools import partial

import numpy as np

from gbt.columns import MAX_BINS, Columns
from gbt.kernels import crew
from gbt.kernels.compiling import IS_COMPILING
from gbt.kernels.growth import (
    COLUMN_FACTS,
    FIRST_BIN,
    IS_ALLOWED,
    LARGE,
    N_BINS,
    N_VALUES,
    NODE,
    Rows,
    Rules,
    Scratch,
    Slots,
    Table,
    grow_tree,
)
from gbt.kernels.histogram import LANES, layout_for, pack_entries
from gbt.kernels.refine import MOST_NARROW_BINS, MOST_SORTED
from gbt.parallel import run_with_helpers, threads_for
from gbt.splitting.frontier import Branches, Derivatives, Limits, Shape

# A helper arrives some 60 microseconds after it was called. That pays from about this many values,
# rows times columns, of which a level looks at most once.
LEAST_VALUES_PER_THREAD = 30_000
NO_LIMIT = -1


class Greedy:
    """Split every node where the gain is largest."""

    def prepare(
        self, columns: Columns, limits: Limits, shape: Shape, n_jobs: int | None
    ) -> "GreedyGrowth":
        """Lay out what growing trees on this table takes."""
        return GreedyGrowth(columns, limits, shape, n_jobs)


class GreedyGrowth:
    """The memory of growing greedy trees on one table, used again for every tree."""

    def __init__(self, columns: Columns, limits: Limits, shape: Shape, n_jobs: int | None):
        n, p = columns.n_rows, columns.n_columns
        self.limits, self.shape = limits, shape
        self.table = _table_of(columns)
        self.n_threads = threads_for(n * p, LEAST_VALUES_PER_THREAD, n_jobs if IS_COMPILING else 1)
        self.n_bins = int(self.table.word_start[-1])
        n_nodes = 2 * n - 1
        n_large = n * p // (LARGE * self.n_bins) + 1
        if shape.max_depth is not None:
            n_nodes = min(n_nodes, 2 ** (min(shape.max_depth, 60) + 1) - 1)
            n_large = min(n_large, 2 ** min(shape.max_depth, 60))
        if shape.max_leaves is not None:
            n_nodes = min(n_nodes, 2 * shape.max_leaves - 1)
        # A large node and its sibling have a slot each, every thread one more.
        self.n_slots = self.n_threads + 2 * n_large
        self.nodes = np.recarray(n_nodes, dtype=NODE)
        n_tasks = max(n_nodes, self.n_slots * max(p, len(columns.words)) + n_nodes)
        self.tasks = np.empty((n_tasks, 3), dtype=np.int64)
        most_bins = max(MOST_NARROW_BINS, MAX_BINS) + 2  # with that of missing rows, and an end
        self.scratch = Scratch(
            sums=np.empty((self.n_threads, 5, most_bins), dtype=np.int64),
            work=np.empty((self.n_threads, most_bins)),
            asked=np.empty((self.n_threads, MAX_BINS + 1), dtype=np.int64),
            narrow=np.empty((self.n_threads, most_bins * 3), dtype=np.int64),
            keys=np.empty((self.n_threads, MOST_SORTED + 1), dtype=np.int64),
        )
        self.node_of_row = np.empty(n, dtype=np.int32)
        self.width = 0  # numbers an entry, for which there are slots

    def grow(self, derivatives: Derivatives, rows: np.ndarray, features: np.ndarray) -> Branches:
        """Grow one tree; see ``gbt.splitting.frontier.Growth``."""
        layout = layout_for(derivatives.hessian[rows])
        if self.width != layout.width:
            self.width = layout.width
            self.slots = self._slots(layout.width)
        self.table.facts[:, IS_ALLOWED] = 0
        self.table.facts[features, IS_ALLOWED] = 1
        own_rows = self._rows(derivatives, rows, layout)
        rules = self._rules(derivatives, layout)
        del derivatives  # of 16 bytes a row, before the tree grows
        board = crew.board_for(self.n_threads)

        def grow(thread):
            return grow_tree(
                thread, board, self.table, own_rows, self.nodes, self.slots, self.tasks,
                rules, self.scratch,
            )  # fmt: skip

        n_nodes = run_with_helpers(
            partial(grow, 0),
            [partial(grow, thread) for thread in range(1, self.n_threads)],
            dismiss=partial(crew.finish, board),
        )
        nodes = self.nodes.view(np.ndarray)[:n_nodes]
        names = (
            "start", "stop", "feature", "low_row", "high_row", "missing_left", "left", "right",
        )  # fmt: skip
        return Branches(own_rows.listed, *(nodes[name].copy() for name in names))

    def _rows(self, derivatives, rows, layout) -> Rows:
        """Return what the kernels need of the rows."""
        n = len(self.node_of_row)
        entries = np.empty(n * layout.width, dtype=np.int64)
        pack_entries(derivatives.gradient, derivatives.hessian, layout, entries)
        return Rows(
            entries=entries,
            node=self.node_of_row,
            listed=np.array(rows, dtype=np.int32),
            buffer=np.empty(len(rows), dtype=np.int32),
            gathered=np.empty(len(rows) * layout.width, dtype=np.int64),
        )

    def _rules(self, derivatives: Derivatives, layout) -> Rules:
        """Return the limits in the units of the integers."""
        limits, shape = self.limits, self.shape
        # In this order nothing overflows that is not out of reach anyway.
        least_gain = limits.min_split_gain * derivatives.gradient_scale
        least_gain *= derivatives.gradient_scale / derivatives.hessian_scale
        return Rules(
            layout=layout,
            penalty=limits.reg_lambda * derivatives.hessian_scale,
            min_hessian=limits.min_child_weight * derivatives.hessian_scale,
            min_rows=max(limits.min_samples_leaf, 1),
            least_gain=least_gain,
            max_depth=NO_LIMIT if shape.max_depth is None else shape.max_depth,
            max_leaves=NO_LIMIT if shape.max_leaves is None else shape.max_leaves,
        )

    def _slots(self, width: int) -> Slots:
        """Return empty slots for entries of so many numbers."""
        n_slots, p = self.n_slots, len(self.table.facts)
        return Slots(
            histogram=np.empty((n_slots, (self.n_bins + 1) * width), dtype=np.int64),
            score=np.empty((n_slots, p)),
            bound=np.empty((n_slots, p)),
            code=np.empty((n_slots, p), dtype=np.int64),
            missing_left=np.empty((n_slots, p), dtype=np.int64),
            to_beat=np.empty(n_slots),
            free=np.empty(n_slots + 1, dtype=np.int64),
        )


def _table_of(columns: Columns) -> Table:
    """Return the columns as the kernels take them, and lay out their histograms."""
    p, n_words = columns.n_columns, len(columns.words)
    first_bin = np.cumsum([0, *(columns.n_bins + 1)])  # one more for missing rows
    n_bins = first_bin[-1]
    first = np.full((n_words, LANES), n_bins, dtype=np.uint64)  # read by nobody
    first.ravel()[:p] = first_bin[:-1]
    facts = np.empty((p, COLUMN_FACTS), dtype=np.int64)
    facts[:, N_VALUES] = columns.n_values
    facts[:, N_BINS] = columns.n_bins
    facts[:, FIRST_BIN] = first_bin[:-1]
    return Table(
        codes=columns.codes,
        order=columns.order,
        words=columns.words,
        bin_start=columns.bin_start,
        facts=facts,
        first=first,
        word_start=np.append(first_bin[:-1][::LANES], n_bins),
    )
