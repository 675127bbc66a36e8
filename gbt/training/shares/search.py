r"""Search the best cuts of nodes whose rows others hold.

From their histograms of coarse bins, which are here, to up to two questions to all members of a
team, whose answers are added up::

    look_into_bins     the fine bins of coarse bins that may hold the best cut
    look_at_values     the values of bins that still may, and of bins with few rows at once

Which bins may hold it is told by bounds, as in ``gbt.kernels.cuts.search``; the leader asks for
nothing else and finds the best cut as surely as by looking at all (``gbt.kernels.shares.parts``).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.memory import OF_LEVELS
from gbt.kernels.shares.levels import weigh_levels
from gbt.kernels.shares.parts import BEST, SEGMENT, begin_nodes, weigh_parts
from gbt.kernels.trees.nodes import records
from gbt.training.histogram_growth import zeros
from gbt.training.shares.edges import BITS, MOST_COARSE, Edges
from gbt.training.shares.share import add_up_values
from gbt.training.shares.team import Team

FEW_ROWS = 16  # of a bin whose values are asked for at once
FEW_IN_ALL = 2**14  # in all bins of a level: their values travel faster than a round more
LARGEST = np.finfo(np.float64).max


class Found(NamedTuple):
    """The best cuts of some nodes, so far."""

    nodes: np.ndarray  # (m,) NODE
    best: np.ndarray  # (m,) BEST, see ``gbt.kernels.shares.parts``; in the end without a column
    #                   where the node is not split
    cut: np.ndarray  # (m,) float64, the highest value that goes left
    is_left: np.ndarray  # (m, codes) bool, which levels go left; no codes where there are none

    @classmethod
    def nothing(cls, nodes: np.ndarray, edges: Edges) -> "Found":
        """Return that nothing has been found yet."""
        m, n_codes = len(nodes), MOST_COARSE + 1 if edges.n_levels.any() else 0
        return cls(nodes, records(m, BEST), np.full(m, np.nan), np.zeros((m, n_codes), dtype=bool))


class SharedSearch:
    """The search on the rows of a team.

    Parameters
    ----------
    team : Team
    edges : Edges
    is_open : uint8 arrays
        Which coarse and which fine bins hold several values.
    rules : RULES record
        As they are for the tree that grows.
    habits : HABITS record
        Those of a policy without sets.
    """

    found: Found

    def __init__(
        self,
        team: Team,
        edges: Edges,
        is_open: tuple[np.ndarray, np.ndarray],
        rules: np.ndarray,
        habits: np.ndarray,
    ):
        self.team, self.edges, self.rules, self.habits = team, edges, rules, habits
        self.is_open, self.fine_is_open = is_open
        self.width = int(rules["width"][0])
        self.of_levels, self.scratch = edges.columns()[edges.n_levels > 0], zeros(OF_LEVELS, 1)

    def best_cuts(
        self,
        searched: np.ndarray,
        nodes: np.ndarray,
        histograms: np.ndarray,
        allowed: np.ndarray,
        is_open: np.ndarray,
    ) -> Found:
        """Find the best cuts of some nodes, from coarse to fine.

        Parameters
        ----------
        searched : int array of shape (m,)
            Their numbers.
        nodes : NODE array of shape (m,)
        histograms : int64 array of shape (m, numbers)
            The numbers of all coarse bins, end to end.
        allowed : int array
            The columns of the tree.
        is_open : bool array of shape (m, allowed)
            Whether a node may be split on a column.
        """
        self.searched, self.found = searched, Found.nothing(nodes, self.edges)
        best = self.found.best
        begin_nodes(nodes, best, self.rules)
        has_levels = self.edges.n_levels[allowed] > 0
        self._search_levels(histograms, allowed[has_levels], is_open[:, has_levels])
        place, which = np.nonzero(is_open & ~has_levels)
        if len(place):
            self._search_numbers(histograms, place, allowed[which])
        is_enough = best["score"] - best["own"] > best["least"]
        best["column"] = np.where(is_enough, best["column"], -1)
        return self.found

    def _search_levels(
        self, histograms: np.ndarray, columns: np.ndarray, is_open: np.ndarray
    ) -> None:
        """Find the best sets of levels."""
        if len(columns):
            facts = self.of_levels[np.isin(self.of_levels["line"], columns)]
            weigh_levels(
                self.found.nodes, histograms, facts, is_open, self.rules, self.habits,
                self.scratch, self.found.best, self.found.is_left,
            )  # fmt: skip

    def _search_numbers(
        self, histograms: np.ndarray, place: np.ndarray, column: np.ndarray
    ) -> None:
        """Find the best cuts of pairs of a node and a column of numbers."""
        edges, bins = self.edges, histograms.reshape(-1, self.width)
        n_bins, first = len(self.is_open), edges.first_bin[column]
        columns = np.zeros(len(place), dtype=SEGMENT)
        columns["node"], columns["column"], columns["first"] = place, column, first
        columns["start"] = place * n_bins + first
        columns["stop"] = columns["start"] + edges.n_coarse[column]
        missing = bins[columns["stop"]]
        rows = self._rows_in(missing)
        columns["missing_g"], columns["missing_n"] = missing[:, 0], rows
        alike = rows * self.rules["hessian"][0]
        columns["missing_h"] = alike if self.width == 2 else missing[:, 2]

        def last_value(part: np.ndarray) -> np.ndarray:
            return edges.upper[edges.fine_of_bin[part % n_bins + 1] - 1]

        asked, parts = self._weigh(columns, bins, self.is_open, last_value)
        self._zoom(asked, parts % n_bins, self._rows_in(bins[parts]))

    def _zoom(self, asked: np.ndarray, coarse: np.ndarray, n_rows: np.ndarray) -> None:
        """Look into coarse bins that may hold the best cut, and then at values."""
        edges = self.edges
        first, after = edges.fine_of_bin[coarse], edges.fine_of_bin[coarse + 1]
        is_direct = (after - first == 1) | (n_rows <= FEW_ROWS) | (n_rows.sum() <= FEW_IN_ALL)
        spans = [(asked[is_direct], first[is_direct], after[is_direct])]
        fine, first = asked[~is_direct], first[~is_direct]
        if len(fine):
            nodes = self.searched[fine["node"]]
            parts = sum(self.team.ask("look_into_bins", nodes, coarse[~is_direct]))
            fine["first"], fine["start"] = first, np.arange(len(fine)) << BITS
            fine["stop"] = fine["start"] + (1 << BITS)
            bin_of_part = (first[:, np.newaxis] + np.arange(1 << BITS)).ravel()
            left, still = self._weigh(
                fine, parts, self.fine_is_open, lambda part: edges.upper[bin_of_part[part]]
            )
            spans.append((left, bin_of_part[still], bin_of_part[still] + 1))
        segments, starts, stops = map(np.concatenate, zip(*spans, strict=True))
        order = np.lexsort((starts, segments["node"]))  # bins are counted through all columns
        if len(order):
            self._look_at_values(segments[order], starts[order], stops[order])

    def _look_at_values(self, segments: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Look at every value in some stretches of fine bins."""
        nodes = self.searched[segments["node"]]
        answers = self.team.ask("look_at_values", nodes, start, stop)
        slot, values, sums = add_up_values(*map(np.concatenate, zip(*answers, strict=True)))
        segments["start"] = np.searchsorted(slot, np.arange(len(segments)), side="left")
        segments["stop"] = np.searchsorted(slot, np.arange(len(segments)), side="right")
        segments["first"] = segments["start"]
        closed = np.zeros(len(slot), dtype=np.uint8)
        self._weigh(segments, sums, closed, lambda part: values[part])

    def _weigh(
        self,
        segments: np.ndarray,
        parts: np.ndarray,
        is_open: np.ndarray,
        last_value: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weigh some parts, of which each goes up to a last value; keep the best cuts.

        Returns the parts inside of which a better cut may lie, as segments whose ``start`` and
        ``stop`` are yet to be written, and their places.
        """
        nodes, best, cut, _ = self.found
        best["part"] = -1
        bound, owner = np.full(len(parts), -np.inf), np.zeros(len(parts), dtype=np.int64)
        before = np.empty((len(parts), 3), dtype=np.int64)
        weigh_parts(
            segments, np.ascontiguousarray(parts).ravel(), is_open, nodes, self.rules, best, bound,
            before, owner,
        )  # fmt: skip
        is_better = np.flatnonzero(best["part"] >= 0)
        cut[is_better] = last_value(best["part"][is_better])
        to_beat = np.maximum(nodes["to_beat"], -LARGEST)  # nothing that is not open reaches it
        still = np.flatnonzero(bound >= to_beat[segments["node"][owner]])
        inside = segments[owner[still]]
        inside["g"], inside["h"], inside["n"] = before[still].T
        return inside, still

    def _rows_in(self, parts: np.ndarray) -> np.ndarray:
        return parts[:, 1] & ((1 << int(self.rules["count_bits"][0])) - 1)
