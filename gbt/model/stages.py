"""The stages of boosting replayed on any rows: their derivatives before each tree.

A measure such as TreeInner multiplies what a tree did to a row by the row's gradient at the
prediction before that tree. Boosting is replayed on a block of rows for these gradients, under
every loss. All K trees of a round, one for each output, were grown at the predictions before it::

    output 0   tree 0   tree K      ...          a stage: some rounds of one output,
    output 1   tree 1   tree K + 1  ...          as trees of ``ensemble.outputs[k]``

The trees of a forest build on no others. All of them are judged at one prediction, that of the
forest before any split: what it would predict were its trees roots. For a forest of
scikit-learn's this is the mean of y, over the samples that its trees drew::

    start = base_score + sum_m value(root of tree m)

Judged at the base score, importance would depend on where the targets have their origin. A constant
c added to y leaves every split alone and adds -c to the gradients at a base score of 0, so that
TreeInner of feature k would grow by c times the sum of its contributions. Over the rows that grew
the trees this sum is 0, so Proposition 3 of Sun 2022 holds at any start; over new rows it is noise.
The start moves by c with y, and gradients stay as they are. (Under a penalty on leaves, which only
XGBoost's forests can have, the sum is not quite 0: total gain then counts from the base score.)
"""

from typing import NamedTuple

import numpy as np

from gbt.model.ensemble import Ensemble
from gbt.model.starting_values import raw_before

TREES_AT_ONCE = 32  # one float64 for each of 32 trees and 1008 rows takes 260 kB


class Stage(NamedTuple):
    """Successive trees of one output, and the derivatives of some rows before each of them."""

    output: int
    trees: range  # of ``ensemble.outputs[output]``
    gradient: np.ndarray  # (T, n)
    hessian: np.ndarray


def start_of(ensemble: Ensemble, n_rows: int, init_score: np.ndarray | None = None) -> np.ndarray:
    """Return the raw predictions at which the first trees are judged, float64 of shape (K, n).

    ``init_score`` are starting values that ``gbt.model.starting_values`` has checked, (n, K), if
    rows have any.
    """
    start = raw_before(ensemble.base_score, n_rows, init_score)
    if ensemble.is_forest:
        of_rounds = values_in_start(ensemble).reshape(ensemble.n_rounds, ensemble.n_outputs)
        start += of_rounds.sum(axis=0)[:, np.newaxis]
    return start


def values_in_start(ensemble: Ensemble) -> np.ndarray:
    """Return the share of each tree in the start, (M,): its root's value in a forest, else 0."""
    return ensemble.value[ensemble.tree_offset[:-1]] * ensemble.is_forest


def tree_blocks(n_trees: int, at_once: int = TREES_AT_ONCE) -> list[range]:
    """Cut the numbers of the trees into ranges of ``at_once``, the last one shorter."""
    return [range(first, min(first + at_once, n_trees)) for first in range(0, n_trees, at_once)]
