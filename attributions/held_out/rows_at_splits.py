r"""Rows that judge the splits of a model, walked twice, in memory or in chunks of Dask.

The means of nodes are those of all rows. So a first walk adds up the sums of nodes, and only a
second one can tell what single rows add to the held-out gain::

    rows, or chunks of them  ->  sums of nodes  ->  gain of every split  ->  values
                                                         |
    the same rows            ->  parts of rows  <--------+
                                 their squares add up  ->  standard errors

Both walks go from the leaves up to the roots, some trees at a time: the raw predictions at which
the loss is asked, one a row and step, are held in memory (``attributions.kernels.held_out``).
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from attributions.held_out.among_rows import (
    add_parts_together,
    add_up_together,
    walk_together,
)
from attributions.held_out.constant_loss import Targets
from attributions.held_out.splits import N_SUMS, StepsOfModel
from attributions.kernels import held_out as kernels
from attributions.kernels.contrasts import Spots, find_spots
from attributions.kernels.held_out import (
    add_parts_of_rows,
    add_parts_of_steps,
    add_up_rows,
    add_up_steps,
    ask,
    ask_classes,
)
from attributions.kernels.odds import MAX_ODDS, odds
from attributions.rows import Rows, Tally
from attributions.statistics.groups import Groups, GroupSums, labels_of
from attributions.statistics.kurtosis import Moments
from attributions.statistics.row_sums import RowSums
from gbt.kernels.rows.derivatives import GIVEN, HALF_LOGISTIC
from gbt.kernels.rows.descent import N_PLACES, N_TOP
from gbt.losses.several_outputs import Softmax
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import columns_of, transposed
from gbt.model.stages import tree_blocks
from gbt.parallel.blas import one_blas_thread
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks, row_blocks
from gbt.parallel.threads import over_blocks

BLOCKS_PER_SUM = 16  # of rows; their sums are three numbers a node of all trees
MOST_KEPT = 2**29  # bytes of spots; a million rows and 400 trees of depth 6 take 4e8
NUMBERS_AT_ONCE = 2**15  # raw predictions at which a block of rows is asked: 260 kB


@dataclass(eq=False)
class RowsAtSplits(Rows):
    """Rows that judge every split of their paths; ``model`` is a `StepsOfModel`.

    ``kept`` holds the spots of all rows in all trees, once `node_sums` has kept them.
    """

    kept: np.ndarray | None = None

    asks_all_at_once = True

    def node_sums(self, n_jobs: int | None, keep: bool = False) -> np.ndarray:
        """Return the sums of rows at every node, (n_nodes, 3): see `add_up_steps`.

        ``keep`` says that `parts` will be asked for: spots are kept if there is room.
        """
        n_spots = len(self.y) * self.ensemble.n_trees
        keep = keep and self._is_known and not self.is_part
        if keep and n_spots * self._no_spots.of_row.itemsize <= MOST_KEPT:
            self.kept = np.empty(n_spots, self._no_spots.of_row.dtype)
        sums = merge_blocks(
            self._sums_of_known if self._is_known else self._sums_of_given,
            lambda a, b: np.add(a, b, out=a),
            len(self.X),
            n_jobs,
            BLOCKS_PER_SUM * self.rows_at_once,
        )
        if not self._is_known:
            return sums
        of_node = self.ensemble.predictor.of_nodes
        return np.column_stack([of_node(np.ascontiguousarray(column)) for column in sums.T])

    def parts(self, part: np.ndarray, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return what every row of a block adds to every feature, (n, p); see `SplitGains.parts`.

        Steps to a node bring a row w (a g + b), with a and b in ``part``, (n_nodes, 2). The second
        is w g at the prediction after the last tree, (n, K); of a forest at its start.
        """
        out, weight = (
            np.zeros((self.ensemble.n_credited, rows.stop - rows.start)),
            self.weight[rows],
        )
        raw = self.start(rows)
        if self._is_known:
            known = self._known_rows(rows, is_walked=self.kept is not None)
            part = part[self.ensemble.predictor.links.node]
            slope, constant = np.ascontiguousarray(part.T)
            paths = self.model.paths_of_rows
            add_parts_of_rows(known, self._most_odds, paths, slope, constant, out)
            raw[0] = known.state if self._most_odds is None else np.log(known.state)
        elif not self.ensemble.loss.is_by_row:
            for walked, gradient, asked in self._walk_together(raw):
                loss, y = self.ensemble.loss, self.prepared
                add_parts_together(loss, y, walked, gradient, asked, part, out)
        else:
            for *walked, gradient in self._walk(rows, raw):
                add_parts_of_steps(*walked, part, gradient, out)
        out *= weight
        asked = raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
        gradient, _ = self.ensemble.loss.gradient_hessian(self._targets(rows), asked)
        return np.ascontiguousarray(out.T), gradient.reshape(len(weight), -1) * weight[
            :, np.newaxis
        ]

    def parts_of_all(self, part: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return what every row adds to every feature, (n, p): the `parts` of all blocks."""
        n_rows = len(self.X)
        values = np.empty((n_rows, self.ensemble.n_credited))
        blocks = row_blocks(n_rows, self.rows_at_once)

        def fill(first: int, last: int) -> None:
            for block in blocks[first:last]:
                values[block], _ = self.parts(part, block)

        over_blocks(fill, len(blocks), n_jobs, min_rows=1)
        return values

    def spread(self, part: np.ndarray, second_moments: bool, n_jobs: int | None) -> "Spread":
        """Return how much the parts of rows, or of groups of rows, vary."""

        def of_block(rows: slice) -> RowSpread:
            parts, gradients = self.parts(part, rows)
            sums = RowSums.of(parts, None, second_moments)
            return RowSpread(sums, Moments.of(parts), Moments.of(gradients))

        def of_groups(rows: slice, groups: Groups) -> GroupsOfBlock:
            parts, gradients = self.parts(part, rows)
            sums = GroupSums.of(groups, rows, lambda _: (parts, None))
            return GroupsOfBlock(sums, Moments.of(gradients))

        if self.groups is None:
            with one_blas_thread() if second_moments else nullcontext():
                return merge_blocks(
                    of_block, RowSpread.merge, len(self.X), n_jobs, self.rows_at_once
                )
        of_block_of_groups = partial(of_groups, groups=self.groups)
        sums, gradients = merge_blocks(
            of_block_of_groups, GroupsOfBlock.merge, len(self.X), n_jobs, self.rows_at_once
        )
        return GroupSpread(self.groups.labels, sums.total, gradients, second_moments)

    def _sums_of_given(self, rows: slice) -> np.ndarray:
        """Add up some blocks of rows for a loss that kernels do not know, (n_nodes, 3)."""
        sums = np.zeros((len(self.ensemble.feature), N_SUMS))
        if not self.ensemble.loss.is_by_row:
            for walked, gradient, asked in self._walk_together(self.start(rows)):
                add_up_together(walked, gradient, asked, self.weight, sums)
            return sums
        for block in self._blocks_in(rows):
            for *walked, gradient in self._walk(block, self.start(block)):
                add_up_steps(*walked, gradient, self.weight[block], sums)
        return sums

    def _sums_of_known(self, rows: slice) -> np.ndarray:
        """Add up some blocks of rows for the two losses of kernels, by node and place, (N, 3)."""
        paths = self.model.paths_of_rows
        of_steps, of_leaves = np.zeros((2, len(paths.up))), np.zeros(2 * len(paths.up))
        for block in self._blocks_in(rows):
            known = self._known_rows(block, is_walked=False)
            add_up_rows(known, self._most_odds, paths, self.weight[block], of_steps, of_leaves)
        return np.column_stack([of_steps.sum(axis=0), of_leaves.reshape(-1, 2)])

    @property
    def rows_at_once(self) -> int:
        """How many rows the loss is asked for together: a block, or all if they are not alone."""
        return ROWS_PER_BLOCK if self.ensemble.loss.is_by_row else len(self.X)

    def _blocks_in(self, rows: slice) -> list[slice]:
        """Cut a slice of rows into blocks."""
        blocks = row_blocks(rows.stop - rows.start, self.rows_at_once)
        return [slice(rows.start + block.start, rows.start + block.stop) for block in blocks]

    def _targets(self, rows: slice) -> Any:
        """Return the targets of a block as the loss takes them."""
        return self.y[rows] if self.ensemble.loss.is_by_row else self.prepared

    @property
    def _is_known(self) -> bool:
        """Whether kernels have the formulas of the loss."""
        return self.ensemble.loss.kind != GIVEN

    @property
    def _most_odds(self) -> float | None:
        """Where odds are cut off; None where rows carry raw predictions."""
        return MAX_ODDS if self.ensemble.loss.kind == HALF_LOGISTIC else None

    def _known_rows(self, rows: slice, is_walked: bool) -> kernels.KnownRows:
        """Return a block of rows with their spots, which the first walk may have kept."""
        ensemble, n = self.ensemble, rows.stop - rows.start
        n_trees, no_spots = ensemble.n_trees, self._no_spots
        if self.kept is None:
            spot = np.empty((n_trees, n), no_spots.of_row.dtype)
        else:
            spot = self.kept[rows.start * n_trees : rows.stop * n_trees].reshape(n_trees, n)
        if not is_walked:
            block = transposed(self.X[rows], dtype=self.X.dtype)
            links = ensemble.predictor.links_for(block)
            find_spots(columns_of(block), links, no_spots._replace(of_row=spot))
        (state,), shape = self.start(rows), (ensemble.n_credited, n)
        is_logistic = self._most_odds is not None
        return kernels.KnownRows(
            spot,
            no_spots.first,
            self.y[rows],
            odds(state) if is_logistic else state,
            np.ones(shape) if is_logistic else np.zeros(shape),
        )

    @cached_property
    def _no_spots(self) -> Spots:
        """Spots of no rows: which spots there are, and what they do to a state."""
        links = self.ensemble.predictor.links
        is_shallow = links.tree_depth <= N_TOP
        n_spots = np.where(is_shallow, N_PLACES, np.diff(self.ensemble.tree_offset))
        of_row = np.empty((0, 0), np.min_scalar_type(n_spots.max(initial=1) - 1))
        first = np.where(is_shallow, links.places, links.roots)
        return Spots(of_row, first, links.tree_depth, self.model.paths_of_rows.value)

    def _walk_together(self, raw: np.ndarray) -> Iterator[tuple]:
        """Yield what all rows say of each tree, where they depend on each other."""
        block = transposed(self.X, dtype=self.X.dtype)
        return walk_together(self.model, block, self.prepared, raw)

    def _walk(self, rows: slice, raw: np.ndarray) -> Iterator[tuple]:
        """Yield leaves and gradients of a block of rows, some trees at a time, for kernels.

        That is: leaves (T, n), the number of the first of the T trees, all steps of the model, and
        the gradients (T, S, n) of the tree's own output, step by step from the leaf up. ``raw``,
        the raw predictions (K, n), are moved in place from the start to after the last tree.
        """
        ensemble, paths, y = self.ensemble, self.model.paths, self.y[rows]
        block = transposed(self.X[rows], dtype=self.X.dtype)
        n_outputs, n = ensemble.n_outputs, rows.stop - rows.start
        is_softmax = isinstance(ensemble.loss, Softmax)
        asks = _of_classes if is_softmax and _may_be_odds(self.model, raw) else _of_any_loss
        gradients_in = asks(self.model, y, raw)
        n_steps = max(1, int(paths.tree_depth.max(initial=1)))
        of_round = n_outputs * n_steps * n * n_outputs
        for rounds in tree_blocks(ensemble.n_rounds, max(1, NUMBERS_AT_ONCE // of_round)):
            trees = range(rounds.start * n_outputs, rounds.stop * n_outputs)
            leaves = ensemble.predictor.find_leaves(block, trees)
            yield leaves, trees.start, paths, gradients_in(leaves, trees.start, n_steps)


Gradients = Callable[[np.ndarray, int, int], np.ndarray]


def _of_any_loss(model: StepsOfModel, y: np.ndarray, raw: np.ndarray) -> Gradients:
    """Return a function of leaves (T, n), first tree and steps S that calls the loss itself."""
    ensemble = model.ensemble
    n_outputs, n = raw.shape
    work = np.zeros((n_outputs, ensemble.n_credited, n))

    def gradients(leaves: np.ndarray, first: int, n_steps: int) -> np.ndarray:
        asked = np.empty((len(leaves), n_steps, n, n_outputs))
        ask(leaves, first, model.paths, raw, work, asked)
        return _gradients(ensemble, y, asked)

    return gradients


def _may_be_odds(model: StepsOfModel, raw: np.ndarray) -> bool:
    """Say whether the odds of all rows stay within those that float64 can carry."""
    spread = np.max(raw.max(axis=0) - raw.min(axis=0), initial=0.0)
    return bool(spread + model.farthest <= np.log(MAX_ODDS))


def _of_classes(model: StepsOfModel, y: np.ndarray, raw: np.ndarray) -> Gradients:
    """Do as `_of_any_loss`, for the softmax on odds; a row's ``raw`` may then lack a constant."""
    n_outputs, n = raw.shape
    work = np.ones((model.ensemble.n_credited, n, n_outputs))
    state = np.ascontiguousarray(odds(raw - raw.max(axis=0)).T)

    def gradients(leaves: np.ndarray, first: int, n_steps: int) -> np.ndarray:
        found = np.empty((len(leaves), n_steps, n))
        ask_classes(leaves, first, model.paths_of_odds, y, state, work, found)
        np.log(state.T, out=raw)
        return found

    return gradients


def _gradients(ensemble: Ensemble, y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the derivatives by each tree's own output at raw predictions (T, S, n, K)."""
    n_trees, n_steps, n, n_outputs = asked.shape
    if n_outputs == 1:
        gradient, _ = ensemble.loss.gradient_hessian(y, asked.reshape(n_trees * n_steps, n))
        return gradient.reshape(n_trees, n_steps, n)
    gradient, _ = ensemble.loss.gradient_hessian(y, asked.reshape(n_trees * n_steps, n, n_outputs))
    of_rounds = gradient.reshape(-1, n_outputs, n_steps, n, n_outputs)
    own = np.einsum("rosno->rosn", of_rounds)
    return np.ascontiguousarray(own).reshape(n_trees, n_steps, n)


@dataclass(frozen=True, eq=False)
class NodeTotals:
    """The sums of some rows at the nodes, and what only all rows together can tell."""

    of_node: np.ndarray
    tally: Tally
    groups: np.ndarray | None  # the distinct labels of rows that belong together
    targets: Targets

    @classmethod
    def of(cls, keep: bool, rows: RowsAtSplits, n_jobs: int | None) -> "NodeTotals":
        """Walk the rows once; ``keep`` says that a second walk will follow."""
        return cls(
            rows.node_sums(n_jobs, keep),
            Tally.of(rows, n_jobs),
            labels_of(rows.groups),
            Targets(rows.y, rows.weight),
        )

    def merge(self, other: "NodeTotals") -> "NodeTotals":
        """Return the totals of the rows of both."""
        return NodeTotals(
            self.of_node + other.of_node,
            self.tally.merge(other.tally),
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
        """Return the spread of the rows of both."""
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
        """Return the sums of the rows of both."""
        return GroupsOfBlock(self.sums.merge(other.sums), self.gradients.merge(other.gradients))


class GroupSpread(NamedTuple):
    """How much the sums of groups of rows vary, and the gradients of single rows."""

    labels: np.ndarray
    by_group: np.ndarray
    gradients: Moments
    second_moments: bool

    def merge(self, other: "GroupSpread") -> "GroupSpread":
        """Return the spread of the rows of both; a group may have rows in both."""
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
