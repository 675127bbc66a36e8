"""Kernels are compiled with checks where these are asked for, and it is announced."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numba import config

from gbt.kernels.platform import announcement
from gbt.kernels.platform.compiling import internal, kernel

ROOT = Path(__file__).parents[3]
compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@internal
def halved(x):
    return x / 2


def quartered_by_two(x):
    return halved(halved(x))


quartered = kernel(quartered_by_two)
if not config.DISABLE_JIT:
    quartered._cache.disable()


@pytest.mark.kernels
def test_an_index_out_of_range_raises_where_bounds_are_checked():
    """Checked and unchecked code have files of their own (test_filing)."""
    read = kernel(read_at)
    assert read(np.array([7.0]), 0) == 7.0
    if config.DISABLE_JIT or config.BOUNDSCHECK:
        with pytest.raises(IndexError):
            read(np.array([7.0]), 1)


def test_division_by_zero_gives_infinity():
    if not config.DISABLE_JIT:  # uncompiled, Python raises
        assert kernel(halve_of_inverse)(np.float64(0.0)) == np.inf


CALL_A_KERNEL = (
    "import numpy as np; from gbt.kernels.cuts.ranking import bin_rows;"
    " nothing = np.empty(0, dtype=np.int32), np.zeros(2, dtype=np.int64), 0;"
    " [bin_rows(*nothing, np.empty(n, dtype=np.uint8)[::step]) for n, step in {calls}]"
)


HEARD = {"capture_output": True, "text": True, "check": True, "cwd": ROOT}


def said_by(program, *arguments, **environment):
    """Return what a process says on standard error that has no part in this one's family."""
    inherited = {name: os.environ[name] for name in os.environ if name != announcement.VARIABLE}
    command = [sys.executable, "-c", program, *arguments]
    run = subprocess.run(command, env=inherited | environment, **HEARD)
    assert run.stdout == ""
    return run.stderr


@pytest.mark.slow
@compiled
def test_compilation_is_announced_once_a_process_and_reading_from_disk_is_not(tmp_path):
    call = CALL_A_KERNEL.format(calls="[(0, 1), (4, 2)]")  # two layouts, each compiled by itself
    (said,) = said_by(call, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert said.startswith("gbt compiles its kernels, once for this version of the package;")
    assert said_by(call, NUMBA_CACHE_DIR=str(tmp_path)) == ""


FAMILY = """
import os, subprocess, sys
import gbt.kernels.platform.compiling
call, *caches = sys.argv[1:]
children = [
    subprocess.Popen([sys.executable, "-c", call], env=os.environ | {"NUMBA_CACHE_DIR": cache})
    for cache in caches
]
assert [child.wait() for child in children] == [0, 0]
exec(call)
"""


@pytest.mark.slow
@compiled
def test_a_process_and_its_children_announce_compilation_once(tmp_path):
    """All three compile, the children at the same time, and before the one that began them."""
    caches = [tmp_path / name for name in ("one child", "other child", "parent")]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    said = said_by(
        FAMILY, CALL_A_KERNEL.format(calls="[(0, 1)]"), *map(str, caches[:2]),
        NUMBA_CACHE_DIR=str(caches[2]), TMPDIR=str(temporary),
    )  # fmt: skip
    assert said.count("gbt compiles its kernels") == len(said.splitlines()) == 1
    assert all(cache.is_dir() for cache in caches)
    assert list(temporary.iterdir()) == []


def test_without_a_place_for_the_mark_compilation_is_announced_again(tmp_path, monkeypatch):
    monkeypatch.setattr(announcement, "_family", "of this test")
    monkeypatch.delenv(announcement.VARIABLE, raising=False)  # as by who clears the environment
    for folder, announced in ((tmp_path, [True, False]), (tmp_path / "missing", [True, True])):
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        assert [announcement.is_first_of_its_family() for _ in range(2)] == announced


AFTER_WARMING_UP = """
import importlib, pkgutil
import numpy as np, pandas as pd
from numba.core.dispatcher import Dispatcher
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from attributions.mdi.least_squares import Ridge
import attributions, attributions.kernels, gbt, gbt.kernels
from attributions.warmup import warm_up

def signatures():
    found = {}
    for package in (gbt.kernels, attributions.kernels):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            for name, kernel in vars(importlib.import_module(module.name)).items():
                if isinstance(kernel, Dispatcher):
                    found[module.name, name] = set(kernel.signatures)
    return found

warm_up()
warm = signatures()
rng = np.random.default_rng(1)
for dtype, layout in ((np.float32, "C"), (np.float32, "F"), (np.float64, "C"), (np.float64, "F")):
    X = np.asarray(rng.normal(size=(500, 4)).astype(dtype), order=layout)
    X[::9, 1] = np.nan
    frame, weight = pd.DataFrame(X), rng.uniform(0.5, 2, size=500)
    forests = (RandomForestRegressor(2), X[:, 0]), (RandomForestClassifier(2), X[:, 0] > 0)
    for forest, y in forests:
        attributions.mdi_plus(forest.fit(frame, y), frame, y)
        attributions.mdi_plus(forest, frame, y, raw=False)
        attributions.mdi_oob(forest, frame, y)
    for estimator, y in ((gbt.GBTRegressor, X[:, 0]), (gbt.GBTClassifier, X[:, 0] > 0)):
        model = estimator(n_estimators=3).fit(frame, y)
        estimator(n_estimators=3, subsample=0.5, colsample=0.5).fit(X, y, weight)
        estimator(n_estimators=3, max_leaves=4, early_stopping_rounds=2).fit(X, y)
        model.predict(frame), model.apply(X), list(model.staged_predict(X))
        for explain in ("predecomp", "saabas", "tree_shap", "absolute"):
            getattr(attributions, explain)(model, frame)
        for judge in ("tree_inner", "partial_inner", "forest_inner", "permutation"):
            getattr(attributions, judge)(model, frame, y)
        attributions.tree_inner_rows(model, X, y)
        for linear_model in ("ridge", "elastic_net", "ols"):
            attributions.local_mdi(model, frame, y, X[:9], linear_model=linear_model)
        folds = Ridge(folds=np.arange(500) % 4)
        attributions.local_mdi(model, frame, y, linear_model=folds, raw=False, aggregate="rank")
        attributions.tree_inner(model, X, y, ifa="tree_shap", per_tree=True)
        attributions.tree_inner(model, X, y, ifa="saabas", standard_error=False, per_tree=True)
        halves = X[:250], y[:250], X[250:], y[250:]
        for form in ("symmetric", "paper"):
            attributions.unbiased_gain(model, *halves, form, sample_weight_valid=weight[::2])
print({key: found - warm[key] for key, found in signatures().items() if found - warm[key]})
print(sum(map(len, warm.values())) > 20)
"""


@pytest.mark.slow
@compiled
def test_nothing_is_compiled_after_warming_up():
    """Nor for another type, layout or kind of memory than it has met."""
    run = subprocess.run([sys.executable, "-c", AFTER_WARMING_UP], **HEARD)
    assert run.stdout.splitlines() == ["{}", "True"]


def halve_of_inverse(x):
    return 0.5 / x


def read_at(x, i):
    return x[i]
