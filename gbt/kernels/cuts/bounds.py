r"""Bounds: steps that are kept within the bounds of a node, and in the order of a column.

``gbt.splitting.monotone`` says why. Where no column has a direction, steps have no bounds, and
scores are those of ``gbt.kernels.cuts.search``: a node asks once which of the two it is.

The bound of the cuts in a bin follows from the box of ``gbt.kernels.cuts.search``. The step v of a
side is, within bounds, the one that makes the most of it,

    score of a side   max over v of -(2 G v + (H + lambda) v^2)

which is convex in G and falls with H. So the score of a cut is largest at an end of the box, with
the least H on both sides. And where steps must rise, no cut of the box is allowed if the lowest
step on the left is above the highest on the right, and none gains anything where all steps are the
same bound.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import max, min

NO_DIRECTION = np.int64(0)
ROUNDING = 1e-12  # more than all roundings of a score, each 1e-16 of its terms


class Within(NamedTuple):
    """What the steps on both sides of a cut must keep to, in the units of the integers."""

    binds: bool  # False where no column of the table has a direction; then the rest says nothing
    lowest: float
    highest: float
    direction: float  # 1 where steps must rise from left to right, -1 where fall, else 0


@forced_inline
def within_of(direction, node, rules):
    """Return what the steps of a node's sides must keep to in a column of some direction."""
    return Within(rules.has_directions != 0, node.lowest, node.highest, np.float64(direction))


@forced_inline
def step_within(g, weight, within):
    """Return -G / (H + lambda), or the bound that it is beyond."""
    return min(max(-g / weight, within.lowest), within.highest)


@forced_inline
def score_of_step(g, weight, step):
    """Return twice what the loss of some rows falls by where they take a step."""
    return -(2.0 * g + weight * step) * step


@forced_inline
def score_within(left_g, left_h, right_g, right_h, penalty, within, any_order):
    """Return the score of a cut whose sides take steps within bounds.

    It is -inf where these are in the wrong order, unless they may be in any order.
    """
    left = step_within(left_g, left_h + penalty, within)
    right = step_within(right_g, right_h + penalty, within)
    score = score_of_step(left_g, left_h + penalty, left) + score_of_step(
        right_g, right_h + penalty, right
    )
    is_allowed = within.direction * left <= within.direction * right
    return score if any_order or is_allowed else -np.inf


@forced_inline
def side_at(g, weight, total_weight, within):
    """Return the score of a side at an end of its box, and the size of what is rounded."""
    step = step_within(g, weight, within)
    size = max(g * step, -g * step) + total_weight * step * step
    return score_of_step(g, weight, step), size


@forced_inline
def is_out_of_order(low, high, all_g, least, most, direction):
    """Say whether the steps of all cuts of a box are in the wrong order.

    low, high   float64       of g on the left
    least       2 x float64   weight on the left and the right
    most        2 x float64   likewise
    """
    g = high if direction > 0.0 else -low
    rest = direction * all_g - g
    of_left, of_right = least[0] if g > 0.0 else most[0], least[1] if rest < 0.0 else most[1]
    left, right = -g * of_right, -rest * of_left  # the steps, times both weights
    doubt = ROUNDING * (max(left, -left) + max(right, -right))
    return (direction != 0.0) & (of_left * of_right > 0.0) & (left - right > doubt)


@forced_inline
def are_one_bound(low, high, rest_low, rest_high, least, most, within):
    """Say whether the steps of all cuts of a box are the same bound."""
    lowest, highest = within.lowest, within.highest
    is_above = (-high >= max(highest * least[0], highest * most[0])) & (
        -rest_low >= max(highest * least[1], highest * most[1])
    )
    is_below = (-low <= min(lowest * least[0], lowest * most[0])) & (
        -rest_high <= min(lowest * least[1], lowest * most[1])
    )
    return is_above | is_below


@forced_inline
def bound_within(low, high, all_g, least, most, total_weight, within, any_order):
    """Return what no score of a cut in a box exceeds; see ``is_out_of_order`` for arguments."""
    rest_low, rest_high = all_g - low, all_g - high
    left, of_left = side_at(low, least[0], total_weight, within)
    right, of_right = side_at(rest_low, least[1], total_weight, within)
    at_low, size = left + right, of_left + of_right
    left, of_left = side_at(high, least[0], total_weight, within)
    right, of_right = side_at(rest_high, least[1], total_weight, within)
    score = max(at_low, left + right) + ROUNDING * (size + of_left + of_right)
    score = score if least[0] * least[1] > 0.0 else np.finfo(np.float64).max
    is_flat = are_one_bound(low, high, rest_low, rest_high, least, most, within)
    is_lost = is_out_of_order(low, high, all_g, least, most, within.direction)
    return -np.inf if is_flat | (is_lost & (not any_order)) else score


@internal
def share_bounds(parent, left, right, direction, penalty):
    """Give the children of a node its bounds, which meet in the middle of their steps.

    Where its column has no direction both have the same bounds.
    """
    left.lowest = right.lowest = parent.lowest
    left.highest = right.highest = parent.highest
    if direction != 0:
        within = Within(True, parent.lowest, parent.highest, np.float64(direction))
        of_left = step_within(float(left.g), float(left.h) + penalty, within)
        of_right = step_within(float(right.g), float(right.h) + penalty, within)
        middle = (of_left + of_right) / 2
        if of_left < of_right or (of_left == of_right and direction > 0):
            left.highest = right.lowest = middle
        else:
            right.highest = left.lowest = middle


@forced_inline
def value_within(value, node, learning_rate, unit):
    """Return the value of a node, or the bound that it is beyond.

    ``unit`` is what makes steps in the loss's units of bounds.
    """
    lowest, highest = learning_rate * (node.lowest * unit), learning_rate * (node.highest * unit)
    return min(max(value, lowest), highest)
