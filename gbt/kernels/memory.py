"""Memory: what growing a tree works on, laid out once for all trees of a fit.

The table with its columns, the rows with what they carry, slots for what is known of nodes while
they are searched, each thread's scratch, and what a tree must respect. ``greedy_growth``
makes the arrays; the tasks of ``gbt.kernels.tasks`` hand them on whole.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.compiling import internal
from gbt.kernels.histogram import Layout
from gbt.kernels.search import Notes

# What is known of a column of the table, a row of integers each.
N_VALUES, N_BINS, MISSING_BIN, FIRST_BIN, MOST_BITS, IS_ALLOWED, COLUMN_FACTS = 0, 1, 2, 3, 4, 5, 6


class Table(NamedTuple):
    """The columns, see ``gbt.columns.Columns``, and where their histograms lie."""

    codes: np.ndarray
    order: np.ndarray
    words: np.ndarray
    bin_start: np.ndarray
    one_value: np.ndarray
    facts: np.ndarray  # (p, COLUMN_FACTS) int64; FIRST_BIN is that of the column's histogram
    first: np.ndarray  # (words, 8) uint64, first bin of the histogram of each lane
    word_start: np.ndarray  # (words + 1,) int64, first bin of each word's histograms
    n_bins: int  # of all columns, that of missing rows included, without gaps


class Rows(NamedTuple):
    """The rows: what they carry, and which node they are in.

    A row keeps its node's number where its child may not split. In the end it has that of its leaf.
    """

    entries: np.ndarray  # (n * width / 2,) int64, by row of the table
    node: np.ndarray  # (n,) int32, by row of the table; -1 if it takes no part
    listed: np.ndarray  # (n,) int32, rows of a node beside each other
    gathered: np.ndarray  # (n * width / 2,) int64, entries of the rows as listed
    buffer: np.ndarray  # (n * width,) int32, the same memory: a node that is partitioned needs no
    # entries any more, and its children's are gathered afterwards


class Training(NamedTuple):
    """What the rows learn, by row of the table; one hessian or weight may stand for all."""

    y: np.ndarray  # (n,) float64, targets
    weight: np.ndarray  # (n,) or (1,) float64
    raw_prediction: np.ndarray  # (n,) float64, of the trees so far
    gradient: np.ndarray  # (n,) float64, derivatives of the loss there, not yet weighted
    hessian: np.ndarray  # (n,) or (1,) float64


class Grown(NamedTuple):
    """Trees that have grown, end to end."""

    trees: np.ndarray  # (most,) NODE_RECORD, see ``gbt.model``
    beside: np.ndarray  # (most, 2) int32, rows beside the cuts, see ``gbt.kernels.finish``
    sizes: np.ndarray  # (most trees,) int64, nodes of each


class Slots(NamedTuple):
    """Places for what is known of a node while it is searched; every thread has one of its own."""

    histogram: np.ndarray  # (slots, bins * width) int64
    bits: np.ndarray  # (slots, p) int64, bins are groups of 2^bits; 0 in large nodes
    score: np.ndarray  # (slots, p) float64, of the best cut found in each column
    bound: np.ndarray  # (slots, p) float64, of the cuts that were not looked at
    code: np.ndarray  # (slots, p) int64, of the cut; ~bin if it is the last of a bin
    missing_left: np.ndarray  # (slots, p) int64, of the cut
    to_beat: np.ndarray  # (slots,) float64, least score of interest
    free: np.ndarray  # (slots + 1,) int64, a stack of slots not in use, its height at the end


class Scratch(NamedTuple):
    """Arrays of each thread's own."""

    running: np.ndarray  # as in ``gbt.kernels.search.Notes``
    upper: np.ndarray
    asked: np.ndarray
    bounds: np.ndarray
    marks: np.ndarray  # (threads, most bins) int64, all 0
    narrow: np.ndarray  # (threads, most bins * 4) int64
    keys: np.ndarray  # (threads, most rows sorted) int64


# What a tree must respect. A record, so that helpers see the next tree's.
RULES = np.dtype(
    [
        ("reg_lambda", np.float64),
        ("min_child_weight", np.float64),
        ("min_split_gain", np.float64),
        ("min_rows", np.int64),
        ("max_depth", np.int64),  # -1 without limit
        ("max_leaves", np.int64),  # -1 without limit
        ("learning_rate", np.float64),
        ("loss", np.int64),  # see ``gbt.kernels.derivatives``
        # Set for each request.
        ("n_trees", np.int64),  # to grow
        ("n_listed", np.int64),  # rows that take part
        # Where growing goes on, see ``gbt.kernels.rounds``.
        ("phase", np.int64),  # that is over
        ("first_open", np.int64),  # nodes that were opened last
        ("n_nodes", np.int64),  # of the tree so far
        ("n_phases", np.int64),  # before the caller wants to be asked again
        # Set for each tree; the first three are the first three limits in the integers' units.
        ("penalty", np.float64),
        ("min_hessian", np.float64),
        ("least_gain", np.float64),
        ("g_scale", np.float64),
        ("h_scale", np.float64),
        ("repeats", np.int64),  # whether whole weights multiply, see ``gbt.kernels.quantise``
        ("n_grown", np.int64),  # trees before it in this call, or what overflows
        ("first_node", np.int64),  # where it begins, see ``Grown``
        *((name, np.int64) for name in Layout._fields),  # of entries and bins
    ]
)


# What is known of a block of rows, which take part in a tree.
BLOCK = np.dtype(
    [
        ("g_total", np.float64),  # sum of |weight * gradient|
        ("h_total", np.float64),
        ("weight_total", np.float64),
        ("is_whole", np.int64),  # whether all weights are whole numbers
        ("g", np.int64),  # sums of entries
        ("h", np.int64),
        ("magnitude", np.int64),  # sum of |g|
    ]
)


@internal
def layout_of(rules):
    """Return the layout of entries, see ``gbt.kernels.histogram``."""
    return Layout(rules.width, rules.count_bits, rules.hessian)


@internal
def limits_of(rules):
    """Return the limits as the search takes them."""
    return rules.penalty, rules.min_hessian, rules.min_rows


@internal
def sums_of(node):
    """Return the sums of g and h over a node and its number of rows."""
    return node.g, node.h, node.stop - node.start


@internal
def notes_of(thread, scratch):
    """Return where a thread writes down what it finds of bins."""
    return Notes(
        scratch.running[thread], scratch.upper[thread], scratch.asked[thread],
        scratch.bounds[thread],
    )  # fmt: skip


@internal
def has_all_rows(node, rows):
    """Say whether a node has all rows of the table, in their order; then entries need no copy."""
    return node.stop - node.start == len(rows.node)
