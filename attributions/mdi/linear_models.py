"""The linear models that can be fitted to the columns of a tree, by their names in ``MODELS``.

As objects with options they are ``OLS()`` and ``Ridge()`` of ``attributions.mdi.least_squares``,
``ElasticNet()`` of ``attributions.mdi.elastic_net``, and ``LogisticRidge()`` and
``LogisticElasticNet()`` of ``attributions.mdi.logistic``. Folds choose the penalties, or left-out
rows that of "logistic_ridge". The logistic ones are for forests of classifiers. A linear model of
one's own implements `LinearModel` of ``attributions.mdi.least_squares``. Any linear model of
scikit-learn is fitted to the explicit columns (`attributions.mdi.explicit`).
"""

from collections.abc import Callable
from typing import Any

from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.explicit import Explicit
from attributions.mdi.least_squares import OLS, LinearModel, Ridge
from attributions.mdi.logistic import LogisticElasticNet, LogisticRidge
from attributions.mdi.training_trees import TrainingTrees
from gbt.tables.names import shown

MODELS: dict[str, Callable[[], LinearModel]] = {
    "elastic_net": ElasticNet,
    "logistic_elastic_net": LogisticElasticNet,
    "logistic_ridge": LogisticRidge,
    "ols": OLS,
    "ridge": Ridge,
}


def as_linear_model(linear_model: Any, training: TrainingTrees) -> LinearModel:
    """Turn a name or a model into a model; refuse one for labels where targets are numbers."""
    is_estimator = hasattr(linear_model, "get_params") and hasattr(linear_model, "fit")
    if isinstance(linear_model, str) and linear_model in MODELS:
        found = MODELS[linear_model]()
    elif isinstance(linear_model, LinearModel) and not isinstance(linear_model, type):
        found = linear_model
    elif is_estimator and not isinstance(linear_model, type):
        found = Explicit(linear_model)
    else:
        raise ValueError(
            f"linear_model={shown(linear_model)}; use one of {sorted(MODELS)}, such an object with"
            " options, as Ridge(penalty=1.0) of attributions.mdi.least_squares, or a linear model"
            " of scikit-learn."
        )
    if found.is_for_labels and not (training.is_forest and hasattr(training.model, "classes_")):
        raise ValueError(
            f"linear_model={found.name!r} is for labels, but the trees of"
            f" {type(training.model).__name__} predict numbers (in boosted classifiers -g/h with"
            " the weights h): use 'elastic_net', 'ridge' or 'ols'."
        )
    return found
