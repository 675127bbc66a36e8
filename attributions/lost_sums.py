"""Sums of gradients that a library did not keep, made again from the rows that it was fitted on."""

import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from attributions.inputs import as_training
from gbt.formats import as_ensemble
from gbt.model import STATISTICS, Ensemble


def has_lost_sums(model: Any) -> bool:
    """Say whether the library of a fitted model did not keep what attributions need of its nodes.

    So it is with classifiers of CatBoost and scikit-learn's gradient boosting, among others.
    """
    with warnings.catch_warnings():  # it warns of the loss that is asked for here
        warnings.simplefilter("ignore", UserWarning)
        return as_ensemble(model).statistics != set(STATISTICS)


def trees_of(model: Any, training: Any = None) -> Ensemble:
    """Return the trees of a model, with lost sums made from its training rows if these are given.

    Parameters
    ----------
    model : whatever ``gbt.formats.as_ensemble`` takes
    training : pair (X, y), optional
        The rows that it was fitted on. A model that has kept all is not compared with them.
    """
    if training is None or not has_lost_sums(model):
        return as_ensemble(model)
    return as_ensemble(model, *as_training(training))


def training_for(measure: Callable, model: Any, training: Any) -> dict[str, Any]:
    """Return the training rows as an option of a measure, where it needs them for a fitted model.

    It does if it cannot do without them, or if it takes them and the model has lost sums.
    """
    parameter = signature(measure).parameters.get("training")
    if parameter is None:
        return {}
    is_needed = parameter.default is Parameter.empty
    is_needed = is_needed or (parameter.default is None and has_lost_sums(model))
    return {"training": training} if is_needed else {}
