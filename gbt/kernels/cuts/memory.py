"""Memory: what growing a tree works on, laid out once for all trees of a fit.

The table with its columns, the rows with what they carry, slots for what is known of large nodes,
each thread's scratch, and what a tree must respect. ``gbt.training.histogram_growth`` makes the
arrays. ``Work`` holds all of them; a kernel is handed the parts that it needs.

Many small facts of one thing are a record of an array, ``columns[k].n_bins``: Numba hands a record
on as one address, and an array as seven numbers or nine, each of which costs lines of machine code
to compile wherever it is handed on.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.bounds import within_of
from gbt.kernels.cuts.histogram import LANE_NUMBERS, Layout
from gbt.kernels.cuts.refine import MOST_NARROW_BINS, MOST_SORTED
from gbt.kernels.cuts.scores import Terms
from gbt.kernels.cuts.search import CANDIDATE, RUNNING
from gbt.kernels.cuts.sets import MOST_SETS, MOST_SUMS, Judging
from gbt.kernels.platform.compiling import internal

MOST_BINS = MOST_NARROW_BINS + 16  # that of missing rows, and some to spare: a cache line's worth
# As many levels as ``gbt.tables.categories`` allows, that of missing rows, that of few, some to
# spare.
ROOM_FOR_LEVELS = 65_536 + 64
# Levels are added up in the bins of a histogram, one each, or row by row; or a policy in Python has
# marked which side the rows of a node take.
IN_BINS, BY_ROWS, BY_POLICY = np.int64(1), np.int64(2), np.int64(3)

# A column of the table.
COLUMN = np.dtype(
    [
        ("n_values", np.int64),  # distinct values, which is also the code of missing ones
        ("n_present", np.int64),  # rows that have a value
        ("n_bins", np.int64),  # of present values
        ("is_closed", np.int64),  # whether no cut lies inside a bin, or none is looked for there
        ("missing_bin", np.int64),  # counted from the first
        ("first_bin", np.int64),  # of the column's histogram, counted through all columns
        ("most_bits", np.int64),  # groups of at most 2^most_bits bins
        ("is_allowed", np.int64),  # whether the tree may split on it
        ("direction", np.int64),  # in which predictions must go with it: 1, -1, or 0 for either
        ("has_levels", np.int64),  # which have no order: 0, IN_BINS, ...
        ("line", np.int64),  # of its codes, and lane of its packed bins, counted through all words
        ("first_place", np.int64),  # where its order begins
        # Of a sparse column (``gbt.kernels.cuts.packed_bins``), whose ``line`` means nothing:
        ("is_sparse", np.int64),
        ("first_stored", np.int64),  # where its stored values begin
        ("n_stored", np.int64),
        ("zero_code", np.int64),
        ("zero_bin", np.int64),
    ]
)
# A pack: up to eight columns whose bins of a row share a word, or sparse columns.
PACK = np.dtype(
    [
        ("start", np.int64),  # columns in_packs[start:stop]
        ("stop", np.int64),
        ("first_bin", np.int64),  # bins first_bin:last_bin of all histograms
        ("last_bin", np.int64),
        ("is_sparse", np.int64),
        ("line", np.int64),  # of a sparse pack, counted through these
    ]
)


class CodedTable(NamedTuple):
    """The columns, see ``gbt.tables.columns.Columns``, and where their histograms lie."""

    codes: np.ndarray  # (lines, n) int32
    order: np.ndarray  # (places,) int32, of all columns, end to end
    packed_bins: np.ndarray  # (packs that are not sparse, n) uint64, these come first
    bin_start: np.ndarray  # (p, bins + 2) int64, in a sparse column counted without its zeros
    first_code: np.ndarray  # (p, bins + 1) int64, of each bin, and last that of missing rows
    columns: np.ndarray  # (p,) COLUMN
    packs: np.ndarray  # (packs,) PACK
    in_packs: np.ndarray  # (p,) int64, columns, those of a pack beside each other
    # Of sparse columns, see ``gbt.kernels.cuts.packed_bins``; in other tables these are empty.
    stored: np.ndarray  # (values,) int64, row << 32 | code, column by column
    stored_bins: np.ndarray  # (values,) int32, pack by pack, row by row
    row_start: np.ndarray  # (sparse packs, n + 1) int64


class RowsInTree(NamedTuple):
    """The rows: what they carry, and which node they are in.

    Rows of a child that may not be split keep the number of its parent, because no search asks for
    them. In the end every row has the number of its leaf.
    """

    entries: np.ndarray  # (n * width / 2,) int64, by row of the table
    node: np.ndarray  # (n,) int32, by row of the table; -1 if it takes no part
    listed: np.ndarray  # (n,) int32, rows of a node beside each other
    buffer: np.ndarray  # (n,) int32, for rows that go right while a node is partitioned
    # In a table of numbers these are empty.
    side: np.ndarray  # (n,) int32, of its node's split, where that is a set of levels
    weight: np.ndarray  # (n,) or (1,) int64, by which levels of few rows are told


class Training(NamedTuple):
    """What the rows learn, by row of the table; one hessian or weight may stand for all."""

    y: np.ndarray  # (n,) float64, targets
    weight: np.ndarray  # (n,) or (1,) float64
    raw_prediction: np.ndarray  # (n,) float64, of the trees so far
    gradient: np.ndarray  # (n,) float64, derivatives of the loss there, not yet weighted
    hessian: np.ndarray  # (n,) or (1,) float64


class Grown(NamedTuple):
    """Trees that have grown, end to end."""

    trees: np.ndarray  # (most,) NODE_RECORD, see ``gbt.model.tree``
    rows_at_cut: np.ndarray  # (most, 2) int32, see ``gbt.kernels.trees.finish``
    sizes: np.ndarray  # (most trees,) int64, nodes of each
    levels: np.ndarray  # (most, 4) uint64, those of nodes, if any column has levels in bins


# What is known of a column in a node while that is searched.
FOUND = np.dtype(
    [
        ("bits", np.int64),  # bins are groups of 2^bits; 0 in large nodes
        ("bound", np.float64),  # of the cuts that were not looked at
        ("is_open", np.int64),  # whether the node may be split on it
        ("score", np.float64),  # of the best cut found, by which a column is chosen
        # Of that cut; ~bin if it is the last of a bin. Of levels how many, in order, go left.
        ("code", np.int64),
        ("missing_left", np.int64),  # of that cut
        # Where rows judge splits (``gbt.kernels.cuts.judging``): what the cut is worth to those who
        # decide whether to split, while ``score`` is by those who choose the column.
        ("worth", np.float64),
        ("may_split", np.int64),  # 0 where the cut gains nothing on all rows
        ("claim", np.float64),  # its gain by the rows that chose it and its column
    ]
)


class Slots(NamedTuple):
    """Places for what is known of a node while it is searched; every thread has one of its own."""

    histogram: np.ndarray  # (slots, bins * width) int64
    found: np.ndarray  # (slots, p) FOUND
    free: np.ndarray  # (slots + 1,) int64, a stack of slots not in use, its height at the end


# Each thread's own arrays for levels (``gbt.kernels.cuts.levels``). They have room for as many sets
# and levels as there may be, so that they have one type for all tables; the operating system gives
# them page by page, as they are written to.
OF_LEVELS = np.dtype(
    [
        ("by_code", np.int64, (4 * MOST_SETS * ROOM_FOR_LEVELS,)),  # sums of sets; all 0
        ("marks", np.uint64, (ROOM_FOR_LEVELS // 64 + 7,)),  # a bit a code; all 0
        # Of the levels of the node, those of a level beside each other: G, H, N, W.
        ("sums", np.int64, (4 * MOST_SUMS * ROOM_FOR_LEVELS,)),
        ("code", np.int32, (ROOM_FOR_LEVELS,)),  # of a level
        ("is_left", np.int8, (ROOM_FOR_LEVELS,)),  # 1 or 0; `OF_FEW` of levels of few rows, for now
        ("key", np.float64, (ROOM_FOR_LEVELS,)),
        ("order", np.int32, (2, ROOM_FOR_LEVELS)),  # levels, and room to sort them
        ("n_left", np.int64, (MOST_SUMS,)),  # rows on either side of a cut
        ("n_right", np.int64, (MOST_SUMS,)),
    ],
    align=True,
)

# Each thread's own arrays. Sizes are whole cache lines, so that no narrow bin lies in two.
SCRATCH = np.dtype(
    [
        ("lanes", np.int64, (LANE_NUMBERS,)),  # see ``gbt.kernels.cuts.histogram``; all 0
        ("narrow", np.int64, (MOST_BINS * 4,)),  # a histogram
        ("running", np.int64, (RUNNING, MOST_BINS)),  # sums over all bins before: g; h; size
        ("upper", np.float64, (MOST_BINS,)),  # what no score in a bin's box exceeds
        ("candidates", CANDIDATE, (MOST_BINS,)),
        ("marks", np.int64, (MOST_BINS,)),  # all 0
        ("keys", np.int64, (MOST_SORTED + 8,)),  # rows that are sorted, and one to spare
        ("column", COLUMN),  # narrow bins, as those of a column
    ],
    align=True,
)

# What a task is about: two nodes and which pack, or a node and which column.
TASK = np.dtype([("node", np.int64), ("other", np.int64), ("which", np.int64)])

# What a tree must respect. A record, so that helpers see the next tree's.
RULES = np.dtype(
    [
        ("reg_lambda", np.float64),
        ("min_child_weight", np.float64),
        ("min_split_gain", np.float64),
        ("min_rows", np.int64),
        ("has_directions", np.int64),  # whether a column has one, 1 or 0
        ("has_sets", np.int64),  # whether some rows choose splits and others judge them, 1 or 0
        ("max_depth", np.int64),  # -1 without limit; some policies settle it for each tree
        ("max_leaves", np.int64),  # -1 without limit
        ("learning_rate", np.float64),
        ("loss", np.int64),  # see ``gbt.kernels.rows.derivatives``
        # On which columns a node may be split, see ``gbt.kernels.trees.node_columns``.
        ("narrows", np.int64),  # whether not on all that the tree may be, 1 or 0
        ("colsample_bylevel", np.float64),
        ("colsample_bynode", np.float64),
        ("seed", np.uint64),  # of all that trees draw
        ("categorical_smoothing", np.float64),
        ("most_weight", np.float64),  # of a level of few rows, in integers as the next
        ("weight_unit", np.int64),  # what a row weighs
        ("bins_weigh", np.int64),  # whether weights stand beside the sums of levels' bins, 1 or 0
        ("n_threads", np.int64),
        ("most_rows_small", np.int64),  # a node of more rows is large, see ``kernels.trees.tasks``
        # Set for each request.
        ("first_tree", np.int64),  # the number of the first
        ("n_trees", np.int64),  # to grow; fewer where the sides of levels must be asked for
        ("n_listed", np.int64),  # rows that take part
        ("n_steps", np.int64),  # to take before the caller wants to be asked again
        # How far growing has come, see ``gbt.kernels.trees.rounds``.
        ("n_grown", np.int64),  # trees
        ("first_node", np.int64),  # where the tree begins, see ``Grown``
        ("n_nodes", np.int64),  # of the tree so far
        ("first_open", np.int64),  # nodes that were opened last
        ("is_searched", np.int64),  # whether these have been searched, 1 or 0
        ("n_searches", np.int64),  # tasks that search these
        ("overflow", np.int64),
        (
            "first_asked",
            np.int64,
        ),  # depth from which on nodes are asked whether a judged split is made
        # Set for each tree; the first three are the first three limits in the integers' units.
        ("penalty", np.float64),
        ("min_hessian", np.float64),
        ("least_gain", np.float64),
        ("g_scale", np.float64),
        ("h_scale", np.float64),
        ("repeats", np.int64),  # whether whole weights multiply, see ``gbt.kernels.trees.quantise``
        *((name, np.int64) for name in Layout._fields),  # of entries and bins
    ]
)

# What is known of a block of rows, which take part in a tree.
BLOCK = np.dtype(
    [
        ("g_total", np.float64),  # sum of |weight * gradient|, see ``gbt.kernels.rows.sums``
        ("g_lost", np.float64),
        ("g_slack", np.float64),
        ("h_total", np.float64),
        ("h_lost", np.float64),
        ("h_slack", np.float64),
        ("weight_total", np.float64),
        ("is_whole", np.int64),  # whether all weights are whole numbers
        ("g", np.int64),  # sums of entries
        ("h", np.int64),
        ("magnitude", np.int64),  # sum of |g|
    ]
)


class Work(NamedTuple):
    """All that the threads of a team share while trees grow."""

    queue: np.ndarray  # (QUEUE_LENGTH,) int64, see ``gbt.kernels.platform.thread_team``
    table: CodedTable
    rows: RowsInTree
    nodes: np.ndarray  # (most,) NODE, of a tree
    slots: Slots
    tasks: np.ndarray  # (most,) TASK, of a phase
    rules: np.ndarray  # (1,) RULES
    training: Training
    blocks: np.ndarray  # (most,) BLOCK, of rows
    grown: Grown
    # (n,) float64, for sums that are not certain at once (``gbt.kernels.rows.sums``): the memory of
    # the entries, which nobody needs any more when a tree is written down.
    partials: np.ndarray
    following: np.ndarray  # (entries,) FOLLOWING, see ``gbt.kernels.trees.node_columns``
    scratch: np.ndarray  # (threads,) SCRATCH
    of_levels: np.ndarray  # (threads,) OF_LEVELS; none in a table of numbers
    judging: Judging


@internal
def layout_of(rules):
    """Return the layout of entries, see ``gbt.kernels.cuts.histogram``."""
    return Layout(rules.width, rules.count_bits, rules.hessian)


@internal
def terms_of(direction, node, rules):
    """Return what enters the scores of a node's cuts in a column of some direction."""
    return Terms(
        node.g, node.h, node.stop - node.start, rules.penalty, rules.min_hessian, rules.min_rows,
        rules.width, rules.count_bits, rules.hessian, within_of(direction, node, rules),
    )  # fmt: skip
