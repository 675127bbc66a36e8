r"""Rows that are judged at splits: what they add up to in every node, and each row's own part.

A split is judged by four sums over the rows of its node and of its children, w g, w h, w and 1,
with g and h at the prediction before the tree. Rows go down all trees, a block at a time, and leave
the four numbers at their leaves; parents add up their children::

    rows  ->  leaves            a leaf's sums are those of its rows
                 \__ parents    a node's sums are those of its two children

Whatever is worked out of these sums has a standard error: a second walk gives each row its part in
it, its derivative, feature by feature (`SplitRows.sum_parts`). The two walks are kernels, see
``attributions.kernels.contrasts``; for a loss that kernels do not know they are done here. Rows in
chunks are walked chunk by chunk, see ``attributions.split_table``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attributions.groups import Groups
from attributions.inputs import as_rows, as_target, as_weight
from attributions.kernels.contrasts import (
    MAX_ODDS,
    N_SUMS,
    N_TERMS,
    add_parts,
    add_up_rows,
)
from attributions.kernels.paths import add_up_leaves
from attributions.row_sums import (
    ROWS_PER_BLOCK,
    RowSums,
    merge_blocks,
    row_blocks,
    sum_over_rows,
)
from gbt.chunks import Chunk
from gbt.kernels.derivatives import GIVEN, HALF_LOGISTIC, HALF_SQUARED_ERROR
from gbt.kernels.descent import N_PLACES, N_TOP, Links
from gbt.model import Ensemble
from gbt.predictor import columns_of, transposed
from gbt.stages import stages, start_of

ROWS_PER_SUM = 16 * ROWS_PER_BLOCK  # the sums of a block are four numbers a node of all trees


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Rows that go down the trees of a model, and what is added up of them."""

    ensemble: Ensemble
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    groups: Groups | None

    @classmethod
    def of(cls, model: Any, ensemble: Ensemble, rows: Chunk, which: str) -> "SplitRows":
        """Check what the public function was given; ``which`` is "train" or "valid".

        Rows of weight 0 are left out, so that a chunk may have none.
        """
        try:
            X = as_rows(ensemble, rows.X)
            y = as_target(model, ensemble, rows.y, len(X))
            # Others' memory is another type to kernels.
            weight = np.array(as_weight(rows.sample_weight, len(X), may_be_zero=rows.is_part))
            together = Groups.of(rows.groups, len(X))
        except ValueError as error:
            raise ValueError(f"Of X_{which}, y_{which}, sample_weight_{which}: {error}") from error
        if not weight.all():
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
            if together is not None:
                together = Groups.of(together.labels[together.of_row[kept]], len(X))
        return cls(ensemble, X, y, weight, together)

    @property
    def have_one_hessian(self) -> bool:
        """Whether w h is the same for all rows, so that all ratios are means."""
        return self.ensemble.loss.has_one_hessian and np.ptp(self.weight) == 0

    def node_sums(self, n_jobs: int | None) -> np.ndarray:
        """Return the sums of w g, w h, w and 1 over the rows of every node, (4, n_nodes)."""
        predictor = self.ensemble.predictor

        def sums_of(rows: slice) -> np.ndarray:
            sums = np.zeros((len(predictor.reached_value), N_SUMS))
            if self.ensemble.loss.kind == GIVEN:
                self._add_up_given(rows, sums)
                return sums
            for own in row_blocks(rows.stop - rows.start):
                block = slice(rows.start + own.start, rows.start + own.stop)
                self._walk(add_up_rows, block, self.weight[block], sums)
            return sums

        sums = merge_blocks(
            sums_of, lambda a, b: np.add(a, b, out=a), len(self.y), n_jobs, ROWS_PER_SUM
        )
        lower = predictor.links.lower[: len(self.ensemble.feature)]
        of_nodes = [predictor.of_nodes(column) for column in sums.T]
        for column in of_nodes:
            add_up_leaves(lower, column)
        return np.array(of_nodes)

    def sum_parts(self, feature: np.ndarray, part: np.ndarray, n_jobs: int | None) -> RowSums:
        """Return the sums, by feature, of the parts that rows bring; their error is asked for.

        ``feature`` and ``part`` are of the nodes, see ``attributions.kernels.contrasts.add_parts``.
        """
        links = self.ensemble.predictor.links
        if self.ensemble.loss.kind == HALF_SQUARED_ERROR:  # h is 1, so b h + d is b + d
            a, b, d = np.moveaxis(part, -1, 0)
            part = np.stack([a, b, b + d], axis=-1)
        edges = feature[links.node], part[links.node]
        paths = along_paths(links, *edges)

        def parts_of(rows: slice) -> tuple[np.ndarray, None]:
            out = np.zeros((self.X.shape[1], rows.stop - rows.start))
            if self.ensemble.loss.kind == GIVEN:
                self._add_given_parts(rows, edges, out)
            else:
                self._walk(add_parts, rows, edges, paths, out)
            return out.T * self.weight[rows, np.newaxis], None

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
            for _ in range(predictor.links.levels[m]):  # up, from the leaves to the root
                up, taken = parent[at], side[at]
                is_root = up == at
                moved = np.einsum("ij,ji->i", part[up, taken], of_row)
                out[feature[up], each] += np.where(is_root, 0.0, moved)
                at = up

    def _by_tree(
        self, block: np.ndarray, rows: slice
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the derivatives of some rows before each tree, with its number."""
        for output, trees, gradient, hessian in stages(self.ensemble, block, self.y[rows]):
            for t, g, h in zip(trees, gradient, hessian, strict=True):
                yield t * self.ensemble.n_outputs + output, g, h

    def _walk(self, kernel: Callable[..., None], rows: slice, *others: Any) -> None:
        """Call a kernel that takes rows down all trees and their derivatives on the way."""
        ensemble, predictor = self.ensemble, self.ensemble.predictor
        block = transposed(self.X[rows], dtype=self.X.dtype)
        y = self.y[rows]
        state = np.full(len(y), start_of(ensemble)[0])
        if ensemble.loss.kind == HALF_LOGISTIC:
            state = _odds(state)
        kernel(
            columns_of(block),
            predictor.links_for(block),
            self._step,
            ensemble.loss.kind,
            y,
            state,
            None if ensemble.loss.kind == HALF_SQUARED_ERROR else np.empty(len(y)),
            *others,
        )

    @cached_property
    def _step(self) -> np.ndarray:
        """What every node and place does to the state of a row, see `add_up_rows`; float64."""
        ensemble = self.ensemble
        # The trees of a forest are all judged at its start.
        value = ensemble.predictor.reached_value * (not ensemble.is_forest)
        return _odds(value) if ensemble.loss.kind == HALF_LOGISTIC else value


def along_paths(
    links: Links, feature: np.ndarray, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the first four steps to every place of all trees add, and to which feature.

    ``feature`` and ``part`` are of nodes and places. The results have the shapes (M, 4, 16) and
    (M, 4, 16, 3), by tree, step and place, as ``attributions.kernels.contrasts.add_parts`` takes
    them.
    """
    shape = len(links.roots), N_TOP, N_PLACES
    path_feature = np.empty(shape, dtype=np.uint64)
    path_part = np.empty((*shape, N_TERMS))
    place = np.arange(N_PLACES)
    node = np.repeat(links.roots[:, np.newaxis], N_PLACES, axis=1)
    for step in range(N_TOP):
        side = ~place >> (N_TOP - 1 - step) & 1  # 1 is left, which is bit 0
        path_feature[:, step], path_part[:, step] = feature[node], part[node, side]
        node = links.lower[node, side]
    return path_feature, path_part


def _odds(log_odds: np.ndarray) -> np.ndarray:
    """Return e to the power of log-odds, cut off at +-230, where float64 is certain anyway."""
    most = np.log(MAX_ODDS)
    return np.exp(np.clip(log_odds, -most, most))
