"""Bin search: what a policy does in memory, for nodes whose histograms members have filled.

The leader's table has the coarse bins as its columns and no rows. What the policy finds between
bins is the split of a node where cuts lie between bins alone: of levels, each of which has a bin,
and of all columns if some rows choose splits and others judge them.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.memory import FOUND, Slots, Work
from gbt.kernels.cuts.sets import Judges
from gbt.kernels.distributed.pieces import BEST
from gbt.kernels.distributed.trees import search_nodes
from gbt.kernels.platform.handing import address_of
from gbt.kernels.trees.nodes import records
from gbt.training.distributed.edges import Edges
from gbt.training.histogram_growth import task_of, zeros


class Found(NamedTuple):
    """The best cuts of some nodes, so far."""

    nodes: np.ndarray  # (m,) NODE
    best: np.ndarray  # (m,) BEST, see ``gbt.kernels.distributed.pieces``
    #                   in the end without a column where the node is not split
    cut: np.ndarray  # (m,) float64, the highest value that goes left

    @classmethod
    def nothing(cls, nodes: np.ndarray) -> "Found":
        """Return that nothing has been found yet."""
        return cls(nodes, records(len(nodes), BEST), np.full(len(nodes), np.nan))


class BinSearch:
    """The search of a policy between bins; ``work`` is that of a table of bins without rows."""

    def __init__(self, edges: Edges, work: Work, judges: Judges | None):
        self.edges, self.work = edges, work
        self.policy = address_of(task_of(judges), work)

    def best_cuts(
        self, searched: np.ndarray, nodes: np.ndarray, histograms: np.ndarray, is_open: np.ndarray
    ) -> Found:
        """Find the splits of some nodes, (m,) NODE, which have the numbers ``searched``.

        ``histograms``, (m, numbers) int64, are those of all coarse bins, end to end; ``is_open``,
        (m, p) bool, says whether a node may be split on a column.
        """
        found = Found.nothing(nodes)
        self.search(found, histograms, is_open)
        return found

    def search(self, found: Found, histograms: np.ndarray, is_open: np.ndarray) -> None:
        """Find the best cuts of some nodes between the bins of columns that are open to them."""
        nodes, best, cut = found
        of_columns = zeros(FOUND, *is_open.shape)
        of_columns["is_open"], nodes["slot"] = is_open, np.arange(len(nodes))
        given = np.require(histograms, requirements=["C", "W"])  # as those in memory are
        slots = Slots(given, of_columns, self.work.slots.free)
        search_nodes(len(nodes), self.work._replace(nodes=nodes, slots=slots), self.policy)
        best["column"] = nodes["feature"]
        for j in np.flatnonzero(best["column"] >= 0).tolist():
            node, k = nodes[j], int(nodes["feature"][j])
            n_bins = self.edges.n_coarse[k]
            if self.edges.n_levels[k]:
                goes_left = levels_on_the_left(node, n_bins)
            else:  # all bins are coarse ones
                goes_left = np.append(np.arange(n_bins) <= node["cut"], node["missing_left"] != 0)
                cut[j] = self.edges.upper[self.edges.first_fine[k] + node["cut"]]
            best["score"][j] = of_columns["score"][j, k]
            best["missing_left"][j] = node["missing_left"]
            self._add_up_left(best[j : j + 1], histograms[j], k, goes_left)

    def _add_up_left(
        self, best: np.ndarray, histograms: np.ndarray, k: int, goes_left: np.ndarray
    ) -> None:
        """Add up all rows left of a cut, missing ones included, in the bins of all sets."""
        rules, n_sets = self.work.rules, self.work.judging.habits["n_sets"][0]
        own = slice(*self.edges.first_bin[k : k + 2])
        bins = histograms.reshape(n_sets, -1, rules["width"][0])[:, own].sum(axis=0)
        g, size, *others = bins[goes_left].sum(axis=0)
        best["g"], best["n"] = g, size & ((1 << rules["count_bits"][0]) - 1)
        best["h"] = others[0] if others else best["n"] * rules["hessian"]
        best["missing_g"] = best["missing_h"] = best["missing_n"] = 0


def levels_on_the_left(node: np.ndarray, n_levels: int) -> np.ndarray:
    """Return which levels go left at a node, and last whether missing values do."""
    bits = np.unpackbits(node["levels"].view(np.uint8), bitorder="little")
    return bits[: n_levels + 1].astype(bool)
