"""The recipe for conda says what pyproject.toml says."""

import re
import tomllib
from pathlib import Path

import gbt

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
RECIPE = (ROOT / ".ci/recipe/meta.yaml").read_text()


def listed(key):
    """Return what stands below a key of the recipe, one entry a line."""
    ((_, entries),) = re.findall(rf"^( *){key}:\n((?:\1  - .*\n)+)", RECIPE, re.MULTILINE)
    return {entry.strip().removeprefix("- ").replace(" >=", ">=") for entry in entries.splitlines()}


def extra(name):
    return PROJECT["optional-dependencies"][name]


def test_the_recipe_needs_what_the_package_needs():
    assert listed("run") == {"python>={{ python_min }}", *PROJECT["dependencies"]}
    assert listed("host") == {"python {{ python_min }}.*", "pip", *BUILD["requires"]}
    (python_min,) = re.findall(r'set python_min = "(.*)"', RECIPE)
    assert PROJECT["requires-python"] == f">={python_min}"
    optional = {*extra("plot"), *extra("shap")}
    assert {
        entry.replace("matplotlib-base", "matplotlib") for entry in listed("run_constrained")
    } == (optional)


def test_the_recipe_makes_the_same_package():
    ((name, target),) = PROJECT["scripts"].items()
    assert listed("entry_points") == {f"{name} = {target}"}
    for key, value in {
        "name": PROJECT["name"],
        "license": PROJECT["license"],
        "license_file": PROJECT["license-files"][0],
        "summary": PROJECT["description"],
    }.items():
        assert re.findall(rf"^  {key}: (.*)$", RECIPE, re.MULTILINE) == [value]
    assert re.findall(r'set version = "(.*)"', RECIPE) == [gbt.__version__]
