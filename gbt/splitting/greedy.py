"""Greedy: the cut of largest gain over all cuts of all features.

What XGBoost calls the exact method, and what every other policy is measured against. The search
is ``gbt.kernels.search``, the growth of a whole tree ``gbt.kernels.growth``; here the parameters
meet the integers, memory is laid out, and threads are called.
"""

from functools import partial
from math import prod

import numpy as np

from gbt.columns import MAX_BINS, Columns
from gbt.fixed_point import scales_for
from gbt.kernels import crew
from gbt.kernels.compiling import IS_COMPILING
from gbt.kernels.growth import LARGE, grow_tree
from gbt.kernels.histogram import LANES, MOST_GROUP_BITS, layout_for
from gbt.kernels.memory import (
    COLUMN_FACTS,
    FIRST_BIN,
    IS_ALLOWED,
    MISSING_BIN,
    MOST_BITS,
    N_BINS,
    N_VALUES,
    RULES,
    Rows,
    Scratch,
    Slots,
    Table,
)
from gbt.kernels.nodes import NODE, records
from gbt.kernels.quantise import quantise_entries
from gbt.kernels.refine import MOST_NARROW_BINS, MOST_SORTED
from gbt.kernels.search import ASKED_LENGTH, RUNNING
from gbt.parallel import Helpers, threads_for
from gbt.splitting.frontier import Branches, Limits, Shape

# Sharing a phase costs about a microsecond. That pays from about this many values, rows times
# columns, of which a level looks at most once.
LEAST_VALUES_PER_THREAD = 20_000
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
        self.n_rows, p = columns.n_rows, columns.n_columns
        self.limits, self.shape = limits, shape
        self.table = _table_of(columns)
        n_values = self.n_rows * p
        n_threads = threads_for(n_values, LEAST_VALUES_PER_THREAD, n_jobs if IS_COMPILING else 1)
        n_nodes = 2 * self.n_rows - 1
        n_large = n_values // (LARGE * self.table.n_bins) + 1
        if shape.max_depth is not None:
            n_nodes = min(n_nodes, 2 ** (min(shape.max_depth, 60) + 1) - 1)
            n_large = min(n_large, 2 ** min(shape.max_depth, 60))
        if shape.max_leaves is not None:
            n_nodes = min(n_nodes, 2 * shape.max_leaves - 1)
        # A large node and its sibling have a slot each, every thread one more.
        self.n_slots = n_threads + 2 * n_large
        n_tasks = max(n_nodes, self.n_slots * max(p, len(columns.words)) + n_nodes)
        self.tasks = np.empty((n_tasks, 3), dtype=np.int64)
        self.nodes = records(n_nodes, NODE)
        self.rules = records(1, RULES)
        most_bins = max(MOST_NARROW_BINS, MAX_BINS) + 2  # that of missing rows, and one to spare
        self.scratch = Scratch(
            running=np.empty((n_threads, RUNNING, most_bins), dtype=np.int64),
            upper=np.empty((n_threads, most_bins)),
            asked=np.empty((n_threads, most_bins, ASKED_LENGTH), dtype=np.int64),
            bounds=np.empty((n_threads, most_bins)),
            marks=np.zeros((n_threads, most_bins), dtype=np.int64),
            narrow=aligned(n_threads, most_bins * 4),
            keys=np.empty((n_threads, MOST_SORTED + 1), dtype=np.int64),
        )
        self.width = 0  # numbers an entry, for which there is memory
        self.features = None  # that a tree may split on

    def grow(self, gradient, hessian, sample_weight, rows, features) -> Branches:
        """Grow one tree; see ``gbt.splitting.frontier.Growth``."""
        g_scale, h_scale, repeats, hessian_of_all = scales_for(
            gradient, hessian, sample_weight, rows
        )
        layout = layout_for(len(rows), hessian_of_all)
        if self.width != layout.width:
            self._make_room(layout.width)
        limits = self._limits_in_units(g_scale, h_scale)
        self.rules[0] = (*layout, len(rows), *limits, *self._shape())
        listed = self.rows.listed[: len(rows)]
        quantise_entries(
            gradient, hessian, sample_weight, rows, g_scale, h_scale, repeats, self.rules, listed,
            self.rows.entries,
        )  # fmt: skip
        if features is not self.features:
            self.table.facts[:, IS_ALLOWED] = 0
            self.table.facts[features, IS_ALLOWED] = 1
            self.features = features
        self.helpers.call()
        return Branches(listed, self.nodes[: self.lead()])

    def _make_room(self, width: int) -> None:
        """Lay out the memory for entries of so many numbers, and who is to work on it."""
        self.width = width
        n, p, n_slots = self.n_rows, len(self.table.facts), self.n_slots
        n_bins = int(self.table.word_start[-1])
        self.rows = Rows(
            entries=aligned(n * width),
            node=np.empty(n, dtype=np.int32),
            listed=np.empty(n, dtype=np.int32),
            buffer=np.empty(n, dtype=np.int32),
            gathered=aligned(n * width),
        )
        self.slots = Slots(
            histogram=aligned(n_slots, (n_bins + 1) * width),
            bits=np.empty((n_slots, p), dtype=np.int64),
            score=np.empty((n_slots, p)),
            bound=np.empty((n_slots, p)),
            code=np.empty((n_slots, p), dtype=np.int64),
            missing_left=np.empty((n_slots, p), dtype=np.int64),
            to_beat=np.empty(n_slots),
            free=np.empty(n_slots + 1, dtype=np.int64),
        )
        n_threads = len(self.scratch.keys)
        shared = (
            crew.board_for(n_threads), self.table, self.rows, self.nodes, self.slots, self.tasks,
            self.rules, self.scratch,
        )  # fmt: skip
        self.lead, *helpers = [partial(grow_tree, thread, *shared) for thread in range(n_threads)]
        self.helpers = Helpers(helpers)

    def _limits_in_units(self, g_scale: float, h_scale: float) -> tuple[float, float, float]:
        """Return lambda, the least hessian of a side and the least gain in the integers' units."""
        limits = self.limits
        # In this order nothing overflows that is not out of reach anyway.
        least_gain = limits.min_split_gain * g_scale
        least_gain *= g_scale / h_scale
        return limits.reg_lambda * h_scale, limits.min_child_weight * h_scale, least_gain

    def _shape(self) -> tuple[int, int, int]:
        """Return the least rows of a side, the largest depth and the most leaves."""
        return (
            max(self.limits.min_samples_leaf, 1),
            NO_LIMIT if self.shape.max_depth is None else self.shape.max_depth,
            NO_LIMIT if self.shape.max_leaves is None else self.shape.max_leaves,
        )


def aligned(*shape: int) -> np.ndarray:
    """Return integers that begin where a cache line does.

    NumPy's memory may begin 16 bytes after one, and every second entry of 32 bytes be in two.
    """
    line, n_bytes = 64, 8 * prod(shape)
    memory = np.empty(n_bytes + line, dtype=np.uint8)
    start = -memory.ctypes.data % line
    return memory[start : start + n_bytes].view(np.int64).reshape(shape)


def _table_of(columns: Columns) -> Table:
    """Return the columns as the kernels take them, and lay out their histograms."""
    p, n_words = columns.n_columns, len(columns.words)
    first_bin = np.cumsum([0, *(columns.missing_bin + 1)])
    n_bins = first_bin[-1]
    first = np.full((n_words, LANES), n_bins, dtype=np.uint64)  # read by nobody
    first.ravel()[:p] = first_bin[:-1]
    facts = np.empty((p, COLUMN_FACTS), dtype=np.int64)
    facts[:, N_VALUES] = columns.n_values
    facts[:, N_BINS] = columns.n_bins
    facts[:, MISSING_BIN] = columns.missing_bin
    facts[:, FIRST_BIN] = first_bin[:-1]
    facts[:, MOST_BITS] = np.where(_has_heavy_bins(columns), 0, MOST_GROUP_BITS)
    return Table(
        codes=columns.codes,
        order=columns.order,
        words=columns.words,
        bin_start=columns.bin_start,
        one_value=columns.one_value,
        facts=facts,
        first=first,
        word_start=np.append(first_bin[:-1][::LANES], n_bins),
        n_bins=int((columns.n_bins + 1).sum()),
    )


def _has_heavy_bins(columns: Columns) -> np.ndarray:
    """Say of every column whether a bin of one value holds more than twice the rows of the mean.

    Nothing is inside such a bin. In a group with others its rows would leave all of that open, and
    be walked or sorted in every small node. Where all bins are of one value groups do no harm.
    """
    of_one_value = columns.one_value * np.diff(columns.bin_start, axis=1)[:, :MAX_BINS]
    mean = columns.n_present / np.maximum(columns.n_bins, 1)
    return (columns.n_bins < columns.n_values) & (of_one_value.max(axis=1) > 2 * mean)
