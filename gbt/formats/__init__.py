"""One door for models: whatever was trained, attributions get an `Ensemble`.

Models of other libraries are recognised by the module of their class, so that a library which the
caller does not use is never imported.
"""

from gbt.model import Ensemble


def as_ensemble(model) -> Ensemble:
    """Return the trees of a model.

    Parameters
    ----------
    model : Ensemble, GBTRegressor, GBTClassifier, xgboost.Booster, xgboost.XGBModel or dict
        Estimators must be fitted. A dict is the JSON of an XGBoost model.

    Returns
    -------
    Ensemble
        The model itself if it is one, and the estimator's own, not a copy.

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For a model that cannot be expressed; see `gbt.formats.xgboost.from_xgboost`, which takes
        what a model file does not tell.
    sklearn.exceptions.NotFittedError
        For an estimator that has not been fitted.
    """
    if isinstance(model, Ensemble):
        return model
    libraries = {cls.__module__.split(".")[0] for cls in type(model).__mro__}
    if isinstance(model, dict) or "xgboost" in libraries:
        from gbt.formats.xgboost import from_xgboost

        return from_xgboost(model)
    if "gbt" in libraries and hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
        return model.ensemble_
    raise TypeError(
        "The model must be an Ensemble, a fitted GBTRegressor or GBTClassifier, an xgboost.Booster"
        " or a fitted xgboost.XGBModel, or the JSON of an XGBoost model as a dict; got"
        f" {type(model).__name__}."
    )
