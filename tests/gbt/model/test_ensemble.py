"""The model's arrays: walking them, cutting them off, giving them the statistics of other rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.testing import ensembles, rows_for
from gbt.losses.squared_and_logistic import HalfLogistic
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import ROWS_AT_ONCE
from tests.asserts import assert_same, assert_sums_of_rows, assert_valid_ensemble
from tests.greedy import GreedyRegressor

pytestmark = pytest.mark.kernels


def fitted(X, y, **asked):
    return GreedyRegressor(n_estimators=2, **asked).fit(X, y).ensemble_


@given(data=st.data())
def test_stages_are_the_predictions_of_truncated_models(data):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble, n=5))
    stages = list(ensemble.staged_raw_predict(X))
    assert len(stages) == ensemble.n_trees
    for m, stage in enumerate(stages):
        assert_same(stage, ensemble.truncate(m + 1).raw_predict(X))
    assert_same(ensemble.truncate(0).raw_predict(X), np.full(5, ensemble.base_score))


@given(ensemble=ensembles(), seed=st.integers(0, 100))
def test_blocks_and_threads_change_nothing(ensemble, seed):
    rng = np.random.default_rng(seed)
    n = 2 * ROWS_AT_ONCE + 2048 + 7  # several blocks in cache, and two for threads
    X = rng.normal(size=(n, ensemble.n_features))
    one, two = ensemble.raw_predict(X, n_jobs=1), ensemble.raw_predict(X, n_jobs=2)
    assert_same(one, two)
    assert_same(ensemble.apply(X, n_jobs=1), ensemble.apply(X, n_jobs=2))
    some = rng.choice(n, 5)
    assert_same(ensemble.raw_predict(X[some]), one[some])


@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data())
def test_refitted_statistics_are_the_sums_over_the_rows_that_pass(weighted, data):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble, n=9))
    y = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=9, max_size=9)))
    weight = np.array(data.draw(st.lists(st.floats(0.1, 2), min_size=9, max_size=9)))
    refitted = ensemble.refit_statistics(X, y, weight if weighted else None)
    assert_valid_ensemble(refitted, refitted=True)
    assert_same(refitted.value, ensemble.value)
    assert_sums_of_rows(refitted, X, y, weight if weighted else None)


@given(ensemble=ensembles())
def test_arrays_cannot_be_changed_and_trees_are_views(ensemble):
    with pytest.raises(ValueError, match="read-only"):
        ensemble.value[0] = 1.0
    assert len(ensemble.trees) == ensemble.n_trees
    assert np.shares_memory(ensemble.trees[-1].value, ensemble.value)
    with pytest.raises(IndexError, match=f"tree {ensemble.n_trees} of an ensemble"):
        ensemble.trees[ensemble.n_trees]


@given(ensemble=ensembles())
def test_a_table_of_another_width_is_refused(ensemble):
    with pytest.raises(ValueError, match=f"needs a table with {ensemble.n_features} columns"):
        ensemble.raw_predict(np.zeros((2, ensemble.n_features + 1)))
    for no_table in ([0.0] * ensemble.n_features, np.zeros((1, 2, ensemble.n_features))):
        with pytest.raises(ValueError, match=f"needs a table with {ensemble.n_features} columns"):
            ensemble.raw_predict(no_table)


def test_other_columns_are_refused_where_both_have_names():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = replace(fitted(X, X[:, 0]), feature_names=("bmi", "bp"))
    expected = model.raw_predict(X)
    for names in (["bmi", "bp"], [0, 1], ["f0", "f1"]):
        assert_same(model.raw_predict(pd.DataFrame(X, columns=names)), expected)
    of_array = replace(model, feature_names=("x0", "x1"))
    assert_same(of_array.raw_predict(pd.DataFrame(X, columns=["x0", "other"])), expected)
    with pytest.raises(ValueError, match="columns of the model in another order"):
        of_array.raw_predict(pd.DataFrame(X, columns=["x1", "x0"]))
    for names, words in (
        (["bmi", "age"], r"column 1 is 'age' instead of 'bp'\. Give .*reindex.* If only names"),
        (["x1", "x0"], "column 0 is 'x1' instead of 'bmi'"),
        (["bp", "bmi"], r"another order: column 0 is 'bp' .* X\[model.feature_names_in_\]"),
    ):
        with pytest.raises(ValueError, match=words):
            model.raw_predict(pd.DataFrame(X, columns=names))


def test_trees_with_levels_are_laid_end_to_end():
    X = pd.DataFrame({"word": pd.Categorical(list("abcdeabcde"))})
    model = GreedyRegressor(n_estimators=2, min_child_weight=1).fit(X, np.arange(10)).ensemble_
    facts = {name: getattr(model, name) for name in ("base_score", "loss", "feature_names")}
    facts |= {"learning_rate": model.learning_rate, "reg_lambda": model.reg_lambda}
    again = Ensemble.from_trees(model.trees, categories=model.categories, **facts)
    again.validate()
    assert_same(again.raw_predict(X), model.raw_predict(X))


def test_a_model_has_no_more_trees_than_it_has():
    model = fitted(np.arange(4.0).reshape(-1, 1), np.arange(4.0))
    for n_trees in (-1, model.n_trees + 1):
        with pytest.raises(ValueError, match=f"n_rounds={n_trees}: the model has"):
            model.truncate(n_trees)


def test_statistics_of_a_classifier_are_those_of_0_and_1():
    X = np.arange(2.0).reshape(-1, 1)
    model = replace(fitted(X, X[:, 0]), loss=HalfLogistic())
    model.refit_statistics(X, [0, 1])
    with pytest.raises(ValueError, match="y holds -1; the model tells 0 from 1"):
        model.refit_statistics(X, [-1, 1])


def test_the_text_of_a_model_is_short():
    model = fitted(np.arange(4.0).reshape(-1, 1), np.arange(4.0), max_depth=1)
    assert repr(model) == (
        "<Ensemble of 2 trees, 6 nodes, on 1 feature; half_squared_error, base_score=1.5,"
        " learning_rate=0.1, reg_lambda=1>"
    )
    assert repr(model.trees[0]) == "<Tree of 3 nodes, depth 1>"


def test_other_rows_are_checked_as_those_of_training():
    X, y = np.random.default_rng(0).normal(size=(2, 9, 1))
    model = fitted(X, y[:, 0])
    for target, weight, message in (
        (np.hstack([y, y]), None, r"y has shape \(9, 2\); it needs one target for each row of X"),
        (np.full(9, np.nan), None, "y is nan in row 0. Leave out the rows"),
        (np.where(y[:, 0] > y[0, 0], np.inf, y[:, 0]).astype(object), None, r"y is inf in row \d"),
        (np.ma.array([0, 1, np.nan] * 3, mask=y[:, 0] > 9), None, "y is nan in row 2"),
        (y[:, 0], np.array([2.0]), r"sample_weight has shape \(1,\); it needs one weight for each"),
        (y[:, 0], np.full(9, np.nan), "sample_weight is nan in row 0"),
        (y[:, 0], -np.ones(9), "sample_weight must not be negative"),
        (y[:, 0], np.zeros(9), "sample_weight is zero for every row"),
    ):
        with pytest.raises(ValueError, match=message):
            model.refit_statistics(X, target, weight)
