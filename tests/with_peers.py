"""Which tests compare with peers or import their models: those whose source reaches them.

A function of a test module reaches peers if it calls ``peer``, names what is imported from
scikit-learn's models, or names something else that does: another function, a table of cases, a
fixture, here or in a module of tests that it is imported from.
"""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

MODELS = ("sklearn.ensemble", "sklearn.tree")


@cache
def names_that_reach_peers(module: str) -> set[str]:
    """Return the names of a module of tests whose definitions reach peers."""
    reached, named_by = {"peer", "importorskip"}, {}
    for node in ast.parse(Path(find_spec(module).origin).read_text()).body:
        if isinstance(node, ast.ImportFrom):
            is_model = node.module in MODELS
            there = names_that_reach_peers(node.module) if node.module.startswith("tests.") else ()
            reached |= {
                alias.asname or alias.name
                for alias in node.names
                if is_model or alias.name in there
            }
        else:
            for name in defined_by(node):
                named_by.setdefault(name, set()).update(words_in(node))
    while more := {name for name, words in named_by.items() if words & reached} - reached:
        reached |= more
    return reached


def defined_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def words_in(node: ast.stmt) -> set[str]:
    """Return the names, attributes and parameters in a statement, and modules imported there."""
    words = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word):
                words.add(word)
            case ast.ImportFrom(module=module) if module in MODELS:
                words.add("peer")
    return words


def compares_with_peers(item) -> bool:
    """Say whether a test, or a fixture that it asks for, reaches peers."""
    own, shared = (
        names_that_reach_peers(module) for module in (item.module.__name__, "tests.conftest")
    )
    asked = set(item.fixturenames)
    return item.function.__name__ in own or bool(asked & (own | shared))
