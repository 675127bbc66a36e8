"""The house: imports run one way, Numba stays in its place, and no file grows too large to read."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numba import config

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("gbt/**/*.py"), *ROOT.glob("attributions/**/*.py")])

# What a module may import from the two packages, beside what its own floor allows.
FLOORS = [
    {"gbt.cores"},
    {
        "gbt.kernels",
        "gbt.chunks",
        "gbt.parallel",
        "gbt.fixed_point",
        "gbt.progress",
        "gbt.losses",
        "gbt.amount_losses",
        "gbt.own_loss",
        "gbt.known_losses",
        "gbt.several_outputs",
        "gbt.metric_names",
    },
    {"gbt.saving", "gbt.whole_files"},
    {"gbt.tables", "gbt.targets"},
    {"gbt.level_sets", "gbt.predictor", "gbt.statistics", "gbt.sampling", "gbt.seen_rows"},
    {
        "gbt.columns",
        "gbt.model",
        "gbt.tree",
        "gbt.documents",
        "gbt.categories",
        "gbt.grown_trees",
    },
    {"gbt.splitting", "gbt.evaluation", "gbt.stages"},
    {"gbt.growing"},
    {"gbt.outputs"},
    {"gbt.boosting", "gbt.parameters"},
    {"gbt.estimators", "gbt.base"},
    {"gbt.formats"},
    {"gbt.loading"},
]
ATTRIBUTIONS_MAY_IMPORT = {
    "gbt.categories",
    "gbt.chunks",
    "gbt.model",
    "gbt.tree",
    "gbt.predictor",
    "gbt.stages",
    "gbt.statistics",
    "gbt.seen_rows",
    "gbt.losses",
    "gbt.metric_names",
    "gbt.formats",
    "gbt.parallel",
    "gbt.tables",
    "gbt.targets",
    "gbt.level_sets",
    "gbt.kernels.descent",
    "gbt.kernels.instructions",
    "gbt.kernels.walk",
    "gbt.kernels.derivatives",
    "gbt.kernels.compiling",
}
# Plain NumPy and loops, to be read and tested against.
PLAIN_PAGES = {
    "gbt.reference",
    "gbt.reference_splits",
    "gbt.reference_policies",
    "attributions.reference",
    "attributions.reference_inference",
    "attributions.reference_held_out",
}
# Results draw themselves with what draws results.
KNOTS = {
    (
        "attributions.feature_groups",
        "attributions.plots",
        "attributions.plots.boosting",
        "attributions.plots.importance",
        "attributions.plots.pairs",
        "attributions.plots.rows",
        "attributions.plots.used_useful",
        "attributions.results",
        "attributions.results.per_feature",
        "attributions.results.per_pair",
        "attributions.results.per_row",
    )
}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, top_level_only=False):
    """Return the modules that a file imports, names imported from packages included."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module}
            if (ROOT / node.module.replace(".", "/")).is_dir():
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_within(module, packages):
    return any(module == p or module.startswith(f"{p}.") for p in packages)


def is_within_any(modules, packages):
    return any(is_within(module, packages) for module in modules)


def floor_of(module):
    for number, floor in enumerate(FLOORS):
        if is_within(module, floor):
            return number
    return None


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_run_one_way(path):
    module = module_name(path)
    for imported in imports_of(path):
        if module in PLAIN_PAGES:  # one page may import another; no circle is allowed anywhere
            strangers = ["gbt", "attributions", "numba", "scipy", "sklearn"]
            beside = {page for page in PLAIN_PAGES if page.split(".")[0] == module.split(".")[0]}
            assert imported in beside or not is_within(imported, strangers)
        elif module.startswith("gbt."):
            strangers = ["benchmarks", "tests", *["attributions"] * (module != "gbt.warmup")]
            assert not is_within(imported, strangers)
            if floor_of(imported) is not None:
                assert floor_of(imported) <= floor_of(module), f"{module} imports {imported}"
        elif module == "gbt":
            continue  # it names what is public
        elif is_within(imported, ["gbt"]) and imported not in ("gbt", "gbt.kernels"):
            allowed = is_within(imported, ATTRIBUTIONS_MAY_IMPORT)
            # The command line fits a model, or reads one, which the growing side may have to check.
            command_line = ("attributions.__main__", "attributions.model_file")
            assert allowed or module in command_line, f"{module} imports {imported}"


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
    assert circles_in(import_graph(SOURCES)) <= KNOTS


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
    monkeypatch.setattr("tests.test_architecture.ROOT", tmp_path)
    found = circles_in(import_graph(sorted(tmp_path.glob("gbt/*.py"))))
    assert found == {("gbt.a", "gbt.b", "gbt.c")}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_numba_stays_in_the_kernels(path):
    if is_within_any(imports_of(path), ["numba"]):
        wrappers = ("compiling", "atomics", "instructions")
        assert module_name(path) in [f"gbt.kernels.{name}" for name in wrappers]


MOST_LINES_OF_A_MODULE = 500


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_files_and_functions_can_be_read(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= MOST_LINES_OF_A_MODULE
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef):
            documentation = ast.get_docstring(node) or ""
            length = node.end_lineno - node.lineno - documentation.count("\n")
            assert length <= 80, f"{path.name}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_what_draws_examples_stays_in_the_kit_for_tests(path):
    module = module_name(path)
    if not is_within(module, ["attributions.testing"]):
        assert not is_within_any(imports_of(path), ["hypothesis", "pytest", "attributions.testing"])


KERNELS = sorted([*ROOT.glob("gbt/kernels/*.py"), *ROOT.glob("attributions/kernels/*.py")])


@pytest.mark.parametrize("path", KERNELS, ids=module_name)
def test_kernels_take_ten_parameters_at_most(path):
    """What belongs together is a record or a named tuple."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert len(node.args.args) <= 10, f"{path.name}: {node.name}"


COUNT_LINES = """
import numpy as np
from numba.core import codegen
lines = []
add = codegen.CPUCodeLibrary.add_ir_module
def count(self, module):
    lines.append(str(module).count("\\n"))
    return add(self, module)
codegen.CPUCodeLibrary.add_ir_module = count
from gbt import GBTRegressor
from attributions import tree_inner
X = np.random.default_rng(0).normal(size=(200, 10))
model = GBTRegressor(n_estimators=2).fit(X, X[:, 0])
tree_inner(model, X, X[:, 0])
print(sum(lines))
"""
MOST_LINES = 97_500  # of LLVM, of which 20,000 are those of attributions; see docs/tricks.md


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_first_fit_compiles_no_more_than_its_budget(tmp_path):
    """What compiles takes time before the first model; only less code makes it less."""
    counted = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COUNT_LINES], capture_output=True, text=True,
        check=True, cwd=ROOT, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert 20_000 < int(counted.stdout) <= MOST_LINES


HEAVY = ["numba", "sklearn", "scipy", "matplotlib", "pandas", "shap", "xgboost", "hypothesis"]


@pytest.mark.parametrize("package", ["gbt", "attributions", "gbt.reference"])
def test_importing_a_package_alone_is_light(package):
    program = f"import sys, {package}; print(*[m for m in {HEAVY} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout.split() == []


def test_fitting_and_explaining_needs_no_extra():
    program = (
        "import sys, numpy as np, gbt, attributions\n"
        "X = np.arange(20.0).reshape(-1, 2); y = X[:, 0]\n"
        "model = gbt.GBTRegressor(n_estimators=2).fit(X, y)\n"
        "attributions.tree_inner(model, X, y); attributions.tree_shap(model, X)\n"
        "extras = ['hypothesis', 'matplotlib', 'shap', 'xgboost', 'polars']\n"
        "print(*[m for m in extras if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout.split() == []


def test_without_hypothesis_the_kit_for_tests_says_what_to_install():
    program = "import sys; sys.modules['hypothesis'] = None; import attributions.testing"
    refused = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT
    )
    assert "ImportError: attributions.testing draws models with Hypothesis" in refused.stderr
    assert "pip install hypothesis" in refused.stderr


WITHOUT_PEERS = """
import importlib, sys
sys.modules.update(dict.fromkeys({peers}))  # None: an import raises ImportError
for module in {modules}:
    importlib.import_module(module)
print(len({modules}))
"""


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
        assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gbt.nonsense  # noqa: B018
