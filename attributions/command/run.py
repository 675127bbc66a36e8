"""What the command does: read a table or a model, fit, judge on held-out rows, print and write.

Without a table it shows what it does on one that ships with scikit-learn (`demonstration`).
"""

import argparse
import os
import platform
import shlex
import sys
import warnings
import webbrowser
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import file_digest
from importlib.metadata import version
from importlib.util import find_spec
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from attributions.command.judging.findings import Findings, findings_of
from attributions.command.judging.of_file import findings_of_file
from attributions.command.judging.of_table import judged, of_given_model
from attributions.command.model_file import ModelFile, UnusableModelError, read_model
from attributions.command.options import check_places, program_name, read_options
from attributions.command.page.page import page
from attributions.command.printed import draw, report, write_table
from attributions.command.table.demonstration import GREEDY, demonstration
from attributions.command.table.file import open_batches, read_table
from attributions.command.table.given import task_of_model
from attributions.command.table.task import Question, Task
from attributions.command.unusable import UnusableTableError, listed
from attributions.command.wording import lines_of
from attributions.inputs import SeenRowsWarning
from attributions.statistics.groups import FewGroupsWarning
from gbt import __version__
from gbt.estimators import GBTClassifier, GBTRegressor
from gbt.files.whole_files import write_whole
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble
from gbt.training.evaluation import Round

SECONDS_BETWEEN_LINES = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status."""
    options = read_options(arguments)
    with warnings.catch_warnings():  # the report itself says it
        for kind in (FewGroupsWarning, SeenRowsWarning):
            warnings.simplefilter("ignore", kind)
        return _answer(options, sys.argv[1:] if arguments is None else arguments)


def _answer(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Do what the options ask for; return the exit status."""
    try:
        check_places(options)
        if options.report is not None and find_spec("matplotlib") is None:
            raise UnusableTableError(
                "--report draws with Matplotlib, which is not installed: pip install matplotlib."
            )
        given = read_model(options.model) if options.model else None
        found = _findings(options, given)
        if given is None or options.report is None:
            _say("", *report(found), "")
        if options.out is not None:
            _write_folder(found, options.out)
        if options.report is not None:
            made = _how_made(options, given, arguments)
            text = page(found, made, options.seed)
            write_whole(text.encode("utf-8", "backslashreplace"), options.report)
            _say(f"Report: {options.report}")
            if options.open and not webbrowser.open(options.report.resolve().as_uri()):
                _say("No browser was found to show it; open the file yourself.")
    except (UnusableTableError, UnusableModelError) as error:
        print(f"{program_name()}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has gone, as ``head`` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        places = [f"--{n} {p}" for n in ("out", "report") if (p := getattr(options, n))]
        print(
            f"{program_name()}: results cannot be written to {' or '.join(places)}"
            f" ({error.strerror or error}); name another place.",
            file=sys.stderr,
        )
        return 2
    return 0


def _findings(options: argparse.Namespace, given: ModelFile | None) -> Findings:
    """Judge the model that the options ask for; print what is being done."""
    if options.data is None:
        task = demonstration(options.seed)
        _describe(task)
        return findings_of(fit(task, GREEDY), task)
    in_batches = given and options.report is None and not given.ensemble.loss.has_pairs
    file = open_batches(options.data) if in_batches else None
    if given is not None and file is not None:
        question = _question(options, given, options.data, [*file.names])
        found = findings_of_file(file, question, given)
        _describe(found.task)
        return found
    as_text = given is not None and given.ensemble.categories is not None
    table = read_table(options.data, as_text)
    question = _question(options, given, table.path, [*table.columns])
    if given is not None:
        task = task_of_model(table, question, given.ensemble)
        _describe(task)
        model = replace(given.ensemble, feature_names=task.feature_names)
        return of_given_model(findings_of(model, task, given.name, given.doubt))
    fit_table = partial(fit, parameters={"random_state": options.seed})
    return judged(table, question, fit_table, _describe)


def _describe(task: Task) -> None:
    """Print what is being done; the rules by which it was decided stand on the page."""
    texts = [text.partition(" (The rule: ")[0] for text in task.description]
    _say(*(line for text in texts for line in lines_of(text)))


def _write_folder(found: Findings, folder: Path) -> None:
    """Write the table of all features and the picture, and say where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    _say(f"All features: {write_table(found, folder)}")
    if find_spec("matplotlib") is None:
        _say("No picture: Matplotlib is not installed (pip install matplotlib).")
    else:
        _say(f"Used against useful: {draw(found, folder)}")


def _how_made(
    options: argparse.Namespace, given: ModelFile | None, arguments: Sequence[str]
) -> dict[str, str]:
    """Return how the report was made, so that it can be repeated."""
    versions = [f"gbt-attributions {__version__}", f"Python {platform.python_version()}"]
    packages = ["numpy", "numba", "scipy", "scikit-learn", *["pandas"] * (options.data is not None)]
    versions += [f"{package} {version(package)}" for package in packages]
    fitted = ", ".join(f"{name}={value!r}" for name, value in GREEDY.items())
    if options.data is not None:
        fitted = f"The default parameters of GBTRegressor or GBTClassifier, seed {options.seed}."
    made = {
        "Command": shlex.join([*program_name().split(), *map(str, arguments)]),
        "Date": f"{datetime.now(UTC):%Y-%m-%d}",
        "Seed": str(options.seed),
        "Versions": ", ".join(versions),
        "Model": f"Read from {given.name}." if given else fitted,
    }
    if options.data is not None:
        with options.data.open("rb") as file:
            made["SHA-256 of the table's file"] = file_digest(file, "sha256").hexdigest()
    return made


def _say(*lines: str) -> None:
    """Print lines at once."""
    print(*lines, sep="\n", flush=True)


def fit(task: Task, parameters: dict[str, Any]) -> Ensemble:
    """Fit a model, with the names of the table's columns; parameters left open are the defaults."""
    words = [k for k, column in enumerate(task.features) if column.words]
    kind = GBTClassifier if task.is_classification else GBTRegressor
    if task.loss is not None:
        parameters = {**parameters, "loss": task.loss}
    estimator = kind(**parameters, categorical_features=words, callbacks=[TimeLeft()])
    model = estimator.fit(task.X_train, task.y_train).ensemble_
    return replace(model, feature_names=task.feature_names)


class TimeLeft:
    """Says every few seconds of a long fit how long it will go on.

    The first round, in which kernels may be compiled, does not count: others are faster.
    """

    def __init__(self) -> None:
        self.started = self.said = inf

    def __call__(self, done: Round) -> None:
        """Look at the clock after a round."""
        now = perf_counter()
        if done.number == 0:
            self.started = self.said = now
        elif now - self.said >= SECONDS_BETWEEN_LINES and done.number + 1 < done.n_rounds:
            self.said, n_left = now, done.n_rounds - done.number - 1
            text = (
                f"Fitting: {done.number + 1} of {done.n_rounds} rounds,"
                f" {(now - self.started) / done.number * n_left:.0f} s left"
            )
            print(text, file=sys.stderr, flush=True)


def _question(
    options: argparse.Namespace, given: ModelFile | None, path: Path, names: list[str]
) -> Question:
    """Return what the options ask of a table; a given model says what it predicts."""
    if options.target is None:
        raise UnusableTableError(
            f"Say with --target which column of {path} to predict; it has {listed(names)}."
        )
    names_of_options = [field.name for field in fields(Question) if field.name in options]
    question = Question(**{name: getattr(options, name) for name in names_of_options})
    if given is None:
        return question
    loss, several = given.ensemble.loss.name, given.ensemble.n_outputs > 1
    is_classification = loss in ("half_logistic", "softmax")
    if several and question.positive is not None:
        raise UnusableTableError(
            f"--positive {question.positive}: the model tells {given.ensemble.n_outputs} classes"
            " apart, and is judged by all of them; leave out --positive."
        )
    task = "classification" if is_classification else "regression"
    if given.ensemble.loss.has_pairs:
        return _question_of_pairs(options, question, given.ensemble.loss)
    refused = {
        f"--event {options.event}": bool(options.event),
        f"--positive {options.positive}": bool(options.positive) and not is_classification,
        f"--task {options.task}": options.task not in (None, task),
    }
    if asked := next((text for text, is_so in refused.items() if is_so), ""):
        raise UnusableTableError(
            f"{asked}: the model predicts {'classes' if is_classification else 'numbers'};"
            f" leave out {asked.split()[0]}."
        )
    if options.positive in given.classes[:-1]:
        raise UnusableTableError(
            f"--positive {options.positive}: the model predicts the probability of"
            f" {given.classes[-1]!r}; leave out --positive."
        )
    positive = options.positive or (given.classes[-1] if given.classes else None)
    return replace(
        question,
        task=task,
        positive=positive if is_classification and not several else None,
        classes=given.classes if several else None,
    )


def _question_of_pairs(options: argparse.Namespace, question: Question, loss: Loss) -> Question:
    """Return what is asked of a table where a given model predicts times, or an order."""
    if loss.has_queries and (options.groups is None or options.event is not None):
        raise UnusableTableError(
            "The model puts the rows of a group in order: name with --groups the column that says"
            " which rows these are, and no --event."
        )
    if not loss.has_queries and options.event is None:
        raise UnusableTableError(
            f"The model predicts when an event comes: {options.target} must hold times, and another"
            " column, to be named with --event, whether the event had come by then."
        )
    if loss.has_queries and options.positive is not None:
        raise UnusableTableError("--positive names a class, and the model predicts an order.")
    return replace(question, task="ranking" if loss.has_queries else "survival")
