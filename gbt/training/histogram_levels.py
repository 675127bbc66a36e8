"""Categories in the histogram search: sets of levels, found in the kernels like cuts of numbers.

Numbers have a fixed order, on which bounds and histograms rely. Levels are ordered anew in every
node, by their sums (``gbt.kernels.cuts.node_levels``). If every level has a bin of its own, and
rows no weights, the histogram has these sums, which children take over from their parents; the
levels of other columns are added up row by row::

    IN_BINS    the node stores its set, a bit a level
    BY_ROWS    the rows are marked left or right, and the children's rows show which levels they are

The plain scan of ``gbt.kernels.cuts.levels`` adds up the same integers and computes a score by the
same formula, so its trees are the same to the last bit.
"""

import numpy as np

from gbt.kernels.cuts.memory import BY_ROWS, IN_BINS
from gbt.kernels.cuts.node_levels import codes_on_the_left
from gbt.kernels.trees.nodes import MOST_CODES
from gbt.tables.columns import Columns
from gbt.tables.level_sets import LevelSets


def ways_of_levels(columns: Columns, is_weighted: bool) -> np.ndarray:
    """Return for every column how its levels are added up, 0 if it has none."""
    has_bins = (columns.n_bins == columns.n_values) & (columns.n_values < MOST_CODES)
    in_bins = has_bins & (not is_weighted)
    return np.where(columns.n_levels > 0, np.where(in_bins, IN_BINS, BY_ROWS), 0)


def level_sets_of(
    tree: np.ndarray, nodes: np.ndarray, listed: np.ndarray, columns: Columns, ways: np.ndarray
) -> LevelSets:
    """Return the sets of a tree that has grown.

    Parameters
    ----------
    tree : NODE_RECORD array
        In preorder.
    nodes : NODE array
        In the order in which they were opened.
    listed : int32 array
        The rows in the order of the leaves.
    columns : Columns
    ways : int array
        As `ways_of_levels` returns them.
    """
    in_preorder: list[np.ndarray | None] = [None] * len(tree)
    for j in np.flatnonzero((nodes["left"] >= 0) & (ways[nodes["feature"]] > 0)).tolist():
        node, k = nodes[j], int(nodes["feature"][j])
        missing_left = bool(node["missing_left"])
        if ways[k] == IN_BINS:
            bits = np.unpackbits(node["levels"].view(np.uint8), bitorder="little")
            goes_left = bits[: columns.n_values[k] + 1].astype(bool)
        else:
            goes_left = np.full(columns.n_values[k] + 1, missing_left)
            middle = nodes["start"][node["right"]]
            codes_on_the_left(
                columns.codes[k], listed[node["start"] : middle], listed[middle : node["stop"]],
                goes_left,
            )  # fmt: skip
        in_preorder[node["place"]] = columns.levels_left(k, goes_left, missing_left)
    return LevelSets.of(in_preorder)
