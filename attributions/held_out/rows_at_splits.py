r"""Rows that judge every split of their paths without the split's feature.

Both walks go from the spots up to the roots (``attributions.walk``). Kernels do all of it where
they know the loss. Otherwise it is asked for some trees at a time: the raw predictions at which,
one a row and step, are held in memory (``attributions.kernels.held_out``).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from attributions.held_out.among_rows import Asked, add_through_others, walk_together
from attributions.held_out.constant_loss import Targets
from attributions.held_out.exposures import add_parts_exposed, have_exposures, walk_exposed
from attributions.held_out.splits import StepsOfModel
from attributions.kernels.held_out import (
    Known,
    Paths,
    add_parts_of_known,
    add_parts_of_steps,
    add_up_known,
    add_up_steps,
    ask,
    ask_classes,
)
from attributions.kernels.spots import MAX_ODDS, Spots, odds
from attributions.statistics.row_sums import RowSums, sum_over_rows
from attributions.walk.rows_at_spots import RowsAtSpots
from gbt.losses.several_outputs import Softmax
from gbt.model.ensemble import Ensemble
from gbt.model.stages import tree_blocks
from gbt.parallel.in_order import row_blocks
from gbt.parallel.threads import over_blocks

NUMBERS_AT_ONCE = 2**15  # raw predictions at which a block of rows is asked: 260 kB

Gradients = Callable[[int, int, int], np.ndarray]


@dataclass(eq=False)
class RowsAtSplits(RowsAtSpots):
    """Rows that judge every split of their paths; ``model`` is a `StepsOfModel`."""

    asks_all_at_once = True

    def targets(self) -> Targets:
        """Return the targets, which only together have a best constant."""
        return Targets(self.y, self.weight)

    def sums_at_spots(self, blocks: Iterable[tuple[slice, Spots]]) -> np.ndarray:
        """Return sums over some blocks of rows: w g of the step to a node, w, rows that count.

        Where rows have exposures u, w u of the step comes behind w g.
        """
        n_spots, paths = len(self.no_spots.value), self._paths
        of_steps, of_leaves = np.zeros((2, n_spots)), np.zeros(2 * n_spots)
        sums, exposed = np.zeros((2, n_spots, 3))
        for rows, spots in blocks:
            weight, raw = self.weight[rows], self.start(rows)
            if self.is_known:
                known = self._known(rows)
                add_up_known(spots, known, self._most_odds, paths, weight, of_steps, of_leaves)
            elif self.has_exposures:
                for walked, gradient, u, _ in self._exposed(rows, spots, raw):
                    add_up_steps(*walked, gradient, weight, sums)
                    add_up_steps(*walked, u, weight, exposed)
            else:
                for first, gradient in self._gradients(rows, spots, raw):
                    add_up_steps(spots, first, paths, gradient, weight, sums)
        if self.is_known:
            return np.column_stack([of_steps.sum(axis=0), of_leaves.reshape(-1, 2)])
        if self.has_exposures:
            return np.column_stack([sums[:, 0], exposed[:, 0], sums[:, 1:]])
        return sums

    def parts(self, part: np.ndarray, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return what every row of a block adds to every feature, (n, p); see `SplitGains.parts`.

        Steps to a node bring a row w (a g + b), with a and b in ``part``, (n_nodes, 2). The second
        is w g at the prediction after the last tree, (n, K); of a forest at its start.
        """
        ensemble, spots, raw = self.ensemble, self.spots(rows), self.start(rows)
        weight, targets = self.weight[rows], self.y[rows]
        part = part[ensemble.predictor.links.node]
        out = np.zeros((ensemble.n_credited, len(weight)))
        if self.is_known:
            known = self._known(rows)
            slope, constant = np.ascontiguousarray(part.T)
            add_parts_of_known(spots, known, self._most_odds, self._paths, slope, constant, out)
            raw[0] = np.log(known.state) if self.are_odds else known.state
        elif self.has_exposures:
            targets = targets if ensemble.loss.is_by_row else self.prepared
            for walked, gradient, u, asked in self._exposed(rows, spots, raw):
                add_parts_exposed(walked, gradient, u, part, out)
                if asked is not None:
                    add_through_others(ensemble.loss, targets, asked, part, out)
        else:
            for first, gradient in self._gradients(rows, spots, raw):
                add_parts_of_steps(spots, first, self._paths, part, gradient, out)
        out *= weight
        after = raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
        last, _ = ensemble.loss.gradient_hessian(targets, after)
        return np.ascontiguousarray(out.T), last.reshape(len(weight), -1) * weight[:, np.newaxis]

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

    def spread(self, n_jobs: int | None, part: np.ndarray, second_moments: bool) -> RowSums:
        """Return how much the parts of rows, or of groups of rows, vary; beside, the gradients."""

        def contributions(rows: slice) -> tuple[np.ndarray, RowSums]:
            parts, gradients = self.parts(part, rows)
            return parts, RowSums.of(gradients, higher=True)

        return sum_over_rows(
            contributions,
            len(self.X),
            n_jobs,
            self.groups,
            self.rows_at_once,
            second_moments,
            higher=True,
        )

    @property
    def has_exposures(self) -> bool:
        """Whether rows weigh something at splits beside their weights."""
        loss = self.ensemble.loss
        return have_exposures(loss, self.init_score) or not loss.is_by_row

    @property
    def is_known(self) -> bool:
        """Whether kernels have the formulas of the loss; they do not know of exposures."""
        return super().is_known and not self.has_exposures

    @property
    def are_odds(self) -> bool:
        """Whether rows carry odds in place of raw predictions."""
        return super().are_odds and self.is_known

    @property
    def _most_odds(self) -> float | None:
        """Where odds are cut off; None where rows carry raw predictions."""
        return MAX_ODDS if self.are_odds else None

    @property
    def _paths(self) -> Paths:
        """The steps by which contributions are removed."""
        return self.model.paths_of_odds if self.are_odds else self.model.paths

    def _known(self, rows: slice) -> Known:
        """Return a block of rows before the first tree."""
        shape = self.ensemble.n_credited, rows.stop - rows.start
        work = np.ones(shape) if self.are_odds else np.zeros(shape)
        return Known(self.y[rows], self.state(rows), work)

    def _exposed(
        self, rows: slice, spots: Spots, raw: np.ndarray
    ) -> Iterator[tuple[tuple, np.ndarray, np.ndarray, Asked | None]]:
        """Yield spots with trees and paths, gradients and u, and what was asked of all together."""
        if not self.ensemble.loss.is_by_row:
            yield from walk_together(self.model, spots, self.prepared, raw)
            return
        for steps in walk_exposed(self.model, spots, self.y[rows], raw, NUMBERS_AT_ONCE):
            yield *steps, None

    def _gradients(
        self, rows: slice, spots: Spots, raw: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield gradients of a block of rows at their steps, some trees at a time.

        That is: the number of the first of T trees, and the gradients (T, S, n) of the tree's own
        output, step by step from the spot up. ``raw``, the raw predictions (K, n), are moved in
        place from the start to after the last tree.
        """
        ensemble, n_outputs, n = self.ensemble, *raw.shape
        is_softmax = isinstance(ensemble.loss, Softmax)
        asks = _of_classes if is_softmax and _may_be_odds(self.model, raw) else _of_any_loss
        gradients_of = asks(self.model, spots, self.y[rows], raw)
        n_steps = max(1, int(spots.tree_depth.max(initial=1)))
        of_round = n_outputs * n_steps * n * n_outputs
        for rounds in tree_blocks(ensemble.n_rounds, max(1, NUMBERS_AT_ONCE // of_round)):
            first = rounds.start * n_outputs
            yield first, gradients_of(first, len(rounds) * n_outputs, n_steps)


def _of_any_loss(model: StepsOfModel, spots: Spots, y: np.ndarray, raw: np.ndarray) -> Gradients:
    """Return a function of first tree, trees T and steps S that calls the loss itself."""
    ensemble = model.ensemble
    n_outputs, n = raw.shape
    work = np.zeros((n_outputs, ensemble.n_credited, n))

    def gradients(first: int, n_trees: int, n_steps: int) -> np.ndarray:
        asked = np.empty((n_trees, n_steps, n, n_outputs))
        ask(spots, first, model.paths, raw, work, asked)
        return _gradients(ensemble, y, asked)

    return gradients


def _may_be_odds(model: StepsOfModel, raw: np.ndarray) -> bool:
    """Say whether the odds of all rows stay within those that float64 can carry."""
    spread = np.max(raw.max(axis=0) - raw.min(axis=0), initial=0.0)
    return bool(spread + model.farthest <= np.log(MAX_ODDS))


def _of_classes(model: StepsOfModel, spots: Spots, y: np.ndarray, raw: np.ndarray) -> Gradients:
    """Do as `_of_any_loss`, for the softmax on odds; a row's ``raw`` may then lack a constant."""
    n_outputs, n = raw.shape
    work = np.ones((model.ensemble.n_credited, n, n_outputs))
    state = np.ascontiguousarray(odds(raw - raw.max(axis=0)).T)
    spots = spots._replace(value=odds(spots.value))

    def gradients(first: int, n_trees: int, n_steps: int) -> np.ndarray:
        found = np.empty((n_trees, n_steps, n))
        ask_classes(spots, first, model.paths_of_odds, y, state, work, found)
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
