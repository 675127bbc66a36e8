r"""Rows that judge the nodes of a model, walked twice, in memory or in chunks of Dask.

The sums of all rows at its children tell what a split is worth. So a first walk adds up the sums of
nodes, and only a second one can tell what single rows add to the result::

    rows, or chunks of them  ->  sums of nodes  ->  a number a split  ->  values
                                                         |
    the same rows            ->  parts of rows  <--------+
                                 their squares add up  ->  standard errors

Rows of a chunk are checked, converted and sent down anew for the second walk. Those in memory keep
their spots, a byte or two a row and tree, if there is room.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from attributions.kernels.contrasts import N_SUMS, Parts, add_parts_at_spots, add_up_at_spots
from attributions.kernels.spots import Spots, odds, predict_before
from attributions.rows import Rows
from gbt.kernels.rows.derivatives import GIVEN, HALF_LOGISTIC, HALF_SQUARED_ERROR
from gbt.kernels.rows.descent import NO_LEAVES, find_spots
from gbt.model.predictor import columns_of, transposed
from gbt.model.stages import TREES_AT_ONCE, Stage, tree_blocks
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks, row_blocks

BLOCKS_PER_SUM = 16  # of rows; their sums are some numbers a node of all trees
MOST_KEPT = 2**29  # bytes of spots; a million rows and 400 trees of depth 6 take 4e8


@dataclass(eq=False)
class RowsAtSpots(Rows):
    """Rows that go down all trees.

    ``kept`` has the spots of all blocks of rows, end to end, once a first walk has kept them.
    """

    kept: np.ndarray | None = field(default=None, init=False)  # which other rows do not take over

    def node_sums(self, n_jobs: int | None, keep: bool = False) -> np.ndarray:
        """Return sums of rows at every node, (n_nodes, numbers): see `sums_at_spots`.

        ``keep`` says that a second walk will follow.
        """
        n_spots, dtype = len(self.y) * self.ensemble.n_trees, self.no_spots.of_row.dtype
        has_room, kept = n_spots * dtype.itemsize <= MOST_KEPT, self.kept
        if kept is None and keep and has_room and not self.is_part:
            kept = np.empty(n_spots, dtype)

        def sums_of(rows: slice) -> np.ndarray:
            blocks = row_blocks(rows.stop - rows.start, self.rows_at_once)
            own = [slice(rows.start + block.start, rows.start + block.stop) for block in blocks]
            return self.sums_at_spots((block, self.spots(block, kept)) for block in own)

        at_once = BLOCKS_PER_SUM * self.rows_at_once
        sums = merge_blocks(sums_of, operator.iadd, len(self.y), n_jobs, at_once)
        self.kept = kept
        return self.of_nodes(sums)

    def by_block(self, of_block: Callable[[slice], np.ndarray], n_jobs: int | None) -> np.ndarray:
        """Return what a function makes of each block of rows, end to end, from several threads."""

        def part_of(rows: slice) -> list[np.ndarray]:
            return [of_block(rows)]

        n, at_once = len(self.X), self.rows_at_once
        return np.concatenate(merge_blocks(part_of, operator.iadd, n, n_jobs, at_once))

    def of_nodes(self, sums: np.ndarray) -> np.ndarray:
        """Return sums by node, (n_nodes, numbers), from those by node and place."""
        of_nodes = self.ensemble.predictor.of_nodes
        return np.column_stack([of_nodes(np.ascontiguousarray(column)) for column in sums.T])

    def sums_at_spots(self, blocks: Iterable[tuple[slice, Spots]]) -> np.ndarray:
        """Return sums of w g, w h, w and 1 over some blocks of rows, by node and place."""
        sums = np.zeros((len(self.no_spots.value), N_SUMS))
        for rows, spots in blocks:
            add_up_at_spots(spots, *self.derivatives(rows, spots), self.weight[rows], sums)
        return sums

    def derivatives(self, rows: slice, spots: Spots) -> tuple:
        """Return of some rows what kernels take derivatives from: see ``add_up_at_spots``."""
        kind, n = self.ensemble.loss.kind, rows.stop - rows.start
        if not self.is_known:
            return kind, np.zeros(n), np.zeros(n), np.empty(n), self.before_trees(rows, spots)
        hessian = None if kind == HALF_SQUARED_ERROR else np.empty(n)
        return kind, self.y[rows], self.state(rows), hessian, None

    def parts_along(self, parts: Parts, rows: slice) -> np.ndarray:
        """Return what the steps of a block of rows add to features, times their weight, (p, n)."""
        out = np.zeros((self.ensemble.n_credited, rows.stop - rows.start))
        spots = self.spots(rows)
        add_parts_at_spots(spots, *self.derivatives(rows, spots), parts, out)
        out *= self.weight[rows]
        return out

    def before_trees(self, rows: slice, spots: Spots) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of some rows before every tree, (M, n) each."""
        n_outputs, n_trees = self.ensemble.n_outputs, self.ensemble.n_trees
        gradient, hessian = np.empty((2, n_trees, rows.stop - rows.start))
        for k, trees, g, h in self.stages(rows, spots):
            own = slice(trees.start * n_outputs + k, trees.stop * n_outputs, n_outputs)
            gradient[own], hessian[own] = g, h
        return gradient, hessian

    def stages(self, rows: slice, spots: Spots) -> Iterator[Stage]:
        """Yield the derivatives of a block of rows before all trees, some trees at a time.

        Every stage is written to the same arrays, because new memory takes longer to fill.
        """
        raw, ensemble, loss = self.start(rows), self.ensemble, self.ensemble.loss
        if self.are_odds:
            spots = spots._replace(value=self.moved)
        y = self.y[rows] if loss.is_by_row else self.prepared  # of all rows
        n_outputs, n = raw.shape
        at_once = max(1, TREES_AT_ONCE // n_outputs) if loss.is_by_row else 1
        room = np.empty((3, at_once * n_outputs, n))
        for trees in tree_blocks(ensemble.n_rounds, at_once):
            before, *pair = room[:, : len(trees) * n_outputs]
            predict_before(spots, trees.start * n_outputs, raw, before)
            if n_outputs == 1:
                yield Stage(0, trees, *loss.gradient_hessian(y, before, (pair[0], pair[1])))
                continue
            of_rounds = np.moveaxis(before.reshape(-1, n_outputs, n), 1, -1)
            found = loss.gradient_hessian(y, of_rounds)
            for k in range(n_outputs):
                yield Stage(k, trees, *(np.ascontiguousarray(part[..., k]) for part in found))

    def spots(
        self, rows: slice, memory: np.ndarray | None = None, block: np.ndarray | None = None
    ) -> Spots:
        """Return the spots of a block of rows: kept, or found now and put into ``memory``.

        ``block`` has the rows if they are transposed already.
        """
        n_trees, n = self.ensemble.n_trees, rows.stop - rows.start
        held = memory if self.kept is None else self.kept
        if held is None:
            of_row = np.empty((n_trees, n), self.no_spots.of_row.dtype)
        else:
            of_row = held[rows.start * n_trees : rows.stop * n_trees].reshape(n_trees, n)
        spots = self.no_spots._replace(of_row=of_row)
        if self.kept is None:
            block = transposed(self.X[rows], dtype=self.X.dtype) if block is None else block
            links = self.ensemble.predictor.links_for(block)
            find_spots(columns_of(block), links, spots.first, NO_LEAVES, spots.of_row)
        return spots

    @cached_property
    def no_spots(self) -> Spots:
        """Spots of no rows: which spots there are, and what they do to a state."""
        predictor = self.ensemble.predictor
        return Spots(
            of_row=np.empty((0, 0), predictor.spot_dtype),
            first=predictor.first_spot,
            tree_depth=predictor.links.tree_depth,
            value=odds(self.moved) if self.are_odds else self.moved,
        )

    @property
    def moved(self) -> np.ndarray:
        """How far spots move raw predictions; trees of a forest are all judged at its start."""
        return self.ensemble.predictor.reached_value * (not self.ensemble.is_forest)

    def state(self, rows: slice) -> np.ndarray:
        """Return the states of a block of rows before the first tree: odds or raw predictions."""
        (raw,) = self.start(rows)
        return odds(raw) if self.are_odds else raw

    @property
    def are_odds(self) -> bool:
        """Whether rows carry odds, e^f, in place of raw predictions f (``kernels.spots.odds``)."""
        return self.ensemble.loss.kind == HALF_LOGISTIC

    @property
    def is_known(self) -> bool:
        """Whether kernels have the formulas of the loss."""
        return self.ensemble.loss.kind != GIVEN

    @property
    def rows_at_once(self) -> int:
        """How many rows the loss is asked for together: a block, or all if they are not alone."""
        return ROWS_PER_BLOCK if self.ensemble.loss.is_by_row else len(self.X)

    def targets(self) -> Any:
        """Return what only the targets of all rows together can tell, or None."""
        return None


@dataclass(frozen=True, eq=False)
class NodeTotals:
    """The sums of some rows at the nodes, and what only all rows together can tell."""

    n_rows: int
    of_node: np.ndarray
    groups: np.ndarray | None  # the distinct labels of rows that belong together
    targets: Any

    @classmethod
    def of(cls, rows: RowsAtSpots, n_jobs: int | None, keep: bool = False) -> "NodeTotals":
        """Walk the rows once; ``keep`` says that a second walk will follow."""
        labels = None if rows.groups is None else rows.groups.labels
        return cls(len(rows.X), rows.node_sums(n_jobs, keep), labels, rows.targets())

    def __add__(self, other: "NodeTotals") -> "NodeTotals":
        """Return the totals of the rows of both."""
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = np.union1d(self.groups, other.groups)
        targets = None if self.targets is None else self.targets.merge(other.targets)
        n_rows, of_node = self.n_rows + other.n_rows, self.of_node + other.of_node
        return NodeTotals(n_rows, of_node, groups, targets)
