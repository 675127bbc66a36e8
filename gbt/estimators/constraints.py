"""Constraints on all trees of a model: monotone directions, and groups of columns.

``gbt.splitting.monotone`` and ``gbt.splitting.interactions`` define them. Here an estimator's
parameters are read, once the columns are known, and compared with the constraints that existing
trees have kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.losses.loss import Loss
from gbt.splitting.frontier import Groups
from gbt.splitting.interactions import groups_of
from gbt.splitting.monotone import directions
from gbt.tables.categories import Categories

MonotoneConstraints = Mapping[str, int] | Mapping[int, int] | Sequence[int] | np.ndarray | None
InteractionConstraints = str | Sequence[Sequence[str]] | Sequence[Sequence[int]] | None


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraints on all trees.

    Parameters
    ----------
    directions : int8 array of shape (p,) or None
        None if all columns are free.
    groups : frozenset of frozensets of int, int, or None
        None if all columns may stand on one path.
    """

    directions: np.ndarray | None = None
    groups: Groups | None = None

    @classmethod
    def asked(
        cls, estimator: Any, loss: Loss, names: tuple[str, ...], categories: Categories | None
    ) -> "Constraints":
        """Return the constraints that parameters ask for; ValueError if they cannot be kept."""
        found = directions(estimator.monotone_constraints, names, categories)
        if found is not None and loss.n_outputs > 1:
            raise ValueError(
                f"monotone_constraints need one raw prediction per row; with {loss.n_outputs}"
                " classes the probability of one can fall where its own raw prediction rises. Fit"
                " one class against the others."
            )
        return cls(found, groups_of(estimator.interaction_constraints, names))

    def not_kept(self, kept: "Constraints") -> Iterator[str]:
        """Yield the parameters that ask for more than existing trees have kept."""
        before, now = kept.directions, self.directions
        if now is not None and (before is None or not np.array_equal(now, before)):
            yield "monotone_constraints"
        if self.groups is not None and self.groups != kept.groups:
            yield "interaction_constraints"

    def refuse_to_follow(self, kept: "Constraints", estimator: Any) -> None:
        """Raise ValueError if existing trees have not kept the constraints asked for now."""
        for name in self.not_kept(kept):
            raise ValueError(
                f"warm_start adds trees to a model whose trees do not keep {name}="
                f"{getattr(estimator, name)!r}. Set warm_start=False to begin anew."
            )
