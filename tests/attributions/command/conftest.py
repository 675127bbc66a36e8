"""The command is run in this process."""

import csv
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from attributions.command import run as command
from attributions.command.run import main
from attributions.command.table.demonstration import GREEDY
from tests.attributions.command.tables import write_csv


class Ran(NamedTuple):
    """What a run printed, and the folder that it wrote to, if it was not asked for a report."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def said(self):
        """Both outputs on one line."""
        return " ".join(f"{self.out} {self.err}".split())

    @property
    def features(self):
        """The table of all features."""
        with (self.folder / "features.csv").open(newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def run(tmp_path, capsys):
    """Run the command line."""

    def run(*arguments):
        folder = tmp_path / "out"
        places = [] if {"--report", "--out"} & {*arguments} else ["--out", folder]
        status = main([*map(str, [*arguments, *places])])
        out, err = capsys.readouterr()
        return Ran(status, out, re.sub("Fitting: .*\n", "", err), folder)  # of a busy machine

    return run


@pytest.fixture
def quick(monkeypatch):
    """Let the command fit small greedy models."""
    fit = command.fit
    monkeypatch.setattr(command, "fit", lambda task, parameters: fit(task, GREEDY))


@pytest.fixture
def judge(run, tmp_path):
    """Run the command on columns; return the status, and both outputs on one line."""

    def judge(columns, *asked):
        ran = run("--data", write_csv(tmp_path / "t.csv", columns), *asked)
        return ran.status, ran.said

    return judge
