r"""Sums over the rows of every node, and each row's part in a function of these sums.

Rows go down all trees once, and the leaf that each of them reaches in every tree, its *spot*, is
noted in a byte or two (`find_spots`). All else is added up from spots.

First every leaf adds up its rows, four numbers each: w g, w h, w and 1. Parents add up their
children. Any smooth function of the sums of validation rows in a node t and its children l and r
changes with a single row, to first order, by its derivatives: a row that goes from t to the child c
moves it by

    w (a_c g + b_c h + d_c)

Following the path of every row once more adds these up, row by row and feature by feature, and the
weight of the row multiplies the sums::

        t [3]            out[3, i] += a_l g_i + b_l h_i + d_l
       / \
      l   r

At the seven nodes of depths 0 to 2, every node goes over all rows and adds 0 to those that are not
its own: that becomes vector instructions. Below, rows climb from their spots to depth 3.

Derivatives are taken on the way, at the prediction before the tree. With the logistic loss they
follow from the odds e^f, and a leaf of value v multiplies the odds by e^v, a number of the leaf:
no row needs an exponential of its own, which would take as long as all the rest. Rounding adds up
to half an eps a tree.

`mean_ratio_of_subsets` returns a mean over all subsets of k rows without visiting any of them.
"""

import math
from typing import NamedTuple

import numpy as np

from attributions.kernels.odds import MAX_ODDS
from gbt.kernels.platform.compiling import forced_inline, internal, kernel
from gbt.kernels.platform.instructions import add_four, max, min
from gbt.kernels.rows.derivatives import HALF_LOGISTIC, write_derivatives
from gbt.kernels.rows.descent import N_PLACES, N_TOP, go_down

N_SUMS = 4  # w g, w h, w, 1
N_TERMS = 3  # of g, of h, and neither
N_WHOLE = 3  # steps in which every node takes all rows
N_ENDS = 2**N_WHOLE  # nodes below them


class Spots(NamedTuple):
    """Which leaves the n rows of a block reach in M trees, and what these do to rows' states.

    A spot is a place of a tree of depth 4 or less, see ``gbt.kernels.rows.descent``, and
    otherwise a leaf, counted from the first of its tree.
    """

    of_row: np.ndarray  # (M, n) unsigned
    first: np.ndarray  # (M,) uint64, number of the tree's first place, or of its root
    tree_depth: np.ndarray  # (M,) int64, steps from the root to the lowest leaf
    step: np.ndarray  # (N + 16 M,) float64, of nodes and places: value, or e^value for odds


class Below(NamedTuple):
    """How rows climb to depth 3, and what each step adds; by node and place."""

    up: np.ndarray  # (N + 16 M,) uint64, the parent; itself from depth 3 up
    feature: np.ndarray  # (N + 16 M,) uint64, that the parent splits on
    part: np.ndarray  # (N + 16 M, 3) a, b, d of the step from there; 0 from depth 3 up
    end: np.ndarray  # (N + 16 M,) uint8, which of the 8 nodes at depth 3 it is, or is below


@internal
def keep_spots(at, first, spot):
    """Write the spots of rows, counted from ``first``."""
    for i in range(at.shape[0]):
        spot[i] = spot.dtype.type(at[i] - first)


@kernel
def find_spots(X, links, spots):
    """Write the spots that the rows of a block reach.

    X       (2 p, n)   float64   IN    a transposed block, see ``gbt.model.predictor``; or float32
    links              ``Links`` IN    of all M trees
    spots              ``Spots`` OUT   rows alone
    """
    at = np.empty(X.shape[1], links.node.dtype)
    for m in range(spots.tree_depth.shape[0]):
        go_down(X, links, m, at)
        keep_spots(at, at.dtype.type(spots.first[m]), spots.of_row[m])


@internal
def write_gradients(kind, y, state, gradient, hessian):
    """Write the derivatives of the loss at every row's state: its odds, or its raw prediction.

    kind                  int64     IN    of loss, see ``gbt.kernels.rows.derivatives``
    y           (n,)      float64   IN
    state       (n,)      float64   IN
    gradient    (n,)      float64   OUT
    hessian     (n,)      float64   OUT   None where it is 1 for all rows
    """
    if hessian is None:
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
def hessian_of(i, hessian):
    """Return the hessian of row i."""
    return 1.0 if hessian is None else hessian[i]


@forced_inline
def part_of(i, a, b, d, gradient, hessian):
    """Return a g + b h + d of row i; where h is 1 for all rows, d contains b."""
    return a * gradient[i] + (d if hessian is None else b * hessian[i] + d)


@forced_inline
def go_on(i, first, spot, kind, step, state):
    """Take the state of row i to the next tree; spots of this tree count from ``first``."""
    t = first + np.uint64(spot[i])
    if kind == HALF_LOGISTIC:
        odds = state[i] * step[t]
        state[i] = min(max(odds, 1.0 / MAX_ODDS), MAX_ODDS)
    else:
        state[i] += step[t]


@kernel
def add_up_rows(spots, kind, y, state, hessian, weight, sums):
    """Add w g, w h, w and 1 of every row to its spot, g and h at the prediction before the tree.

    Rows of one leaf often follow one another, and an addition would have to wait for the last one:
    that took as long as going down the tree. So each half of the rows adds up in a lane of its own.
    In deeper trees, which have many leaves, all rows add to the sums themselves.

    spots                    ``Spots``  IN     of the rows
    kind                     int64      IN     of loss
    y        (n,)            float64    IN
    state    (n,)            float64    INOUT  before the first tree, then after the last
    hessian  (n,)            float64    INOUT  memory; None where it is 1 for all rows
    weight   (n,)            float64    IN
    sums     (N + 16 M, 4)   float64    INOUT  of nodes and places
    """
    n, half = np.uint64(y.shape[0]), np.uint64(y.shape[0] // 2)
    gradient = np.empty(n)
    lanes = np.zeros((2, N_PLACES * N_SUMS))
    all_sums = sums.reshape(-1)
    for m in range(spots.tree_depth.shape[0]):
        spot, first = spots.of_row[m], spots.first[m]
        write_gradients(kind, y, state, gradient, hessian)
        own = all_sums[first * np.uint64(N_SUMS) :]
        is_shallow = spots.tree_depth[m] <= N_TOP
        a, b = (lanes[0], lanes[1]) if is_shallow else (own, own)
        for i in range(half):
            add_row(i, spot, weight, gradient, hessian, a)
            go_on(i, first, spot, kind, spots.step, state)
            add_row(i + half, spot, weight, gradient, hessian, b)
            go_on(i + half, first, spot, kind, spots.step, state)
        for i in range(half + half, n):
            add_row(i, spot, weight, gradient, hessian, a)
            go_on(i, first, spot, kind, spots.step, state)
        if is_shallow:
            for i in range(np.uint64(N_PLACES * N_SUMS)):
                own[i] += a[i] + b[i]
                a[i] = b[i] = 0.0


@forced_inline
def add_row(i, spot, weight, gradient, hessian, sums):
    """Add the four numbers of row i at its spot."""
    w = weight[i]
    to = np.uint64(spot[i]) * np.uint64(N_SUMS)
    add_four(sums, to, w * gradient[i], w * hessian_of(i, hessian), w, 1.0)


@internal
def find_ends(is_shallow, first, spot, end_of, end):
    """Write which of the eight nodes at depth 3 rows stand at or below.

    These are 64-bit numbers, as wide as what they select: with 32 bits that takes 1.3 to 1.7 times
    as long (znver3).

    first                 uint64     IN    of the tree's spots
    spot    (n,)          unsigned   IN
    end_of  (N + 16 M,)   uint8      IN    of nodes and places
    end     (n,)          int64      OUT
    """
    if is_shallow:
        for i in range(end.shape[0]):
            end[i] = np.int64(spot[i]) >> (N_TOP - N_WHOLE)
    else:
        for i in range(end.shape[0]):
            end[i] = end_of[first + np.uint64(spot[i])]


@internal
def add_parts_of_the_top(end, n_steps, feature, part, gradient, hessian, out):
    """Add the parts of the first three steps.

    end        (n,)        int64     IN     see ``find_ends``
    feature    (7,)        uint64    IN     of the seven nodes of a tree, depth by depth
    part       (7, 2, 3)   float64   IN     of the steps right and left
    gradient   (n,)        float64   IN
    hessian    (n,)        float64   IN     None where it is 1 for all rows
    out        (p, n)      float64   INOUT
    """
    for depth in range(n_steps):
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
def add_part(i, t, below, gradient, hessian, out):
    """Add what row i gets by the step to t."""
    # One by one: a view of the three would be reference-counted each time, by atomic operations.
    a, b, d = below.part[t, 0], below.part[t, 1], below.part[t, 2]
    out[below.feature[t], i] += part_of(i, a, b, d, gradient, hessian)


@internal
def add_parts_below(first, spot, n_steps, below, gradient, hessian, at, out):
    """Add the parts of the steps below depth 3, from every row's spot up.

    first               uint64     IN      of the tree's spots
    spot       (n,)     unsigned   IN
    n_steps             int64      IN      at least 1
    below               ``Below``  IN
    gradient   (n,)     float64    IN
    hessian    (n,)     float64    IN      None where it is 1 for all rows
    at         (n,)     uint64     memory
    out        (p, n)   float64    INOUT
    """
    n = np.uint64(at.shape[0])
    for i in range(n):
        at[i] = first + np.uint64(spot[i])
        add_part(i, at[i], below, gradient, hessian, out)
    for _ in range(n_steps - 1):
        for i in range(n):
            at[i] = below.up[at[i]]
            add_part(i, at[i], below, gradient, hessian, out)


@kernel
def add_parts(spots, kind, y, state, hessian, top, below, out):
    """Add up every row's parts along its paths, by feature; callers multiply by the weight.

    spots ... hessian                           see ``add_up_rows``
    top         a pair                 IN       of the depths 0 to 2 of all trees
      feature   (M, 7)        uint64            of their nodes, depth by depth
      part      (M, 7, 2, 3)  float64           a, b, d of the steps right and left; b + d in place
                                                of d where the hessian is None, in ``below``, too
    below                     ``Below``  IN
    out         (p, n)        float64    INOUT
    """
    (feature, part), n = top, y.shape[0]
    end, at, gradient = np.empty(n, np.int64), np.empty(n, np.uint64), np.empty(n)
    for m in range(spots.tree_depth.shape[0]):
        spot, first, n_steps = spots.of_row[m], spots.first[m], spots.tree_depth[m]
        write_gradients(kind, y, state, gradient, hessian)
        find_ends(n_steps <= N_TOP, first, spot, below.end, end)
        n_whole = min(n_steps, N_WHOLE)
        add_parts_of_the_top(end, n_whole, feature[m], part[m], gradient, hessian, out)
        if n_steps > N_WHOLE:
            n_below = n_steps - N_WHOLE
            add_parts_below(first, spot, n_below, below, gradient, hessian, at, out)
        for i in range(np.uint64(n)):
            go_on(i, first, spot, kind, spots.step, state)


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
