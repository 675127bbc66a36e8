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
measured with version 3.2, so it is not read.)

**lambda and eta** are no part of the model. A booster still in memory has them in its
configuration; one that was read from a file has the defaults there instead. Therefore nothing is
taken on trust: the G of two children must add up to their parent's within the rounding of float32
(measured: at most 1.1 eps of the sum of the three absolute values), or the model's gradients are
declared unknown. This also catches the penalties and constraints under which w is not
-G / (H + lambda). Where eta is unknown it is read off the leaves: of an inner node G is known
without it, of a leaf eta G is, so that every parent of a leaf gives an equation for eta
(`_read_learning_rate`). Only stumps whose roots have G = 0 do not tell eta, and do not contradict a
wrong one either.

**What XGBoost does not keep.** It does not count rows. That an objective was the user's own, or
that training started from a ``base_margin``, it does not write down; ``gbt.formats.origin`` looks
for traces. A base margin whose residuals average 0 leaves none, and neither does any if rows were
sampled. Another marker than nan for missing values leaves none in a booster.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gbt.documents import as_array, parse_json, shown
from gbt.formats.imported import Imported, kept, warn_of
from gbt.formats.nodes import (
    EPS_32,
    Preorder,
    below_in_float32,
    family_that_does_not_add_up,
    in_preorder,
    to_ensemble,
)
from gbt.formats.origin import Start, contradiction, doubt_of
from gbt.formats.ubjson import parse_ubjson
from gbt.formats.xgboost_losses import LOSS_OF_OBJECTIVE, OF_CLASSES, OTHERS, REFITTED, loss_of
from gbt.losses import Loss
from gbt.model import Ensemble
from gbt.several_outputs import SeveralTargets
from gbt.tree import InvalidModelError

NODE_ARRAYS: dict[str, type] = {
    "left_children": np.int32,
    "right_children": np.int32,
    "split_indices": np.int64,
    "split_conditions": np.float64,
    "split_type": np.int32,
    "default_left": np.int32,
    "base_weights": np.float64,
    "sum_hessian": np.float64,
}
LARGEST_32 = float(np.finfo(np.float32).max)
ADD_UP_WITHIN = 8 * EPS_32  # seven times the largest that was measured
MOST_OUTPUTS = 2**16
MOST_UNNAMED_COLUMNS = 2**20  # a number in a file is no reason to make as many names
DEFAULT_BASE_SCORE, DEFAULT_LAMBDA = 0.5, 1.0


class _Nodes(NamedTuple):
    """What the model says of all nodes, in preorder; float64 arrays hold float32 numbers."""

    tree: Preorder
    feature: np.ndarray
    default_left: np.ndarray
    split_condition: np.ndarray
    base_weight: np.ndarray
    sum_hessian: np.ndarray


class _Training(NamedTuple):
    """What is known of a training; None and False where the booster has forgotten."""

    reg_lambda: float | None = None
    learning_rate: float | None = None
    hidden_by: str | None = None  # what makes w another thing than -G / (H + lambda)
    is_unsampled: bool = False


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
        objects, or the name of a file of JSON or UBJSON. All trees are taken, as
        ``Booster.predict`` does; of a scikit-learn model that stopped early those up to its best
        iteration, as its ``predict``.
    reg_lambda : float, optional
        L2 penalty of the training. Needed where the model does not know it, and it is not 1: for a
        dict and a file, and for a booster that was read from a file.
    learning_rate : float, optional
        Learning rate (eta) of the training. Needed for a booster that was read from a file; for a
        dict and a file it is read off the leaves.

    Returns
    -------
    Ensemble
        Raw predictions are those of ``output_margin=True`` without a base margin within float32
        rounding, with ``input_dtype`` float32 and no counts: XGBoost does not count rows. Where the
        gradient sums cannot be worked out (``reg_alpha``, ``max_delta_step``, monotone constraints,
        learning rates that change between rounds, an objective of one's own), it has no gradients
        either, and a warning says so; `gbt.formats.as_ensemble` takes them from training rows.

    Raises
    ------
    ValueError
        For what an `Ensemble` cannot express: boosters "dart" and "gblinear", other objectives
        than those of ``gbt.formats.xgboost_losses``, trees of several outputs each, several trees
        a round (but one round of many, a forest), categorical splits.
    gbt.tree.InvalidModelError
        Also a ValueError: the JSON does not describe a booster.
    """
    return warn_of(import_xgboost(model, reg_lambda, learning_rate))


def import_xgboost(model, reg_lambda=None, learning_rate=None) -> Imported:
    """Do what `from_xgboost` does, without a warning."""
    for name, number in {"reg_lambda": reg_lambda, "learning_rate": learning_rate}.items():
        if number is not None and not (number >= 0 and number < np.inf):
            raise ValueError(f"{name} must be 0 or more, and finite; got {number!r}.")
    n_rounds, is_own = None, False
    if hasattr(model, "get_booster"):  # xgboost.XGBModel
        is_own = callable(model.objective)
        model, n_rounds = _refuse_other_estimators(model)
    given = _Training(reg_lambda, learning_rate)
    if hasattr(model, "save_raw"):  # xgboost.Booster
        state = bytes(model.save_raw("ubj")), model.save_config(), n_rounds, given, is_own

        def make():
            return _import(parse_ubjson(state[0]), parse_json(state[1]), *state[2:])

        return kept(model, hash(state), make)
    if isinstance(model, str | os.PathLike):
        model = _read_file(model)
    if not isinstance(model, dict):
        raise TypeError(
            "from_xgboost takes an xgboost.Booster, a fitted xgboost.XGBModel, the JSON of one as"
            f" a dict, or the name of a file; got {type(model).__name__}."
        )
    return _import(model, None, None, given, is_own)


def _read_file(path):
    """Return what a file of JSON or UBJSON holds."""
    data = Path(path).read_bytes()
    try:
        return parse_ubjson(data) if data[:2] in (b"{L", b"{i") else parse_json(data, finite=False)
    except InvalidModelError as error:
        raise InvalidModelError(
            f"{os.fspath(path)} {error}. A model in XGBoost's old binary format becomes JSON with"
            " xgboost.Booster(model_file=...).save_model('model.json')."
        ) from error


def _import(document, configuration, n_rounds, given: _Training, is_own: bool) -> Imported:
    learner = _entry(document, "learner")
    loss, n_features, per_round = _refuse_other_models(learner)
    is_forest = per_round > 1
    n_trees = None if is_forest or n_rounds is None else n_rounds * loss.n_outputs
    nodes = _read_trees(learner, n_features, n_trees)
    training, why = _complete(nodes, _read_training(configuration), given, per_round)
    start = _read_start(learner, loss, training)
    assert training.learning_rate is not None
    assert training.reg_lambda is not None

    leaf, H = nodes.tree.is_leaf, nodes.sum_hessian
    eta = training.learning_rate
    G = _gradients(nodes, training.reg_lambda, eta)
    values_are_known = why is None
    if family_that_does_not_add_up(nodes.tree, H, ADD_UP_WITHIN) is not None:
        raise InvalidModelError("The sum_hessian of the XGBoost model do not add up.")
    wrong = family_that_does_not_add_up(nodes.tree, G, ADD_UP_WITHIN)
    if training.hidden_by is not None:
        why = f"it was trained with {training.hidden_by}"
    elif _entry(learner, "objective", "name") in REFITTED:
        why, values_are_known = "its leaves are refitted to quantiles of their rows", False
    elif why is None and wrong is not None:
        why, values_are_known = _say_why_not(nodes, wrong, training), False
        if given != _Training():
            raise ValueError(f"G of the XGBoost model is unknown: {why}.")
    doubt = None
    if why is None and not is_forest:
        values = nodes.split_condition
        why = contradiction(nodes.tree, G, H, values, loss, start)
        why = "its objective is a function of your own" if is_own else why
        doubt = doubt_of(nodes.tree, G, H, loss, start)
    ensemble = to_ensemble(
        nodes.tree,
        feature=nodes.feature,
        threshold=below_in_float32(nodes.split_condition),
        missing_left=nodes.default_left,
        value=np.where(leaf, nodes.split_condition, eta * nodes.base_weight),
        sum_gradient=None if why is not None else G,
        sum_hessian=H,
        values_are_known=values_are_known,
        base_score=start.base_score,
        learning_rate=eta,
        reg_lambda=training.reg_lambda,
        loss=loss,
        feature_names=_read_feature_names(learner, n_features),
        input_dtype=np.float32,
        is_forest=is_forest,
    )
    return Imported(ensemble, "XGBoost", why, doubt)


def _complete(
    nodes, training: _Training, given: _Training, per_round: int
) -> tuple[_Training, str | None]:
    """Return lambda and eta as given, as known, or as found; say why if there is none to find.

    The trees of a round share its learning rate.
    """
    reg_lambda = training.reg_lambda if given.reg_lambda is None else given.reg_lambda
    eta = training.learning_rate if given.learning_rate is None else given.learning_rate
    ask = "Give gbt.formats.xgboost.from_xgboost(model, reg_lambda=..., learning_rate=...)"
    why = None
    if reg_lambda is None:
        reg_lambda = DEFAULT_LAMBDA
        if _adds_up(nodes, 2 * reg_lambda, eta):
            why = f"its reg_lambda is in no file, and several would do. {ask}"
    reg_lambda = float(np.float32(reg_lambda))
    if eta is None:
        eta = _read_learning_rate(nodes, reg_lambda)
        if eta is None:
            eta = 1.0
            why = (
                "its learning rate cannot be read off the leaves: it has too few splits, or"
                f" reg_lambda is not {reg_lambda:.6g}. {ask}"
            )
    elif eta == 0:
        raise ValueError("learning_rate must be more than 0; the model's trees do nothing at 0.")
    else:
        eta = float(np.float32(eta / per_round))  # as XGBoost trained
    return training._replace(reg_lambda=reg_lambda, learning_rate=eta), why


def _gradients(nodes, reg_lambda, eta) -> np.ndarray:
    """Return G of all nodes."""
    w = np.where(nodes.tree.is_leaf, nodes.split_condition / eta, nodes.base_weight)
    return -w * (nodes.sum_hessian + reg_lambda)


def _adds_up(nodes, reg_lambda, eta) -> bool:
    """Say whether a penalty is possible, with the learning rate given or any other."""
    eta = _read_learning_rate(nodes, reg_lambda) if eta is None else eta
    if eta is None:
        return True
    G = _gradients(nodes, reg_lambda, eta)
    return family_that_does_not_add_up(nodes.tree, G, ADD_UP_WITHIN) is None


def _say_why_not(nodes, wrong, training) -> str:
    m, node = nodes.tree.of_tree(wrong)
    return (
        f"the sums of its tree {m} do not add up at node {node} with"
        f" reg_lambda={training.reg_lambda:.6g} and learning_rate={training.learning_rate:.6g}."
        " A booster that was read from a file has forgotten both: give those of the training to"
        " gbt.formats.xgboost.from_xgboost(model, reg_lambda=..., learning_rate=...). If they are"
        " right, the training had a learning_rate or reg_lambda that changed between rounds,"
        " reg_alpha, max_delta_step or monotone constraints"
    )


def _refuse_other_estimators(model) -> tuple[Any, int | None]:
    """Return the booster of a scikit-learn model, and how many rounds it predicts with."""
    if model.missing is not None and not np.isnan(model.missing):
        raise ValueError(
            f"The model takes missing={model.missing} for a missing value; here only nan is one."
            " Give model.get_booster(), and replace those values by nan in the rows."
        )
    booster = model.get_booster()
    best_iteration = booster.attr("best_iteration")
    return booster, None if best_iteration is None else int(best_iteration) + 1


def _refuse_other_models(learner) -> tuple[Loss, int, int]:
    """Return loss and number of columns of a learner of one output, and how many trees a round."""
    booster = _entry(learner, "gradient_booster", "name")
    if booster != "gbtree":
        raise ValueError(f"booster={_named(booster)} cannot be imported, only 'gbtree' can.")
    objective = _entry(learner, "objective", "name")
    shape = _entry(learner, "learner_model_param")
    if not isinstance(shape, dict):
        raise InvalidModelError("The XGBoost model's learner_model_param is not an object.")
    allowed = [*LOSS_OF_OBJECTIVE, *OTHERS]
    if objective not in allowed:  # a list: what a file has need not be hashable
        raise ValueError(f"objective={_named(objective)} cannot be imported, only {allowed} can.")
    n_classes, n_targets = (
        _whole(shape, name) if name in shape else 1 for name in ("num_class", "num_target")
    )
    if (n_classes > 1) != (objective in OF_CLASSES) or max(n_classes, n_targets) > MOST_OUTPUTS:
        raise InvalidModelError(
            f"The XGBoost model has the objective {_named(objective)} with num_class={n_classes}"
            f" and num_target={n_targets}."
        )
    loss = loss_of(objective, _objective_numbers(learner), n_classes, n_targets)
    model = _entry(learner, "gradient_booster", "model")
    per_round = _whole(_entry(model, "gbtree_model_param"), "num_parallel_tree")
    n_trees = len(_trees_of(learner))
    _refuse_other_rounds(model, n_trees, per_round, loss)
    if per_round > 1 and n_trees != per_round:
        raise ValueError(
            f"num_parallel_tree={per_round} cannot be imported with several rounds: all trees of a"
            " round are grown on the same gradients, here each tree is on those that the trees"
            " before it left, or all are on those at the base score."
        )
    n_features = _whole(shape, "num_feature")
    if not 1 <= n_features < 2**31:
        raise InvalidModelError(f"The XGBoost model's num_feature is {n_features}.")
    return loss, n_features, per_round


def _objective_numbers(learner) -> dict[str, list[float]]:
    """Return the numbers that the JSON has, as text, for parameters of the objective."""
    found = {}
    for parameters in learner["objective"].values():
        for name, text in parameters.items() if isinstance(parameters, dict) else ():
            try:
                found[name] = [float(np.float32(number)) for number in json_numbers(text)]
            except (TypeError, ValueError) as error:
                raise InvalidModelError(
                    f"The XGBoost model's {name} is not a number in text: {shown(text)}."
                ) from error
    return found


def _refuse_other_rounds(model, n_trees: int, per_round: int, loss: Loss) -> None:
    """Refuse trees that do not come in rounds of one tree an output."""
    if loss.n_outputs == 1:
        return
    if any(_whole(_entry(tree, "tree_param"), "size_leaf_vector") > 1 for tree in model["trees"]):
        raise ValueError(
            "multi_strategy='multi_output_tree' cannot be imported: its leaves have several values."
        )
    if per_round > 1:
        raise ValueError(
            f"num_parallel_tree={per_round} cannot be imported with {loss.n_outputs} outputs."
        )
    if _entry(model, "tree_info") != [m % loss.n_outputs for m in range(n_trees)]:
        raise InvalidModelError("The XGBoost model's tree_info does not count through its outputs.")


def _read_training(configuration) -> _Training:
    """Return what a booster's configuration tells of its training, if it still can."""
    if configuration is None:
        return _Training()
    learner = _entry(configuration, "learner")
    training = _entry(learner, "gradient_booster", "tree_train_param")
    hidden_by = None
    for parameter, name in {"alpha": "reg_alpha", "max_delta_step": "max_delta_step"}.items():
        if (number := _number(training, parameter)) != 0:
            hidden_by = f"{name}={number:g}"
    constraints = _entry(training, "monotone_constraints")
    if set(constraints) & set("123456789"):
        hidden_by = f"monotone_constraints={constraints}"
    return _Training(
        reg_lambda=_number(training, "lambda"),
        learning_rate=_number(training, "eta"),
        hidden_by=hidden_by,
        # A booster that was read from a file has no metric, and the defaults of everything else.
        is_unsampled=_number(training, "subsample") == 1 and bool(learner.get("metrics")),
    )


def _trees_of(learner) -> list:
    trees = _entry(learner, "gradient_booster", "model", "trees")
    if not isinstance(trees, list):
        raise InvalidModelError("The XGBoost model's trees are not a list.")
    return trees


def _read_trees(learner, n_features, n_rounds) -> _Nodes:
    """Read the nodes of all trees and put them in preorder; pruned ones are left out."""
    trees = _trees_of(learner)[:n_rounds]
    read: dict[str, list[np.ndarray]] = {name: [] for name in NODE_ARRAYS}
    for m, tree in enumerate(trees):
        for name, dtype in NODE_ARRAYS.items():
            read[name].append(_node_array(tree, name, m, dtype))
        lengths = {name: len(arrays[-1]) for name, arrays in read.items()}
        if len(set(lengths.values())) > 1 or lengths["sum_hessian"] == 0:
            raise InvalidModelError(
                f"Tree {m} of the XGBoost model has arrays of lengths {lengths}."
            )
    arrays = {
        name: np.concatenate([np.empty(0, NODE_ARRAYS[name]), *parts])
        for name, parts in read.items()
    }
    stops = np.cumsum([len(part) for part in read["sum_hessian"]], dtype=np.int64)
    starts = np.concatenate([[0], stops])[:-1].astype(np.int64)
    start = np.repeat(starts, stops - starts)
    for name in ("left_children", "right_children"):
        if (wrong := arrays[name] < -1).any():
            first = int(np.argmax(wrong))
            m = int(np.searchsorted(stops, first, side="right"))
            raise InvalidModelError(
                f"Node {arrays[name][first]} of tree {m} of the XGBoost model is not there."
            )
    left, right = (
        np.where(arrays[name] < 0, -1, arrays[name] + start)
        for name in ("left_children", "right_children")
    )
    tree = in_preorder("XGBoost", starts, stops, left, right)
    arrays = {name: array[tree.order] for name, array in arrays.items()}

    def refuse(wrong, what):
        if wrong.any():
            m, node = tree.of_tree(int(np.argmax(wrong)))
            raise InvalidModelError(f"Tree {m} of the XGBoost model has {what} at node {node}.")

    for name in ("split_conditions", "base_weights", "sum_hessian"):
        refuse(~(np.abs(arrays[name]) <= LARGEST_32), f"infinite or nan {name}")
    refuse(arrays["sum_hessian"] < 0, "a negative sum_hessian")
    inner = ~tree.is_leaf
    if arrays["split_type"][inner].any():
        m, _ = tree.of_tree(int(np.argmax(inner & (arrays["split_type"] != 0))))
        raise ValueError(
            f"Categorical splits cannot be imported, and tree {m} has some. Train with the"
            " categories as numbers."
        )
    feature = arrays["split_indices"]
    refuse(
        inner & ((feature < 0) | (feature >= n_features)), f"a column that is none of {n_features}"
    )
    split_condition, base_weight, sum_hessian = (
        arrays[name].astype(np.float32).astype(np.float64)
        for name in ("split_conditions", "base_weights", "sum_hessian")
    )
    return _Nodes(
        tree, feature, arrays["default_left"] != 0, split_condition, base_weight, sum_hessian
    )


def _read_learning_rate(nodes: _Nodes, reg_lambda) -> float | None:
    """Find the learning rate from the nodes that have leaves among their children.

    What these leaves add up to is known twice: from themselves, a = sum of s (H + lambda) = -eta G,
    and from the parent less its other child, b = w (H + lambda) - w' (H' + lambda) = -G. Both lose
    digits where terms cancel, so a = eta b is solved by least squares, with every node's equation
    divided by the size of its terms. That size depends on eta: solved twice, first as if it were 1.
    None if that leaves it undetermined.
    """
    ab, bb = _sum_products(nodes, reg_lambda, 1.0)
    if ab > 0:
        ab, bb = _sum_products(nodes, reg_lambda, ab / bb)
    # An equation is wrong by eps of its size, so eta by eps / sqrt(bb): this much of eta = ab / bb.
    if not (ab > 0 and EPS_32 * np.sqrt(bb) / ab <= ADD_UP_WITHIN):
        return None
    return float(ab / bb)


def _sum_products(nodes: _Nodes, reg_lambda, learning_rate) -> tuple[float, float]:
    """Return the sums of a b and of b^2 of `_read_learning_rate` over all nodes."""
    weight, is_leaf = nodes.sum_hessian + reg_lambda, nodes.tree.is_leaf
    shrunk = np.where(is_leaf, nodes.split_condition * weight, 0.0)
    unshrunk = np.where(is_leaf, 0.0, nodes.base_weight * weight)
    parent, left, right = nodes.tree.families
    a = shrunk[left] + shrunk[right]
    b = unshrunk[parent] - unshrunk[left] - unshrunk[right]
    terms = np.abs(shrunk) + learning_rate * np.abs(unshrunk)
    size = terms[parent] + terms[left] + terms[right]
    use = (is_leaf[left] | is_leaf[right]) & (size > 0)
    a, b = a[use] / size[use], b[use] / size[use]
    return float(np.sum(a * b)), float(np.sum(b**2))


def _read_start(learner, loss: Loss, training: _Training) -> Start:
    """Return the base score in link space, and how it came to be; the file has a prediction.

    It is text: a number, since version 3.1 a list of one for every output. XGBoost has estimated
    it as the mean of the targets or, before 3.1 and where positives weigh more, by one Newton step
    from 0, whose length is 4 times what the mean is above 1/2.
    """
    shape = _entry(learner, "learner_model_param")
    text = _entry(shape, "base_score")
    is_raw = _entry(learner, "objective", "name") in ("binary:logitraw", *OF_CLASSES)
    n_outputs = loss.n_outputs
    raws: list[float] = []
    try:
        numbers = [float(np.float32(number)) for number in json_numbers(text)]
        if len(numbers) == 1:
            numbers = numbers * n_outputs  # before version 3.1, one for all
        if len(numbers) == n_outputs:
            own = loss.loss if isinstance(loss, SeveralTargets) else loss
            raws = numbers if is_raw else [own.link(number) for number in numbers]
    except (TypeError, ValueError):
        pass
    if len(raws) != n_outputs or not np.isfinite(raws).all():
        raise InvalidModelError(
            f"The XGBoost model's base_score, {shown(text)}, is not one prediction of {loss.name}."
        )
    to_estimate = shape.get("boost_from_average") == "1"
    number, raw = numbers[0], raws[0]
    p = raw if n_outputs > 1 else float(loss.inverse_link(np.array(raw)))
    return Start(
        base_score=raw if n_outputs == 1 else np.array(raws),
        is_estimated=to_estimate and number != DEFAULT_BASE_SCORE,
        is_default=to_estimate and number == DEFAULT_BASE_SCORE,
        means=(p, 0.5 + raw / 4, number),
        may_be_sampled=not training.is_unsampled,
    )


def json_numbers(text) -> list[float]:
    """Return the numbers of a text that is one number of JSON, or a list of them."""
    if not isinstance(text, str):
        raise TypeError
    value = parse_json(text)
    return as_array(
        value if isinstance(value, list) else [value], "base_score", np.float64
    ).tolist()


def _read_feature_names(learner, n_features) -> tuple[str, ...]:
    """Return the names of the columns; those of XGBoost's own reports if it was given none."""
    names = learner.get("feature_names", [])
    if not isinstance(names, list):
        raise InvalidModelError(f"The XGBoost model's feature_names are {shown(names)}, no list.")
    if not names and n_features > MOST_UNNAMED_COLUMNS:
        raise InvalidModelError(
            f"The XGBoost model's num_feature is {n_features}, and it names none of these columns;"
            f" up to {MOST_UNNAMED_COLUMNS} are believed."
        )
    names = tuple(names or (f"f{k}" for k in range(n_features)))
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise InvalidModelError(
            f"The XGBoost model has {n_features} columns and {len(names)} feature_names."
        )
    return names


def _named(value) -> str:
    """Return what should be a name, in quotes, or what it is instead."""
    return repr(value) if isinstance(value, str) else shown(value)


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
    text = _entry(mapping, key)
    try:
        (number,) = json_numbers(text)
        with np.errstate(over="raise"):
            return float(np.float32(number))
    except (TypeError, ValueError, FloatingPointError):
        raise InvalidModelError(
            f"The XGBoost model's {key} is not a number in text: {shown(text)}."
        ) from None


def _whole(mapping, key) -> int:
    """Return a whole number that the JSON has as text."""
    text = _entry(mapping, key)
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > 19:
        raise InvalidModelError(
            f"The XGBoost model's {key} is not a whole number in text: {shown(text)}."
        )
    return int(text)


def _node_array(tree, name, m, dtype) -> np.ndarray:
    """Return one number for every node of a tree."""
    value = _entry(tree, name)
    if isinstance(value, np.ndarray) and value.dtype.kind in ("iu", "iuf")[dtype is np.float64]:
        return value  # of UBJSON
    if name == "default_left" and isinstance(value, list) and set(map(type, value)) == {bool}:
        return np.array(value, dtype=dtype)  # of JSON before version 1.6
    return as_array(value, f"{name} of tree {m} of the XGBoost model", dtype, finite=False)
