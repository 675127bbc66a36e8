"""Wrappers of models: searches over parameters, pipelines, thresholds, transformed targets.

A wrapper is replaced by the model inside; the steps of a pipeline, which change rows on the way to
it, become a part of its `Ensemble` (``gbt.formats.pipelines``). Models that are averaged, or stand
side by side, become one (``gbt.formats.averages``). One that changes rows in other ways, or makes
something else of several models, is refused, and the error says what to pass instead.

The trees inside may see other targets than the caller has: `target_encoder` makes one of the other.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

TRANSFORMED = "TransformedTargetRegressor"
SEVERAL_TARGETS = "MultiOutputClassifier"
_WRAPPERS = (
    "sklearn.calibration", "sklearn.compose", "sklearn.ensemble._bagging",
    "sklearn.ensemble._stacking", "sklearn.ensemble._voting", "sklearn.ensemble._weight_boosting",
    "sklearn.feature_selection", "sklearn.model_selection", "sklearn.multiclass",
    "sklearn.multioutput", "sklearn.semi_supervised",
)  # fmt: skip
# Wrappers of one model, and where they have it; fitted, with an underscore behind.
_AROUND = {
    "TunedThresholdClassifierCV": "estimator",
    "FixedThresholdClassifier": "estimator",
    "FrozenEstimator": "estimator",
    TRANSFORMED: "regressor",
}
# Models of several models that `gbt.formats.averages` opens.
_SEVERAL = (
    "BaggingClassifier", "BaggingRegressor", "CalibratedClassifierCV", "MultiOutputClassifier",
    "MultiOutputRegressor", "VotingClassifier", "VotingRegressor",
)  # fmt: skip
# Attributes in which wrappers keep fitted models, and how to get one from there. Wrappers of
# several models come first: their `estimator_` is the unfitted model of which they are clones.
_PARTS = {
    "estimators_": "model.estimators_[0]",
    "estimator_": "model.estimator_",
    "estimator": "model.estimator",
}


def is_pipeline(model: Any) -> bool:
    """Say whether a model is one of scikit-learn's pipelines, or one like them."""
    return hasattr(model, "steps") and hasattr(model, "named_steps")


def inside(model: Any, is_fitted: bool = True) -> Any:
    """Return the model in a search, a pipeline or a wrapper of one; None if it is none of these.

    ``is_fitted=False`` asks before the fit: for the estimator that a fitted search would hold.
    """
    if is_fitted and hasattr(model, "best_estimator_"):  # of GridSearchCV and its kin
        return model.best_estimator_
    if not is_fitted and hasattr(model, "refit") and hasattr(model, "estimator"):
        return model.estimator
    if is_pipeline(model):
        return model.steps[-1][1]
    name = _AROUND.get(type(model).__name__)
    return None if name is None else getattr(model, f"{name}_", getattr(model, name))


def within(model: Any) -> Any:
    """Return the fitted model in searches and pipelines, steps aside."""
    while type(model).__name__ not in _AROUND and (part := inside(model)) is not None:
        model = part
    return model


def unwrapped(model: Any, is_fitted: bool = True) -> Any:
    """Return the model inside searches, pipelines and wrappers that leave rows unchanged.

    If something else changes rows, or there are several models, a TypeError is raised.
    """
    while (part := inside(model, is_fitted)) is not None:
        model = part
    if not type(model).__module__.startswith(_WRAPPERS) or is_of_several(model):
        return model
    name = type(model).__name__
    is_part = name == "_CalibratedClassifier"  # fitted, unlike what other wrappers call so
    parts = [
        _PARTS[part] for part in _PARTS if hasattr(model, part) and (is_part or part != "estimator")
    ]
    if hasattr(model, "transform") and not hasattr(type(model), "predict"):
        raise TypeError(f"{name} is a step before a model; give the whole pipeline.")
    if not parts and not is_fitted:
        raise TypeError(f"{name} is no model of trees, but fits others: give one of these.")
    if not parts:
        raise TypeError(f"This {name} has no model: it has not been fitted, or not refitted.")
    raise TypeError(
        f"{name} is no model of trees but has such inside. Pass one of them, as {parts[0]} is,"
        " with the rows and targets that it sees. permutation takes the whole."
    )


def is_of_several(model: Any) -> bool:
    """Say whether a model of scikit-learn's is made of several that can become one."""
    return type(model).__name__ in _SEVERAL and type(model).__module__.startswith("sklearn.")


def labels_of(model: Any) -> Any:
    """Return the labels of a classifier's one target; of a list, those of its first model."""
    if isinstance(model, list | tuple):
        return labels_of(model[0]) if model else None
    return None if type(model).__name__ == SEVERAL_TARGETS else getattr(model, "classes_", None)


def names_in(fitted: Any) -> tuple[str, ...]:
    """Return the names of the columns that a model or step of scikit-learn's was fitted on."""
    names = getattr(fitted, "feature_names_in_", None)
    names = [f"x{k}" for k in range(fitted.n_features_in_)] if names is None else names
    return tuple(map(str, names))


def scale_of(model: Any) -> str | None:
    """Say what the trees in a model add up to, where it predicts something else; None elsewhere."""
    name = type(within(model)).__name__
    if name == TRANSFORMED:
        return (
            f"The trees in this {name} add up to transformed targets, and are explained and judged"
            " on that scale: y is transformed as in the fit."
        )
    if name == "CalibratedClassifierCV":
        return (
            f"Explained are the trees below the calibration of this {name}, in their own raw"
            " predictions; what calibration makes of these is not. permutation takes the whole."
        )
    return None


def target_encoder(model: Any) -> Callable[[Any], Any] | None:
    """Return what makes the targets that the trees in a model see of those of its user.

    These differ where targets are transformed, and where several targets have labels. None: they
    are the same, but for the labels of one target.
    """
    model = within(model)
    name = type(model).__name__
    if name == TRANSFORMED and hasattr(model, "transformer_"):
        return partial(_transformed, model.transformer_)
    if name == SEVERAL_TARGETS and hasattr(model, "classes_"):
        return partial(_with_numbers, model.classes_)
    return None


def _transformed(transformer: Any, y: Any) -> np.ndarray:
    """Return targets on the scale on which a TransformedTargetRegressor fits its model."""
    y = np.asarray(y)
    given = transformer.transform(y if y.ndim == 2 else y[:, np.newaxis])
    return given if y.ndim == 2 else np.reshape(given, len(y))


def _with_numbers(classes: list[np.ndarray], y: Any) -> np.ndarray:
    """Return several targets of two labels each as 0 and 1."""
    y = np.asarray(y)
    if y.ndim != 2 or y.shape[1] != len(classes):
        raise ValueError(f"y has shape {y.shape}; the model has {len(classes)} targets a row.")
    for k, labels in enumerate(classes):
        unknown = ~np.isin(y[:, k], labels)
        if unknown.any():
            raise ValueError(
                f"Target {k} holds {y[unknown, k].tolist()[0]!r}; the model tells"
                f" {labels.tolist()} apart, so it must hold these labels only."
            )
    return np.column_stack([y[:, k] == labels[1] for k, labels in enumerate(classes)]).astype(float)
