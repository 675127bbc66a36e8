"""Intervals where few rows carry a sum, and the guard that says so."""

import operator
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from attributions import (
    GlobalAttribution,
    LocalAttribution,
    forest_inner,
    partial_inner,
    tree_inner,
)
from attributions.reference import definitions as reference
from attributions.statistics.bootstrap import N_RESAMPLES, symmetric_t
from attributions.statistics.row_sums import RowSums
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_inner import fitted_rows


def rows_of(values):
    values = np.asarray(values, dtype=float)
    names = [f"x{k}" for k in range(values.shape[1])]
    return LocalAttribution(values, np.zeros(len(values)), names, "tree_inner(predecomp)")


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(-3, 9), st.sampled_from([0, 1])), min_size=2, max_size=8))
def test_it_is_its_definition(rows):
    contributions = np.array(rows, dtype=float)
    n = len(rows)
    resamples = np.random.default_rng(5).integers(n, size=(N_RESAMPLES, n))
    for level in (0.5, 0.95):
        expected = reference.symmetric_t(contributions, level, resamples)
        found = symmetric_t(contributions, level, random_state=5)
        assert_same(np.isinf(found), np.isinf(expected))
        finite = np.isfinite(expected)
        if finite.any():
            # A difference of squares: its root has half of the digits.
            squares = expected[finite] ** 2
            assert_close(found[finite] ** 2, squares, 1e3 * (1 + squares))


@pytest.mark.parametrize("level", [0.9005, 0.3337])
def test_the_rank_of_a_level_that_is_no_whole_number_of_resamples(level):
    """Of 999 draws and the table itself 1000 ranks are made: .9005 is the 901st, not the 900th."""
    rng = np.random.default_rng(2)
    contributions = rng.normal(size=(12, 1))  # all t differ
    resamples = np.random.default_rng(5).integers(12, size=(N_RESAMPLES, 12))
    expected = reference.symmetric_t(contributions, level, resamples)
    assert_close(symmetric_t(contributions, level, random_state=5), expected, 1e3 * expected)


def test_resamples_are_seeded():
    result = GlobalAttribution.from_rows(rows_of(np.random.default_rng(0).normal(size=(200, 3))))
    asked = ({}, {"random_state": 0}, {"random_state": 1})
    drawn, again, other = (result.confidence_interval(method="bootstrap-t", **a) for a in asked)
    assert_same(drawn, again)
    assert (other != drawn).all()


def test_a_sum_that_one_row_carries_has_no_bounds():
    values = np.zeros((30, 2))
    values[4, 0] = 1.0
    result = GlobalAttribution.from_rows(rows_of(values))
    interval = result.confidence_interval(method="bootstrap-t")
    assert_same(interval, [[-np.inf, np.inf], [0.0, 0.0]])


def test_groups_are_resampled_whole():
    values = np.random.default_rng(0).normal(size=(60, 1))
    groups = np.repeat(np.arange(20), 3)
    grouped = GlobalAttribution.from_rows(rows_of(values), groups=groups)
    summed = GlobalAttribution.from_rows(rows_of(values.reshape(20, 3).sum(axis=1)[:, np.newaxis]))
    assert_close(grouped.contributions, summed.contributions, 10.0)
    one, other = (r.confidence_interval(method="bootstrap-t") for r in (grouped, summed))
    assert_close(one, other, 1e3)


def test_contributions_are_kept_and_merged():
    values = np.arange(12.0).reshape(6, 2)
    whole = GlobalAttribution.from_rows(rows_of(values))
    halves = [GlobalAttribution.from_rows(rows_of(half)) for half in np.split(values, 2)]
    merged = halves[0].merge(halves[1])
    assert_same(merged.contributions, whole.contributions)
    weighted = GlobalAttribution.from_rows(rows_of(values), sample_weight=[2, 0, 1, 1, 1, 1])
    assert_same(weighted.contributions[:2], [[0, 2], [4, 5]])
    without = replace(halves[1], contributions=None)
    assert halves[0].merge(without).contributions is None


def test_what_cannot_be_done_is_refused():
    ensemble, X, y = fitted_rows(20)
    result = tree_inner(ensemble, X, y)
    with pytest.raises(ValueError, match=r"bootstrap-t needs the contributions.*from_rows"):
        result.confidence_interval(method="bootstrap-t")
    with pytest.raises(ValueError, match="method='percentile'; use 'normal' or 'bootstrap-t'"):
        result.confidence_interval(method="percentile")
    with pytest.raises(ValueError, match=r"training, .* must be a pair \(X, y\).*ndarray"):
        tree_inner(ensemble, X, y, training=X)


# ----------------------------------------------------------------------------------- the guard


@given(st.lists(st.integers(-5, 20), min_size=3, max_size=20), st.data())
def test_moments_of_pieces_merge(numbers, data):
    """Of three: only where merged moments are merged again do third ones enter the kurtosis."""
    rows = np.array(numbers, dtype=float)[:, np.newaxis] * [1.0, 0.0]
    first = data.draw(st.integers(1, len(rows) - 2))
    second = data.draw(st.integers(first + 1, len(rows) - 1))
    pieces = rows[:first], rows[first:second], rows[second:]
    kurtosis = reduce(operator.add, [RowSums.of(rows, higher=True) for rows in pieces]).kurtosis
    assert kurtosis[1] == 0
    if np.ptp(rows[:, 0]) > 0:
        expected = scipy.stats.kurtosis(rows[:, 0], fisher=False)
        assert_close(kurtosis[0], expected, 1e3 * len(rows))
    else:
        assert_close(kurtosis[0], 0.0, 0.0)


@pytest.mark.parametrize("measure", [tree_inner, partial_inner, forest_inner])
def test_training_rows_of_weight_0_do_not_count_in_the_kurtosis(measure):
    ensemble, X, y = fitted_rows(100)
    weight = np.arange(100) % 3.0
    of_all = measure(ensemble, X[:9], y[:9], training=(X, y, weight))
    is_seen = weight > 0
    training = X[is_seen], y[is_seen], weight[is_seen]
    assert_same(of_all.kurtosis, measure(ensemble, X[:9], y[:9], training=training).kurtosis)


def result_of(kurtosis, n_samples=100):
    return GlobalAttribution(
        [3.0, 2.0], [1.0, 1.0], n_samples, ("a", "b"), "tree_inner(predecomp)", kurtosis=kurtosis
    )


def test_the_limit_is_a_tenth_of_the_held_out_rows():
    result = result_of([10.0, 10.001])
    assert_same(result.is_reliable, [True, False])
    assert result_of(None).is_reliable is None
    merged = result.merge(result_of([10.0, 19.0]))
    assert_same(merged.is_reliable, [True, True])
    assert_same(result_of([3.0, 50.0]).merge(result_of([30.0, 4.0])).kurtosis, [30.0, 50.0])
    with pytest.raises(ValueError, match="Only one of the attributions has kurtosis"):
        result.merge(result_of(None))
    assert_same(replace(result, groups=np.arange(99)).is_reliable, [False, False])


def test_what_is_not_reliable_is_said():
    result = result_of([1.0, 50.0])
    assert [line.split()[1::4] for line in repr(result).splitlines()[2:]] == [
        ["a"],
        ["b", "unreliable"],
    ]
    assert_same(result.to_frame()["is_reliable"].to_numpy(), [True, False])
    assert "is_reliable" not in result_of(None).to_frame()
