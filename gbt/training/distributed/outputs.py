"""The raw predictions of all outputs where rows are in shares: with those who hold the rows.

`SharedOutputs` takes the place that `Outputs` has in the loop of boosting for rows in memory. A
member that is lost costs nothing but time: the others take its chunks, the rows go down all trees
so far once more, and the tree that was growing grows again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gbt.losses.loss import Loss
from gbt.losses.overflow import refusing_overflow
from gbt.splitting.policy import Policy
from gbt.training.distributed.leader import Leader
from gbt.training.distributed.questions import Fit
from gbt.training.distributed.table import SharedRows
from gbt.training.grown_trees import NewTrees
from gbt.training.histogram_growth import weighing_of_levels
from gbt.training.plan import Plan
from gbt.training.sampling import Draws


class SharedOutputs:
    """All outputs of a model while it is fitted to rows in shares; see `Outputs`."""

    def __init__(
        self,
        loss: Loss,
        base_score: Any,
        y: np.ndarray,
        sample_weight: np.ndarray,
        rows: SharedRows,
        splitter: Policy,
        plan: Plan,
        draws: Draws,
    ):
        self.loss, self.base_score, self.plan = loss, base_score, plan
        self.judges = splitter.judges(plan.limits) if hasattr(splitter, "judges") else None
        self.y, self.weight, self.rows, self.draws = y, sample_weight, rows, draws
        self.grown: list[NewTrees] = []
        self.leader: Leader | None = None
        self._with_others(lambda: None)

    def _begin(self) -> None:
        """Give every member what belongs to its rows, and let it find bins."""
        rows, team = self.rows, self.rows.team
        is_open = rows.find_bins(self.plan.max_bins)
        has_one = len(self.weight) == 1
        weights = [self.weight] * len(rows.ranges) if has_one else rows.each(self.weight)
        weighing = weighing_of_levels(rows.n_levels, self.weight, len(self.y), self.plan)
        whole = weighing[0]
        of_levels = rows.each(whole) if len(whole) > 1 else [whole[:0]] * len(rows.ranges)
        judges, draws = self.judges, self.draws
        fit = Fit(
            loss=self.loss,
            base_score=self.base_score,
            n_rows=len(self.y),
            weight=float(self.weight[0]) if has_one else float("nan"),
            seed=draws.seed,
            subsample=draws.subsample,
            n_parts=1 if judges is None else judges.n_parts,
            n_sets=1 if judges is None else judges.n_sets,
        )
        own = zip(rows.each(self.y), weights, of_levels, rows.ranges, strict=True)
        team.tell_each("begin", [(fit, *of_member) for of_member in own])
        for m, new in enumerate(self.grown):
            team.tell("follow", m % self.loss.n_outputs, new.to_walk())
        assert rows.edges is not None
        self.leader = Leader(team, rows.edges, is_open, self.plan, fit, judges, weighing)

    def grow(self, m: int, most: int, learning_rate: float) -> list[NewTrees]:
        """Grow the trees of a round, of which ``m`` is the first."""
        assert self.plan.held_up is not None
        held_up = self.plan.held_up.copy()
        return self._with_others(lambda: self._grow(m, learning_rate, held_up))

    def _grow(self, m: int, learning_rate: float, held_up: np.ndarray) -> list[NewTrees]:
        """Grow a round, anew if it was broken off; ``held_up`` is what trees before have told."""
        assert self.leader is not None
        assert self.plan.held_up is not None
        self.leader.rules["learning_rate"] = learning_rate
        self.plan.held_up[:] = held_up
        self.rows.team.tell("start_round")
        new = []
        with refusing_overflow():
            for k in range(self.loss.n_outputs):
                new.append(self.leader.grow(k, m + k, self.draws.columns(m + k)))
        self.grown += new
        return new

    def _with_others(self, work: Callable[[], Any]) -> Any:
        """Do something, and once more with those who are left if a member is lost."""

        def begun() -> Any:
            if self.leader is None or self.leader.team is not self.rows.team:
                self._begin()
            return work()

        return self.rows.despite_losses(begun)
