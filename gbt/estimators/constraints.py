"""Constraints on all trees of a model: monotone directions, and groups of columns.

``gbt.splitting.monotone`` and ``gbt.splitting.interactions`` define them. Here an estimator's
parameters are read, once the columns are known, and compared with the constraints that existing
trees have kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gbt.losses.loss import Loss
from gbt.splitting.interactions import groups_of
from gbt.splitting.monotone import directions

MonotoneConstraints = Mapping[str, int] | Mapping[int, int] | Sequence[int] | np.ndarray | None
InteractionConstraints = str | Sequence[Sequence[str]] | Sequence[Sequence[int]] | None
Constraints = dict[str, Any]  # by parameter: as trees keep it, None where columns are free


def constraints_of(estimator: Any, loss: Loss) -> Constraints:
    """Return the constraints that parameters put on all trees; ValueError if none can keep them."""
    names = estimator._column_names()
    found = directions(estimator.monotone_constraints, names, estimator._categories)
    if found is not None and loss.n_outputs > 1:
        raise ValueError(
            f"monotone_constraints need one raw prediction per row; with {loss.n_outputs}"
            " classes the probability of one can fall where its own raw prediction rises. Fit"
            " one class against the others."
        )
    groups = groups_of(estimator.interaction_constraints, names)
    return {"monotone_constraints": found, "interaction_constraints": groups}


def not_kept(asked: Constraints, kept: Constraints) -> list[str]:
    """Return the parameters that ask for more than existing trees have kept."""
    return [
        name
        for name, wanted in asked.items()
        if wanted is not None and not np.array_equal(wanted, kept[name])
    ]
