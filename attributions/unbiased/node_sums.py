r"""Rows that judge splits: what they add up to in every node, and each row's own part.

A split is judged by four sums over the rows of its node and of its children, w g, w h, w and 1,
with g and h at the prediction before the tree. Rows go down all trees, a block at a time, and leave
the four numbers at their leaves; parents add up their children::

    rows  ->  leaves            a leaf's sums are those of its rows
                 \__ parents    a node's sums are those of its two children

What is computed from these sums has a standard error: each row's part in it, its derivative, is
added up along the row's paths, feature by feature (`SplitRows.sum_parts`). For that rows need not
go down again: the leaves where they ended, their *spots*, can be kept, a byte or two a row and
tree. Kernels do all this (``attributions.kernels.contrasts``), except for a loss that they do not
know, for which it is done here. Rows in chunks are walked chunk by chunk
(``attributions.unbiased.in_chunks``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from attributions.kernels.contrasts import (
    N_ENDS,
    N_SUMS,
    N_TERMS,
    N_WHOLE,
    Below,
    Spots,
    add_parts,
    add_up_rows,
    find_spots,
)
from attributions.kernels.odds import odds
from attributions.kernels.paths import add_up_leaves
from attributions.rows import Rows
from attributions.statistics.row_sums import RowSums, sum_over_rows
from gbt.kernels.rows.derivatives import GIVEN, HALF_LOGISTIC, HALF_SQUARED_ERROR
from gbt.kernels.rows.descent import N_PLACES, N_TOP, Links
from gbt.model.predictor import columns_of, transposed
from gbt.model.stages import stages
from gbt.parallel.chunks import Chunk
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks, row_blocks

BLOCKS_PER_SUM = 16  # of rows; their sums are four numbers a node of all trees
MOST_KEPT = 2**29  # bytes of spots; a million rows and 400 trees of depth 6 take 4e8


@dataclass(eq=False)
class SplitRows(Rows):
    """Rows that go down the trees of a model, and their sums there.

    ``kept`` holds the spots of all blocks of rows, end to end, once `node_sums` has kept them.
    """

    kept: np.ndarray | None = None

    @classmethod
    def of(cls, model: Any, given: Chunk) -> Self:
        """Check the rows and leave out those of weight 0; a chunk may then have none."""
        return super().of(model, given).without_zero_weight()

    @property
    def have_one_hessian(self) -> bool:
        """Whether w h is the same for all rows, so that all ratios are means."""
        return self.ensemble.loss.has_one_hessian and np.ptp(self.weight) == 0

    def node_sums(self, n_jobs: int | None, keep: bool = False) -> np.ndarray:
        """Return the sums of w g, w h, w and 1 over the rows of every node, (4, n_nodes).

        ``keep`` says that `sum_parts` will be asked for: spots are kept if there is room.
        """
        predictor, is_given = self.ensemble.predictor, self.ensemble.loss.kind == GIVEN
        n_spots = len(self.y) * len(self._no_spots.first)
        if keep and not is_given and n_spots * self._no_spots.of_row.itemsize <= MOST_KEPT:
            self.kept = np.empty(n_spots, self._no_spots.of_row.dtype)

        def sums_of(rows: slice) -> np.ndarray:
            sums = np.zeros((len(predictor.reached_value), N_SUMS))
            if is_given:
                self._add_up_given(rows, sums)
                return sums
            for own in row_blocks(rows.stop - rows.start):
                block = slice(rows.start + own.start, rows.start + own.stop)
                self._walk(add_up_rows, self._go_down(block), block, self.weight[block], sums)
            return sums

        sums = merge_blocks(
            sums_of,
            lambda a, b: np.add(a, b, out=a),
            len(self.y),
            n_jobs,
            BLOCKS_PER_SUM * ROWS_PER_BLOCK,
        )
        lower = predictor.links.lower[: len(self.ensemble.feature)]
        of_nodes = [predictor.of_nodes(column) for column in sums.T]
        for column in of_nodes:
            add_up_leaves(lower, column)
        return np.array(of_nodes)

    def sum_parts(self, feature: np.ndarray, part: np.ndarray, n_jobs: int | None) -> RowSums:
        """Return the sums of rows' parts by feature, of which callers use the standard error.

        ``feature`` (n_nodes,) has what splits are credited to, and ``part`` (n_nodes, 2, 3) what
        w g, w h and w of a row bring in steps to the right and to the left.
        """
        if self.ensemble.loss.kind == HALF_SQUARED_ERROR:  # h is 1, so b h + d is b + d
            a, b, d = np.moveaxis(part, -1, 0)
            part = np.stack([a, b, b + d], axis=-1)
        paths = along_paths(self.ensemble.predictor.links, feature, part)

        def parts_of(rows: slice) -> tuple[np.ndarray, None]:
            out = np.zeros((self.ensemble.n_credited, rows.stop - rows.start))
            if self.ensemble.loss.kind == GIVEN:
                self._add_given_parts(rows, (feature, part), out)
            else:
                spots = self._go_down(rows) if self.kept is None else self._spots_for(rows)
                self._walk(add_parts, spots, rows, *paths, out)
            out *= self.weight[rows]
            return out.T, None

        return sum_over_rows(parts_of, len(self.y), n_jobs, self.groups)

    def _add_up_given(self, rows: slice, sums: np.ndarray) -> None:
        """Do what the kernel `add_up_rows` does, for a loss that kernels do not know."""
        block, weight = transposed(self.X[rows]), self.weight[rows]
        for m, g, h in self._by_tree(block, rows):
            (leaves,) = self.ensemble.predictor.find_leaves(block, range(m, m + 1))
            for j, terms in enumerate((weight * g, weight * h, weight, np.ones(len(g)))):
                sums[:, j] += np.bincount(leaves.astype(np.int64), terms, minlength=len(sums))

    def _add_given_parts(
        self, rows: slice, edges: tuple[np.ndarray, np.ndarray], out: np.ndarray
    ) -> None:
        """Do what the kernel `add_parts` does, for a loss that kernels do not know."""
        block = transposed(self.X[rows])
        (feature, part), each = edges, np.arange(rows.stop - rows.start)
        predictor = self.ensemble.predictor
        lower = predictor.links.lower[: len(self.ensemble.feature)].astype(np.int64)
        node = np.arange(len(lower))
        parent, side = node.copy(), np.zeros(len(lower), dtype=np.int64)
        for s in (0, 1):
            inner = lower[:, s] != node  # a leaf leads to itself
            parent[lower[inner, s]], side[lower[inner, s]] = node[inner], s
        for m, g, h in self._by_tree(block, rows):
            of_row = np.array([g, h, np.ones(len(g))])
            at = predictor.find_leaves(block, range(m, m + 1))[0].astype(np.int64)
            for _ in range(predictor.links.tree_depth[m]):  # up, from the leaves to the root
                up, taken = parent[at], side[at]
                is_root = up == at
                moved = np.einsum("ij,ji->i", part[up, taken], of_row)
                out[feature[up], each] += np.where(is_root, 0.0, moved)
                at = up

    def _by_tree(
        self, block: np.ndarray, rows: slice
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the derivatives of some rows before each tree, with its number."""
        for output, trees, gradient, hessian in stages(
            self.ensemble, block, self.y[rows], self.start(rows)
        ):
            for t, g, h in zip(trees, gradient, hessian, strict=True):
                yield t * self.ensemble.n_outputs + output, g, h

    def _spots_for(self, rows: slice) -> Spots:
        """Return the memory for the spots of a block of rows: where they are kept, or new."""
        n_trees, n_rows = len(self._no_spots.first), rows.stop - rows.start
        if self.kept is None:
            of_row = np.empty((n_trees, n_rows), self._no_spots.of_row.dtype)
        else:
            of_row = self.kept[rows.start * n_trees : rows.stop * n_trees].reshape(n_trees, n_rows)
        return self._no_spots._replace(of_row=of_row)

    def _go_down(self, rows: slice) -> Spots:
        """Send a block of rows down all trees."""
        spots = self._spots_for(rows)
        block = transposed(self.X[rows], dtype=self.X.dtype)
        find_spots(columns_of(block), self.ensemble.predictor.links_for(block), spots)
        return spots

    def _walk(self, kernel: Callable[..., None], spots: Spots, rows: slice, *others: Any) -> None:
        """Call a kernel that takes rows from tree to tree and computes their derivatives there."""
        ensemble = self.ensemble
        y = self.y[rows]
        state = self.start(rows)[0]
        if ensemble.loss.kind == HALF_LOGISTIC:
            state = odds(state)
        hessian = None if ensemble.loss.kind == HALF_SQUARED_ERROR else np.empty(len(y))
        kernel(spots, ensemble.loss.kind, y, state, hessian, *others)

    @cached_property
    def _no_spots(self) -> Spots:
        """Spots of no rows: which spots there are, and what they do to a state."""
        ensemble, links = self.ensemble, self.ensemble.predictor.links
        is_shallow = links.tree_depth <= N_TOP
        n_spots = np.where(is_shallow, N_PLACES, np.diff(ensemble.tree_offset))
        # The trees of a forest are all judged at its start.
        step = ensemble.predictor.reached_value * (not ensemble.is_forest)
        return Spots(
            of_row=np.empty((0, 0), np.min_scalar_type(n_spots.max(initial=1) - 1)),
            first=np.where(is_shallow, links.places, links.roots),
            tree_depth=links.tree_depth,
            step=odds(step) if ensemble.loss.kind == HALF_LOGISTIC else step,
        )


def along_paths(
    links: Links, feature: np.ndarray, part: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], Below]:
    """Return the parts of steps, and their features, as ``contrasts.add_parts`` takes them.

    A tree is made complete down to depth 3, as in ``gbt.kernels.rows.descent``.
    """
    n_nodes = len(feature)
    lower = links.lower[:n_nodes]
    up = np.arange(n_nodes, dtype=np.uint64)
    of_step, added = np.zeros(n_nodes, dtype=np.uint64), np.zeros((n_nodes, N_TERMS))
    end = np.zeros(n_nodes, dtype=np.uint8)

    nodes, above = links.roots[:, np.newaxis], []
    for _ in range(N_WHOLE):
        above.append(nodes)
        nodes = lower[nodes][:, :, ::-1].reshape(len(nodes), 2 * nodes.shape[1])  # left first
    end[nodes] = np.arange(N_ENDS)
    nodes = np.unique(nodes)
    while len(nodes):
        nodes = nodes[lower[nodes, 0] != nodes]  # a leaf leads to itself
        for side in (0, 1):
            child = lower[nodes, side]
            up[child], end[child] = nodes, end[nodes]
            of_step[child], added[child] = feature[nodes], part[nodes, side]
        nodes = lower[nodes].ravel()
    top = np.concatenate(above, axis=1)
    node = links.node
    below = Below(up[node], of_step[node], added[node], end[node])
    return (feature[top], part[top]), below
