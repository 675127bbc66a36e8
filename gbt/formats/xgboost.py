"""XGBoost models: boosters of trees, with the gradient sums that they let us work out.

XGBoost keeps no sum of gradients, but what it keeps at every node determines it: from
w = -G / (H + lambda) follows G = -w (H + lambda). What its JSON says of a node, and what becomes of
it (eta is the learning rate, s = eta w the value of a leaf):

====================  ===========================  ================================================
array                 at an inner node, at a leaf  here
====================  ===========================  ================================================
``base_weights``      w, (w or s)                  ``value = eta w`` and G of inner nodes
``split_conditions``  threshold, s                 ``x < t`` in float32 becomes ``x <= threshold``
                                                   with the float32 before t; ``value = s``, and
                                                   G = -(s / eta) (H + lambda) of leaves
``sum_hessian``       H, H                         ``sum_hessian``
``loss_changes``      gain, 0                      not read: ``gain`` follows from G and H
====================  ===========================  ================================================

(The base weight of a leaf is w from ``tree_method="exact"`` but s from ``"hist"`` and ``"approx"``,
measured with version 3.2, so it is not read.) Nodes are renumbered in preorder.

**lambda and eta** are no part of the model. A booster still in memory has them in its
configuration; one that was read from a file has the defaults there instead. Therefore nothing is
taken on trust: the G of two children must add up to their parent's within the rounding of float32
(measured: at most 1.1 eps of the sum of the three absolute values), or the model is refused. This
also catches the penalties and constraints under which w is not -G / (H + lambda).
Where eta is unknown it is read off the leaves: of an inner node G is known without it, of a leaf
eta G is, so that every parent of a leaf gives an equation for eta (`_read_learning_rate`). Only
stumps whose roots have G = 0 do not tell eta, and do not contradict a wrong one either.

**What XGBoost does not keep.** ``n_samples`` is 0 at every node: numbers of rows are unknown, and
attributions that weigh by them refuse. A custom objective leaves no trace in a booster; sample
weights (``scale_pos_weight`` is one) and another marker than nan for missing values leave none.
Cost: one Python step a node.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gbt.losses import LOSSES, Loss
from gbt.model import Ensemble, InvalidModelError, Tree
from gbt.statistics import node_gain

LOSS_OF_OBJECTIVE = {
    "reg:squarederror": "half_squared_error",
    "binary:logistic": "half_logistic",
    "binary:logitraw": "half_logistic",  # the prediction, and with it base_score, is raw
}
NODE_ARRAYS = (
    "left_children", "right_children", "split_indices", "split_conditions", "split_type",
    "default_left", "base_weights", "sum_hessian",
)  # fmt: skip
LARGEST_32 = float(np.finfo(np.float32).max)
EPS_32 = float(np.finfo(np.float32).eps)
ADD_UP_WITHIN = 8 * EPS_32  # seven times the largest that was measured


@dataclass
class _Nodes:
    """What the JSON says of the nodes of one tree, in preorder; float64 unless said otherwise."""

    feature: np.ndarray  # int64
    left: np.ndarray  # int64
    right: np.ndarray  # int64
    default_left: np.ndarray  # bool
    split_condition: np.ndarray
    base_weight: np.ndarray
    sum_hessian: np.ndarray

    @property
    def is_leaf(self):
        """Mark the nodes without children."""
        return self.left < 0

    @property
    def families(self):
        """Return the inner nodes, their left and their right children."""
        parent = np.flatnonzero(~self.is_leaf)
        return parent, self.left[parent], self.right[parent]


def from_xgboost(
    model,
    *,
    reg_lambda: float | None = None,
    learning_rate: float | None = None,
) -> Ensemble:
    """Turn a model of XGBoost into an `Ensemble`, or say what in it cannot be.

    Parameters
    ----------
    model : Booster, XGBModel, dict, str or path-like
        A booster, a fitted model of XGBoost's scikit-learn interface, a booster's JSON as Python
        objects, or the name of a JSON file. All trees are taken, as ``Booster.predict`` does; of a
        scikit-learn model that stopped early those up to its best iteration, as its ``predict``.
    reg_lambda : float, optional
        L2 penalty of the training. Needed where the model does not know it: for a dict and a file,
        and for a booster that was read from a file.
    learning_rate : float, optional
        Learning rate (eta) of the training. Needed for a booster that was read from a file; for a
        dict and a file it is read off the leaves.

    Returns
    -------
    Ensemble
        Raw predictions are those of ``output_margin=True`` within float32 rounding, with
        ``input_dtype`` float32 and ``n_samples`` 0 at every node: XGBoost does not count rows.

    Raises
    ------
    ValueError
        For what an `Ensemble` cannot express or what hides the gradient sums: boosters "dart" and
        "gblinear", other objectives than squared error and binary logistic, several classes,
        targets or trees a round, categorical splits, reg_alpha, max_delta_step, monotone
        constraints, and learning rates that change between rounds.
    gbt.model.InvalidModelError
        Also a ValueError: the JSON does not describe a booster.
    """
    document, configuration, n_rounds = _describe(model)
    learner = _entry(document, "learner")
    loss, n_features = _refuse_other_models(learner)
    if configuration is not None:
        training = _refuse_other_training(configuration)
        reg_lambda = _number(training, "lambda") if reg_lambda is None else reg_lambda
        learning_rate = _number(training, "eta") if learning_rate is None else learning_rate
    if reg_lambda is None:
        raise ValueError(
            "An XGBoost model file does not tell its reg_lambda. Give the one of the training:"
            " gbt.formats.xgboost.from_xgboost(model, reg_lambda=...); XGBoost's default is 1."
        )
    if not 0 <= reg_lambda < np.inf:
        raise ValueError(f"reg_lambda must be 0 or more; got {reg_lambda!r}.")
    if learning_rate is not None and not 0 < learning_rate < np.inf:
        raise ValueError(f"learning_rate must be more than 0; got {learning_rate!r}.")

    described = _entry(learner, "gradient_booster", "model", "trees")
    if not isinstance(described, list):
        raise InvalidModelError("The XGBoost model's trees are not a list.")
    trees = [_read_tree(tree, m, n_features) for m, tree in enumerate(described[:n_rounds])]
    reg_lambda = float(np.float32(reg_lambda))  # as XGBoost trained
    if learning_rate is None:
        learning_rate = _read_learning_rate(trees, reg_lambda)
    else:
        learning_rate = float(np.float32(learning_rate))

    ensemble = Ensemble.from_trees(
        [_to_tree(nodes, m, reg_lambda, learning_rate) for m, nodes in enumerate(trees)],
        base_score=_read_base_score(learner, loss),
        learning_rate=learning_rate,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=_read_feature_names(learner, n_features),
        input_dtype=np.float32,
    )
    ensemble.validate()
    return ensemble


def _describe(model) -> tuple[Any, Any, int | None]:
    """Return the model's JSON, its configuration if it has one, and how many trees to take."""
    n_rounds = None
    if hasattr(model, "get_booster"):  # xgboost.XGBModel
        n_rounds = _refuse_other_estimators(model)
        model = model.get_booster()
    if hasattr(model, "save_raw"):  # xgboost.Booster
        return json.loads(model.save_raw("json")), json.loads(model.save_config()), n_rounds
    if isinstance(model, str | os.PathLike):
        try:
            return json.loads(Path(model).read_bytes()), None, None
        except ValueError as error:
            raise InvalidModelError(
                f"{os.fspath(model)} is not JSON: {error}. A model in XGBoost's binary format"
                " becomes JSON with xgboost.Booster(model_file=...).save_model('model.json')."
            ) from error
    if isinstance(model, dict):
        return model, None, None
    raise TypeError(
        "from_xgboost takes an xgboost.Booster, a fitted xgboost.XGBModel, the JSON of one as a"
        f" dict, or the name of a JSON file; got {type(model).__name__}."
    )


def _refuse_other_estimators(model) -> int | None:
    """Return how many rounds a scikit-learn model predicts with, None for all."""
    if callable(model.objective):
        raise ValueError(
            "The model was trained with an objective of its own (a function); supported are"
            f" {[*LOSS_OF_OBJECTIVE]}."
        )
    if model.missing is not None and not np.isnan(model.missing):
        raise ValueError(
            f"The model takes missing={model.missing} for a missing value; here only nan is one."
            " Give model.get_booster(), and replace those values by nan in the rows."
        )
    model = model.get_booster()
    best_iteration = model.attr("best_iteration")
    return None if best_iteration is None else int(best_iteration) + 1


def _refuse_other_models(learner) -> tuple[Loss, int]:
    """Return loss and number of columns of a learner with one tree a round, one output a tree."""
    booster = _entry(learner, "gradient_booster", "name")
    if booster != "gbtree":
        raise ValueError(f"booster={booster!r} cannot be imported, only 'gbtree' can.")
    objective = _entry(learner, "objective", "name")
    shape = _entry(learner, "learner_model_param")
    for name, noun in {"num_class": "classes", "num_target": "targets"}.items():
        number = _number(shape, name) if name in shape else 1
        if number > 1:
            raise ValueError(
                f"A model of several {noun} cannot be imported: {name} is {number:g}, the objective"
                f" {objective!r}."
            )
    if objective not in [*LOSS_OF_OBJECTIVE]:  # a list: what a file has need not be hashable
        raise ValueError(
            f"objective={objective!r} cannot be imported, only {[*LOSS_OF_OBJECTIVE]} can."
        )
    per_round = _number(
        _entry(learner, "gradient_booster", "model", "gbtree_model_param"), "num_parallel_tree"
    )
    if per_round > 1:
        raise ValueError(
            f"num_parallel_tree={per_round:g} cannot be imported: all trees of a round are grown"
            " on the same gradients, here each tree is on those that the trees before it left."
        )
    n_features = _number(shape, "num_feature")
    if n_features % 1 or not 1 <= n_features < 2**31:
        raise InvalidModelError(f"The XGBoost model's num_feature is {n_features}.")
    return LOSSES[LOSS_OF_OBJECTIVE[objective]], int(n_features)


def _refuse_other_training(configuration) -> dict[str, Any]:
    """Return the parameters of growing trees when a node's weight is -G / (H + lambda)."""
    training = _entry(configuration, "learner", "gradient_booster", "tree_train_param")
    for parameter, name in {"alpha": "reg_alpha", "max_delta_step": "max_delta_step"}.items():
        number = _number(training, parameter)
        if number != 0:
            raise ValueError(
                f"A model trained with {name}={number:g} cannot be imported: the gradient sums of"
                f" its nodes cannot be recovered. Train with {name}=0."
            )
    constraints = _entry(training, "monotone_constraints")
    if set(constraints) & set("123456789"):
        raise ValueError(
            f"A model trained with monotone_constraints={constraints} cannot be imported: the"
            " gradient sums of nodes at a bound cannot be recovered."
        )
    return training


def _read_tree(tree, m, n_features) -> _Nodes:
    """Read one tree and renumber it in preorder: root, left branch, right branch."""
    arrays = {name: _node_array(tree, name, m) for name in NODE_ARRAYS}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidModelError(f"Tree {m} of the XGBoost model has arrays of lengths {lengths}.")
    order = _preorder(arrays["left_children"].tolist(), arrays["right_children"].tolist(), m)
    arrays = {name: array[order] for name, array in arrays.items()}
    for name, array in arrays.items():
        if not (np.abs(array) <= LARGEST_32).all():
            raise InvalidModelError(f"Tree {m} of the XGBoost model has infinite or nan {name}.")
    if (arrays["sum_hessian"] < 0).any():
        raise InvalidModelError(f"Tree {m} of the XGBoost model has a negative sum_hessian.")

    is_leaf = arrays["left_children"] == -1
    if arrays["split_type"][~is_leaf].any():
        raise ValueError(
            f"Categorical splits cannot be imported, and tree {m} has some. Train with the"
            " categories as numbers."
        )
    feature = np.where(is_leaf, -1, arrays["split_indices"])
    unknown = ~is_leaf & ((feature < 0) | (feature >= n_features) | (feature % 1 != 0))
    if unknown.any():
        raise InvalidModelError(
            f"Tree {m} of the XGBoost model splits on column {feature[unknown][0]:g} of"
            f" {n_features}."
        )
    position = {t: place for place, t in enumerate(order)}
    left, right = (
        np.array([position.get(child, -1) for child in arrays[name].tolist()])
        for name in ("left_children", "right_children")
    )
    split_condition, base_weight, sum_hessian = (
        arrays[name].astype(np.float32).astype(np.float64)
        for name in ("split_conditions", "base_weights", "sum_hessian")
    )
    return _Nodes(
        feature=feature.astype(np.int64),
        left=left,
        right=right,
        default_left=~is_leaf & (arrays["default_left"] != 0),
        split_condition=split_condition,
        base_weight=base_weight,
        sum_hessian=sum_hessian,
    )


def _preorder(left: list[float], right: list[float], m) -> list[int]:
    """Return the nodes under the root in preorder; each must be reached once. Pruned ones are not.

    The left child is on top of the stack, so its whole branch comes before its sibling.
    """
    order = []
    unreached = {float(t) for t in range(len(left))}
    to_visit = [0.0]
    while to_visit:
        t = to_visit.pop()
        if t not in unreached:
            raise InvalidModelError(
                f"Node {t:g} of tree {m} of the XGBoost model is not there, or is reached twice."
            )
        unreached.remove(t)
        order.append(int(t))
        children = [right[int(t)], left[int(t)]]
        if children.count(-1) == 1:
            raise InvalidModelError(f"Node {t:g} of tree {m} of the XGBoost model has one child.")
        if -1 not in children:
            to_visit += children
    return order


def _read_learning_rate(trees, reg_lambda) -> float:
    """Find the learning rate from the nodes that have leaves among their children.

    What these leaves add up to is known twice: from themselves, a = sum of s (H + lambda) = -eta G,
    and from the parent less its other child, b = w (H + lambda) - w' (H' + lambda) = -G. Both lose
    digits where terms cancel, so a = eta b is solved by least squares, with every node's equation
    divided by the size of its terms. That size depends on eta: solved twice, first as if it were 1.
    """
    ab, bb = _sum_products(trees, reg_lambda, 1.0)
    if ab > 0:
        ab, bb = _sum_products(trees, reg_lambda, ab / bb)
    # An equation is wrong by eps of its size, so eta by eps / sqrt(bb): this much of eta = ab / bb.
    if not (ab > 0 and EPS_32 * np.sqrt(bb) / ab <= ADD_UP_WITHIN):
        raise ValueError(
            "The learning rate cannot be read off the leaves of this XGBoost model: it has too few"
            " splits, or sums that do not add up. Give the one of the training:"
            " gbt.formats.xgboost.from_xgboost(model, learning_rate=...)."
        )
    return float(ab / bb)


def _sum_products(trees, reg_lambda, learning_rate) -> tuple[float, float]:
    """Return the sums of a b and of b^2 of `_read_learning_rate` over all nodes."""
    ab = bb = 0.0
    for nodes in trees:
        weight = nodes.sum_hessian + reg_lambda
        shrunk = np.where(nodes.is_leaf, nodes.split_condition * weight, 0.0)
        unshrunk = np.where(nodes.is_leaf, 0.0, nodes.base_weight * weight)
        parent, left, right = nodes.families
        a = shrunk[left] + shrunk[right]
        b = unshrunk[parent] - unshrunk[left] - unshrunk[right]
        terms = np.abs(shrunk) + learning_rate * np.abs(unshrunk)
        size = terms[parent] + terms[left] + terms[right]
        use = (nodes.is_leaf[left] | nodes.is_leaf[right]) & (size > 0)
        ab += np.sum((a[use] / size[use]) * (b[use] / size[use]))
        bb += np.sum((b[use] / size[use]) ** 2)
    return float(ab), float(bb)


def _to_tree(nodes: _Nodes, m, reg_lambda, learning_rate) -> Tree:
    """Work out the gradient sums, values and gains of one tree."""
    leaf = nodes.is_leaf
    H = nodes.sum_hessian
    G = -np.where(leaf, nodes.split_condition / learning_rate, nodes.base_weight) * (H + reg_lambda)
    parent, left, right = nodes.families
    for sums in (G, H):
        missing = np.abs(sums[parent] - sums[left] - sums[right])
        terms = np.abs(sums[parent]) + np.abs(sums[left]) + np.abs(sums[right])
        if (missing > ADD_UP_WITHIN * terms).any():
            raise ValueError(
                f"The sums of tree {m} of the XGBoost model do not add up with"
                f" reg_lambda={reg_lambda:.6g} and learning_rate={learning_rate:.6g}. A booster"
                " that was read from a file has forgotten both: give those of the training to"
                " gbt.formats.xgboost.from_xgboost(model, reg_lambda=..., learning_rate=...). If"
                " they are right, the training had a learning_rate or reg_lambda that changed"
                " between rounds, reg_alpha, max_delta_step or monotone constraints, and the"
                " model cannot be imported."
            )

    before = np.nextafter(nodes.split_condition.astype(np.float32), np.float32(-np.inf))
    return Tree(
        feature=nodes.feature,
        threshold=np.where(leaf, 0.0, before.astype(np.float64)),
        left=nodes.left,
        right=nodes.right,
        missing_left=nodes.default_left,
        sum_gradient=G,
        sum_hessian=H,
        n_samples=np.zeros(len(G), dtype=np.int64),
        gain=node_gain(nodes.left, nodes.right, G, H, reg_lambda),
        value=np.where(leaf, nodes.split_condition, learning_rate * nodes.base_weight),
    )


def _read_base_score(learner, loss: Loss) -> float:
    """Return the base score in link space; the file has it in prediction space.

    It is text: a number, since version 3.1 a list of one for every output.
    """
    text = _entry(learner, "learner_model_param", "base_score")
    is_raw = _entry(learner, "objective", "name") == "binary:logitraw"
    try:
        (prediction,) = np.atleast_1d(np.array(json.loads(text), dtype=np.float32)).tolist()
        base_score = prediction if is_raw else loss.link(prediction)
    except (TypeError, ValueError):
        base_score = np.nan
    if not np.isfinite(base_score):
        raise InvalidModelError(
            f"The XGBoost model's base_score, {text!r}, is not one prediction of {loss.name}."
        )
    return base_score


def _read_feature_names(learner, n_features) -> tuple[str, ...]:
    """Return the names of the columns; those of XGBoost's own reports if it was given none."""
    names = tuple(learner.get("feature_names") or [f"f{k}" for k in range(n_features)])
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise InvalidModelError(
            f"The XGBoost model has {n_features} columns and {len(names)} feature_names."
        )
    return names


def _entry(mapping, *path) -> Any:
    """Return what the JSON has under these keys."""
    for key in path:
        if not isinstance(mapping, dict) or key not in mapping:
            raise InvalidModelError(
                f"This is not the JSON of an XGBoost model: {'.'.join(path)} is missing"
                f" ({key!r} not found)."
            )
        mapping = mapping[key]
    return mapping


def _number(mapping, key) -> float:
    """Return a number that the JSON has as text, rounded to float32 as XGBoost does."""
    value = _entry(mapping, key)
    try:
        return float(np.float32(value))
    except (TypeError, ValueError):
        raise InvalidModelError(f"The XGBoost model's {key} is not a number: {value!r}.") from None


def _node_array(tree, name, m) -> np.ndarray:
    """Return one number for every node of a tree."""
    try:
        array = np.array(_entry(tree, name), dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or len(array) == 0:
        raise InvalidModelError(f"Tree {m} of the XGBoost model has {name} that are not numbers.")
    return array
