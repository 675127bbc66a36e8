"""Wrappers of models: searches over parameters, pipelines, thresholds.

A wrapper that hands rows on unchanged is replaced by the model inside. One that changes them, or
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
    """Return the model inside wrappers of scikit-learn that leave rows and targets unchanged.

    Parameters
    ----------
    model : object
    is_fitted : bool
        False to ask before the fit: for the estimator that a fitted wrapper would hold.

    Raises
    ------
    TypeError
        If rows are changed on the way to the model, or there are several models.
    """
    name = type(model).__name__
    if is_fitted and hasattr(model, "best_estimator_"):  # of GridSearchCV and its kin
        return unwrapped(model.best_estimator_)
    if not is_fitted and hasattr(model, "refit") and hasattr(model, "estimator"):
        return unwrapped(model.estimator, is_fitted)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        changing = [step for step, part in model.steps[:-1] if part not in (None, "passthrough")]
        if not changing:
            return unwrapped(model.steps[-1][1], is_fitted)
        raise TypeError(
            f"The model in this {name} does not see the rows that it is given, because these steps"
            f" change them first: {', '.join(changing)}. Pass the model and the rows as it sees"
            " them: pipeline[-1] and pipeline[:-1].transform(X), once the pipeline is fitted."
            " Functions that fit models themselves, such as cross_fit, take the last step alone,"
            " and rows transformed by steps that learn nothing from targets."
        )
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
