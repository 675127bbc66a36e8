"""XGBoost models: boosters of trees, with gradient sums as far as they can be computed.

XGBoost keeps no sums of gradients, but what it keeps at every node determines them: from
w = -G / (H + lambda) follows G = -w (H + lambda). These are the entries of a node in its JSON, and
what becomes of them (eta is the learning rate, s = eta w the value of a leaf):

====================  ===========================  ================================================
array                 at an inner node, at a leaf  here
====================  ===========================  ================================================
``base_weights``      w, (w or s)                  ``value = eta w`` and G of inner nodes
``split_conditions``  threshold, s                 ``x < t`` in float32 becomes ``x <= threshold``
                                                   with the float32 before t; ``value = s``, and
                                                   G = -(s / eta) (H + lambda) of leaves
``sum_hessian``       H, H                         ``sum_hessian``
``categories``        levels that go right         ``level_sets``, see ``gbt.formats.xgboost.trees``
``loss_changes``      gain, 0                      not read: ``gain`` follows from G and H
====================  ===========================  ================================================

(The base weight of a leaf is w from ``tree_method="exact"`` but s from ``"hist"`` and ``"approx"``,
measured with version 3.2, so it is not read.) lambda and eta are not part of the model;
``gbt.formats.xgboost.training`` finds out what it can about them.

**DART** gives every tree a weight, which later drops of that tree have changed, and which
multiplies its values here. Versions keep these weights, ``weight_drop``, in different places::

    until 3.2    {"name": "dart", "weight_drop": [...], "gbtree": {"model": {...}}}
    3.3          {"name": "gbtree", "weight_drop": [...], "model": {...}}
    from 3.4 on  {"name": "gbtree", "model": {..., "weight_drop": [...]}}

Its trees were grown on gradients at the predictions of those trees that were not dropped, which are
not stored. So G is unknown, unless no tree was ever dropped.

**The absolute and the quantile loss** have no curvature. Until 3.3 XGBoost refitted the leaves to
quantiles, which therefore do not add up to their parents. From 3.4 on it grows trees on smoothed
derivatives (``gbt.formats.xgboost.smoothed``).

**What XGBoost does not keep.** It does not count rows. It does not store that an objective was the
user's own, or that training started from a ``base_margin``; ``gbt.formats.which_loss`` looks for
traces.
"""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gbt.files.documents import InvalidModelError, parse_json
from gbt.formats.checking import kept
from gbt.formats.imported import SUMS, Imported
from gbt.formats.objectives import DISTRIBUTION, REFITTED, XGBOOST
from gbt.formats.which_loss import doubts_of
from gbt.formats.xgboost.document import (
    entry,
    feature_names_of,
    named,
    numbers_in,
    numbers_of,
    version_of,
    whole,
)
from gbt.formats.xgboost.smoothed import Smoothed
from gbt.formats.xgboost.training import (
    TrainingFacts,
    complete,
    family_that_does_not_add_up,
    gradients,
    read_start,
    read_training,
    say_why_not,
)
from gbt.formats.xgboost.trees import categorical_columns, read_levels, read_trees
from gbt.formats.xgboost.ubjson import parse_ubjson
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble

FIRST_SMOOTHED = (3, 4)  # the first version that smooths these; those before it refit leaves
MOST_OUTPUTS = 2**16


def from_xgboost(
    model: Any, *, reg_lambda: float | None = None, learning_rate: float | None = None
) -> Ensemble:
    """Turn a model of XGBoost into an `Ensemble`; errors are those of `gbt.formats.as_ensemble`.

    Parameters
    ----------
    model : Booster, XGBModel, dict, str or path-like
        A booster, a fitted model of XGBoost's scikit-learn interface, a booster's JSON as Python
        objects, or the name of a file of JSON or UBJSON. All trees are taken, as
        ``Booster.predict`` does; of a scikit-learn model that stopped early those up to its best
        iteration, as its ``predict``.
    reg_lambda : float, optional
        L2 penalty of the training, if it was not 1. Needed for models that do not have it: a dict,
        a file, and a booster that was read from a file.
    learning_rate : float, optional
        Learning rate (eta) of the training. Needed for a booster that was read from a file; for a
        dict and a file it is computed from the leaves.

    Returns
    -------
    Ensemble
        Raw predictions are those of ``output_margin=True`` without a base margin within float32
        rounding, with ``input_dtype`` float32 and no counts: XGBoost does not count rows. Where
        gradient sums cannot be computed (docs/models.md), ``about_gradients`` says why.
    """
    return import_xgboost(model, reg_lambda, learning_rate).ensemble


def import_xgboost(
    model: Any, reg_lambda: float | None = None, learning_rate: float | None = None
) -> Imported:
    """Return the import of a model, with what could not be found out."""
    for name, given_number in {"reg_lambda": reg_lambda, "learning_rate": learning_rate}.items():
        if given_number is not None and not (given_number >= 0 and given_number < np.inf):
            raise ValueError(f"{name} must be 0 or more, and finite; got {given_number!r}.")
    n_rounds, is_own = None, False
    if hasattr(model, "get_booster"):  # xgboost.XGBModel
        is_own = callable(model.objective)
        model, n_rounds = booster_of(model)
    given = TrainingFacts(reg_lambda, learning_rate)
    if hasattr(model, "save_raw"):  # xgboost.Booster
        state = bytes(model.save_raw("ubj")), model.save_config(), n_rounds, given, is_own

        def make() -> Imported:
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


def _read_file(path: str | os.PathLike) -> Any:
    """Return what a file of JSON or UBJSON holds."""
    data = Path(path).read_bytes()
    try:
        return parse_ubjson(data) if data[:2] in (b"{L", b"{i") else parse_json(data, finite=False)
    except InvalidModelError as error:
        raise InvalidModelError(
            f"{os.fspath(path)} {error}. A model in XGBoost's old binary format becomes JSON with"
            " xgboost.Booster(model_file=...).save_model('model.json')."
        ) from error


def _import(
    document: Any, configuration: Any, n_rounds: int | None, given: TrainingFacts, is_own: bool
) -> Imported:
    learner = entry(document, "learner")
    model, tree_weight = _trees_of(learner)
    loss, n_features, per_round = _refuse_other_models(learner, model)
    is_forest = per_round > 1
    n_trees = None if is_forest or n_rounds is None else n_rounds * loss.n_outputs
    nodes, tree_weight = read_trees(model["trees"][:n_trees], n_features), tree_weight[:n_trees]
    training, why = complete(nodes, read_training(configuration), given, per_round)
    start = read_start(learner, loss, training, len(model["trees"]))
    eta, reg_lambda = training.learning_rate, training.reg_lambda
    assert eta is not None
    assert reg_lambda is not None

    G = gradients(nodes, reg_lambda, eta)
    known = {"gradients", "hessians"} | ({"values"} if why is None else set())
    if family_that_does_not_add_up(nodes, nodes.sum_hessian) is not None:
        raise InvalidModelError("The sum_hessian of the XGBoost model do not add up.")
    wrong = family_that_does_not_add_up(nodes, G)
    has_dropped = bool((tree_weight != 1).any())
    has_curvature = loss.name not in REFITTED
    # An old model that a later version has read and saved again has the later number.
    may_be_smoothed = not has_curvature and version_of(document) >= FIRST_SMOOTHED
    is_smoothed = may_be_smoothed and (wrong is None or training.hidden_by is not None)
    if training.hidden_by is not None:
        why = f"it was trained with {training.hidden_by}"
    elif is_smoothed:
        why = why or "it was trained on smoothed derivatives, at a scale of each round's own"
    elif not has_curvature:
        why, known = "its leaves are refitted to quantiles of their rows", {"hessians"}
    elif why is None and wrong is not None:
        why, known = say_why_not(nodes, wrong, training), {"hessians"}
        if given != TrainingFacts():
            raise ValueError(f"G of the XGBoost model is unknown: {why}.")
    elif why is None and has_dropped:
        why = "DART grew its trees at the predictions of some of those before them"
    doubt = None
    if why is None and not is_forest:
        why, doubt = doubts_of(nodes, G, loss, start)
        why = "its objective is a function of your own" if is_own else why
    value = np.where(nodes.tree.is_leaf, nodes.value, eta * nodes.value)
    return nodes.imported(
        "XGBoost",
        why,
        value * nodes.tree.by_node(tree_weight),
        G,
        known,
        doubt,
        categorical_columns(learner, n_features),
        compared=frozenset({"counts"}) if has_dropped else SUMS,
        trained_on=partial(Smoothed, loss) if is_smoothed else None,
        levels=read_levels(model, n_features),
        base_score=start.base_score,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=feature_names_of(learner, n_features),
        input_dtype=np.float32,
        is_forest=is_forest,
        unseen_is_missing=False,
        unstored_is_missing=True,
    )


def booster_of(model: Any) -> tuple[Any, int | None]:
    """Return the booster of a model, and how many rounds it predicts with, None for all."""
    if not hasattr(model, "get_booster"):
        return model, None
    if model.missing is not None and not np.isnan(model.missing):
        raise ValueError(
            f"The model takes missing={model.missing} for a missing value; here only nan is one."
            " Give model.get_booster(), and replace those values by nan in the rows."
        )
    booster = model.get_booster()
    best_iteration = booster.attr("best_iteration")
    return booster, None if best_iteration is None else int(best_iteration) + 1


def _trees_of(learner: Any) -> tuple[dict[str, Any], np.ndarray]:
    """Return the entry that has a learner's trees, and each one's weight, 1 but for DART."""
    booster = entry(learner, "gradient_booster")
    name = entry(booster, "name")
    if name not in ("gbtree", "dart"):
        raise ValueError(f"booster={named(name)} cannot be imported, only 'gbtree' and 'dart' can.")
    model = entry(booster, *(["gbtree"] if name == "dart" else []), "model")
    trees = entry(model, "trees")
    if not isinstance(trees, list):
        raise InvalidModelError("The XGBoost model's trees are not a list.")
    place = next((part for part in (booster, model) if "weight_drop" in part), None)
    if place is None and name != "dart":
        return model, np.ones(len(trees))
    tree_weight = numbers_of(place or booster, "weight_drop", "the trees", np.float64)
    tree_weight = tree_weight.astype(np.float32).astype(np.float64)
    if len(tree_weight) != len(trees) or not np.isfinite(tree_weight).all():
        raise InvalidModelError(
            f"The XGBoost model has {len(trees)} trees, and not as many finite numbers weight_drop:"
            f" {len(tree_weight)}."
        )
    return model, tree_weight


def _refuse_other_models(learner: Any, model: dict[str, Any]) -> tuple[Loss, int, int]:
    """Return a learner's loss and number of columns, and the trees a round and output."""
    objective = entry(learner, "objective", "name")
    shape = entry(learner, "learner_model_param")
    if not isinstance(shape, dict):
        raise InvalidModelError("The XGBoost model's learner_model_param is not an object.")
    allowed = [*XGBOOST]
    if objective not in allowed:  # a list, because what a file has need not be hashable
        raise ValueError(f"objective={named(objective)} cannot be imported, only {allowed} can.")
    n_classes, n_targets = (
        whole(shape, name) if name in shape else 1 for name in ("num_class", "num_target")
    )
    is_of_classes = XGBOOST[objective].is_of_classes
    if (n_classes > 1) != is_of_classes or max(n_classes, n_targets) > MOST_OUTPUTS:
        raise InvalidModelError(
            f"The XGBoost model has the objective {named(objective)} with num_class={n_classes}"
            f" and num_target={n_targets}."
        )
    loss = _loss_of(learner, objective, n_classes, n_targets)
    per_round = whole(entry(model, "gbtree_model_param"), "num_parallel_tree")
    if loss.n_outputs > 1:
        _refuse_other_rounds(model, per_round, loss.n_outputs)
    if per_round > 1 and len(model["trees"]) != per_round:
        raise ValueError(
            f"num_parallel_tree={per_round} cannot be imported with several rounds: all trees of a"
            " round are grown on the same gradients, here each tree is on those that the trees"
            " before it left, or all are on those at the base score."
        )
    n_features = whole(shape, "num_feature")
    if not 1 <= n_features < 2**31:
        raise InvalidModelError(f"The XGBoost model's num_feature is {n_features}.")
    return loss, n_features, per_round


def _loss_of(learner: Any, name: str, n_classes: int, n_targets: int) -> Loss:
    """Return the loss of an objective, whose parameters the JSON has as text."""
    of_several = {"reg:logistic": "binary:logistic"} if n_targets > 1 else {}
    objective = XGBOOST[of_several.get(name, name)]
    if n_targets > 1 and not isinstance(objective.of, str):
        raise ValueError(
            f"objective={name!r} cannot be imported with several targets, here {n_targets}."
        )
    records = [record for record in learner["objective"].values() if isinstance(record, dict)]
    texts = {parameter: text for record in records for parameter, text in record.items()}
    given: dict[str, Any] = {}
    for parameter in objective.parameters.keys() & texts.keys():
        if parameter == DISTRIBUTION:  # the only one that is a word
            given[parameter] = str(texts[parameter])
            continue
        found = numbers_in(texts[parameter], parameter)
        if len(found) != 1:
            raise ValueError(f"objective={name!r} cannot be imported with several {parameter}.")
        given[parameter] = found[0]
    return objective.loss(given, max(n_classes, n_targets))


def _refuse_other_rounds(model: dict[str, Any], per_round: int, n_outputs: int) -> None:
    """Refuse trees that do not come in rounds of one tree an output."""
    if any(whole(entry(tree, "tree_param"), "size_leaf_vector") > 1 for tree in model["trees"]):
        raise ValueError(
            "multi_strategy='multi_output_tree' cannot be imported: its leaves have several values."
        )
    if per_round > 1:
        raise ValueError(
            f"num_parallel_tree={per_round} cannot be imported with {n_outputs} outputs."
        )
    if entry(model, "tree_info") != [m % n_outputs for m in range(len(model["trees"]))]:
        raise InvalidModelError("The XGBoost model's tree_info does not count through its outputs.")
