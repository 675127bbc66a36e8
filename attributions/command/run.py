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
from time import perf_counter
from typing import Any

from attributions.command.judging.findings import Findings, findings_of
from attributions.command.judging.of_model import judged_in_batches, judged_in_memory
from attributions.command.judging.of_table import judged
from attributions.command.model_file import ModelFile, question_of_model, read_model
from attributions.command.options import check_places, program_name, read_options
from attributions.command.page.page import page
from attributions.command.printed import draw, report, write_table
from attributions.command.question import Question
from attributions.command.table.demonstration import GREEDY, demonstration
from attributions.command.table.file import BatchFile, TableFile, open_batches, read_table
from attributions.command.table.task import Task
from attributions.command.unusable import UnusableTableError, listed
from attributions.command.wording import lines_of
from attributions.inputs import SeenRowsWarning
from attributions.statistics.groups import FewGroupsWarning
from gbt import __version__
from gbt.estimators import GBTClassifier, GBTRegressor
from gbt.files.whole_files import write_whole
from gbt.model.ensemble import Ensemble
from gbt.training.evaluation import Round

SECONDS_BETWEEN_LINES = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status."""
    options = read_options(arguments)
    try:
        with warnings.catch_warnings():  # the report itself says it
            for kind in (FewGroupsWarning, SeenRowsWarning):
                warnings.simplefilter("ignore", kind)
            _answer(options, sys.argv[1:] if arguments is None else arguments)
    except UnusableTableError as error:
        why = str(error)
    except BrokenPipeError:  # whoever read the output has gone, as ``head`` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        places = [f"--{n} {p}" for n in ("out", "report") if (p := getattr(options, n))]
        why = (
            f"results cannot be written to {' or '.join(places)} ({error.strerror or error}); name"
            " another place."
        )
    else:
        return 0
    print(f"{program_name()}: {why}", file=sys.stderr)
    return 2


def _answer(options: argparse.Namespace, arguments: Sequence[str]) -> None:
    """Find out what the options ask for, print and write it."""
    check_places(options)
    given = read_model(options.model) if options.model else None
    found = _findings(options, given)
    if given is None or options.report is None:
        _say("", *report(found), "")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        _say(f"All features: {write_table(found, options.out)}")
        if find_spec("matplotlib") is None:
            _say("No picture: Matplotlib is not installed (pip install matplotlib).")
        else:
            _say(f"Used against useful: {draw(found, options.out)}")
    if options.report is not None:
        text = page(found, _how_made(options, given, arguments), options.seed)
        write_whole(text.encode("utf-8", "backslashreplace"), options.report)
        _say(f"Report: {options.report}")
        if options.open and not webbrowser.open(options.report.resolve().as_uri()):
            _say("No browser was found to show it; open the file yourself.")


def _findings(options: argparse.Namespace, given: ModelFile | None) -> Findings:
    """Judge the model that the options ask for; print what is being done."""
    if options.data is None:
        task = demonstration(options.seed)
        _describe(task)
        return findings_of(fit(task, GREEDY), task)
    if given is None:
        table = read_table(options.data)
        fit_table = partial(fit, parameters={"random_state": options.seed})
        return judged(table, _question(options, table), fit_table, _describe)
    in_batches = options.report is None and not given.ensemble.loss.has_pairs
    if in_batches and (file := open_batches(options.data)):
        question = question_of_model(_question(options, file), given)
        found = judged_in_batches(file, question, given)
        _describe(found.task)
        return found
    table = read_table(options.data, as_text=given.ensemble.categories is not None)
    question = question_of_model(_question(options, table), given)
    return judged_in_memory(table, question, given, _describe)


def _question(options: argparse.Namespace, table: TableFile | BatchFile) -> Question:
    if options.target is None:
        raise UnusableTableError(
            f"Say with --target which column of {table.path} to predict; it has"
            f" {listed([*table.columns])}."
        )
    names = [field.name for field in fields(Question) if field.name in options]
    return Question(**{name: getattr(options, name) for name in names})


def _describe(task: Task) -> None:
    """Print what is being done; the rules by which it was decided stand on the page."""
    texts = [text.partition(" (The rule: ")[0] for text in task.description]
    _say(*(line for text in texts for line in lines_of(text)))


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


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
        now, n_left = perf_counter(), done.n_rounds - done.number - 1
        if done.number == 0:
            self.started = self.said = now
        elif now - self.said >= SECONDS_BETWEEN_LINES and n_left:
            self.said = now
            seconds = (now - self.started) / done.number * n_left
            said = f"Fitting: {done.number + 1} of {done.n_rounds} rounds, {seconds:.0f} s left"
            print(said, file=sys.stderr, flush=True)
