"""Wrappers of models: searches over parameters, pipelines, thresholds.

A wrapper is replaced by the model inside; the steps of a pipeline, which change rows on the way to
it, become a part of its `Ensemble` (``gbt.formats.steps``). One that changes rows in other ways, or
has several models, is refused, and the error says what to pass instead.
"""

from typing import Any

_WRAPPERS = (
    "sklearn.calibration", "sklearn.compose", "sklearn.ensemble._bagging",
    "sklearn.ensemble._stacking", "sklearn.ensemble._voting", "sklearn.ensemble._weight_boosting",
    "sklearn.feature_selection", "sklearn.model_selection", "sklearn.multiclass",
    "sklearn.multioutput", "sklearn.semi_supervised",
)  # fmt: skip
# Attributes in which wrappers keep fitted models, and how to get one from there. Wrappers of
# several models come first: their `estimator_` is the unfitted model of which they are clones.
_PARTS = {
    "calibrated_classifiers_": "model.calibrated_classifiers_[0].estimator",
    "estimators_": "model.estimators_[0]",
    "regressor_": "model.regressor_",
    "estimator_": "model.estimator_",
    "estimator": "model.estimator",
}


def unwrapped(model: Any, is_fitted: bool = True) -> Any:
    """Return the model inside searches, pipelines and wrappers that leave rows unchanged.

    Parameters
    ----------
    model : object
    is_fitted : bool
        False to ask before the fit: for the estimator that a fitted wrapper would hold.

    Raises
    ------
    TypeError
        If rows are changed by what is no pipeline, or there are several models.
    """
    name = type(model).__name__
    if is_fitted and hasattr(model, "best_estimator_"):  # of GridSearchCV and its kin
        return unwrapped(model.best_estimator_)
    if not is_fitted and hasattr(model, "refit") and hasattr(model, "estimator"):
        return unwrapped(model.estimator, is_fitted)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return unwrapped(model.steps[-1][1], is_fitted)
    if name in ("TunedThresholdClassifierCV", "FixedThresholdClassifier", "FrozenEstimator"):
        return unwrapped(getattr(model, "estimator_", model.estimator), is_fitted)
    if type(model).__module__.startswith(_WRAPPERS):
        is_part = name == "_CalibratedClassifier"  # fitted, unlike what other wrappers call so
        inside = [
            _PARTS[part]
            for part in _PARTS
            if hasattr(model, part) and (is_part or part != "estimator")
        ]
        if not inside and not is_fitted:
            raise TypeError(f"{name} is no model of trees, but fits others: give one of these.")
        if not inside:
            raise TypeError(f"This {name} has no model: it has not been fitted, or not refitted.")
        raise TypeError(
            f"{name} is no model of trees but has such inside. Pass one of them, as {inside[0]} is,"
            " with the rows and targets that it sees."
        )
    return model
