"""Two small tables of docs/inference.md, at tiny size: levels with few rows, and training rows."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from attributions import given_others
from benchmarks.papers.inference import few_rows, training_rows
from benchmarks.papers.inference.few_rows import SETTINGS, draw, ratios
from benchmarks.study.files import DOCS, RESULTS, page_with, read_rows
from gbt import GBTRegressor
from tests.asserts import assert_close, assert_same, peer


@pytest.mark.parametrize("size", [1, 3])
def test_ratios_with_and_without_the_last_step(size, monkeypatch):
    """Without it, they are those of `given_others` in which nothing is rid of anything."""
    setting = replace(SETTINGS[0], n_draws=20, rows_a_draw=size)
    found = ratios(setting, "signal", 1)
    X, y, groups = draw(setting, "signal", np.random.default_rng([few_rows.SEED, 0, True, 1]))
    half = 20 * size
    model = GBTRegressor(max_depth=4, splitter="greedy").fit(X[:half], y[:half])
    for way in ("given_others", "not rid"):
        result = given_others(
            model,
            X[half:],
            y[half:],
            training=(X[:half], y[:half]),
            regressor=few_rows.LinearThenTrees(),
            groups=groups[half:],
        )
        expected = few_rows.divided(result.values, result.standard_error)
        assert_same(np.isfinite(found[way]), np.isfinite(expected))
        used = np.isfinite(expected)
        assert_close(found[way][used], expected[used], 1e3)
        module = import_module("attributions.refits.given_others")
        monkeypatch.setattr(module, "residuals_of_line", lambda values, prediction: values)


def test_groups_share_their_columns():
    X, _, groups = draw(SETTINGS[3], "noise", np.random.default_rng(0))
    assert len(np.unique(groups)) == 200
    assert_same(X[::10], X[9::10])
    correlation = np.corrcoef(X.T)[0]
    assert_close(correlation[[2, 3]], [0.8, 0.95], 1.0, k=2**50)  # .07, of 200 draws


def test_halves_have_as_many_rows_of_each_class():
    n_apart = 0
    for seed in range(30):
        X, y, is_apart, _ = training_rows.draw(np.random.default_rng(seed))
        half = len(y) // 2
        if y.dtype.kind == "i":
            assert_same(np.bincount(y[:half]), np.bincount(y[half:]))
        if is_apart:
            n_apart += 1
            for label in np.unique(y):
                own = X[y == label, 0]
                assert not ((X[y != label, 0] >= own.min()) & (X[y != label, 0] <= own.max())).any()
    assert n_apart >= 3


@pytest.mark.slow
def test_training_rows_are_counted():
    peer("xgboost")
    peer("lightgbm")
    rows = training_rows.simulate(16)
    assert {row["library"] for row in rows} == set(training_rows.LIBRARIES)
    assert sum(row["told_seen"] for row in rows) >= 8
    assert sum(row["told_new"] for row in rows) == 0
    by_hand = [
        {**rows[0], "library": "XGBoost", "tables": "noisy", "told_seen": 0.0, "told_new": 1}
    ]
    line = training_rows.table(by_hand).splitlines()[2]
    assert line.startswith("| XGBoost | noisy | 1 | 1 | 1 |")


@pytest.mark.parametrize("study", [few_rows, training_rows])
def test_the_page_has_the_numbers_beside_it(study):
    stem = study.__name__.rpartition(".")[2]
    page = (DOCS / "inference.md").read_text()
    table = study.table(read_rows(RESULTS / f"{stem}.csv"))
    assert page_with({stem.replace("_", " "): table}, page, "inference.md") == page
