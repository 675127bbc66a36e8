"""Words: the columns of one word of bins in one node, which are filled and surveyed together.

A word holds the bins of eight columns (``gbt.columns``). One read of it feeds their histograms, and
their boxes are drawn as if they were one column (``gbt.kernels.search``). In nodes of few rows bins
are put together to groups while histograms are filled. Of very few rows the histograms are not
worth clearing; each column is sorted.
"""

import numpy as np

from gbt.kernels.compiling import inlined, internal, step
from gbt.kernels.histogram import (
    LANES,
    add_fours,
    add_pairs,
    clear,
    clear_column,
    group_bits,
)
from gbt.kernels.memory import (
    FIRST_BIN,
    IS_ALLOWED,
    MISSING_BIN,
    MOST_BITS,
    N_BINS,
    N_VALUES,
    has_all_rows,
    layout_of,
    limits_of,
    notes_of,
    sums_of,
)
from gbt.kernels.refine import sort_column
from gbt.kernels.search import (
    add_up,
    count_boxes,
    draw_boxes,
    groups_in,
    missing_of,
    open_boxes,
)

ZERO = np.int64(0)
ALL_BINS = np.uint64(2**64 - 1)  # a mask that groups none


@internal
def group_word(word, n_rows, table, slot, slots):
    """Group the bins of the columns of one word as in a node of so many rows.

    Returns the bits of the word that tell groups apart.
    """
    mask = np.uint64(0)
    for lane in range(min(LANES, len(table.facts) - LANES * word)):
        k = LANES * word + lane
        bits = min(group_bits(table.facts[k, N_BINS], n_rows), table.facts[k, MOST_BITS])
        slots.bits[slot, k] = bits
        mask |= np.uint64(255 >> bits << bits) << np.uint64(8 * lane)
    return mask


@internal
def fill_word(word, node, mask, table, rows, layout, slot, slots):
    """Make the histograms of the columns of one word from the rows of a node, bins grouped."""
    width, numbers = layout.width, layout.width // 2
    histogram, k = slots.histogram[slot], LANES * word
    n_lanes = min(LANES, len(table.facts) - k)
    if mask == ALL_BINS:
        clear(histogram, table.word_start[word] * width, table.word_start[word + 1] * width)
    else:
        for lane in range(n_lanes):
            clear_column(
                table.facts[k + lane, FIRST_BIN], table.facts[k + lane, N_BINS],
                table.facts[k + lane, MISSING_BIN], slots.bits[slot, k + lane], width, histogram,
            )  # fmt: skip
    words, first = table.words[word], table.first[word]
    source = rows.entries if has_all_rows(node, rows) else rows.gathered
    listed = rows.listed[node.start : node.stop]
    entries = source[node.start * numbers : node.stop * numbers]
    if width == 2:
        add_pairs(words, listed, entries, layout.count_bits, first, mask, n_lanes, histogram)
    else:
        add_fours(words, listed, entries, layout.count_bits, first, mask, n_lanes, histogram)


@step
def bins_surveyed(k, table):
    """Return how many bins of a column are surveyed, none where the tree may not split on it."""
    return table.facts[k, N_BINS] * table.facts[k, IS_ALLOWED]


@step
def is_closed(k, slot, table, slots):
    """Say whether nothing is inside any bin of a column, as bins are grouped in a node."""
    return slots.bits[slot, k] == 0 and table.facts[k, N_BINS] == table.facts[k, N_VALUES]


@step
def missing_in(k, slot, table, slots, layout):
    """Return the sums of g, h and n over the rows of a node without a value in one column."""
    first, missing_bin = table.facts[k, FIRST_BIN], table.facts[k, MISSING_BIN]
    return missing_of(slots.histogram[slot], first, missing_bin, layout)


@internal
def survey_word(word, node, slot, thread, table, slots, rules, scratch):
    """Survey the columns of one word, see ``gbt.kernels.search.survey``.

    Boxes of neighbouring columns are drawn at once where no row misses its value.
    """
    notes, layout = notes_of(thread, scratch), layout_of(rules)
    sums, limits = sums_of(node), limits_of(rules)
    columns = range(LANES * word, min(LANES * (word + 1), len(table.facts)))
    stop = ZERO
    for k in columns:  # one after the other, each with a place for the sums over all its bins
        stop = 1 + add_up(
            slots.histogram[slot], table.facts[k, FIRST_BIN], bins_surveyed(k, table),
            slots.bits[slot, k], layout.width, stop, notes.running,
        )  # fmt: skip
    start = stop = ZERO
    for k in columns:
        stop += groups_in(bins_surveyed(k, table), slots.bits[slot, k])
        missing = missing_in(k, slot, table, slots, layout)
        closed = is_closed(k, slot, table, slots)
        goes_on = (
            k + 1 < columns.stop
            and missing[2] == 0
            and missing_in(k + 1, slot, table, slots, layout)[2] == 0
            and closed == is_closed(k + 1, slot, table, slots)
            and table.facts[k, IS_ALLOWED] == table.facts[k + 1, IS_ALLOWED]
        )
        if not goes_on:
            draw_boxes(
                notes.running, start, stop, closed, layout, missing, sums, limits, notes.upper
            )
            start = stop + 1
        stop += 1
    start = ZERO
    for k in columns:
        stop = start + groups_in(bins_surveyed(k, table), slots.bits[slot, k])
        slots.score[slot, k] = slots.bound[slot, k] = -np.inf
        if count_boxes(start, stop, notes.upper, slots.to_beat[slot]) > 0:
            score, last, missing_left, bound, _ = open_boxes(
                start, stop, slots.bits[slot, k], table.one_value[k], layout,
                missing_in(k, slot, table, slots, layout), sums, limits, slots.to_beat[slot], notes,
            )  # fmt: skip
            slots.score[slot, k], slots.bound[slot, k] = score, bound
            slots.code[slot, k], slots.missing_left[slot, k] = ~last, missing_left
            slots.to_beat[slot] = max(slots.to_beat[slot], score)
        start = stop + 1


@inlined
def sort_word(word, node, slot, table, rows, slots, rules, keys):
    """Find the best cuts of the columns of one word by sorting the rows of a node."""
    sums_of_node, limits = sums_of(node), limits_of(rules)
    listed = rows.listed[node.start : node.stop]
    for k in range(LANES * word, min(LANES * (word + 1), len(table.facts))):
        slots.score[slot, k] = slots.bound[slot, k] = -np.inf
        if table.facts[k, IS_ALLOWED]:
            slots.score[slot, k], slots.code[slot, k], slots.missing_left[slot, k] = sort_column(
                table.codes[k], table.facts[k, N_VALUES], listed, rows.entries, layout_of(rules),
                sums_of_node, limits, keys,
            )  # fmt: skip
            slots.to_beat[slot] = max(slots.to_beat[slot], slots.score[slot, k])
