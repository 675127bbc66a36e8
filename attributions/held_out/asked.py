"""The loss asked at every step of rows, at predictions without the step's feature.

Kernels do this on the way for the losses that they know (``attributions.kernels.held_out``). Of
others the raw predictions at which they are asked, one a row and step, are held in memory for some
trees at a time.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attributions.held_out.exposures import exposures
from attributions.held_out.splits import StepsOfModel
from attributions.kernels.held_out import ask
from attributions.kernels.spots import MAX_ODDS, Spots, odds
from gbt.losses.loss import Loss
from gbt.losses.several_outputs import Softmax
from gbt.model.stages import tree_blocks

NUMBERS_AT_ONCE = 2**15  # raw predictions at which a block of rows is asked: 260 kB


class Together(NamedTuple):
    """The steps of all rows in one tree, and the predictions at which the loss was asked."""

    features: np.ndarray  # (q,) on which the tree splits
    without: np.ndarray  # (q, n) raw predictions without each of them
    steps: np.ndarray  # (S, n) the nodes that rows have come to, from the spot up
    which: np.ndarray  # (S, n) the place of the step's feature in ``features``


class Asked(NamedTuple):
    """What the loss answers at the steps of some rows in T trees, step by step from the spot up."""

    first: int  # of the trees
    gradient: np.ndarray  # (T, S, n) by the tree's own output
    exposure: np.ndarray | None = None  # (T, S, n) u, where rows have it
    together: Together | None = None  # where the loss of a row depends on other rows


def ask_by_row(
    model: StepsOfModel, spots: Spots, y: np.ndarray, raw: np.ndarray, has_exposures: bool
) -> Iterator[Asked]:
    """Ask a loss by row, some trees at a time.

    ``raw``, the raw predictions (K, n), are moved in place from the start to after the last tree.
    """
    loss = model.ensemble.loss
    if isinstance(loss, Softmax) and not has_exposures and _may_be_odds(model, raw):
        yield from _ask_softmax(model, spots, y, raw)
        return
    n_outputs, n = raw.shape
    state, work = np.ascontiguousarray(raw.T), np.zeros((model.ensemble.n_credited, n, n_outputs))
    for first, n_trees, n_steps in _some_trees(model, spots, raw):
        asked = np.empty((n_trees, n_steps, n, n_outputs))
        ask(spots, first, model.paths, None, state, work, asked)
        raw[:] = state.T
        u = _of_own_output(exposures(loss, asked)) if has_exposures else None
        yield Asked(first, _gradients(loss, y, asked), u)


def _ask_softmax(
    model: StepsOfModel, spots: Spots, y: np.ndarray, raw: np.ndarray
) -> Iterator[Asked]:
    """Ask the softmax at odds; a row's ``raw`` may then lack a constant."""
    n_outputs, n = raw.shape
    work = np.ones((model.ensemble.n_credited, n, n_outputs))
    state = np.ascontiguousarray(odds(raw - raw.max(axis=0)).T)
    spots = spots._replace(value=odds(spots.value))
    for first, n_trees, n_steps in _some_trees(model, spots, raw):
        gradient = np.empty((n_trees, n_steps, n, 1))
        ask(spots, first, model.paths_of_odds, y, state, work, gradient)
        np.log(state.T, out=raw)
        yield Asked(first, gradient[..., 0])


def _may_be_odds(model: StepsOfModel, raw: np.ndarray) -> bool:
    """Say whether the odds of all rows stay within those that float64 can carry."""
    spread = np.max(raw.max(axis=0) - raw.min(axis=0), initial=0.0)
    return bool(spread + model.farthest <= np.log(MAX_ODDS))


def _some_trees(
    model: StepsOfModel, spots: Spots, raw: np.ndarray
) -> Iterator[tuple[int, int, int]]:
    """Yield the first of T trees of whole rounds, T, and the most steps of any tree."""
    n_outputs, n = raw.shape
    n_steps = max(1, int(spots.tree_depth.max(initial=1)))
    at_once = max(1, NUMBERS_AT_ONCE // (n_outputs * n_steps * n * n_outputs))
    for rounds in tree_blocks(model.ensemble.n_rounds, at_once):
        yield rounds.start * n_outputs, len(rounds) * n_outputs, n_steps


def _gradients(loss: Loss, y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the derivatives by each tree's own output at raw predictions (T, S, n, K)."""
    *shape, n, n_outputs = asked.shape
    if n_outputs == 1:
        gradient, _ = loss.gradient_hessian(y, asked.reshape(-1, n))
        return gradient.reshape(*shape, n)
    gradient, _ = loss.gradient_hessian(y, asked.reshape(-1, n, n_outputs))
    return _of_own_output(gradient.reshape(asked.shape))


def _of_own_output(numbers: np.ndarray) -> np.ndarray:
    """Return of numbers of all outputs (T, S, n, K) those of each tree's own, (T, S, n)."""
    *shape, n, n_outputs = numbers.shape
    of_rounds = numbers.reshape(-1, n_outputs, shape[1], n, n_outputs)
    own = np.einsum("rosno->rosn", of_rounds)
    return np.ascontiguousarray(own).reshape(*shape, n)
