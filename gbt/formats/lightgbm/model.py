"""LightGBM models: boosters of trees, with gradient sums as far as they can be computed.

Everything is read from the text in which LightGBM saves a booster. For a leaf it has the value v,
the hessian sum H and the count to the last bit, for an inner node only six digits. So the sums of
inner nodes are those of the leaves below them, and with eta the learning rate

    G(leaf) = -(v - b) / eta (H + lambda)

where b is the start value. LightGBM begins with the mean of the targets (``boost_from_average``;
its log-odds for two classes) and hides it in the first tree: b is added to its nodes. There the G
of all rows is 0, so b is the mean of the leaves' values weighted by H + lambda. (If rows were
sampled, G is not quite 0, and unknown.) Later trees state their eta (``shrinkage``); the first
states 1 if it hides b. Of a tree of a single leaf, which takes no step, LightGBM keeps the count
alone: its G is unknown, and its H is 0 here until training rows are given. After splits of
categories lambda is larger, see ``gbt.formats.lightgbm.trees``.

**DART** has multiplied the values of its trees already. They were grown on gradients at the
predictions of those trees that were not dropped, which are not stored: G is unknown, unless every
tree has kept its rate, so that none was dropped.

Everything is checked: the values of inner nodes must follow from the leaves, within their six
digits, and sums of later trees from those of earlier ones (``gbt.formats.which_loss``).
"""

import os
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.formats.checking import kept
from gbt.formats.imported import SUMS, Imported, LibraryNodes
from gbt.formats.lightgbm.text import Text, as_number, split
from gbt.formats.lightgbm.trees import levels_of, penalties, read_trees
from gbt.formats.objectives import LIGHTGBM, REFITTED
from gbt.formats.which_loss import Start, doubts_of, hides_gradients
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble
from gbt.model.statistics import node_step

OF_SIGMOID = ("binary", "multiclassova")
DIGITS_OF_INNER = 1e-5  # share of a tree's largest value; rounding to six digits is 5e-6


def from_lightgbm(model: Any) -> Ensemble:
    """Turn a model of LightGBM into an `Ensemble`; errors are those of `gbt.formats.as_ensemble`.

    Parameters
    ----------
    model : Booster, LGBMModel, str or path-like
        A booster, a fitted model of LightGBM's scikit-learn interface, or the name of a file that
        ``Booster.save_model`` wrote. Trees are taken up to the best iteration, as ``predict`` does.

    Returns
    -------
    Ensemble
        Raw predictions are those of ``raw_score=True`` without an ``init_score``; with
        ``boosting="rf"`` they are the mean of the trees, which ``predict`` returns, where
        ``raw_score=True`` is their sum. Where gradient sums cannot be computed (docs/models.md),
        ``about_gradients`` says why.
    """
    return import_lightgbm(model).ensemble


def import_lightgbm(model: Any) -> Imported:
    """Return the import of a model, with what could not be found out."""
    if isinstance(model, str | os.PathLike):
        return _import(Path(model).read_text(encoding="utf-8"))
    # LGBMClassifier and similar classes wrap a booster.
    booster = model.booster_ if hasattr(type(model), "booster_") else model
    if not hasattr(booster, "model_to_string"):
        raise TypeError(
            "from_lightgbm takes a lightgbm.Booster, a fitted lightgbm.LGBMModel, or the name of a"
            f" file; got {type(model).__name__}."
        )
    text = booster.model_to_string()
    return kept(booster, hash(text), lambda: _import(text))


def _import(text: str) -> Imported:
    parts = split(text)
    loss, is_forest = _refuse_other_models(parts)
    nodes, zero_is_missing = read_trees(parts)
    tree, leaf, roots = nodes.tree, nodes.tree.is_leaf, nodes.tree.tree_offset[:-1]
    reg_lambda, penalty = parts.parameter("lambda_l2", 0.0), penalties(parts, nodes)
    rates = _read_rates(parts)
    eta, starts = rates.learning_rate, np.zeros(loss.n_outputs)
    if is_forest:
        eta = 1 / len(roots)
        nodes = nodes._replace(value=nodes.value * eta)
    elif rates.has_start:
        starts, value = _without_starts(nodes, penalty, loss.n_outputs)
        nodes = nodes._replace(value=value)
    start_value = float(starts[0]) if loss.n_outputs == 1 else starts
    G, H = nodes.gradients(eta, penalty), nodes.sum_hessian

    why = _why_unknown(parts, loss, rates, is_forest)
    without_weight = np.flatnonzero(H[roots] == 0)
    has_hessians = leaf[roots[without_weight]].all() and (H.any() or not len(H))
    has_hessians &= not parts.parameter("use_quantized_grad", 0.0)  # else they are rounded
    if why is None and len(without_weight):
        why = f"tree {without_weight[0]} is a single leaf, of which LightGBM keeps no sums"
    follows = eta * node_step(G, H, penalty)
    is_exact = why is None or rates.has_dropped  # DART's weights change all values of a tree alike
    hidden = np.pad(np.abs(starts), (0, len(roots)))[: len(roots)]
    wrong = tree.first_far(follows, nodes.value, DIGITS_OF_INNER, hidden)
    if is_exact and wrong is not None:
        m, node = tree.of_tree(wrong)
        is_exact = False
        why = f"the value of node {node} of tree {m} does not follow from the leaves below it"
    if why is None and not is_forest:
        p = 0.0 if loss.n_outputs > 1 else float(loss.inverse_link(np.array(start_value)))
        start = Start(start_value, parts.starts_from_mean, False, (p,), parts.is_sampled)
        why, _ = doubts_of(nodes, G, loss, start)
        is_exact = why is None
    has_hidden_start = rates.has_start and not (is_forest or rates.has_dropped)
    is_binary = loss.name == "half_logistic"
    weight_of_1 = parts.parameter("scale_pos_weight", 1.0) if is_binary else 1.0
    return nodes.imported(
        "LightGBM",
        why,
        np.where(leaf, nodes.value, follows) if is_exact else nodes.value,
        G,
        {"gradients", "counts", "values"} | ({"hessians"} if has_hessians else set()),
        compared=frozenset({"counts"}) if rates.has_dropped else SUMS,
        start_weight_of_1=weight_of_1 if has_hidden_start else None,
        levels=levels_of(parts),
        base_score=starts,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=parts.names,
        is_forest=is_forest,
        zero_is_missing=zero_is_missing,
        # Unless its rate is 1, which looks the same with starting values.
        has_init_score=False if has_hidden_start else None,
    )


def _without_starts(
    nodes: LibraryNodes, penalty: np.ndarray, n_outputs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the start value of each output, and values without those that first trees hide."""
    weight = np.where(nodes.tree.is_leaf, nodes.sum_hessian + penalty, 0.0)
    starts, value = np.zeros(n_outputs), nodes.value.copy()
    for k in range(n_outputs):
        first = slice(*nodes.tree.tree_offset[k : k + 2])
        weights = weight[first] if weight[first].any() else None
        starts[k] = np.average(value[first], weights=weights)
        value[first] -= starts[k]
    return starts, value


class _Rates(NamedTuple):
    """What the trees reveal about the learning rate."""

    learning_rate: float
    differ: bool
    has_start: bool  # the first tree hides the start value
    has_dropped: bool  # DART has dropped a tree, whose rate it has changed, or the next one's


def _why_unknown(parts: Text, loss: Loss, rates: _Rates, is_forest: bool) -> str | None:
    """Return what in the training makes gradients unknown, None if nothing does."""
    has_start = rates.has_start and not is_forest
    are_weighted = parts.parameter("scale_pos_weight", 1.0) != 1  # labels
    are_weighted |= parts.parameter("is_unbalance", 0.0) != 0
    penalties = ("lambda_l1", "max_delta_step", "path_smooth", "use_quantized_grad")
    hidden_by = hides_gradients(
        {name: parts.parameter(name, 0.0) for name in penalties},
        parts.parameters.get("monotone_constraints", ""),
    )
    for holds, why in (
        (hidden_by is not None, f"it was trained with {hidden_by}"),
        (loss.name in REFITTED, "its leaves are refitted to quantiles of their rows"),
        (
            rates.has_dropped,
            "boosting='dart' grew its trees at the predictions of some of those before them",
        ),
        (
            has_start and parts.is_sampled,
            "its first tree was grown on a sample of rows and hides the start value",
        ),
        (
            has_start and loss.name in ("half_logistic", "several_targets") and are_weighted,
            "its first tree hides the start value, the mean of labels that weigh alike there",
        ),
        (
            has_start and loss.name == "huber",
            "its first tree hides the start value, at which the gradients do not add up to 0",
        ),
        (not parts.parameters, "its text has no parameters"),
        (rates.differ, "its learning rate changed between rounds"),
    ):
        if holds:
            return why
    return None


def _refuse_other_models(parts: Text) -> tuple[Loss, bool]:
    """Return the loss of a model, and whether its trees are averaged."""
    head = parts.head
    objective = head.get("objective")
    if objective is None:
        raise ValueError(
            "A model trained with an objective of its own (a function) cannot be imported."
        )
    name, *details = objective.split(" ")
    if name not in LIGHTGBM:
        raise ValueError(f"objective={objective!r} cannot be imported, only {[*LIGHTGBM]} can.")
    if name in OF_SIGMOID and "sigmoid:1" not in details:
        raise ValueError(f"objective={objective!r} cannot be imported, only with sigmoid=1.")
    if "sqrt" in details:
        raise ValueError(
            f"objective={objective!r}, which reg_sqrt=True makes, cannot be imported: its trees"
            " predict roots. Train on the roots of the targets, without reg_sqrt."
        )
    kind = LIGHTGBM[name]
    n_classes = as_number(head["num_class"], "num_class")
    is_whole = n_classes > 1 if kind.is_of_classes else n_classes == 1
    if head["num_class"] != head["num_tree_per_iteration"] or not (is_whole and n_classes % 1 == 0):
        raise InvalidModelError(
            f"The LightGBM model has the objective {objective!r} with num_class="
            f"{head['num_class'][:20]!r} and {head['num_tree_per_iteration'][:20]!r} trees a round."
        )
    given = {one: parts.parameter(one, default) for one, default in kind.parameters.items()}
    loss = kind.loss(given, int(n_classes))
    if len(parts.trees) % loss.n_outputs:
        raise InvalidModelError("The LightGBM model has a round that is not complete.")
    is_forest = "average_output" in head
    if is_forest and (loss.name != "half_squared_error" or parts.parameter("lambda_l2", 0.0) != 0):
        raise ValueError(
            "boosting='rf' can be imported with objective='regression' and lambda_l2=0 only."
        )
    return loss, is_forest


def _read_rates(parts: Text) -> _Rates:
    """Return the learning rate, whether it changed, and whether the first tree hides a start.

    DART changes the rate of every tree that it drops, and of the next one that it grows. It may
    have dropped the first tree, which hides the start.
    """
    rates = [as_number(tree.get("shrinkage", ""), "shrinkage") for tree in parts.trees]
    # LightGBM writes 1 for a tree of one leaf, which took no step, whatever the rate was.
    has_split = [tree.get("num_leaves", "").strip() != "1" for tree in parts.trees]
    said = list(compress(rates, has_split))
    eta = parts.parameter("learning_rate", said[-1] if said else 1.0)
    if not 0 < eta < np.inf:
        raise InvalidModelError(f"The LightGBM model's learning_rate is {eta}.")
    n_first = sum(has_split[: int(parts.head["num_tree_per_iteration"])])
    first = said[0] if n_first else next(iter(rates), eta)
    has_start = bool(rates) and first == 1.0 and (eta != 1.0 or parts.starts_from_mean)
    is_dart = parts.parameters.get("boosting") == "dart"
    if is_dart and rates:
        has_start |= parts.starts_from_mean and first != eta
    others = said[n_first:] if has_start else said
    if is_dart:
        has_dropped = any(rate != eta for rate in others) or (has_start and first != 1.0)
        return _Rates(eta, False, has_start, has_dropped)
    eta = others[-1] if others else eta
    return _Rates(eta, any(rate != eta for rate in others), has_start, False)
