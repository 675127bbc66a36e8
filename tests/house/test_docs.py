"""What pages and docstrings name is there: files, functions and tests, pictures, other pages."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = {"_build", "gallery", "generated"}
SOURCES = sorted([*ROOT.glob("gbt/**/*.py"), *ROOT.glob("attributions/**/*.py")])
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in ROOT.glob("docs/**/*.md") if not GENERATED & {*path.parts}),
]

# `folder/file.ext`, `file.py::name` or `file.py::Class.method` between backticks
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*\.(?:py|md|csv|png|svg|toml|json))(?:::([\w.]+))?`")
LINKED = re.compile(r"\]\(([^)\s#]+)")
CODE = re.compile(r"^```.*?^```|`[^`]*`", flags=re.DOTALL | re.MULTILINE)
# What docstrings name: pages, modules, and what is in them
SAID = re.compile(r"docs/\w[\w/]*\.md")
DOTTED = re.compile(r"`((?:gbt|attributions)(?:\.\w+)+)`")
# Words that are no claim about this repository: files that a reader is told to make.
HYPOTHETICAL = {"file.csv"}


def named_in(text):
    """Return (file, name) pairs; the name is empty where a page names a file alone."""
    return [found for found in NAMED.findall(text) if found[0] not in HYPOTHETICAL]


def linked_in(text):
    """Return the targets of links that are not addresses on the web."""
    return [target for target in LINKED.findall(CODE.sub("", text)) if "://" not in target]


@cache
def defined_in(path):
    """Return the names that a module defines, methods as ``Class.method``."""
    names = set()

    def visit(nodes, prefix):
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(prefix + t.id for t in targets if isinstance(t, ast.Name))

    visit(ast.parse(path.read_text()).body, "")
    return names


def is_there(name):
    """Say whether a dotted name is a module, or something in one."""
    found, *rest = name.split(".")
    found = importlib.import_module(found)
    for part in rest:
        try:
            found = importlib.import_module(f"{found.__name__}.{part}")
        except (ModuleNotFoundError, AttributeError):
            found = getattr(found, part, None)
    return found is not None


def missing_from_source(text):
    """Return the pages, files and dotted names that a source names and that are not there."""
    missing = [page for page in SAID.findall(text) if not (ROOT / page).exists()]
    missing += [file for file, _ in named_in(text) if missing_from(f"`{file}`")]
    return missing + [name for name in DOTTED.findall(text) if not is_there(name)]


def missing_from(text, folder=ROOT):
    """Return what a text names or links to and is not there."""
    missing = [target for target in linked_in(text) if not (folder / target).exists()]
    for file, name in named_in(text):
        # A name without a folder may be that of any file.
        candidates = [ROOT / file, *(ROOT.glob(f"[a-z]*/**/{file}") if "/" not in file else [])]
        found = [path for path in candidates if path.exists()]
        if not found or (name and all(name not in defined_in(path) for path in found)):
            missing.append(f"{file}::{name}" if name else file)
    return missing


def test_what_pages_name_is_there():
    missing = {page: missing_from(page.read_text(), page.parent) for page in PAGES}
    assert {page: names for page, names in missing.items() if names} == {}


def test_what_sources_name_is_there():
    missing = {path: missing_from_source(path.read_text()) for path in SOURCES}
    assert {path: names for path, names in missing.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    ["see `gbt.losses.Nonsense`", "``tests/test_nonsense.py`` compares", "(docs/nonsense.md)"],
)
def test_what_is_not_there_is_noticed_in_a_source(text):
    assert len(missing_from_source(f"``gbt.losses.Gamma`` and docs/guide/losses.md, {text}.")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`gbt/nonsense.py`",
        "`tests/attributions/held_out/test_inner.py::test_nonsense`",
        "`attributions/results/per_feature.py::GlobalAttribution.nonsense`",
        "[a page](nonsense.md)",
        "![a picture](docs/nonsense.png)",
    ],
)
def test_what_is_not_there_is_noticed(text):
    assert len(missing_from(f"Before, `gbt/losses/loss.py`, {text} and after.")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`attributions/results/per_feature.py::GlobalAttribution.merge`",
        "[web](https://arxiv.org/abs/2211.04409)",
        "\n```\nf_[m](x)\n```\n",
    ],
)
def test_what_is_there_is_found(text):
    assert missing_from(text) == []
