"""Saabas: PreDecomp with the mean leaf value below a node in place of the node's own value.

    p~(t) = sum over the leaves l below t of W_l p(l) / sum of W_l      p~(leaf) = p(leaf)

This is the "alternative definition" of Sun 2022. With hessian weights, W = H, it agrees with
PreDecomp when the penalty is 0, for every loss (recurrences (23): docs/attributions.md, section 3).
Weights by row count, W = n, are the rule of the treeinterpreter package (Saabas 2014). XGBoost's
``approx_contribs`` uses the hessian.
"""

from typing import Any

from attributions.kernels.paths import average_leaves
from attributions.per_row.individual import attribute, node_cover
from attributions.per_row.predecomp import PathChanges
from attributions.results import LocalAttribution
from gbt.model.ensemble import Ensemble


class Saabas:
    """Changes of the mean leaf value p~(t) along the path; ``weights`` as for `saabas`."""

    credits_splits_only = True

    def __init__(self, weights: str | None = None):
        self.weights = weights

    @property
    def name(self) -> str:
        """The name of the method, with its option unless that is the default."""
        return f"saabas(weights={self.weights!r})" if self.weights == "count" else "saabas"

    def bind(self, ensemble: Ensemble) -> PathChanges:
        """Average the leaves below every node.

        Where all leaves below a node weigh 0, its two children count alike.
        """
        leaf_weight = node_cover(ensemble, self.weights)
        mean_value = ensemble.value.copy()
        average_leaves(ensemble.tree_offset, ensemble.left, ensemble.right, leaf_weight, mean_value)
        return PathChanges(ensemble, mean_value)


def saabas(
    model: Any,
    X: Any,
    *,
    weights: str | None = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> LocalAttribution:
    """Split predictions by the changes of the mean leaf value along the paths of the trees.

    It is `predecomp` with the mean of the leaf values below a node in place of the node's own.

    Parameters
    ----------
    model, X, columns, n_jobs
        As for `predecomp`.
    weights : {None, "hessian", "count"}
        What a leaf weighs in the mean: its hessian sum (the paper's alternative definition), or its
        number of training rows (vanilla Saabas). They differ for the logistic loss. None is the
        first that the model has.

    Returns
    -------
    LocalAttribution
        Contributions of shape (n, p). The base value is the base score plus the mean leaf value of
        every tree, so base value and contributions add up to the raw prediction.
    """
    return attribute(model, X, Saabas(weights), n_jobs, columns)
