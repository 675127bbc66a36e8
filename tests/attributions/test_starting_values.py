"""Measures of models with starting values ask at the true predictions.

Two oracles: a model that goes on from the raw predictions of another is the rest of a longer model,
whose measures tree by tree are known; and with the squared error, starting values may as well be
taken off the targets. The plain pages take a starting value of each row as ``base_score``.
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attributions
from attributions import (
    HeldOutSelector,
    SeenRowsWarning,
    given_others,
    held_out_gain,
    local_mdi,
    partial_inner,
    permutation,
    tree_inner,
    tree_inner_rows,
    unbiased_gain,
)
from attributions.reference import definitions as plain
from attributions.reference.held_out import error_of_held_out_gain
from attributions.reference.held_out import held_out_gain as plain_held_out_gain
from gbt import GBTRegressor
from tests.asserts import assert_close, assert_same, peer
from tests.attributions.measures import JUDGING, MEASURES
from tests.gbt.training.test_starting_values import KINDS, N, rows_of
from tests.greedy import GreedyRegressor

numbers = st.integers(0, 999)
kinds = st.sampled_from(sorted(KINDS))
pytestmark = [
    pytest.mark.filterwarnings("ignore::attributions.inputs.SeenRowsWarning"),
    pytest.mark.filterwarnings("ignore::attributions.held_out.tree_inner.LevelWarning"),
]


def fitted(kind, seed, n_trees=3):
    """Return a model with starting values, and its rows, targets as the loss takes them, ..."""
    X, y, weight, start = rows_of(kind, seed)
    model = KINDS[kind](n_estimators=n_trees, max_depth=3, learning_rate=0.5)
    model.fit(X, y, weight, init_score=start)
    target = np.searchsorted(model.classes_, y) * 1.0 if "classes" in kind else y
    return model, X, y, target, weight, start


def size_of(model, target, start, weight):
    """Return a bound of the terms that measures add up."""
    step = np.abs(model.ensemble_.value).max() + 1
    return (2 * weight.sum() + N) * step**2 * np.exp(np.abs(start).max() + step) * 10


@given(numbers, kinds)
def test_a_model_that_goes_on_from_another_is_the_rest_of_a_longer_one(seed, kind):
    X, y, weight, _ = rows_of(kind, seed)
    both = KINDS[kind](n_estimators=4, max_depth=3).fit(X, y, weight)
    start = both.ensemble_.truncate(2).raw_predict(X)
    rest = KINDS[kind](n_estimators=2, max_depth=3).fit(X, y, weight, init_score=start)
    n_first = 2 * both.ensemble_.n_outputs
    size = size_of(both, y, start, weight)
    for options in ({}, {"standard_error": False}, {"ifa": "tree_shap"}):
        measure = partial(tree_inner, X=X, y=y, sample_weight=weight, per_tree=True, **options)
        expected = measure(both).per_tree[n_first:]
        assert_close(measure(rest, init_score=start).per_tree, expected, size)
    for form in ("symmetric", "paper") if kind == "squared" else ("symmetric",):
        measure = partial(
            unbiased_gain, X_train=X, y_train=y, X_valid=X, y_valid=y, form=form, per_tree=True,
            sample_weight_valid=weight, min_samples=1,
        )  # fmt: skip
        starts = {"init_score_train": start, "init_score_valid": start}
        assert_close(measure(rest, **starts).per_tree, measure(both).per_tree[n_first:], size)


@given(numbers)
def test_with_the_squared_error_starts_may_be_taken_off_the_targets(seed):
    X, y, weight, start = rows_of("squared", seed)
    asked = {"n_estimators": 4, "max_depth": 3, "splitter": "greedy"}
    model = GBTRegressor(**asked).fit(X, y, weight, init_score=start)
    other = GBTRegressor(base_score=0.0, **asked).fit(X, y - start, weight)
    size = size_of(model, y, start, weight)
    judging = [getattr(attributions, name) for name in JUDGING]
    for measure in (*judging, partial(permutation, random_state=0)):
        result, expected = measure(model, X, y, init_score=start), measure(other, X, y - start)
        assert_close(result.values, expected.values, size)
        if getattr(result, "standard_error", None) is not None:
            assert_close(result.standard_error, expected.standard_error, 1e3 * size)
    told = tree_inner(model, X, y, init_score=start, training=(X, y, weight, start)).kurtosis
    expected = tree_inner(other, X, y - start, training=(X, y - start, weight)).kurtosis
    assert_close(told, expected, 1e6 * (1 + expected))


def as_plain(model, start):
    """Return what the plain pages ask of a model, with the starting values as base score."""
    names = ("trees", "loss", "learning_rate", "is_forest", "statistics")
    of_model = {name: getattr(model.ensemble_, name) for name in names}
    return SimpleNamespace(**of_model, base_score=start)


@given(numbers, kinds)
def test_measures_are_those_of_the_plain_pages(seed, kind):
    model, X, y, target, weight, start = fitted(kind, seed)
    result = held_out_gain(model, X, y, sample_weight=weight, init_score=start)
    left, size = weight > 0, size_of(model, target, start, weight)
    of_page, of_rows = as_plain(model, start.reshape(N, -1)[left]), (X[left], target[left])
    assert_close(result.values, plain_held_out_gain(of_page, *of_rows, weight[left]), size)
    expected = error_of_held_out_gain(of_page, *of_rows, weight[left])
    assert_close(result.standard_error, expected, 1e3 * size)
    if start.ndim > 1:
        return  # the other page knows one output
    of_page = as_plain(model, start)
    result = tree_inner(model, X, y, init_score=start)
    assert_close(result.values, plain.tree_inner(of_page, X, target), size)
    result = partial_inner(model, X, y, init_score=start)
    assert_close(result.values, plain.partial_inner(of_page, X, target), size)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_chunks_of_dask_have_their_starting_values(kind):
    dask, da = peer("dask"), peer("dask.array")
    model, X, y, _, weight, start = fitted(kind, 8)
    chunks = (17, 1, 22, 20)
    X_chunks, y_chunks = da.from_array(X, chunks=(chunks, 3)), da.from_array(y, chunks=(chunks,))
    of_start = da.from_array(start, chunks=(chunks, 3)[: start.ndim])
    with dask.config.set(scheduler="synchronous"):
        for measure in (held_out_gain, tree_inner):
            expected = measure(model, X, y, sample_weight=weight, init_score=start)
            for given_start in (start, of_start):
                asked = {"sample_weight": weight, "init_score": given_start}
                result = measure(model, X_chunks, y_chunks, **asked)
                size = size_of(model, y, start, weight)
                assert_close(result.values, expected.values, size)
                assert_close(result.standard_error, expected.standard_error, 1e3 * size)
        starts = {"init_score_train": of_start, "init_score_valid": of_start}
        result = unbiased_gain(model, X_chunks, y_chunks, X_chunks, y_chunks, **starts)
        starts = {"init_score_train": start, "init_score_valid": start}
        expected = unbiased_gain(model, X, y, X, y, **starts)
        assert_close(result.values, expected.values, size)
        if kind == "squared":
            rows = tree_inner_rows(model, X_chunks, y_chunks, init_score=of_start).compute()
            assert_same(rows.values, tree_inner_rows(model, X, y, init_score=start).values)


@pytest.mark.parametrize("kind", ["squared", "three classes"])
def test_linear_models_of_trees_are_fitted_to_what_the_starts_leave(kind):
    """Without raw columns and penalties they are the trees themselves, once the rows are right."""
    X, y, _, start = rows_of(kind, 13)
    model = KINDS[kind](n_estimators=3, max_depth=2, reg_lambda=0.0).fit(X, y, init_score=start)
    asked = {"linear_model": "ols", "raw": False, "rows": "inbag"}
    result = local_mdi(model, X, y, init_score=start, **asked)
    of_trees = model.ensemble_.raw_predict(X, init_score=np.zeros(start.shape))
    assert_close(result.model_prediction, of_trees, 9)
    assert_close(result.surrogate_prediction, of_trees, 1e4)
    with pytest.raises(ValueError, match="not what the model was fitted on"):
        local_mdi(model, X, y, init_score=start + 1 + np.arange(start.size).reshape(start.shape))
    if kind == "squared":
        other = GreedyRegressor(3, max_depth=2, reg_lambda=0.0, base_score=0.0).fit(X, y - start)
        expected = local_mdi(other, X, y - start)
        assert_close(local_mdi(model, X, y, init_score=start).values, expected.values, 1e6)


@pytest.mark.parametrize("cv", [3, None])
@pytest.mark.parametrize("measure", ["held_out_gain", "given_others"])
def test_the_selector_gives_rows_their_starting_values(measure, cv):
    """It fits and judges what the starts leave, so it selects by these differences."""
    X, y, weight, start = rows_of("squared", 14)
    asked = {"cv": cv, "random_state": 1}
    weights = {"sample_weight": weight}
    if measure == "given_others":  # which takes no weights
        plain = GreedyRegressor(4, max_depth=2, base_score=0.0)
        asked["measure"], weights = partial(given_others, regressor=plain), {}
    models = [GreedyRegressor(4, base_score=base) for base in (None, 0.0)]
    result = HeldOutSelector(models[0], **asked).fit(X, y, init_score=start, **weights)
    expected = HeldOutSelector(models[1], **asked).fit(X, y - start, **weights)
    assert_close(result.attribution_.values, expected.attribution_.values, 1e4)
    assert_close(result.p_values_, expected.p_values_, 1e6)
    assert_same(result.support_, expected.support_)


@pytest.mark.parametrize("kind", ["two classes", "three classes", "poisson"])
def test_for_given_others_a_start_that_all_rows_share_is_the_base_score(kind):
    """Of the model, and of every fit without a column."""
    X, y, *_ = rows_of(kind, 15)
    regressor = GreedyRegressor(4, max_depth=2)
    asked, half = {"n_estimators": 3, "max_depth": 2}, N // 2
    model = KINDS[kind](**asked).fit(X[:half], y[:half])
    start = np.tile(model.ensemble_.base_score, (half, 1)).squeeze()
    other = KINDS[kind](**asked).fit(X[:half], y[:half], init_score=start)
    measure = partial(given_others, X=X[half:], y=y[half:], regressor=regressor)
    result = measure(other, training=(X[:half], y[:half], None, start), init_score=start)
    expected = measure(model, training=(X[:half], y[:half]))
    assert_close(result.values, expected.values, 1e4)
    assert_close(result.standard_error, expected.standard_error, 1e4)


def test_given_others_wants_starts_of_the_fit_and_of_the_judges_or_none():
    model, X, y, _, _, start = fitted("squared", 17)
    for training, beside in (((X, y, None, start), {}), ((X, y), {"init_score": start})):
        with pytest.raises(ValueError, match="for the rows of the fit only, or for those that"):
            given_others(model, X, y, training=training, regressor=model, **beside)


@pytest.mark.parametrize("name", [*JUDGING, "permutation", "unbiased_gain"])
def test_measures_without_the_starting_values_are_refused(name):
    model, X, y, *_ = fitted("squared", 9)
    with pytest.raises(ValueError, match="was fitted with starting values"):
        MEASURES[name](model, X, y, (X, y))


@pytest.mark.filterwarnings("default::attributions.inputs.SeenRowsWarning")
@pytest.mark.parametrize("kind", ["squared", "two classes"])
def test_rows_of_training_are_told_of_a_model_that_does_not_remember_them(kind):
    model, X, _, target, weight, start = fitted(kind, 10)
    of_file = replace(model.ensemble_, seen_rows=None)
    without_counts = replace(
        of_file,
        n_samples=np.zeros_like(of_file.n_samples),
        statistics=of_file.statistics - {"counts"},
    )
    for ensemble in (of_file, without_counts):
        with pytest.warns(SeenRowsWarning):
            held_out_gain(ensemble, X, target, sample_weight=weight, init_score=start)
