"""CatBoost models: trees on numbers and on single levels of categories.

They are read from the bytes in which CatBoost keeps a model, which is faster than its JSON
(``gbt.formats.catboost.binary``), and put in preorder (``gbt.formats.catboost.trees``). CatBoost
keeps hashes of levels; if some are split, rows must show which levels these are
(``gbt.formats.catboost.levels``). Counters of levels, and of combinations, are asked of CatBoost
itself (``gbt.formats.catboost.answers``). Statistics of text and embeddings are refused.

For a leaf CatBoost keeps its value and the weight W of its training rows. Under RMSE W is H, and
G = -(value / eta) (W + lambda); but if rows are weighted, lambda has been multiplied by their mean
weight, which the model does not have. So G is taken for known only if the sums of every tree follow
from the tree before it (``gbt.formats.which_loss``). Under Logloss H is lost. If W is whole
everywhere it is taken for the number of rows, unless there are signs that rows were weighted.
Numbers and borders are float32.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from gbt.formats.catboost.answers import Answers, Questions
from gbt.formats.catboost.binary import Model, read_model
from gbt.formats.catboost.levels import Hashed, hashed, levels_of, listed
from gbt.formats.catboost.trees import read_trees
from gbt.formats.checking import kept, state_of_kept
from gbt.formats.imported import Imported, LibraryNodes
from gbt.formats.objectives import CATBOOST
from gbt.formats.which_loss import Start, doubts_of
from gbt.losses.loss import Loss
from gbt.model.preparation import Preparation
from gbt.model.statistics import node_step
from gbt.tables.categories import Categories


def import_catboost(model: Any, X: Any = None) -> Imported | None:
    """Turn a model of CatBoost into an `Ensemble`; None for anything else.

    ``X`` are rows that have the levels which the model splits. Losses other than those of
    ``CATBOOST``, several targets, and statistics of text or embeddings are refused by name.
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
    known = state_of_kept(model)
    if X is None and isinstance(known, tuple) and known[0] == hash(state):
        categories = known[1]  # of rows that were given before
    else:
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
    # Counters were other numbers in training than they are for rows, so that no sum is comparable.
    return replace(imported, ensemble=ensemble, compared=frozenset())


def _loss_of(function: Any, n_outputs: int) -> Loss:
    """Return the loss of a model's loss function, which may be followed by parameters."""
    name, _, text = str(function).partition(":")
    if name not in CATBOOST or (text and not CATBOOST[name].parameters):
        raise ValueError(f"loss_function={function!r} cannot be imported, only {[*CATBOOST]} can.")
    given: dict[str, Any] = dict(part.split("=") for part in text.split(";") if part)
    if "scale" in given:
        given["scale"] = float(given["scale"])
    if "dist" in given:
        given["dist"] = given["dist"].lower()
    is_of_classes = CATBOOST[name].is_of_classes
    return CATBOOST[name].loss(given, n_outputs if is_of_classes else 1)


def _import(
    model: Model, parameters: dict[str, Any], categories: Categories | None, levels: Hashed
) -> Imported:
    function = parameters.get("loss_function")
    loss = _loss_of(function, model.n_outputs)
    if {model.n_outputs, len(model.bias)} != {loss.n_outputs} or model.scale != 1:
        raise ValueError(
            "A CatBoost model of several targets, or one rescaled by set_scale_and_bias, cannot be"
            " imported. Train one model for each target, and do not rescale it."
        )
    read = read_trees(model)
    tree, leaf, weight = read.tree, read.tree.is_leaf, read.tree.add_up(read.weight)
    nodes = LibraryNodes(
        tree,
        np.append(model.feature, 0)[read.split],
        np.append(model.border, 0)[read.split].astype(np.float64),
        ~np.append(model.nan_is_large, True)[read.split],
        read.value,
        weight,
        weight,
        None if categories is None else listed(model, read.split, levels),
    )
    eta, reg_lambda = float(parameters["learning_rate"]), float(parameters["l2_leaf_reg"])
    G = nodes.gradients(eta, reg_lambda)
    beside = ", nor counts of weighted classes" * bool(parameters.get("class_weights"))
    unknown: str | None = f"CatBoost does not keep it under {function}{beside}"
    if function == "RMSE":
        mean = Start(model.bias.item(), bool(parameters.get("boost_from_average")))
        unknown, _ = doubts_of(nodes, G, loss, mean)
        if unknown is not None:
            unknown += (
                ". Rows may have been weighted, which multiplies l2_leaf_reg: then sample_weight is"
                " needed beside the rows"
            )
    known = set() if unknown is not None else {"gradients", "hessians", "values"}
    is_count = not parameters.get("class_weights") and bool((weight % 1 == 0).all())
    if is_count and (function != "RMSE" or unknown is None):
        known |= {"counts"}
    return nodes.imported(
        "CatBoost",
        unknown,
        np.where(leaf, nodes.value, eta * node_step(G, weight, reg_lambda)),
        G,
        known,
        levels={k: [*of] for k, of in enumerate(categories or ()) if of is not None},
        base_score=model.bias,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=model.feature_names,
        input_dtype=np.float32,
    )
