r"""Search the best cuts of nodes whose rows others hold.

From their histograms of coarse bins, which are here, to up to two questions to all members of a
team, whose answers are added up::

    look_into_bins     the fine bins of coarse bins that may hold the best cut
    look_at_values     the values of bins that still may, and of bins with few rows at once

Which bins may hold it is told by bounds, as in ``gbt.kernels.cuts.search``; the leader asks for
nothing else and finds the best cut as surely as by looking at all (``gbt.kernels.shares.parts``).
"""

from typing import Any, NamedTuple

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
        n_bins = edges.n_coarse + 1
        self.column_of_bin = np.repeat(np.arange(len(n_bins)), n_bins)
        self.coarse_of_bin = np.arange(n_bins.sum()) - edges.first_bin[self.column_of_bin]
        self.of_levels, self.scratch = edges.columns()[edges.n_levels > 0], zeros(OF_LEVELS, 1)

    def best_cuts(
        self,
        searched: np.ndarray,
        nodes: np.ndarray,
        histograms: np.ndarray,
        allowed: np.ndarray,
        is_open: np.ndarray | None,
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
        is_open : bool array of shape (m, allowed), or None
            Whether a node may be split on a column; None if each may be split on all.
        """
        best = records(len(searched), BEST)
        begin_nodes(nodes, best, self.rules)
        self.found = Found(
            nodes, best, np.full(len(searched), np.nan), np.zeros((len(nodes), 0), dtype=bool)
        )
        n_bins = len(self.column_of_bin)
        bins = histograms.reshape(len(searched), n_bins, self.width)
        if is_open is None:
            is_open = np.ones((len(searched), len(allowed)), dtype=bool)
        has_levels = self.edges.n_levels[allowed] > 0
        self._search_levels(histograms, allowed[has_levels], is_open[:, has_levels])
        allowed, is_open = allowed[~has_levels], is_open[:, ~has_levels]
        segments = np.zeros((len(searched), len(allowed)), dtype=SEGMENT)
        place = np.arange(len(searched))[:, np.newaxis]
        first = self.edges.first_bin[allowed]
        segments["node"], segments["column"], segments["first"] = place, allowed, first
        segments["start"] = place * n_bins + first
        segments["stop"] = segments["start"] + self.edges.n_coarse[allowed]
        missing = bins[:, first + self.edges.n_coarse[allowed]]
        self._write_missing(segments, missing)
        asked = segments[is_open]
        bound, before, is_better = self._weigh(asked, histograms.ravel(), self.is_open)
        for j in is_better:
            place_in_node = self._part_before(j) % n_bins
            k = self.column_of_bin[place_in_node]
            self._set_cut(
                j, k, ((self.coarse_of_bin[place_in_node] + 1) << self.edges.shift[k]) - 1
            )
        in_question = np.flatnonzero(bound >= self._to_beat(np.arange(len(bound)) // n_bins))
        asked = np.zeros(len(in_question), dtype=SEGMENT)
        asked["node"] = in_question // n_bins
        at = in_question % n_bins
        asked["column"], coarse = self.column_of_bin[at], self.coarse_of_bin[at]
        self._write_before(asked, before[in_question])
        self._write_missing(asked, bins[asked["node"], first_missing(self.edges, asked["column"])])
        n_rows = self._rows_in(bins.reshape(-1, self.width)[in_question])
        self._zoom(searched, asked, coarse, n_rows)
        is_enough = best["score"] - best["own"] > best["least"]
        best["column"] = np.where(is_enough, best["column"], -1)
        return self.found

    def _search_levels(
        self, histograms: np.ndarray, columns: np.ndarray, is_open: np.ndarray
    ) -> None:
        """Find the best sets of levels."""
        if len(columns):
            is_left = np.zeros((len(histograms), MOST_COARSE + 1), dtype=bool)
            self.found = self.found._replace(is_left=is_left)
            facts = self.of_levels[np.isin(self.of_levels["line"], columns)]
            weigh_levels(
                self.found.nodes, histograms, facts, is_open, self.rules, self.habits,
                self.scratch, self.found.best, is_left,
            )  # fmt: skip

    def _part_before(self, j: int) -> int:
        """Return the last part left of a node's best cut."""
        return int(self.found.best["part"][j])

    def _zoom(
        self, searched: np.ndarray, asked: np.ndarray, coarse: np.ndarray, n_rows: np.ndarray
    ) -> None:
        """Look into coarse bins that may hold the best cut, and then at values."""
        shift = self.edges.shift[asked["column"]]
        is_direct = (shift == 0) | (n_rows <= FEW_ROWS) | (n_rows.sum() <= FEW_IN_ALL)
        first = coarse << shift
        spans = [(asked[is_direct], first[is_direct], (first + (1 << shift))[is_direct])]
        fine = asked[~is_direct]
        if len(fine):
            coarse, first = coarse[~is_direct], first[~is_direct]
            parts = self._sum("look_into_bins", searched[fine["node"]], fine["column"], coarse)
            fine["start"] = np.arange(len(fine)) << BITS
            fine["stop"] = fine["start"] + (1 << BITS)
            fine["first"] = self.edges.first_fine[fine["column"]] + first
            bound, before, is_better = self._weigh(fine, parts.ravel(), self.fine_is_open)
            for j in is_better:
                s, at = divmod(self._part_before(j), 1 << BITS)
                self._set_cut(j, fine["column"][s], first[s] + at)
            owner = np.arange(len(bound)) >> BITS
            still = np.flatnonzero(bound >= self._to_beat(fine["node"][owner]))
            left = fine[owner[still]]
            self._write_before(left, before[still])
            place = first[owner[still]] + (still & ((1 << BITS) - 1))
            spans.append((left, place, place + 1))
        segments, starts, stops = map(np.concatenate, zip(*spans, strict=True))
        # What beats the best by now; the others need not be looked at.
        order = np.lexsort((starts, segments["column"], segments["node"]))
        if len(order):
            self._look_at_values(searched, segments[order], starts[order], stops[order])

    def _look_at_values(
        self, searched: np.ndarray, segments: np.ndarray, first: np.ndarray, last: np.ndarray
    ) -> None:
        """Look at every value in some stretches of fine bins."""
        answers = self.team.ask(
            "look_at_values", searched[segments["node"]], segments["column"], first, last
        )
        slot, values, sums = add_up_values(*map(np.concatenate, zip(*answers, strict=True)))
        segments["start"] = np.searchsorted(slot, np.arange(len(segments)), side="left")
        segments["stop"] = np.searchsorted(slot, np.arange(len(segments)), side="right")
        segments["first"] = segments["start"]
        closed = np.zeros(len(slot), dtype=np.uint8)
        _, _, is_better = self._weigh(segments, sums.ravel(), closed)
        for j in is_better:
            self.found.cut[j] = values[self._part_before(j)]

    def _weigh(
        self, segments: np.ndarray, parts: np.ndarray, is_open: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weigh some parts; return bounds, sums before them, and nodes with a better cut."""
        nodes, best = self.found.nodes, self.found.best
        best["part"] = -1
        n_parts = len(parts) // self.width
        bound, before = np.full(n_parts, -np.inf), np.empty((n_parts, 3), dtype=np.int64)
        parts = np.ascontiguousarray(parts)
        weigh_parts(segments, parts, is_open, nodes, self.rules, best, bound, before)
        return bound, before, np.flatnonzero(best["part"] >= 0)

    def _set_cut(self, j: int, k: int, fine: int) -> None:
        """Cut after a fine bin."""
        self.found.cut[j] = self.edges.upper(k, fine)

    def _to_beat(self, place: np.ndarray) -> np.ndarray:
        """Return what a cut must reach in each of some nodes; nothing that is not open does."""
        return np.maximum(self.found.nodes["to_beat"], -LARGEST)[place]

    def _rows_in(self, parts: np.ndarray) -> np.ndarray:
        return parts[:, 1] & ((1 << int(self.rules["count_bits"][0])) - 1)

    def _write_before(self, segments: np.ndarray, before: np.ndarray) -> None:
        for i, name in enumerate("ghn"):
            segments[name] = before[:, i]

    def _write_missing(self, segments: np.ndarray, bins: np.ndarray) -> None:
        """Write down the sums over missing rows, which come as bins."""
        n = self._rows_in(bins.reshape(-1, self.width)).reshape(segments.shape)
        h = n * self.rules["hessian"][0] if self.width == 2 else bins[..., 2]
        segments["missing_g"], segments["missing_h"], segments["missing_n"] = bins[..., 0], h, n

    def _sum(self, question: str, *arguments: Any) -> Any:
        """Ask all members for an array, and add these up."""
        return sum(self.team.ask(question, *arguments))


def first_missing(edges: Edges, column: np.ndarray) -> np.ndarray:
    """Return the bins of missing values of some columns."""
    return edges.first_bin[column] + edges.n_coarse[column]
