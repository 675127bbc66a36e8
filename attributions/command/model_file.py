"""A fitted model from a file: one of ours, of XGBoost or of LightGBM, told apart by its content.

Nothing in a file is executed. Pickles are refused, since reading one runs whatever it says.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gbt.estimators.loading import load
from gbt.formats.imported import Imported
from gbt.formats.lightgbm.model import import_lightgbm
from gbt.formats.xgboost.model import import_xgboost
from gbt.model.ensemble import Ensemble

SAVE = (
    "model.save('model.json') of this library, booster.save_model('model.json') of XGBoost, or"
    " booster.save_model('model.txt') of LightGBM"
)


class UnusableModelError(ValueError):
    """A file holds no model that can be explained; the message says why, and what to do."""


class ModelFile(NamedTuple):
    """A model and what its file says beside its trees.

    For several classes files of other libraries have only numbers.
    """

    ensemble: Ensemble
    classes: list[
        str
    ]  # of a classifier, as a table writes them; none if there are none, or unknown
    doubt: str = ""  # what is doubtful about the sums of its nodes, or nothing
    name: str = ""  # of the file


def read_model(path: Path) -> ModelFile:
    """Read a model of classes or of one number."""
    model = _read(path)._replace(name=path.name)
    n_outputs = model.ensemble.n_outputs
    if n_outputs > 1 and model.ensemble.loss.name != "softmax":
        raise UnusableModelError(
            f"--model {path} has {n_outputs} targets; a report explains models of classes, or of"
            " one number."
        )
    if n_outputs > 1 and not model.classes:
        return model._replace(classes=[str(k) for k in range(n_outputs)])
    return model


def _read(path: Path) -> ModelFile:
    """Read a model by what its file begins with."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableModelError(f"--model {path} cannot be read: {error.strerror}.") from error
    if content.startswith(b"\x80"):
        raise UnusableModelError(
            f"--model {path} looks like a pickle, which is not read, since it can run anything."
            f" Save the model with {SAVE}."
        )
    try:
        if content.startswith(b"tree"):
            return _imported(import_lightgbm(path), path)
        if _is_ours(content):
            return _own(load(path))
        if content.startswith(b"{"):
            return _imported(import_xgboost(path), path)
    except UnusableModelError:
        raise
    except ValueError as error:
        raise UnusableModelError(f"--model {path} cannot be used: {error}") from error
    raise UnusableModelError(f"--model {path} is no model's file. Save one with {SAVE}.")


def _is_ours(content: bytes) -> bool:
    """Say whether a file is of this library's format."""
    try:
        document = json.loads(content)
    except ValueError:  # bytes that are no text, too
        return False
    return isinstance(document, dict) and document.get("format") == "gbt"


def _own(model: Any) -> ModelFile:
    """Take a model of ours, with the classes that a classifier knows."""
    if isinstance(model, Ensemble):
        return ModelFile(model, [])
    classes = getattr(model, "classes_", [])
    labels = [f"{c:.15g}" if isinstance(c, float) else str(c) for c in list(classes)]
    return ModelFile(model.ensemble_, labels)


def _imported(imported: Imported, path: Path) -> ModelFile:
    """Take a model of another library if the sums of its nodes could be worked out."""
    if imported.unknown is not None:
        raise UnusableModelError(
            f"--model {path}: the gain of the splits of this {imported.library} model in training"
            f" cannot be worked out from its file: {imported.unknown}. In Python,"
            " gbt.formats.as_ensemble(model, X=X_train, y=y_train) works it out from the training"
            " rows; save what it returns with .save('model.json')."
        )
    ensemble = replace(imported.ensemble, about_gradients=None)  # the report says it, once
    return ModelFile(ensemble, [], imported.doubt or "")
