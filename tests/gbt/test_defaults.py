"""What a fit does where its caller leaves it open, and the warning that it has learned nothing."""

import numpy as np
import pytest

import gbt
from gbt import GBTClassifier, GBTRegressor
from gbt.estimators.defaults import LARGEST_UNBIASED, POOLED, chosen
from gbt.splitting import CrossValidated, Greedy, Unbiased
from gbt.training.evaluation import WorseThanConstantWarning
from tests.asserts import assert_same, assert_same_trees
from tests.greedy import GreedyRegressor

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(30, size=400), rng.normal(size=(400, 2))])
Y = (X[:, 1] + rng.normal(size=400) > 0).astype(int)
GUARDED = {"min_child_weight": 1e-3, "min_samples_leaf": 1, "categorical_smoothing": 5.0}
CAREFUL = {"min_child_weight": 1e-3, "min_samples_leaf": 20, "categorical_smoothing": 20.0}
CAREFUL |= {"max_bins": 256}
AS_XGBOOST = {"min_child_weight": 1.0, "min_samples_leaf": 1, "categorical_smoothing": 20.0}


def fitted(n=400, **parameters):
    asked = {"n_estimators": 5, "random_state": 0, "categorical_features": [0]} | parameters
    return GBTClassifier(**asked).fit(X[:n], Y[:n])


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({}, {"splitter": Unbiased(pooled=True), "learning_rate": 0.1, **GUARDED}),
        ({"splitter": "unbiased"}, {"splitter": "unbiased", **GUARDED}),
        ({"splitter": Unbiased(merged=True)}, {"splitter": Unbiased(merged=True), **GUARDED}),
        ({"splitter": "greedy"}, {"splitter": "greedy", **AS_XGBOOST}),
        ({"splitter": Greedy()}, {"splitter": "greedy", **AS_XGBOOST}),
        ({"splitter": "cross_validated"}, {"splitter": CrossValidated(), **GUARDED}),
        ({"monotone_constraints": [0, 1, 0]}, {"splitter": "greedy", **CAREFUL}),
        ({"monotone_constraints": [0, 0, 0]}, {"splitter": POOLED, **GUARDED}),
        ({"monotone_constraints": {1: 0}}, {"splitter": POOLED, **GUARDED}),
        ({"min_samples_leaf": 70}, {"splitter": "greedy", **CAREFUL, "min_samples_leaf": 70}),
        ({"min_child_weight": 9.0}, {"splitter": POOLED, **GUARDED, "min_child_weight": 9.0}),
        ({"subsample": 0.01}, {"splitter": "greedy", **CAREFUL}),
        ({"n_estimators": None}, {"n_estimators": 1000, "learning_rate": 0.02}),
        ({"n_estimators": None, "learning_rate": 0.1}, {"n_estimators": 200}),
        ({"n_estimators": None, "splitter": "unbiased"}, {"n_estimators": 200}),
        ({"n_estimators": None, "splitter": "greedy"}, {"n_estimators": 100}),
        ({"n_estimators": None, "min_samples_leaf": 70}, {"n_estimators": 100}),
    ],
)
def test_what_is_left_open_is_what_goes_with_the_splitter(asked, chosen):
    """Unbiased trees need six rows for every row of a leaf; constraints are greedy trees' alone."""
    assert_same_trees(fitted(**asked), fitted(**{**asked, **chosen}))


@pytest.mark.parametrize(("n", "rounds", "rate"), [(499, 1000, 0.02), (500, 700, 0.07)])
def test_rounds_go_with_the_steps(n, rounds, rate):
    found = chosen(GBTRegressor().get_params(), n)
    assert (found["n_estimators"], found["learning_rate"]) == (rounds, rate)
    x = np.arange(float(n))[:, np.newaxis] % 7
    assert GBTRegressor().fit(x, x[:, 0]).ensemble_.learning_rate == rate


@pytest.mark.parametrize(
    ("n", "depth"),
    [(5, 6), (4095, 6), (4096, 7), (10_000, 8), (100_000, 11), (500_000, 13), (500_001, 6)],
)
def test_pooled_trees_of_many_rows_go_deeper(n, depth):
    """Leaves of equal size have 32 rows or more: 10,000 / 2^8 is 39, 10,000 / 2^9 is 20."""
    assert chosen(GBTRegressor().get_params(), n)["max_depth"] == depth
    for given in (None, 3):
        assert chosen(GBTRegressor(max_depth=given).get_params(), n)["max_depth"] == given
    for splitter in ("greedy", "unbiased", "cross_validated"):
        assert chosen(GBTRegressor(splitter=splitter).get_params(), n)["max_depth"] == 6


def test_the_limits_matter():
    """Else the test above could not fail."""
    models = [
        fitted(splitter=splitter, **limits).ensemble_.threshold.tolist()
        for splitter in ("greedy", "unbiased")
        for limits in (GUARDED, CAREFUL, AS_XGBOOST)
    ]
    assert all(models.count(model) == 1 for model in models)


def test_what_auto_chose_is_told_and_a_file_tells_it_again(tmp_path):
    for model in (fitted(), fitted(monotone_constraints=[0, 1, 0]), fitted(subsample=0.01)):
        expected = POOLED if model.monotone_constraints is None else "greedy"
        expected = "greedy" if model.subsample < 1 else expected
        model.save(tmp_path / "model.json")
        again = gbt.load(tmp_path / "model.json")
        assert model.splitter_ == again.splitter_ == expected
        assert again.get_params() == model.get_params()
        assert again.splitter == "auto"


def test_a_file_tells_the_splitter_that_fits_the_rows_seen(tmp_path):
    """Unbiased trees with leaves of 10 rows need 60; of the 62 rows four count for nothing."""
    weight = np.repeat([1.0, 0.0], [58, 4])
    model = GBTRegressor(n_estimators=1, min_samples_leaf=10).fit(X[:62], X[:62, 1], weight)
    model.save(tmp_path / "model.json")
    assert model.splitter_ == gbt.load(tmp_path / "model.json").splitter_ == "greedy"


def test_trees_that_see_more_rows_are_greedy():
    n = LARGEST_UNBIASED + 1
    x = np.arange(n, dtype=float)[:, np.newaxis]
    asked = {"n_estimators": 1, "max_depth": 1, "random_state": 0}
    weight = np.ones(n)
    assert GBTRegressor(**asked).fit(x, x[:, 0], weight).splitter_ == "greedy"
    weight[0] = 0.0
    assert GBTRegressor(**asked).fit(x, x[:, 0], weight).splitter_ == POOLED
    assert GBTRegressor(subsample=0.9, **asked).fit(x, x[:, 0]).splitter_ == POOLED


def test_greedy_trees_that_auto_grows_look_into_no_bin():
    n = LARGEST_UNBIASED + 1
    x = np.random.default_rng(0).permutation(n).astype(float)[:, np.newaxis]
    given = {"n_estimators": 1, "max_depth": 1, "learning_rate": 0.1}
    default, exact = (
        GBTRegressor(**given, **asked).fit(x, x[:, 0] > 3210)
        for asked in ({}, {"splitter": "greedy"})
    )
    assert exact.ensemble_.threshold[0] == 3210.5
    assert 0 < abs(default.ensemble_.threshold[0] - 3210.5) < n / 256


def test_five_rows_are_enough():
    model = GBTRegressor().fit(X[:5], [0.0, 1.0, 2.0, 3.0, 4.0])
    assert_same(model.predict(X[:5]), np.full(5, 2.0))


def test_a_fit_that_goes_on_keeps_the_rate_that_was_left_open():
    model = GBTRegressor(warm_start=True, random_state=0).fit(X[:60], X[:60, 1])
    model.set_params(n_estimators=1010).fit(X[:60], X[:60, 1])
    expected = GBTRegressor(n_estimators=1010, learning_rate=0.02, random_state=0)
    assert_same_trees(model, expected.fit(X[:60], X[:60, 1]))


def test_rows_that_are_given_back_do_not_change_the_splitter(monkeypatch, tmp_path):
    """90 rows are few, here, and the 100 of the second fit would be many."""
    monkeypatch.setattr("gbt.estimators.defaults.LARGEST_UNBIASED", 95)
    asked = {"early_stopping_rounds": 2, "refit": True}
    model = GBTRegressor(random_state=0, **asked).fit(X[:100], X[:100, 1])
    assert model.splitter_ == POOLED
    assert model.splitter == "auto"
    assert model.n_estimators is None
    assert len(model.sampled_rows(0)) == 100
    model.save(tmp_path / "model.json")
    assert gbt.load(tmp_path / "model.json").splitter_ == POOLED


# The warning ----------------------------------------------------------------------------------

NOISE = np.random.default_rng(1).normal(size=(200, 3))
TARGET = np.random.default_rng(2).normal(size=200)


@pytest.mark.parametrize(
    "target", [TARGET, TARGET > 0, np.digitize(TARGET, [-0.5, 0.5])], ids=["number", "two", "three"]
)
def test_a_fit_that_is_worse_than_a_constant_on_its_own_rows_says_so(target):
    kind = GBTRegressor if target.dtype == float else GBTClassifier
    model = kind(splitter="greedy", n_estimators=30)
    rows = [(NOISE[:100], target[:100]), (NOISE[100:], target[100:])]
    with pytest.warns(WorseThanConstantWarning, match="eval_1") as caught:
        model.fit(NOISE[:100], target[:100], eval_set=rows)
    assert len(caught) == 1  # rows that were trained on are predicted well
    assert caught[0].filename == __file__


def test_the_constant_is_that_of_the_rows_that_were_trained_on():
    """By hand: predictions 0 and 1 for targets 1 and 0, whose mean would have erred by 1/2."""
    x, y = np.array([[0.0]] * 3 + [[1.0]] * 3), np.array([0.0] * 3 + [1.0] * 3)
    model = GreedyRegressor(n_estimators=1, learning_rate=1.0, reg_lambda=0.0)
    with pytest.warns(
        WorseThanConstantWarning, match=r"is 0\.5 at the end, and it is 0\.125 where all"
    ):
        model.fit(x, y, eval_set=[(x, 1 - y)])
    model.fit(x, y, eval_set=[(x, y)])  # not a word


def test_a_loss_that_is_larger_by_rounding_is_not_worse():
    """By hand: a step a from 0 in the wrong direction makes the loss larger by 2 a, relatively."""
    x, y = np.array([[0.0]] * 3 + [[1.0]] * 3), np.array([-1.0] * 3 + [1.0] * 3)
    model = GreedyRegressor(n_estimators=1, reg_lambda=0.0)
    model.set_params(learning_rate=5e-11).fit(x, y, eval_set=[(x, -y)])  # not a word
    with pytest.warns(WorseThanConstantWarning):
        model.set_params(learning_rate=5e-9).fit(x, y, eval_set=[(x, -y)])


def test_rows_held_out_are_evaluated_too():
    model = GreedyRegressor(early_stopping_rounds=5, random_state=0)
    with pytest.warns(WorseThanConstantWarning, match="eval_0"):
        model.set_params(learning_rate=1.0).fit(NOISE, TARGET)


def test_starting_values_are_what_trees_must_better():
    """Starts of 0 and 10, targets 1 more: the trees add 1, and no constant is as near."""
    x, start = np.arange(8.0)[:, np.newaxis], np.repeat([0.0, 10.0], 4)
    asked = {"n_estimators": 1, "learning_rate": 1.0, "reg_lambda": 0.0, "splitter": "greedy"}
    model = GBTRegressor(**asked)
    model.fit(x, start + 1, init_score=start, eval_set=[(x, start + 1, None, start)])
    with pytest.warns(
        WorseThanConstantWarning, match=r"is 2 at the end, and it is 0\.5 by the starting values"
    ):
        model.fit(x, start + 1, init_score=start, eval_set=[(x, start - 1, None, start)])
