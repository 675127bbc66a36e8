"""Statistics of nodes: sums over the rows of a node, and what follows from the sums.

With G and H the sums of w g and w h over a node's rows::

    step(t)  = -G_t / (H_t + lambda)        score(t) = -G_t step(t)        value(t) = rate step(t)
    gain(t)  = score(left) + score(right) - score(t)          (Sun 2022, Definition 2)

``gbt.kernels.trees.finish`` has the same formulas for one tree that has just grown.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gbt.kernels.rows import walk
from gbt.losses.loss import Loss
from gbt.losses.sums import exact_sums
from gbt.model.starting_values import checked_init_score, raw_before
from gbt.model.tree import sealed
from gbt.parallel.chunks import Chunk, over_chunks
from gbt.tables.sparse_rows import as_type, take
from gbt.tables.targets import as_target, as_weight


def children_of(ensemble: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and right children of nodes, counted through all trees; -1 at leaves."""
    root = np.repeat(ensemble.tree_offset[:-1], np.diff(ensemble.tree_offset))
    left, right = (
        sealed(np.where(child < 0, -1, root + child).astype(np.int32))
        for child in (ensemble.left, ensemble.right)
    )
    return left, right


def add_up_trees(ensemble: Any, sums: np.ndarray) -> np.ndarray:
    """Give the inner nodes of all trees the sums of their children, float64 (n_nodes, k)."""
    walk.add_up_children(*children_of(ensemble), sums)
    return sums


def node_gain(
    left: np.ndarray,
    right: np.ndarray,
    sum_gradient: np.ndarray,
    sum_hessian: np.ndarray,
    reg_lambda: float,
) -> np.ndarray:
    """Return the gain of every node of a tree, 0 at a leaf."""
    score = -sum_gradient * node_step(sum_gradient, sum_hessian, reg_lambda)
    inner = left >= 0
    gain = np.zeros(len(score))
    gain[inner] = score[left[inner]] + score[right[inner]] - score[inner]
    return gain


def gain_by_feature(nodes: Any, n_features: int) -> np.ndarray:
    """Return, for every feature, the sum of the gains of the nodes that split on it."""
    inner = nodes.left >= 0
    gain = np.bincount(nodes.feature[inner], nodes.gain[inner], minlength=n_features)
    return gain.astype(np.float64, copy=False)  # bincount of no splits returns integers


def by_tree(ensemble: Any, node: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Return what splits at some nodes are worth, added up by tree and credited feature, (M, p)."""
    n_trees, p = ensemble.n_trees, ensemble.n_credited
    tree = np.searchsorted(ensemble.tree_offset, node, side="right") - 1
    cell = tree * p + ensemble.credited[node]
    return np.bincount(cell, worth, minlength=n_trees * p).reshape(n_trees, p)


def node_step(
    sum_gradient: np.ndarray, sum_hessian: np.ndarray, reg_lambda: float | np.ndarray
) -> np.ndarray:
    """Return -G / (H + lambda), or 0 where that is 0 / 0: a node without weight moves nothing."""
    weight = sum_hessian + reg_lambda
    return np.divide(-sum_gradient, weight, out=np.zeros_like(weight), where=weight > 0)


def refit(model: Any, rows: Chunk) -> dict[str, np.ndarray]:
    """Return G, H, row count and gain of all nodes over other rows.

    Gradients are taken along the unchanged predictions, in a forest at the base score. Rows in
    chunks are added up chunk by chunk. Sums of parents are those of their two children added, to
    the last bit.
    """
    sums = add_up_trees(model, over_chunks(partial(sums_of_leaves, model), np.add, rows))
    sum_gradient, sum_hessian, n_samples = sums.T
    return {
        "sum_gradient": sum_gradient,
        "sum_hessian": sum_hessian,
        "n_samples": n_samples,
        "gain": node_gain(*children_of(model), sum_gradient, sum_hessian, model.reg_lambda),
    }


def sums_of_leaves(model: Any, rows: Chunk) -> np.ndarray:
    """Return G, H and row count of the leaves of all trees, (n_nodes, 3), 0 at other nodes.

    The sums are correctly rounded, whatever the order of the rows.
    """
    X = as_type(model.as_input(rows.X), np.float64)
    y = as_target(model, model, rows.y, len(X))
    weight = as_weight(rows.sample_weight, len(X), may_be_zero=rows.is_part)
    init_score = checked_init_score(model, rows.init_score, len(X))
    start = raw_before(model.base_score, len(X), init_score)
    X, y, weight, start = of_positive_weight(X, y, weight, start)
    if rows.is_part and not model.loss.is_by_row:
        raise ValueError(
            f"The {model.loss.name} loss of a row depends on other rows, and a chunk of Dask does"
            " not have them all: X.compute()."
        )
    y, n_jobs = model.loss.prepared(y, weight), rows.n_jobs(None)
    sums = [np.empty((0, 3))]
    for tree, leaves, gradient, hessian in along_rounds(
        model.trees, X, y, model.loss, start, model.is_forest, n_jobs
    ):
        sides = (exact_sums(leaves, weight * of, tree.n_nodes) for of in (gradient, hessian))
        sums.append(np.column_stack([*sides, np.bincount(leaves, minlength=tree.n_nodes)]))
    return np.concatenate(sums)


def of_positive_weight(
    X: Any, y: np.ndarray, weight: np.ndarray, start: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows that training does not drop either, and their start, (K, n)."""
    kept = weight > 0
    if kept.all():
        return X, y, weight, start
    return take(X, kept), y[kept], weight[kept], start[:, kept]


def along_rounds(
    trees: Iterable[Any],
    X: np.ndarray,
    y: np.ndarray,
    loss: Loss,
    start: np.ndarray,
    is_forest: bool,
    n_jobs: int | None = None,
) -> Iterator[tuple[Any, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield every tree, the leaves that rows reach in it, and their derivatives before it.

    The trees of a round, one an output, have the same predictions before them; ``start`` are those
    before the first, (K, n).
    """
    n_outputs = loss.n_outputs
    raw = start.copy()
    for m, tree in enumerate(trees):
        k = m % n_outputs
        if k == 0:
            pair = loss.gradient_hessian(y, raw[0] if n_outputs == 1 else raw.T)
        gradient, hessian = (part if n_outputs == 1 else part[:, k] for part in pair)
        leaves = tree.find_leaves(X, n_jobs)
        yield tree, leaves, gradient, hessian
        if not is_forest:
            raw[k] += tree.value[leaves]
