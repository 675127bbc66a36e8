"""The house: imports run one way, Numba stays in its place, and no file grows too large to read."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from numba import config

from attributions.methods import METHODS

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("gbt/**/*.py"), *ROOT.glob("attributions/**/*.py")])

# Folders, and modules that stand beside them, from below: each imports its own floor and those
# below. What one line names may import each other's modules, but not in a circle.
FLOORS_OF_GBT = [
    {"kernels", "parallel"},
    {"losses", "tables"},
    {"files", "splitting"},
    {"model"},
    {"formats", "training"},
    {"estimators"},
]
FLOORS_OF_ATTRIBUTIONS = [
    {"kernels", "options", "names", "amounts", "methods"},
    {"statistics", "inputs", "simulated"},
    {"rows"},
    {"walk"},
    {"plots"},
    {"results"},
    {"per_row"},
    {"held_out", "changes", "unbiased", "classic", "mdi"},
    {"refits"},
    {"testing", "command"},
    {"__main__", "warmup"},
]
FLOORS = {"gbt": FLOORS_OF_GBT, "attributions": FLOORS_OF_ATTRIBUTIONS}
# The side that grows trees, which attributions do without; a command and a warm-up fit models.
GROWING = ["gbt.training", "gbt.splitting", "gbt.estimators"]
MAY_GROW = ["attributions.command", "attributions.warmup"]
PLAIN_PAGES = ["gbt.reference", "attributions.reference"]  # to be read and tested against
MOST_FILES = 12  # of a folder, beside its ``__init__``


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(package, name):
    place = ROOT / package.replace(".", "/") / name
    return place.is_dir() or place.with_suffix(".py").exists()


@cache
def tree_of(path):
    """Return what a file says, parsed."""
    return ast.parse(path.read_text())


def found_in(paths, look):
    """Return what a function finds in files, by module, where it finds anything."""
    return {module_name(path): found for path in paths if (found := look(path))}


@cache
def imports_of(path):
    """Return the modules that a file imports, names imported from packages included."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            modules = {name for name in names if is_module(node.module, name)}
            found |= {f"{node.module}.{name}" for name in modules}
            if names - modules:
                found.add(node.module)
    return found


def is_within(module, packages):
    return any(module == p or module.startswith(f"{p}.") for p in packages)


def is_within_any(modules, packages):
    return any(is_within(module, packages) for module in modules)


def room_of(module):
    """Return the folder of a package that a module is in, or the module that stands beside them."""
    return module.split(".")[1] if "." in module else None


def floor_of(module):
    for number, rooms in enumerate(FLOORS[module.split(".")[0]]):
        if room_of(module) in rooms:
            return number
    raise AssertionError(f"{module} is in no room that has a floor")


def wrong_way(module, imported):
    """Say why a module may not import another, or return None if it may."""
    if is_within(imported, ["benchmarks", "tests"]):
        return "neither package knows of benchmarks and tests"
    if is_within(module, PLAIN_PAGES):
        strangers = ["gbt", "attributions", "numba", "scipy", "sklearn"]
        same_page = ".".join(module.split(".")[:2])
        if is_within(imported, strangers) and not is_within(imported, [same_page]):
            return "a plain page imports NumPy alone"
        return None
    if not is_within(imported, FLOORS) or "." not in imported or "." not in module:
        return None
    package = module.split(".")[0]
    if is_within(imported, PLAIN_PAGES):
        return "a plain page is read and tested against, not used"
    if not is_within(imported, [package]):
        if package == "gbt":
            return "gbt knows nothing of attributions"
        if is_within(imported, GROWING) and not is_within(module, MAY_GROW):
            return "attributions read trees and know nothing of how they grow"
        return None
    if floor_of(imported) > floor_of(module):
        return "imports run downwards"
    return None


def test_imports_run_one_way():
    def look(path):
        wrong = {imported: wrong_way(module_name(path), imported) for imported in imports_of(path)}
        return {imported: why for imported, why in wrong.items() if why}

    assert found_in(SOURCES, look) == {}


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("gbt.model.tree", "attributions.results"),
        ("gbt.losses.squared_and_logistic", "gbt.model.ensemble"),
        ("gbt.reference.splits", "gbt.kernels.cuts.search"),
        ("attributions.held_out.rows_before_trees", "gbt.training.policy_growth"),
        ("attributions.per_row.saabas", "attributions.held_out.rows_before_trees"),
        ("gbt.cores", "benchmarks.study.files"),
    ],
)
def test_an_import_the_wrong_way_is_found(module, imported):
    assert wrong_way(module, imported)


def import_graph(sources):
    """Return, for every module, the modules of ours that it imports, wherever the import stands.

    Imports in functions and those for annotations alone (``TYPE_CHECKING``) count like others. A
    package that names its modules in order to import them later is above them.
    """
    modules = {module_name(path): path for path in sources}
    return {
        module: {imported for imported in imports_of(path) if imported in modules} - {module}
        for module, path in modules.items()
    }


def circles_in(graph):
    """Return every set of modules that import each other, directly or through others."""
    reached = {}
    for module in graph:
        seen, waiting = set(), [*graph[module]]
        while waiting:
            if (other := waiting.pop()) not in seen:
                seen.add(other)
                waiting += graph[other]
        reached[module] = seen
    return {
        tuple(
            sorted(
                other for other in graph if other in reached[module] and module in reached[other]
            )
        )
        for module in graph
        if module in reached[module]
    }


def test_no_imports_run_in_a_circle():
    assert circles_in(import_graph(SOURCES)) == set()


@pytest.mark.parametrize(
    "importing",
    [
        "import gbt.b",
        "from gbt import b",
        "def f():\n    from gbt.b import g",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gbt.b import B",
    ],
)
def test_circles_are_found_wherever_the_import_stands(importing, tmp_path, monkeypatch):
    (tmp_path / "gbt").mkdir()
    sources = {
        "a": importing,
        "b": "from gbt.c import C",
        "c": "from gbt.a import A",
        "d": "import gbt.a",
    }
    for name, text in sources.items():
        (tmp_path / "gbt" / f"{name}.py").write_text(text)
    monkeypatch.setattr("tests.house.test_architecture.ROOT", tmp_path)
    found = circles_in(import_graph(sorted(tmp_path.glob("gbt/*.py"))))
    assert found == {("gbt.a", "gbt.b", "gbt.c")}


def test_numba_stays_in_the_kernels():
    users = found_in(SOURCES, lambda path: is_within_any(imports_of(path), ["numba"]))
    assert users
    assert [name for name in users if not name.startswith("gbt.kernels.platform.")] == []


MOST_LINES_OF_A_MODULE = 400
MOST_LINES_OF_A_FUNCTION = 80  # beside its docstring


def too_long(text):
    """Return what of a module is too long to be read: itself, or functions by name."""
    found = ["module"] if len(text.splitlines()) > MOST_LINES_OF_A_MODULE else []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            documentation = ast.get_docstring(node) or ""
            length = node.end_lineno - node.lineno - documentation.count("\n")
            if length > MOST_LINES_OF_A_FUNCTION:
                found.append(node.name)
    return found


def test_files_and_functions_can_be_read():
    assert found_in(SOURCES, lambda path: too_long(path.read_text())) == {}


def test_a_module_or_function_that_is_too_long_is_found():
    assert too_long("x = 0\n" * MOST_LINES_OF_A_MODULE) == []
    assert too_long("x = 0\n" * (MOST_LINES_OF_A_MODULE + 1)) == ["module"]
    assert too_long("def f():\n" + "    x = 0\n" * (MOST_LINES_OF_A_FUNCTION + 1)) == ["f"]


# Of all Python files below a folder; what removals lower is lowered here, too.
MOST_LINES_OF_FOLDERS = {
    "gbt": 27_372,
    "attributions": 24_052,
    "benchmarks": 14_240,
    "tests": 33_252,
}


@pytest.mark.parametrize("folder", MOST_LINES_OF_FOLDERS)
def test_folders_keep_to_their_budgets(folder):
    n_lines = sum(len(path.read_text().splitlines()) for path in (ROOT / folder).glob("**/*.py"))
    assert n_lines <= MOST_LINES_OF_FOLDERS[folder]


def test_a_folder_holds_one_idea():
    """At most a dozen files, and an ``__init__`` that says what the idea is."""
    folders = {path.parent for path in SOURCES}
    modules = Counter(path.parent for path in SOURCES if path.stem != "__init__")
    assert {folder: n for folder, n in modules.items() if n > MOST_FILES} == {}
    said = {folder: ast.get_docstring(tree_of(folder / "__init__.py")) for folder in folders}
    assert [folder for folder, text in said.items() if not text] == []


def test_what_draws_examples_stays_in_the_kit_for_tests():
    drawing = ["hypothesis", "pytest", "attributions.testing"]
    users = found_in(SOURCES, lambda path: is_within_any(imports_of(path), drawing))
    assert users
    assert [name for name in users if not is_within(name, ["attributions.testing"])] == []


KERNELS = sorted([*ROOT.glob("gbt/kernels/**/*.py"), *ROOT.glob("attributions/kernels/*.py")])


def functions_of(path):
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]


def test_kernels_take_ten_parameters_at_most():
    """What belongs together is a record or a named tuple."""

    def look(path):
        return [node.name for node in functions_of(path) if len(node.args.args) > 10]

    assert found_in(KERNELS, look) == {}


def test_a_kernels_name_is_used_once():
    names = [
        node.name
        for path in KERNELS
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert {name for name in names if names.count(name) > 1} == set()


# Of LLVM, over all calls of `tests.house.lines_of_llvm`; docs/tricks.md says what they consist of.
# Numba translates bytecode, which Python 3.13 writes otherwise: the same kernels have more lines.
MOST_LINES = 174_500
MOST_OPTIMISED = 166_900
SHARE_MORE = 0.0 if sys.version_info < (3, 13) else 0.004


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_all_first_calls_compile_no_more_than_their_budget(tmp_path):
    """What compiles takes time before the first result; only less code makes it less."""
    counted = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.house.lines_of_llvm"], capture_output=True,
        text=True, check=True, cwd=ROOT, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    ).stdout  # fmt: skip
    sums = re.search(r"^all +(\d+) +(\d+)$", counted, flags=re.MULTILINE)
    translated, optimised = int(sums[1]), int(sums[2])
    assert 100_000 < translated <= (1 + SHARE_MORE) * MOST_LINES, counted
    assert 100_000 < optimised <= (1 + SHARE_MORE) * MOST_OPTIMISED, counted


def test_lines_are_counted_of_every_method():
    """Those left out fit other models, or read one, with kernels that are counted elsewhere."""
    called = (ROOT / "tests/house/lines_of_llvm.py").read_text()
    found = {name for name in METHODS if re.search(rf"\b{name}\b", called)}
    assert set(METHODS) - found == {"given_others"}


def loaded_by(program, modules):
    """Return those of some modules that are there after a program."""
    program += f"\nimport sys; print(*[m for m in {modules} if m in sys.modules])"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


HEAVY = ["numba", "sklearn", "scipy", "matplotlib", "pandas", "shap", "xgboost", "hypothesis"]


@pytest.mark.parametrize("package", ["gbt", "attributions", "gbt.reference"])
def test_importing_a_package_alone_is_light(package):
    assert loaded_by(f"import {package}", HEAVY) == "\n"


@pytest.mark.slow
def test_fitting_and_explaining_needs_no_extra():
    program = (
        "import numpy as np, gbt, attributions\n"
        "X = np.arange(20.0).reshape(-1, 2); y = X[:, 0]\n"
        "model = gbt.GBTRegressor(n_estimators=2).fit(X, y)\n"
        "attributions.tree_inner(model, X, y); attributions.tree_shap(model, X)"
    )
    extras = ["hypothesis", "matplotlib", "shap", "xgboost", "polars", "dask", "distributed"]
    assert loaded_by(program, extras) == "\n"


def test_without_hypothesis_the_kit_for_tests_says_what_to_install():
    program = "import sys; sys.modules['hypothesis'] = None; import attributions.testing"
    command = [sys.executable, "-c", program]
    refused = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert "ImportError: attributions.testing draws models with Hypothesis" in refused.stderr
    assert "pip install hypothesis" in refused.stderr


WITHOUT_PEERS = """
import importlib, sys
sys.modules.update(dict.fromkeys({peers}))  # None: an import raises ImportError
for module in {modules}:
    importlib.import_module(module)
print(len({modules}))
"""


@pytest.mark.slow
def test_tests_and_benchmarks_are_collected_without_the_peers():
    """README runs the tests with the extra ``test`` alone; see ``tests.asserts.peer``."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    peers = [re.split(r"\W", line)[0] for line in extras["optional-dependencies"]["peers"]]
    assert {"xgboost", "lightgbm", "shap"} <= set(peers)
    paths = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    modules = sorted(module_name(path) for path in paths if path.stem != "__main__")
    imported = subprocess.run(
        [sys.executable, "-c", WITHOUT_PEERS.format(peers=peers, modules=modules)],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    # Standard error may announce that kernels are compiled: some tests fit models when imported.
    assert (imported.returncode, imported.stdout) == (0, f"{len(modules)}\n"), imported.stderr


def test_the_public_names_are_there():
    import attributions
    import gbt

    for package in (gbt, attributions):
        for name in package.__all__:
            assert getattr(package, name) is not None
        shown = {name for name in dir(package) if not name.startswith("__")}
        assert shown - {"formats"} == set(package.__all__)  # and no modules that are loaded
        assert {"__all__", "__doc__"} <= set(dir(package))
    assert all(f"``{name}``" in attributions.__doc__ for name in attributions.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gbt.nonsense  # noqa: B018
