"""Models of other libraries: `as_ensemble` reads any of them, `to_xgboost` writes one of ours.

Models of other libraries are recognised by the module of their class, so that a library which the
caller does not use is never imported. Each has a folder here, whose ``import_`` function makes an
`Imported` of a model.
"""

import os
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from gbt.formats.averages import Average as Average
from gbt.formats.averages import Several, models_to_fit, several_of
from gbt.formats.catboost.answers import Answers
from gbt.formats.checking import kept
from gbt.formats.imported import Imported
from gbt.formats.merging import merged
from gbt.formats.pipelines import preparation_of, steps_before
from gbt.formats.training_rows import complete, complete_several
from gbt.formats.wrappers import is_of_several, scale_of, target_encoder, unwrapped
from gbt.formats.wrappers import labels_of as labels_of
from gbt.model.ensemble import Ensemble
from gbt.model.preparation import Preparation
from gbt.tables.names import are_numbers

_LIBRARIES = ("xgboost", "lightgbm", "sklearn", "catboost")  # the packages of their models' classes
_TAKEN = (
    "an Ensemble, a fitted GBTRegressor or GBTClassifier, an xgboost.Booster or a fitted"
    " xgboost.XGBModel, the JSON of an XGBoost model as a dict, a lightgbm.Booster or a fitted"
    " lightgbm.LGBMModel, or a fitted GradientBoosting, HistGradientBoosting, RandomForest,"
    " ExtraTrees or DecisionTree of scikit-learn, or a fitted catboost.CatBoost, or an average of"
    " these (gbt.formats.averages), or a fitted pipeline, or search, of one of these"
)


class ScaleWarning(UserWarning):
    """The trees of a model add up to something else than the model predicts."""


def as_ensemble(
    model: Any, X: Any = None, y: Any = None, sample_weight: Any = None, init_score: Any = None
) -> Ensemble:
    """Return the trees of a model.

    Parameters
    ----------
    model : Ensemble, estimator, xgboost.Booster, lightgbm.Booster or dict
        Estimators, ours or of XGBoost, LightGBM, CatBoost or scikit-learn, must be fitted. A dict
        is the JSON of an XGBoost model. Wrappers of scikit-learn are removed if they hand rows on
        unchanged, see `gbt.formats.wrappers`. The steps of a fitted pipeline become the
        ``preparation`` of its model: the ensemble takes rows as the pipeline does, and credits
        splits to their columns, see `gbt.formats.pipelines`. A list of models is their average, and
        other averages are models, too, see `gbt.formats.averages`.
    X : table of shape (n, p), optional
        The rows that the model was trained on. They supply statistics of nodes that its library did
        not keep, and check those that it did; a warning names what they contradict. Rows without
        ``y`` are for models of CatBoost with columns of categories: any rows that have the levels,
        of which CatBoost keeps only hashes.
    y : array of shape (n,), optional
        Their targets, or labels of ``model.classes_``.
    sample_weight : array of shape (n,), optional
        Their weights, multiplied by those of their classes if these had any. Without it, weights
        are those of ``class_weight="balanced"`` or of CatBoost's classes, if the model has such,
        else 1.
    init_score : array of shape (n,), or (n, K), optional
        Raw predictions from which these rows started: XGBoost's ``base_margin``, LightGBM's
        ``init_score``. No library keeps them with its model. The ensemble then has starting values
        (``gbt.model.starting_values``), and every prediction needs those of its rows.

    Returns
    -------
    Ensemble
        The model itself if it is an Ensemble, that of an estimator of ours, not a copy, or an
        import. Models of other libraries are imported once; the import is kept as long as the
        model exists and does not change. The field ``statistics`` says which sums of nodes are
        known. If gradient sums are unknown, or may be those of another loss, ``about_gradients``
        says why, and functions that need them raise an error or warn with this reason.

    Warns
    -----
    ScaleWarning
        If the model makes something else of what its trees add up to: a calibration, or the inverse
        of a transformation of the targets.

    Raises
    ------
    TypeError
        If ``model`` is none of these.
    ValueError
        For a model that an `Ensemble` cannot express; the message names the reason, such as linear
        trees, an objective that has no loss here, or levels of several kinds.
    gbt.files.documents.InvalidModelError
        Also a ValueError: a file, a text or a dict does not describe a model.
    gbt.formats.checking.MisreadModelError
        Also a ValueError: some rows are not predicted as by the model itself, as happens when a
        later version of its library writes models in another way.
    sklearn.exceptions.NotFittedError
        For an estimator that has not been fitted.
    """
    if (scale := scale_of(model)) is not None:
        warnings.warn(scale, ScaleWarning, stacklevel=3)
    imported = import_model(model, X)
    if X is not None and y is not None:
        encode = target_encoder(model)
        y = y if encode is None else encode(y)
        if init_score is not None:
            imported = imported.with_starts()
        if (several := several_of(model)) is not None:
            given = imported.ensemble
            X = given.as_input(X) if steps_before(model) else X
            return complete_several(as_ensemble, several, given, X, y, sample_weight, init_score)
        return complete(imported, unwrapped(model), X, y, sample_weight, init_score)
    given = imported.ensemble
    steps = () if given.preparation is None else given.preparation.steps
    has_counters = any(isinstance(step, Answers) for _, step in steps)
    tells_levels = has_counters or (imported.library == "CatBoost" and given.categories)
    alone = (y, sample_weight, init_score)
    if (X is not None and not tells_levels) or any(one is not None for one in alone):
        raise ValueError(
            "Training rows need both X and y; sample_weight and init_score go with them."
        )
    return imported.ensemble


def to_xgboost(model: Any, path: str | os.PathLike) -> None:
    """Write a model as XGBoost's JSON, which ``xgboost.Booster(model_file=path)`` reads.

    XGBoost predicts as the model does within float32 rounding: float32 rows reach the same leaves.
    XGBoost rounds float64 numbers to float32, which may move them to the other side of a very near
    threshold. Classes are numbered in the order of ``classes_``, and levels of a categorical column
    in that of ``Ensemble.categories``: give XGBoost the rows that ``Ensemble.as_input`` returns,
    with ``feature_types``. Starting values must be given to XGBoost as ``base_margin``. Such a file
    does not hold gradients, learning rate and lambda; `gbt.formats.xgboost.from_xgboost` restores G
    and H if it is given the latter two. Reading it needs XGBoost 3.1 or later.

    The model is whatever `as_ensemble` takes. The name of the file ends in ``.json``; an existing
    one is replaced once the new one is complete. What XGBoost's JSON cannot express is a ValueError
    that names it: steps of a pipeline, forests, models to which 0 is missing, the Huber loss,
    losses of one's own, and names of columns that XGBoost refuses.
    """
    from gbt.formats.xgboost.writing import write_xgboost

    write_xgboost(as_ensemble(model), path)


def refuse_unreadable(estimator: Any) -> None:
    """Raise the error of `as_ensemble` if no model of an unfitted estimator's type can be read.

    Ask before the fit. One of a readable type is refused only for not being fitted.
    """
    from sklearn.exceptions import NotFittedError

    inside = unwrapped(estimator, is_fitted=False)
    if is_of_several(inside):
        for member in models_to_fit(inside):
            refuse_unreadable(member)
        return
    with suppress(NotFittedError):
        import_model(inside)


def import_model(model: Any, X: Any = None) -> Imported:
    """Import a model by the module of its library; rows go along where they tell its levels."""
    if steps := steps_before(model):
        return _import_pipeline(steps, unwrapped(model), X)
    if (several := several_of(model)) is not None:
        return _import_several(unwrapped(model), several, X)
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
    for library in [*filter(libraries.__contains__, _LIBRARIES)]:
        reader = getattr(import_module(f"gbt.formats.{library}"), f"import_{library}")
        # CatBoost finds the levels of categories among rows.
        imported = reader(model, X) if library == "catboost" else reader(model)
        if imported is not None:
            return imported
    raise TypeError(f"The model must be {_TAKEN}; got {_what_it_is(model)}.")


def _what_it_is(model: Any) -> str:
    """Return the name of what is no model here, and what to do with it, for errors."""
    name = type(model).__name__
    if isinstance(model, type):
        return f"the class {model.__name__}, and no fitted model of it"
    if isinstance(model, str | os.PathLike):
        return f"{name}; read the file first, as gbt.load or xgboost.Booster(model_file=path) does"
    if hasattr(model, "predict"):
        return f"{name}, which has no trees; attributions.permutation takes whatever predicts"
    return name


def _import_pipeline(steps: list[tuple[str, Any]], model: Any, X: Any) -> Imported:
    """Import the model behind fitted steps, and put these before its trees."""
    if X is not None:
        X = Preparation(tuple(steps), (), ()).rows(X)
    imported = import_model(model, X)
    given = imported.ensemble
    if given.credit is not None:
        raise ValueError(
            f"{type(model).__name__} combines columns, and steps come before it: what it combines"
            " is not traced through steps. Explain the model itself, pipeline[-1], with the rows"
            " that the steps make, pipeline[:-1].transform(X)."
        )
    preparation = preparation_of(steps, model, given.feature_names)
    named = preparation.names_out if are_numbers(given.feature_names) else None
    ensemble = replace(
        given,
        feature_names=named or given.feature_names,
        credit=preparation.credit,
        preparation=preparation,
    )
    vars(ensemble)["predictor"] = given.predictor  # which takes time to make
    return replace(imported, ensemble=ensemble)


def _import_member(several: Several, model: Any, X: Any) -> Imported:
    """Import one of the models of which a model is made; an error says that it is inside."""
    try:
        return import_model(model, X)
    except TypeError as error:
        name, whole = type(unwrapped(model)).__name__, several.name
        raise TypeError(
            f"The {name} in this {whole} is no model of trees that can be read: give those of its"
            f" models that are, one by one or as a list, or fit the {whole} without it."
            " attributions.permutation takes the whole."
        ) from error


def _import_several(model: Any, several: Several, X: Any) -> Imported:
    """Import all models of which a model is made, and put their trees together."""
    given = [several.given_to(j, X) for j in range(len(several.models))]
    members = [*map(partial(_import_member, several), several.models, given)]
    ensembles = [member.ensemble for member in members]

    def make() -> Imported:
        is_sampled = any(member.is_sampled for member in members)
        return Imported(merged(several, ensembles), several.name, is_sampled=is_sampled)

    if isinstance(model, list | tuple):  # which no weak reference can point at
        return make()
    weights = () if several.weights is None else several.weights.tolist()
    return kept(model, (*ensembles, *weights), make)
