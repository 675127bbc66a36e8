"""Contributions of single trees combined to one number a row and feature.

==================  ==============================================================================
``sum``             The sum of the signed contributions: parts of the prediction.
``absolute``        The sum of their absolute values.
``rank``            The mean over trees of a row's ranks: 0 for the least absolute value, p - 1 for
                    the largest. Features that a tree gives nothing share the lowest ranks, and
                    equal values share theirs, so a row's ranks depend on no other row.
``rank_where_used`` The rule of the LMDI+ authors' program: a feature's ranks are averaged over the
                    trees that give it something in *some* row of the table; zeros and equal values
                    are ranked in the order of the columns. So a feature that one lucky tree uses
                    can rank first, and a row's ranks depend on the rows beside it.
==================  ==============================================================================

They work for any individual attribution, so that methods are compared alike.
"""

from typing import Any

import numpy as np

from attributions.inputs import finite_rows
from attributions.kernels.stumps import add_ranks
from attributions.options import check_one_of
from attributions.per_row.individual import (
    ROWS_IN_CACHE,
    as_individual,
    attribute,
    attribute_per_tree,
)
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import over_transposed

AGGREGATES = ("sum", "absolute", "rank", "rank_where_used")


def aggregate_trees(
    ensemble: Ensemble, X: Any, individual: Any, aggregate: str, n_jobs: int | None = None
) -> np.ndarray:
    """Return the combined contributions to every row: (n, p), or (n, p, K) for K outputs.

    ``individual`` is what ``attributions.per_row.individual.as_individual`` takes.
    """
    check_one_of(AGGREGATES, aggregate=aggregate)
    if aggregate == "sum":
        return attribute(ensemble, X, individual, n_jobs).values
    if ensemble.n_outputs > 1:
        of_each = [aggregate_trees(o, X, individual, aggregate, n_jobs) for o in ensemble.outputs]
        return np.stack(of_each, axis=-1)
    if aggregate == "rank_where_used":
        return _ranks_where_used(ensemble, X, individual, n_jobs)
    bound = as_individual(individual).bind(ensemble)
    X = finite_rows(ensemble, X)
    values = np.empty(X.shape)

    def add(block: np.ndarray, rows: slice) -> None:
        of_tree, total = np.zeros((2, *block.shape[1:]))
        ones = np.ones((1, block.shape[2]))
        for m in range(ensemble.n_trees):
            of_tree[:] = 0.0
            bound.add(block, range(m, m + 1), ones, of_tree)
            if aggregate == "rank":
                add_ranks(of_tree, total)
            else:
                total += np.abs(of_tree)
        values[rows] = total.T

    over_transposed(add, X, n_jobs, ROWS_IN_CACHE)
    return values / ensemble.n_trees if aggregate == "rank" else values


def _ranks_where_used(
    ensemble: Ensemble, X: Any, individual: Any, n_jobs: int | None
) -> np.ndarray:
    """Return mean ranks over the trees that give a feature something, and 0 without such a tree."""
    X = finite_rows(ensemble, X)
    shape = (len(X), ensemble.n_features)
    total, n_used = np.zeros(shape), np.zeros(shape[1])
    for _, values in attribute_per_tree(ensemble, X, individual, n_jobs):
        magnitude = np.abs(values)
        is_used = magnitude.any(axis=0)
        magnitude[:, ~is_used] = -1.0
        ranks = np.argsort(np.argsort(magnitude, axis=1, kind="stable"), axis=1, kind="stable")
        total[:, is_used] += ranks[:, is_used]
        n_used += is_used
    return total / np.maximum(n_used, 1)
