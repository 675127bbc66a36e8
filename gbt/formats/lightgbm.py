"""LightGBM models: boosters of trees, with the gradient sums that they let us work out.

Everything is read from the text in which LightGBM saves a booster. Of a leaf it has the value v,
the hessian sum H and the count to the last bit, of an inner node only six digits. So the sums of
inner nodes are those of the leaves below them, and with eta the learning rate

    G(leaf) = -(v - b) / eta (H + lambda)

where b is the start value. LightGBM begins with the mean of the targets (``boost_from_average``;
its log-odds for two classes) and hides it in the first tree: b is added to its nodes. There the G
of all rows is 0, so b is the mean of the leaves' values weighed by H + lambda. (If rows were
sampled, it is not quite, and G is unknown.) Later trees say their eta (``shrinkage``), the first
says 1 if it hides something.

A node says in ``decision_type`` which way missing values go (bit 1), and what they are (bits 2, 3):

====  =======================  ===================================================================
0     nothing; nan is 0        ``missing_left`` is whether 0 goes left
1     0 and nan                ``zero_is_missing``
2     nan                      as here
====  =======================  ===================================================================

Nothing is taken on trust: the values of inner nodes must follow from the leaves, within their six
digits, and sums of later trees from those of earlier ones (``gbt.formats.origin``).
"""

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gbt.formats.imported import Imported, kept, warn_of
from gbt.formats.nodes import Preorder, in_preorder, to_ensemble
from gbt.formats.origin import Start, contradiction
from gbt.losses import LOSSES, Absolute, Gamma, Huber, Loss, Poisson, Quantile
from gbt.model import ZERO_WITHIN, Ensemble
from gbt.several_outputs import Softmax
from gbt.statistics import node_step
from gbt.tree import InvalidModelError

LOSS_OF_OBJECTIVE = {
    "regression": "half_squared_error",
    "binary sigmoid:1": "half_logistic",
    "cross_entropy": "half_logistic",
}
OTHERS = ("multiclass", "poisson", "gamma", "quantile", "regression_l1", "huber")
REFITTED = ("quantile", "absolute")  # whose leaves are no Newton steps
OF_INNER = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
OF_INNER_ROUNDED = ("internal_value",)
OF_LEAF = ("leaf_value", "leaf_weight", "leaf_count")
DIGITS_OF_INNER = 1e-5  # of the largest value of a tree; six digits are 5e-6
LARGEST = float(np.finfo(np.float64).max)
IS_CATEGORICAL, DEFAULT_LEFT = 1, 2
NAN_IS_ZERO, ZERO_IS_MISSING = 0, 1


class _Text(NamedTuple):
    """What the text of a booster has: its head, an object for each tree, and the parameters."""

    head: dict[str, str]
    trees: list[dict[str, str]]
    parameters: dict[str, str]


def from_lightgbm(model) -> Ensemble:
    """Turn a model of LightGBM into an `Ensemble`, or say what in it cannot be.

    Parameters
    ----------
    model : Booster, LGBMModel, str or path-like
        A booster, a fitted model of LightGBM's scikit-learn interface, or the name of a file that
        ``Booster.save_model`` wrote. Trees are taken up to the best iteration, as ``predict`` does.

    Returns
    -------
    Ensemble
        Raw predictions are those of ``raw_score=True`` without an ``init_score``. Where the
        gradient sums cannot be worked out (``lambda_l1``, ``max_delta_step``, ``path_smooth``,
        monotone constraints, learning rates that change, a start that is not the mean, a first tree
        on a sample), it has no gradients, and a warning says so; `gbt.formats.as_ensemble` takes
        them from training rows.

    Raises
    ------
    ValueError
        For what an `Ensemble` cannot express: other objectives than ``LOSS_OF_OBJECTIVE`` and
        ``OTHERS``, linear trees, categorical splits, "dart".
    gbt.tree.InvalidModelError
        Also a ValueError: the text does not describe a booster.
    """
    return warn_of(import_lightgbm(model))


def import_lightgbm(model) -> Imported:
    """Do what `from_lightgbm` does, without a warning."""
    if isinstance(model, str | os.PathLike):
        return _import(Path(model).read_text(encoding="utf-8"))
    booster = model.booster_ if hasattr(type(model), "booster_") else model  # of a wrapper
    if not hasattr(booster, "model_to_string"):
        raise TypeError(
            "from_lightgbm takes a lightgbm.Booster, a fitted lightgbm.LGBMModel, or the name of a"
            f" file; got {type(model).__name__}."
        )
    text = booster.model_to_string()
    return kept(booster, hash(text), lambda: _import(text))


def _import(text: str) -> Imported:
    parts = _split(text)
    loss, is_forest = _refuse_other_models(parts)
    nodes, arrays = _read_trees(parts)
    leaf = nodes.is_leaf
    value, H = arrays["leaf_value"], nodes.add_up(arrays["leaf_weight"])
    reg_lambda = _parameter(parts, "lambda_l2", 0.0)
    eta, rates_differ, has_start = _read_rates(parts)
    roots = nodes.tree_offset[:-1]
    starts, start_of = np.zeros(loss.n_outputs), np.zeros(len(value))
    if is_forest:
        eta = 1 / len(roots)
        value = value * eta
    elif has_start:
        starts, start_of = _hidden_starts(nodes, value, H + reg_lambda, loss.n_outputs)
        value = value - start_of
    start_value = float(starts[0]) if loss.n_outputs == 1 else starts
    G = nodes.add_up(np.where(leaf, -value / eta * (H + reg_lambda), 0.0))

    sampled = _is_sampled(parts)
    why = "its learning rate changed between rounds" if rates_differ else None
    why = _why_unknown(parts, loss, has_start and not is_forest, sampled) or why
    follows = -eta * node_step(G, H, reg_lambda)
    kept_value = arrays["internal_value"] * (eta if is_forest else 1.0)
    kept_value -= start_of
    if why is None and (wrong := _first_far(nodes, follows, kept_value, value, starts)) >= 0:
        m, node = nodes.of_tree(wrong)
        why = f"the value of node {node} of tree {m} does not follow from the leaves below it"
    if why is None and not is_forest:
        p = 0.0 if loss.n_outputs > 1 else float(loss.inverse_link(np.array(start_value)))
        start = Start(start_value, _starts_from_mean(parts), False, (p,), sampled)
        why = contradiction(nodes, G, H, value, loss, start)
    has_weights = bool(H[roots].all())
    missing_left, zero_is_missing = _missing(arrays, nodes)
    # LightGBM takes numbers within ZERO_WITHIN for 0 and cuts there: below it, not at it.
    threshold = arrays["threshold"]
    threshold = np.where(threshold == -ZERO_WITHIN, np.nextafter(threshold, -np.inf), threshold)
    ensemble = to_ensemble(
        nodes,
        feature=arrays["split_feature"],
        threshold=threshold,
        missing_left=missing_left,
        value=np.where(leaf, value, kept_value if why else follows),
        sum_gradient=G if why is None and has_weights else None,
        sum_hessian=H if has_weights else None,
        n_samples=np.round(nodes.add_up(arrays["leaf_count"])),
        base_score=start_value,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=tuple(parts.head["feature_names"].split(" ")),
        is_forest=is_forest,
        zero_is_missing=zero_is_missing,
    )
    return Imported(ensemble, "LightGBM", why, has_hidden_start=has_start and not is_forest)


def _hidden_starts(nodes, value, weight, n_outputs) -> tuple[np.ndarray, np.ndarray]:
    """Return the start value of each output, and at every node what its tree hides."""
    starts, start_of = np.zeros(n_outputs), np.zeros(len(value))
    for k in range(n_outputs):
        first = slice(*nodes.tree_offset[k : k + 2])
        weights = np.where(nodes.is_leaf, weight, 0.0)[first]
        starts[k] = np.average(value[first], weights=weights if weights.any() else None)
        start_of[first] = starts[k]
    return starts, start_of


def _why_unknown(parts: _Text, loss: Loss, has_start: bool, sampled: bool) -> str | None:
    """Say what of the training makes gradients unknown, None if nothing does."""
    hidden_by = _hides_gradients(parts)
    for holds, why in (
        (hidden_by is not None, f"it was trained with {hidden_by}"),
        (loss.name in REFITTED, "its leaves are refitted to quantiles of their rows"),
        (
            has_start and sampled,
            "its first tree was grown on a sample of rows and hides the start value",
        ),
        (
            has_start and loss.name == "half_logistic" and _labels_are_weighted(parts),
            "its first tree hides the start value, the mean of labels that weigh alike there",
        ),
        (
            has_start and loss.name == "huber",
            "its first tree hides the start value, at which the gradients do not add up to 0",
        ),
        (not parts.parameters, "its text has no parameters"),
    ):
        if holds:
            return why
    return None


def _split(text: str) -> _Text:
    """Cut the text of a booster into its head, its trees and its parameters."""
    head, *trees = text.split("\nTree=")
    if not head.startswith("tree\n"):
        raise InvalidModelError("This is not the text of a LightGBM model: it begins otherwise.")
    tail = ""
    if trees:
        trees[-1], _, tail = trees[-1].partition("\nend of trees")
    keys = dict(line.split("=", 1) for line in head.split("\n") if "=" in line)
    keys |= {"average_output": ""} if "\naverage_output\n" in head else {}
    for key in ("num_class", "num_tree_per_iteration", "max_feature_idx", "feature_names"):
        if key not in keys:
            raise InvalidModelError(f"The text of the LightGBM model has no {key}.")
    return _Text(
        keys,
        [dict(line.split("=", 1) for line in tree.split("\n") if "=" in line) for tree in trees],
        dict(re.findall(r"^\[(\w+): (.*)\]$", tail or head, flags=re.MULTILINE)),
    )


def _refuse_other_models(parts: _Text) -> tuple[Loss, bool]:
    """Return the loss of a model of one output, and whether its trees are averaged."""
    head = parts.head
    objective = head.get("objective")
    name, *details = (objective or "").split(" ")
    if objective not in LOSS_OF_OBJECTIVE and name not in OTHERS:
        raise ValueError(
            "A model trained with an objective of its own (a function) cannot be imported."
            if objective is None
            else f"objective={objective!r} cannot be imported, only"
            f" {[*LOSS_OF_OBJECTIVE, *OTHERS]} can."
        )
    if "sqrt" in details:
        raise ValueError("reg_sqrt=True cannot be imported: its trees predict roots.")
    n_classes = _as_number(head["num_class"], "num_class") if name == "multiclass" else 1
    if head["num_class"] != head["num_tree_per_iteration"] or int(head["num_class"]) != n_classes:
        raise InvalidModelError(
            f"The LightGBM model has the objective {objective!r} with num_class="
            f"{head['num_class'][:20]!r} and {head['num_tree_per_iteration'][:20]!r} trees a round."
        )
    loss = _loss_of(parts, name, int(n_classes))
    if len(parts.trees) % loss.n_outputs:
        raise InvalidModelError("The LightGBM model has a round that is not complete.")
    if parts.parameters.get("boosting") == "dart":
        raise ValueError(
            "boosting='dart' cannot be imported: its trees are grown on the gradients at the"
            " predictions of some trees before them, not of all."
        )
    is_forest = "average_output" in head
    if is_forest and (
        loss.name != "half_squared_error" or _parameter(parts, "lambda_l2", 0.0) != 0
    ):
        raise ValueError(
            "boosting='rf' can be imported with objective='regression' and lambda_l2=0 only."
        )
    return loss, is_forest


def _loss_of(parts: _Text, name: str, n_classes: int) -> Loss:
    """Return the loss of an objective, with its parameters."""
    if name == "multiclass":
        return Softmax(n_classes, n_classes / (n_classes - 1))
    if name == "poisson":
        return Poisson(_parameter(parts, "poisson_max_delta_step", 0.7))
    if name in ("quantile", "huber"):
        return (Quantile if name == "quantile" else Huber)(_parameter(parts, "alpha", 0.9))
    if name in ("gamma", "regression_l1"):
        return Gamma() if name == "gamma" else Absolute()
    return LOSSES[LOSS_OF_OBJECTIVE[parts.head["objective"]]]


def _read_trees(parts: _Text) -> tuple[Preorder, dict[str, np.ndarray]]:
    """Read the nodes of all trees and put them in preorder.

    Arrays of inner nodes have 0 at leaves and the other way round. A tree of L leaves numbers its
    inner nodes from 0 to L - 2; child -1 is leaf 0, child -2 leaf 1. Here leaves come after them.
    """
    n_leaves = np.array([_count(tree, m) for m, tree in enumerate(parts.trees)], dtype=np.int64)
    for m, tree in enumerate(parts.trees):
        if tree.get("is_linear", "0") != "0":
            raise ValueError(f"Linear trees cannot be imported, and tree {m} is one.")
        if tree.get("num_cat", "0") != "0":
            raise ValueError(
                f"Categorical splits cannot be imported, and tree {m} has some. Train with the"
                " categories as numbers."
            )
    stops = np.cumsum(2 * n_leaves - 1, dtype=np.int64)
    starts = stops - (2 * n_leaves - 1)
    tree_of = np.repeat(np.arange(len(stops)), stops - starts)
    place = np.arange(len(tree_of)) - starts[tree_of]
    is_leaf = place >= n_leaves[tree_of] - 1
    arrays = {}
    for name in (*OF_INNER, *OF_INNER_ROUNDED, *OF_LEAF):
        arrays[name] = np.zeros(len(tree_of))
        arrays[name][is_leaf if name in OF_LEAF else ~is_leaf] = _numbers(parts, name, n_leaves)
    left, right = (
        _linked(arrays[name], is_leaf, starts, n_leaves, tree_of) for name in OF_INNER[3:]
    )
    nodes = in_preorder("LightGBM", starts, stops, left, right)
    arrays = {name: array[nodes.order] for name, array in arrays.items()}
    n_features = len(parts.head["feature_names"].split(" "))
    feature, inner = arrays["split_feature"], ~nodes.is_leaf
    if (inner & ~((feature >= 0) & (feature < n_features) & (feature % 1 == 0))).any():
        raise InvalidModelError(
            f"The LightGBM model splits on a column that is none of {n_features}."
        )
    return nodes, arrays


def _linked(child, is_leaf, starts, n_leaves, tree_of) -> np.ndarray:
    """Return children as they are numbered through all trees, -1 at leaves."""
    if (child % 1 != 0).any() or (np.abs(child) > len(child)).any():
        raise InvalidModelError("The LightGBM model has children that are not numbers of nodes.")
    child = child.astype(np.int64)
    place = np.where(child >= 0, child, n_leaves[tree_of] - 2 - child)
    return np.where(is_leaf, -1, starts[tree_of] + place)


def _count(tree: dict[str, str], m: int) -> int:
    """Return the number of leaves of a tree."""
    n_leaves = len(tree.get("leaf_value", "").split())
    if tree.get("num_leaves") != str(n_leaves):
        raise InvalidModelError(
            f"Tree {m} of the LightGBM model has {n_leaves} numbers leaf_value, and num_leaves="
            f"{tree.get('num_leaves', '')[:20]!r}."
        )
    return n_leaves


def _numbers(parts: _Text, name: str, n_leaves: np.ndarray) -> np.ndarray:
    """Return one number for every leaf, or every inner node, of all trees.

    A tree of one leaf says no weight.
    """
    expected = n_leaves if name in OF_LEAF else n_leaves - 1
    lines = []
    for m, (tree, n) in enumerate(zip(parts.trees, expected.tolist(), strict=True)):
        line = tree.get(name, "").strip()
        if n == 1 and not line and name in ("leaf_weight", "leaf_count"):
            line = "0"
        if (line.count(" ") + 1 if line else 0) != n:
            raise InvalidModelError(f"Tree {m} of the LightGBM model has not {n} numbers {name}.")
        if line:
            lines.append(line)
    try:
        numbers = np.array(list(map(float, " ".join(lines).split(" "))) if lines else [])
    except ValueError as error:
        raise InvalidModelError(f"{name} of the LightGBM model: {error}.") from error
    if name == "threshold":  # of splits between missing and present, where nothing is below nan
        numbers = np.nan_to_num(numbers, nan=-LARGEST)
    if len(numbers) != expected.sum() or not np.isfinite(numbers).all():
        raise InvalidModelError(f"{name} of the LightGBM model are not finite numbers.")
    return numbers


def _read_rates(parts: _Text) -> tuple[float, bool, bool]:
    """Return the learning rate, whether it changed, and whether the first tree hides a start."""
    said = [_as_number(tree.get("shrinkage", ""), "shrinkage") for tree in parts.trees]
    eta = _parameter(parts, "learning_rate", said[-1] if said else 1.0)
    if not 0 < eta < np.inf:
        raise InvalidModelError(f"The LightGBM model's learning_rate is {eta}.")
    has_start = bool(said) and said[0] == 1.0 and (eta != 1.0 or _starts_from_mean(parts))
    n_first = int(parts.head["num_tree_per_iteration"])
    others = said[n_first:] if has_start else said
    eta = others[-1] if others else eta
    return eta, any(rate != eta for rate in others), has_start


def _parameter(parts: _Text, name: str, default: float) -> float:
    """Return a number of the training, a default where the text does not say it."""
    text = parts.parameters.get(name, "")
    return _as_number(text, name) if text else default


def _as_number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidModelError(f"The LightGBM model's {name} is {text[:40]!r}.") from None


def _starts_from_mean(parts: _Text) -> bool:
    return _parameter(parts, "boost_from_average", 1.0) == 1.0


def _is_sampled(parts: _Text) -> bool:
    """Say whether a tree may have seen some rows only."""
    if "goss" in (parts.parameters.get("boosting"), parts.parameters.get("data_sample_strategy")):
        return True
    names = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
    fraction = min(_parameter(parts, name, 1.0) for name in names)
    return fraction < 1 and _parameter(parts, "bagging_freq", 0.0) > 0


def _labels_are_weighted(parts: _Text) -> bool:
    weight = _parameter(parts, "scale_pos_weight", 1.0)
    return weight != 1 or _parameter(parts, "is_unbalance", 0.0) != 0


def _hides_gradients(parts: _Text) -> str | None:
    """Return the parameter under which a value is not -eta G / (H + lambda)."""
    for name in ("lambda_l1", "max_delta_step", "path_smooth"):
        if (number := _parameter(parts, name, 0.0)) > 0:
            return f"{name}={number:g}"
    constraints = parts.parameters.get("monotone_constraints", "")
    return f"monotone_constraints={constraints}" if set(constraints) & set("123456789") else None


def _first_far(nodes: Preorder, follows, said, value, start_values) -> int:
    """Return the first inner node whose value is not what it says within its digits, else -1."""
    n_nodes = np.diff(nodes.tree_offset)
    if not len(n_nodes):
        return -1
    largest = np.maximum.reduceat(np.abs(value), nodes.tree_offset[:-1])
    largest[: len(start_values)] += np.abs(start_values)
    too_far = np.abs(follows - said) > DIGITS_OF_INNER * np.repeat(largest, n_nodes)
    too_far &= ~nodes.is_leaf
    return int(np.argmax(too_far)) if too_far.any() else -1


def _missing(arrays: dict[str, Any], nodes: Preorder) -> tuple[np.ndarray, bool]:
    """Return which way missing values go at every node, and whether 0 is one."""
    decision = arrays["decision_type"].astype(np.int64)
    inner = ~nodes.is_leaf
    kind = decision >> 2 & 3
    if (decision[inner] & IS_CATEGORICAL).any():
        raise ValueError("Categorical splits cannot be imported, and the LightGBM model has some.")
    zero_is_missing = kind[inner] == ZERO_IS_MISSING
    if zero_is_missing.any() and not zero_is_missing.all():
        raise ValueError(
            "A model in which 0 is a missing value in some columns only cannot be imported."
        )
    missing_left = np.where(
        kind == NAN_IS_ZERO, arrays["threshold"] >= 0, (decision & DEFAULT_LEFT) != 0
    )
    return inner & missing_left, bool(zero_is_missing.any())
