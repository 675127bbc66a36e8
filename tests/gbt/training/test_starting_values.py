"""Starting values: a raw prediction of each row from which boosting starts."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbt
from gbt import GBTClassifier, GBTRegressor
from gbt.formats import as_ensemble
from gbt.model.tree import NODE_DTYPES
from tests.asserts import EPS_32, assert_close, assert_same, assert_same_trees, peer
from tests.greedy import GreedyClassifier, GreedyRegressor

N = 60
GREEDY = {"splitter": "greedy"}
KINDS = {
    "squared": lambda **others: GBTRegressor(**GREEDY | others),
    "poisson": lambda **others: GBTRegressor(loss="poisson", **GREEDY | others),
    "huber": lambda **others: GBTRegressor(loss="pseudo_huber", **GREEDY | others),
    "two classes": lambda **others: GBTClassifier(**GREEDY | others),
    "three classes": lambda **others: GBTClassifier(**GREEDY | others),
}


def rows_of(kind, seed, n=N):
    """Return a table, targets of a kind, weights (some 0) and starting values."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0] - X[:, 1]) + rng.normal(size=n)
    y = {
        "squared": score,
        "huber": score,
        "poisson": np.round(np.exp(score / 2)),
        "two classes": np.where(score > 0, "yes", "no"),
        "three classes": np.digitize(score, [-0.5, 0.5]),
    }[kind]
    y[:3] = {"two classes": ["no", "yes", "no"]}.get(kind, [0, 1, 2])
    shape = (n, 3) if kind == "three classes" else n
    return X, y, rng.integers(0, 3, n) + np.r_[1, 1, 1, np.zeros(n - 3)], rng.normal(size=shape)


def test_two_rows_by_hand():
    """The tree learns y - start, 1 and 2, and predictions begin at the starts that they are given.

    ::
        y      1   3        start   0   1        left to learn   1   2        leaves   1   2
    """
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    model = GreedyRegressor(1, learning_rate=1.0, reg_lambda=0.0, max_depth=1)
    model.fit(X, y, init_score=[0.0, 1.0])
    assert_same(model.predict(X, init_score=[10.0, 20.0]), np.array([11.0, 22.0]))
    assert model.ensemble_.base_score == 0


@given(st.integers(0, 999), st.sampled_from(sorted(KINDS)), st.sampled_from(["greedy", "unbiased"]))
def test_boosting_on_from_the_raw_predictions_of_a_model_grows_its_next_trees(seed, kind, splitter):
    X, y, weight, _ = rows_of(kind, seed)
    asked = {"splitter": splitter, "max_depth": 3, "learning_rate": 0.5, "random_state": 0}
    asked |= {"colsample": 0.6} if seed % 2 else {}
    both = KINDS[kind](n_estimators=5, **asked).fit(X, y, weight)
    first = both.ensemble_.truncate(2)
    start = first.raw_predict(X)
    rest = KINDS[kind](n_estimators=3, **asked)
    if seed % 2 or splitter == "unbiased":  # the next trees draw columns and parts of their own
        rest.fit(X, y, weight, init_score=start)
        raw = rest.ensemble_.raw_predict(X, init_score=start)
        trees = rest.ensemble_.raw_predict(X, init_score=np.zeros(start.shape))
        assert_close(raw, start + trees, 9 + np.abs(start) + np.abs(trees))
        return
    rest.fit(X, y, weight, init_score=start)
    n_nodes = first.tree_offset[-1]
    for name in NODE_DTYPES:
        assert_same(getattr(rest.ensemble_, name), getattr(both.ensemble_, name)[n_nodes:])
    raw = rest.ensemble_.raw_predict(X, init_score=start)
    assert_same(raw, both.ensemble_.raw_predict(X))


OBJECTIVES = {  # of XGBoost and of LightGBM
    "squared": ("reg:squarederror", "regression", {}),
    "two classes": ("binary:logistic", "binary", {}),
    "three classes": ("multi:softprob", "multiclass", {"num_class": 3}),
}


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_trees_are_those_of_xgboost_with_the_same_base_margin(kind):
    """A base score that it is given besides does nothing; ours is 0."""
    xgboost = peer("xgboost")
    X, y, _, start = rows_of(kind, 1, 200)
    X, start = X.astype(np.float32), start.astype(np.float32)
    target = (y == "yes") * 1 if kind == "two classes" else y
    objective, _, others = OBJECTIVES[kind]
    asked = {"objective": objective, "tree_method": "exact", "max_depth": 3, "eta": 0.5} | others
    asked["nthread"] = 1
    data = xgboost.DMatrix(X, target, base_margin=start)
    model = KINDS[kind](n_estimators=4, max_depth=3, learning_rate=0.5).fit(X, y, init_score=start)
    for base_score in ({}, {"base_score": 0.3}) if kind != "three classes" else ({},):
        booster = xgboost.train(asked | base_score, data, 4)
        theirs = booster.predict(data, output_margin=True)
        ours = model.ensemble_.raw_predict(X, init_score=start)
        assert_close(ours, theirs, 4 * np.abs(start).max() + 4, eps=EPS_32)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        imported = as_ensemble(booster, X, target, init_score=start)
    assert_same(imported.n_samples, model.ensemble_.n_samples)
    size = 200 * (np.abs(start).max() + np.abs(model.ensemble_.sum_gradient).max())
    assert_close(imported.sum_gradient, model.ensemble_.sum_gradient, size, eps=EPS_32)
    assert_close(imported.raw_predict(X, init_score=start), theirs, size, eps=EPS_32)
    with pytest.warns(UserWarning, match="a base margin, which init_score is for"):
        as_ensemble(booster, X, target)
    with pytest.raises(ValueError, match="was fitted with starting values"):
        imported.raw_predict(X)


@pytest.mark.parametrize("rate", [0.5, 1.0])
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_trees_are_those_of_lightgbm_with_the_same_init_score(kind, rate):
    """It adds up its hessians in histograms, so this holds within float32.

    At a rate of 1 its file looks as if the first tree hid a mean.
    """
    lightgbm = peer("lightgbm")
    X, y, _, start = rows_of(kind, 2, 200)
    target = (y == "yes") * 1 if kind == "two classes" else y
    _, objective, others = OBJECTIVES[kind]
    asked = {
        "objective": objective, "num_leaves": 8, "max_depth": 3, "learning_rate": rate,
        "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1.0, "lambda_l2": 1.0, "verbose": -1,
        "min_data_in_bin": 1, "max_bin": 500, "num_threads": 1, "deterministic": True,
    }  # fmt: skip
    data = lightgbm.Dataset(X, target, init_score=start)
    booster = lightgbm.train(asked | others, data, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        imported = as_ensemble(booster, X, target, init_score=start)
    if rate == 1.0:
        with pytest.raises(ValueError, match="was fitted without"):
            as_ensemble(booster).raw_predict(X, init_score=start)
    else:
        assert_same(
            as_ensemble(booster).raw_predict(X, init_score=start),
            imported.raw_predict(X, init_score=start),
        )
    of_rows = imported.refit_statistics(X, target, init_score=start)
    size = 200 * (1 + np.abs(start).max())
    assert_close(imported.sum_gradient, of_rows.sum_gradient, size, eps=EPS_32)
    theirs = booster.predict(X, raw_score=True) + start
    assert_close(imported.raw_predict(X, init_score=start), theirs, size)
    assert imported.has_init_score
    if kind == "squared":  # the classes' hessians of LightGBM are others
        model = GreedyRegressor(2, max_depth=3, learning_rate=rate).fit(X, y, init_score=start)
        assert_close(model.predict(X, start), theirs, 8 * np.abs(start).max(), eps=EPS_32)


@pytest.mark.filterwarnings("ignore::gbt.training.evaluation.WorseThanConstantWarning")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_evaluation_sets_start_from_values_of_their_own(kind):
    X, y, weight, start = rows_of(kind, 3)
    a, b = slice(20, None), slice(0, 20)
    model = KINDS[kind](n_estimators=6, max_depth=2, early_stopping_rounds=3)
    model.fit(X[a], y[a], eval_set=[(X[b], y[b], weight[b], start[b])], init_score=start[a])
    loss = model.ensemble_.loss
    target = np.searchsorted(model.classes_, y[b]).astype(float) if "classes" in kind else y[b]
    stages = model.ensemble_.staged_raw_predict(X[b], init_score=start[b])
    expected = [np.average(loss.value(target, raw), weights=weight[b]) for raw in stages]
    told = model.evals_result_["eval_0"]
    assert_close(told[: len(expected)], expected, 1 + np.abs(expected))
    assert model.best_iteration_ == np.argmin(told)

    drawn = KINDS[kind](n_estimators=4, early_stopping_rounds=2, random_state=0)
    drawn.fit(X, y, init_score=start)
    fitted = drawn.sampled_rows(0)
    left = np.setdiff1d(np.arange(N), fitted)
    again = KINDS[kind](n_estimators=4, early_stopping_rounds=2)
    again.fit(
        X[fitted], y[fitted], eval_set=[(X[left], y[left], None, start[left])],
        init_score=start[fitted],
    )  # fmt: skip
    assert_same_trees(drawn.ensemble_, again.ensemble_)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_more_trees_are_added_to_a_model_with_starting_values(kind):
    X, y, weight, start = rows_of(kind, 4)
    at_once = KINDS[kind](n_estimators=4, max_depth=2).fit(X, y, weight, init_score=start)
    model = KINDS[kind](n_estimators=2, max_depth=2, warm_start=True)
    model.fit(X, y, weight, init_score=start).set_params(n_estimators=4)
    for other in (start + 1.0, start[::-1], None):
        with pytest.raises(ValueError, match=r"targets and weights|fitted with starting values"):
            model.fit(X, y, weight, init_score=other)
    assert_same_trees(model.fit(X, y, weight, init_score=start).ensemble_, at_once.ensemble_)


def test_files_say_that_a_model_has_starting_values(tmp_path):
    X, y, _, start = rows_of("two classes", 5)
    model = GreedyClassifier(3).fit(X, y, init_score=start)
    for saved, read in ((model, lambda m: m.ensemble_), (model.ensemble_, lambda m: m)):
        saved.save(tmp_path / "model.json")
        loaded = gbt.load(tmp_path / "model.json")
        assert read(loaded).has_init_score is True
        with pytest.raises(ValueError, match="was fitted with starting values"):
            read(loaded).raw_predict(X)
    model.save(tmp_path / "model.json")
    loaded = gbt.load(tmp_path / "model.json")
    assert_same(loaded.predict_proba(X, init_score=start), model.predict_proba(X, start))
    GreedyClassifier(3).fit(X, y).save(tmp_path / "model.json")
    assert gbt.load(tmp_path / "model.json").ensemble_.has_init_score is False
    unknown = replace(model.ensemble_, has_init_score=None)
    unknown.save(tmp_path / "model.json")
    assert gbt.load(tmp_path / "model.json").has_init_score is None


def test_every_prediction_takes_them():
    X, y, weight, start = rows_of("three classes", 6)
    model = GreedyClassifier(3, max_depth=2).fit(X, y, init_score=start)
    raw = model.decision_function(X, start)
    zeros = np.zeros(start.shape)
    assert_close(raw, start + model.decision_function(X, zeros), 3 + np.abs(start))
    proba = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    assert_close(model.predict_proba(X, init_score=start), proba, 8.0)
    assert_same(model.predict(X, init_score=start), raw.argmax(axis=1))
    *_, last = model.staged_predict_proba(X, init_score=start)
    assert_close(last, proba, 8.0)
    *_, last = model.staged_predict(X, init_score=start)
    assert_same(last, raw.argmax(axis=1))
    right = raw.argmax(axis=1) == y
    assert model.score(X, y, weight, init_score=start) == np.average(right, weights=weight)
    regressor = GreedyRegressor(3).fit(X, y, init_score=start[:, 0])
    predicted = regressor.predict(X, start[:, 0])
    r2 = 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert abs(regressor.score(X, y, init_score=start[:, 0]) - r2) < 1e-12


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m, X, y, s: m.predict(X), "was fitted with starting values"),
        (lambda m, X, y, s: m.score(X, y), "was fitted with starting values"),
        (lambda m, X, y, s: m.predict(X, s[:-1]), r"shape \(59,\); it needs .* \(60,\)"),
        (lambda m, X, y, s: m.predict(X, np.c_[s, s]), r"shape \(60, 2\)"),
        (lambda m, X, y, s: m.predict(X, s * np.nan), "init_score"),
        (lambda m, X, y, s: m.fit(X, y).predict(X, s), "fitted without"),
        (lambda m, X, y, s: m.fit(X, y, eval_set=[(X, y)], init_score=s), "both have starting"),
        (lambda m, X, y, s: m.fit(X, y, eval_set=[(X, y, None, s)]), "both have starting"),
        (
            lambda m, X, y, s: m.set_params(base_score=1.0).fit(X, y, init_score=s),
            "base_score=1.0 and init_score both",
        ),
        (
            lambda m, X, y, s: GreedyClassifier().fit(X, np.arange(N) % 3, init_score=s),
            r"one raw prediction for each row and class, \(60, 3\)",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    X, y, _, start = rows_of("squared", 7)
    model = GreedyRegressor(2).fit(X, y, init_score=start)
    with pytest.raises(ValueError, match=said):
        call(model, X, y, start)
