"""Models from files: what `save` wrote is read back, and everything else is refused.

The layout is that of ``gbt.files.saving``. Every key, type, range and length is checked, then that
the arrays describe trees (`Ensemble.validate`); whatever fails is an `InvalidModelError` that says
where. Reading executes nothing.
"""

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from gbt.estimators.classifier import GBTClassifier
from gbt.estimators.constraints import constraints_of
from gbt.estimators.defaults import POOLED, chosen
from gbt.estimators.regressor import GBTRegressor
from gbt.files.documents import (
    InvalidModelError,
    as_array,
    as_choice,
    as_number,
    as_record,
    as_strings,
    demand,
    read_json,
    shown,
)
from gbt.files.saving import FORMAT, KINDS, LABEL_DTYPES, VERSION
from gbt.kernels.trees.experience import nothing_held_up
from gbt.losses.by_name import OF_REGRESSION, OWN, as_loss, is_loss, is_same, parameters_of
from gbt.losses.loss import Loss
from gbt.losses.own import OwnLoss
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.losses.squared_and_logistic import LOSSES
from gbt.losses.survival.laws import LAWS
from gbt.model.description import FLAGS, NUMBERS
from gbt.model.ensemble import Ensemble
from gbt.model.tree import NODE_DTYPES
from gbt.splitting.policies_by_name import as_policy, described_policy
from gbt.tables.categories import Categories, Levels, check_levels
from gbt.tables.level_sets import LevelSets
from gbt.training.sampling import Sampling, sample_size

Estimator = GBTRegressor | GBTClassifier
Model = Ensemble | Estimator

MOST_ROWS = 2**31 - 1  # rows are counted in int32, so no model was fitted to more

_ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.__name__: estimator for estimator in (GBTRegressor, GBTClassifier)
}
_ARRAYS = {**NODE_DTYPES, "tree_offset": np.int64}
_MAY_BE_NULL = ("unstored_is_missing", "has_init_score")
_LEVEL_SETS = {"of_node": np.int32, "start": np.int64, "words": np.uint64}
_LOSSES: dict[str, Callable[..., Loss]] = {
    "softmax": Softmax,
    "several_targets": SeveralTargets,
    **{name: type(loss) for name, loss in LOSSES.items()},
    **OF_REGRESSION,
}
_INPUT_DTYPES = {"float32": np.float32, "float64": np.float64}


def load(path: str | os.PathLike, *, loss: Any = None) -> Model:
    """Read a file that ``save`` of an estimator or an Ensemble has written; return what was saved.

    All of it is checked: a file that holds no model, or one with errors, is an InvalidModelError, a
    ValueError. An estimator is fitted and ready to predict. A model that was fitted with a ``loss``
    that is an object of your own needs it again, because files hold none.
    """
    document = read_json(path)
    try:
        return _rebuild(document, loss)
    except (InvalidModelError, RecursionError) as error:
        raise InvalidModelError(
            f"{os.fspath(path)} is not a sound model: {error}. A file that was written by an"
            " earlier version is to be made again: fit the model, and save it."
        ) from error


def _rebuild(document: Any, own_loss: Any) -> Model:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidModelError(
            f'it does not begin as this format does, "format": "{FORMAT}"; a file of another'
            " library is read by that library"
        )
    version = document.get("version")
    demand(
        type(version) is int and version == VERSION,
        f"its layout has version {shown(version)}, this library reads version {VERSION}: a newer"
        " file needs a newer library",
    )
    kind = as_choice(document.get("kind"), "kind", KINDS)
    keys = ["format", "version", "kind", "ensemble", *["estimator"] * (kind != "Ensemble")]
    document = as_record(document, "the file", keys)
    ensemble = _rebuild_ensemble(document["ensemble"], own_loss)
    if kind == "Ensemble":
        return ensemble
    return _rebuild_estimator(_ESTIMATORS[kind], document["estimator"], ensemble)


def _rebuild_ensemble(value: Any, own_loss: Any) -> Ensemble:
    of_memory = ("seen_rows", "about_gradients", "credit", "preparation")
    keys = [field.name for field in fields(Ensemble) if field.name not in of_memory]
    record = as_record(value, "ensemble", keys)
    where = {name: f"ensemble.{name}" for name in keys}
    loss = _rebuild_loss(record["loss"], where["loss"], own_loss)
    flags = [name for name in FLAGS if name not in _MAY_BE_NULL or record[name] is not None]
    known: dict[str, Any] = {
        **{name: as_array(record[name], where[name], _ARRAYS[name]) for name in _ARRAYS},
        **{name: as_number(record[name], where[name], np.float64) for name in NUMBERS},
        **{name: as_number(record[name], where[name], np.bool_) for name in flags},
    }
    of_base = as_array if loss.n_outputs > 1 else as_number
    dtype = as_choice(record["input_dtype"], where["input_dtype"], _INPUT_DTYPES)
    ensemble = Ensemble(
        **{**dict.fromkeys(_MAY_BE_NULL), **known},
        base_score=of_base(record["base_score"], where["base_score"], np.float64),
        loss=loss,
        feature_names=tuple(as_strings(record["feature_names"], where["feature_names"])),
        input_dtype=_INPUT_DTYPES[dtype],
        statistics=frozenset(as_strings(record["statistics"], where["statistics"])),
        categories=_rebuild_categories(record["categories"]),
        level_sets=_rebuild_level_sets(record["level_sets"]),
    )
    ensemble.validate()
    return ensemble


def _rebuild_categories(value: Any) -> Categories | None:
    """Check the levels of all columns; null if all are of numbers."""
    if value is None:
        return None
    demand(
        isinstance(value, list) and any(isinstance(levels, list) for levels in value),
        f"ensemble.categories must be null, or a list of lists and nulls; got {shown(value)}",
    )
    rebuilt: list[Levels | None] = []
    for k, levels in enumerate(value):
        where = f"ensemble.categories[{k}]"
        is_one = levels is None or isinstance(levels, list)
        demand(is_one, f"{where} must be a list or null; got {shown(levels)}")
        try:
            rebuilt.append(None if levels is None else check_levels(levels))
        except ValueError as error:
            raise InvalidModelError(f"{where}: {error}") from error
    return tuple(rebuilt)


def _rebuild_level_sets(value: Any) -> LevelSets | None:
    """Check the shape of the sets of levels that go left; `Ensemble.validate` does the rest."""
    if value is None:
        return None
    where = "ensemble.level_sets"
    record = as_record(value, where, [*_LEVEL_SETS])
    return LevelSets(
        **{name: as_array(record[name], f"{where}.{name}", of) for name, of in _LEVEL_SETS.items()}
    )


def _rebuild_loss(value: Any, where: str, own: Any = None) -> Loss:
    """Return the loss that JSON describes; ``own`` takes the place of a loss of the user's."""
    if isinstance(value, dict) and OWN in value:
        return _rebuild_own_loss(value, where, own)
    if own is not None:
        raise InvalidModelError(f"its loss is {shown(value)}, one of gbt's: read it without loss=")
    if isinstance(value, str):
        value = {"name": value}
    is_object = isinstance(value, dict)
    demand(is_object, f"{where} must be a name, or an object with one; got {shown(value)}")
    name = as_choice(value.get("name"), where, _LOSSES)
    default = LOSSES[name] if name in LOSSES else _LOSSES[name]()
    parameters = parameters_of(default)
    as_record(value, where, ["name", *parameters])
    if not parameters:
        return default
    given = {p: _as_parameter(value[p], f"{where}.{p}", of) for p, of in parameters.items()}
    try:
        return _LOSSES[name](**given)
    except ValueError as error:
        raise InvalidModelError(f"{where}: {error}") from error


def _rebuild_own_loss(value: dict[str, Any], where: str, own: Any) -> Loss:
    """Return the loss that the user gives again, for as many classes as the file says."""
    if own is None or isinstance(own, str) or not is_loss(own):
        raise InvalidModelError(
            f"its loss is {shown(value[OWN])}, an object of your own, which no file holds: read"
            " it with gbt.load(path, loss=...), and give such an object"
        )
    if "n_classes" not in value:
        return as_loss(own)
    n_classes = as_number(value["n_classes"], f"{where}.n_classes", np.int64)
    is_number = 2 <= n_classes <= MOST_ROWS
    demand(is_number, f"{where}.n_classes must be 2 or more; got {n_classes}")
    return OwnLoss(own, n_classes)


def _as_parameter(value: Any, where: str, default: str | float | None) -> Any:
    """Return a parameter of a loss: a number like the default, or a name of its kind."""
    if isinstance(default, str):
        return as_choice(value, where, next(names for names in (LOSSES, LAWS) if default in names))
    if default is None and value is None:
        return None
    kinds = {bool: np.bool_, int: np.int64}
    return as_number(value, where, kinds.get(type(default), np.float64))


def _rebuild_estimator(cls: type[Estimator], value: Any, ensemble: Ensemble) -> Estimator:
    keys = ["parameters", "has_feature_names", "evals_result", "sampling", "held_up"]
    keys += ["split_scores"] + ["classes"] * (cls is GBTClassifier)
    record = as_record(value, "estimator", keys)
    demand(ensemble.n_trees > 0, f"a {cls.__name__} has at least one tree")
    model = _rebuild_parameters(cls, record["parameters"], ensemble.loss)
    if isinstance(model, GBTClassifier):
        model.classes_ = _rebuild_labels(record["classes"])
    own_loss, loss = model._own_loss(), ensemble.loss
    demand(is_same(own_loss, loss), f"a {cls.__name__} cannot have the loss {loss.name}")
    model.ensemble_ = ensemble
    model._categories = ensemble.categories
    model._labels = ensemble.feature_names
    model.best_iteration_ = ensemble.n_rounds - 1
    model.evals_result_ = _rebuild_losses(record["evals_result"], ensemble.n_rounds)
    model.n_features_in_ = ensemble.n_features
    model.split_scores_, model._held_up = None, nothing_held_up(ensemble.n_features, loss.n_outputs)
    model._learning_rates = []  # a file has no callbacks
    if (scores := record["split_scores"]) is not None:
        model.split_scores_ = _as_many(
            scores, "estimator.split_scores", np.zeros(ensemble.n_features)
        )
    if (held_up := record["held_up"]) is not None:
        model._held_up = _as_many(held_up, "estimator.held_up", model._held_up)
    if as_number(record["has_feature_names"], "estimator.has_feature_names", np.bool_):
        model.feature_names_in_ = np.array(ensemble.feature_names, dtype=object)
    try:
        model._kept_constraints = constraints_of(model, own_loss)
    except ValueError as error:
        raise InvalidModelError(f"estimator.parameters: {error}") from error
    model._sampling = _rebuild_sampling(record["sampling"], ensemble)
    model.splitter_ = chosen(model._all_parameters(), model._sampling.n_seen)["splitter"]
    if model.split_scores_ is not None and model.splitter == "auto":
        # With refit=True it was chosen by the rows of the first fit, which are fewer. Greedy trees
        # have no scores.
        model.splitter_ = as_policy(POOLED)
    return model


def _rebuild_parameters(cls: type[Estimator], value: Any, of_trees: Loss) -> Estimator:
    """Return an estimator that is not fitted yet; ``of_trees`` is the loss of its trees."""
    where = "estimator.parameters"
    parameters = dict(as_record(value, where, [*cls().get_params()]))
    try:
        for name in ("class_weight", "monotone_constraints"):  # a dict is a list of pairs
            pairs = parameters.get(name)
            if isinstance(pairs, list) and all(isinstance(pair, list) for pair in pairs):
                parameters[name] = dict(pairs)
        parameters["splitter"] = described_policy(parameters["splitter"])
        if isinstance(parameters["loss"], dict):
            own = of_trees.loss if isinstance(of_trees, OwnLoss) else None
            loss = _rebuild_loss(parameters["loss"], f"{where}.loss", own)
            parameters["loss"] = own or loss
        model = cls(**parameters)
        model.check_parameters()
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidModelError(f"{where}: {error}") from error
    return model


def _rebuild_losses(value: Any, n_rounds: int) -> dict[str, list[float]]:
    demand(isinstance(value, dict), "estimator.evals_result must be an object")
    rebuilt = {}
    for name in value:
        where = f"estimator.evals_result.{name}"
        rebuilt[name] = losses = as_array(value[name], where, np.float64).tolist()
        demand(len(losses) >= n_rounds, f"{where} has {len(losses)} losses for {n_rounds} rounds")
    return rebuilt


def _as_many(value: Any, where: str, default: np.ndarray) -> np.ndarray:
    """Return as many numbers as the default has, in its shape."""
    numbers = as_array(value, where, np.float64)
    n, n_wanted = len(numbers), default.size
    demand(n == n_wanted, f"{where} has {n} numbers; this model has {n_wanted}")
    return numbers.reshape(default.shape)


def _rebuild_labels(value: Any) -> np.ndarray:
    where = "estimator.classes"
    record = as_record(value, where, ["dtype", "values"])
    dtype = as_choice(record["dtype"], f"{where}.dtype", ("str", "object", *LABEL_DTYPES))
    if dtype in ("str", "object"):
        labels = np.array(as_strings(record["values"], f"{where}.values"), dtype=dtype)
    else:
        labels = as_array(record["values"], f"{where}.values", dtype)
    is_sorted = len(labels) > 1 and (labels[:-1] < labels[1:]).all()
    demand(is_sorted, f"{where}.values must be two labels or more, sorted; got {labels}")
    return labels


def _rebuild_sampling(value: Any, ensemble: Ensemble) -> Sampling:
    """Check how rows were sampled, and that trees have counted as many as the table had."""
    where = "estimator.sampling"
    record = as_record(value, where, [field.name for field in fields(Sampling)])
    seed = as_number(record["seed"], f"{where}.seed", np.uint32)
    subsample = as_number(record["subsample"], f"{where}.subsample", np.float64)
    n_rows = as_number(record["n_rows"], f"{where}.n_rows", np.int64)
    left_out = as_array(record["left_out"], f"{where}.left_out", np.int64)
    demand(0 < subsample <= 1, f"{where}.subsample must be in (0, 1]; got {subsample}")
    demand(n_rows <= MOST_ROWS, f"{where}.n_rows must be at most {MOST_ROWS}; got {n_rows}")
    steps = np.diff(np.concatenate([[-1], left_out, [n_rows]]))
    demand(
        (steps > 0).all() and len(left_out) < n_rows,
        f"{where}.left_out must be some of the {n_rows} rows, ascending, and not all of them",
    )
    n_sampled = sample_size(n_rows - len(left_out), subsample)
    counted = ensemble.n_samples[ensemble.tree_offset[:-1]]
    m = int(np.argmax(counted != n_sampled))
    demand(
        counted[m] == n_sampled,
        f"{where}.n_rows is {n_rows}, of which a tree saw {n_sampled}, but ensemble.n_samples of"
        f" tree {m} begins with {counted[m]}",
    )
    return Sampling(seed, subsample, n_rows, left_out)
