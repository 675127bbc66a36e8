"""The splits of a tree as columns of a linear model, in plain loops: local MDI+ and MDI+.

A page after ``definitions``: `mdi_columns` makes the columns, `ridge` fits a linear model to them,
and `by_block` tells what each feature has in its predictions.
"""

from itertools import pairwise

import numpy as np

from attributions.reference.definitions import Tree, path


def node_weights(tree: Tree, X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weight of the rows that pass each node."""
    total = np.zeros(len(tree.left))
    for x, w in zip(X, weight, strict=True):
        total[path(tree, x)] += w
    return total


def stumps(tree: Tree, X: np.ndarray, node_weight: np.ndarray) -> np.ndarray:
    """Return psi_t(x_i), one column a split in preorder (Agarwal et al. 2023, MDI+, section 3).

    -sqrt(N_r / N_l) where x goes left at t, sqrt(N_l / N_r) where right, 0 where x does not reach
    t; 0 everywhere for a split one of whose children weighs 0.
    """
    splits = [t for t in range(len(tree.left)) if tree.left[t] >= 0]
    columns = np.zeros((len(X), len(splits)))
    for i, x in enumerate(X):
        for t, child in pairwise(path(tree, x)):
            left, right = node_weight[tree.left[t]], node_weight[tree.right[t]]
            if left > 0 and right > 0:
                ends = -np.sqrt(right / left), np.sqrt(left / right)
                columns[i, splits.index(t)] = ends[int(child == tree.right[t])]
    return columns


def mdi_columns(
    tree: Tree, X: np.ndarray, grown: np.ndarray, raw: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return all columns of the training rows X, and the feature that each belongs to.

    ``grown`` are the weights with which the rows grew the tree. After the stumps come the features
    that the tree splits on: missing values at the mean, centred over the rows that grew the tree,
    with the standard deviation of the feature's largest stump, sqrt(max N_t / N).
    """
    weight = node_weights(tree, X, grown)
    columns = [stumps(tree, X, weight)]
    blocks = [k for t, k in enumerate(tree.feature) if tree.left[t] >= 0]
    if raw:
        for k in sorted(set(blocks)):
            x = X[:, k].copy()
            x[np.isnan(x)] = np.nanmean(x) if not np.isnan(x).all() else 0.0
            x -= np.average(x, weights=grown)
            deviation = np.sqrt(np.average(x**2, weights=grown))
            largest = np.sqrt(max(weight[tree.feature == k]) / weight[0])
            if deviation > 1e-10 * max(np.abs(X[~np.isnan(X[:, k]), k]), default=0.0):
                columns.append(largest / deviation * x[:, np.newaxis])
            else:
                columns.append(np.zeros((len(X), 1)))
            blocks.append(k)
    return np.hstack(columns), np.array(blocks, dtype=int)


def ridge(
    columns: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """Return intercept and coefficients that minimise sum w (y - b - x c)^2 + penalty |c|^2."""
    design = np.column_stack([np.ones(len(y)), columns])
    shrink = penalty * np.eye(design.shape[1])
    shrink[0, 0] = 0.0
    normal = design.T @ (weight[:, np.newaxis] * design) + shrink
    found = np.linalg.lstsq(normal, design.T @ (weight * y), rcond=None)[0]
    return found[0], found[1:]


def by_block(
    columns: np.ndarray, blocks: np.ndarray, coefficients: np.ndarray, n_features: int
) -> np.ndarray:
    """Return each feature's part of the linear predictor: local MDI+ of one tree."""
    parts = np.zeros((len(columns), n_features))
    for column, k, c in zip(columns.T, blocks, coefficients, strict=True):
        parts[:, k] += c * column
    return parts


def without_row(
    columns: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float, i: int
) -> tuple[float, np.ndarray]:
    """Return the ridge's intercept and coefficients that were found without row i."""
    others = np.arange(len(y)) != i
    return ridge(columns[others], y[others], weight[others], penalty)


def ranks(row: np.ndarray) -> np.ndarray:
    """Return the ranks of absolute values, from 0; equal values have their mean rank."""
    size = np.abs(row)
    return np.array([np.sum(size < a) + (np.sum(size == a) - 1) / 2 for a in size])
