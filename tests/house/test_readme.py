"""README is short, its example prints what it says, and it says how all is installed and built."""

import re
import tomllib
from pathlib import Path

from tests.house.test_guide import programs_of, run
from tests.openml import stored_answer

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_example_prints_what_stands_below_it(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", stored_answer)
    ((program, expected),) = programs_of(README)
    assert run([(program, expected)]) == [(program, expected)]


def test_it_can_be_read_in_a_few_minutes():
    words = [word for word in README.split() if re.search("[A-Za-z]", word)]
    assert len(words) <= 700


def test_the_extras_that_it_names_are_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = set(re.findall(r"pip install '\.\[(.*?)\]'", README))
    assert named
    assert {extra for group in named for extra in group.split(",")} <= set(
        project["optional-dependencies"]
    )
