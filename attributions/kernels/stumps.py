r"""Linear models on the stumps of one tree: two passes over its nodes instead of a matrix.

Node t with the children l and r brings one column into the model, a stump: the number a_l for rows
that go left, a_r for those that go right, 0 for rows that do not come by. A row's fitted value is
the intercept plus stump times coefficient along its path, so it belongs to the row's leaf, and a
node has a fitted value, too::

        t  f_t                         f_l = f_t + a_l beta_t        f_root = intercept
       / \                             f_r = f_t + a_r beta_t
      l   r

The rows enter by sums over each leaf alone: A of their weights and B of weight times column, one B
for the response and one for every raw column. `smooth` minimises

    sum_i w_i (y_i - f(x_i))^2 + penalty * sum_t beta_t^2

for all columns at once. Upwards it removes beta_t, the way in which one removes an unknown from
normal equations: a quadratic in (f_l, f_r) becomes one in f_t, with weight A_t and sum B_t.

    u = a_l A_l + a_r A_r    v = a_l B_l + a_r B_r    d = penalty + a_l^2 A_l + a_r^2 A_r
    A_t = A_l + A_r - u^2/d           B_t = B_l + B_r - u v/d          beta_t = (v - u f_t)/d

Downwards it puts f_t in. This is exact for any weights, O(nodes) a column. `descend` is coordinate
descent for the elastic net, whose sweep over all stumps is one such pass, too.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.compiling import internal, kernel

MAX_SWEEPS = 5000


class Stumps(NamedTuple):
    """The stumps of one tree.

    left, right   (N,)     int64    children, after their parent; -1 at a leaf
    ends          (N, 2)   float64  a_l and a_r; 0 at a leaf and where a child weighs nothing
    """

    left: np.ndarray
    right: np.ndarray
    ends: np.ndarray


class Sums(NamedTuple):
    """What some rows tell a linear model: c columns, of which the first is the response.

    weight        (N,)     float64  at a leaf the sum of w; elsewhere 0
    columns       (N, c)   float64  at a leaf the sums of w times column; elsewhere 0
    gram          (c, c)   float64  sums of w times column times column
    """

    weight: np.ndarray
    columns: np.ndarray
    gram: np.ndarray


class Fits(NamedTuple):
    """P fits of the elastic net; of one of them, without the first axis.

    beta          (P, N)   float64  coefficients of the stumps, 0 at leaves
    value         (P, N)   float64  fitted values of the nodes, the root's being the intercept
    gamma         (P, c)   float64  raw coefficients, from 1; gamma[0] is 0
    """

    beta: np.ndarray
    value: np.ndarray
    gamma: np.ndarray


@kernel
def measure_columns(standardised, features, grown, centre, deviation):
    """Find the weighted mean and standard deviation of some columns.

    standardised  (p, n)   float64  IN
    features      (q,)     int64    IN   which
    grown         (n,)     float64  IN   weights
    centre        (q,)     float64  OUT
    deviation     (q,)     float64  OUT
    """
    total = grown.sum()
    for j in range(features.shape[0]):
        column, first, second = standardised[features[j]], 0.0, 0.0
        for i in range(grown.shape[0]):
            first += grown[i] * column[i]
        centre[j] = first / total
        for i in range(grown.shape[0]):
            second += grown[i] * (column[i] - centre[j]) ** 2
        deviation[j] = np.sqrt(second / total)


@kernel
def add_up_columns(rows, start, standardised, features, centre, columns, weighted, by_column):
    """Take a block of rows: its response and raw columns, and their sums over leaves.

    rows                            IN     leaves (n,) int32, weight (n,) and response (n,)
    start                  int64    IN     first row of the block
    standardised  (p, n)   float64  IN
    features      (q,)     int64    IN     the raw columns
    centre        (q,)     float64  IN     what is taken off them
    columns       (c, m)   float64  OUT    c = 1 + q columns of m rows
    weighted      (c, m)   float64  OUT    times weight
    by_column     (c, N)   float64  INOUT  sums over leaves of the latter
    """
    leaves, weight, response = rows
    for c in range(columns.shape[0]):
        source = response if c == 0 else standardised[features[c - 1]]
        less = 0.0 if c == 0 else centre[c - 1]
        into, times, sums = columns[c], weighted[c], by_column[c]
        for i in range(into.shape[0]):
            into[i] = source[start + i] - less
            times[i] = weight[start + i] * into[i]
        for i in range(into.shape[0]):
            sums[leaves[start + i]] += times[i]


@kernel
def smooth(stumps, weight, columns, penalty, value, variance, pull, share):
    """Fit the stumps to every column by least squares with a ridge penalty.

    Without a penalty a split one of whose sides has no weight is left out: the rows cannot tell its
    coefficient. ``variance`` times the weight of a row is its leverage, how far it moves its own
    fitted value.

    weight        (N,)     float64  IN   at leaves
    columns       (N, c)   float64  IN   at leaves
    penalty                float64  IN   0 or more
    value         (N, c)   float64  OUT  fitted values of nodes
    variance      (N,)     float64  OUT  of those, if rows had the variance 1 over their weight
    pull, share   (N,)     float64  OUT  u / d and 1 / d; 0 where there is no stump
    """
    n_nodes, n_columns = columns.shape
    A, B = weight.copy(), columns.copy()
    pull[:], share[:] = 0.0, 0.0
    for t in range(n_nodes - 1, -1, -1):
        l, r = stumps.left[t], stumps.right[t]
        if l < 0:
            continue
        a_l, a_r = stumps.ends[t, 0], stumps.ends[t, 1]
        u, d = a_l * A[l] + a_r * A[r], penalty + a_l * a_l * A[l] + a_r * a_r * A[r]
        if d > 0 and (penalty > 0 or (A[l] > 0 and A[r] > 0)):
            share[t], pull[t] = 1 / d, u / d
        A[t] = A[l] + A[r] - u * pull[t]
        for c in range(n_columns):
            B[t, c] = B[l, c] + B[r, c] - pull[t] * (a_l * B[l, c] + a_r * B[r, c])
    scale = 1 / A[0] if A[0] > 0 else 0.0
    variance[0] = scale
    for c in range(n_columns):
        value[0, c] = B[0, c] * scale
    for t in range(n_nodes):
        l, r = stumps.left[t], stumps.right[t]
        if l < 0:
            continue
        a_l, a_r = stumps.ends[t, 0], stumps.ends[t, 1]
        variance[l] = (1 - a_l * pull[t]) ** 2 * variance[t] + a_l * a_l * share[t]
        variance[r] = (1 - a_r * pull[t]) ** 2 * variance[t] + a_r * a_r * share[t]
        for c in range(n_columns):
            beta = share[t] * (a_l * B[l, c] + a_r * B[r, c]) - pull[t] * value[t, c]
            value[l, c] = value[t, c] + a_l * beta
            value[r, c] = value[t, c] + a_r * beta


@kernel
def project(stumps, weight, columns, penalty, explained):
    """Remove the stumps from the normal equations of all columns: the upward half of `smooth`.

    What stumps and intercept explain of the columns' products with one another is the sum over
    nodes of v v' / d, and B B' / A at the root: the product of ``explained`` with itself.

    weight        (N,)     float64  IN   at leaves
    columns       (N, c)   float64  IN   at leaves
    penalty                float64  IN   0 or more
    explained     (L, c)   float64  OUT  v / sqrt(d) of the L - 1 splits, at last B / sqrt(A) of the
                                         root; L leaves
    """
    n_nodes, n_columns = columns.shape
    A, B, at = weight.copy(), columns.copy(), 0
    for t in range(n_nodes - 1, -1, -1):
        l, r = stumps.left[t], stumps.right[t]
        if l < 0:
            continue
        a_l, a_r = stumps.ends[t, 0], stumps.ends[t, 1]
        u, d = a_l * A[l] + a_r * A[r], penalty + a_l * a_l * A[l] + a_r * a_r * A[r]
        pull, root = 0.0, 0.0
        if d > 0 and (penalty > 0 or (A[l] > 0 and A[r] > 0)):
            pull, root = u / d, 1 / np.sqrt(d)
        A[t] = A[l] + A[r] - u * pull
        of_l, of_r, of_t, out, at = B[l], B[r], B[t], explained[at], at + 1
        for c in range(n_columns):
            v = a_l * of_l[c] + a_r * of_r[c]
            of_t[c] = of_l[c] + of_r[c] - pull * v
            out[c] = root * v
    root = 1 / np.sqrt(A[0]) if A[0] > 0 else 0.0
    for c in range(n_columns):
        explained[at, c] = root * B[0, c]


@internal
def shrunk(gradient, l1):
    """Move a number towards 0 by l1, and not beyond."""
    if gradient > l1:
        return gradient - l1
    return gradient + l1 if gradient < -l1 else 0.0


@internal
def sweep_stumps(stumps, inner, squares, total, l1, l2, beta, left_over):
    """Improve every stump's coefficient and the intercept once, from the leaves to the root.

    ``left_over`` holds at a leaf its sum of w times residual, and at a node, once it is passed,
    that of its rows. A stump that changes takes its part from both children, whose rows need not
    be visited. Returns the intercept's change and the largest d_t (change of beta_t)^2.

    inner         (S,)   int64    IN     nodes with a stump or none, ascending
    squares       (N,)   float64  IN     d_t, a stump's weighted sum of squares
    total         (N,)   float64  IN     weights of all nodes
    l1, l2               float64  IN     penalties, times the sum of the weights
    beta          (N,)   float64  INOUT
    left_over     (N,)   float64  INOUT
    """
    largest = 0.0
    for j in range(inner.shape[0] - 1, -1, -1):
        t = inner[j]
        l, r, d = stumps.left[t], stumps.right[t], squares[t]
        left_over[t] = left_over[l] + left_over[r]
        if d > 0:
            a_l, a_r = stumps.ends[t, 0], stumps.ends[t, 1]
            gradient = a_l * left_over[l] + a_r * left_over[r] + d * beta[t]
            change = shrunk(gradient, l1) / (d + l2) - beta[t]
            if change != 0.0:
                beta[t] += change
                left_over[t] -= change * (a_l * total[l] + a_r * total[r])
                largest = max(largest, d * change * change)
    change = left_over[0] / total[0] if total[0] > 0 else 0.0
    return change, max(largest, total[0] * change * change)


@internal
def put_values(stumps, inner, beta, value):
    """Give every node its fitted value from the root's."""
    for j in range(inner.shape[0]):
        t = inner[j]
        value[stumps.left[t]] = value[t] + stumps.ends[t, 0] * beta[t]
        value[stumps.right[t]] = value[t] + stumps.ends[t, 1] * beta[t]


@internal
def sweep_raw(gram, by_leaf, leaf, l1, l2, value, gamma, pulled, against):
    """Improve every raw column's coefficient once; returns the largest d_k (change)^2.

    by_leaf       (L, c)   float64  IN     sums of the leaves
    value         (N,)     float64  IN     fitted values of the stumps
    gamma         (c,)     float64  INOUT  coefficients; that of column 0 stays 0
    pulled        (c,)     float64  INOUT  gram times gamma
    against       (c,)     float64  OUT    room
    """
    n_columns = gamma.shape[0]
    for c in range(n_columns):
        against[c] = gram[0, c]
    for j in range(leaf.shape[0]):
        f, own = value[leaf[j]], by_leaf[j]
        for c in range(n_columns):
            against[c] -= f * own[c]
    largest = 0.0
    for c in range(1, n_columns):
        d = gram[c, c]
        if d > 0:
            gradient = against[c] - pulled[c] + d * gamma[c]
            change = shrunk(gradient, l1) / (d + l2) - gamma[c]
            if change != 0.0:
                gamma[c] += change
                largest = max(largest, d * change * change)
                row = gram[c]
                for other in range(n_columns):
                    pulled[other] += change * row[other]
    return largest


@kernel
def weigh_stumps(stumps, total):
    """Return the inner nodes, and every stump's weighted sum of squares."""
    inner = np.flatnonzero(stumps.left >= 0)
    squares = np.zeros(total.shape[0])
    for t in inner:
        a_l, a_r = stumps.ends[t, 0], stumps.ends[t, 1]
        squares[t] = a_l * a_l * total[stumps.left[t]] + a_r * a_r * total[stumps.right[t]]
    return inner, squares


@kernel
def descend(stumps, sums, total, l1, l2, tolerance, begin, found):
    """Minimise the elastic net for one penalty after the other, each from where the last one ended.

        sum_i w_i (y_i - f(x_i) - x_i gamma)^2 / 2 + l1 |beta, gamma|_1 + l2 |beta, gamma|_2^2 / 2

    total         (N,)     float64  IN   weights of all nodes
    l1, l2        (P,)     float64  IN   times the sum of the weights
    tolerance              float64  IN   stop when no coefficient changes the sum of squares by more
    begin                           IN   one of `Fits`, where the first begins
    found                           OUT  `Fits`
    """
    n_nodes, n_columns = sums.columns.shape
    inner, squares = weigh_stumps(stumps, total)
    leaf = np.flatnonzero(stumps.left < 0)
    by_leaf = sums.columns[leaf]  # rows and columns side by side: sums over both are vectors
    by_column, weight = by_leaf.T.copy(), sums.weight[leaf]
    left_over, rest = np.zeros(n_nodes), np.empty(leaf.shape[0])
    against = np.empty(n_columns)
    b, f, g = begin.beta.copy(), begin.value.copy(), begin.gamma.copy()
    pulled = sums.gram @ g
    put_values(stumps, inner, b, f)
    for step in range(l1.shape[0]):
        for _ in range(MAX_SWEEPS):
            rest[:] = by_column[0]
            for c in range(1, n_columns):
                own, by = by_column[c], g[c]
                if by != 0.0:
                    for j in range(rest.shape[0]):
                        rest[j] -= by * own[j]
            for j in range(rest.shape[0]):
                left_over[leaf[j]] = rest[j] - weight[j] * f[leaf[j]]
            change, largest = sweep_stumps(
                stumps, inner, squares, total, l1[step], l2[step], b, left_over
            )
            f[0] += change
            put_values(stumps, inner, b, f)
            if n_columns > 1:
                of_raw = sweep_raw(
                    sums.gram, by_leaf, leaf, l1[step], l2[step], f, g, pulled, against
                )
                largest = max(largest, of_raw)
            if largest <= tolerance:
                break
        found.beta[step], found.value[step], found.gamma[step] = b, f, g


@kernel
def losses_of(sums, leaf, value, gamma):
    """Return sums of w (y - f - x gamma)^2 over the rows that some sums were taken of.

    leaf          (L,)     int64    IN
    value         (P, N)   float64  IN   of P models
    gamma         (P, c)   float64  IN
    """
    n_columns = gamma.shape[1]
    losses, rest = np.zeros(len(value)), np.empty(n_columns)
    for step in range(len(value)):
        by = gamma[step].copy()
        by[0] = -1.0  # sums are of -(residual)
        loss = 0.0
        for c in range(n_columns):
            rest[c] = 0.0
        for c in range(n_columns):
            for other in range(n_columns):
                rest[other] += by[c] * sums.gram[c, other]
        for j in range(leaf.shape[0]):
            f, own = value[step, leaf[j]], sums.columns[leaf[j]]
            loss += f * f * sums.weight[leaf[j]]
            for c in range(n_columns):
                rest[c] += 2 * f * own[c]
        for c in range(n_columns):
            loss += by[c] * rest[c]
        losses[step] = max(loss, 0.0)
    return losses


@kernel
def add_raw_columns(X, first, columns, mean, row_weight, out):
    """Add what raw columns contribute, tree by tree; a missing value counts as the mean.

    X             (2, p, n)  float64  IN     a block from ``gbt.predictor.transposed``
    first         (T + 1,)   int64    IN     where the columns of each tree begin
    columns                           IN     records with feature, slope and centre
    mean          (p,)       float64  IN     of the training rows
    row_weight    (T, n)     float64  IN
    out           (p, n)     float64  INOUT
    """
    for m in range(row_weight.shape[0]):
        weight = row_weight[m]
        for j in range(first[m], first[m + 1]):
            k, slope, centre = columns[j].feature, columns[j].slope, columns[j].centre
            x, credit, of_missing = X[0, k], out[k], mean[k]
            for i in range(weight.shape[0]):
                value = x[i] if x[i] == x[i] else of_missing
                credit[i] += weight[i] * (slope * (value - centre))


@kernel
def trace_rows(stumps, paths, fitted, leaves, gamma, own):
    """Say how much each block of columns has in the own say of every row in its fitted value.

    Row i pulls its fitted value by x_i' J^-1 x_i, J the normal equations with the penalty. Its
    solution J^-1 x_i is a fit to a response that is 1 in the row's leaf alone, less what its raw
    coefficients take; of it the stumps on the row's path are needed, and no others.

    paths                           IN   parent (N,) int64 and slot (N,) int64, a stump's block
    fitted                          IN   of `smooth`: value (N, q) of the raw columns, pull, share
                                         and the root's variance
    leaves        (n,)     int32    IN
    gamma         (n, q)   float64  IN   raw part of J^-1 x_i; q may be 0
    own           (n, K+1) float64  OUT  by block, and the intercept's in the last place
    """
    parent, slot = paths
    value, pull, share, of_root = fitted
    way, reached = np.empty(parent.shape[0], np.int64), np.empty(parent.shape[0])
    for i in range(leaves.shape[0]):
        own[i] = 0.0
        node, unit, depth = np.int64(leaves[i]), 1.0, 0
        while parent[node] >= 0:  # the sum B of the response, going up
            way[depth], reached[depth] = node, unit
            t = parent[node]
            a = stumps.ends[t, 0] if stumps.left[t] == node else stumps.ends[t, 1]
            unit -= pull[t] * a * unit
            node, depth = t, depth + 1
        fit = unit * of_root
        own[i, own.shape[1] - 1] = fit
        for c in range(gamma.shape[1]):
            own[i, own.shape[1] - 1] -= value[0, c] * gamma[i, c]
        for step in range(depth - 1, -1, -1):
            node = way[step]
            t = parent[node]
            a = stumps.ends[t, 0] if stumps.left[t] == node else stumps.ends[t, 1]
            part = a * (share[t] * a * reached[step] - pull[t] * fit)
            fit += part
            for c in range(gamma.shape[1]):
                part -= (value[node, c] - value[t, c]) * gamma[i, c]
            own[i, slot[t]] += part


@kernel
def add_ranks(values, ranks):
    """Add each row's ranks of absolute values, from 0 (least) to p - 1; equal ones share a mean.

    values        (p, n)   float64  IN
    ranks         (p, n)   float64  INOUT
    """
    p = values.shape[0]
    size, which = np.empty(p), np.empty(p, np.int64)
    for i in range(values.shape[1]):
        n_found = 0
        for k in range(p):  # most features are absent from most trees: sort the others only
            magnitude = abs(values[k, i])
            if magnitude > 0.0:
                j = n_found
                while j > 0 and size[j - 1] > magnitude:
                    size[j], which[j] = size[j - 1], which[j - 1]
                    j -= 1
                size[j], which[j] = magnitude, k
                n_found += 1
        n_absent = p - n_found
        for k in range(p):
            if values[k, i] == 0.0:
                ranks[k, i] += (n_absent - 1) / 2
        first = 0
        while first < n_found:
            last = first
            while last + 1 < n_found and size[last + 1] == size[first]:
                last += 1
            for j in range(first, last + 1):
                ranks[which[j], i] += n_absent + (first + last) / 2
            first = last + 1
