"""CatBoost models: trees on numbers and on single levels of categories.

They are read from the bytes in which CatBoost keeps a model, which is faster than its JSON
(``gbt.formats.catboost.binary``), and put in preorder (``gbt.formats.catboost.trees``). CatBoost
keeps hashes of levels; if some are split, rows must show which levels these are
(``gbt.formats.catboost.levels``). Counters of levels, and of combinations, are asked of CatBoost
itself (``gbt.formats.catboost.answers``). Statistics of text and embeddings are refused.

For a leaf CatBoost keeps its value and the weight W of its training rows. Under RMSE W is H, and
G = -(value / eta) (W + lambda); but if rows are weighted, lambda has been multiplied by their mean
weight, which the model does not have. So G is taken for known only if the sums of every tree follow
from the tree before it (``gbt.formats.origin``). Under Logloss H is lost. If W is whole everywhere
it is taken for the number of rows, unless there are signs that rows were weighted. Numbers and
borders are float32.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from gbt.formats.catboost.answers import Answers, Questions
from gbt.formats.catboost.binary import Model, read_model
from gbt.formats.catboost.levels import Hashed, hashed, levels_of, listed
from gbt.formats.catboost.trees import read_trees
from gbt.formats.imported import Imported, kept
from gbt.formats.nodes import to_ensemble
from gbt.formats.origin import Start, contradiction
from gbt.losses.half import LOSSES
from gbt.losses.loss import Loss
from gbt.losses.ranking import Pairwise
from gbt.losses.several_outputs import Softmax
from gbt.losses.survival import Aft, Cox
from gbt.model.preparation import Preparation
from gbt.model.statistics import node_step
from gbt.tables.categories import Categories

LOSS_OF_FUNCTION: dict[str, Loss] = {
    "RMSE": LOSSES["half_squared_error"],
    "Logloss": LOSSES["half_logistic"],
    "Cox": Cox(is_newton=True),
    "PairLogit": Pairwise(),
    "YetiRank": Pairwise(),
    "QueryRMSE": Pairwise(),
}
OF_CLASSES = "MultiClass"
OF_TIMES = "SurvivalAft"  # may be followed by its parameters, as in "SurvivalAft:dist=Normal"


def import_catboost(model: Any, X: Any = None) -> Imported | None:
    """Turn a model of CatBoost into an `Ensemble`; None for anything else.

    ``X`` are rows that have the levels which the model splits. Losses other than MultiClass
    and those of ``LOSS_OF_FUNCTION``, several targets, and features that are combinations of
    categories, text or embeddings are refused by name.
    """
    if not hasattr(model, "get_all_params"):
        return None
    if not model.is_fitted():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError("This CatBoost model is not fitted yet; call fit first.")
    state = model._serialize_model()
    read = read_model(state)
    if read.others:
        raise ValueError(
            f"A CatBoost model with {' and '.join(read.others)} features cannot be imported:"
            " these are statistics of the training rows. Train with numbers in their place."
        )
    if (read.counter >= 0).any():
        return kept(model, hash(state), lambda: _of_answers(read, state, model.get_all_params()))
    categories = levels_of(read, X)
    return kept(
        model,
        (hash(state), categories),
        lambda: _import(
            read, model.get_all_params(), categories, hashed(read, model._object, categories)
        ),
    )


def _of_answers(model: Model, state: bytes, parameters: dict[str, Any]) -> Imported:
    """Import a model that asks for counters of levels: its rows are CatBoost's own answers."""
    questions = Questions.of(model)
    asked = questions.of_model(model)
    imported = _import(asked, parameters, None, {})
    answers = Answers.of(model, state, questions)
    preparation = Preparation(
        (("CatBoost", answers),), model.feature_names, questions.origins, asked.feature_names
    )
    ensemble = replace(imported.ensemble, preparation=preparation, credit=preparation.credit)
    return replace(imported, ensemble=ensemble, has_levels_of_rows=True, has_counters=True)


def _loss_of(function: Any, n_outputs: int) -> Loss | None:
    """Return the loss of a model's loss function; None where that is none of ours."""
    if function == OF_CLASSES:
        return Softmax(n_outputs, 1.0)
    name, _, text = str(function).partition(":")
    if name != OF_TIMES:
        return LOSS_OF_FUNCTION.get(function)
    given = dict(part.split("=") for part in text.split(";") if part)
    law, scale = given.get("dist", "Normal").lower(), float(given.get("scale", 1.0))
    return Aft(law, scale, is_newton=True)


def _import(
    model: Model, parameters: dict[str, Any], categories: Categories | None, levels: Hashed
) -> Imported:
    function = parameters.get("loss_function")
    loss = _loss_of(function, model.n_outputs)
    if loss is None:
        allowed = [*LOSS_OF_FUNCTION, OF_CLASSES, OF_TIMES]
        raise ValueError(f"loss_function={function!r} cannot be imported, only {allowed} can.")
    n_outputs = model.n_outputs if function == OF_CLASSES else 1
    if model.n_outputs != n_outputs or len(model.bias) != n_outputs or model.scale != 1:
        raise ValueError(
            "A CatBoost model of several targets, or one rescaled by set_scale_and_bias, cannot be"
            " imported. Train one model for each target, and do not rescale it."
        )
    bias = float(model.bias[0]) if n_outputs == 1 else model.bias
    nodes = read_trees(model)
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
    is_count = not parameters.get("class_weights") and bool((weight % 1 == 0).all())
    if function == "RMSE":
        is_count = is_count and unknown is None
    feature = np.append(model.feature, 0)[nodes.split]
    sets: dict[str, Any] = {}
    if categories is not None:
        known = {k: [*of] for k, of in enumerate(categories) if of is not None}
        of_nodes = listed(model, nodes.split, levels)
        sets = of_nodes.as_sets("CatBoost", feature, model.feature_names, known)
    ensemble = to_ensemble(
        tree,
        feature=feature,
        threshold=np.append(model.border, 0)[nodes.split].astype(np.float64),
        missing_left=~np.append(model.nan_is_large, True)[nodes.split],
        value=np.where(leaf, value, eta * node_step(G, weight, reg_lambda)),
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
        **sets,
    )
    return Imported(
        ensemble,
        "CatBoost",
        unknown,
        counts_are_weights=True,
        has_levels_of_rows=categories is not None,
    )
