"""Rows that judge every split of their paths without the split's feature.

Both walks go from the spots up to the roots (``attributions.walk``): the first adds up gradients at
the nodes that steps lead to, the second what every row adds to features.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from attributions.held_out.among_rows import add_through_others, ask_together
from attributions.held_out.asked import Asked, ask_by_row
from attributions.held_out.constant_loss import Targets
from attributions.held_out.exposures import have_exposures
from attributions.kernels.held_out import (
    Known,
    Paths,
    add_parts_of_known,
    add_parts_of_steps,
    add_up_known,
    add_up_steps,
)
from attributions.kernels.spots import MAX_ODDS, Spots
from attributions.statistics.row_sums import RowSums, sum_over_rows
from attributions.walk.rows_at_spots import RowsAtSpots


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
            weight = self.weight[rows]
            if self.is_known:
                known = self._known(rows)
                add_up_known(spots, known, self._most_odds, paths, weight, of_steps, of_leaves)
                continue
            for asked in self._asked(rows, spots, self.start(rows)):
                add_up_steps(spots, asked.first, paths, asked.gradient, weight, sums)
                if asked.exposure is not None:
                    add_up_steps(spots, asked.first, paths, asked.exposure, weight, exposed)
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
        else:
            for asked in self._asked(rows, spots, raw):
                self._add_parts(asked, spots, part, out)
        out *= weight
        after = raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
        targets = targets if ensemble.loss.is_by_row else self.prepared
        last, _ = ensemble.loss.gradient_hessian(targets, after)
        return np.ascontiguousarray(out.T), last.reshape(len(weight), -1) * weight[:, np.newaxis]

    def parts_of_all(self, part: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return what every row adds to every feature, (n, p): the `parts` of all blocks."""
        return self.by_block(lambda rows: self.parts(part, rows)[0], n_jobs)

    def spread(self, n_jobs: int | None, part: np.ndarray, second_moments: bool) -> RowSums:
        """Return how much the parts of rows, or of groups of rows, vary; beside, the gradients."""

        def contributions(rows: slice) -> tuple[np.ndarray, RowSums]:
            parts, gradients = self.parts(part, rows)
            return parts, RowSums.of(gradients, higher=True)

        summed = partial(sum_over_rows, second_moments=second_moments, higher=True)
        return summed(contributions, len(self.X), n_jobs, self.groups, self.rows_at_once)

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

    def _asked(self, rows: slice, spots: Spots, raw: np.ndarray) -> Iterator[Asked]:
        """Ask the loss at all steps; ``raw`` is moved to after the last tree."""
        if self.ensemble.loss.is_by_row:
            return ask_by_row(self.model, spots, self.y[rows], raw, self.has_exposures)
        return ask_together(self.model, spots, self.prepared, raw)

    def _add_parts(self, asked: Asked, spots: Spots, part: np.ndarray, out: np.ndarray) -> None:
        """Add to ``out``, (p, n), what rows add in some trees.

        At each step that is a g + b or, with exposures, a g + b u, for which b is -a r.
        """
        if asked.exposure is None:
            add_parts_of_steps(spots, asked.first, self._paths, part, asked.gradient, out)
            return
        for numbers, factor in zip((asked.gradient, asked.exposure), part.T, strict=True):
            slope = np.column_stack([factor, np.zeros(len(factor))])
            add_parts_of_steps(spots, asked.first, self._paths, slope, numbers, out)
        if asked.together is not None:
            add_through_others(self.ensemble.loss, self.prepared, asked.together, part, out)
