r"""Linear models on the stumps of one tree: two passes over its nodes instead of a matrix.

Node t with the children l and r is one column of the model, a stump: the number a_l for rows that
go left, a_r for those that go right, 0 for rows that do not reach t. A row's fitted value is the
intercept plus stump times coefficient along its path. So all rows of a leaf have the same fitted
value, and inner nodes have one, too::

        t  f_t                         f_l = f_t + a_l beta_t        f_root = intercept
       / \                             f_r = f_t + a_r beta_t
      l   r

The rows enter by sums over each leaf alone: A of their weights and B of weight times column, one B
for the response and one for every raw column. `smooth` minimises

    sum_i w_i (y_i - f(x_i))^2 + penalty * sum_t beta_t^2

for all columns at once. Upwards it eliminates beta_t, as one eliminates an unknown from normal
equations: a quadratic in (f_l, f_r) becomes one in f_t, with weight A_t and sum B_t.

    u = a_l A_l + a_r A_r    v = a_l B_l + a_r B_r    d = penalty + a_l^2 A_l + a_r^2 A_r
    A_t = A_l + A_r - u^2/d           B_t = B_l + B_r - u v/d          beta_t = (v - u f_t)/d

Downwards it puts f_t in. This is exact for any weights, O(nodes) a column. The elastic net has such
passes, too (`attributions.kernels.elastic_net`).
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import kernel, uncounted


class Stumps(NamedTuple):
    """The stumps of one tree.

    left, right   (N,)     int64    children, after their parent; -1 at a leaf
    ends          (N, 2)   float64  a_l and a_r; 0 at a leaf and where a child weighs nothing
    """

    left: np.ndarray
    right: np.ndarray
    ends: np.ndarray


class StumpSums(NamedTuple):
    """Sums over some rows for a linear model: c columns, of which the first is the response.

    weight        (N,)     float64  sum of w in every node
    columns       (N, c)   float64  sums of w times column in every node
    gram          (c, c)   float64  sums of w times column times column

    Of T folds, each has T as its first axis.
    """

    weight: np.ndarray
    columns: np.ndarray
    gram: np.ndarray

    def of_fold(self, fold: int) -> "StumpSums":
        """Return the sums of one fold of several."""
        return StumpSums(self.weight[fold], self.columns[fold], self.gram[fold])


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


@uncounted
def add_up_columns(rows, start, standardised, features, units, columns, weighted, sums):
    """Write response and raw columns of a block of rows, and add up their sums over leaves.

    rows                            IN     leaves (n,) int32, weight (n,) and response (n,)
    start                  int64    IN     first row of the block
    standardised  (p, n)   float64  IN
    features      (q,)     int64    IN     the raw columns
    units                           IN     centre (q,) and factor (q,): what is taken off, and then
                                           multiplied by
    columns       (m, c)   float64  OUT    m rows of c = 1 + q columns
    weighted      (m, c)   float64  OUT    times weight
    sums          (N, c)   float64  INOUT  sums over leaves of the latter
    """
    leaves, weight, response = rows
    centre, factor = units
    for i in range(columns.shape[0]):
        columns[i, 0] = response[start + i]
    for k in range(features.shape[0]):
        source = standardised[features[k]]
        for i in range(columns.shape[0]):
            columns[i, 1 + k] = factor[k] * (source[start + i] - centre[k])
    for i in range(columns.shape[0]):
        own, times, total, w = columns[i], weighted[i], sums[leaves[start + i]], weight[start + i]
        for c in range(own.shape[0]):
            times[c] = w * own[c]
            total[c] += times[c]


@uncounted
def predict_rows(leaves, standardised, features, centre, slope, value, predictor):
    """Predict rows: the fitted value of the leaf, and what the raw columns add.

    leaves        (n,)     int32    IN
    standardised  (p, n)   float64  IN
    features      (q,)     int64    IN   the raw columns
    centre, slope (q,)     float64  IN   what is taken off them, and then multiplied by
    value         (N,)     float64  IN   fitted values of nodes
    predictor     (n,)     float64  OUT
    """
    for i in range(leaves.shape[0]):
        predictor[i] = value[leaves[i]]
    for k in range(features.shape[0]):
        column = standardised[features[k]]
        for i in range(leaves.shape[0]):
            predictor[i] += slope[k] * (column[i] - centre[k])


@uncounted
def smooth(stumps, A, B, penalty, value, variance, pull, share):
    """Fit the stumps to every column by least squares with a ridge penalty.

    Without a penalty, a split one of whose children has weight 0 is left out, because rows do not
    determine its coefficient. ``variance`` times the weight of a row is its leverage, how far it
    moves its own fitted value.

    A             (N,)     float64  INOUT  weight; given at leaves
    B             (N, c)   float64  INOUT  sums of weight times column; given at leaves
    penalty                float64  IN   0 or more
    value         (N, c)   float64  OUT  fitted values of nodes
    variance      (N,)     float64  OUT  of those, if rows had the variance 1 over their weight
    pull, share   (N,)     float64  OUT  u / d and 1 / d; 0 where there is no stump
    """
    n_nodes, n_columns = B.shape
    for t in range(n_nodes - 1, -1, -1):
        l, r = stumps.left[t], stumps.right[t]
        pull[t] = share[t] = 0.0
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


@uncounted
def project(stumps, A, B, penalty, explained):
    """Eliminate the stumps from the normal equations of all columns: the upward half of `smooth`.

    What stumps and intercept explain of the columns' products with one another is the sum over
    nodes of v v' / d, and B B' / A at the root: the product of ``explained`` with itself.

    A, B                            INOUT  as in `smooth`
    penalty                float64  IN   0 or more
    explained     (L, c)   float64  OUT  v / sqrt(d) of the L - 1 splits, at last B / sqrt(A) of the
                                         root; L leaves
    """
    (n_nodes, n_columns), at = B.shape, 0
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


@uncounted
def add_raw_columns(X, first, columns, mean, row_weight, out):
    """Add what raw columns contribute, tree by tree; a missing value counts as the mean.

    X             (2, p, n)  float64  IN     a block from ``gbt.model.predictor.transposed``
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
    """Compute each block's part of how far every row of weight 1 moves its own fitted value.

    Row i moves it by x_i' J^-1 x_i, J the normal equations with the penalty. Its
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
