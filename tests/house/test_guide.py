"""The programs of README and of the site's pages run, and print what stands below them.

The ``python`` blocks of a page are one program, from top to bottom; a ``text`` block is what the
block before it prints. Pages about other libraries need these (``tests.asserts.peer``).
"""

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

from tests.asserts import peer

ROOT = Path(__file__).parents[2]
README, DOCS = ROOT / "README.md", ROOT / "docs"
PAGES = [README, DOCS / "start.md", DOCS / "teachers.md"]
PAGES += sorted(DOCS.glob("guide/*.md"))
PEERS = ("catboost", "dask", "lightgbm", "shap", "xgboost")

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
IMPORTED = re.compile(r"^(?:import|from) (\w+)", flags=re.MULTILINE)


def programs_of(text):
    """Return pairs of a block of code and what it should print, None where nothing is said."""
    programs = []
    for language, block in BLOCK.findall(text):
        if language == "python":
            programs.append((block, None))
        else:
            programs[-1] = (programs[-1][0], block)
    return programs


def run(programs):
    """Run blocks in one namespace; return what was printed where something was expected."""
    namespace = {"__name__": "a page of the guide"}
    printed = []
    for code, expected in programs:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "a page of the guide", "exec"), namespace)
        printed.append((code, None if expected is None else out.getvalue()))
    return printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_says(page, monkeypatch, tmp_path):
    text = page.read_text()
    programs = programs_of(text)
    for name in set(PEERS) & set(IMPORTED.findall("\n".join(code for code, _ in programs))):
        peer(name)
    monkeypatch.chdir(tmp_path)
    assert run(programs) == programs


def test_another_output_is_noticed():
    programs = programs_of("```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n")
    assert programs == [("x = 1\nprint(x)\n", "2\n")]
    assert run(programs) == [("x = 1\nprint(x)\n", "1\n")]


def test_an_error_is_noticed():
    with pytest.raises(NameError):
        run(programs_of("```python\nprint(x)\n```\n"))


def test_pages_have_programs():
    assert len([page for page in PAGES if programs_of(page.read_text())]) >= 10


def test_readme_can_be_read_in_a_few_minutes():
    words = [word for word in README.read_text().split() if re.search("[A-Za-z]", word)]
    assert len(words) <= 700


def test_the_extras_that_readme_names_are_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = set(re.findall(r"pip install '\.\[(.*?)\]'", README.read_text()))
    assert named
    assert {extra for group in named for extra in group.split(",")} <= set(
        project["optional-dependencies"]
    )
