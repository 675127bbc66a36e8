"""Scores: what a cut makes of a node, in integers that are added up and one division.

    score(cut) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)

Where steps have bounds, the score is that of the steps within them (``gbt.kernels.cuts.bounds``).
Numbers that travel together are tuples: ``Terms``, ``Sums``, ``Cut``.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.bounds import Within, score_of_step, score_within
from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import max, min

# A score and that of its node carry fewer than 16 roundings between them, each of eps of at most
# (sum|g|)^2/(H + lambda). A gain below that may be rounding: equal residuals must stay a leaf.
ROUNDING = 16 * np.finfo(np.float64).eps
FREE = Within(False, -np.inf, np.inf, 0.0)


class Terms(NamedTuple):
    """What enters the score of every cut of a node."""

    g: int  # sums over the node's rows
    h: int
    n: int  # number of rows
    penalty: float  # lambda, in units of h
    min_hessian: float  # of a side
    min_rows: int  # of a side
    width: int  # see ``gbt.kernels.cuts.histogram.Layout``
    count_bits: int
    hessian: int
    within: Within = FREE


class Sums(NamedTuple):
    """Sums over some rows."""

    g: int
    h: int
    n: int


class Cut(NamedTuple):
    """A cut of one column."""

    score: float
    code: int  # the last that goes left
    missing_left: bool


@forced_inline
def score_of(left_g, left_h, right_g, right_h, penalty):
    """Return the score, symmetric in left and right to the last bit, with one division."""
    left_weight = left_h + penalty
    right_weight = right_h + penalty
    return (left_g * left_g * right_weight + right_g * right_g * left_weight) / (
        left_weight * right_weight
    )


@internal
def own_score(node, rules):
    """Return the score of an unsplit node, and the gain that a split must exceed."""
    weight = float(node.h) + rules.penalty
    if weight <= 0.0:
        return 0.0, np.inf
    g, magnitude = float(node.g), float(node.magnitude)
    score = g * g / weight
    if rules.has_directions:
        step = min(max(-g / weight, node.lowest), node.highest)
        score = score_of_step(g, weight, step)
        magnitude += weight * max(step, -step)  # a step at a bound can be longer than the node's
    rounding = ROUNDING * (magnitude * magnitude / weight)
    return score, max(rules.least_gain, rounding)


@forced_inline
def is_allowed(left_h, left_n, terms):
    """Say whether both sides of a cut weigh enough and have enough rows."""
    right_h = terms.h - left_h
    right_n = terms.n - left_n
    return (
        (left_h > 0)
        & (right_h > 0)
        & (left_n >= terms.min_rows)
        & (right_n >= terms.min_rows)
        & (float(left_h) >= terms.min_hessian)
        & (float(right_h) >= terms.min_hessian)
    )


@forced_inline
def free_score(left_g, left_h, left_n, terms):
    """Return the score of a cut whose steps are free; see `score_cut`."""
    g, h = np.float64(left_g), np.float64(left_h)  # whose division by zero gives infinity
    rest_g, rest_h = np.float64(terms.g - left_g), np.float64(terms.h - left_h)
    score = score_of(g, h, rest_g, rest_h, terms.penalty)
    return score if is_allowed(left_h, left_n, terms) else -np.inf


@internal
def bound_score(left_g, left_h, left_n, terms, any_order):
    """Return the score of a cut whose steps have bounds; see `score_cut`."""
    g, h = np.float64(left_g), np.float64(left_h)
    rest_g, rest_h = np.float64(terms.g - left_g), np.float64(terms.h - left_h)
    score = score_within(g, h, rest_g, rest_h, terms.penalty, terms.within, any_order)
    return score if is_allowed(left_h, left_n, terms) else -np.inf


@forced_inline
def score_cut(left_g, left_h, left_n, terms, any_order):
    """Return the score of a cut, or -inf where a side is too light or has too few rows.

    left_g, left_h, left_n   int64   IN   sums over the rows that go left
    any_order                bool    IN   whether the cut puts no values in order
    """
    if terms.within.binds:
        return bound_score(left_g, left_h, left_n, terms, any_order)
    return free_score(left_g, left_h, left_n, terms)


@forced_inline
def score_both_ways(g, h, n, missing, terms):
    """Return the score of a cut and whether missing rows go left.

    g, h, n   int64   IN   sums over the present rows left of the cut
    missing   Sums    IN   over the node's rows without a value
    """
    has_all = n == terms.n - missing.n  # the cut between all present and all missing rows
    missing_right = score_cut(g, h, n, terms, has_all)
    more_on_the_left = h >= terms.h - missing.h - h
    if missing.n == 0:
        return missing_right, more_on_the_left
    g, h, n = g + missing.g, h + missing.h, n + missing.n
    missing_left = score_cut(g, h, n, terms, has_all)
    if missing_left > missing_right or (missing_left == missing_right and more_on_the_left):
        return missing_left, True
    return missing_right, False


@forced_inline
def sums_in(g, size, h, terms):
    """Return the sums of g, h and n in the numbers of a bin, or in those of several added up."""
    rows = size & ((1 << terms.count_bits) - 1)
    return Sums(g, rows * terms.hessian if terms.width == 2 else h, rows)


@forced_inline
def sums_of_bin(histogram, first, b, terms):
    """Return the sums over the node's rows in one bin of a column, often that of missing values.

    histogram   (bins * width,)   int64   IN
    first                         int64   IN   the column's first bin
    b                             int64   IN   counted from there
    """
    one, before_last = np.uint64(1), np.uint64(terms.width - 2)  # h, where an entry has it
    place = np.uint64(first + b) * np.uint64(terms.width)
    return sums_in(histogram[place], histogram[place + one], histogram[place + before_last], terms)
