r"""Monotone constraints: predictions that must rise, or fall, with a column.

A column's *direction* is 1 where predictions must not fall as its values rise, -1 where they must
not rise, and 0 where they are free. Every node has *bounds* for its step -G/(H + lambda), at the
root none, and a split must do two things (as in XGBoost, ``src/tree/split_evaluator.h``):

* The steps of its sides, moved to the nearer bound where they are beyond one, must be in the order
  of the direction: else the cut is not allowed. What it gains follows from these steps::

      score of a side   -(2 G v + (H + lambda) v^2)        G^2 / (H + lambda) if no bound is met

* Its children inherit the bounds, and where the column has a direction they meet in the middle::

        bounds of the node          [lowest ............................ highest]
        steps of its sides                   left          right
        bounds of its children      [lowest ........ middle]
                                                    [middle ............ highest]

  so whatever grows below, no row on the lower side gets more than one on the upper side.

Values of nodes, inner ones included, are learning_rate times the step within the bounds; G and H
are the sums over the rows, as everywhere. Gains that a model keeps follow from G and H alone
(Definition 2 of Sun 2022): where a bound is met they are not what the split gained here.

A cut between all present and all missing rows puts no values in order, so it is always allowed; the
bounds of its children meet in the middle, too, whichever side is the lower one.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from gbt.kernels.cuts.levels import G, H
from gbt.tables.names import place_of

DIRECTIONS = (-1, 0, 1)


def directions(
    constraints: Any, names: Sequence[str], categories: Sequence[Any] | None = None
) -> np.ndarray | None:
    """Return the direction of every column, int8; None if all are free.

    Constraints are a dict of names or indices to -1, 0 or 1, a list of one of these a column, or
    None. Categories are the levels of every column, None where it has numbers.
    """
    if constraints is None:
        return None
    found = np.zeros(len(names), dtype=np.int8)
    if isinstance(constraints, Mapping):
        for column, direction in constraints.items():
            found[place_of("monotone_constraints", column, names)] = direction
    elif len(constraints) != len(names):
        raise ValueError(
            f"monotone_constraints has {len(constraints)} numbers, and X has {len(names)} columns:"
            " give one number for each column, or a dict of names to -1 or 1."
        )
    else:
        found[:] = constraints
    for name, direction, levels in zip(names, found, categories or (), strict=False):
        if direction and levels is not None:
            raise ValueError(
                f"monotone_constraints: column {name!r} is categorical, so its values have no"
                " order; leave it out, or give numbers in its place."
            )
    return found if found.any() else None


def is_monotone_constraints(value: Any) -> bool:
    """Say whether something is a possible parameter: only -1, 0 and 1 are directions."""
    if value is None:
        return True
    if isinstance(value, Mapping):
        columns = [column for column in value if not isinstance(column, bool)]
        are_columns = all(isinstance(column, str | Integral) for column in columns)
        return are_columns and len(columns) == len(value) and _are_directions(value.values())
    is_list = isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1
    return is_list and _are_directions(value)


def _are_directions(values: Any) -> bool:
    return all(
        isinstance(value, Integral) and not isinstance(value, bool) and value in DIRECTIONS
        for value in values
    )


def steps_within(sums: np.ndarray, penalty: float, bounds: np.ndarray) -> np.ndarray:
    """Return -G / (H + lambda), clipped to the bounds, (J, 2); sums are G, H and rows, (J, 3)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        step = -sums[:, G].astype(np.float64) / (sums[:, H].astype(np.float64) + penalty)
    step = np.where(bounds[:, 0] > step, bounds[:, 0], step)
    return np.where(bounds[:, 1] < step, bounds[:, 1], step)


def score_of_steps(sums: np.ndarray, penalty: float, step: np.ndarray) -> np.ndarray:
    """Return twice the fall of the loss of nodes' rows when they take these steps."""
    g, weight = sums[:, G].astype(np.float64), sums[:, H].astype(np.float64) + penalty
    return -(2.0 * g + weight * step) * step
