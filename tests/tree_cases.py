"""Trees that several test files need: the paper's example, deep trees, trees fitted to rows."""

from dataclasses import replace

import numpy as np

from gbt.losses.squared_and_logistic import LOSSES
from gbt.model.ensemble import Ensemble
from gbt.model.statistics import node_step
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import assert_valid_tree


def example_1(split_on: int) -> tuple[Ensemble, np.ndarray, np.ndarray]:
    """Return the paper's Example 1, structure I (``split_on=0``) or II (1), with its X and y.

    Rows A (0, 0; 0), B (0, 1; 1), C (1, 0; -1); lambda 1, alpha 1, depth 1, base score 0, so that
    g = -y and h = 1. G and H are (-1, 2) and (1, 1) in structure I, (1, 2) and (-1, 1) in II.
    """
    X, y = np.array([[0.0, 0], [0, 1], [1, 0]]), np.array([0.0, 1, -1])
    stump = stump_on(split_on, threshold=0.5)
    blank = ensemble_of([stump], n_features=2, reg_lambda=1.0, learning_rate=1.0)
    return fit_values(blank, X, y), X, y


def tree_of(**arrays) -> Tree:
    """Return the tree of these arrays of nodes; those that are not given are 0."""
    blank = np.zeros(len(arrays["left"]))
    return Tree(**{name: np.array(arrays.get(name, blank), of) for name, of in NODE_DTYPES.items()})


def leaf_of(value: float) -> Tree:
    """Return a tree that is a single leaf."""
    return tree_of(feature=[-1], left=[-1], right=[-1], value=[value])


def stump_on(feature: int, threshold: float) -> Tree:
    """Return a tree of one split whose statistics are all 0."""
    return tree_of(
        feature=[feature, -1, -1], threshold=[threshold, 0, 0], left=[1, -1, -1], right=[2, -1, -1]
    )


def ensemble_of(trees, n_features, **others) -> Ensemble:
    """Lay trees end to end, with defaults for what the case does not care about."""
    defaults = {
        "base_score": 0.0, "learning_rate": 1.0, "reg_lambda": 0.0,
        "loss": LOSSES["half_squared_error"],
        "feature_names": tuple(f"x{k}" for k in range(n_features)),
    }  # fmt: skip
    return Ensemble.from_trees(trees, **{**defaults, **others})


def fit_values(ensemble: Ensemble, X, y) -> Ensemble:
    """Boost along given splits: keep them, and give nodes the G, H and values of these rows."""
    for start, stop in zip(ensemble.tree_offset[:-1], ensemble.tree_offset[1:], strict=True):
        ensemble = ensemble.refit_statistics(X, y)
        step = node_step(ensemble.sum_gradient, ensemble.sum_hessian, ensemble.reg_lambda)
        value = ensemble.value.copy()
        value[start:stop] = ensemble.learning_rate * step[start:stop]
        ensemble = replace(ensemble, value=value)
    return ensemble


def deep_tree(rng, depth: int, n_features: int, branching: float) -> tuple[Tree, np.ndarray]:
    """Return a tree of the given depth and a row that reaches its deepest leaf.

    Along the row's path every node splits; off it a node splits with probability ``branching``
    (0: a chain), at most four times in a row. Thresholds off the path may contradict those above.
    """
    x = rng.normal(size=n_features)
    nodes = []

    def grow(level, on_path, splits_left):
        node = dict.fromkeys(NODE_DTYPES, 0)
        nodes.append(node)
        if level < depth and (on_path or (splits_left and rng.random() < branching)):
            k = int(rng.integers(n_features))
            threshold = float(rng.normal())
            goes_left = x[k] <= threshold
            node.update(feature=k, threshold=threshold, missing_left=bool(rng.integers(2)))
            off = 4 if on_path else splits_left - 1
            node["left"] = len(nodes)
            left = grow(level + 1, on_path and goes_left, off)
            node["right"] = len(nodes)
            right = grow(level + 1, on_path and not goes_left, off)
            sums = [a + b for a, b in zip(left, right, strict=True)]
        else:
            node.update(feature=-1, left=-1, right=-1, missing_left=False)
            sums = [rng.normal(), rng.uniform(0.1, 2.0), int(rng.integers(1, 50))]
        node.update(sum_gradient=sums[0], sum_hessian=sums[1], n_samples=sums[2])
        node["value"] = -sums[0] / sums[1]
        return sums

    grow(0, on_path=True, splits_left=0)
    tree = tree_of(**{name: [node[name] for node in nodes] for name in NODE_DTYPES})
    assert_valid_tree(tree)
    assert tree.depth.max() == depth
    return tree, x


def deep_ensemble(rng, depth, n_features, branching, n_trees=3) -> tuple[Ensemble, np.ndarray]:
    """Return a model of deep trees, and rows of which each tree takes one to its deepest leaf."""
    trees, rows = zip(
        *(deep_tree(rng, depth, n_features, branching) for _ in range(n_trees)), strict=True
    )
    ensemble = ensemble_of(trees, n_features)
    reached = ensemble.apply(np.array(rows))
    assert all(trees[m].depth[reached[m, m]] == depth for m in range(n_trees))
    return ensemble, np.vstack([rows, rng.normal(size=(20, n_features))])
