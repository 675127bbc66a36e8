r"""Bounds: steps that are kept within the bounds of a node, and in the order of a column.

``gbt.splitting.monotone`` says why. Where no column has a direction, ``directions`` and what
follows from them is None, and nothing of this is compiled into the search.

A step within bounds is worth no more than the free one::

    score of a side   -(2 G v + (H + lambda) v^2)    <=    G^2 / (H + lambda), equal at the free v

so that whatever cuts the free score excludes (``gbt.kernels.cuts.search``) are excluded here, too.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import max, min


class Within(NamedTuple):
    """What the steps on both sides of a cut must keep to, in the units of the integers."""

    lowest: float
    highest: float
    direction: float  # 1 where steps must rise from left to right, -1 where fall, else 0


@internal
def within_of(k, node, directions):
    """Return what the steps of a node's sides must keep to in column k; None if all are free."""
    if directions is None:
        return None
    return Within(node.lowest, node.highest, np.float64(directions[k]))


@forced_inline
def step_within(g, h, penalty, within):
    """Return -G / (H + lambda), or the bound that it is beyond."""
    return min(max(-g / (h + penalty), within.lowest), within.highest)


@forced_inline
def score_of_step(g, weight, step):
    """Return twice what the loss of some rows falls by where they take a step."""
    return -(2.0 * g + weight * step) * step


@forced_inline
def score_within(left_g, left_h, right_g, right_h, penalty, within, any_order):
    """Return the score of a cut whose sides take steps within bounds.

    It is -inf where these are in the wrong order, unless they may be in any order.
    """
    left = step_within(left_g, left_h, penalty, within)
    right = step_within(right_g, right_h, penalty, within)
    score = score_of_step(left_g, left_h + penalty, left) + score_of_step(
        right_g, right_h + penalty, right
    )
    is_allowed = within.direction * left <= within.direction * right
    return score if any_order or is_allowed else -np.inf


@internal
def share_bounds(parent, left, right, direction, penalty):
    """Give the children of a node its bounds, which meet in the middle of their steps.

    Where its column has no direction both have the same bounds.
    """
    left.lowest = right.lowest = parent.lowest
    left.highest = right.highest = parent.highest
    if direction != 0:
        within = Within(parent.lowest, parent.highest, np.float64(direction))
        of_left = step_within(float(left.g), float(left.h), penalty, within)
        of_right = step_within(float(right.g), float(right.h), penalty, within)
        middle = (of_left + of_right) / 2
        if of_left < of_right or (of_left == of_right and direction > 0):
            left.highest = right.lowest = middle
        else:
            right.highest = left.lowest = middle


@forced_inline
def value_within(value, node, learning_rate, unit):
    """Return the value of a node, or the bound that it is beyond.

    ``unit`` is what makes steps in the loss's units of bounds; None if there are none.
    """
    if unit is None:
        return value
    lowest, highest = learning_rate * (node.lowest * unit), learning_rate * (node.highest * unit)
    return min(max(value, lowest), highest)
