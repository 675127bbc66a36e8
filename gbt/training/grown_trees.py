"""The trees of a fit so far, as the model will have them: nodes end to end, level sets, scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gbt.model.ensemble import Ensemble
from gbt.model.tree import NODE_RECORD, Tree, arrays_of, end_to_end, records_of
from gbt.tables.level_sets import LevelSets


class NewTrees(NamedTuple):
    """Trees that have grown in one call, one or many.

    ``nodes``, records of `NODE_RECORD`, are those of all trees end to end, each tree in preorder;
    ``sizes`` are the numbers of nodes. Tables with levels have ``level_sets``, those of all nodes.
    ``split_scores``, float64 of shape (trees, p), are the policy's scores of its candidates,
    added up by feature; None if it has none.
    """

    nodes: np.ndarray
    sizes: list[int]
    level_sets: LevelSets | None = None
    split_scores: np.ndarray | None = None

    def to_walk(self) -> Tree:
        """Return the only tree of the call, ready for rows to walk down."""
        return Tree(**arrays_of(self.nodes), level_sets=self.level_sets)


class GrownTrees:
    """The trees of a fit so far; after a warm start those of the earlier model come first."""

    def __init__(self, start: Ensemble | None):
        self.nodes = [np.empty(0, NODE_RECORD) if start is None else records_of(start)]
        self.sizes: list[int] = [] if start is None else np.diff(start.tree_offset).tolist()
        sets = None if start is None else start.level_sets
        self.level_sets: list[LevelSets] = [] if sets is None else [sets]
        self.split_scores: list[np.ndarray | None] = [None] * len(self.sizes)

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.sizes)

    def add(self, grown: Sequence[NewTrees]) -> None:
        """Append the trees of several calls."""
        for new in grown:
            self.nodes.append(new.nodes)
            self.sizes.extend(new.sizes)
            if new.level_sets is not None:
                self.level_sets.append(new.level_sets)
            nothing = [None] * len(new.sizes)
            self.split_scores.extend(nothing if new.split_scores is None else new.split_scores)

    def rounds_left(self, n_outputs: int, most: int, most_stubs: int) -> int:
        """Return how many rounds may be grown, of ``most`` in all, unless one of them has a split.

        Of rounds without a split there are at most ``most_stubs`` in a row, unless that is 0.
        """
        left = most - len(self) // n_outputs
        if most_stubs > 0:
            sizes = np.array(self.sizes, dtype=int).reshape(-1, n_outputs).max(axis=1, initial=1)
            left = min(
                left, most_stubs - len(sizes) + 1 + np.flatnonzero(sizes > 1).max(initial=-1)
            )
        return int(left)

    def model(self, asked: Any, facts: dict[str, Any]) -> Ensemble:
        """Return the model of the trees, grown as was ``asked``, with other fields of its own."""
        sets = None
        if facts["categories"] is not None:
            nothing = LevelSets.of([None] * sum(self.sizes))
            sets = LevelSets.end_to_end(self.level_sets) if self.level_sets else nothing
        return Ensemble(
            **arrays_of(end_to_end(self.nodes)),
            tree_offset=np.cumsum([0, *self.sizes]),
            learning_rate=asked.learning_rate,
            reg_lambda=asked.reg_lambda,
            level_sets=sets,
            **facts,
        )

    def sum_of_scores(self, n_trees: int) -> np.ndarray | None:
        """Return the summed scores of the first trees; None if the policy has none."""
        told = [scores for scores in self.split_scores[:n_trees] if scores is not None]
        return np.sum(told, axis=0) if told else None
