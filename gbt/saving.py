"""Our own model files: JSON that comes back to the last bit and is never trusted.

A file is one object::

    format     "gbt"
    version    1                                  of this layout, not of the library
    kind       "Ensemble", "GBTRegressor" or "GBTClassifier"
    ensemble   every field of `Ensemble`, node arrays as flat lists
    estimator  for the two estimators: parameters, what ``fit`` learned beside the trees, and how
               rows were sampled

Floats are written as Python writes them, with the fewest digits that give the same float64 back, so
the round trip is exact. There are no nan and no infinities in a model.

Reading executes nothing. Every key, type, range and length is checked, then that the arrays
describe trees (`Ensemble.validate`); whatever fails is an `InvalidModelError` that says where.
Writing goes to a new file in the same folder, which takes the old one's name only when it is
complete on disk.
"""

import json
import os
import secrets
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gbt.estimators import GBTClassifier, GBTRegressor, Sampling
from gbt.losses import LOSSES
from gbt.model import NODE_DTYPES, Ensemble, InvalidModelError

FORMAT = "gbt"
VERSION = 1

Model = Ensemble | GBTRegressor | GBTClassifier

_ESTIMATORS = {"GBTRegressor": GBTRegressor, "GBTClassifier": GBTClassifier}
_ARRAYS = {**NODE_DTYPES, "tree_offset": np.int64}
_NUMBERS = ("base_score", "learning_rate", "reg_lambda")
_INPUT_DTYPES = {"float32": np.float32, "float64": np.float64}
_JSON_TYPES: dict[str, set[type]] = {"b": {bool}, "f": {int, float}, "i": {int}, "u": {int}}
_LABEL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
)  # fmt: skip


def save(model: Model, path: str | os.PathLike) -> None:
    """Write a model to a file that `load` reads.

    Parameters
    ----------
    model : Ensemble, GBTRegressor or GBTClassifier
        Estimators must be fitted.
    path : str or path-like
        An existing file is replaced once the new one is complete.
    """
    text = json.dumps(_describe(model), allow_nan=False)
    path = Path(path)
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        with open(unfinished, "x", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: str | os.PathLike) -> Model:
    """Read a model file, check all of it, and return what was saved.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Ensemble, GBTRegressor or GBTClassifier
        An estimator is fitted and ready to predict.

    Raises
    ------
    gbt.model.InvalidModelError
        A ValueError: the file is not a model, or not a sound one.
    """
    name = os.fspath(path)
    try:
        document = json.loads(Path(path).read_bytes(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidModelError(f"{name} is not JSON, or not a whole file: {error}") from error
    try:
        return _rebuild(document)
    except (InvalidModelError, RecursionError) as error:
        raise InvalidModelError(f"{name} is not a sound model: {error}") from error


def _describe(model: Model) -> dict[str, Any]:
    """Return a model as objects, lists, strings and numbers."""
    head = {"format": FORMAT, "version": VERSION}
    if isinstance(model, Ensemble):
        return {**head, "kind": "Ensemble", "ensemble": _describe_ensemble(model)}
    if type(model) not in _ESTIMATORS.values():
        raise ValueError(
            f"Only an Ensemble, a GBTRegressor and a GBTClassifier can be saved; got a"
            f" {type(model).__name__}. For other models of boosted trees, save"
            " gbt.formats.as_ensemble(model)."
        )
    check_is_fitted(model)
    model.check_parameters()
    estimator = {
        "parameters": {
            name: _plain(name, value) for name, value in model.get_params(deep=False).items()
        },
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "evals_result": _finite(model.evals_result_),
        "sampling": {**vars(model._sampling), "left_out": model._sampling.left_out.tolist()},
    }
    if isinstance(model, GBTClassifier):
        estimator["classes"] = _describe_labels(model.classes_)
    return {
        **head,
        "kind": type(model).__name__,
        "ensemble": _describe_ensemble(model.ensemble_),
        "estimator": estimator,
    }


def _describe_ensemble(ensemble):
    ensemble.validate()
    return {
        **{name: float(getattr(ensemble, name)) for name in _NUMBERS},
        "loss": ensemble.loss.name,
        "feature_names": list(ensemble.feature_names),
        "input_dtype": np.dtype(ensemble.input_dtype).name,
        **{name: getattr(ensemble, name).tolist() for name in _ARRAYS},
    }


def _describe_labels(classes):
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind == "object" and not all(isinstance(label, str) for label in classes):
        kind = f"object of {type(classes[0]).__name__}"
    if kind not in ("str", "object", *_LABEL_DTYPES):
        raise ValueError(f"Labels of dtype {kind} cannot be saved; numbers, booleans, strings can.")
    return {"dtype": kind, "values": classes.tolist()}


def _plain(name, value):
    """Return the value of a parameter as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name}={value!r} cannot be saved: a file holds numbers and names, no objects. Save"
        " model.ensemble_ with gbt.saving.save, or give the parameter a plain value with"
        f" set_params({name}=...), which leaves the trees as they are."
    )


def _finite(evals_result):
    for name, losses in evals_result.items():
        if not np.isfinite(losses).all():
            raise ValueError(f"evals_result_[{name!r}] is not finite everywhere: cannot be saved.")
    return evals_result


def _rebuild(document: Any) -> Model:
    """Check the description of a model and make the model."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidModelError(f'it does not begin as this format does, "format": "{FORMAT}"')
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise InvalidModelError(
            f"its layout has version {version!r}, this library reads version"
            f" {VERSION}; a newer file needs a newer library"
        )
    kind = _choice(document.get("kind"), "kind", ("Ensemble", *_ESTIMATORS))
    keys = ["format", "version", "kind", "ensemble", *["estimator"] * (kind != "Ensemble")]
    document = _record(document, "the file", keys)
    ensemble = _rebuild_ensemble(document["ensemble"])
    if kind == "Ensemble":
        return ensemble
    return _rebuild_estimator(_ESTIMATORS[kind], document["estimator"], ensemble)


def _rebuild_ensemble(value) -> Ensemble:
    record = _record(value, "ensemble", [field.name for field in fields(Ensemble)])
    numeric: dict[str, Any] = {
        **{name: _array(record[name], f"ensemble.{name}", _ARRAYS[name]) for name in _ARRAYS},
        **{name: _number(record[name], f"ensemble.{name}", np.float64) for name in _NUMBERS},
    }
    ensemble = Ensemble(
        **numeric,
        loss=LOSSES[_choice(record["loss"], "ensemble.loss", LOSSES)],
        feature_names=tuple(_strings(record["feature_names"], "ensemble.feature_names")),
        input_dtype=_INPUT_DTYPES[
            _choice(record["input_dtype"], "ensemble.input_dtype", _INPUT_DTYPES)
        ],
    )
    ensemble.validate()
    return ensemble


def _rebuild_estimator(cls, value, ensemble):
    keys = ["parameters", "has_feature_names", "evals_result", "sampling"]
    record = _record(value, "estimator", keys + ["classes"] * (cls is GBTClassifier))
    if ensemble.loss.name != cls._loss_name:
        raise InvalidModelError(f"a {cls.__name__} cannot have the loss {ensemble.loss.name}")
    if ensemble.n_trees == 0:
        raise InvalidModelError(f"a {cls.__name__} has at least one tree")
    names = list(cls().get_params())
    model = cls(**_record(record["parameters"], "estimator.parameters", names))
    try:
        model.check_parameters()
    except ValueError as error:
        raise InvalidModelError(f"estimator.parameters: {error}") from error
    model.ensemble_ = ensemble
    model.best_iteration_ = ensemble.n_trees - 1
    model.evals_result_ = _rebuild_losses(record["evals_result"], ensemble.n_trees)
    model.n_features_in_ = ensemble.n_features
    if _number(record["has_feature_names"], "estimator.has_feature_names", np.bool_):
        model.feature_names_in_ = np.array(ensemble.feature_names, dtype=object)
    if cls is GBTClassifier:
        model.classes_ = _rebuild_labels(record["classes"])
    model._sampling = _rebuild_sampling(record["sampling"])
    return model


def _rebuild_losses(value, n_trees):
    if not isinstance(value, dict):
        raise InvalidModelError("estimator.evals_result must be an object")
    losses = {}
    for name in value:
        where = f"estimator.evals_result.{name}"
        losses[name] = _array(value[name], where, np.float64).tolist()
        if len(losses[name]) < n_trees:
            raise InvalidModelError(f"{where} has {len(losses[name])} losses for {n_trees} trees")
    return losses


def _rebuild_labels(value):
    where = "estimator.classes"
    record = _record(value, where, ["dtype", "values"])
    dtype = _choice(record["dtype"], f"{where}.dtype", ("str", "object", *_LABEL_DTYPES))
    if dtype in ("str", "object"):
        labels = np.array(_strings(record["values"], f"{where}.values"), dtype=dtype)
    else:
        labels = _array(record["values"], f"{where}.values", dtype)
    if len(labels) != 2 or not labels[0] < labels[1]:
        raise InvalidModelError(f"{where}.values must be two labels, sorted; got {labels}")
    return labels


def _rebuild_sampling(value):
    where = "estimator.sampling"
    record = _record(value, where, [field.name for field in fields(Sampling)])
    seed = _number(record["seed"], f"{where}.seed", np.uint32)
    subsample = _number(record["subsample"], f"{where}.subsample", np.float64)
    n_rows = _number(record["n_rows"], f"{where}.n_rows", np.int64)
    left_out = _array(record["left_out"], f"{where}.left_out", np.int64)
    if not 0 < subsample <= 1:
        raise InvalidModelError(f"{where}.subsample must be in (0, 1]; got {subsample}")
    edges = np.concatenate([[-1], left_out, [n_rows]])
    if (np.diff(edges) <= 0).any() or len(left_out) >= n_rows:
        raise InvalidModelError(
            f"{where}.left_out must be some of the {n_rows} rows, ascending, and not all of them"
        )
    return Sampling(seed, subsample, n_rows, left_out)


def _refuse_constant(name):
    raise ValueError(f"{name} is not a number that JSON has")


def _record(value, where, keys) -> dict[str, Any]:
    """Return an object that has these keys and no others."""
    if not isinstance(value, dict):
        raise InvalidModelError(f"{where} must be an object; got {_shown(value)}")
    if missing := [key for key in keys if key not in value]:
        raise InvalidModelError(f"{where} lacks {', '.join(missing)}")
    if unknown := sorted(value.keys() - set(keys)):
        raise InvalidModelError(f"{where} has unknown keys: {_shown(unknown)}")
    return value


def _choice(value, where, choices) -> str:
    """Return a string that is one of a few."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidModelError(f"{where} must be one of {list(choices)}; got {_shown(value)}")
    return value


def _strings(value, where) -> list[str]:
    """Return a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidModelError(f"{where} must be a list of strings; got {_shown(value)}")
    return value


def _array(value, where, dtype) -> np.ndarray:
    """Return a list of numbers, or of booleans, all of which the dtype can hold."""
    dtype = np.dtype(dtype)
    if not isinstance(value, list) or not set(map(type, value)) <= _JSON_TYPES[dtype.kind]:
        raise InvalidModelError(f"{where} must be a list of {_nouns(dtype)}; got {_shown(value)}")
    try:
        if dtype.kind == "b":
            return np.array(value, dtype=dtype)
        if dtype.kind != "f":
            limits = np.iinfo(dtype)  # NumPy 1 would wrap round
            if value and not limits.min <= min(value) <= max(value) <= limits.max:
                raise OverflowError
            return np.array(value, dtype=dtype)
        with np.errstate(over="ignore"):
            array = np.array(value, dtype=np.float64).astype(dtype)
        if not np.isfinite(array).all():
            raise OverflowError
        return array
    except OverflowError:
        raise InvalidModelError(f"{where} has numbers that do not fit into {dtype}") from None


def _number(value, where, dtype):
    """Return a single number or boolean that the dtype can hold."""
    if type(value) not in _JSON_TYPES[np.dtype(dtype).kind]:
        raise InvalidModelError(f"{where} must be {_nouns(dtype)}; got {_shown(value)}")
    return _array([value], where, dtype)[0].item()


def _nouns(dtype):
    return " or ".join(sorted(kind.__name__ for kind in _JSON_TYPES[np.dtype(dtype).kind]))


def _shown(value):
    """Return the beginning of what a file has, as JSON."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
