"""A model with an individual attribution that is bound to each of its outputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.per_row.individual import (
    BoundAttribution,
    IndividualAttribution,
    as_individual,
    bound_to,
)
from attributions.rows import Intake
from gbt.model.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class BoundModel(Intake):
    """A model, and an individual attribution bound to each of its outputs."""

    ifa_name: str
    attributions: list[BoundAttribution]  # one an output
    touched: list[list[np.ndarray]]  # by output and tree, features that the attribution may fill

    @classmethod
    def of(
        cls, model: Any, X: Any, ifa: Any, training: Any = None, columns: str = "given"
    ) -> "BoundModel":
        """Take the model, the table and the attribution that a public function was given."""
        taken, individual = Intake.of_model(model, X, training, columns), as_individual(ifa)
        outputs = taken.ensemble.outputs
        bound = [bound_to(individual, output) for output in outputs]
        touched = [_touched(output, individual) for output in outputs]
        return cls(**vars(taken), ifa_name=individual.name, attributions=bound, touched=touched)

    def put_tree(
        self, output: int, m: int, block: np.ndarray, row_weight: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        """Write ``row_weight`` (1, n) times r_mk to ``r`` for the features that tree m may fill.

        These features are returned; of all others ``r`` keeps what it has.
        """
        k = self.touched[output][m]
        r[k] = 0.0
        self.attributions[output].add(block, range(m, m + 1), row_weight, r)
        return k

    def refuse_forest(self) -> None:
        """Raise ValueError for a forest: its trees have no earlier ones, whose work to add back."""
        if self.ensemble.is_forest:
            raise ValueError(
                "partial_inner adds a feature's earlier contributions back to the residual, but the"
                " trees of a forest do not build on earlier ones. Use tree_inner."
            )


def _touched(ensemble: Ensemble, individual: IndividualAttribution) -> list[np.ndarray]:
    """Return, tree by tree, the features that an attribution may fill.

    With ``credits_splits_only`` these are those of the splits, so that a wide table costs no more
    than a narrow one. Other attributions may fill any.
    """
    if getattr(individual, "credits_splits_only", False):
        return features_of_trees(ensemble)
    return [np.arange(ensemble.n_credited)] * ensemble.n_trees


def features_of_trees(ensemble: Ensemble) -> list[np.ndarray]:
    """Return, tree by tree, the features that its splits are credited to."""
    n_trees, p = ensemble.n_trees, ensemble.n_credited
    tree = np.repeat(np.arange(n_trees), np.diff(ensemble.tree_offset))
    pairs = np.unique((tree * p + ensemble.credited)[ensemble.left >= 0])
    return np.split(pairs % p, np.searchsorted(pairs, p * np.arange(1, n_trees)))[:n_trees]
