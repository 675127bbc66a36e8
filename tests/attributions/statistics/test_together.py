"""Intervals of all features that hold together, beside the adjusted p-values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attributions import GlobalAttribution
from attributions.statistics.together import (
    ABOVE,
    BELOW,
    BEYOND_0,
    FOR_FOUND,
    MOST_FEATURES,
    StepDown,
    draw_scores,
)
from tests.asserts import assert_same


def result_of(values, n=10_001, moments=None, **fields):
    """Return a result with standard errors of 1."""
    names = [f"x{k}" for k in range(len(values))]
    return GlobalAttribution(
        values, np.ones(len(values)), n, names, "held_out_gain", second_moments=moments, **fields
    )


def far_end(m, alpha, n=10_001, products=None):
    """Return how far below its value, in errors, the interval of each of m features at 0 ends."""
    return -StepDown.of(np.zeros(m), n, 1.0, draw_scores(products)).lower_ends(alpha)[0]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_largest_of_normal_numbers_that_vary_together(share):
    """By scipy's integral of the normal density of several variables."""
    products = share + (1 - share) * np.eye(4)
    normal = stats.multivariate_normal(cov=products)
    for alpha in (0.04, 0.01):
        end = far_end(4, alpha, 10**6, 9.0 * products)
        assert 1 - normal.cdf([end] * 4) == pytest.approx(alpha, rel=0.1)


def test_one_feature_and_copies_of_it():
    """One feature has Student's quantile; ten that are the same need no more, but for chance."""
    expected = stats.t(20).ppf(0.96)
    assert far_end(1, 0.04, 21) == pytest.approx(expected)
    assert far_end(10, 0.04, 21, np.ones((10, 10))) == pytest.approx(expected, rel=0.03)


def test_steps_by_hand():
    """Three features, of which t is not known to vary together, at 95 %: c = 0.04 below."""
    normal = stats.t(10**6).ppf
    first, second, third = (
        normal(1 - 0.04 * part / m) for part, m in ((1, 3), (11 / 12, 2), (10 / 12, 1))
    )
    assert [first, second, third] == pytest.approx([2.216, 2.089, 1.834], abs=1e-3)
    near = normal(1 - 0.01 / 3)
    for t, ends in (
        ([6.0, 2.15, 1.8], [6.0 - near, BEYOND_0, 1.8 - third]),
        ([6.0, 2.05, 1.8], [6.0 - near, 2.05 - second, 1.8 - second]),
        ([2.2, 2.15, 1.9], np.array([2.2, 2.15, 1.9]) - first),
        ([2.3, 2.15, 1.9], [BEYOND_0] * 3),
    ):
        values = np.array(t)
        result = result_of(values, 10**6 + 1)
        low, high = result.confidence_interval(simultaneous=True).T
        np.testing.assert_allclose(low, ends, atol=1e-9)
        np.testing.assert_allclose(high, values + normal(1 - 0.01 / 3), atol=1e-9)
        assert_same(result.p_values(adjust="joint") <= 0.05, low > 0)


@given(st.integers(1, 8), st.integers(2, 40), st.floats(0.5, 0.999), st.integers(0, 99))
def test_p_values_say_what_intervals_say(p, n, level, seed):
    """Also of fewer rows than features."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    moments = rows.T @ rows if seed % 2 else None
    result = result_of(rng.normal(size=p) * 4, n, moments)
    low, high = result.confidence_interval(level, simultaneous=True).T
    p_values = result.p_values(adjust="joint")
    assert_same(p_values <= 1 - level, (low > 0) | (high < 0))
    alone = result.p_values(adjust=None)
    assert (p_values[result.values > 0] >= alone[result.values > 0]).all()


def test_where_nothing_is_known_of_how_features_vary_bonferroni_holds():
    values = np.array([3.0, 2.0, -3.0, 0.0])
    first, second = stats.t(10_000).sf([3.0, 2.0])
    second = 3 * second / (1 - FOR_FOUND / 4)
    expected = [4 * first / BELOW, second / BELOW, 4 * first / ABOVE, 1.0]
    np.testing.assert_allclose(result_of(values).p_values(adjust="joint"), expected)
    many = np.zeros(MOST_FEATURES + 1)
    rows = np.random.default_rng(0).normal(size=(50, len(many)))
    known, unknown = (result_of(many, contributions=c) for c in (rows, None))
    assert_same(*(r.confidence_interval(simultaneous=True) for r in (known, unknown)))


def test_far_beyond_all_draws_the_bound_takes_over():
    far = result_of(np.array([12.0, 0.0]), moments=np.eye(2)).p_values(adjust="joint")[0]
    assert far == pytest.approx(2 * stats.t(10_000).sf(12.0) / BELOW)


def test_rows_groups_and_sums_of_features_know_how_they_vary_together():
    """Contributions say what second moments say; of groups there are fewer draws."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 5))
    centred = rows - rows.mean(axis=0)
    of_rows = result_of(np.zeros(5), 60, contributions=rows)
    of_moments = result_of(np.zeros(5), 60, centred.T @ centred)
    of_neither = result_of(np.zeros(5), 60)
    width = [np.ptp(r.confidence_interval(simultaneous=True)[0]) for r in (of_rows, of_moments)]
    assert width[0] == pytest.approx(width[1], rel=1e-6)
    assert width[0] < 0.9 * np.ptp(of_neither.confidence_interval(simultaneous=True)[0])
    groups = result_of(np.zeros(5), 60, centred.T @ centred, groups=np.arange(8))
    assert np.ptp(groups.confidence_interval(simultaneous=True)[0]) > 1.2 * width[0]
    one = of_moments.grouped({"all": of_moments.feature_names})
    t = stats.t(59).ppf([0.96, 0.99]).sum() * one.standard_error[0]
    assert np.ptp(one.confidence_interval(simultaneous=True)) == pytest.approx(t)


def test_what_there_is_not():
    result = result_of(np.zeros(2))
    with pytest.raises(ValueError, match=r"method='bootstrap-t' has no simultaneous intervals"):
        result.confidence_interval(method="bootstrap-t", simultaneous=True)
    with pytest.raises(ValueError, match=r"adjust='holm'; use 'joint' or None"):
        result.p_values(adjust="holm")
