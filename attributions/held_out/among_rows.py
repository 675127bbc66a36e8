r"""Held-out gain where the loss of a row depends on other rows, as Cox's and those of an order do.

The gradient at a step on feature k is asked at predictions without k, as everywhere, but of *all*
judging rows at once, so that no residual depends on k at all if it says nothing about the targets.
In a tree that means one call of the loss for each feature that it splits on, with all rows::

    features of the tree    0       2       7
    asked                 f - F_0  f - F_2  f - F_7        each of all n rows
                             \       |       /
    a row's steps             2      0      2              picks those of its path

A side of a split is divided by U = sum of w u (``Loss.exposure``; docs/among_rows.md says why).
With slopes a, which are d U_r / U_t on the left of a split and -d U_l / U_t on the right, the
derivative of the gain by the weight of row i is, but for -1/alpha,

    a_i (g_i - r u_i)  +  sum over j of  w_j a_j (1 - r) dg_j / dw_i        r = G_t / U_t

and w_i times that is what row i adds, whose spread is the standard error: the delta method once
more. The second sum is what row i does to the residuals of others, by being at risk beside them and
by its own event (``through_others``). Weighted, it adds up to 0 over the rows, and so what rows add
still adds up to the gain. Where rows are ordered within queries, these are the draws, a query
brings all the gradients that its rows have a part in, and nothing goes through others.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from attributions.held_out.asked import Asked, Together
from attributions.held_out.splits import StepsOfModel
from attributions.kernels.held_out import ask
from attributions.kernels.spots import Spots


def ask_together(
    model: StepsOfModel, spots: Spots, prepared: Any, raw: np.ndarray
) -> Iterator[Asked]:
    """Ask the loss of all rows together, tree by tree.

    ``spots`` are those of all rows, and ``prepared`` their targets; ``raw`` (1, n) is moved from
    the start to after the last tree.
    """
    ensemble, paths, n = model.ensemble, model.paths, raw.shape[1]
    loss: Any = ensemble.loss
    work = np.zeros((ensemble.n_credited, n, 1))
    for m in range(ensemble.n_trees):
        at = (spots.first[m] + spots.of_row[m]).astype(np.int64)
        steps = np.empty((max(1, int(spots.tree_depth[m])), n), np.int64)
        for step in steps:
            step[:] = at
            at = paths.up[at].astype(np.int64)
        tree = slice(*ensemble.tree_offset[m : m + 2])
        features = np.unique(paths.feature[tree]).astype(np.int64)
        which = np.searchsorted(features, paths.feature[steps].astype(np.int64))
        without = raw - work[features, :, 0]
        gradient, hessian = loss.gradient_hessian(prepared, without)
        exposure = loss.exposure(prepared, gradient, hessian)
        own, exposed = (
            np.take_along_axis(of, which, axis=0)[np.newaxis] for of in (gradient, exposure)
        )
        ask(spots, m, paths, None, raw.reshape(n, 1), work, np.empty((1, 1, n, 1)))  # moves them
        yield Asked(m, own, exposed, Together(features, without, steps, which))


def add_through_others(
    loss: Any, prepared: Any, asked: Together, part: np.ndarray, out: np.ndarray
) -> None:
    """Add to ``out``, (p, n), what rows add in a tree through others; ``part`` has a and -a r."""
    slopes = part.sum(axis=1)[asked.steps]
    for place, k in enumerate(asked.features.tolist()):
        of_feature = np.where(asked.which == place, slopes, 0.0).sum(axis=0)
        if of_feature.any():
            out[k] += loss.through_others(prepared, asked.without[place], of_feature)
