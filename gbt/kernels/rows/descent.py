r"""All rows of a block go down one tree together, step by step, without a branch.

A row that follows ``if x <= threshold`` on its own makes the processor guess at every node, and it
guesses wrong half of the time. Here every row of a block takes its step in the same loop, and a
step is a look-up: ``lower[t, 1]`` is the node left of t, ``lower[t, 0]`` the one right of it, both
counted through all trees, so that

    t_next = lower[t, x[t's feature] <= t's threshold]

A leaf is its own left and right, hence a tree of depth D takes D steps whatever its shape::

        a           node          a   b   d   e   c
       / \          lower[t, 1]   b   d   d   e   c
      b   c         lower[t, 0]   c   e   d   e   c
     / \
    d   e

All rows meet the same nodes at the top. There a tree is made complete, by leaves that are their own
children: 15 comparisons at four depths, and below them 16 *places*. All comparisons are made for
every row, and the number of its place, four bits, is selected among them in registers::

               0                  first bit    row 0
           /       \              second bit   row 1 or 2
         1           2            third bit    one of rows 3 to 6
       /   \       /   \          fourth bit   one of rows 7 to 14
      3     4     5     6
     7 8   9 10 11 12 13 14
     | |   | |   | |  | |
    places 0 1 2 ...      15

Places are numbered after all nodes and have links of their own: those of the nodes that stand
there.

A node that splits a categorical column has a level set (``gbt.kernels.rows.walk``) and the
threshold -inf: a row goes left if x <= threshold, or if its level is listed. Rows of a model with
such nodes go down the four depths of the top step by step. Models of numbers have None for sets,
and nothing of this is compiled for them.

Rows of float32 are compared in float32, twice as many at once, with thresholds rounded down to
float32: no float32 number lies between the two. Node numbers then have 32 bits.

Blocks are transposed: a feature's values lie side by side. A block holds every feature twice, with
a missing value as nan and as -inf, of which the first is in no ``x <= threshold`` and the second in
all; ``column`` says which of the two a node compares. Steps are unsigned numbers because Numba
checks signed indices for being negative at every look-up (twice the time).

A block's length is no power of two. With 512 rows of float64 every column takes 4 kB and begins in
the same set of a first-level cache, which holds eight lines of a set and not the 15 that one turn
of the loop compares: 3.0 ns a row and tree of depth 4, where blocks of 480 rows take 1.8, one
thread. For rows of float32 it is 1.1, of which 0.75 for the place and the rest for its value.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, internal, kernel, uncounted
from gbt.kernels.platform.instructions import max
from gbt.kernels.rows.walk import NodeSets, is_listed

N_TOP = 4  # depths, from 0 on, whose comparisons are all made
N_PLACES = 2**N_TOP
NO_LEAVES = np.empty(0, dtype=np.int32)  # where spots are asked for


class Links(NamedTuple):
    """The nodes and places of all trees as rows go down them; unsigned numbers are uint64.

    Those marked * are float32 and uint32 for blocks of float32. N nodes, M trees.
    """

    roots: np.ndarray  # (M,) unsigned
    tree_depth: np.ndarray  # (M,) int64, steps from the root to the lowest leaf
    places: np.ndarray  # (M,) unsigned*, the number of the first of its 16 places, from N on
    top_column: np.ndarray  # (M, 15) unsigned, of the comparisons in the drawing
    top_threshold: np.ndarray  # (M, 15) float64*
    column: np.ndarray  # (N + 16 M,) unsigned, where a block has the values to compare
    threshold: np.ndarray  # (N + 16 M,) float64*
    lower: np.ndarray  # (N + 16 M, 2) unsigned, the nodes right and left of it; of a leaf, itself
    node: np.ndarray  # (N + 16 M,) unsigned*, itself, or the one that stands at a place
    top: np.ndarray | None = None  # (M, 15) unsigned, the nodes in the drawing; only with sets
    sets: NodeSets | None = None  # of nodes and places; None if all columns are numbers

    def of(self, trees: range) -> "Links":
        """Return the links of some trees; numbers stay."""
        these = slice(trees.start, trees.stop)
        return self._replace(
            roots=self.roots[these],
            tree_depth=self.tree_depth[these],
            places=self.places[these],
            top_column=self.top_column[these],
            top_threshold=self.top_threshold[these],
            top=None if self.top is None else self.top[these],
        )


@uncounted
def link_nodes(
    tree_offset, feature, left, right, missing_left, n_features, depth, column, lower, tree_depth
):
    """Prepare the nodes of all trees for going down in steps.

    tree_offset    (M + 1,)      int64   IN
    feature ...    (n_nodes,)            IN   the node arrays of ``Ensemble``
    n_features                   int64   IN   p
    depth          (n_nodes,)    int64        memory, all 0
    column         (n_nodes,)    uint64  OUT  where a block has the values that a node compares
    lower          (n_nodes, 2)  uint64  OUT  the nodes right and left of it; at a leaf, itself
    tree_depth     (M,)          int64   OUT  steps from the root to the lowest leaf
    """
    for m in range(tree_offset.shape[0] - 1):
        root = tree_offset[m]
        tree_depth[m] = 0
        for node in range(root, tree_offset[m + 1]):
            tree_depth[m] = max(tree_depth[m], depth[node])
            l, r = node, node
            column[node] = 0
            if left[node] >= 0:
                l, r = root + left[node], root + right[node]
                depth[l] = depth[r] = depth[node] + 1
                column[node] = feature[node] + (n_features if missing_left[node] else 0)
            lower[node, 1], lower[node, 0] = l, r


@forced_inline
def chosen(condition, if_true, if_false):
    """Return one of two values, both of which are computed: a selection, not a branch."""
    return if_true if condition else if_false


@internal
def find_places(X, column, threshold, first, at):
    """Write the number of the place at depth 4 that each row reaches.

    The four bits of a place are the answers to four comparisons. In a vector register a comparison
    sets all bits of a lane or none, which is the number -1 or 0. So the place is a sum, of -8 if
    the first answer is yes, -4 if the second is, and so on, counted from the tree's last place.

    X           (2 p, n)   float64  IN   a block as made by ``gbt.model.predictor.transposed``
    column      (15,)      uint64   IN   of one tree, as in the drawing above
    threshold   (15,)      float64  IN
    first                  uint64   IN   number of the tree's first place
    at          (n,)       uint64   OUT

    Or else X and ``threshold`` are float32, and ``first`` and ``at`` uint32, here and in what
    follows.
    """
    x_0, x_1, x_2, x_3 = X[column[0]], X[column[1]], X[column[2]], X[column[3]]
    x_4, x_5, x_6, x_7 = X[column[4]], X[column[5]], X[column[6]], X[column[7]]
    x_8, x_9, x_10, x_11 = X[column[8]], X[column[9]], X[column[10]], X[column[11]]
    x_12, x_13, x_14 = X[column[12]], X[column[13]], X[column[14]]
    t_0, t_1, t_2, t_3 = threshold[0], threshold[1], threshold[2], threshold[3]
    t_4, t_5, t_6, t_7 = threshold[4], threshold[5], threshold[6], threshold[7]
    t_8, t_9, t_10, t_11 = threshold[8], threshold[9], threshold[10], threshold[11]
    t_12, t_13, t_14 = threshold[12], threshold[13], threshold[14]
    no = at.dtype.type(0)
    yes, last = at.dtype.type(~no), at.dtype.type(first + N_PLACES - 1)
    for i in range(at.shape[0]):
        is_0 = chosen(x_0[i] <= t_0, yes, no)
        is_1, is_2 = chosen(x_1[i] <= t_1, yes, no), chosen(x_2[i] <= t_2, yes, no)
        is_3, is_4 = chosen(x_3[i] <= t_3, yes, no), chosen(x_4[i] <= t_4, yes, no)
        is_5, is_6 = chosen(x_5[i] <= t_5, yes, no), chosen(x_6[i] <= t_6, yes, no)
        is_7, is_8 = chosen(x_7[i] <= t_7, yes, no), chosen(x_8[i] <= t_8, yes, no)
        is_9, is_10 = chosen(x_9[i] <= t_9, yes, no), chosen(x_10[i] <= t_10, yes, no)
        is_11, is_12 = chosen(x_11[i] <= t_11, yes, no), chosen(x_12[i] <= t_12, yes, no)
        is_13, is_14 = chosen(x_13[i] <= t_13, yes, no), chosen(x_14[i] <= t_14, yes, no)
        second = chosen(is_0, is_1, is_2)
        third = chosen(is_0, chosen(is_1, is_3, is_4), chosen(is_2, is_5, is_6))
        fourth = chosen(
            is_0,
            chosen(is_1, chosen(is_3, is_7, is_8), chosen(is_4, is_9, is_10)),
            chosen(is_2, chosen(is_5, is_11, is_12), chosen(is_6, is_13, is_14)),
        )
        two_bits = is_0 + is_0 + second
        three_bits = two_bits + two_bits + third
        at[i] = three_bits + three_bits + fourth + last


@internal
def find_places_of_few(X, column, threshold, first, at):
    """Do what `find_places` does in a tree of depth two or less: only its first two bits matter."""
    x_0, x_1, x_2 = X[column[0]], X[column[1]], X[column[2]]
    t_0, t_1, t_2 = threshold[0], threshold[1], threshold[2]
    no = at.dtype.type(0)
    yes, last = at.dtype.type(~no), at.dtype.type(first + N_PLACES - 4)
    for i in range(at.shape[0]):
        is_0 = chosen(x_0[i] <= t_0, yes, no)
        is_1, is_2 = chosen(x_1[i] <= t_1, yes, no), chosen(x_2[i] <= t_2, yes, no)
        two_bits = is_0 + is_0 + chosen(is_0, is_1, is_2)
        at[i] = two_bits + two_bits + two_bits + two_bits + last


@forced_inline
def takes_left(x, node, threshold, sets):
    """Say whether a value of a block takes the left branch of a node or place, as 1 or 0."""
    return np.uint64((x <= threshold[node]) | is_listed(x, node, sets))


@internal
def find_places_by_steps(X, top_column, top, threshold, sets, first, at):
    """Do what `find_places` does where there are level sets, one comparison after the other.

    top_column, top   (15,)   uint64   IN   of one tree, as in the drawing above
    """
    for i in range(at.shape[0]):
        spot = np.uint64(0)
        for _ in range(N_TOP):
            x = X[top_column[spot], np.uint64(i)]
            is_left = takes_left(x, top[spot], threshold, sets)
            spot += spot + np.uint64(2) - is_left
        at[i] = at.dtype.type(first + spot - np.uint64(N_PLACES - 1))


@internal
def go_down_the_top(X, links, sets, m, at):
    """Write the place that each row reaches in one tree; see `go_down`. ``sets`` are the links'."""
    if sets is not None:
        find_places_by_steps(
            X, links.top_column[m], links.top[m], links.threshold, sets, links.places[m], at
        )
    elif links.tree_depth[m] <= 2:
        find_places_of_few(X, links.top_column[m], links.top_threshold[m], links.places[m], at)
    else:
        find_places(X, links.top_column[m], links.top_threshold[m], links.places[m], at)


@internal
def go_down(X, links, m, at):
    """Write the leaf that each row reaches in one tree, or the place where it stands.

    links              ``Links``  IN
    m                  int64      IN    the tree's position in the links
    at      (n,)       uint64     OUT
    """
    column, threshold, lower, sets = links.column, links.threshold, links.lower, links.sets
    go_down_the_top(X, links, sets, m, at)
    for _ in range(links.tree_depth[m] - N_TOP):
        for i in range(at.shape[0]):
            t = at[i]
            at[i] = lower[t, takes_left(X[column[t], np.uint64(i)], t, threshold, sets)]


@kernel
def find_spots(X, links, first, leaf, spots):
    """Write the *spot* that each row reaches in each tree: a place, or a leaf in a deeper tree.

    X       (2 p, n)         float64    IN    a transposed block
    links                    ``Links``  IN
    first   (M,)             uint64     IN    number of the tree's first place, or of its root
    leaf    (N + 16 M,)      int32      IN    if not empty, the leaf at every spot, to be written
    spots   (M, n)           unsigned   OUT   counted from the first; or leaves of the tree
    """
    at = np.empty(X.shape[1], links.node.dtype)
    for m in range(spots.shape[0]):
        go_down(X, links, m, at)
        if len(leaf) > 0:
            look_up(leaf, at, spots[m])
        else:
            count_from(at.dtype.type(first[m]), at, spots[m])


@internal
def count_from(first, at, spot):
    """Write numbers counted from the first."""
    for i in range(at.shape[0]):
        spot[i] = spot.dtype.type(at[i] - first)


@internal
def look_up(leaf, at, found):
    """Write the leaf at every spot."""
    for i in range(at.shape[0]):
        found[i] = found.dtype.type(leaf[at[i]])


@kernel
def add_leaf_values(X, links, value, out):
    """Add to each row's ``out`` the values of the leaves that it reaches, tree by tree.

    X       (2 p, n)      float64    IN     a transposed block
    links                 ``Links``  IN
    value   (N + 16 M,)   float64    IN     of nodes and places
    out     (n,)          float64    INOUT
    """
    n_trees = links.places.shape[0]
    at = np.empty((4, X.shape[1]), links.node.dtype)
    at_1, at_2, at_3, at_4 = at[0], at[1], at[2], at[3]
    for m in range(0, n_trees - 3, 4):
        for j in range(4):
            go_down(X, links, m + j, at[j])
        for i in range(out.shape[0]):
            out[i] = out[i] + value[at_1[i]] + value[at_2[i]] + value[at_3[i]] + value[at_4[i]]
    for m in range(n_trees - n_trees % 4, n_trees):
        go_down(X, links, m, at_1)
        for i in range(out.shape[0]):
            out[i] += value[at_1[i]]
