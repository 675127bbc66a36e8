"""A fitted model from a file: one of ours, of XGBoost or of LightGBM, told apart by its content.

Nothing in a file is executed. Pickles are refused, since reading one runs whatever it says.
`question_of_model` tells the task by what the model predicts.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from attributions.command.question import Question
from attributions.command.unusable import UnusableTableError
from gbt.estimators.loading import load
from gbt.formats.lightgbm.model import from_lightgbm
from gbt.formats.xgboost.model import from_xgboost
from gbt.model.ensemble import Ensemble

SAVE = (
    "model.save('model.json') of this library, booster.save_model('model.json') of XGBoost,"
    " booster.save_model('model.txt') of LightGBM, or, of other libraries,"
    " gbt.formats.as_ensemble(model, X=X_train, y=y_train).save('model.json')"
)
NEEDED = {"gradients", "hessians", "values"}  # of the nodes
FROM_ROWS = (
    " In Python, gbt.formats.as_ensemble(model, X=X_train, y=y_train) works this out from the"
    " training rows; save what it returns with .save('model.json')."
)


class ModelFile(NamedTuple):
    """A model and what its file says beside its trees."""

    ensemble: Ensemble
    classes: list[str]  # of a classifier, as a table writes them; numbers where these are all
    doubt: str = ""  # what is doubtful about the sums of its nodes, or nothing
    name: str = ""  # of the file


def read_model(path: Path) -> ModelFile:
    """Read a model of classes or of one number, by what its file begins with."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableTableError(f"--model {path} cannot be read: {error.strerror}.") from error
    if content.startswith(b"\x80"):
        raise UnusableTableError(
            f"--model {path} looks like a pickle, which is not read, since it can run anything."
            f" Save the model with {SAVE}."
        )
    try:
        if content.startswith(b"tree"):
            model = _of_library(from_lightgbm(path), path)
        elif _is_ours(content):
            ours = load(path)
            classes = getattr(ours, "classes_", [])  # of a classifier
            labels = [f"{c:.15g}" if isinstance(c, float) else str(c) for c in classes]
            model = ModelFile(getattr(ours, "ensemble_", ours), labels)
        elif content.startswith(b"{"):
            model = _of_library(from_xgboost(path), path)
        else:
            raise UnusableTableError(f"--model {path} is no model's file. Save one with {SAVE}.")
    except UnusableTableError:
        raise
    except ValueError as error:
        raise UnusableTableError(f"--model {path} cannot be used: {error}") from error
    n_outputs = model.ensemble.n_outputs
    if n_outputs > 1 and model.ensemble.loss.name != "softmax":
        raise UnusableTableError(
            f"--model {path} has {n_outputs} targets; a report explains models of classes, or of"
            " one number."
        )
    if lost := sorted(NEEDED - model.ensemble.statistics):
        raise UnusableTableError(f"--model {path}: its nodes lack {' and '.join(lost)}.{FROM_ROWS}")
    numbered = [str(k) for k in range(n_outputs)] if n_outputs > 1 else []
    return model._replace(name=path.name, classes=model.classes or numbered)


def _is_ours(content: bytes) -> bool:
    try:
        document = json.loads(content)
    except ValueError:  # bytes that are no text, too
        return False
    return isinstance(document, dict) and document.get("format") == "gbt"


def _of_library(ensemble: Ensemble, path: Path) -> ModelFile:
    """Take a model of another library if the sums of its nodes could be worked out."""
    about = ensemble.about_gradients or ""
    if "gradients" not in ensemble.statistics:
        raise UnusableTableError(
            f"--model {path}: the gain of its splits in training cannot be worked out from its"
            f" file.{about and f' {about}.'}{FROM_ROWS}"
        )
    return ModelFile(replace(ensemble, about_gradients=None), [], about)  # the report says it, once


def question_of_model(question: Question, given: ModelFile) -> Question:
    """Return what is asked of a table for a model, which says what it predicts."""
    loss, n_outputs = given.ensemble.loss, given.ensemble.n_outputs
    if loss.has_queries:
        task, does = "ranking", "puts the rows of a group in order"
    elif loss.has_pairs:
        task, does = "survival", "predicts when an event comes"
    elif loss.name in ("half_logistic", "softmax"):
        task = "classification"
        does = f"tells {n_outputs} classes apart" if n_outputs > 1 else "predicts classes"
    else:
        task, does = "regression", "predicts numbers"
    needed = {
        "ranking": ("groups", "the column that says which rows these are"),
        "survival": ("event", f"what says whether it had come by the time in {question.target}"),
    }
    if task in needed and getattr(question, needed[task][0]) is None:
        option, what = needed[task]
        raise UnusableTableError(f"The model {does}: name with --{option} {what}.")
    fits = {
        "positive": task == "survival" or (task == "classification" and n_outputs == 1),
        "event": task == "survival",
        "task": question.task == task,
    }
    for option, is_fit in fits.items():
        value = getattr(question, option)
        if value is not None and not is_fit:
            raise UnusableTableError(f"--{option} {value}: the model {does}; leave out --{option}.")
    asked, last = question.positive, next(reversed(given.classes), None)
    if asked in given.classes[:-1]:
        raise UnusableTableError(
            f"--positive {asked}: the model predicts the probability of {last!r}; leave out"
            " --positive."
        )
    if task != "classification":
        return replace(question, task=task)
    if n_outputs > 1:
        return replace(question, task=task, classes=given.classes)
    return replace(question, task=task, positive=asked or last)
