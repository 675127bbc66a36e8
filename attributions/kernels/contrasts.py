r"""What rows bring to every split: sums of their nodes, then each row's part in a function of them.

First every leaf adds up its rows, four numbers each: w g, w h, w and 1. Parents add up their
children. What is then worked out of a node t with children l and r, anything smooth in the sums of
validation rows, changes with a single row as its first derivatives say: a row that goes from t to
the child c moves it by

    w (a_c g + b_c h + d_c)

Walking down once more adds these up, row by row and feature by feature, and the weight of the row
multiplies the sums::

        t [3]            out[3, i] += a_l g_i + b_l h_i + d_l
       / \
      l   r

Derivatives are taken on the way, at the prediction before the tree. With the logistic loss they
follow from the odds e^f, and a leaf of value v multiplies the odds by e^v, a number of the leaf:
no row needs an exponential of its own, which would take as long as all the rest. Rounding adds up
to half an eps a tree.

`mean_ratio_of_subsets` returns a mean over all subsets of k rows without visiting any of them.
"""

import math

import numpy as np

from gbt.kernels.compiling import internal, kernel, step
from gbt.kernels.derivatives import HALF_LOGISTIC, write_derivatives
from gbt.kernels.descent import N_PLACES, N_TOP, go_down, go_down_the_top, takes_left
from gbt.kernels.instructions import add_four

N_SUMS = 4  # w g, w h, w, 1
N_TERMS = 3  # of g, of h, and neither
N_WHOLE = 3  # steps in which every node passes over all rows, see ``attributions.kernels.paths``

MAX_ODDS = 1e100  # beyond, and below its reciprocal, a prediction cannot get more certain


@internal
def write_gradients(kind, y, state, gradient, hessian):
    """Write the derivatives of the loss at every row's state: its odds, or its raw prediction.

    kind                  int64     IN    of loss, see ``gbt.kernels.derivatives``
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
            q = 1.0 / (1.0 + state[i])  # without a difference, hence exact for p near 0 and 1
            p = state[i] * q
            gradient[i] = (1.0 - y[i]) * p - y[i] * q
            hessian[i] = p * q
    else:
        write_derivatives(kind, y, state, gradient, hessian)


@step
def hessian_of(i, hessian):
    """Return the hessian of row i."""
    return 1.0 if hessian is None else hessian[i]


@step
def part_of(i, a, b, d, gradient, hessian):
    """Return a g + b h + d of row i; where h is 1 for all rows d has b in it."""
    return a * gradient[i] + (d if hessian is None else b * hessian[i] + d)


@internal
def go_on(kind, step, at, state):
    """Take every row's state to the next tree.

    step    (N + 16 M,)   float64    IN     of nodes and places: value, or e^value for odds
    at      (n,)          unsigned   IN     nodes or places
    state   (n,)          float64    INOUT
    """
    if kind == HALF_LOGISTIC:
        for i in range(state.shape[0]):
            odds = state[i] * step[at[i]]
            state[i] = min(max(odds, 1.0 / MAX_ODDS), MAX_ODDS)
    else:
        for i in range(state.shape[0]):
            state[i] += step[at[i]]


@kernel
def add_up_rows(X, links, step, kind, y, state, hessian, weight, sums):
    """Add w g, w h, w and 1 of every row to its leaf, g and h at the prediction before the tree.

    Rows of one leaf often follow one another, and an addition would have to wait for the last one:
    that took as long as going down. So each half of the rows adds up in a lane of its own. Of
    deeper trees, whose leaves are many, all rows add to the sums themselves.

    X        (2 p, n)        float64    IN     a transposed block, see ``gbt.predictor``
    links                    ``Links``  IN     of all M trees
    step     (N + 16 M,)     float64    IN     see ``go_on``
    kind                     int64      IN     of loss
    y        (n,)            float64    IN
    state    (n,)            float64    INOUT  before the first tree, then after the last
    hessian  (n,)            float64    INOUT  memory; None where it is 1 for all rows
    weight   (n,)            float64    IN
    sums     (N + 16 M, 4)   float64    INOUT  of nodes and places
    """
    n, half = np.uint64(y.shape[0]), np.uint64(y.shape[0] // 2)
    at, gradient = np.empty(n, links.node.dtype), np.empty(n)
    lanes = np.zeros((2, N_PLACES * N_SUMS))
    all_sums = sums.reshape(-1)
    for m in range(links.places.shape[0]):
        go_down(X, links, m, at)
        write_gradients(kind, y, state, gradient, hessian)
        is_shallow, first = links.levels[m] <= N_TOP, np.uint64(links.places[m])
        if not is_shallow:
            first = np.uint64(0)
        a, b = (lanes[0], lanes[1]) if is_shallow else (all_sums, all_sums)
        for i in range(half):
            add_row(i, at, first, weight, gradient, hessian, a)
            add_row(i + half, at, first, weight, gradient, hessian, b)
        for i in range(half + half, n):
            add_row(i, at, first, weight, gradient, hessian, a)
        if is_shallow:
            for i in range(np.uint64(N_PLACES * N_SUMS)):
                all_sums[first * np.uint64(N_SUMS) + i] += a[i] + b[i]
                a[i] = b[i] = 0.0
        go_on(kind, step, at, state)


@step
def add_row(i, at, first, weight, gradient, hessian, sums):
    """Add the four numbers of row i where it stands, counted from ``first``."""
    place, w = (np.uint64(at[i]) - first) * np.uint64(N_SUMS), weight[i]
    add_four(sums, place, w * gradient[i], w * hessian_of(i, hessian), w, 1.0)


@internal
def add_parts_of_the_top(at, first, n_steps, path_feature, path_part, gradient, hessian, out):
    """Add the parts of the first steps of rows whose places are known.

    at             (n,)          unsigned  IN     places
    first                        unsigned  IN     the tree's first place
    path_feature   (4, 16)       uint64    IN     by step and place, see ``add_parts``
    path_part      (4, 16, 3)    float64   IN
    gradient       (n,)          float64   IN
    hessian        (n,)          float64   IN     None where it is 1 for all rows
    out            (p, n)        float64   INOUT
    """
    for depth in range(min(n_steps, N_WHOLE)):
        width = N_PLACES >> depth  # of places below a node
        half, whole = at.dtype.type(width // 2), at.dtype.type(width)
        for start in range(0, N_PLACES, width):
            l, r = path_part[depth, start], path_part[depth, start + width - 1]
            la, lb, ld, ra, rb, rd = l[0], l[1], l[2], r[0], r[1], r[2]
            sums, of_node = out[path_feature[depth, start]], at.dtype.type(first + start)
            for i in range(at.shape[0]):
                place = at.dtype.type(at[i] - of_node)  # beyond the others where it lies before
                # To select one of two results takes less time than to select what they are made of.
                to_left = part_of(i, la, lb, ld, gradient, hessian)
                to_right = part_of(i, ra, rb, rd, gradient, hessian)
                moved = to_left if place < half else to_right
                sums[i] += moved if place < whole else 0.0
    for depth in range(N_WHOLE, n_steps):
        feature, part = path_feature[depth], path_part[depth]
        for i in range(at.shape[0]):
            place = at[i] - first
            a, b, d = part[place, 0], part[place, 1], part[place, 2]
            out[feature[place], np.uint64(i)] += part_of(i, a, b, d, gradient, hessian)


@kernel
def add_parts(X, links, step, kind, y, state, hessian, edges, paths, out):
    """Add up every row's parts along its paths, by feature, but for its weight.

    X ... hessian                                      see ``add_up_rows``
    edges       a pair                       IN        of nodes and places,
      feature   (N + 16 M,)       uint64               that the parts below belong to
      part      (N + 16 M, 2, 3)  float64              a, b, d of the steps right and left, b + d
                                                       in place of d where the hessian is None
    paths       a pair                       IN        the same of the first four steps of all trees
      feature   (M, 4, 16)        uint64               by step and by the place that it leads to
      part      (M, 4, 16, 3)     float64              0 below a leaf
    out         (p, n)            float64    INOUT
    """
    (feature, part), (path_feature, path_part) = edges, paths
    column, threshold, lower, sets = links.column, links.threshold, links.lower, links.sets
    n = np.uint64(y.shape[0])
    at, gradient = np.empty(n, links.node.dtype), np.empty(n)
    for m in range(links.places.shape[0]):
        n_steps = links.levels[m]
        write_gradients(kind, y, state, gradient, hessian)
        go_down_the_top(X, links, sets, m, at)
        add_parts_of_the_top(
            at, links.places[m], min(n_steps, N_TOP), path_feature[m], path_part[m], gradient,
            hessian, out,
        )  # fmt: skip
        for _ in range(n_steps - N_TOP):
            for i in range(n):
                t = at[i]
                side = takes_left(X[column[t], i], t, threshold, sets)
                # One by one: a view of the three would be counted, with the bus locked, each time.
                a, b, d = part[t, side, 0], part[t, side, 1], part[t, side, 2]
                out[feature[t], i] += part_of(i, a, b, d, gradient, hessian)
                at[i] = lower[t, side]
        go_on(kind, step, at, state)


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
