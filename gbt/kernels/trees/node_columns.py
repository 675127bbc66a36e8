"""Node columns: the columns on which a node may be split, if they differ between nodes.

Three parameters narrow the columns of the tree, in this order:

    colsample_bylevel         a share of the tree's columns, drawn for each depth
    interaction_constraints   those that may be on one path with the columns that are on it
    colsample_bynode          a share of what these leave open, drawn for each node

Constraints come as a table of what may follow. A node has a *state*, which follows from the columns
on its path: the place where the columns that are open to it begin, ascending, each with the state
of the children if it is split on that column; -1 ends them. For the groups {0, 1} and {1, 2}::

    place                0  1  2  3     4  5  6     7  8  9
    column               0  1  2 -1     0  1 -1     1  2 -1
    state of children    4  0  7        4  4        7  7

Without constraints there is one state, of all columns. Draws follow from the fit's seed, the number
of the tree, the depth, and the turns on the path to the node, and from nothing else, so it does not
matter which thread draws, or when. Without any of the three parameters nothing is done here.

The plain twins are ``gbt.reference.splits`` (`may_follow`) and ``gbt.reference.sets``
(`columns_of_depth`, `columns_of_node`).
"""

import numpy as np

from gbt.kernels.platform.compiling import internal, uncounted
from gbt.kernels.trees.drawing import key_of_tree, number_below, scrambled

FOLLOWING = np.dtype([("column", np.int64), ("state", np.int64)])


@internal
def draw_columns(found, share, key):
    """Leave open a share of the columns that are open, one at least, each as likely as another."""
    n_open = np.int64(0)
    for k in range(len(found)):
        n_open += found[k].is_open
    wanted = np.int64(np.rint(share * n_open))
    if wanted < 1:
        wanted += 1
    for k in range(len(found)):
        if found[k].is_open:
            is_drawn = number_below(np.uint64(n_open), key, np.uint64(k)) < wanted
            found[k].is_open = np.int64(is_drawn)
            wanted, n_open = wanted - found[k].is_open, n_open - 1


@internal
def open_columns(node, columns, rules, following, found):
    """Write for every column whether a node may be split on it.

    columns     (p,)         COLUMN      IN
    following   (entries,)   FOLLOWING   IN
    found       (p,)         FOUND       OUT   ``is_open``
    """
    if not rules.narrows:
        return
    for k in range(len(found)):
        found[k].is_open = columns[k].is_allowed
    key = scrambled(key_of_tree(rules) + np.uint64(node.depth + 1))
    if rules.colsample_bylevel < 1.0:
        draw_columns(found, rules.colsample_bylevel, key)
    place = node.state
    for k in range(len(found)):
        if following[place].column == k:
            place += 1
        else:
            found[k].is_open = 0
    if rules.colsample_bynode < 1.0:
        draw_columns(found, rules.colsample_bynode, scrambled(key + node.path))


@internal
def pass_on(parent, left, right, rules, following):
    """Give the children of a node that is split their state and path."""
    if rules.narrows:
        place = parent.state
        while following[place].column != parent.feature:
            place += 1
        left.state = right.state = following[place].state
        left.path = parent.path + parent.path
        right.path = left.path + np.uint64(1)


@uncounted
def columns_of_nodes(nodes, columns, rules, following, found):
    """Do what `open_columns` does for some nodes; called from Python.

    nodes   (J,)     NODE    IN    ``depth``, ``state`` and ``path``
    rules   (1,)     RULES   IN    ``first_tree`` + ``n_grown`` is the number of the tree
    found   (J, p)   FOUND   OUT   ``is_open``
    """
    for j in range(len(nodes)):
        open_columns(nodes[j], columns, rules[0], following, found[j])
