"""What fits cost by policy: splits are verified before they are timed, tables reach the pages."""

import re

import numpy as np
import pytest

from benchmarks.speed import checked_trees, splitter_cost
from benchmarks.speed.checked_policy import Checked
from benchmarks.speed.splitter_cost import (
    CATEGORIES,
    NUMBERS,
    PAGES,
    POLICIES,
    QUICK,
    TABLES,
    Table,
)
from benchmarks.study.files import page_with
from gbt import GBTRegressor
from gbt.splitting import CrossValidated, Greedy, Unbiased, cross_validated
from tests.asserts import peer


class OneCodeTooFar(Greedy):
    """Send one value more to the left than the best cut does."""

    def split(self, frontier, limits, n_jobs):
        splits = super().split(frontier, limits, n_jobs)
        splits.cut[:] += 1
        return splits


class AnotherFeature(Unbiased):
    """Answer with the first feature, whichever was chosen."""

    def split(self, frontier, limits, n_jobs):
        splits = super().split(frontier, limits, n_jobs)
        splits.feature[splits.feature > 0] = 0
        return splits


@pytest.fixture
def small():
    X, y = Table(80, 3).data()
    return X, y


def grow(policy, X, y, **others):
    return GBTRegressor(2, max_depth=2, splitter=policy, random_state=0, **others).fit(X, y)


CHECKED = (
    Greedy(),
    CrossValidated(exact_cuts=True),
    Unbiased(exact_cuts=True),
    CrossValidated(3, exact_cuts=True),
    CrossValidated(3, shared_folds=False),
    Unbiased(merged=True, exact_cuts=True),
)


@pytest.mark.slow
@pytest.mark.parametrize("policy", CHECKED)
@pytest.mark.parametrize("categorical", [None, [0, 2]])
def test_checked_splits_are_those_of_the_policy_alone(policy, categorical):
    X, y = Table(80, 3, 9).data()
    checked = Checked(policy)
    others = {"categorical_features": categorical, "categorical_smoothing": 4.0}
    model = grow(checked, X, y, **others)
    assert checked.n_checked > 2
    assert (model.predict(X) == grow(policy, X, y, **others).predict(X)).all()


@pytest.mark.parametrize("wrong", [OneCodeTooFar(), AnotherFeature()])
def test_other_splits_are_noticed(wrong, small):
    with pytest.raises(SystemExit, match="not the splits of the page; nothing timed"):
        grow(Checked(wrong), *small)


def test_a_loss_of_the_same_rows_is_noticed(small, monkeypatch):
    """By the rows that chose it a split of noise is worth something, and the page has none."""

    def of_all_rows(cuts, penalty):
        return -cuts.score[:, :, -1]

    monkeypatch.setattr(cross_validated, "held_out_loss", of_all_rows)
    X, y = small[0], np.random.default_rng(0).normal(size=len(small[0]))
    with pytest.raises(SystemExit, match="not the splits of the page"):
        grow(Checked(CrossValidated()), X, y)


def test_levels_are_whole_and_uneven():
    X, _ = Table(20_000, 3, 1_000).data()
    assert X.dtype == np.float32
    assert (np.floor(X) == X).all()
    counts = np.bincount(X[:, 0].astype(int), minlength=1_000)
    assert 1_000 * 0.9 < (counts > 0).sum() <= 1_000
    assert counts[0] > 20 * np.median(counts)


EXPECTED_LINES = {"search": 4, "policies": 4, "rows": 4, "hundred": 3, "levels": 6}


@pytest.mark.slow
def test_every_table_is_made_and_written(tmp_path, capsys):
    peer("lightgbm")
    peer("xgboost")
    results = tmp_path / "found.md"
    asked = ["--quick", "--n-jobs", "1", "--repeats", "1", "--out", str(results)]
    assert splitter_cost.main(asked) == 0
    assert splitter_cost.main([*asked, "--only", "levels"]) == 0  # the others stay
    assert "All targets reached" in capsys.readouterr().out
    for name, text in tables_of(results.read_text()).items():
        first, _, *table = text.strip().splitlines()
        assert first.startswith("`python -m benchmarks.speed.splitter_cost`")
        assert len({line.count("|") for line in table}) == 1
        assert len(table) == 2 + EXPECTED_LINES[name]


def test_wrong_trees_are_not_timed(monkeypatch):
    peer("xgboost")
    monkeypatch.setitem(POLICIES, "greedy", OneCodeTooFar())
    monkeypatch.setattr(splitter_cost, "verify_beside_xgboost", lambda *sizes: None)
    monkeypatch.setattr(splitter_cost, "in_turn", lambda fits, repeats: pytest.fail("timed"))
    with pytest.raises(SystemExit, match="nothing timed"):
        splitter_cost.measure_policies(QUICK, 1, 1)


def test_trees_that_depend_on_threads_are_not_timed(monkeypatch):
    def by_threads(policy, kind, n_rounds, X, y, n_jobs):
        return GBTRegressor(1, max_depth=n_jobs, splitter=policy, random_state=0).fit(X, y)

    monkeypatch.setattr(splitter_cost, "check_small", lambda *case: None)
    monkeypatch.setattr(splitter_cost, "fit_ours", by_threads)
    with pytest.raises(SystemExit, match="depend on the number of threads"):
        splitter_cost.verify(POLICIES["greedy"], NUMBERS, Table(100, 3), QUICK)


def test_categories_are_checked_as_categories():
    splitter_cost.check_small.cache_clear()
    splitter_cost.check_small(POLICIES["unbiased"], CATEGORIES, Table(60, 2, 5))


def tables_of(text):
    """Return what stands between the marks, by name."""
    marked = rf"<!-- ({'|'.join(TABLES)}): begin -->(.*?)<!-- \1: end -->"
    return dict(re.findall(marked, text, re.DOTALL))


def test_the_pages_have_places_for_all_tables_and_the_numbers_that_are_kept():
    assert {name for named in PAGES.values() for name in named} == set(TABLES)
    for page, named in PAGES.items():
        page_with(dict.fromkeys(named, ""), page.read_text(), page.name)
        if splitter_cost.RESULTS.exists():
            kept = tables_of(splitter_cost.RESULTS.read_text())
            there = tables_of(page.read_text())
            assert {name: there[name] for name in named} == {name: kept[name] for name in named}


def test_other_trees_of_the_histogram_search_are_noticed(small, monkeypatch):
    X, y = small
    for policy in (Unbiased(), CrossValidated()):
        checked_trees.check_tree(policy, X, y, None, 0.0)
    monkeypatch.setattr(checked_trees, "parts_of", lambda n, n_parts, *_: np.arange(n) % n_parts)
    for policy in (Unbiased(), CrossValidated()):
        with pytest.raises(SystemExit, match="not the splits of the page; nothing timed"):
            checked_trees.check_tree(policy, X, y, None, 0.0)
