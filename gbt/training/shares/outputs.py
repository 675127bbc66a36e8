"""The raw predictions of all outputs where rows are in shares: with those who hold the rows.

`SharedOutputs` takes the place that `Outputs` has in the loop of boosting for rows in memory. A
member that is lost costs nothing but time: the others take its chunks, the rows go down all trees
so far once more, and the tree that was growing grows again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gbt.losses.loss import Loss
from gbt.losses.overflow import refusing_overflow
from gbt.training.fixed_point import to_fixed_point
from gbt.training.grown_trees import NewTrees
from gbt.training.plan import Plan
from gbt.training.sampling import Draws
from gbt.training.shares.growth import SharedGrowth
from gbt.training.shares.table import SharedRows


class SharedOutputs:
    """All outputs of a model while it is fitted to rows in shares; see `Outputs`."""

    def __init__(
        self,
        loss: Loss,
        base_score: Any,
        y: np.ndarray,
        sample_weight: np.ndarray,
        rows: SharedRows,
        plan: Plan,
        draws: Draws,
    ):
        self.loss, self.base_score, self.plan = loss, base_score, plan
        self.y, self.weight, self.rows, self.draws = y, sample_weight, rows, draws
        self.grown: list[NewTrees] = []
        self.growth: SharedGrowth | None = None
        self._with_others(lambda: None)

    def go_on_from(self, raw_prediction: np.ndarray) -> None:
        """Refuse: rows in shares have no trees from before."""
        raise ValueError("warm_start needs rows in memory.")

    @property
    def learning_rate(self) -> float:
        """The factor of the next trees' step."""
        return self.plan.learning_rate

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        self.plan = replace(self.plan, learning_rate=rate)
        assert self.growth is not None
        self.growth.plan = self.plan

    def _begin(self) -> None:
        """Give every member what belongs to its rows, and let it find bins."""
        rows, team = self.rows, self.rows.team
        is_open = rows.find_bins(self.plan.max_bins)
        has_one = len(self.weight) == 1
        weights = [self.weight] * len(rows.ranges) if has_one else rows.each(self.weight)
        one_hessian = self.loss.has_one_hessian
        start, are_alike = (self.loss, self.base_score), (has_one, one_hessian)
        n_rows, whole = len(self.y), np.empty(0, dtype=np.int64)
        levels_weigh = (1, 1.0)
        if rows.n_levels.any():
            whole, scale = to_fixed_point(np.ones(1), self.weight, None, n_rows)
            levels_weigh = int(whole[0]), scale
        of_levels = [whole[:0]] * len(rows.ranges) if has_one else rows.each(whole)
        beside = zip(rows.each(self.y), weights, of_levels, strict=True)
        team.tell_each("begin", [(*start, y, w, *are_alike, of_l) for y, w, of_l in beside])
        if self.draws.subsample < 1.0:
            facts = self.draws.seed, self.draws.n_rows, self.draws.subsample
            team.tell_each("draw_from", [(*facts, own) for own in rows.ranges])
        for m, new in enumerate(self.grown):
            team.tell("follow", m % self.loss.n_outputs, new.to_walk())
        assert rows.edges is not None
        weight = float(self.weight[0]) if has_one else float("nan")
        self.growth = SharedGrowth(
            team, rows.edges, is_open, self.plan, weight, one_hessian, levels_weigh
        )
        self.is_round_started = False

    def grow(self, m: int, most: int, draws: Draws, X: Any) -> list[NewTrees]:
        """Grow the trees of a round, of which ``m`` is the first."""
        return self._with_others(lambda: self._grow(m))

    def _grow(self, m: int) -> list[NewTrees]:
        assert self.growth is not None
        n_older = len(self.grown)
        if n_older > m:  # a round that was broken off
            del self.grown[m:]
        self.rows.team.tell("start_round")
        new = []
        with refusing_overflow():
            for k in range(self.loss.n_outputs):
                new.append(self.growth.grow(k, m + k, self.draws.columns(m + k)))
        self.grown += new
        return new

    def _with_others(self, work: Callable[[], Any]) -> Any:
        """Do something, and once more with those who are left if a member is lost."""

        def begun() -> Any:
            if self.growth is None or self.growth.team is not self.rows.team:
                self._begin()
            return work()

        return self.rows.despite_losses(begun)
