"""Packed bins: up to eight columns of a node, whose histograms are filled in one pass.

The bins of a row in eight columns share a word (``gbt.tables.columns``), so that one read feeds
eight histograms. In nodes of few rows neighbouring bins are put together to groups while histograms
are filled, so that less is cleared, added up and bounded.
"""

import numpy as np

from gbt.kernels.cuts.histogram import LANES, add_rows, clear, clear_column, group_bits
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS, terms_of
from gbt.kernels.cuts.node_levels import best_set, levels_of_bins
from gbt.kernels.cuts.search import has_closed_bins, survey
from gbt.kernels.platform.compiling import internal

ALL_BINS = np.uint64(2**64 - 1)  # a mask that groups none


@internal
def group_bins(pack, n_rows, columns, found):
    """Group the bins of the columns of one pack as in a node of so many rows.

    Returns the bits of packed bins that tell groups apart.
    """
    mask = np.uint64(0)
    for k in range(pack.start, pack.stop):
        bits = min(group_bits(columns[k].n_bins, n_rows), columns[k].most_bits)
        found[k].bits = bits
        mask |= np.uint64(255 >> bits << bits) << np.uint64(LANES * (k - pack.start))
    return mask


@internal
def fill_histograms(p, node, mask, table, rows, layout, slot, slots):
    """Make the histograms of the columns of pack p from the rows of a node, bins grouped."""
    width, pack = layout.width, table.packs[p]
    histogram, found = slots.histogram[slot], slots.found[slot]
    if mask == ALL_BINS:
        clear(histogram, pack.first_bin * width, pack.last_bin * width)
    else:
        for k in range(pack.start, pack.stop):
            clear_column(table.columns[k], found[k].bits, width, histogram)
    listed = rows.listed[node.start : node.stop]
    add_rows(table.packed_bins[p], listed, rows.entries, layout, pack, mask, histogram)


@internal
def survey_columns(p, node, slot, table, slots, rules, scratch, of_levels):
    """Survey the columns of pack p, see ``gbt.kernels.cuts.search.survey``."""
    terms, pack, histogram = terms_of(node, rules), table.packs[p], slots.histogram[slot]
    for k in range(pack.start, pack.stop):
        column, found = table.columns[k], slots.found[slot, k]
        found.score = found.bound = -np.inf
        if found.is_open and column.has_levels == IN_BINS:
            n_levels = levels_of_bins(histogram, column, terms, rules, of_levels.levels)
            best = best_set(n_levels, terms, rules, of_levels)
            found.score, found.code, found.missing_left = best
            node.to_beat = max(node.to_beat, best.score)
        elif found.is_open and column.has_levels == BY_ROWS:
            found.bound = np.inf  # see ``gbt.kernels.trees.tasks.refine``
        elif found.is_open:
            cut, found.bound, _ = survey(
                histogram, column, found.bits, has_closed_bins(column, found.bits),
                table.one_value[k], terms, node.to_beat, scratch,
            )  # fmt: skip
            found.score, found.code, found.missing_left = cut.score, ~cut.code, cut.missing_left
            node.to_beat = max(node.to_beat, cut.score)
