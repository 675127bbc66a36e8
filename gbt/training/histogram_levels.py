"""Categories in the histogram search: sets of levels, found in the kernels like cuts of numbers.

Numbers have a fixed order, on which bounds and histograms rely. Levels are ordered anew in every
node, by their sums (``gbt.kernels.cuts.levels``). If every level has a bin of its own, and
rows no weights, the histogram has these sums, which children take over from their parents; the
levels of other columns are added up row by row::

    IN_BINS    the node stores its set, a bit a level
    BY_ROWS    the rows are marked left or right, and the children's rows show which levels they are

``gbt.splitting.cuts`` adds up the same integers and computes a score by the same formula, so its
trees are the same to the last bit.
"""

import numpy as np

from gbt.kernels.cuts.levels import codes_on_the_left
from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS
from gbt.kernels.trees.nodes import MOST_CODES
from gbt.tables.columns import Columns
from gbt.tables.level_sets import BITS, LevelSets, as_words, n_words_for

OF_MISSING, NO_LEVEL = MOST_CODES, MOST_CODES + 1  # bits behind those of a node's codes


def ways_of_levels(columns: Columns, is_weighted: bool) -> np.ndarray:
    """Return for every column how its levels are added up, 0 if it has none."""
    has_bins = (columns.n_bins == columns.n_values) & (columns.n_values < MOST_CODES)
    in_bins = has_bins & (not is_weighted)
    return np.where(columns.n_levels > 0, np.where(in_bins, IN_BINS, BY_ROWS), 0)


def bits_of_levels(columns: Columns, ways: np.ndarray) -> np.ndarray:
    """Return which bit of a node tells the side of every level, of shape (p, 64 words).

    That of its code; if no row has the level, the bit after all codes, which stands for missing
    values; beyond a column's levels another one, which is always 0.
    """
    in_bins = np.flatnonzero(ways == IN_BINS)
    n_words = n_words_for(int(columns.n_levels[in_bins].max(initial=0)))
    bits = np.full((len(ways), n_words * BITS), NO_LEVEL, dtype=np.int16)
    for k in in_bins.tolist():
        bits[k, : columns.n_levels[k]] = OF_MISSING
        level_of_code = columns.level_of_code[k]
        bits[k, level_of_code] = np.arange(len(level_of_code))
    return bits


def level_sets_of(
    trees: np.ndarray,
    levels: np.ndarray,
    nodes: np.ndarray,
    listed: np.ndarray,
    columns: Columns,
    ways: np.ndarray,
    bit_of_level: np.ndarray,
) -> LevelSets:
    """Return the sets of trees that have grown, of which only the last asks rows for levels.

    ``trees``, in preorder, have in ``levels`` the bits of their nodes. ``nodes`` are those of the
    last tree, as they were opened, and ``listed`` the rows in the order of its leaves. The last two
    are what `ways_of_levels` and `bits_of_levels` return.
    """
    in_preorder: list[np.ndarray | None] = [None] * len(trees)
    first = len(trees) - len(nodes)
    is_by_rows = (nodes["left"] >= 0) & (ways[nodes["feature"]] == BY_ROWS)
    for j in np.flatnonzero(is_by_rows).tolist():
        node, k = nodes[j], int(nodes["feature"][j])
        missing_left = bool(node["missing_left"])
        goes_left = np.full(columns.n_values[k] + 1, missing_left)
        middle = nodes["start"][node["right"]]
        codes_on_the_left(
            columns.codes[k], listed[node["start"] : middle], listed[middle : node["stop"]],
            goes_left,
        )  # fmt: skip
        in_preorder[first + node["place"]] = as_words(
            columns.levels_left(k, goes_left, missing_left)
        )
    places = np.flatnonzero((trees["left"] >= 0) & (ways[trees["feature"]] == IN_BINS))
    words = _words_of(trees[places], levels[places], columns.n_levels, bit_of_level)
    for place, of_node in zip(places.tolist(), words, strict=True):
        in_preorder[place] = of_node
    return LevelSets.of_words(in_preorder)


def _words_of(
    nodes: np.ndarray, levels: np.ndarray, n_levels: np.ndarray, bit_of_level: np.ndarray
) -> list[np.ndarray]:
    """Return the sets of nodes that remember a bit a code, as words of a bit a level.

    All at once: node by node this took an eighth of a fit of 20,000 rows.
    """
    features = nodes["feature"]
    bits = np.zeros((len(nodes), NO_LEVEL + 1), dtype=np.uint8)
    bits[:, :OF_MISSING] = np.unpackbits(levels.view(np.uint8), axis=1, bitorder="little")
    bits[:, OF_MISSING] = nodes["missing_left"]
    of_levels = np.take_along_axis(bits, bit_of_level[features], axis=1)
    words = np.packbits(of_levels, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    sizes = n_words_for(n_levels[features]).tolist()
    return [of_node[:size] for of_node, size in zip(words, sizes, strict=True)]
