"""Our own model files: JSON that is exact to the last bit, and is written as a whole or not at all.

A file is one object::

    format     "gbt"
    version    1                                  of this layout, not of the library
    kind       "Ensemble", "GBTRegressor" or "GBTClassifier"
    ensemble   every field of `Ensemble`, node arrays as flat lists
    estimator  for the two estimators: parameters, what ``fit`` learned beside the trees, and how
               rows were sampled

Floats are written as Python writes them, with the fewest digits that give the same float64 back, so
the round trip is exact. A model holds neither nan nor infinities.

This module writes descriptions that models make of themselves. It imports no model, so that models
can import it; ``gbt.estimators.loading`` reads files and imports all models.
"""

import json
import os
import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from gbt.files.whole_files import write_whole
from gbt.losses.by_name import as_loss, describe_loss

FORMAT = "gbt"
VERSION = 1
KINDS = ("Ensemble", "GBTRegressor", "GBTClassifier")
# Parameters that only a further fit needs: objects among them are left out, with a warning.
ONLY_FOR_FITS = ("eval_metric", "callbacks", "random_state")
OF_COLUMNS = ("categorical_features", "monotone_constraints", "interaction_constraints")
LABEL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
)  # fmt: skip


def save(kind: str, parts: dict[str, Any], path: str | os.PathLike) -> None:
    """Write a model of a kind to a file that `gbt.load` reads.

    Its parts are the descriptions of the "ensemble" and, of an estimator, of the "estimator".
    """
    document = {"format": FORMAT, "version": VERSION, "kind": kind, **parts}
    write_whole(json.dumps(document, allow_nan=False), path)


def kind_of(model: Any) -> type:
    """Return our class of an estimator, or the one from which its class is derived.

    A ValueError is raised if a derived class overrides methods, which loading cannot restore.
    """
    classes = type(model).__mro__
    n_own = next(
        i
        for i, cls in enumerate(classes)
        if cls.__name__ in KINDS and cls.__module__.startswith("gbt.")
    )
    kind = classes[n_own]
    methods = FunctionType | property | classmethod | staticmethod
    overridden = {
        name
        for cls in classes[:n_own]
        for name, value in vars(cls).items()
        if isinstance(value, methods) and hasattr(kind, name) and not name.startswith("__")
    }
    if overridden:
        raise ValueError(
            f"A {type(model).__name__} cannot be saved: it overrides"
            f" {', '.join(sorted(overridden))} of {kind.__name__}, and a file holds no code. Pickle"
            " it, or save the trees alone: model.ensemble_.save(path)."
        )
    return kind


def describe_estimator(model: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a fitted estimator without its trees, for JSON."""
    left_out = [name for name in ONLY_FOR_FITS if not _is_plain(parameters[name])]
    if left_out:
        warnings.warn(
            "The file holds numbers and names, no objects and no code, so it is without"
            f" {' and '.join(f'{name}={parameters[name]!r}' for name in left_out)}. Predictions and"
            " attributions do not need it; before a further fit, set it again.",
            UserWarning,
            stacklevel=4,  # where save was called
        )
        parameters = {**parameters, **dict.fromkeys(left_out)}
    description = {
        "parameters": {name: _plain(name, value) for name, value in parameters.items()},
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "evals_result": _finite(model.evals_result_),
        "sampling": {**vars(model._sampling), "left_out": model._sampling.left_out.tolist()},
        "held_up": model._held_up.ravel().tolist() if model._held_up.any() else None,
        "split_scores": None if model.split_scores_ is None else model.split_scores_.tolist(),
    }
    if hasattr(model, "classes_"):
        description["classes"] = _describe_labels(model.classes_)
    return description


def _is_plain(value: Any) -> bool:
    """Say whether JSON can hold a parameter's value, or a list of such values."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _describe_labels(classes: np.ndarray) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    if kind == "object" and not all(isinstance(label, str) for label in classes):
        kind = f"object of {type(classes[0]).__name__}"
    if kind not in ("str", "object", *LABEL_DTYPES):
        raise ValueError(f"Labels of dtype {kind} cannot be saved; numbers, booleans, strings can.")
    return {"dtype": kind, "values": classes.tolist()}


def _plain(name: str, value: Any) -> Any:
    """Return the value of a parameter for JSON; of a dict pairs, since keys may be numbers."""
    if name == "loss" and not isinstance(value, str | None):
        return describe_loss(as_loss(value))
    if isinstance(value, Mapping):
        return [[_plain(name, key), _plain(name, of)] for key, of in value.items()] or None
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if name in ONLY_FOR_FITS or name in OF_COLUMNS:
        return [_plain(name, item) for item in value]
    raise ValueError(
        f"{name}={value!r} cannot be saved: a file holds numbers and names, no objects. Save the"
        " trees with model.ensemble_.save(path), or give the parameter a plain value with"
        f" set_params({name}=...), which leaves the trees as they are."
    )


def _finite(evals_result: dict[str, list[float]]) -> dict[str, list[float]]:
    for name, losses in evals_result.items():
        if not np.isfinite(losses).all():
            raise ValueError(
                f"evals_result_[{name!r}] is not finite everywhere, and a file holds finite"
                " numbers only. Give evaluation sets finite targets and weights, or save the trees"
                " alone: model.ensemble_.save(path)."
            )
    return evals_result
