"""What a library did not keep of nodes, made again from the rows that a model was fitted on."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from attributions.inputs import as_training
from gbt.formats import as_ensemble
from gbt.model import Ensemble

# Of G the gradients of the rows that are judged take the place, and nothing here counts rows.
NEEDED = {"hessians", "values"}


def has_lost_sums(model: Any) -> bool:
    """Say whether a library did not keep what judging new rows needs of a fitted model's nodes.

    So it is with classifiers of CatBoost and scikit-learn's gradient boosting, among others.
    """
    return not as_ensemble(model).statistics >= NEEDED


def trees_of(model: Any, training: Any = None) -> Ensemble:
    """Return the trees of a model, with lost sums made from its training rows if these are given.

    Parameters
    ----------
    model : whatever ``gbt.formats.as_ensemble`` takes
    training : (X, y) or (X, y, sample_weight), optional
        The rows that it was fitted on. A model that has kept all is not compared with them.
    """
    if training is None or not has_lost_sums(model):
        return as_ensemble(model)
    return as_ensemble(model, *as_training(training))


def as_option(training: Any, measure: Callable) -> dict[str, Any]:
    """Return the training rows as an option of a measure, if it takes them and has not got any."""
    parameter = signature(measure).parameters.get("training")
    if parameter is None or not (parameter.default is None or parameter.default is Parameter.empty):
        return {}
    return {"training": training}


def needed_option(training: Any, measure: Callable, model: Any) -> dict[str, Any]:
    """Return the same, if the measure cannot do without them: always, or because sums are lost."""
    option = as_option(training, measure)
    is_required = option and signature(measure).parameters["training"].default is Parameter.empty
    return option if is_required or has_lost_sums(model) else {}
