r"""What rows weigh at a split if they start from values of their own, such as log exposures.

A policy of twelve months has twelve times the claims of a policy of one month. If the model is off
by one factor for all rows of a node, because other features have not been learned yet, residuals
are twelve times as large, too, and a feature that says how long, and nothing of the rate, would
have a contrast of mean g between its sides. So a side is not divided by its rows, but by U, the sum
of w u, with u the hessian of the row if its target were as predicted: the events to be expected::

    loss        u                      E g if all rows of a node belong higher by delta
    Poisson     m                      -m (e^delta - 1)                    in proportion to u
    Tweedie     m^(2 - p)              -m^(2 - p) (e^delta - 1)            in proportion to u
    logistic    p (1 - p)              -p (1 - p) delta                    if delta is small
    gamma, squared error: 1            the same for all rows

    held-out gain  =  -(1/alpha)  U_l U_r / U_t  *  d  *  (G_l / U_l  -  G_r / U_r)

G / U is a step that all rows of a side may have in common, whatever they start from. u does not
depend on the row's own target, as a fit's hessian may (``gbt.losses``): else U would be larger
where residuals are. A row that takes the step to a child adds w a (g - r u), with r = G_t / U_t.

Where all rows start from one number, u says what other features have told already, and rows weigh
the same; so do they in models of several outputs. Where a loss is not by row, ``among_rows`` says
what u is.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from attributions.held_out.splits import StepsOfModel
from attributions.kernels.held_out import add_parts_of_steps, ask
from attributions.kernels.spots import Spots
from gbt.losses.loss import Loss
from gbt.model.stages import tree_blocks


def have_exposures(loss: Loss, init_score: Any) -> bool:
    """Say whether rows of a loss by row weigh something at splits beside their weights."""
    differ = loss.n_outputs == 1 and not (loss.has_one_hessian or loss.has_pairs)
    return init_score is not None and differ


def walk_exposed(
    model: StepsOfModel, spots: Spots, y: np.ndarray, raw: np.ndarray, numbers_at_once: int
) -> Iterator[tuple[tuple, np.ndarray, np.ndarray]]:
    """Yield, some trees at a time, spots with the first tree and paths, gradients and u (T, S, n).

    ``raw`` (1, n) is moved from the start to after the last tree.
    """
    loss, n = model.ensemble.loss, len(y)
    work = np.zeros((1, model.ensemble.n_credited, n))
    n_steps = max(1, int(spots.tree_depth.max(initial=1)))
    for trees in tree_blocks(model.ensemble.n_trees, max(1, numbers_at_once // (n_steps * n))):
        asked = np.empty((len(trees), n_steps, n, 1))
        ask(spots, trees.start, model.paths, raw, work, asked)
        without = asked.reshape(-1, n)
        gradient, _ = loss.gradient_hessian(y, without)
        raw_prediction = without.reshape(-1)
        _, u = loss.gradient_hessian(loss.inverse_link(raw_prediction), raw_prediction)
        walked, shape = (spots, trees.start, model.paths), asked.shape[:3]
        yield walked, gradient.reshape(shape), u.reshape(shape)


def add_parts_exposed(
    walked: tuple, gradient: np.ndarray, exposure: np.ndarray, part: np.ndarray, out: np.ndarray
) -> None:
    """Add to ``out``, (p, n), what rows add in some trees by themselves: a g + b u at each step.

    ``part``, (N + 16 M, 2), has a and b = -a r of the step to each node or place.
    """
    for numbers, factor in ((gradient, part[:, 0]), (exposure, part[:, 1])):
        slope = np.column_stack([factor, np.zeros(len(factor))])
        add_parts_of_steps(*walked, slope, numbers, out)
