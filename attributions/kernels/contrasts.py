r"""Sums over the rows of every node, and what each row adds to features on its paths.

A function of sums over the rows at nodes changes with a single row, to first order, by derivatives:
a row that goes from node t to its child c moves it by

    w (a_c g + b_c h + d_c)

First every leaf adds up its rows, four numbers each, w g, w h, w and 1, and parents add up their
children. Then rows climb from their spots, and each step adds its part to the feature of t; the
weight of the row multiplies the sums::

        t [3]            out[3, i] += a_l g_i + b_l h_i + d_l
       / \
      l   r

PreDecomp and Saabas are the same climb: a is the change of the node's value, b and d are 0, and in
place of g stand the weights of rows.

At the seven nodes of depths 0 to 2, every node goes over all rows and adds 0 to those that are not
its own, which becomes vector instructions. Below, rows climb one by one.

Derivatives are taken on the way, at the prediction before the tree, or come with the rows where the
loss is another than the squared error and the logistic loss.

`mean_ratio_of_subsets` returns a mean over all subsets of k rows without visiting any of them.
"""

import math
from typing import NamedTuple

import numpy as np

from attributions.kernels.spots import MAX_ODDS, stand_at_spots
from gbt.kernels.platform.compiling import forced_inline, internal, kernel, uncounted
from gbt.kernels.platform.instructions import add_four, max, min
from gbt.kernels.rows.derivatives import HALF_LOGISTIC, write_derivatives
from gbt.kernels.rows.descent import N_PLACES, N_TOP, go_down

N_SUMS = 4  # w g, w h, w, 1
N_TERMS = 3  # of g, of h, and neither
N_WHOLE = 3  # steps in which every node takes all rows
N_ENDS = 2**N_WHOLE  # nodes below them


class Parts(NamedTuple):
    """What each step adds to which feature: of depths 0 to 2 by tree, below by node and place."""

    top_feature: np.ndarray  # (M, 7) uint64, of the nodes, depth by depth
    top_part: np.ndarray  # (M, 7, 2, 3) float64, a, b, d of the steps right and left
    up: np.ndarray  # (N + 16 M,) uint64, the parent; a root is its own
    feature: np.ndarray  # (N + 16 M,) uint64, that the parent's split is credited to
    part: np.ndarray  # (N + 16 M, 3) a, b, d of the step from there; 0 from depth 3 up
    end: np.ndarray  # (N + 16 M,) uint8, which of the 8 nodes at depth 3 it is, or is below


@internal
def write_derivatives_before(m, kind, y, state, given, gradient, hessian):
    """Write the derivatives of the loss before tree m; see ``add_up_at_spots``.

    gradient    (n,)      float64   OUT
    hessian     (n,)      float64   OUT   None where it is 1 for all rows
    """
    if given is not None:
        for i in range(y.shape[0]):
            gradient[i] = given[0][m, i]
            hessian[i] = given[1][m, i]
    elif hessian is None:
        for i in range(y.shape[0]):
            gradient[i] = state[i] - y[i]
    elif kind == HALF_LOGISTIC:
        for i in range(y.shape[0]):
            q = 1.0 / (1.0 + state[i])  # 1 - p without a difference, exact for p near 0 and 1
            p = state[i] * q
            gradient[i] = (1.0 - y[i]) * p - y[i] * q
            hessian[i] = p * q
    else:
        write_derivatives(kind, y, state, gradient, hessian)


@forced_inline
def part_of(i, a, b, d, gradient, hessian):
    """Return a g + b h + d of row i; where h is 1 for all rows, d contains b."""
    return a * gradient[i] + (d if hessian is None else b * hessian[i] + d)


@forced_inline
def move_state(i, first, spot, kind, value, state):
    """Take the state of row i to the next tree; spots of this tree count from ``first``."""
    t = first + np.uint64(spot[i])
    if kind == HALF_LOGISTIC:
        odds = state[i] * value[t]
        state[i] = min(max(odds, 1.0 / MAX_ODDS), MAX_ODDS)
    else:
        state[i] += value[t]


@kernel
def add_up_at_spots(spots, kind, y, state, hessian, given, weight, sums):
    """Add w g, w h, w and 1 of every row to its spot, g and h at the prediction before the tree.

    Rows of one leaf often follow one another, and an addition would have to wait for the last one:
    that took as long as going down the tree. So each half of the rows adds up in a lane of its own.
    In deeper trees, which have many leaves, all rows add to the sums themselves.

    spots                    ``Spots``  IN     of the rows
    kind                     int64      IN     of loss
    y        (n,)            float64    IN
    state    (n,)            float64    INOUT  before the first tree, then after the last
    hessian  (n,)            float64    INOUT  memory; None where it is 1 for all rows
    given    a pair                     IN     g and h before every tree, (M, n) float64 each; None
                                               where they follow from the state
    weight   (n,)            float64    IN
    sums     (N + 16 M, 4)   float64    INOUT  of nodes and places
    """
    n, half = np.uint64(y.shape[0]), np.uint64(y.shape[0] // 2)
    gradient = np.empty(n)
    lanes = np.zeros((2, N_PLACES * N_SUMS))
    all_sums = sums.reshape(-1)
    for m in range(spots.tree_depth.shape[0]):
        spot, first = spots.of_row[m], spots.first[m]
        write_derivatives_before(m, kind, y, state, given, gradient, hessian)
        own = all_sums[first * np.uint64(N_SUMS) :]
        is_shallow = spots.tree_depth[m] <= N_TOP
        a, b = (lanes[0], lanes[1]) if is_shallow else (own, own)
        for i in range(half):
            add_at_spot(i, spot, weight, gradient, hessian, a)
            move_state(i, first, spot, kind, spots.value, state)
            add_at_spot(i + half, spot, weight, gradient, hessian, b)
            move_state(i + half, first, spot, kind, spots.value, state)
        for i in range(half + half, n):
            add_at_spot(i, spot, weight, gradient, hessian, a)
            move_state(i, first, spot, kind, spots.value, state)
        if is_shallow:
            for i in range(np.uint64(N_PLACES * N_SUMS)):
                own[i] += a[i] + b[i]
                a[i] = b[i] = 0.0


@forced_inline
def add_at_spot(i, spot, weight, gradient, hessian, sums):
    """Add the four numbers of row i at its spot."""
    w = weight[i]
    to = np.uint64(spot[i]) * np.uint64(N_SUMS)
    add_four(sums, to, w * gradient[i], w if hessian is None else w * hessian[i], w, 1.0)


@internal
def add_parts_of_the_top(end, n_steps, feature, part, gradient, hessian, out):
    """Add the parts of the first steps, three at most.

    end        (n,)        int64     IN     of the 8 nodes at depth 3, which one a row is below
    feature    (7,)        uint64    IN     of the seven nodes of a tree, depth by depth
    part       (7, 2, 3)   float64   IN     a, b and d of the steps right and left
    others                           see ``add_parts_of_tree``
    """
    for depth in range(min(n_steps, N_WHOLE)):
        width = N_ENDS >> depth
        for j in range(1 << depth):
            node = (1 << depth) - 1 + j
            l, r = part[node, 1], part[node, 0]
            la, lb, ld, ra, rb, rd = l[0], l[1], l[2], r[0], r[1], r[2]
            begin, middle, stop = j * width, j * width + width // 2, j * width + width
            sums = out[feature[node]]
            for i in range(end.shape[0]):
                is_left = end[i] < middle
                a, b, d = la if is_left else ra, lb if is_left else rb, ld if is_left else rd
                moved = part_of(i, a, b, d, gradient, hessian)
                sums[i] += moved if (end[i] >= begin) & (end[i] < stop) else 0.0


@forced_inline
def add_part(i, t, parts, gradient, hessian, out):
    """Add what row i gets by the step to t."""
    # One by one: a view of the three would be reference-counted each time, by atomic operations.
    a, b, d = parts.part[t, 0], parts.part[t, 1], parts.part[t, 2]
    out[parts.feature[t], i] += part_of(i, a, b, d, gradient, hessian)


@internal
def add_parts_of_tree(m, first, n_steps, parts, gradient, hessian, at, end, out):
    """Add every row's parts in tree m, where rows stand at their spots.

    first              uint64     IN     the first of the tree's spots
    n_steps            int64      IN     from its root to the lowest leaf
    parts              ``Parts``  IN
    gradient   (n,)    float64    IN
    hessian    (n,)    float64    IN     None where it is 1 for all rows
    at         (n,)    uint64     INOUT  spots; then nodes further up
    end        (n,)    int64      memory
    out        (p, n)  float64    INOUT
    """
    n = np.uint64(at.shape[0])
    # Ends are as wide as the numbers that they select: 32 bits take 1.3 times as long (znver3).
    if n_steps <= N_TOP:
        for i in range(end.shape[0]):
            end[i] = np.int64(at[i] - first) >> (N_TOP - N_WHOLE)
    else:
        for i in range(end.shape[0]):
            end[i] = parts.end[at[i]]
    feature, part = parts.top_feature[m], parts.top_part[m]
    add_parts_of_the_top(end, n_steps, feature, part, gradient, hessian, out)
    if n_steps > N_WHOLE:
        for i in range(n):
            add_part(i, at[i], parts, gradient, hessian, out)
    for _ in range(n_steps - N_WHOLE - 1):
        for i in range(n):
            at[i] = parts.up[at[i]]
            add_part(i, at[i], parts, gradient, hessian, out)


@kernel
def add_parts_at_spots(spots, kind, y, state, hessian, given, parts, out):
    """Add up every row's parts along its paths, by feature; callers multiply by the weight.

    spots ... given                see ``add_up_at_spots``
    parts           ``Parts``  IN     b + d in place of d where the hessian is None
    out    (p, n)   float64    INOUT
    """
    n = y.shape[0]
    end, at, gradient = np.empty(n, np.int64), np.empty(n, np.uint64), np.empty(n)
    for m in range(spots.tree_depth.shape[0]):
        write_derivatives_before(m, kind, y, state, given, gradient, hessian)
        stand_at_spots(m, spots, at)
        first, n_steps = spots.first[m], spots.tree_depth[m]
        add_parts_of_tree(m, first, n_steps, parts, gradient, hessian, at, end, out)
        for i in range(np.uint64(n)):
            move_state(i, first, spots.of_row[m], kind, spots.value, state)


@uncounted
def add_value_changes(X, links, first, parts, row_weight, at, end, out):
    """Add changes of node values along rows' paths, times the weight of row and tree.

    X             (2 p, n)   float64    IN     a block from ``gbt.model.predictor.transposed``
    links                    ``Links``  IN     of all M trees
    first                    int64      IN     the first of T trees
    parts                    ``Parts``  IN     b = d = 0
    row_weight    (T, n)     float64    IN
    at, end                             memory, see ``add_parts_of_tree``
    out           (p, n)     float64    INOUT
    """
    for j in range(row_weight.shape[0]):
        m = first + j
        go_down(X, links, m, at)
        n_steps, weight = links.tree_depth[m], row_weight[j]
        add_parts_of_tree(m, links.places[m], n_steps, parts, weight, None, at, end, out)


@kernel
def mean_ratio_of_subsets(a, b, k, first, step, n_steps):
    """Return the mean of sum a / sum b over all subsets of k rows, without visiting them.

    Since 1/x = int_0^inf exp(-t x) dt, the mean ratio is int_0^inf A_k(t) dt with A_k(t) the mean
    over the subsets of (sum a) prod exp(-t b). Rows come one by one. After i of them E_j and A_j
    are means over the subsets of j, of the product alone and with the sum of a; a subset of the
    first i rows holds row i with probability j / i, so with z = exp(-t b_i)

        A_j = (1 - j/i) A_j + (j/i) z (A_{j-1} + a_i E_{j-1})
        E_j = (1 - j/i) E_j + (j/i) z E_{j-1}

    with E and A of the rows before on the right. The integral is a sum over t = first, first
    e^step, first e^(2 step), ...; in log t the integrand is smooth, so the error of the sum falls
    like exp(-pi^2 / step). What lies before ``first``, where no product has begun to fall, is a
    geometric series.

    a, b      (n,)   float64   IN    b not negative
    k                int64     IN    1 <= k <= n
    first            float64   IN
    step             float64   IN
    n_steps          int64     IN
    """
    total = 0.0
    E, A = np.empty(k + 1), np.empty(k + 1)
    for q in range(n_steps):
        t = first * math.exp(q * step)
        E[:], A[:] = 0.0, 0.0
        E[0] = 1.0
        for row in range(a.shape[0]):
            z = math.exp(-t * b[row])
            for j in range(min(k, row + 1), 0, -1):
                share = j / (row + 1.0)
                A[j] = (1.0 - share) * A[j] + share * z * (A[j - 1] + a[row] * E[j - 1])
                E[j] = (1.0 - share) * E[j] + share * z * E[j - 1]
        total += step * t * A[k]
    before = step * first / math.expm1(step)
    return total + before * k * a.mean()
