"""Models of other libraries: `as_ensemble` reads any of them, `to_xgboost` writes one of ours.

Models of other libraries are recognised by the module of their class, so that a library which the
caller does not use is never imported. Each has one file here, with one function that makes an
`Imported` of a model.
"""

import os
from importlib import import_module
from typing import Any

from gbt.formats.checking import check_predictions
from gbt.formats.imported import Imported
from gbt.formats.training_rows import complete
from gbt.formats.wrappers import unwrapped
from gbt.model.ensemble import Ensemble

_IMPORTERS = {  # the package of a model's class: module and function
    "xgboost": ("gbt.formats.xgboost", "import_xgboost"),
    "lightgbm": ("gbt.formats.lightgbm", "import_lightgbm"),
    "sklearn": ("gbt.formats.sklearn", "import_sklearn"),
    "catboost": ("gbt.formats.catboost", "import_catboost"),
}
_TAKES_ROWS = ("catboost",)  # to find the levels of categories among them
_TAKEN = (
    "an Ensemble, a fitted GBTRegressor or GBTClassifier, an xgboost.Booster or a fitted"
    " xgboost.XGBModel, the JSON of an XGBoost model as a dict, a lightgbm.Booster or a fitted"
    " lightgbm.LGBMModel, or a fitted GradientBoosting, HistGradientBoosting, RandomForest,"
    " ExtraTrees or DecisionTree of scikit-learn, or a fitted catboost.CatBoost"
)


def as_ensemble(
    model: Any, X: Any = None, y: Any = None, sample_weight: Any = None, init_score: Any = None
) -> Ensemble:
    """Return the trees of a model.

    Parameters
    ----------
    model : Ensemble, estimator, xgboost.Booster, lightgbm.Booster or dict
        Estimators, of ours, of XGBoost, LightGBM, CatBoost or scikit-learn, must be fitted. A dict
        is the JSON of an XGBoost model. What scikit-learn wraps around a model is taken off where
        the rows reach it as they are, see `gbt.formats.wrappers`.
    X : table of shape (n, p), optional
        The rows that the model was trained on. They supply what its library did not keep of the
        nodes, and check what it did; a warning names what they contradict. Without ``y`` rows are
        taken for a model of CatBoost with columns of categories: any that have its levels, which it
        keeps by their hashes.
    y : array of shape (n,), optional
        Their targets, or labels of ``model.classes_``.
    sample_weight : array of shape (n,), optional
        Their weights, times those of their classes if these had any. Without, they are those that
        the model's ``class_weight="balanced"`` gives them, if it has that, else 1.
    init_score : array of shape (n,), or (n, K), optional
        Raw predictions from which they started: XGBoost's ``base_margin``, LightGBM's
        ``init_score``. No library keeps them with its model. The ensemble then has starting values
        (``gbt.model.starts``), and every prediction needs those of its rows.

    Returns
    -------
    Ensemble
        The model itself if it is one, and the estimator's own, not a copy. Models of other
        libraries are imported once and kept while they live and stay as they are. The field
        ``statistics`` says what is known of the nodes. Where gradient sums are unknown, or may be
        another loss's, ``about_gradients`` says why, and so does whatever needs them: it refuses,
        or warns.

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For a model that cannot be expressed, by the name of what is in the way; see the module of
        its library in ``gbt.formats``.
    gbt.formats.checking.MisreadModelError
        Also a ValueError: a few rows are predicted otherwise than by the model itself, as happens
        when a later version of its library writes models in another way.
    sklearn.exceptions.NotFittedError
        For an estimator that has not been fitted.
    """
    imported = import_model(model, X)
    if X is not None and y is not None:
        if init_score is not None:
            imported = imported.with_starts()
        return complete(imported, unwrapped(model), X, y, sample_weight, init_score)
    is_of_levels = X is not None and imported.has_levels_of_rows
    alone = (y, sample_weight, init_score)
    if (X is not None and not is_of_levels) or any(given is not None for given in alone):
        raise ValueError(
            "Training rows need both X and y; sample_weight and init_score go with them."
        )
    return imported.ensemble


def to_xgboost(model: Any, path: str | os.PathLike) -> None:
    """Write a model as XGBoost's JSON, which ``xgboost.Booster(model_file=path)`` reads.

    It predicts as the model does within float32 rounding: of float32 rows each reaches the same
    leaf. Float64 numbers are rounded to float32 by XGBoost, and may then be on the other side of a
    threshold that is as near as that. Classes are numbered in the order of ``classes_``, and levels
    of a categorical column in that of ``Ensemble.categories``: give XGBoost the rows that
    ``Ensemble.as_input`` returns, with ``feature_types``. Starting values are its ``base_margin``,
    which it is to be given once more. Gradients, learning rate and lambda are
    no part of such a file; `gbt.formats.xgboost.from_xgboost` reads G and H back if it is given the
    latter two. Needs XGBoost 3.1 or later to be read.

    Parameters
    ----------
    model : whatever `as_ensemble` takes
    path : str or path-like
        Ending in ``.json``. An existing file is replaced once the new one is complete.

    Raises
    ------
    ValueError
        For what XGBoost's JSON cannot express, by its name: forests, models to which 0 is missing,
        the Huber loss and losses of one's own.
    """
    from gbt.formats.xgboost.writing import write_xgboost

    write_xgboost(as_ensemble(model), path)


def import_model(model: Any, X: Any = None) -> Imported:
    """Hand the model, and rows if they tell its levels, to the file that knows it."""
    model = unwrapped(model)
    if isinstance(model, Ensemble):
        return Imported(model, "given")
    libraries = {cls.__module__.split(".")[0] for cls in type(model).__mro__}
    if isinstance(model, dict):
        libraries = {"xgboost"}
    if "gbt" in libraries and hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
        return Imported(model.ensemble_, "fitted")
    for library, (module, function) in _IMPORTERS.items():
        if library in libraries:
            rows = (X,) if library in _TAKES_ROWS else ()
            imported = getattr(import_module(module), function)(model, *rows)
            if imported is not None:
                check_predictions(imported, model)
                return imported
    raise TypeError(f"The model must be {_TAKEN}; got {type(model).__name__}.")
