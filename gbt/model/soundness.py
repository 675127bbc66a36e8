"""Whether a model is sound: whether its arrays describe trees that rows can walk down.

Files may hold anything, and a caller may make a model of arrays. An error names the node that is
wrong, before a walk would leave the arrays or never end.
"""

from typing import Any

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.losses.by_name import is_known
from gbt.model.tree import NODE_DTYPES, preorder_links
from gbt.tables.level_sets import n_words_for

STATISTICS = ("gradients", "hessians", "counts", "values")  # a model declares which it has
NEEDED_FOR = {
    "sum_gradient": "gradients",
    "sum_hessian": "hessians",
    "n_samples": "counts",
    "gain": "gradients",
}


def refuse_unsound(ensemble: Any) -> None:
    """Raise `InvalidModelError` unless the arrays describe trees in preorder.

    A model that passes can be walked: there is no cycle, no node of two parents, none without
    a parent but the roots, and no index out of range. Values need not follow from G and H,
    nor G and H add up: refitted and imported models have values or sums from elsewhere.
    """
    shapes = {name: getattr(ensemble, name).shape for name in NODE_DTYPES}
    n_nodes = len(ensemble.feature)
    if set(shapes.values()) != {(n_nodes,)}:
        raise InvalidModelError(f"node arrays must have one length; got the shapes {shapes}")
    offset = ensemble.tree_offset
    ends = offset[[0, -1]].tolist() if offset.ndim == 1 and len(offset) else []
    if ends != [0, n_nodes] or (np.diff(offset) < 1).any():
        raise InvalidModelError(
            f"tree_offset must rise from 0 to the number of nodes, {n_nodes}, and every tree"
            " must have a node"
        )
    _refuse_unsound_fields(ensemble)
    _refuse_unsound_categories(ensemble)
    _refuse_unsound_nodes(ensemble)


def _refuse_unsound_fields(ensemble: Any) -> None:
    """Raise `InvalidModelError` unless what all trees have in common is allowed."""
    for holds, demand in (
        (
            np.isfinite(ensemble.base_score).all()
            and np.size(ensemble.base_score) == ensemble.n_outputs,
            f"base_score must be finite, one an output; got {ensemble.base_score}",
        ),
        (
            ensemble.n_trees == ensemble.n_rounds * ensemble.n_outputs,
            "every output has a tree in a round",
        ),
        (
            0 < ensemble.learning_rate < np.inf,
            f"learning_rate must be in (0, inf); got {ensemble.learning_rate}",
        ),
        (
            0 <= ensemble.reg_lambda < np.inf,
            f"reg_lambda must be in [0, inf); got {ensemble.reg_lambda}",
        ),
        (is_known(ensemble.loss), f"loss must be one of gbt.losses; got {ensemble.loss!r}"),
        (ensemble.n_features > 0, "feature_names must name at least one column"),
        (
            ensemble.credit is None or ensemble.credit.is_of(ensemble.n_features),
            f"credit must have one of its features for each of {ensemble.n_features} columns",
        ),
        (
            ensemble.input_dtype in (np.float64, np.float32),
            f"input_dtype must be float64 or float32; got {ensemble.input_dtype}",
        ),
        (
            ensemble.statistics <= set(STATISTICS),
            f"statistics must be some of {STATISTICS}; got {sorted(ensemble.statistics)}",
        ),
    ):
        if not holds:
            raise InvalidModelError(demand)


def _refuse_unsound_nodes(ensemble: Any) -> None:
    """Raise `InvalidModelError` of the first node that is not one of a tree in preorder."""
    offset, inner = ensemble.tree_offset, ensemble.left >= 0
    left, right = preorder_links(inner, offset)
    in_range = (ensemble.feature >= 0) & (ensemble.feature < ensemble.n_features)
    for name, holds, demand in (
        ("left", ensemble.left == left, "in preorder it is the next node, and -1 at a leaf"),
        (
            "right",
            ensemble.right == right,
            "in preorder it is the first node after the left child's branch, and -1 at a leaf",
        ),
        (
            "feature",
            np.where(inner, in_range, ensemble.feature == -1),
            f"an inner node has one in [0, {ensemble.n_features}), a leaf -1",
        ),
        ("threshold", inner | (ensemble.threshold == 0), "a leaf has 0"),
        ("missing_left", inner | ~ensemble.missing_left, "a leaf has False"),
        ("gain", inner | (ensemble.gain == 0), "a leaf has 0"),
        ("sum_hessian", ensemble.sum_hessian >= 0, "it cannot be negative"),
        ("n_samples", ensemble.n_samples >= 0, "it cannot be negative"),
        *(
            (name, np.isfinite(getattr(ensemble, name)), "it must be finite")
            for name in ("threshold", "gain", "sum_gradient", "sum_hessian", "value")
        ),
        *(
            (name, getattr(ensemble, name) == 0, f"the model does not know its {statistic}")
            for name, statistic in NEEDED_FOR.items()
            if statistic not in ensemble.statistics
        ),
        (
            "value",
            ~inner | ("values" in ensemble.statistics) | (ensemble.value == 0),
            "it is unknown",
        ),
    ):
        if not holds.all():
            node = int(np.argmin(holds))
            tree = int(np.searchsorted(offset, node, side="right")) - 1
            raise InvalidModelError(
                f"node {node - offset[tree]} of tree {tree} has {name}"
                f" {getattr(ensemble, name)[node]}: {demand}"
            )


def _refuse_unsound_categories(ensemble: Any) -> None:
    """Raise `InvalidModelError` unless splits on categorical columns have sets, others none."""
    if (ensemble.categories is None) != (ensemble.level_sets is None):
        raise InvalidModelError("categories and level_sets belong together: both or none")
    if ensemble.categories is None or ensemble.level_sets is None:
        return
    if len(ensemble.categories) != ensemble.n_features:
        raise InvalidModelError(
            f"categories must have one entry for each column, {ensemble.n_features}; got"
            f" {len(ensemble.categories)}"
        )
    n_words = [-1 if levels is None else n_words_for(len(levels)) for levels in ensemble.categories]
    problem = ensemble.level_sets.problem(ensemble.feature, np.array(n_words))
    if problem:
        raise InvalidModelError(f"level_sets {problem}")
