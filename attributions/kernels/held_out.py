r"""Gradients of rows at every split of their paths, each without the split's feature, and sums.

Rows have gone down some trees; here they climb from their leaves to the roots, all rows of a block
a step at a time. A step is identified by the child c that it comes from: its feature, its change of
the value and its sums stand at c::

        t [3]            feature[c] = 3          up[c] = t
       / \               step[c] = v_c - v_t
      b   c              asked = f - F_3         F_3: what feature 3 has contributed before

A row that has arrived at a root stays there, where steps and parts are 0.

1. `ask` writes the raw predictions at which the derivative of the loss is wanted, one a row and
   step, and takes raw predictions and contributions to the next round.
2. The loss turns them into gradients (``gbt.losses``).
3. `add_up_steps` adds the gradients up at every child, `add_parts_of_steps` turns them into the
   parts of rows.

For the squared error and the logistic loss one kernel does all three, row by row, so that nothing
is stored between them: `add_up_known` in the first walk, `add_parts_of_known` in the second.
Logistic rows carry odds (``attributions.kernels.spots``) and the factors e^-F that remove features.

Rows of several classes carry odds, too, unless a model could take them beyond that: for the softmax
`ask` does the first two steps.
"""

from typing import NamedTuple

import numpy as np

from attributions.kernels.spots import stand_at_spots
from gbt.kernels.platform.compiling import forced_inline, internal, kernel, uncounted
from gbt.kernels.platform.instructions import add_pair, max, min
from gbt.kernels.rows.descent import N_TOP


class Paths(NamedTuple):
    """Steps to all nodes and places of M trees, by the child; 0 at roots, except ``up``."""

    up: np.ndarray  # (N + 16 M,) uint64, the parent; a root is its own
    feature: np.ndarray  # (N + 16 M,) uint64, that the parent's split is credited to
    step: np.ndarray  # (N + 16 M,) float64, value less that of the parent; e^-step for odds


@internal
def write_asked(m, spots, paths, state, work, at, asked):
    """Write for every step of tree m the raw predictions without the step's feature.

    spots ... work             see ``ask``
    at     (n,)        uint64     memory
    asked  (S, n, K)   float64    OUT
    """
    stand_at_spots(m, spots, at)
    for s in range(asked.shape[0]):
        for i in range(at.shape[0]):
            k = paths.feature[at[i]]
            for o in range(state.shape[1]):
                asked[s, i, o] = state[i, o] - work[k, i, o]
            at[i] = paths.up[at[i]]


@internal
def write_gradients_of_class(m, spots, paths, own, y, odds, work, at, gradient):
    """Write p - [y = own] without the feature of every step of tree m, which adds to class own.

    at             (n,)     uint64    memory
    gradient       (S, n, 1)  float64  OUT     first steps of the S, as many as the tree has
    others         see ``ask``
    """
    stand_at_spots(m, spots, at)
    for s in range(spots.tree_depth[m]):
        for i in range(at.shape[0]):
            k, total = paths.feature[at[i]], 0.0
            for o in range(odds.shape[1]):
                total += odds[i, o] * work[k, i, o]
            p = odds[i, own] * work[k, i, own] / total
            gradient[s, i, 0] = p - (1.0 if y[i] == own else 0.0)
            at[i] = paths.up[at[i]]


@forced_inline
def moved_output(y, number, step):
    """Return the number of an output after a step; with ``y`` odds, which are multiplied."""
    return number + step if y is None else number * step


@internal
def move_output(m, spots, paths, own, y, state, work, at):
    """Take the states of output own, and what features do to them, beyond its tree m."""
    stand_at_spots(m, spots, at)
    for i in range(at.shape[0]):
        state[i, own] = moved_output(y, state[i, own], spots.value[at[i]])
    for _ in range(spots.tree_depth[m]):
        for i in range(at.shape[0]):
            k = paths.feature[at[i]]
            work[k, i, own] = moved_output(y, work[k, i, own], paths.step[at[i]])
            at[i] = paths.up[at[i]]


@kernel
def ask(spots, first, paths, y, state, work, asked):
    """Ask for every step without the step's feature, round by round.

    Written are the raw predictions at which the derivatives of the loss are wanted or, with ``y``,
    the derivatives of the softmax by the class that the tree adds to. There rows carry odds, and
    nothing is cut off: neither odds nor what features take from them may go beyond `MAX_ODDS`.

    T trees of whole rounds, K outputs, S steps at most from a leaf to the root.

    spots                   ``Spots``  IN     of all M trees
    first                   int64      IN     the first of the T trees
    paths                   ``Paths``  IN
    y        (n,)           float64    IN     classes 0 .. K - 1; None for other losses
    state    (n, K)         float64    INOUT  before the first round; then after the last
    work     (p, n, K)      float64    INOUT  F of each feature, or e^-F
    asked    (T, S, n, K)   float64    OUT    with ``y`` (T, S, n, 1)
    """
    n_outputs, at = state.shape[1], np.empty(state.shape[0], np.uint64)
    for begin in range(0, asked.shape[0], n_outputs):
        for o in range(n_outputs):
            m = begin + o
            if y is None:
                write_asked(first + m, spots, paths, state, work, at, asked[m])
            else:
                write_gradients_of_class(first + m, spots, paths, o, y, state, work, at, asked[m])
        for o in range(n_outputs):
            move_output(first + begin + o, spots, paths, o, y, state, work, at)


@kernel
def add_up_steps(spots, first, paths, gradient, weight, sums):
    """Add up the weighted gradients of every step at its child, and rows and weights at leaves.

    spots, first, paths              see ``ask``
    gradient   (T, S, n)      float64   IN
    weight     (n,)           float64   IN
    sums       (N + 16 M, 3)  float64   INOUT   w g of the step, w, rows that weigh something
    """
    at = np.empty(weight.shape[0], np.uint64)
    for m in range(gradient.shape[0]):
        stand_at_spots(first + m, spots, at)
        for i in range(at.shape[0]):
            sums[at[i], 1] += weight[i]
            sums[at[i], 2] += weight[i] > 0.0
        for s in range(spots.tree_depth[first + m]):
            for i in range(at.shape[0]):
                sums[at[i], 0] += weight[i] * gradient[m, s, i]
                at[i] = paths.up[at[i]]


@kernel
def add_parts_of_steps(spots, first, paths, part, gradient, out):
    """Add every row's parts, a g + b at each step, to the features of the steps.

    spots, first, paths              see ``ask``
    part       (N + 16 M, 2)  float64   IN      a and b of the step to a node
    gradient   (T, S, n)      float64   IN
    out        (p, n)         float64   INOUT
    """
    at = np.empty(out.shape[1], np.uint64)
    for m in range(gradient.shape[0]):
        stand_at_spots(first + m, spots, at)
        for s in range(spots.tree_depth[first + m]):
            for i in range(at.shape[0]):
                c = at[i]
                out[paths.feature[c], i] += part[c, 0] * gradient[m, s, i] + part[c, 1]
                at[i] = paths.up[c]


class Known(NamedTuple):
    """Rows whose loss kernels know, before the next tree."""

    y: np.ndarray  # (n,) float64
    state: np.ndarray  # (n,) float64, the raw prediction or the odds
    work: np.ndarray  # (p, n) float64, F of every feature, or e^-F


@forced_inline
def gradient_without(most_odds, y, state, work):
    """Return the gradient of a row at its prediction without a feature."""
    if most_odds is None:
        return state - work - y
    odds = state * work
    q = 1.0 / (1.0 + odds)
    return (1.0 - y) * (odds * q) - y * q


@forced_inline
def moved(most_odds, number, step):
    """Return a raw prediction or F after a step; odds or e^-F where ``most_odds`` is not None."""
    if most_odds is None:
        return number + step
    return min(max(number * step, 1.0 / most_odds), most_odds)


@forced_inline
def move_known(i, leaf, n_steps, most_odds, spots, paths, rows):
    """Take row i beyond a tree in which it reaches a leaf."""
    at = leaf
    for _ in range(n_steps):
        k = paths.feature[at]
        rows.work[k, i] = moved(most_odds, rows.work[k, i], paths.step[at])
        at = paths.up[at]
    rows.state[i] = moved(most_odds, rows.state[i], spots.value[leaf])


@forced_inline
def add_up_row(i, leaf, n_steps, most_odds, spots, paths, rows, weight, sums, of_leaves):
    """Add up the gradients of one row at its steps in one tree."""
    y, state, w, at = rows.y[i], rows.state[i], weight[i], leaf
    for _ in range(n_steps):
        sums[at] += w * gradient_without(most_odds, y, state, rows.work[paths.feature[at], i])
        at = paths.up[at]
    add_pair(of_leaves, leaf * np.uint64(2), w, 1.0 if w > 0.0 else 0.0)
    move_known(i, leaf, n_steps, most_odds, spots, paths, rows)


@forced_inline
def add_up_tree(m, n_steps, most_odds, spots, paths, rows, weight, sums, of_leaves):
    """Add up the rows' gradients in one tree, each half of the rows in a lane of its own."""
    n, half = np.uint64(rows.y.shape[0]), np.uint64(rows.y.shape[0] // 2)
    spot, first, a, b = spots.of_row[m], spots.first[m], sums[0], sums[1]
    for i in range(half):
        j = i + half
        leaf, other = first + np.uint64(spot[i]), first + np.uint64(spot[j])
        add_up_row(i, leaf, n_steps, most_odds, spots, paths, rows, weight, a, of_leaves)
        add_up_row(j, other, n_steps, most_odds, spots, paths, rows, weight, b, of_leaves)
    for i in range(half + half, n):
        leaf = first + np.uint64(spot[i])
        add_up_row(i, leaf, n_steps, most_odds, spots, paths, rows, weight, a, of_leaves)


@uncounted
def add_up_known(spots, rows, most_odds, paths, weight, sums, of_leaves):
    """Add up the weighted gradients of all steps at their children, and rows and weights at leaves.

    Rows that follow one another often take the same steps, and an addition would have to wait for
    the last one: so each half of the rows adds up in a lane of its own. In a tree of up to four
    levels all rows take four steps, which the compiler writes down one after the other; beyond the
    root a step changes nothing.

    spots                       ``Spots``  IN     of all M trees
    rows                        ``Known``  INOUT  go from the first tree to after the last
    most_odds                   float64    IN     None where rows carry raw predictions
    paths                       ``Paths``  IN     of odds if rows carry these
    weight      (n,)            float64    IN
    sums        (2, N + 16 M)   float64    INOUT  of w g, in two lanes
    of_leaves   (2 (N + 16 M))  float64    INOUT  w, and 1 if a row weighs something
    """
    for m in range(spots.tree_depth.shape[0]):
        if spots.tree_depth[m] <= N_TOP:
            add_up_tree(m, N_TOP, most_odds, spots, paths, rows, weight, sums, of_leaves)
        else:
            n_steps = spots.tree_depth[m]
            add_up_tree(m, n_steps, most_odds, spots, paths, rows, weight, sums, of_leaves)


@forced_inline
def add_known_parts(m, n_steps, most_odds, spots, paths, rows, slope, constant, out):
    """Add the parts of the rows in one tree."""
    spot, first = spots.of_row[m], spots.first[m]
    for i in range(np.uint64(rows.y.shape[0])):
        leaf = first + np.uint64(spot[i])
        y, state, at = rows.y[i], rows.state[i], leaf
        for _ in range(n_steps):
            k = paths.feature[at]
            g = gradient_without(most_odds, y, state, rows.work[k, i])
            out[k, i] += slope[at] * g + constant[at]
            at = paths.up[at]
        move_known(i, leaf, n_steps, most_odds, spots, paths, rows)


@uncounted
def add_parts_of_known(spots, rows, most_odds, paths, slope, constant, out):
    """Add every row's parts, a g + b at each step, to the features of the steps.

    spots, rows, most_odds, paths    see ``add_up_known``
    slope, constant   (N + 16 M,)   float64   IN      a and b of the step to a node
    out               (p, n)        float64   INOUT
    """
    for m in range(spots.tree_depth.shape[0]):
        if spots.tree_depth[m] <= N_TOP:
            add_known_parts(m, N_TOP, most_odds, spots, paths, rows, slope, constant, out)
        else:
            n_steps = spots.tree_depth[m]
            add_known_parts(m, n_steps, most_odds, spots, paths, rows, slope, constant, out)
