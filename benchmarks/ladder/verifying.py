"""Verifying that two rungs have grown the same tree.

The same nodes are split, on the same features; every row goes the same way; and gains are equal but
for rounding. Thresholds need not be equal: between the highest value that goes left and the lowest
that goes right all numbers split the rows of a node alike.
"""

import numpy as np

EPS = np.finfo(np.float64).eps


class WrongTreeError(AssertionError):
    """A rung has grown another tree than the plain page."""


def nodes_of_rows(tree, X):
    """Return at which node every row is, level by level: an array of shape (depth + 1, n)."""
    node = np.zeros(len(X), dtype=np.int64)
    levels = [node]
    for _ in range(int(np.log2(len(tree.feature) + 1)) - 1):
        feature = tree.feature[node]
        goes_right = X[np.arange(len(X)), feature] > tree.threshold[node]
        node = np.where(feature >= 0, 2 * node + 1 + goes_right, node)
        levels.append(node)
    return np.array(levels)


def verify(expected, tree, X, gradient):
    """Raise WrongTreeError, saying where and what, unless two trees are the same."""
    nodes = nodes_of_rows(expected, X)
    for t in np.flatnonzero(expected.feature != tree.feature):
        raise WrongTreeError(
            f"node {t} is split on {tree.feature[t]}, not {expected.feature[t]} (-1: not at all)"
        )
    for t in nodes[:-1][(nodes != nodes_of_rows(tree, X))[1:]]:
        raise WrongTreeError(
            f"node {t}, split on {tree.feature[t]}, is cut at {tree.threshold[t]},"
            f" not {expected.threshold[t]}"
        )
    # Both scores of a gain are at most the node's sum of g^2 (Cauchy and Schwarz), as are the
    # terms that add up to them; each term has a few roundings.
    squares = np.zeros(len(tree.feature))
    for node in nodes:
        at_node = np.bincount(node, weights=gradient.astype(float) ** 2, minlength=len(squares))
        squares = np.maximum(squares, at_node)
    for t in np.flatnonzero(np.abs(expected.gain - tree.gain) > 32 * EPS * squares):
        raise WrongTreeError(f"node {t} gains {tree.gain[t]}, not {expected.gain[t]}")
