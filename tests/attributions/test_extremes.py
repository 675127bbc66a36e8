"""Targets of any size: results for y 2^k are those for y, digit by digit, or are refused in words.

A power of two changes no digit of a float64, so that everything that is a sum of products of
targets, or a ratio of such sums, changes by a power of two or not at all. What must not happen is
that squares, which standard errors are made of, are infinite or 0: then noise is significant, or
nothing is.
"""

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attributions import (
    GlobalAttribution,
    forest_inner,
    given_others,
    held_out_gain,
    partial_inner,
    permutation,
    tree_inner,
    tree_inner_pairs,
    tree_inner_rows,
    unbiased_gain,
)
from attributions.statistics.row_sums import RowSums
from gbt import GBTRegressor
from tests.asserts import assert_same, peer
from tests.greedy import GreedyRegressor

LEAST, MOST = -460, 480  # of k; beyond that gains, which are squares, do not fit into float64
RNG = np.random.default_rng(0)
N = 120
X = np.column_stack([RNG.normal(size=(2 * N, 4)), np.zeros(2 * N)])  # the last is never used
Y = 5 * X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=2 * N)
OLD, NEW = slice(None, N), slice(N, None)
GROUPS = np.arange(N) // 4


def halves(measure, *_args, **options):
    """Merge the results of two halves of the rows, which are rows of ten blocks in one call."""

    def merged(model, rows, y):
        parts = np.array_split(np.arange(len(y)), 3)
        results = [measure(model, rows[part], y[part], **options) for part in parts]
        return results[0].merge(results[1]).merge(results[2])

    return merged


def of_rows(model, rows, y):
    return GlobalAttribution.from_rows(tree_inner_rows(model, rows, y))


def in_chunks(model, rows, y):
    array = peer("dask.array")
    return permutation(
        model, array.from_array(rows, chunks=(50, -1)), array.from_array(y, chunks=50), n_repeats=2,
        random_state=0,
    )  # fmt: skip


MEASURES = {
    **{of.__name__: of for of in (tree_inner, partial_inner, forest_inner, held_out_gain)},
    "groups": partial(tree_inner, groups=GROUPS),
    "merged": halves(tree_inner),
    "merged, partial": halves(partial_inner),
    "rows": of_rows,
    "pairs": tree_inner_pairs,
    "permutation": partial(permutation, n_repeats=2, random_state=0),
    "permutation, groups": partial(permutation, n_repeats=2, random_state=0, groups=GROUPS),
    "permutation in chunks": in_chunks,
}


@cache
def model_of(k, splitter):
    return GBTRegressor(
        n_estimators=8, max_depth=3, splitter=splitter, random_state=0
    ).fit(X[OLD], np.ldexp(Y[OLD], k))  # fmt: skip


@cache
def result_of(name, k, splitter="greedy"):
    return MEASURES[name](model_of(k, splitter), X[NEW], np.ldexp(Y[NEW], k))


EXPONENTS = st.one_of(
    st.integers(LEAST, MOST), st.sampled_from([LEAST, -340, -100, 100, 260, MOST])
)


@settings(max_examples=25)
@given(EXPONENTS, st.sampled_from(["greedy", "cross_validated", "unbiased"]))
def test_models(k, splitter):
    model, expected = model_of(k, splitter).ensemble_, model_of(0, splitter).ensemble_
    for name in ("feature", "threshold", "left", "n_samples", "sum_hessian"):
        assert_same(getattr(model, name), getattr(expected, name))
    for name, power in (("sum_gradient", 1), ("value", 1), ("gain", 2)):
        assert_same(getattr(model, name), np.ldexp(getattr(expected, name), power * k))


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15)
@given(EXPONENTS)
def test_measures(name, k):
    result, expected = result_of(name, k), result_of(name, 0)
    assert (expected.standard_error > 0).sum() >= 3
    assert_same(result.values, np.ldexp(expected.values, 2 * k))
    assert_same(result.standard_error, np.ldexp(expected.standard_error, 2 * k))
    if isinstance(result, GlobalAttribution):
        assert_same(result.p_values(), expected.p_values())
        assert_same(result.normalized(2), expected.normalized(2))


@settings(max_examples=15)
@given(EXPONENTS)
def test_what_is_made_of_higher_powers(k):
    """The kurtosis has fourth powers of contributions, eighth powers of targets."""
    y, expected = np.ldexp(Y, k), tree_inner(model_of(0, "greedy"), X[NEW], Y[NEW], training=(X, Y))
    found = tree_inner(model_of(k, "greedy"), X[NEW], y[NEW], training=(X, y))
    assert_same(found.kurtosis, expected.kurtosis)
    assert expected.kurtosis[0] > 1
    interval = [result_of("rows", e).confidence_interval(method="bootstrap-t") for e in (0, k)]
    assert_same(interval[1], np.ldexp(interval[0], 2 * k))


@settings(max_examples=15)
@given(EXPONENTS)
def test_unbiased_gain(k):
    found, expected = (
        unbiased_gain(model_of(e, "greedy"), X[OLD], y[OLD], X[NEW], y[NEW])
        for e, y in ((k, np.ldexp(Y, k)), (0, Y))
    )
    assert_same(found.values, np.ldexp(expected.values, 2 * k))
    assert_same(found.standard_error, np.ldexp(expected.standard_error, 2 * k))


@pytest.mark.parametrize("k", [-440, -200, 150, MOST])
def test_given_others(k):
    few = GreedyRegressor(n_estimators=5, max_depth=2)
    found, expected = (
        given_others(
            model_of(e, "greedy"), X[NEW], np.ldexp(Y[NEW], e),
            training=(X[OLD], np.ldexp(Y[OLD], e)), regressor=few,
        )
        for e in (k, 0)
    )  # fmt: skip
    assert_same(found.p_values(), expected.p_values())


@given(st.integers(-1000, 1000), st.integers(2, 12), st.data())
def test_blocks_of_rows_of_any_size(k, n, data):
    """Squares of numbers far beyond the root of float64, and columns of other sizes beside them."""
    numbers = data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    rows = np.array(numbers, dtype=float)[:, np.newaxis] * [1.0, 1.0, 0.0]
    moved = rows * [2.0**k, 1.0, 1.0]
    cut = data.draw(st.integers(1, n - 1))
    found = (RowSums.of(moved[:cut]) + RowSums.of(moved[cut:])).standard_error
    expected = np.sqrt(n * np.var(rows, axis=0, ddof=1))
    np.testing.assert_allclose(np.ldexp(found, [-k, 0, 0]), expected, rtol=1e-12)
    assert_same(found[2], 0.0)


@pytest.mark.parametrize(
    ("factor", "said", "loss"),
    [
        (1e-300, "their squares vanish", None),
        (1e-300, "their squares vanish", "huber"),
        (1e200, "overflow", None),
    ],
)
def test_targets_whose_gains_do_not_fit_are_refused(factor, said, loss):
    with pytest.raises(ValueError, match=f"Sums of gradients .*{said}.* Divide them by a constant"):
        GreedyRegressor(n_estimators=3, loss=loss).fit(X, factor * Y)


@pytest.mark.parametrize("of_groups", [False, True])
@pytest.mark.parametrize("k", [-110, 110, 200])
def test_second_moments_are_in_the_unit_of_contributions(k, of_groups):
    """Contributions of 2^220 and more are squared in a unit of their own, results are not."""
    groups = np.arange(len(X[NEW])) // 2 if of_groups else None
    found, expected = (
        held_out_gain(model_of(e, "greedy"), X[NEW], np.ldexp(Y[NEW], e), groups=groups)
        for e in (k, 0)
    )
    assert_same(found.second_moments, np.ldexp(expected.second_moments, 4 * k))
    together = {"both": ["x0", "x1"]}
    for one, other in (found, expected), (found.grouped(together), expected.grouped(together)):
        assert_same(one.standard_error, np.ldexp(other.standard_error, 2 * k))
        assert_same(one.p_values(adjust="joint"), other.p_values(adjust="joint"))


def test_second_moments_that_do_not_fit_are_left_out_unless_asked_for():
    model, y = model_of(300, "greedy"), np.ldexp(Y[NEW], 300)
    result = held_out_gain(model, X[NEW], y)
    assert result.second_moments is None
    assert np.isfinite(result.confidence_interval(simultaneous=True)[0]).all()
    for measure in (held_out_gain, tree_inner):
        with pytest.raises(ValueError, match="second_moments=True multiplies contributions"):
            measure(model, X[NEW], y, second_moments=True)


def test_sums_that_do_not_fit_are_refused():
    """Rows of other targets than those that a model was fitted to."""
    with pytest.raises(ValueError, match=r"What rows add to tree_inner is not finite.*so large"):
        tree_inner(model_of(MOST, "greedy"), X[NEW], np.sign(Y[NEW]) * 1e200)
