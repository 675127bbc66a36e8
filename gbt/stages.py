"""The stages of boosting once more: derivatives of some rows before each tree, a block at a time.

Whoever judges steps asks here, whatever the loss and however many its outputs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gbt.model import Ensemble

TREES_AT_ONCE = 32  # a number for each of them and of 1008 rows is 260 kB


class Stage(NamedTuple):
    """Some trees in a row, and the derivatives of a block of rows before each of them."""

    trees: range
    gradient: np.ndarray  # (T, n)
    hessian: np.ndarray


def stages(ensemble: Ensemble, block: np.ndarray, y: np.ndarray) -> Iterator[Stage]:
    """Yield the derivatives of a `transposed` block of rows before all trees, some at a time.

    The arrays are used again for the next trees: fresh pages take longer to fill.
    """
    raw_prediction = np.full(len(y), ensemble.base_score)
    room = np.empty((3, TREES_AT_ONCE, len(y)))
    for trees in tree_blocks(ensemble.n_trees):
        before, derivatives = room[0, : len(trees)], room[1:, : len(trees)]
        ensemble.predictor.predict_before(block, trees, raw_prediction, before)
        yield Stage(trees, *ensemble.loss.gradient_hessian(y, before, derivatives))


def tree_blocks(n_trees: int) -> list[range]:
    """Cut the numbers of the trees into ranges of ``TREES_AT_ONCE``, the last one shorter."""
    return [
        range(first, min(first + TREES_AT_ONCE, n_trees))
        for first in range(0, n_trees, TREES_AT_ONCE)
    ]
