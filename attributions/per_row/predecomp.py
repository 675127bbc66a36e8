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
from attributions.per_row.individual import attribute
from attributions.results import LocalAttribution
from attributions.walk.layout_of_steps import Steps, along_paths
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import columns_of


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
        at, end = np.empty(out.shape[1], np.uint64), np.empty(out.shape[1], np.int64)
        links, first = self.ensemble.predictor.links, trees.start
        add_value_changes(columns_of(X), links, first, self.parts, row_weight, at, end, out)

    @cached_property
    def parts(self) -> Parts:
        """The changes as rows climb from their spots."""
        part = np.zeros((len(self.step), N_TERMS))
        part[:, 0] = self.step
        return along_paths(self.ensemble, part)


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
