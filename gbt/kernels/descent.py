r"""All rows of a block go down one tree together, level by level, without a branch.

A row that follows ``if x <= threshold`` on its own makes the processor guess at every node, and it
guesses wrong half of the time. Here every row of a block takes its step in the same loop, and a
step is a look-up: ``lower[t, 1]`` is the node left of t, ``lower[t, 0]`` the one right of it, both
counted through all trees, so that

    t_next = lower[t, x[t's feature] <= t's threshold]

A leaf is its own left and right, hence a tree of L levels takes L steps whatever its shape::

        a           node          a   b   d   e   c
       / \          lower[t, 1]   b   d   d   e   c
      b   c         lower[t, 0]   c   e   d   e   c
     / \
    d   e

All rows meet the same nodes at the top. There the comparisons of the seven nodes a to g are made
for every row, and a row selects among the eight results in registers: three levels for less than
the price of one step.

Rows of float32 are compared as such, twice as many at once, with thresholds rounded down to that:
no float32 number lies between the two. Their nodes have numbers of 32 bits.

Blocks are transposed: a feature's values lie side by side. A block holds every feature twice, with
a missing value as nan and as -inf, of which the first is in no ``x <= threshold`` and the second in
all; ``column`` says which of the two a node compares. Steps are unsigned numbers because Numba
checks signed indices for being negative at every look-up (twice the time).

Cost, 512 rows and one thread: 0.25 ns a row for three levels, 0.65 for four, 1 for each that
follows.
"""

import numpy as np

from gbt.kernels.compiling import kernel


@kernel
def link_nodes(tree_offset, feature, left, right, missing_left, n_features, column, lower, levels):
    """Prepare the nodes of all trees for going down in steps.

    tree_offset    (M + 1,)      int64   IN
    feature ...    (n_nodes,)            IN   the node arrays of ``Ensemble``
    n_features                   int64   IN   p
    column         (n_nodes,)    uint64  OUT  where a block has the values that a node compares
    lower          (n_nodes, 2)  uint64  OUT  the nodes right and left of it; at a leaf, itself
    levels         (M,)          int64   OUT  steps from the root to the lowest leaf
    """
    depth = np.zeros(feature.shape[0], np.int64)
    for m in range(tree_offset.shape[0] - 1):
        root = tree_offset[m]
        levels[m] = 0
        for node in range(root, tree_offset[m + 1]):
            levels[m] = max(levels[m], depth[node])
            l, r = node, node
            column[node] = 0
            if left[node] >= 0:
                l, r = root + left[node], root + right[node]
                depth[l] = depth[r] = depth[node] + 1
                column[node] = feature[node] + (n_features if missing_left[node] else 0)
            lower[node, 1], lower[node, 0] = l, r


@kernel
def three_levels_down(X, a, column, threshold, lower, label, at):
    """Write the label of the node that each row reaches three levels below node ``a``.

    All in one function: handing the loop its seven arrays costs as much as the loop takes for 100
    rows. Arguments as in `four_levels_down`.
    """
    b, c = lower[a, 1], lower[a, 0]
    d, e, f, g = lower[b, 1], lower[b, 0], lower[c, 1], lower[c, 0]
    x_a, x_b, x_c = X[column[a]], X[column[b]], X[column[c]]
    x_d, x_e, x_f, x_g = X[column[d]], X[column[e]], X[column[f]], X[column[g]]
    t_a, t_b, t_c = threshold[a], threshold[b], threshold[c]
    t_d, t_e, t_f, t_g = threshold[d], threshold[e], threshold[f], threshold[g]
    d_1, d_0, e_1, e_0 = lower[d, 1], lower[d, 0], lower[e, 1], lower[e, 0]
    f_1, f_0, g_1, g_0 = lower[f, 1], lower[f, 0], lower[g, 1], lower[g, 0]
    d_1, d_0, e_1, e_0 = label[d_1], label[d_0], label[e_1], label[e_0]
    f_1, f_0, g_1, g_0 = label[f_1], label[f_0], label[g_1], label[g_0]
    for i in range(at.shape[0]):
        below_d = d_1 if x_d[i] <= t_d else d_0
        below_e = e_1 if x_e[i] <= t_e else e_0
        below_f = f_1 if x_f[i] <= t_f else f_0
        below_g = g_1 if x_g[i] <= t_g else g_0
        below_b = below_d if x_b[i] <= t_b else below_e
        below_c = below_f if x_c[i] <= t_c else below_g
        at[i] = below_b if x_a[i] <= t_a else below_c


@kernel
def four_levels_down(X, root, n_levels, column, threshold, lower, label, sides, at):
    """Write the label of the node that each row reaches four levels below a root.

    X           (2 p, n)       float64  IN   a block as made by ``gbt.ensemble.transposed``
    root                       uint64   IN
    n_levels                   int64    IN   of this tree
    column      (n_nodes,)     uint64   IN   from `link_nodes`
    threshold   (n_nodes,)     float64  IN
    lower       (n_nodes, 2)   uint64   IN   from `link_nodes`
    label       (n_nodes,)     uint64   IN
    sides       (2, n)         uint64   OUT  scratch
    at          (n,)           uint64   OUT

    Or else X and ``threshold`` are float32, and ``label``, ``sides`` and ``at`` uint32, here and
    in what follows.
    """
    if n_levels < 4:
        three_levels_down(X, root, column, threshold, lower, label, at)
        return
    left, right = sides[1], sides[0]
    three_levels_down(X, lower[root, 1], column, threshold, lower, label, left)
    three_levels_down(X, lower[root, 0], column, threshold, lower, label, right)
    x, t = X[column[root]], threshold[root]
    for i in range(at.shape[0]):
        below_left, below_right = left[i], right[i]  # read both, or nothing is vectorised
        at[i] = below_left if x[i] <= t else below_right


@kernel
def go_down(X, root, n_levels, column, threshold, lower, itself, sides, at):
    """Write the leaf that each row reaches, counted through all trees.

    itself      (n_nodes,)     uint64   IN   0, 1, 2 ..., the labels of `four_levels_down`
    """
    four_levels_down(X, root, n_levels, column, threshold, lower, itself, sides, at)
    for _ in range(n_levels - 4):
        for i in range(at.shape[0]):
            t = at[i]
            at[i] = lower[t, np.uint64(X[column[t], np.uint64(i)] <= threshold[t])]


@kernel
def find_leaves(X, roots, levels, column, threshold, lower, itself, leaves):
    """Write the leaf that each row reaches in each tree, counted through all trees.

    X               (2 p, n)   float64  IN   a transposed block
    roots           (T,)       uint64   IN
    levels          (T,)       int64    IN
    column ...      (n_nodes,)          IN   as in `go_down`
    leaves          (T, n)     uint64   OUT  like ``itself``, uint32 for float32
    """
    sides = np.empty((2, X.shape[1]), itself.dtype)
    for m in range(roots.shape[0]):
        go_down(X, roots[m], levels[m], column, threshold, lower, itself, sides, leaves[m])


@kernel
def add_leaf_values(X, roots, levels, column, threshold, lower, itself, value, out):
    """Add to each row's ``out`` the values of the leaves that it reaches, tree by tree.

    X               (2 p, n)    float64  IN     a transposed block
    roots, levels   (T,)                 IN     as in `find_leaves`
    column ...      (n_nodes,)           IN     as in `go_down`
    value           (n_nodes,)  float64  IN
    out             (n,)        float64  INOUT
    """
    sides = np.empty((2, X.shape[1]), itself.dtype)
    at = np.empty(X.shape[1], itself.dtype)
    for m in range(roots.shape[0]):
        go_down(X, roots[m], levels[m], column, threshold, lower, itself, sides, at)
        for i in range(out.shape[0]):
            out[i] += value[at[i]]


@kernel
def add_selected_values(X, roots, levels, column, threshold, lower, value, out):
    """Do what ``add_leaf_values`` does for trees of at most four levels and rows of float64.

    The labels are the values themselves: no look-up for each row, .87 of the time. With float32 a
    label of 64 bits would take longer than the look-up.
    """
    sides = np.empty((2, X.shape[1]), np.uint64)
    at = np.empty(X.shape[1], np.uint64)
    bits, selected = value.view(np.uint64), at.view(np.float64)
    for m in range(roots.shape[0]):
        four_levels_down(X, roots[m], levels[m], column, threshold, lower, bits, sides, at)
        for i in range(out.shape[0]):
            out[i] += selected[i]


@kernel
def add_in_order(value, leaves, raw_prediction, before):
    """Add leaf values tree by tree, and keep what the prediction was before every tree.

    value            (n_nodes,)  float64  IN
    leaves           (T, n)      uint     IN     from `find_leaves`
    raw_prediction   (n,)        float64  INOUT  before the first tree; then after the last
    before           (T, n)      float64  OUT
    """
    for m in range(leaves.shape[0]):
        for i in range(leaves.shape[1]):
            before[m, i] = raw_prediction[i]
            raw_prediction[i] += value[leaves[m, i]]
