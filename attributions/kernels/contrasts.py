r"""What rows bring to every split: sums of their nodes, then each row's part in a function of them.

First every leaf adds up its rows, four numbers each: w g, w h, w and 1. Parents add up their
children. What is then worked out of a node t with children l and r, anything smooth in the sums of
validation rows, changes with a single row as its first derivatives say: a row that goes from t to
the child c moves it by

    w (a_c g + b_c h + d_c)

Walking down once more adds these up, row by row and feature by feature::

        t [3]            out[3, i] += w_i (a_l g_i + b_l h_i + d_l)
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

from gbt.kernels.compiling import internal, kernel
from gbt.kernels.derivatives import HALF_LOGISTIC, write_derivatives
from gbt.kernels.descent import N_PLACES, N_TOP, go_down, go_down_the_top, takes_left

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
    hessian     (n,)      float64   OUT
    """
    if kind == HALF_LOGISTIC:
        for i in range(y.shape[0]):
            q = 1.0 / (1.0 + state[i])  # without a difference, hence exact for p near 0 and 1
            p = state[i] * q
            gradient[i] = (1.0 - y[i]) * p - y[i] * q
            hessian[i] = p * q
    else:
        write_derivatives(kind, y, state, gradient, hessian)


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
def add_up_rows(X, links, step, kind, y, weight, state, sums):
    """Add w g, w h, w and 1 of every row to its leaf, g and h at the prediction before the tree.

    X        (2 p, n)        float64    IN     a transposed block, see ``gbt.predictor``
    links                    ``Links``  IN     of all M trees
    step     (N + 16 M,)     float64    IN     see ``go_on``
    kind                     int64      IN     of loss
    y        (n,)            float64    IN
    weight   (n,)            float64    IN
    state    (n,)            float64    INOUT  before the first tree, then after the last
    sums     (N + 16 M, 4)   float64    INOUT  of nodes and places
    """
    at = np.empty(y.shape[0], links.node.dtype)
    gradient, hessian = np.empty(y.shape[0]), np.empty(y.shape[0])
    for m in range(links.places.shape[0]):
        go_down(X, links, m, at)
        write_gradients(kind, y, state, gradient, hessian)
        for i in range(y.shape[0]):
            t, w = at[i], weight[i]
            sums[t, 0] += w * gradient[i]
            sums[t, 1] += w * hessian[i]
            sums[t, 2] += w
            sums[t, 3] += 1.0
        go_on(kind, step, at, state)


@internal
def list_parts(root, lower, feature, part, path_feature, path_part):
    """Write down what the first four steps to every place of a tree add, and to which feature.

    path_feature   (4, 16)      uint64    OUT   by step and place
    path_part      (4, 16, 3)   float64   OUT   0 below a leaf
    """
    for place in range(N_PLACES):
        t = root
        for step in range(N_TOP):
            side = np.uint64(~place >> (N_TOP - 1 - step) & 1)  # 1 is left, which is bit 0
            path_feature[step, place] = feature[t]
            for j in range(N_TERMS):
                path_part[step, place, j] = part[t, side, j]
            t = lower[t, side]


@internal
def add_parts_of_the_top(at, first, n_steps, path_feature, path_part, of_row, out):
    """Add the parts of the first steps of rows whose places are known.

    at             (n,)     unsigned  IN     places
    first                   unsigned  IN     the tree's first place
    path_feature, path_part                  see ``list_parts``
    of_row         (3, n)   float64   IN     w g, w h and w
    out            (p, n)   float64   INOUT
    """
    wg, wh, w = of_row[0], of_row[1], of_row[2]
    for step in range(min(n_steps, N_WHOLE)):
        width = N_PLACES >> step  # of places below a node
        half, whole = at.dtype.type(width // 2), at.dtype.type(width)
        for start in range(0, N_PLACES, width):
            l, r = path_part[step, start], path_part[step, start + width - 1]
            la, lb, ld, ra, rb, rd = l[0], l[1], l[2], r[0], r[1], r[2]
            sums, of_node = out[path_feature[step, start]], at.dtype.type(first + start)
            for i in range(at.shape[0]):
                place = at.dtype.type(at[i] - of_node)  # beyond the others where it lies before
                is_left = place < half
                a = la if is_left else ra
                b = lb if is_left else rb
                d = ld if is_left else rd
                sums[i] += a * wg[i] + b * wh[i] + d * w[i] if place < whole else 0.0
    for step in range(N_WHOLE, n_steps):
        feature, part = path_feature[step], path_part[step]
        for i in range(at.shape[0]):
            place = at[i] - first
            a, b, d = part[place, 0], part[place, 1], part[place, 2]
            out[feature[place], np.uint64(i)] += a * wg[i] + b * wh[i] + d * w[i]


@kernel
def add_parts(X, links, step, kind, y, weight, state, edges, out):
    """Add up every row's parts along its paths, by feature.

    X ... state                                        see ``add_up_rows``
    edges       a pair                       IN        of nodes and places,
      feature   (N + 16 M,)       uint64               that the parts below belong to
      part      (N + 16 M, 2, 3)  float64              a, b, d of the steps right and left
    out         (p, n)            float64    INOUT
    """
    feature, part = edges
    column, threshold, lower, sets = links.column, links.threshold, links.lower, links.sets
    n = y.shape[0]
    at = np.empty(n, links.node.dtype)
    gradient, hessian = np.empty(n), np.empty(n)
    of_row = np.empty((N_TERMS, n))
    of_row[2] = weight
    path_feature = np.empty((N_TOP, N_PLACES), np.uint64)
    path_part = np.empty((N_TOP, N_PLACES, N_TERMS), np.float64)
    for m in range(links.places.shape[0]):
        n_steps = links.levels[m]
        write_gradients(kind, y, state, gradient, hessian)
        for i in range(n):
            of_row[0, i] = weight[i] * gradient[i]
            of_row[1, i] = weight[i] * hessian[i]
        go_down_the_top(X, links, sets, m, at)
        list_parts(links.roots[m], lower, feature, part, path_feature, path_part)
        add_parts_of_the_top(
            at, links.places[m], min(n_steps, N_TOP), path_feature, path_part, of_row, out
        )
        for _ in range(n_steps - N_TOP):
            for i in range(n):
                t, row = at[i], np.uint64(i)
                side = takes_left(X[column[t], row], t, threshold, sets)
                own = part[t, side]
                out[feature[t], row] += (
                    own[0] * of_row[0, row] + own[1] * of_row[1, row] + own[2] * of_row[2, row]
                )
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
