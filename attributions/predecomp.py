"""PreDecomp: a prediction split by the features along its path (Sun 2022, equation 9).

Every node t of a tree has a value p(t), what it would predict had growth stopped there. Going down
from t to a child changes the value, and the change is credited to the feature that t splits on:

    f_mk(x) = sum over the inner nodes t on the path of x that split on k of p(child taken) - p(t)

The sum telescopes, so f_m(x) = p(root) + sum_k f_mk(x) for any row (Proposition 1). The cost is
that of predicting.
"""

import numpy as np

from attributions.individual import attribute
from attributions.kernels.paths import add_value_changes
from attributions.results import LocalAttribution
from gbt.ensemble import Ensemble


class PreDecomp:
    """Changes of the node values p(t) = -learning_rate G/(H + reg_lambda) along the path."""

    name = "predecomp"

    def bind(self, ensemble: Ensemble) -> "PathChanges":
        """Take the values that the model keeps."""
        return PathChanges(ensemble, ensemble.value)


class PathChanges:
    """Changes along the path of any ``node_value``, float64 of shape (n_nodes,)."""

    def __init__(self, ensemble: Ensemble, node_value: np.ndarray):
        self.roots = ensemble.tree_offset[:-1]
        self.trees = (*ensemble.structure, node_value)
        self.base_values = node_value[self.roots]

    def add(self, X, m, row_weight, out):
        """Add ``row_weight[i] * r_mk(x_i)`` to ``out[i, k]``."""
        add_value_changes(X, self.roots[m], *self.trees, row_weight, out)


def predecomp(model, X, *, n_jobs: int | None = None) -> LocalAttribution:
    """Split predictions among the features along the paths of the trees.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Whatever ``gbt.formats.as_ensemble`` takes.
    X : array of shape (n, p)
        Rows to explain; nan is a missing value.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    LocalAttribution
        Contributions of shape (n, p). The base value is the base score plus the values of all
        roots, so base value and contributions add up to the raw prediction.
    """
    return attribute(model, X, PreDecomp(), n_jobs)
