r"""Rows that judge the splits of a model, walked twice, in memory or in chunks of Dask.

The means of nodes are those of all rows. So one walk adds up the sums of nodes, and what single
rows add to the held-out gain can be told in a second::

    rows, or chunks of them  ->  sums of nodes  ->  gain of every split  ->  values
                                                         |
    the same rows            ->  parts of rows  <--------+
                                 their squares add up  ->  standard errors

Either way back from the leaves is taken some trees at a time, with the raw predictions at which the
rows are asked for all their steps in memory (``attributions.kernels.held_out``).
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from attributions.held_out.constant_loss import Targets
from attributions.held_out.splits import N_SUMS, StepsOfModel
from attributions.inputs import as_rows, as_target, as_weight, count_seen_rows
from attributions.kernels.held_out import add_parts_of_steps, add_up_steps, ask
from attributions.statistics.groups import Groups, GroupSums, labels_of
from attributions.statistics.kurtosis import Moments
from attributions.statistics.row_sums import RowSums
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import transposed
from gbt.model.stages import start_of, tree_blocks
from gbt.parallel.blas import one_blas_thread
from gbt.parallel.chunks import Chunk, is_in_chunks, over_chunks
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks, row_blocks

BLOCKS_PER_SUM = 16  # of rows; their sums are three numbers a node of all trees
NUMBERS_AT_ONCE = 2**15  # raw predictions at which a block of rows is asked: 260 kB


@dataclass(frozen=True, eq=False)
class RowsAtSplits:
    """Rows that are asked at every split of their paths, checked and converted."""

    steps: StepsOfModel
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    groups: Groups | None

    @property
    def ensemble(self) -> Ensemble:
        """The model that is judged."""
        return self.steps.ensemble

    def node_sums(self, n_jobs: int | None) -> np.ndarray:
        """Return what rows add up to at every node, (n_nodes, 3): see `add_up_steps`."""

        def sums_of(rows: slice) -> np.ndarray:
            sums = np.zeros((len(self.ensemble.feature), N_SUMS))
            for own in row_blocks(rows.stop - rows.start):
                block = slice(rows.start + own.start, rows.start + own.stop)
                for *walked, gradient in self._walk(block):
                    add_up_steps(*walked, gradient, self.weight[block], sums)
            return sums

        return merge_blocks(
            sums_of,
            lambda a, b: np.add(a, b, out=a),
            len(self.X),
            n_jobs,
            BLOCKS_PER_SUM * ROWS_PER_BLOCK,
        )

    def parts(self, part: np.ndarray, rows: slice) -> np.ndarray:
        """Return what every row of a block adds to every feature, (n, p); see `SplitGains.parts`.

        Steps to a node bring a row w (a g + b), with a and b in ``part``, (n_nodes, 2).
        """
        out = np.zeros((self.X.shape[1], rows.stop - rows.start))
        for *walked, gradient in self._walk(rows):
            add_parts_of_steps(*walked, part, gradient, out)
        out *= self.weight[rows]
        return out.T

    def spread(self, part: np.ndarray, second_moments: bool, n_jobs: int | None) -> "Spread":
        """Return how much the parts of rows, or of groups of rows, vary."""

        def of_block(rows: slice) -> RowSpread:
            parts = np.ascontiguousarray(self.parts(part, rows))
            sums = RowSums.of(parts, None, second_moments)
            return RowSpread(sums, Moments.of(parts), self.moments_of_gradients(rows))

        def of_groups(rows: slice, groups: Groups) -> GroupsOfBlock:
            sums = GroupSums.of(groups, rows, lambda _: (self.parts(part, rows), None))
            return GroupsOfBlock(sums, self.moments_of_gradients(rows))

        if self.groups is None:
            with one_blas_thread() if second_moments else nullcontext():
                return merge_blocks(of_block, RowSpread.merge, len(self.X), n_jobs)
        of_block_of_groups = partial(of_groups, groups=self.groups)
        sums, gradients = merge_blocks(of_block_of_groups, GroupsOfBlock.merge, len(self.X), n_jobs)
        return GroupSpread(self.groups.labels, sums.total, gradients, second_moments)

    def moments_of_gradients(self, rows: slice) -> Moments:
        """Return the moments, of K outputs, of w g at the whole model's predictions."""
        ensemble, y = self.ensemble, self.y[rows]
        raw = ensemble.raw_predict(self.X[rows], n_jobs=1)
        gradient, _ = ensemble.loss.gradient_hessian(y, raw)
        return Moments.of(gradient.reshape(len(y), -1) * self.weight[rows, np.newaxis])

    def _walk(self, rows: slice) -> Iterator[tuple]:
        """Yield leaves and gradients of a block of rows, some trees at a time, as kernels take it.

        That is: leaves (T, n), the first of the T trees, all steps of the model, and the gradients
        (T, S, n), step by step from the leaf up, of the output that the tree adds to.
        """
        ensemble, paths, y = self.ensemble, self.steps.paths, self.y[rows]
        block = transposed(self.X[rows], dtype=self.X.dtype)
        n_outputs, n = ensemble.n_outputs, rows.stop - rows.start
        raw = np.repeat(start_of(ensemble)[:, np.newaxis], n, axis=1)
        work = np.zeros((n_outputs, ensemble.n_features, n))
        n_levels = max(1, int(paths.levels.max(initial=1)))
        of_round = n_outputs * n_levels * n * n_outputs
        for rounds in tree_blocks(ensemble.n_rounds, max(1, NUMBERS_AT_ONCE // of_round)):
            trees = range(rounds.start * n_outputs, rounds.stop * n_outputs)
            leaves = ensemble.predictor.find_leaves(block, trees)
            asked = np.empty((len(trees), n_levels, n, n_outputs))
            ask(leaves, trees.start, paths, raw, work, asked)
            yield leaves, trees.start, paths, _gradients(ensemble, y, asked)


def _gradients(ensemble: Ensemble, y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the derivatives by each tree's own output at raw predictions (T, S, n, K)."""
    n_trees, n_levels, n, n_outputs = asked.shape
    if n_outputs == 1:
        gradient, _ = ensemble.loss.gradient_hessian(y, asked.reshape(n_trees * n_levels, n))
        return gradient.reshape(n_trees, n_levels, n)
    gradient, _ = ensemble.loss.gradient_hessian(y, asked.reshape(n_trees * n_levels, n, n_outputs))
    of_rounds = gradient.reshape(-1, n_outputs, n_levels, n, n_outputs)
    own = np.einsum("rosno->rosn", of_rounds)
    return np.ascontiguousarray(own).reshape(n_trees, n_levels, n)


@dataclass(frozen=True, eq=False)
class NodeTotals:
    """What some rows add up to at the nodes, and what is to be known of all rows together."""

    of_node: np.ndarray
    n_rows: int
    n_seen: int
    has_weight: bool
    groups: np.ndarray | None  # the distinct labels of rows that belong together
    targets: Targets

    @classmethod
    def of(cls, rows: RowsAtSplits, n_jobs: int | None) -> "NodeTotals":
        """Walk the rows once."""
        n_seen = count_seen_rows(rows.ensemble, rows.X, rows.y, n_jobs)
        return cls(
            rows.node_sums(n_jobs),
            len(rows.X),
            n_seen,
            bool(rows.weight.any()),
            labels_of(rows.groups),
            Targets(rows.y, rows.weight),
        )

    def merge(self, other: "NodeTotals") -> "NodeTotals":
        """Return what the rows of both add up to."""
        return NodeTotals(
            self.of_node + other.of_node,
            self.n_rows + other.n_rows,
            self.n_seen + other.n_seen,
            self.has_weight or other.has_weight,
            union_of(self.groups, other.groups),
            self.targets.merge(other.targets),
        )


def union_of(labels: np.ndarray | None, others: np.ndarray | None) -> np.ndarray | None:
    """Return the distinct labels of groups in two chunks."""
    return None if labels is None or others is None else np.union1d(labels, others)


class RowSpread(NamedTuple):
    """How much the parts of rows vary, and the gradients of these rows."""

    sums: RowSums
    parts: Moments
    gradients: Moments

    def merge(self, other: "RowSpread") -> "RowSpread":
        """Return that of the rows of both."""
        return RowSpread(
            self.sums.merge(other.sums),
            self.parts.merge(other.parts),
            self.gradients.merge(other.gradients),
        )


class GroupsOfBlock(NamedTuple):
    """The parts of a block of rows added up by group, and the gradients of the rows."""

    sums: GroupSums
    gradients: Moments

    def merge(self, other: "GroupsOfBlock") -> "GroupsOfBlock":
        """Return that of the rows of both."""
        return GroupsOfBlock(self.sums.merge(other.sums), self.gradients.merge(other.gradients))


class GroupSpread(NamedTuple):
    """How much the sums of groups of rows vary, and the gradients of single rows."""

    labels: np.ndarray
    by_group: np.ndarray
    gradients: Moments
    second_moments: bool

    def merge(self, other: "GroupSpread") -> "GroupSpread":
        """Return that of the rows of both; a group may have rows in both."""
        labels, of_row = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
        by_group = np.zeros((len(labels), self.by_group.shape[1]))
        np.add.at(by_group, of_row, np.concatenate([self.by_group, other.by_group]))
        gradients = self.gradients.merge(other.gradients)
        return GroupSpread(labels, by_group, gradients, self.second_moments)

    @property
    def sums(self) -> RowSums:
        """The sums, for which groups are the draws."""
        return RowSums.of(self.by_group, None, self.second_moments)

    @property
    def parts(self) -> Moments:
        """The moments of what groups add."""
        return Moments.of(self.by_group)


Spread = RowSpread | GroupSpread


def merge_spreads(one: Any, other: Any) -> Any:
    """Return the spread of the rows of two chunks."""
    return one.merge(other)


@dataclass(frozen=True, eq=False)
class Intake:
    """Makes `RowsAtSplits` of what a public function was given; is sent to where chunks are.

    Parameters
    ----------
    steps : StepsOfModel
    classes_ : array or None
        The labels of a classifier.
    """

    steps: StepsOfModel
    classes_: Any

    def take(self, rows: Chunk) -> RowsAtSplits:
        """Check the rows, and what stands beside them."""
        ensemble = self.steps.ensemble
        X = as_rows(ensemble, rows.X)
        return RowsAtSplits(
            self.steps,
            X,
            as_target(self, ensemble, rows.y, len(X)),
            as_weight(rows.sample_weight, len(X), may_be_zero=rows.is_part),
            Groups.of(rows.groups, len(X)),
        )

    def ready(self, rows: Chunk) -> Callable[..., Any]:
        """Return what makes a part of all rows, as ``over(part_of, merge, n_jobs)``.

        Rows in memory are checked once, chunks of Dask where they lie, whenever they are asked.
        """
        if any(map(is_in_chunks, rows)):
            return lambda part_of, merge, n_jobs: over_chunks(
                partial(_of_chunk, self, part_of, n_jobs), merge, rows
            )
        judges = self.take(rows)
        return lambda part_of, merge, n_jobs: part_of(judges, n_jobs)


def _of_chunk(intake: Intake, part_of: Callable, n_jobs: int | None, chunk: Chunk) -> Any:
    """Make the part of a chunk."""
    return part_of(intake.take(chunk), chunk.n_jobs(n_jobs))
