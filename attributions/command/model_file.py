"""A fitted model from a file: one of ours, of XGBoost or of LightGBM, told apart by its content.

Nothing in a file is executed. Pickles are refused, since reading one runs whatever it says. What a
model predicts says which task it is: `question_of_model`.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from attributions.command.question import Question
from attributions.command.unusable import UnusableTableError
from gbt.estimators.loading import load
from gbt.formats.imported import Imported
from gbt.formats.lightgbm.model import import_lightgbm
from gbt.formats.xgboost.model import import_xgboost
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
            model = _imported(import_lightgbm(path), path)
        elif _is_ours(content):
            ours = load(path)
            classes = getattr(ours, "classes_", [])  # of a classifier
            labels = [f"{c:.15g}" if isinstance(c, float) else str(c) for c in classes]
            model = ModelFile(getattr(ours, "ensemble_", ours), labels)
        elif content.startswith(b"{"):
            model = _imported(import_xgboost(path), path)
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
    """Say whether a file is of this library's format."""
    try:
        document = json.loads(content)
    except ValueError:  # bytes that are no text, too
        return False
    return isinstance(document, dict) and document.get("format") == "gbt"


def _imported(imported: Imported, path: Path) -> ModelFile:
    """Take a model of another library if the sums of its nodes could be worked out."""
    if imported.unknown is not None:
        raise UnusableTableError(
            f"--model {path}: the gain of the splits of this {imported.library} model in training"
            f" cannot be worked out from its file: {imported.unknown}.{FROM_ROWS}"
        )
    ensemble = replace(imported.ensemble, about_gradients=None)  # the report says it, once
    return ModelFile(ensemble, [], imported.doubt or "")


def question_of_model(question: Question, given: ModelFile) -> Question:
    """Return what is asked of a table for a model, which says what it predicts."""
    loss, n_outputs = given.ensemble.loss, given.ensemble.n_outputs
    asked, event, last = question.positive, question.event, next(reversed(given.classes), None)
    is_classification, is_order = loss.name in ("half_logistic", "softmax"), loss.has_queries
    task, what = ("classification", "classes") if is_classification else ("regression", "numbers")
    has_no_event = event is not None and not loss.has_pairs
    refusals = [
        (
            asked and n_outputs > 1,
            f"--positive {asked}: the model tells {n_outputs} classes apart, and is judged by all"
            " of them; leave out --positive.",
        ),
        (
            is_order and (question.groups is None or event is not None),
            "The model puts the rows of a group in order: name with --groups the column that says"
            " which rows these are, and no --event.",
        ),
        (
            loss.has_pairs and not is_order and event is None,
            f"The model predicts when an event comes: {question.target} must hold times, and"
            " another column, to be named with --event, whether the event had come by then.",
        ),
        (is_order and asked, "--positive names a class, and the model predicts an order."),
        (has_no_event, f"--event {event}: the model predicts {what}; leave out --event."),
        (
            asked and not (is_classification or loss.has_pairs),
            f"--positive {asked}: the model predicts {what}; leave out --positive.",
        ),
        (
            question.task not in (None, task) and not loss.has_pairs,
            f"--task {question.task}: the model predicts {what}; leave out --task.",
        ),
        (
            asked in given.classes[:-1],
            f"--positive {asked}: the model predicts the probability of {last!r}; leave out"
            " --positive.",
        ),
    ]
    for is_so, refusal in refusals:
        if is_so:
            raise UnusableTableError(refusal)
    if loss.has_pairs:
        return replace(question, task="ranking" if is_order else "survival")
    if n_outputs > 1:
        return replace(question, task=task, classes=given.classes)
    return replace(question, task=task, positive=(asked or last) if is_classification else None)
