"""PreDecomp: a prediction split by the features along its path (Sun 2022, equation 9).

Every node t of a tree has a value p(t), what it would predict had growth stopped there. Going down
from t to a child changes the value, and the change is credited to the feature that t splits on:

    f_mk(x) = sum over the inner nodes t on the path of x that split on k of p(child taken) - p(t)

The sum telescopes, so f_m(x) = p(root) + sum_k f_mk(x) for any row (Proposition 1). The cost is
that of predicting.
"""

from functools import cached_property
from typing import Any

import numpy as np

from attributions.kernels.contrasts import N_TERMS, Parts, add_value_changes
from attributions.kernels.spots import Spots
from attributions.per_row.individual import attribute
from attributions.results import LocalAttribution
from attributions.walk.steps import Steps, along_paths, lower_of
from gbt.kernels.rows.descent import NO_LEAVES, find_spots
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import columns_of
from gbt.model.statistics import add_up_trees, by_tree


class PreDecomp:
    """Changes of the node values p(t) = -learning_rate G/(H + reg_lambda) along the path."""

    name = "predecomp"
    credits_splits_only = True

    def bind(self, ensemble: Ensemble) -> "PathChanges":
        """Take the values that the model keeps."""
        ensemble.require("values", what="predecomp")
        return PathChanges(ensemble, ensemble.value)


class PathChanges:
    """Changes along the path of any ``node_value``, float64 of shape (n_nodes,)."""

    credits_features = True

    def __init__(self, ensemble: Ensemble, node_value: np.ndarray):
        self.ensemble = ensemble
        self.node_value = node_value
        self.base_values = node_value[ensemble.tree_offset[:-1]]
        self.step = node_value - node_value[Steps.of(ensemble).up]  # to each node; 0 at a root

    def add(self, X: np.ndarray, trees: range, row_weight: np.ndarray, out: np.ndarray) -> None:
        """Add ``row_weight[m - trees.start, i] * r_mk(x_i)`` to ``out[k, i]``."""
        predictor, parts, these = (
            self.ensemble.predictor,
            self.parts,
            slice(trees.start, trees.stop),
        )
        first, links = predictor.first_spot[these], predictor.links.of(trees)
        of_row = np.empty(row_weight.shape, predictor.spot_dtype)
        find_spots(columns_of(X), links, first, NO_LEAVES, of_row)
        spots = Spots(of_row, first, links.tree_depth, predictor.reached_value)
        of_top = parts.top_feature[these], parts.top_part[these]
        add_value_changes(spots, Parts(*of_top, *parts[2:]), row_weight, out)

    @cached_property
    def parts(self) -> Parts:
        """The changes as rows climb from their spots."""
        part = np.zeros((len(self.step), N_TERMS))
        part[:, 0] = self.step
        return along_paths(self.ensemble, part)

    def sum_by_tree(self, leaf_weight: np.ndarray) -> np.ndarray:
        """Return sum_i row_weight[m, i] r_mk(x_i), of shape (M, p), from sums of weights by leaf.

        ``leaf_weight``, float64 of shape (n_nodes,), has at every leaf the sum of the weights of
        its rows. All rows that take an edge meet the same change of value, so their sum is that
        change times their weight.
        """
        (weight,) = add_up_trees(self.ensemble, leaf_weight[:, np.newaxis].copy()).T
        splits = np.flatnonzero(self.ensemble.left >= 0)
        right, left = (self.step * weight)[lower_of(self.ensemble)[splits]].T
        return by_tree(self.ensemble, splits, right + left)


def predecomp(
    model: Any, X: Any, *, columns: str = "given", n_jobs: int | None = None
) -> LocalAttribution:
    """Split predictions among the features along the paths of the trees.

    A row walks from the root of every tree to a leaf. At each step the node's value changes, and
    the change is credited to the feature on which the node splits.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Any fitted model that ``gbt.formats.as_ensemble`` takes.
    X : array of shape (n, p)
        Rows to explain; nan is a missing value. For an array or a frame of Dask the result is a
        `ChunkedAttribution`, not computed yet.
    columns : {"given", "transformed"}
        As for `held_out_gain`.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    LocalAttribution
        Contributions of shape (n, p). The base value is the base score plus the values of all
        roots, so base value and contributions add up to the raw prediction.
    """
    return attribute(model, X, PreDecomp(), n_jobs, columns)
