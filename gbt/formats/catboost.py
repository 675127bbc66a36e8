r"""CatBoost models of numeric splits: symmetric trees, all nodes of a level alike.

The JSON of such a tree is d splits ``x > border`` and 2^d leaves; bit i of a leaf's number says
whether split i holds. The last split is put at the root, so that leaves are in order::

                   split 1                    leaves   0   1   2   3
                  /       \                    split 0  no  yes no  yes
             split 0     split 0              split 1  no  no  yes yes
             /    \       /    \
            0      1     2      3

Of a leaf CatBoost keeps its value and the weight W of its training rows. Under RMSE that is H, and
G = -(value / eta) (W + lambda); but where rows are weighted, lambda has been multiplied by their
mean weight, which nothing tells. So G is taken for known only if the sums of every tree follow from
the tree before it (``gbt.formats.origin``). Under Logloss H is lost. Numbers and borders are
float32.
"""

import os
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gbt.documents import as_array, read_json
from gbt.formats.imported import Imported, kept
from gbt.formats.nodes import in_preorder, to_ensemble
from gbt.formats.origin import Start, contradiction
from gbt.losses import LOSSES
from gbt.several_outputs import Softmax
from gbt.statistics import node_step
from gbt.tree import InvalidModelError

LOSS_OF_FUNCTION = {"RMSE": "half_squared_error", "Logloss": "half_logistic"}
OF_CLASSES = "MultiClass"
MOST_LEVELS = 16  # that CatBoost grows


def import_catboost(model: Any) -> Imported | None:
    """Turn a model of CatBoost into an `Ensemble`; None for what is no model.

    Refused are other losses than RMSE, Logloss and MultiClass, several targets, trees that are not
    symmetric, and splits on categories, by name.
    """
    if not hasattr(model, "get_all_params"):
        return None
    if not model.is_fitted():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError("This CatBoost model is not fitted yet; call fit first.")
    state = model._serialize_model()
    return kept(model, hash(state), lambda: _import(_as_json(model), model.get_all_params()))


def _as_json(model: Any) -> dict[str, Any]:
    """Return what CatBoost writes down as JSON, which it only does to files."""
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.save_model(path, format="json")
        return read_json(path)


def _import(document: dict[str, Any], parameters: dict[str, Any]) -> Imported:
    function = parameters.get("loss_function")
    if function not in (*LOSS_OF_FUNCTION, OF_CLASSES):
        allowed = [*LOSS_OF_FUNCTION, OF_CLASSES]
        raise ValueError(f"loss_function={function!r} cannot be imported, only {allowed} can.")
    if "oblivious_trees" not in document:
        raise ValueError(
            f"grow_policy={parameters.get('grow_policy')!r} cannot be imported: only symmetric"
            " trees can."
        )
    scale, biases = document["scale_and_bias"]
    n_outputs = len(biases) if function == OF_CLASSES else 1
    if len(biases) != n_outputs or scale != 1:
        raise ValueError("A CatBoost model of several targets, or rescaled, cannot be imported.")
    bias = float(biases[0]) if n_outputs == 1 else np.array(biases, dtype=np.float64)
    of_one = LOSSES[LOSS_OF_FUNCTION.get(function, "half_logistic")]
    loss = of_one if n_outputs == 1 else Softmax(n_outputs, 1.0)
    features = document["features_info"]
    if features.get("categorical_features"):
        raise ValueError(
            "A CatBoost model with categorical features cannot be imported: it splits on"
            " statistics and combinations of categories. Train with the categories as numbers."
        )
    columns = features["float_features"]
    trees = document["oblivious_trees"]
    arrays = [
        _read_tree(tree, m, columns, (k, n_outputs))
        for m, tree in enumerate(trees)
        for k in range(n_outputs)
    ]
    stops = np.cumsum([len(tree["left"]) for tree in arrays], dtype=np.int64)
    starts = np.concatenate([[0], stops])[:-1].astype(np.int64)
    start = np.repeat(starts, stops - starts)
    flat = {name: np.concatenate([tree[name] for tree in arrays]) for name in arrays[0]}
    left, right = (
        np.where(flat[side] < 0, -1, flat[side] + start).astype(np.int64)
        for side in ("left", "right")
    )
    nodes = in_preorder("CatBoost", starts, stops, left, right)
    flat = {name: array[nodes.order] for name, array in flat.items()}
    leaf, value, weight = nodes.is_leaf, flat["value"], nodes.add_up(flat["weight"])

    eta, reg_lambda = float(parameters["learning_rate"]), float(parameters["l2_leaf_reg"])
    G = nodes.add_up(np.where(leaf, -value / eta * (weight + reg_lambda), 0.0))
    mean = Start(bias, bool(parameters.get("boost_from_average")), False, (), False)
    unknown: str | None = f"CatBoost does not keep it under {function}"
    if function == "RMSE":
        unknown = contradiction(nodes, G, weight, value, loss, mean)
        if unknown is not None:
            unknown += ". Rows may have been weighted, which multiplies l2_leaf_reg"
    is_count = bool((weight % 1 == 0).all())
    ensemble = to_ensemble(
        nodes,
        feature=flat["feature"],
        threshold=flat["border"],
        missing_left=flat["missing_left"].astype(bool),
        value=np.where(leaf, value, -eta * node_step(G, weight, reg_lambda)),
        sum_gradient=G if unknown is None else None,
        sum_hessian=weight if unknown is None else None,
        n_samples=weight if is_count else None,
        values_are_known=unknown is None,
        base_score=bias,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=tuple(
            column.get("feature_id") or str(column["flat_feature_index"]) for column in columns
        ),
        input_dtype=np.float32,
    )
    return Imported(ensemble, "CatBoost", unknown)


def _read_tree(
    tree: dict[str, Any], m: int, columns: list[dict], output: tuple[int, int]
) -> dict[str, np.ndarray]:
    """Return the nodes of one tree level by level, the root first.

    ``output`` is (k, K): leaves have K values beside each other, and k says which is asked for.
    """
    splits = tree["splits"] or []
    kinds = {split["split_type"] for split in splits} - {"FloatFeature"}
    if kinds:
        raise ValueError(f"Tree {m} of the CatBoost model has splits of type {sorted(kinds)}.")
    value, weight = (
        as_array(tree[name], f"{name} of tree {m}", np.float64)
        for name in ("leaf_values", "leaf_weights")
    )
    depth, (k, n_outputs) = len(splits), output
    if len(value) == n_outputs * len(weight):
        value = value[k::n_outputs]
    if depth > MOST_LEVELS or len(value) != 2**depth or len(weight) != 2**depth:
        raise InvalidModelError(
            f"Tree {m} of the CatBoost model has {depth} splits and {len(value)} leaves."
        )
    levels = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    of_level = [splits[depth - 1 - level] for level in levels]
    above = np.zeros(2**depth)  # of leaves, what inner nodes have
    column = [columns[split["float_feature_index"]] for split in of_level]
    inner = np.arange(2**depth - 1)
    no_child = np.full(2**depth, -1)
    none = np.zeros(len(inner))
    return {
        "feature": np.append([c["flat_feature_index"] for c in column], above),
        "border": np.append([float(np.float32(s["border"])) for s in of_level], above),
        "missing_left": np.append([c["nan_value_treatment"] != "AsTrue" for c in column], above),
        "left": np.append(2 * inner + 1, no_child),
        "right": np.append(2 * inner + 2, no_child),
        "value": np.append(none, value),
        "weight": np.append(none, weight),
    }
