"""Cross-validated and unbiased splits: what the papers say of them, and how they are kept."""

from dataclasses import replace

import numpy as np
import pytest

import gbt
from gbt import GBTClassifier, GBTRegressor
from gbt.losses.overflow import LEAST_GRADIENT
from gbt.model.tree import NODE_DTYPES
from gbt.splitting import unbiased
from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from gbt.splitting.unbiased import Unbiased
from tests.asserts import assert_same
from tests.gbt.training.test_same_model import cut
from tests.greedy import GreedyRegressor


@pytest.mark.parametrize(
    ("policy", "on_a_side", "least"),
    [
        (Unbiased(), 1, 6),
        (Unbiased(), 2, 12),
        (Unbiased(merged=True), 1, 4),  # D, the smaller part, has two of four rows, one of three
        (Unbiased(merged=True), 2, 10),
    ],
)
def test_with_a_row_less_than_it_takes_no_cut_is_allowed(policy, on_a_side, least):
    def allows_a_cut(n, seed):
        rng = np.random.default_rng(seed)
        model = GBTRegressor(
            1, max_depth=1, splitter=policy, min_samples_leaf=on_a_side, min_child_weight=0.0,
            min_split_gain=-1e9, random_state=seed,
        )  # fmt: skip
        return model.fit(rng.random((n, 2)), rng.normal(size=n)).split_scores_.any()

    assert any(allows_a_cut(least, seed) for seed in range(50))
    with pytest.raises(ValueError, match=f"at least {least} rows; got {least - 1}"):
        allows_a_cut(least - 1, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unbiased, "check_rows", lambda *_: None)
        assert not any(allows_a_cut(least - 1, seed) for seed in range(50))


def test_cross_validation_passes_by_a_feature_of_many_values():
    """Adler and Painsky's design in small: many levels overfit, few levels carry the signal."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(2, size=2000), rng.random(2000)]).astype(np.float64)
    y = 0.3 * X[:, 0] + rng.normal(size=2000)
    asked = {"n_estimators": 20, "max_depth": 3, "random_state": 0}
    greedy = GreedyRegressor(**asked).fit(X, y).feature_importances_
    honest = GBTRegressor(**asked, splitter=CrossValidated()).fit(X, y).feature_importances_
    assert greedy[1] > 0.5
    assert honest[1] < 0.15


def test_boosting_ends_with_the_first_stub_of_cross_validation():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), rng.normal(size=500)
    stopped = GBTRegressor(100, splitter="cross_validated", random_state=0).fit(X, y).ensemble_
    assert stopped.n_trees < 100
    assert [tree.n_nodes == 1 for tree in stopped.trees].index(True) == stopped.n_trees - 1
    # A share of columns that rounds to all of them is all of them.
    asked = {"splitter": "cross_validated", "random_state": 0, "colsample": 0.9}
    assert GBTRegressor(100, **asked).fit(X, y).ensemble_.n_trees < 100
    policy = CrossValidated(stop_at_stub=False)
    assert GBTRegressor(100, splitter=policy, random_state=0).fit(X, y).ensemble_.n_trees == 100


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_of_pooled_trees_ends_where_many_rounds_have_no_split(n_classes, monkeypatch):
    monkeypatch.setattr(unbiased, "STUBS", 30)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=600), [0.0, 0.5][: n_classes - 1])
    asked = {"learning_rate": 0.1, "splitter": Unbiased(pooled=True), "random_state": 0}
    ended = GBTClassifier(400, **asked).fit(X, y).ensemble_
    is_stub = np.diff(ended.tree_offset).reshape(ended.n_rounds, -1).max(axis=1) == 1
    assert ended.n_rounds < 400
    assert is_stub[-30:].all()
    assert all(not is_stub[first : first + 30].all() for first in range(ended.n_rounds - 30))
    with monkeypatch.context() as patch:
        patch.setattr(unbiased, "STUBS", 0)
        whole = GBTClassifier(400, **asked).fit(X, y).ensemble_
    assert whole.n_rounds == 400
    # Where a tree is a call of its own, rows lie in parts or a fit goes on, the end is the same.
    watched = GBTClassifier(400, **asked).fit(X, y, X_val=X, y_val=y).ensemble_
    in_parts = GBTClassifier(400, **asked).fit(cut(X, [200]), y).ensemble_
    first = GBTClassifier(20, warm_start=True, **asked).fit(X, y)
    gone_on = first.set_params(n_estimators=400).fit(X, y).ensemble_
    for other in (whole.truncate(ended.n_rounds), watched, in_parts, gone_on):
        for name in NODE_DTYPES:
            assert_same(getattr(other, name), getattr(ended, name))
    again = first.set_params(n_estimators=500).fit(X, y).ensemble_
    assert again.n_rounds == ended.n_rounds


@pytest.mark.parametrize("splitter", ["auto", "cross_validated"])
def test_trees_without_a_split_learn_the_level_where_a_start_is_given(splitter):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), 50.0 + rng.normal(size=300)
    asked = {"n_estimators": 150, "splitter": splitter, "random_state": 0}
    given = GBTRegressor(**asked, base_score=0.0).fit(X, y)
    assert given.ensemble_.n_rounds == 150
    assert abs(given.predict(X).mean() - y.mean()) < 0.1
    start = np.zeros(300)
    started = GBTRegressor(**asked).fit(X, y, init_score=start)
    assert abs(started.predict(X, init_score=start).mean() - y.mean()) < 0.1


@pytest.mark.parametrize("value", [None, "no", 30])
def test_what_is_no_answer_to_stop_at_stub_is_refused(value):
    with pytest.raises(ValueError, match="stop_at_stub must be True or False"):
        CrossValidated(stop_at_stub=value)


def test_a_stub_of_one_class_ends_nothing_while_another_has_splits():
    """Class 2 is as frequent on both sides of the only cut."""
    X, y = np.repeat([[0.0], [1.0]], 150, axis=0), np.tile([0, 0, 2], 100)
    y[150:][y[150:] == 0] = 1
    model = GBTClassifier(5, splitter="cross_validated", random_state=0).fit(X, y)
    is_stub = np.array([tree.n_nodes == 1 for tree in model.ensemble_.trees]).reshape(5, 3)
    assert not is_stub[:, :2].any()
    assert is_stub[:, 2].all()


@pytest.mark.parametrize(
    ("name", "share"),
    [("subsample", 0.02), *((f"colsample{by}", 0.1) for by in ("", "_bylevel", "_bynode"))],
)
def test_a_stub_of_sampled_rows_or_columns_ends_nothing(name, share):
    """A tree that drew columns of noise alone, or rows that look like noise, has no split."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = 5 * X[:, 0] + rng.normal(size=400)
    asked = {"n_estimators": 100, "splitter": "cross_validated", "random_state": 0}
    ensemble = GBTRegressor(**asked, **{name: share}).fit(X, y).ensemble_
    is_stub = [tree.n_nodes == 1 for tree in ensemble.trees]
    assert is_stub.index(True) < 99
    assert is_stub[is_stub.index(True) :].count(False) > 0
    assert ensemble.n_trees == 100


@pytest.mark.parametrize("n_folds", [1, 17, 2.5, 3.0, "3", None])
def test_what_is_no_number_of_folds_is_refused(n_folds):
    with pytest.raises(ValueError, match=r"n_folds must be an integer in \[2, 16\]"):
        CrossValidated(n_folds=n_folds)


def test_scores_are_those_of_all_nodes_that_were_judged():
    """The root is worth 5 and split, its two children are worth -2 and are not."""

    class FiveThenLess:
        def split(self, frontier, limits, n_jobs):
            is_root = len(frontier) == 1
            splits = Greedy().split(frontier, limits, n_jobs)
            gain = np.full(len(frontier), 5.0 if is_root else -2.0)
            return replace(
                splits,
                feature=splits.feature if is_root else np.full(2, -1),
                gain=frontier.derivatives.in_units(gain),
                candidate=np.full(len(frontier), 1),
            )

    X = np.column_stack([np.zeros(6), np.arange(6.0)])
    model = GBTRegressor(n_estimators=1, splitter=FiveThenLess()).fit(X, np.arange(6.0))
    assert model.ensemble_.feature.tolist() == [1, -1, -1]
    assert model.split_scores_.tolist() == [0, pytest.approx(5 - 2 - 2)]


def test_a_policy_that_names_no_levels_for_a_categorical_column_is_told_so():
    class Forgetful:
        def split(self, frontier, limits, n_jobs):
            return replace(Greedy().split(frontier, limits, n_jobs), goes_left=None)

    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    model = GBTRegressor(n_estimators=1, splitter=Forgetful())
    assert model.fit(X, X[:, 0]).ensemble_.feature[0] == 0  # as a number
    with pytest.raises(ValueError, match="split a categorical column and returned no levels"):
        model.set_params(categorical_features=[0]).fit(X, X[:, 0])


@pytest.mark.filterwarnings("ignore::gbt.training.evaluation.WorseThanConstantWarning")
def test_scores_are_kept_and_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 1] + rng.normal(size=300)
    asked = {"splitter": Unbiased(), "random_state": 0}
    model = GBTRegressor(n_estimators=7, **asked).fit(X, y)
    assert model.split_scores_.argmax() == 1
    model.save(tmp_path / "model.json")
    assert_same(gbt.load(tmp_path / "model.json").split_scores_, model.split_scores_)
    grown = GBTRegressor(n_estimators=3, warm_start=True, **asked).fit(X, y)
    grown.set_params(n_estimators=7).fit(X, y)
    np.testing.assert_allclose(grown.split_scores_, model.split_scores_, rtol=1e-12)
    stopped = GBTRegressor(n_estimators=7, early_stopping_rounds=1, **asked)
    stopped.fit(X, y, eval_set=[(X, -y)])
    assert stopped.best_iteration_ == 0
    first = GBTRegressor(n_estimators=1, **asked).fit(X, y)
    assert_same(stopped.split_scores_, first.split_scores_)
    assert GreedyRegressor(n_estimators=1).fit(X, y).split_scores_ is None


def test_only_a_policy_that_judges_by_other_rows_may_lose():
    X, y = np.arange(60.0)[:, np.newaxis], np.random.default_rng(0).normal(size=60)
    asked = {"n_estimators": 1, "random_state": 0, "max_depth": 4}
    for splitter in ("greedy", "cross_validated", CrossValidated()):
        with pytest.raises(ValueError, match=r"min_split_gain must be a number in \[0, inf\)"):
            GBTRegressor(splitter=splitter, min_split_gain=-1.0).fit(X, y)
    sizes = [
        GBTRegressor(splitter="unbiased", min_split_gain=least, **asked).fit(X, y).ensemble_
        for least in (0.0, -1e9)
    ]
    assert len(sizes[1].feature) > len(sizes[0].feature)


def test_targets_of_the_smallest_units_grow_the_same_monotone_trees():
    """Others, and targets of any size, are asked for in `tests.attributions.test_extremes`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y, unit = X[:, 0] + 0.3 * rng.normal(size=200), LEAST_GRADIENT
    asked = {"n_estimators": 3, "max_depth": 3, "monotone_constraints": [1, 0, 0]}
    large, small = (GreedyRegressor(**asked).fit(X, scale * y).ensemble_ for scale in (1.0, unit))
    assert (large.feature >= 0).any()
    assert_same(small.feature, large.feature)
    assert_same(small.threshold, large.threshold)
    assert_same(small.value / unit, large.value)
