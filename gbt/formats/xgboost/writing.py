r"""Our models as XGBoost's JSON, which XGBoost loads, predicts with and explains.

The arrays are those that ``gbt.formats.xgboost`` reads, converted the other way::

    split_conditions   threshold of x < t, value of a leaf     base_weights   value / learning_rate
    loss_changes       gain                                    sum_hessian    H

All numbers are float32 there. Predictions are ours within that rounding, and every row of float32
numbers reaches the same leaf: our rule ``x <= threshold`` becomes ``x < t`` with the first float32
t above the threshold::

    float32      a           b           c            t = c: of float32 rows a and b go left,
    threshold                   |                     as they do here

Nodes are numbered depth by depth, since XGBoost takes the node after the left child for the right::

    here    a                   there    a
           / \                          / \          a b e c d
          b   e                        b   e         0 1 2 3 4
         / \                          / \
        c   d                        c   d

In XGBoost a set of codes goes right, and a code that a model has not seen goes left; give nan in
its place, which goes where missing values go.

The hessians of our Poisson and gamma losses are not XGBoost's (``gbt.losses``), which a file cannot
express. The sums in its nodes are ours; sums that XGBoost computes anew are XGBoost's.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from gbt.files.whole_files import write_whole
from gbt.formats.objectives import XGBOOST
from gbt.losses.by_name import parameters_of
from gbt.losses.loss import Loss
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import rounded_down
from gbt.model.tree import Tree

VERSION = [3, 1, 0]  # the first XGBoost whose files have a base_score for each output
LARGEST_32 = np.finfo(np.float32).max
LARGEST_DECIMAL = 3.4028234e38  # as float32 LARGEST_32, and as float64 not above it
NO_PARENT = 2**31 - 1
NOT_IN_NAMES = ("[", "]", "<")
OBJECTIVES = {  # by the name of a loss
    objective.loss(n_outputs=2 if objective.is_of_classes else 1).name: name
    for name, objective in XGBOOST.items()
    if objective.record is not None
}


def write_xgboost(ensemble: Ensemble, path: str | os.PathLike) -> None:
    """Write a model as XGBoost's JSON; see `gbt.formats.to_xgboost`."""
    if Path(path).suffix != ".json":
        raise ValueError(
            f"XGBoost knows the format of a file by its name, which must end in .json; got"
            f" {os.fspath(path)!r}."
        )
    ensemble.validate()
    _refuse(ensemble)
    write_whole(json.dumps(_document(ensemble), allow_nan=False, ensure_ascii=False), path)


def _refuse(ensemble: Ensemble) -> None:
    """Raise ValueError for a model that XGBoost's JSON cannot express."""
    ensemble.require("hessians", "values", what="XGBoost's JSON")
    loss = (
        ensemble.loss.of_each if isinstance(ensemble.loss, SeveralTargets) else ensemble.loss.name
    )
    for is_so, what in (
        (loss not in OBJECTIVES, f"the loss {loss!r}: XGBoost has none like it"),
        (ensemble.preparation is not None, "the steps of a pipeline: give the model, pipeline[-1]"),
        (ensemble.is_forest, "a forest, whose trees were grown side by side"),
        (ensemble.zero_is_missing, "a model to which 0 is a missing value"),
        (
            len(set(ensemble.feature_names)) < ensemble.n_features,
            "two columns of the same name: XGBoost refuses them",
        ),
        *(
            (mark in name, f"the column {name!r}: XGBoost refuses names with {mark!r}")
            for name in ensemble.feature_names
            for mark in NOT_IN_NAMES
        ),
    ):
        if is_so:
            raise ValueError(f"XGBoost's JSON cannot express {what}.")


def _document(ensemble: Ensemble) -> dict[str, Any]:
    """Return the model as XGBoost writes one."""
    loss, names = ensemble.loss, list(ensemble.feature_names)
    made_up = ([f"{letter}{k}" for k in range(len(names))] for letter in "xf")  # by us, by XGBoost
    have_names = names not in made_up
    categories = ensemble.categories
    n_classes = ensemble.n_outputs if isinstance(loss, Softmax) else 0
    n_targets = ensemble.n_outputs if isinstance(loss, SeveralTargets) else 1
    arrays, offset = _node_arrays(ensemble), ensemble.tree_offset
    trees = [
        {"id": m, **_tree(ensemble, tree, {name: of[start:] for name, of in arrays.items()})}
        for m, (tree, start) in enumerate(zip(ensemble.trees, offset.tolist(), strict=False))
    ]
    return {
        "learner": {
            "attributes": {},
            "feature_names": names if have_names else [],
            "feature_types": (
                []
                if categories is None
                else ["float" if levels is None else "c" for levels in categories]
            ),
            "gradient_booster": {
                "model": {
                    "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
                    "gbtree_model_param": {
                        "num_parallel_tree": "1",
                        "num_trees": str(ensemble.n_trees),
                    },
                    "iteration_indptr": [*range(0, ensemble.n_trees + 1, ensemble.n_outputs)],
                    "tree_info": ensemble.tree_output.tolist(),
                    "trees": trees,
                },
                "name": "gbtree",
            },
            "learner_model_param": {
                "base_score": _base_score(ensemble),
                "boost_from_average": "0",
                "num_class": str(n_classes),
                "num_feature": str(ensemble.n_features),
                "num_target": str(n_targets),
            },
            "objective": _objective(loss),
        },
        "version": VERSION,
    }


def _objective(loss: Loss) -> dict[str, Any]:
    """Return the objective with its numbers, which are text."""
    name = OBJECTIVES[loss.of_each if isinstance(loss, SeveralTargets) else loss.name]
    objective = XGBOOST[name]
    texts = {"scale_pos_weight": "1"}
    if objective.is_of_classes:
        texts = {"num_class": str(loss.n_outputs)}
    elif objective.parameters:
        own = zip(objective.parameters, parameters_of(loss).values(), strict=False)
        texts = {parameter: str(of or 0.0) for parameter, of in own}  # None is no max_delta_step
        if "quantile_alpha" in texts:
            texts["quantile_alpha"] = f"[{texts['quantile_alpha']}]"
    return {"name": name, **({objective.record: texts} if objective.record else {})}


def _base_score(ensemble: Ensemble) -> str:
    """Return the predictions before the first tree, raw ones of classes, as text."""
    loss, raw = ensemble.loss, np.atleast_1d(ensemble.base_score)
    start = raw if isinstance(loss, Softmax) else np.atleast_1d(loss.inverse_link(raw))
    single = start.astype(np.float32)
    own = loss.loss if isinstance(loss, SeveralTargets) else loss
    if not isinstance(loss, Softmax):
        with np.errstate(divide="ignore"):
            is_lost = not np.isfinite([own.link(number) for number in single.tolist()]).all()
        if is_lost:
            raise ValueError(
                "XGBoost's JSON cannot express the base score"
                f" {', '.join(f'{number:g}' for number in raw)}: the prediction that belongs to it,"
                f" {', '.join(f'{number:g}' for number in start)}, is rounded to {single[0]:g}."
            )
    return f"[{','.join(map(str, _decimals(single)))}]"


def _node_arrays(ensemble: Ensemble) -> dict[str, np.ndarray]:
    """Return XGBoost's arrays of all nodes, as the shortest decimals of float32 numbers."""
    is_leaf = ensemble.left < 0
    condition = np.where(is_leaf, ensemble.value, _first_above(ensemble.threshold))
    condition[ensemble.has_set] = 0.0
    return {
        "base_weights": _decimals(ensemble.value / ensemble.learning_rate),
        "loss_changes": _decimals(ensemble.gain),
        "split_conditions": _decimals(condition),
        "sum_hessian": _decimals(ensemble.sum_hessian),
    }


def _first_above(threshold: np.ndarray) -> np.ndarray:
    """Return the first float32 above each number; the largest float32 stays itself."""
    return np.nextafter(rounded_down(threshold), LARGEST_32).astype(np.float64)


def _decimals(numbers: np.ndarray) -> np.ndarray:
    """Return numbers whose shortest decimal is that of the nearest float32."""
    with np.errstate(over="ignore"):
        single = np.asarray(numbers).astype(np.float32)
    if not np.isfinite(single).all():
        raise ValueError("XGBoost's JSON cannot express the model: float32 has no such large sums.")
    return np.clip(single.astype(str).astype(np.float64), -LARGEST_DECIMAL, LARGEST_DECIMAL)


def _tree(ensemble: Ensemble, tree: Tree, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return one tree, depth by depth, which makes siblings neighbours."""
    nodes = np.argsort(tree.depth, kind="stable")
    place = np.empty(tree.n_nodes, dtype=np.int64)
    place[nodes] = np.arange(tree.n_nodes)
    is_leaf = tree.is_leaf[nodes]
    left, right = (np.where(is_leaf, -1, place[links[nodes]]) for links in (tree.left, tree.right))
    inner = np.flatnonzero(~is_leaf)
    parents = np.full(tree.n_nodes, NO_PARENT, dtype=np.int64)
    parents[left[inner]] = parents[right[inner]] = inner
    with_set = {}
    if ensemble.categories is not None and tree.level_sets is not None:
        for i in np.flatnonzero(tree.level_sets.of_node[nodes] >= 0).tolist():
            levels = ensemble.categories[tree.feature[nodes[i]]] or ()
            goes_left = tree.level_sets.goes_left(nodes[i], len(levels))
            # XGBoost refuses an empty set: in its place stands a code that no training row has.
            with_set[i] = np.flatnonzero(~goes_left).tolist() or [len(levels)]
    sizes = [*map(len, with_set.values())]
    return {
        **{name: array[nodes].tolist() for name, array in arrays.items()},
        "categories": [code for codes in with_set.values() for code in codes],
        "categories_nodes": [*with_set],
        "categories_segments": np.cumsum([0, *sizes])[: len(sizes)].tolist(),
        "categories_sizes": sizes,
        "default_left": tree.missing_left[nodes].astype(int).tolist(),
        "left_children": left.tolist(),
        "parents": parents.tolist(),
        "right_children": right.tolist(),
        "split_indices": np.maximum(tree.feature[nodes], 0).tolist(),
        "split_type": [int(i in with_set) for i in range(tree.n_nodes)],
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(ensemble.n_features),
            "num_nodes": str(tree.n_nodes),
            "size_leaf_vector": "1",
        },
    }
