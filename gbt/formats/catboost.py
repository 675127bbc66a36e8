r"""CatBoost models of numeric splits: symmetric trees, all nodes of a level alike.

Such a tree is d splits ``x > border`` and 2^d leaves; bit i of a leaf's number says whether split i
holds. The last split is put at the root, so that leaves are in order::

                   split 1                    leaves   0   1   2   3
                  /       \                    split 0  no  yes no  yes
             split 0     split 0              split 1  no  no  yes yes
             /    \       /    \
            0      1     2      3

Trees of one depth have one shape, so they are written down together. They are read from the bytes
in which CatBoost keeps a model (``gbt.formats.catboost_binary``), which is faster than its JSON.

Of a leaf CatBoost keeps its value and the weight W of its training rows. Under RMSE that is H, and
G = -(value / eta) (W + lambda); but where rows are weighted, lambda has been multiplied by their
mean weight, which nothing tells. So G is taken for known only if the sums of every tree follow from
the tree before it (``gbt.formats.origin``). Under Logloss H is lost. Numbers and borders are
float32. Of levels of categories CatBoost keeps hashes and statistics, no levels.
"""

from typing import Any, NamedTuple

import numpy as np

from gbt.formats.catboost_binary import Model, read_model
from gbt.formats.imported import Imported, kept
from gbt.formats.nodes import Preorder, to_ensemble
from gbt.formats.origin import Start, contradiction
from gbt.losses import LOSSES
from gbt.several_outputs import Softmax
from gbt.statistics import node_step

LOSS_OF_FUNCTION = {"RMSE": "half_squared_error", "Logloss": "half_logistic"}
OF_CLASSES = "MultiClass"


class _Nodes(NamedTuple):
    """All nodes in preorder; values and weights of inner nodes are 0."""

    tree: Preorder
    feature: np.ndarray
    border: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    weight: np.ndarray


def import_catboost(model: Any) -> Imported | None:
    """Turn a model of CatBoost into an `Ensemble`; None for what is no model.

    Refused are other losses than RMSE, Logloss and MultiClass, several targets, trees that are not
    symmetric, and features that are categories, text or embeddings, by name.
    """
    if not hasattr(model, "get_all_params"):
        return None
    if not model.is_fitted():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError("This CatBoost model is not fitted yet; call fit first.")
    state = model._serialize_model()
    return kept(model, hash(state), lambda: _import(read_model(state), model.get_all_params()))


def _import(model: Model, parameters: dict[str, Any]) -> Imported:
    function = parameters.get("loss_function")
    if function not in (*LOSS_OF_FUNCTION, OF_CLASSES):
        allowed = [*LOSS_OF_FUNCTION, OF_CLASSES]
        raise ValueError(f"loss_function={function!r} cannot be imported, only {allowed} can.")
    if not model.has_symmetric_trees:
        raise ValueError(
            f"grow_policy={parameters.get('grow_policy')!r} cannot be imported: only symmetric"
            " trees can."
        )
    n_outputs = model.n_outputs if function == OF_CLASSES else 1
    if model.n_outputs != n_outputs or len(model.bias) != n_outputs or model.scale != 1:
        raise ValueError("A CatBoost model of several targets, or rescaled, cannot be imported.")
    if model.others:
        raise ValueError(
            f"A CatBoost model with {' and '.join(model.others)} features cannot be imported: of"
            " levels of categories it keeps hashes, statistics and combinations. Train with numbers"
            " in their place."
        )
    bias = float(model.bias[0]) if n_outputs == 1 else model.bias
    of_one = LOSSES[LOSS_OF_FUNCTION.get(function, "half_logistic")]
    loss = of_one if n_outputs == 1 else Softmax(n_outputs, 1.0)
    nodes = _read_trees(model)
    tree, value, weight = nodes.tree, nodes.value, nodes.tree.add_up(nodes.weight)
    leaf = tree.is_leaf
    eta, reg_lambda = float(parameters["learning_rate"]), float(parameters["l2_leaf_reg"])
    G = tree.add_up(np.where(leaf, -value / eta * (weight + reg_lambda), 0.0))
    unknown: str | None = f"CatBoost does not keep it under {function}"
    if function == "RMSE":
        mean = Start(bias, bool(parameters.get("boost_from_average")), False, (), False)
        unknown = contradiction(tree, G, weight, value, loss, mean)
        if unknown is not None:
            unknown += ". Rows may have been weighted, which multiplies l2_leaf_reg"
    is_count = bool((weight % 1 == 0).all())
    ensemble = to_ensemble(
        tree,
        feature=nodes.feature,
        threshold=nodes.border,
        missing_left=nodes.missing_left,
        value=np.where(leaf, value, -eta * node_step(G, weight, reg_lambda)),
        sum_gradient=G if unknown is None else None,
        sum_hessian=weight if unknown is None else None,
        n_samples=weight if is_count else None,
        values_are_known=unknown is None,
        base_score=bias,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=model.feature_names,
        input_dtype=np.float32,
    )
    return Imported(ensemble, "CatBoost", unknown)


def _read_trees(model: Model) -> _Nodes:
    """Return the nodes of all trees, a tree of every output in each round."""
    n_outputs, depth = model.n_outputs, model.depth.astype(np.int64)
    first_split = np.cumsum(depth) - depth
    n_leaves = 2**depth
    first_leaf = np.cumsum(n_leaves) - n_leaves
    tree_offset = np.cumsum(np.append(0, np.repeat(2 * n_leaves - 1, n_outputs)))
    n_nodes = int(tree_offset[-1])
    split = np.full(n_nodes, len(model.border))  # a leaf has the number after the last split
    value, weight = np.zeros((2, n_nodes))
    left, right = np.full((2, n_nodes), -1)
    leaf_value = model.leaf_value.reshape(-1, n_outputs)
    for d in np.unique(depth).tolist():
        level, lower_left, lower_right = _complete_tree(d)
        is_leaf = level == d
        for k in range(n_outputs):
            m = np.flatnonzero(depth == d)
            start = tree_offset[:-1][m * n_outputs + k][:, np.newaxis]
            inner, leaves = start + np.flatnonzero(~is_leaf), start + np.flatnonzero(is_leaf)
            left[inner], right[inner] = start + lower_left, start + lower_right
            split[inner] = model.split[first_split[m][:, np.newaxis] + d - 1 - level[~is_leaf]]
            own = first_leaf[m][:, np.newaxis] + np.arange(2**d)
            value[leaves], weight[leaves] = leaf_value[own, k], model.leaf_weight[own]
    return _Nodes(
        Preorder(np.arange(n_nodes), left, right, tree_offset),
        np.append(model.feature, 0)[split],
        np.append(model.border, 0)[split].astype(np.float64),
        ~np.append(model.nan_is_large, True)[split],
        value,
        weight,
    )


def _complete_tree(depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the level of each node of a complete tree in preorder, and children of inner ones."""
    level = np.zeros(1, dtype=np.int64)
    for _ in range(depth):
        level = np.concatenate([[0], level + 1, level + 1])
    inner = np.flatnonzero(level < depth)
    return level, inner + 1, inner + 2 ** (depth - level[inner])
