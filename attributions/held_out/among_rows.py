r"""Held-out gain where the loss of a row depends on other rows, as Cox's does.

The gradient at a step on feature k is asked at predictions without k, as everywhere, but of *all*
judging rows at once: the rows at risk beside row i, too, are taken at what the model would predict
for them without k. So if k says nothing about the targets, no residual depends on it at all. In a
tree that means one call of the loss for each feature that the tree splits on, with all rows::

    features of the tree    0       2       7
    asked                 f - F_0  f - F_2  f - F_7        each of all n rows
                             \       |       /
    a row's steps             2      0      2              picks those of its path

With slopes a, which are 0 outside of the node of a split, the gain is a sum of w a g over rows, and
one more row like row i changes it by a_i g_i and, through the others' gradients, by

    sum over j of  w_j a_j dg_j / dw_i                     ``through_others`` of the loss

Both belong to what row i adds, whose spread is the standard error: the delta method once more. The
second terms, weighted, add up to 0, so that what rows add still adds up to the gain. For Cox's loss
the two together are the score residual of a as a covariate (Lin and Wei 1989).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from attributions.held_out.splits import StepsOfModel
from attributions.kernels.held_out import ask


class Asked(NamedTuple):
    """The steps of all rows in one tree, and the predictions at which the loss was asked."""

    features: np.ndarray  # (q,) on which the tree splits
    without: np.ndarray  # (q, n) raw predictions without each of them
    steps: np.ndarray  # (S, n) the nodes that rows have come to, from the leaf up
    which: np.ndarray  # (S, n) the place of the step's feature in ``features``


def walk_together(
    model: StepsOfModel, block: np.ndarray, prepared: Any, raw: np.ndarray
) -> Iterator[tuple]:
    """Yield, tree by tree, leaves (1, n), tree, paths, gradients (1, S, n) and what was asked.

    ``block`` has all rows, transposed, and ``prepared`` their targets; ``raw`` (1, n) is moved from
    the start to after the last tree.
    """
    ensemble, paths = model.ensemble, model.paths
    n = raw.shape[1]
    work = np.zeros((1, ensemble.n_credited, n))
    for m in range(ensemble.n_trees):
        leaves = ensemble.predictor.find_leaves(block, range(m, m + 1))
        asked = _asked(model, leaves[0], m, raw[0], work[0])
        gradient, _ = ensemble.loss.gradient_hessian(prepared, asked.without)
        own = np.take_along_axis(gradient, asked.which, axis=0)
        ask(leaves, m, paths, raw, work, np.empty((1, 1, n, 1)))  # moves raw and work
        yield leaves, m, paths, own[np.newaxis], asked


def _asked(
    model: StepsOfModel, leaf: np.ndarray, m: int, raw: np.ndarray, work: np.ndarray
) -> Asked:
    """Follow rows from their leaves in a tree up to the root, and take each feature out of all."""
    paths, at = model.paths, leaf.astype(np.int64)
    steps = np.empty((max(1, int(paths.tree_depth[m])), len(at)), np.int64)
    for step in steps:
        step[:] = at
        at = paths.up[at].astype(np.int64)
    tree = slice(*model.ensemble.tree_offset[m : m + 2])
    features = np.unique(paths.feature[tree]).astype(np.int64)
    which = np.searchsorted(features, paths.feature[steps].astype(np.int64))
    return Asked(features, raw - work[features], steps, which)


def add_parts_through_others(
    loss: Any, prepared: Any, asked: Asked, part: np.ndarray, out: np.ndarray
) -> None:
    """Add to ``out``, (p, n), what rows add in a tree through the gradients of others.

    ``part`` has the slope a of the step to each node in its first column.
    """
    slope = part[asked.steps, 0]
    for place, k in enumerate(asked.features.tolist()):
        of_feature = np.where(asked.which == place, slope, 0.0).sum(axis=0)
        if of_feature.any():
            out[k] += loss.through_others(prepared, asked.without[place], of_feature)
