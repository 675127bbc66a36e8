r"""Exact search: the best cuts of nodes whose rows others hold, also inside bins.

From their histograms of coarse bins, which are here, to up to two questions to all members of a
team, whose answers are added up::

    look_into_bins     the fine bins of coarse bins that may hold the best cut
    look_at_values     the values of bins that still may, and of bins with few rows at once

Which bins may hold it is told by bounds, as in ``gbt.kernels.cuts.search``; the leader asks for
nothing else and finds the best cut as surely as by looking at all: see
``gbt.kernels.distributed.pieces``.
"""

from collections.abc import Callable

import numpy as np

from gbt.kernels.cuts.memory import Work
from gbt.kernels.distributed.pieces import SEGMENT, begin_nodes, weigh_pieces
from gbt.training.distributed.bin_search import BinSearch, Found
from gbt.training.distributed.edges import BITS, Edges
from gbt.training.distributed.member import add_up_values
from gbt.training.distributed.team import Team

FEW_ROWS = 16  # of a bin whose values are asked for at once
FEW_IN_ALL = 2**14  # in all bins of a depth: their values travel faster than a round more
LARGEST = np.finfo(np.float64).max


class ExactSearch(BinSearch):
    """The greedy search on the rows of a team: from coarse to fine, but of levels between bins.

    ``is_open`` says which coarse and which fine bins hold several values.
    """

    found: Found

    def __init__(
        self, team: Team, edges: Edges, is_open: tuple[np.ndarray, np.ndarray], work: Work
    ):
        self.has_levels = edges.n_levels > 0
        if self.has_levels.any():  # else it need not be compiled
            super().__init__(edges, work, None)
        self.team, self.edges, self.rules = team, edges, work.rules
        self.is_open, self.fine_is_open = is_open
        self.width = int(work.rules["width"][0])

    def best_cuts(
        self, searched: np.ndarray, nodes: np.ndarray, histograms: np.ndarray, is_open: np.ndarray
    ) -> Found:
        """Find the best cuts of some nodes, from coarse to fine."""
        self.searched, self.found = searched, Found.nothing(nodes)
        best = self.found.best
        begin_nodes(nodes, best, self.rules)
        if self.has_levels.any():
            self.search(self.found, histograms, is_open & self.has_levels)
        place, column = np.nonzero(is_open & ~self.has_levels)
        if len(place):
            self._search_numbers(histograms, place, column)
        is_enough = best["score"] - best["own"] > best["least"]
        best["column"] = np.where(is_enough, best["column"], -1)
        return self.found

    def _search_numbers(
        self, histograms: np.ndarray, place: np.ndarray, column: np.ndarray
    ) -> None:
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

        def last_value(piece: np.ndarray) -> np.ndarray:
            return edges.upper[edges.fine_of_bin[piece % n_bins + 1] - 1]

        asked, pieces = self._weigh(columns, bins, self.is_open, last_value)
        self._zoom(asked, pieces % n_bins, self._rows_in(bins[pieces]))

    def _zoom(self, asked: np.ndarray, coarse: np.ndarray, n_rows: np.ndarray) -> None:
        """Look into coarse bins that may hold the best cut, and then at values."""
        edges = self.edges
        first, after = edges.fine_of_bin[coarse], edges.fine_of_bin[coarse + 1]
        is_direct = (after - first == 1) | (n_rows <= FEW_ROWS) | (n_rows.sum() <= FEW_IN_ALL)
        spans = [(asked[is_direct], first[is_direct], after[is_direct])]
        fine, first = asked[~is_direct], first[~is_direct]
        if len(fine):
            nodes = self.searched[fine["node"]]
            pieces = sum(self.team.ask("look_into_bins", nodes, coarse[~is_direct]))
            fine["first"], fine["start"] = first, np.arange(len(fine)) << BITS
            fine["stop"] = fine["start"] + (1 << BITS)
            bin_of_piece = (first[:, np.newaxis] + np.arange(1 << BITS)).ravel()
            left, still = self._weigh(
                fine, pieces, self.fine_is_open, lambda piece: edges.upper[bin_of_piece[piece]]
            )
            spans.append((left, bin_of_piece[still], bin_of_piece[still] + 1))
        segments, starts, stops = map(np.concatenate, zip(*spans, strict=True))
        order = np.lexsort((starts, segments["node"]))  # bins are counted through all columns
        if len(order):
            self._look_at_values(segments[order], starts[order], stops[order])

    def _look_at_values(self, segments: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        nodes = self.searched[segments["node"]]
        answers = self.team.ask("look_at_values", nodes, start, stop)
        slot, values, sums = add_up_values(*map(np.concatenate, zip(*answers, strict=True)))
        segments["start"] = np.searchsorted(slot, np.arange(len(segments)), side="left")
        segments["stop"] = np.searchsorted(slot, np.arange(len(segments)), side="right")
        segments["first"] = segments["start"]
        closed = np.zeros(len(slot), dtype=np.uint8)
        self._weigh(segments, sums, closed, lambda piece: values[piece])

    def _weigh(
        self,
        segments: np.ndarray,
        pieces: np.ndarray,
        is_open: np.ndarray,
        last_value: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weigh some pieces, of which each goes up to a last value; keep the best cuts.

        Returns the pieces inside of which a better cut may lie, as segments whose ``start`` and
        ``stop`` are yet to be written, and their places.
        """
        nodes, best, cut = self.found
        best["piece"] = -1
        bound, owner = np.full(len(pieces), -np.inf), np.zeros(len(pieces), dtype=np.int64)
        before = np.empty((len(pieces), 3), dtype=np.int64)
        weigh_pieces(
            segments, np.ascontiguousarray(pieces).ravel(), is_open, nodes, self.rules, best, bound,
            before, owner,
        )  # fmt: skip
        is_better = np.flatnonzero(best["piece"] >= 0)
        cut[is_better] = last_value(best["piece"][is_better])
        to_beat = np.maximum(nodes["to_beat"], -LARGEST)  # nothing that is not open reaches it
        still = np.flatnonzero(bound >= to_beat[segments["node"][owner]])
        inside = segments[owner[still]]
        inside["g"], inside["h"], inside["n"] = before[still].T
        return inside, still

    def _rows_in(self, pieces: np.ndarray) -> np.ndarray:
        return pieces[:, 1] & ((1 << int(self.rules["count_bits"][0])) - 1)
