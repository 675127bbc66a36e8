"""Benchmarks of speed verify before they time: wrong trees and predictions print no number."""

import numpy as np
import pytest

from benchmarks.speed import checked_trees, conversion, splitter_cost
from benchmarks.speed.splitter_cost import CATEGORIES, NUMBERS, POLICIES, STUDY, Table
from gbt import GBTRegressor
from gbt.splitting import CrossValidated, Greedy, Unbiased
from tests.asserts import peer


class OneCodeTooFar(Greedy):
    """Send one value more to the left than the best cut does."""

    def split(self, frontier, limits, n_jobs):
        splits = super().split(frontier, limits, n_jobs)
        splits.cut[:] += 1
        return splits


def test_other_trees_of_the_histogram_search_are_noticed(monkeypatch):
    X, y = Table(80, 3).data()
    for policy in (Unbiased(), CrossValidated()):
        checked_trees.check_tree(policy, X, y, None, 0.0)
    monkeypatch.setattr(checked_trees, "parts_of", lambda n, n_parts, *_: np.arange(n) % n_parts)
    for policy in (Unbiased(), CrossValidated()):
        with pytest.raises(SystemExit, match="not the splits of the page; nothing timed"):
            checked_trees.check_tree(policy, X, y, None, 0.0)


def test_wrong_trees_are_not_timed(monkeypatch):
    monkeypatch.setitem(POLICIES, "greedy", OneCodeTooFar())
    monkeypatch.setattr(splitter_cost, "in_turn", lambda fits, repeats: pytest.fail("timed"))
    with pytest.raises(SystemExit, match="nothing timed"):
        STUDY.parts["search"].run(0, 0, "quick")


def test_trees_that_depend_on_threads_are_not_timed(monkeypatch):
    def by_threads(policy, kind, n_rounds, X, y, n_jobs):
        return GBTRegressor(1, max_depth=n_jobs, splitter=policy, random_state=0).fit(X, y)

    monkeypatch.setattr(splitter_cost, "check_small", lambda *case: None)
    monkeypatch.setattr(splitter_cost, "fit_ours", by_threads)
    with pytest.raises(SystemExit, match="depend on the number of threads"):
        splitter_cost.verify(POLICIES["greedy"], NUMBERS, Table(100, 3))


def test_categories_are_checked_as_categories():
    splitter_cost.check_small.cache_clear()
    splitter_cost.check_small(POLICIES["unbiased"], CATEGORIES, Table(60, 2, n_levels=5))


def test_other_predictions_are_not_timed(monkeypatch):
    peer("catboost")

    def wrong(model):
        ensemble = conversion_of(model)
        return type("Wrong", (), {"raw_predict": lambda _, X: ensemble.raw_predict(X) + 1e-9})()

    conversion_of = conversion.as_ensemble
    monkeypatch.setattr(conversion, "as_ensemble", wrong)
    with pytest.raises(SystemExit, match=r"CatBoost: predictions differ by .*; nothing timed"):
        list(conversion.measure({"library": "CatBoost"}, None, "quick"))
