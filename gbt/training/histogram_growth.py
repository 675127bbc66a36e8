"""The histogram search: many trees a compiled call.

``gbt.kernels.trees.rounds`` grows trees. The greedy search is ``gbt.kernels.cuts.search``, which
looks at few cuts because bounds exclude the others, and ``gbt.kernels.cuts.levels`` for
levels. If some rows choose splits and others judge them, it is ``gbt.kernels.cuts.judging``. This
module hands the parameters to the kernels, lays out the memory in which they work, and calls the
threads.
"""

from functools import partial
from math import prod
from typing import Any

import numpy as np

from gbt.kernels.cuts.histogram import LANES, MOST_GROUP_BITS
from gbt.kernels.cuts.memory import (
    BLOCK,
    COLUMN,
    FOUND,
    IN_BINS,
    OF_LEVELS,
    PACK,
    RULES,
    SCRATCH,
    TASK,
    CodedTable,
    Grown,
    RowsInTree,
    Slots,
    Training,
    Work,
)
from gbt.kernels.cuts.sets import HABITS, JUDGE, UNBIASED, Judges, Judging
from gbt.kernels.platform.compiling import IS_COMPILING
from gbt.kernels.platform.handing import address_of
from gbt.kernels.platform.thread_team import LOOKS_OF_A_GUEST, task_queue
from gbt.kernels.trees.drawing import DEAL
from gbt.kernels.trees.experience import nothing_held_up
from gbt.kernels.trees.greedy_tasks import run_greedy_task
from gbt.kernels.trees.judged_tasks import run_judged_task
from gbt.kernels.trees.nodes import MOST_CODES, NODE, records
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.kernels.trees.rounds import OF_SQUARE, OF_SUM, grow_trees
from gbt.kernels.trees.tasks import LARGE
from gbt.losses.overflow import refuse_overflow, refuse_square_overflow
from gbt.model.tree import NODE_RECORD
from gbt.parallel.threads import Helpers, effective_n_jobs, threads_for
from gbt.splitting.interactions import following_of
from gbt.tables.bins import MAX_BINS
from gbt.tables.columns import Columns
from gbt.tables.level_sets import LevelSets
from gbt.tables.sparse_columns import SparseColumns
from gbt.training.fixed_point import to_fixed_point
from gbt.training.grown_trees import NewTrees
from gbt.training.histogram_levels import bits_of_levels, level_sets_of, ways_of_levels
from gbt.training.node_columns import allow
from gbt.training.plan import Plan

# Threads that share the tasks of a phase spend about a microsecond on that. It pays where a table
# has this many values, rows times columns, for each thread; a depth of a tree reads each once.
LEAST_VALUES_PER_THREAD = 20_000
# One call grows trees, depth by depth, until it may have read so many values, but one depth at
# least. That takes a tenth of a second, in which the fit cannot be interrupted. The trees of one
# call share memory for so many nodes, or for those of one tree if it may have more.
VALUES_AT_ONCE, NODES_AT_ONCE = 2**25, 2**14
NO_LIMIT = -1
MOST_OF_ANYTHING = 2**31  # more than any number of rows, depths or leaves
ONE_SET = Judges(UNBIASED, 1, 1)  # that of a greedy tree


class HistogramGrowth:
    """The memory of growing trees on one table, used again for every tree.

    ``judges`` is that of the policy; None if it is greedy. One that is asked in Python searches no
    histograms (``gbt.training.policy_growth``). ``leaf_of_row``, int32, says which leaf of the last
    tree every row of the table is in. It has no meaning for rows that the tree did not see, and the
    next tree overwrites it.
    """

    def __init__(
        self,
        columns: Columns,
        training: Training,
        plan: Plan,
        judges: Judges | None = None,
        searches: bool = True,
    ):
        n_values = columns.n_stored
        n_jobs = effective_n_jobs(plan.n_jobs) + plan.has_guest if IS_COMPILING else 1
        n_threads = threads_for(n_values, LEAST_VALUES_PER_THREAD, n_jobs)
        trees_at_once = max(VALUES_AT_ONCE // max(n_values, 1), 1)
        self.n_steps = 2 * trees_at_once  # a depth is two steps
        weighing = weighing_of_levels(columns.n_levels, training.weight, columns.n_rows, plan)
        self.work = lay_out(columns, training, plan, judges, weighing, n_threads, trees_at_once)
        self.columns, self.is_judged, self.rows = columns, judges is not None, self.work.rows
        self.ways = self.work.table.columns["has_levels"]
        self.bit_of_level = bits_of_levels(columns, self.ways)
        self.leaf_of_row, self.rules = self.rows.node, self.work.rules
        policy = address_of(task_of(judges), self.work) if searches else 0
        self.lead, *helpers = [
            partial(grow_trees, thread, self.work, policy) for thread in range(n_threads)
        ]
        self.helpers = Helpers([] if plan.has_guest else helpers)
        self.for_guests = helpers if plan.has_guest else []
        self.features: np.ndarray | None = None  # that a tree may split on

    def help(self) -> bool:
        """Help with the tree that another thread grows, if one may; say whether one did."""
        try:
            job = self.for_guests.pop()
        except IndexError:
            return False
        job()
        self.for_guests.append(job)
        return True

    def grow(self, m: int, rows: np.ndarray | None, features: np.ndarray, most: int) -> NewTrees:
        """Grow trees, one after the other, at most ``most`` of them, of which ``m`` is the first.

        ``rows``, int32, are those that they see, and ``features`` the columns that they may split
        on, both ascending; rows of None are all. Only a tree that sees all rows updates the raw
        predictions, and one that does not is the only tree of its call.
        """
        rules, grown = self.rules, self.work.grown
        n_listed = len(self.rows.listed) if rows is None else len(rows)
        if rows is not None:
            self.rows.listed[:n_listed] = rows
        if features is not self.features:
            allow(features, self.work)
            self.work.slots.found["is_open"] = self.work.table.columns["is_allowed"]
            self.features = features
        n_trees = min(most, len(grown.sizes))
        rules["n_listed"], rules["first_tree"], rules["n_trees"] = n_listed, m, n_trees
        rules["n_grown"] = rules["first_node"] = rules["n_nodes"] = rules["overflow"] = 0
        while rules["n_grown"][0] < rules["n_trees"][0]:
            self.take_steps()
            if rules["overflow"][0] == OF_SUM:
                refuse_overflow()
            if rules["overflow"][0] == OF_SQUARE:
                refuse_square_overflow()
        n_trees = int(rules["n_grown"][0])
        sizes = grown.sizes[:n_trees].tolist()
        trees = grown.trees[: sum(sizes)].copy()
        self.columns.write_thresholds(trees, grown.rows_at_cut[: len(trees)])
        sets = self.level_sets(trees, sizes[-1]) if self.ways.any() else None
        scores = self.work.judging.scores[:n_trees].copy() if self.is_judged else None
        return NewTrees(trees, sizes, sets, scores)

    def take_steps(self) -> None:
        """Let the threads take as many steps as they may before Python is asked again."""
        self.rules["n_steps"] = self.n_steps
        self.helpers.call()
        self.lead()

    def level_sets(self, trees: np.ndarray, n_nodes: int) -> LevelSets:
        """Return which levels go left at the nodes of trees, of which the last has ``n_nodes``."""
        return level_sets_of(
            trees, self.work.grown.levels, self.work.nodes[:n_nodes], self.rows.listed,
            self.columns, self.ways, self.bit_of_level,
        )  # fmt: skip


def task_of(judges: Judges | None) -> Any:
    """Return the kernel that does what depends on the policy."""
    return run_greedy_task if judges is None else run_judged_task


def lay_out(
    columns: Columns,
    training: Training,
    plan: Plan,
    judges: Judges | None,
    weighing: tuple[np.ndarray, dict[str, float]],
    n_threads: int,
    trees_at_once: int,
) -> Work:
    """Lay out the memory of growing trees, so many in one call; see `weighing_of_levels`.

    The leader of a team, whose members hold the rows, has a table without rows.
    """
    n, p, n_values = columns.n_rows, columns.n_columns, columns.n_stored
    n_sets = 1 if judges is None else judges.n_sets
    table = table_of(columns, plan.limits.directions)
    ways = ways_of_levels(columns, is_weighted=len(training.weight) > 1)
    table.columns["has_levels"] = ways
    table.columns["most_bits"][ways == IN_BINS] = 0  # levels have no neighbours
    has_levels, has_sparse = bool(ways.any()), columns.sparse is not None

    n_bins = int((columns.n_bins + 1).sum()) * n_sets
    n_large, n_nodes = n_values // (LARGE * n_bins) + 1, max(2 * n - 1, 1)
    if plan.limits.max_depth is not None:
        most_leaves = 2 ** min(plan.limits.max_depth, 60)
        n_large, n_nodes = min(n_large, most_leaves), min(n_nodes, 2 * most_leaves - 1)
    if plan.limits.max_leaves is not None:
        n_nodes = min(n_nodes, 2 * plan.limits.max_leaves - 1)
    n_slots = n_threads + 2 * n_large  # a large node and its sibling have one each

    width = 2 if len(training.hessian) == len(training.weight) == 1 else 4
    weight, of_levels = weighing
    rules = rules_of(plan)
    for name, value in of_levels.items():
        rules[name] = value
    rules["has_sets"], rules["width"], rules["n_threads"] = judges is not None, width, n_threads
    rules["most_rows_small"] = LARGE * n_bins * n // max(n_values, 1)
    rows = RowsInTree(
        entries=zeros(np.int64, n * width // 2),
        node=np.empty(n, dtype=np.int32),
        listed=np.empty(n, dtype=np.int32),
        buffer=np.empty(n, dtype=np.int32),
        side=np.empty(n * (has_levels or has_sparse), dtype=np.int32),
        weight=weight,
    )
    most_levels = int(columns.n_levels[ways == IN_BINS].max(initial=0))
    grown = _room_for_trees(trees_at_once, n_nodes, has_levels, most_levels)
    all_bins = int(table.packs["last_bin"].max(initial=0))
    slots = Slots(
        histogram=zeros(np.int64, n_slots, all_bins * width * n_sets),
        found=zeros(FOUND, n_slots, p),  # no bins are grouped in the slots of large nodes
        free=np.empty(n_slots + 1, dtype=np.int64),
    )
    return Work(
        queue=task_queue(n_threads, *[LOOKS_OF_A_GUEST] * plan.has_guest),
        table=table,
        rows=rows,
        nodes=records(n_nodes, NODE),
        slots=slots,
        tasks=records(n_nodes + n_slots * max(p, len(table.packs)), TASK),
        rules=rules,
        training=training,
        blocks=records(n // ROWS_PER_TASK + 1, BLOCK),
        grown=grown,
        partials=rows.entries.view(np.float64),
        following=following_of(plan.limits, p),
        scratch=zeros(SCRATCH, n_threads),
        of_levels=zeros(OF_LEVELS, n_threads * has_levels),
        judging=judging_of(judges, plan, n, p, n_threads, len(grown.sizes)),
    )


def _room_for_trees(trees_at_once: int, most_nodes: int, has_levels: bool, n_bits: int) -> Grown:
    """Lay out memory for trees that grow in one call, one at least.

    A node may turn into so many bits, one a level, and these into no more memory than is read.
    """
    nodes_at_once = min(NODES_AT_ONCE, VALUES_AT_ONCE // max(n_bits, 1))
    n_trees = max(min(trees_at_once, nodes_at_once // most_nodes), 1)
    n_nodes = n_trees * most_nodes
    return Grown(
        trees=records(n_nodes, NODE_RECORD),
        rows_at_cut=np.empty((n_nodes, 2), dtype=np.int32),
        sizes=np.empty(n_trees, dtype=np.int64),
        levels=np.empty((n_nodes * has_levels, MOST_CODES // 64), dtype=np.uint64),
    )


def weighing_of_levels(
    n_levels: np.ndarray, weight: np.ndarray, n_rows: int, plan: Plan
) -> tuple[np.ndarray, dict[str, float]]:
    """Return what identifies levels of few rows: the rows' weights, and rules with the least.

    ``n_levels`` is that of every column; without any there is nothing to tell.
    """
    if not n_levels.any():
        return np.empty(0, dtype=np.int64), {}
    smoothing = plan.limits.categorical_smoothing
    whole, scale = to_fixed_point(np.ones(1), weight, None, n_rows)
    rules = {"categorical_smoothing": smoothing, "most_weight": smoothing * scale}
    rules["weight_unit"] = whole[0]
    return whole if len(weight) > 1 else whole[:1], rules


def judging_of(
    judges: Judges | None,
    plan: Plan,
    n_rows: int,
    n_columns: int,
    n_threads: int,
    n_trees: int,
) -> Judging:
    """Lay out memory for trees whose splits are judged by rows, ``n_trees`` a call, if they are."""
    if judges is None:
        judges, n_rows, n_columns, n_threads, n_trees = ONE_SET, 0, 0, 0, 0
    # Of a cross-validated policy: all but the first fold, ..., all but the last, all.
    n_sets, is_unbiased = judges.n_sets, judges.kind == UNBIASED
    n_sums = n_sets if is_unbiased else n_sets + 1
    habits = records(1, HABITS)
    for name, value in judges._asdict().items():
        habits[name] = value
    habits["n_sums"], habits["n_searched"] = n_sums, 1 if is_unbiased else n_sums
    habits["splits"] = 0 if is_unbiased else n_sums - 1
    habits["max_depth"] = _limit(plan.limits.max_depth)
    return Judging(
        habits=habits,
        set_of_row=np.zeros(n_rows, dtype=np.uint8),
        judges=zeros(JUDGE, n_threads),
        deals=zeros(DEAL, n_threads),
        scores=np.empty((n_trees, n_columns)),
        told=np.zeros(n_threads * n_columns * 2, dtype=np.int64),
        held_up=nothing_held_up(n_columns) if plan.held_up is None else plan.held_up,
    )


def zeros(dtype: Any, *shape: int) -> np.ndarray:
    """Return zeros that begin at a cache line, and take memory only where they are written to.

    NumPy's memory may begin 16 bytes later, and then every second bin of 32 bytes lies in two.
    """
    line, n_bytes = 64, np.dtype(dtype).itemsize * prod(shape)
    memory = np.zeros(n_bytes + line, dtype=np.uint8)
    start = -memory.ctypes.data % line
    made = memory[start : start + n_bytes].view(dtype).reshape(shape)
    return made if IS_COMPILING or made.dtype.names is None else made.view(np.recarray)


def rules_of(plan: Plan) -> np.ndarray:
    """Return the limits of all trees, see ``gbt.kernels.cuts.memory``; other rules are 0."""
    rules, limits = records(1, RULES), plan.limits
    rules[:] = np.zeros(1, RULES)
    for name in (
        "reg_lambda", "min_child_weight", "min_split_gain", "narrows", "colsample_bylevel",
        "colsample_bynode",
    ):  # fmt: skip
        rules[name] = getattr(limits, name)
    rules["min_rows"] = _limit(max(limits.min_samples_leaf, 1))
    rules["has_directions"] = limits.directions is not None
    rules["max_depth"], rules["max_leaves"] = _limit(limits.max_depth), _limit(limits.max_leaves)
    rules["learning_rate"], rules["loss"] = plan.learning_rate, plan.loss
    rules["seed"] = plan.seed % 2**64
    return rules


def _limit(number: int | None) -> int:
    """Return a limit as the kernels take it."""
    return NO_LIMIT if number is None else min(number, MOST_OF_ANYTHING)


def table_of(columns: Columns, directions: np.ndarray | None = None) -> CodedTable:
    """Return the columns for kernels, with places of histograms."""
    p, n_lines, n_packs = columns.n_columns, len(columns.order), len(columns.packed_bins)
    sparse = SparseColumns.none(p) if columns.sparse is None else columns.sparse
    facts, packs = records(p, COLUMN), records(n_packs + len(sparse.packs), PACK)
    facts["n_values"], facts["n_present"] = columns.n_values, columns.n_present
    facts["n_bins"], facts["missing_bin"] = columns.n_bins, columns.missing_bin
    is_binned = (columns.n_bins < columns.n_values) & (columns.max_bins is not None)
    facts["is_closed"] = (columns.n_bins == columns.n_values) | is_binned
    facts["direction"], facts["has_levels"] = 0 if directions is None else directions, 0
    facts["line"], facts["is_sparse"] = sparse.line, sparse.is_sparse
    facts["first_place"] = np.where(
        sparse.is_sparse, n_lines * columns.n_rows + sparse.first, sparse.line * columns.n_rows
    )
    facts["first_stored"], facts["n_stored"] = sparse.first, sparse.n_stored
    facts["zero_code"], facts["zero_bin"] = sparse.zero_code, sparse.zero_bin
    # Of a group it would have to be found out what its bins hold, and no bin is looked into.
    is_grouped = (sparse.is_sparse == 0) & ~_has_heavy_bins(columns) & ~is_binned
    facts["most_bits"] = np.where(is_grouped, MOST_GROUP_BITS, 0)

    in_packs = np.concatenate([np.flatnonzero(sparse.is_sparse == 0), *sparse.packs])
    n_columns = [*np.diff([*range(0, n_lines, LANES), n_lines]), *map(len, sparse.packs)]
    packs["is_sparse"] = np.arange(len(packs)) >= n_packs
    packs["line"] = np.maximum(np.arange(len(packs)) - n_packs, 0)
    packs["stop"] = np.cumsum(n_columns)
    packs["start"] = packs["stop"] - n_columns
    # After the bins of a sparse pack there is one more, for all rows.
    pack_of = np.repeat(np.arange(len(packs)), n_columns)
    is_after = np.maximum(pack_of - n_packs, 0)
    first_bin = np.cumsum([0, *(columns.missing_bin[in_packs] + 1)])
    facts["first_bin"][in_packs] = first_bin[:-1] + is_after
    packs["first_bin"] = first_bin[packs["start"]] + packs["line"]
    packs["last_bin"] = first_bin[packs["stop"]] + packs["line"] + packs["is_sparse"]
    return CodedTable(
        codes=columns.codes,
        order=columns.order.ravel() if columns.sparse is None else sparse.all_order,
        packed_bins=columns.packed_bins,
        bin_start=columns.bin_start,
        first_code=columns.first_code,
        columns=facts,
        packs=packs,
        in_packs=in_packs,
        stored=sparse.stored,
        stored_bins=sparse.stored_bins,
        row_start=sparse.row_start,
    )


def _has_heavy_bins(columns: Columns) -> np.ndarray:
    """Say of every column whether a bin of a single value has over twice the mean number of rows.

    There is no cut inside such a bin, but a group of bins has cuts between them. The many rows of
    such a bin would raise the bound of these cuts, and small nodes would have to walk or sort them
    to look at the cuts. If all bins are of single values, groups do no harm.
    """
    of_one_value = columns.one_value * np.diff(columns.bin_start, axis=1)[:, :MAX_BINS]
    mean = columns.n_present / np.maximum(columns.n_bins, 1)
    return (columns.n_bins < columns.n_values) & (of_one_value.max(axis=1) > 2 * mean)
