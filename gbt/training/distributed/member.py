"""A member of a team: it holds a share of the rows, and answers questions about it.

A member keeps the values of its rows, column by column, and two numbers of bins for each: 2 bytes
for the fine one, unless cuts lie between 256 bins alone, and 1 for the coarse one. Its rows stand
in one list, in which every node of the tree that grows owns a stretch, as in
``gbt.kernels.trees.partition``. Rows that the tree does not see (``subsample``) go down it when it
is done.

Questions are methods; arguments and answers are numbers and arrays, so that they can travel.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gbt.kernels.cuts.histogram import LANE_NUMBERS, LANES, Layout
from gbt.kernels.distributed.rows import (
    add_up_products,
    add_value,
    fill_columns,
    fill_pieces,
    find_bins,
    list_partials,
    partition_values,
    pick_rows,
)
from gbt.kernels.distributed.trees import deal_places
from gbt.kernels.trees.quantise import ROWS_PER_TASK, quantise
from gbt.losses.by_name import refusing_overflow_of
from gbt.model.seen_rows import hash_rows
from gbt.training.distributed.edges import BITS, MOST_COARSE, Edges
from gbt.training.distributed.questions import Divided, Fit, Measured, Root, Split, Units
from gbt.training.sampling import sampled_rows

ALL = np.empty(0, dtype=np.int32)
NO_SUM = np.zeros(1)
ROOM = (MOST_COARSE + 1) << BITS  # for the fine bins of a column and that of missing values


class Member:
    """Holds ``n_rows`` rows, those of some chunks of a table, given as ``blocks`` of floats."""

    def __init__(self, blocks: Iterable[np.ndarray], n_rows: int):
        self.sizes: list[int] = []
        self.columns = np.empty((0, n_rows), dtype=np.float32)
        start = 0
        for block in blocks:
            if not self.sizes or (start == 0 and len(block)):
                self.columns = np.empty((block.shape[1], n_rows), dtype=block.dtype)
            if len(block):
                dtype = np.result_type(self.columns, block)
                self.columns = self.columns.astype(dtype, copy=False)
                self.columns[:, start : start + len(block)] = block.T
            self.sizes.append(len(block))
            start += len(block)

    def ask(self, questions: Sequence[tuple[str, tuple]]) -> list[Any]:
        """Answer some questions, each the name of a method and its arguments."""
        return [getattr(self, name)(*arguments) for name, arguments in questions]

    # ---------------------------------------------------------------- the table

    def describe(self) -> tuple[list[int], int, str]:
        """Return how many rows each chunk has, how many columns, and the type of the values."""
        return self.sizes, len(self.columns), self.columns.dtype.str

    def as_type(self, dtype: str) -> None:
        """Hold values of another type: in memory a table has one, too."""
        self.columns = self.columns.astype(dtype, copy=False)

    def hash_rows(self, y: np.ndarray) -> np.ndarray:
        """Return a hash for every row with its target."""
        return hash_rows(self.columns.T, y, 1)

    def rows(self, places: np.ndarray) -> np.ndarray:
        """Return some rows."""
        return np.ascontiguousarray(self.columns[:, places].T)

    def keep(self, is_kept: np.ndarray) -> None:
        """Forget all other rows."""
        self.columns = np.ascontiguousarray(self.columns[:, is_kept])

    def sample(self, most: int) -> tuple[np.ndarray, int]:
        """Return some of the rows, column by column, and how many rows there are."""
        n = self.columns.shape[1]
        places = np.linspace(0, max(n - 1, 0), min(n, most)).astype(np.int64)
        return self.columns[:, places], n

    def has_missing(self) -> np.ndarray:
        """Say of every column whether some value is missing."""
        return np.any(np.isnan(self.columns), axis=1)

    def find_bins(self, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
        """Find the bins of all values; return the least and the largest value of every bin."""
        p, n = self.columns.shape
        self.edges = edges
        self.packed_bins = np.zeros((-(-p // LANES), n), dtype=np.uint64)
        self.lanes = np.zeros(LANE_NUMBERS, dtype=np.int64)
        self.bins = np.empty((p if edges.max_bins is None else 1, n), dtype=np.uint16)
        low = np.full(edges.first_fine[-1], np.inf)
        high = np.full(edges.first_fine[-1], -np.inf)
        for k, values in enumerate(self.columns):
            own, missing = slice(*edges.first_fine[k : k + 2]), edges.n_coarse[k] << edges.shift[k]
            bins = self.bins[k % len(self.bins)]
            find_bins(values, edges.padded(k, values.dtype), missing, bins, low[own], high[own])
            self._coarse(k)[:] = bins >> edges.shift[k]
        return low, high

    def _coarse(self, k: int) -> np.ndarray:
        word, lane = divmod(k, LANES)
        return self.packed_bins[word].view(np.uint8)[lane::LANES]

    # ---------------------------------------------------------------- boosting

    def begin(
        self,
        fit: Fit,
        y: np.ndarray,
        weight: np.ndarray,
        weight_of_levels: np.ndarray,
        ranges: list[tuple[int, int]],
    ) -> None:
        """Take what belongs to the own rows, which have the numbers ``ranges``, and begin a fit.

        One weight may stand for all. Weights by which levels of few rows are told are whole
        numbers, none if rows count alike.
        """
        self.fit, self.ranges = fit, ranges
        self.weight = np.require(weight, requirements=["C", "W"])
        self.y = fit.loss.prepared(y, self.weight)  # of an order: whole queries are here
        self.weight_of_levels = weight_of_levels
        self.raw = np.repeat(np.atleast_1d(fit.base_score)[:, np.newaxis], len(y), axis=1)
        self.part = np.empty(ROWS_PER_TASK, dtype=np.int64)

    def start_round(self) -> None:
        """Compute the derivatives of all outputs at the raw predictions so far."""
        has_one = self.fit.loss.has_one_hessian
        if not len(self.y):
            self.gradient, self.hessian = self.raw, np.ones((len(self.raw), 1 if has_one else 0))
            return
        raw = self.raw[0] if len(self.raw) == 1 else self.raw.T
        with refusing_overflow_of(self.fit.loss):
            g, h = self.fit.loss.gradient_hessian(self.y, raw)
        self.gradient = np.atleast_2d(np.ascontiguousarray(g.T))
        self.hessian = np.atleast_2d(np.ascontiguousarray((h[:1].copy() if has_one else h).T))

    def start_tree(self, output: int, m: int) -> Measured:
        """List the rows of tree ``m`` and return how large their derivatives are."""
        self.output = output
        self.g, self.h = self.gradient[output], self.hessian[output]
        self._list_rows(m)
        rows, has_one = self.listed, self.fit.has_one_weight
        weight = self.weight if has_one else self.weight[rows]
        return Measured(
            of_g=self._sum(self.g, rows, True),
            of_h=NO_SUM if self.fit.are_alike else self._sum(self.h, rows, True),
            weight=float(weight.sum()) * (len(rows) if has_one else 1),
            is_whole=bool((weight == np.rint(weight)).all()),
            n_rows=len(rows),
        )

    def _list_rows(self, m: int) -> None:
        """List the rows that tree ``m`` sees, set by set, and those that it does not.

        Sets are drawn by the place that a row has among the rows of the tree, all members' rows.
        """
        fit, is_seen = self.fit, np.ones(len(self.y), dtype=bool)
        place = np.concatenate([np.arange(0), *(np.arange(*run) for run in self.ranges)])
        n_seen = fit.n_rows
        if fit.subsample < 1.0:
            drawn = sampled_rows(fit.seed, m, np.arange(n_seen, dtype=np.int32), fit.subsample)
            is_seen = np.isin(place, drawn, assume_unique=True)
            place, n_seen = np.searchsorted(drawn, place[is_seen]), len(drawn)
        dealt = np.zeros(len(place), dtype=np.uint8)
        if fit.n_sets > 1:
            key = np.uint64(fit.seed % 2**64), np.uint64(m)
            deal_places(place, n_seen, key, (fit.n_parts, fit.n_sets), self.part, dealt)
        self.set_of_row = np.full(len(self.y), fit.n_sets, dtype=np.uint8)  # of those not seen
        self.set_of_row[is_seen] = dealt
        order = np.argsort(self.set_of_row, kind="stable").astype(np.int32)
        self.listed, self.others = order[: len(place)], order[len(place) :]
        self.stretches = {0: (0, len(place))}

    def _sum(self, x: np.ndarray, rows: np.ndarray, is_of_magnitudes: bool) -> np.ndarray:
        """Return the sum of weight * x, or |weight * x|, over some rows.

        It is the exact sum of all numbers but the first, which is how far it may be off.
        """
        total = np.empty(3)
        add_up_products(x, self.weight, rows, is_of_magnitudes, total)
        return total

    def open_root(self, units: Units) -> Root:
        """Turn derivatives into integers, and add up the rows of the tree."""
        rows, width, repeats = self.listed, units.width, units.repeats != 0
        self.layout = Layout(width, units.count_bits, units.hessian)
        self.entries = np.zeros(len(self.y) * width // 2, dtype=np.int64)
        self.of_g, self.of_h = self.entries[:: width // 2], self.entries[1::2]
        quantise(self.g, self.weight, rows, units.g_scale, repeats, self.of_g)
        if width == 4:
            quantise(self.h, self.weight, rows, units.h_scale, repeats, self.of_h)
        return Root(
            g=int(self.of_g.sum()),
            h=int(self.of_h.sum()) if width == 4 else units.hessian * len(rows),
            magnitude=int(np.abs(self.of_g[rows]).sum()),
            histogram=self._histogram(rows),
        )

    def _histogram(self, rows: np.ndarray) -> np.ndarray:
        """Return the histograms of all columns over some rows, those of every set end to end."""
        width, first_bin, start = self.layout.width, self.edges.first_bin, 0
        histograms = np.empty((self.fit.n_sets, first_bin[-1], width), dtype=np.int64)
        for s, histogram in enumerate(histograms):
            stop = bisect_right(rows, s, key=self.set_of_row.__getitem__)
            own, start = rows[start:stop], stop
            fill_columns(
                self.packed_bins, own, self.entries, self.layout, first_bin, self.lanes,
                histogram.ravel(),
            )  # fmt: skip
            if len(self.weight_of_levels):  # in the fourth number, which nothing else needs
                for k in np.flatnonzero(self.edges.n_levels).tolist():
                    weights = histogram[first_bin[k] : first_bin[k + 1], 3]
                    np.add.at(weights, self._coarse(k)[own], self.weight_of_levels[own])
        return histograms.reshape(-1, width)

    # ---------------------------------------------------------------- growing

    def split(self, splits: Sequence[Split]) -> Divided:
        """Divide the rows of some nodes, and add up those of a child of each."""
        low, high = np.full(len(splits), -np.inf), np.full(len(splits), np.inf)
        shape = (0, self.fit.n_sets * self.edges.first_bin[-1], self.layout.width)
        magnitudes, histograms = [], [np.empty(shape, dtype=np.int64)]
        for i, split in enumerate(splits):
            start, stop = self.stretches.pop(split.node)
            rows, k = self.listed[start:stop], split.column
            values, cut = self.columns[k], split.cut
            if split.levels is not None:
                values, cut = np.empty_like(values), 0.5  # 0 goes left, and 1 right
                values[rows] = ~split.levels[self._coarse(k)[rows]]
            n_left, low[i], high[i] = partition_values(
                values, cut, split.missing_left, rows, np.empty_like(rows)
            )
            self.stretches[split.left] = start, start + n_left
            self.stretches[split.right] = start + n_left, stop
            if split.added_up >= 0:
                rows = self._rows_of(split.added_up)
                magnitudes.append(np.abs(self.of_g[rows]).sum())
                histograms.append(self._histogram(rows)[np.newaxis])
        return Divided(low, high, np.array(magnitudes, np.int64), np.concatenate(histograms))

    def _rows_of(self, node: int) -> np.ndarray:
        return self.listed[slice(*self.stretches[node])]

    def look_into_bins(self, node: np.ndarray, coarse: np.ndarray) -> np.ndarray:
        """Return the histograms of the fine bins in some coarse ones, those of a node together."""
        edges, width, n_pieces = self.edges, self.layout.width, len(node) << BITS
        column = edges.column_of_bin[coarse]
        first = edges.fine_of_bin[coarse] - edges.first_fine[column]
        histogram = np.zeros(n_pieces * width, dtype=np.int64)
        for start, stop in _runs_of(node, column):
            slots, rows = np.full(ROOM, -1, dtype=np.int32), self._rows_of(node[start])
            fine = first[start:stop, np.newaxis] + np.arange(1 << BITS)
            slots[fine] = np.arange(start << BITS, stop << BITS).reshape(fine.shape)
            bins = self.bins[column[start]]
            fill_pieces(bins, rows, self.entries, self.layout, slots, histogram)
        return histogram.reshape(-1, width)

    def look_at_values(
        self, node: np.ndarray, first: np.ndarray, last: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distinct values in some stretches of fine bins, first:last.

        Returns the number of the stretch of every value, the value, and the sums that a bin has,
        but for |g|, which matters only where several values are in a bin. Values are in the order
        of stretches, and ascending within one.
        """
        width = self.layout.width
        column = np.searchsorted(self.edges.first_fine, first, side="right") - 1
        of_column = self.edges.first_fine[column]
        slot_of, found = [ALL], [ALL]
        for start, stop in _runs_of(node, column):
            rows, slots = self._rows_of(node[start]), np.full(ROOM, -1, dtype=np.int32)
            for i in range(start, stop):
                slots[first[i] - of_column[i] : last[i] - of_column[i]] = i
            picked = np.empty((2, len(rows) + 1), dtype=np.int32)
            n = pick_rows(self.bins[column[start]], rows, slots, *picked)
            found.append(picked[0, :n])
            slot_of.append(picked[1, :n])
        rows, slot = np.concatenate(found), np.concatenate(slot_of)
        sums = np.zeros((len(rows), width), dtype=np.int64)
        sums[:, 0], sums[:, 1] = self.of_g[rows], 1
        if width == 4:
            sums[:, 2] = self.of_h[rows]
        return add_up_values(slot, self.columns[column[slot], rows] + 0.0, sums)

    # ---------------------------------------------------------------- the grown tree

    def add_up(self, leaves: Sequence[int]) -> np.ndarray:
        """Add up the derivatives of the rows of every leaf: G and H, see `_sum`."""
        sums = np.zeros((len(leaves), 2, 3))
        for (of_g, of_h), leaf in zip(sums, leaves, strict=True):
            rows = self._rows_of(leaf)
            of_g[:] = self._sum(self.g, rows, False)
            if not self.fit.are_alike:
                of_h[:] = self._sum(self.h, rows, False)
        return sums

    def add_up_exactly(self, leaf: int) -> list[np.ndarray]:
        """Return floats whose exact sum is G of a leaf, and others whose sum is H."""
        rows, parts = self._rows_of(leaf), []
        for x in (self.g, self.h):
            partials = np.empty(len(rows))
            n = list_partials(x, self.weight, rows, partials) if len(rows) else 0
            parts.append(partials[:n].copy())
        return parts

    def add_values(self, leaves: Sequence[int], values: Sequence[float], walk: Any) -> None:
        """Add the values of their leaves to the raw predictions of all rows.

        Rows that the tree has not seen ``walk`` down it: their values may lie between those that
        are on either side of a cut.
        """
        raw = self.raw[self.output]
        for leaf, value in zip(leaves, values, strict=True):
            add_value(self._rows_of(leaf), value, raw)
        if len(self.others):
            of_others = raw[self.others]
            walk.add_values(self.rows(self.others), of_others, 1)
            raw[self.others] = of_others

    def follow(self, output: int, walk: Any) -> None:
        """Let all rows go down a tree that has grown before."""
        if len(self.y):
            walk.add_values(np.ascontiguousarray(self.columns.T), self.raw[output], 1)


def add_up_values(
    slot: np.ndarray, values: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put values in the order of slot and value, and add up the sums of equal ones."""
    if not len(slot):
        return slot, values, sums
    order = np.argsort(values)
    # Numbers of 16 bits are put in order by their digits.
    slot_in_order = slot[order].astype(np.uint16 if slot.max() < 2**16 else slot.dtype, copy=False)
    order = order[np.argsort(slot_in_order, kind="stable")]
    slot, values, sums = slot[order], values[order], sums[order]
    is_new = np.append(True, (slot[1:] != slot[:-1]) | (values[1:] != values[:-1]))
    starts = np.flatnonzero(is_new)
    return slot[starts], values[starts], np.add.reduceat(sums, starts, axis=0)


def _runs_of(node: np.ndarray, column: np.ndarray) -> list[tuple[int, int]]:
    is_new = (np.diff(node, prepend=-1) != 0) | (np.diff(column, prepend=-1) != 0)
    return list(pairwise([*np.flatnonzero(is_new).tolist(), len(node)]))
