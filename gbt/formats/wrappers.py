"""What people wrap models in: searches over parameters, pipelines, thresholds.

A wrapper that hands rows on as they are is as good as the model inside. One that changes them, or
has several models, is refused with what to pass instead.
"""

from typing import Any

_WRAPPERS = (
    "sklearn.calibration", "sklearn.compose", "sklearn.ensemble._bagging",
    "sklearn.ensemble._stacking", "sklearn.ensemble._voting", "sklearn.ensemble._weight_boosting",
    "sklearn.feature_selection", "sklearn.model_selection", "sklearn.multiclass",
    "sklearn.multioutput", "sklearn.semi_supervised",
)  # fmt: skip
# Where wrappers keep what they have fitted, and how one model is got from there. What holds several
# models comes first: beside these, `estimator_` is what they were cloned from, which is not fitted.
_PARTS = {
    "calibrated_classifiers_": "model.calibrated_classifiers_[0].estimator",
    "estimators_": "model.estimators_[0]",
    "regressor_": "model.regressor_",
    "estimator_": "model.estimator_",
    "estimator": "model.estimator",
}


def unwrapped(model: Any) -> Any:
    """Return the model inside wrappers of scikit-learn that leave rows and targets alone.

    Raises
    ------
    TypeError
        If rows are changed on the way to the model, or there are several models.
    """
    name = type(model).__name__
    if hasattr(model, "best_estimator_"):  # of GridSearchCV and its kin
        return unwrapped(model.best_estimator_)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        changing = [step for step, part in model.steps[:-1] if part not in (None, "passthrough")]
        if not changing:
            return unwrapped(model.steps[-1][1])
        raise TypeError(
            f"The rows that the model in this {name} sees are not those that it is given, because"
            f" these steps come first: {', '.join(changing)}. Pass the model and the rows as it"
            " sees them: pipeline[-1] and pipeline[:-1].transform(X), once the pipeline is fitted."
            " What fits by itself, as cross_fit does, takes the last step alone, and rows that are"
            " transformed already."
        )
    if name in ("TunedThresholdClassifierCV", "FixedThresholdClassifier", "FrozenEstimator"):
        return unwrapped(getattr(model, "estimator_", model.estimator))
    if type(model).__module__.startswith(_WRAPPERS):
        is_part = name == "_CalibratedClassifier"  # fitted, unlike what other wrappers call so
        inside = [
            _PARTS[part]
            for part in _PARTS
            if hasattr(model, part) and (is_part or part != "estimator")
        ]
        if not inside:
            raise TypeError(f"This {name} has no model: it has not been fitted, or not refitted.")
        raise TypeError(
            f"{name} is no model of trees but has such inside. Pass one of them, as {inside[0]} is,"
            " with the rows and targets as that one sees them."
        )
    return model
