"""Rung 1, the plain page: try every cut of every column with a mask, and keep the best.

A regression tree is grown on the gradients of n rows. A cut sends the rows with ``x <= threshold``
of one column to the left; its score is

    G_l^2 / (n_l + lambda) + G_r^2 / (n_r + lambda)

with G and n the sum of gradients and the number of rows on either side, and its gain is the score
less G^2 / (n + lambda) of the node. (Under half the squared error every row has the hessian 1, so
the sum of hessians is the number of rows.) The cut of largest score splits the node.

Gradients are integers, in some small unit, so that sums are the same in whatever order they are
added, and cuts that separate the same rows tie exactly. Of tied cuts that of the lowest feature
is taken, then that of the highest threshold.

Cost: a column of n distinct values has n - 1 cuts, each of which looks at n rows: n^2.
"""

from typing import NamedTuple

import numpy as np

ROUNDING = 16 * np.finfo(np.float64).eps


class Tree(NamedTuple):
    """A tree in which the children of node t are the nodes 2 t + 1 and 2 t + 2."""

    feature: np.ndarray  # -1 where there is no split: at leaves, and where there is no node
    threshold: np.ndarray  # the highest value that goes left
    gain: np.ndarray


def tree_of_one_leaf(max_depth):
    """Return a tree that has room for all nodes down to a depth, and no splits yet."""
    n_nodes = 2 ** (max_depth + 1) - 1
    return Tree(np.full(n_nodes, -1), np.zeros(n_nodes), np.zeros(n_nodes))


def score(left_sum, left_n, right_sum, right_n, reg_lambda):
    """Return the score of a cut as one fraction, in which left and right are treated alike."""
    left, right = float(left_sum), float(right_sum)
    left_weight, right_weight = left_n + reg_lambda, right_n + reg_lambda
    return (left * left * right_weight + right * right * left_weight) / (left_weight * right_weight)


def gain_of(cut_score, total, n, magnitude, reg_lambda):
    """Return what a cut gains over its node, 0 if that may be rounding; magnitude is sum |g|."""
    gain = cut_score - total * total / (n + reg_lambda)
    rounding = ROUNDING * (magnitude * magnitude / (n + reg_lambda))
    return np.where(gain > rounding, gain, 0.0)


def prepare(X):
    """Return the form of the table that ``grow`` works on: here the table itself."""
    return X


def best_cut(X, gradient, reg_lambda):
    """Return (score, -feature, threshold) of the best cut of some rows; the largest is the best."""
    best = (-np.inf, 0, 0.0)
    for feature in range(X.shape[1]):
        for threshold in np.unique(X[:, feature])[:-1]:
            is_left = X[:, feature] <= threshold
            left, right = gradient[is_left], gradient[~is_left]
            found = score(left.sum(), len(left), right.sum(), len(right), reg_lambda)
            best = max(best, (found, -feature, threshold))
    return best


def grow(X, gradient, max_depth, reg_lambda, best_cut=best_cut):
    """Grow a tree: find the best cut of a node, split its rows, and do the same with each side."""
    tree = tree_of_one_leaf(max_depth)

    def split(t, rows):
        if 2 * t + 1 >= len(tree.feature):
            return  # as deep as nodes may be
        found, minus_feature, threshold = best_cut(X[rows], gradient[rows], reg_lambda)
        total, magnitude = float(gradient[rows].sum()), float(np.abs(gradient[rows]).sum())
        gain = gain_of(found, total, len(rows), magnitude, reg_lambda)
        if gain > 0:
            feature = -minus_feature
            tree.feature[t], tree.threshold[t], tree.gain[t] = feature, threshold, gain
            is_left = X[rows, feature] <= threshold
            split(2 * t + 1, rows[is_left])
            split(2 * t + 2, rows[~is_left])

    split(0, np.arange(len(X)))
    return tree
