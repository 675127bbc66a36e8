"""Accelerated failure time: against its page and by hand; bounds, and fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from gbt.losses import Aft
from gbt.losses.survival.concordance import concordance, uno_concordance
from gbt.losses.survival.laws import LAWS
from gbt.reference import survival as page
from tests.asserts import assert_same, peer
from tests.greedy import GreedyRegressor

INF = np.inf
laws = pytest.mark.parametrize("law", page.LAWS)
scales = st.sampled_from([0.5, 1.0, 2.5])
intervals = st.one_of(
    st.floats(0.1, 9).map(lambda t: (t, t)),
    st.floats(0.1, 9).map(lambda t: (t, INF)),
    st.floats(0.1, 9).map(lambda t: (0.0, t)),
    st.tuples(st.floats(0.1, 9), st.floats(1.01, 20)).map(lambda of: (of[0], of[0] * of[1])),
)


@pytest.mark.parametrize(
    ("law", "bounds", "f", "value", "gradient", "hessian"),
    [
        ("normal", (1, 1), 1.0, 0.5 + np.log(2 * np.pi) / 2, 1.0, 1.0),
        ("normal", (1, INF), 0.0, np.log(2), -np.sqrt(2 / np.pi), 2 / np.pi),
        ("logistic", (1, 1), 0.0, np.log(4), 0.0, 0.5),
        ("logistic", (0, 1), 0.0, np.log(2), 0.5, 0.25),
        ("logistic", (2, INF), 0.0, np.log(3), -2 / 3, 0.25),  # within the bounds p (1 - p) is 1/4
        ("extreme", (1, 1), 0.0, 1.0, 0.0, 1.0),
        ("extreme", (2, INF), 0.0, 2.0, -2.0, 2.0),
        ("extreme", (2, 2), np.log(4), 0.5 + np.log(4), 0.5, 1.0),  # w is 1/2, at the time itself 1
        ("extreme", (2, 2), 0.0, 2.0, -1.0, 2.0),
    ],
)
def test_one_row_by_hand(law, bounds, f, value, gradient, hessian):
    y, raw = np.array([bounds], dtype=float), np.array([f])
    got = Aft(law).value(y, raw), *Aft(law).gradient_hessian(y, raw)
    np.testing.assert_allclose(np.ravel(got), [value, gradient, hessian], rtol=1e-14, atol=1e-15)


@laws
@given(st.lists(intervals, min_size=1, max_size=5), st.floats(-1.5, 1.5), scales)
def test_values_and_derivatives_are_those_of_the_page(law, rows, off, scale):
    y = np.array(rows)
    f = np.log(np.where(np.isinf(y[:, 1]), y[:, 0], y[:, 1])) + off
    np.testing.assert_allclose(
        Aft(law, scale).value(y, f), page.aft_loss(y, f, law, scale), rtol=1e-9, atol=1e-11
    )
    of_page = page.aft_derivatives(y, f, law, scale)
    gradient, hessian = Aft(law, scale, is_newton=True).gradient_hessian(y, f)
    np.testing.assert_allclose(gradient, np.clip(of_page[0], -15, 15), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(hessian, np.clip(of_page[1], 0, 15), rtol=1e-3, atol=2e-5)
    gradient, _ = Aft(law, scale).gradient_hessian(y, f)
    assert_same(Aft(law, scale).gradient_hessian(y, np.stack([f, f]))[0][1], gradient)


@laws
@given(st.lists(intervals, min_size=1, max_size=5), st.floats(-40, 40), scales)
def test_no_step_raises_the_loss_however_far_the_prediction(law, rows, f, scale):
    """The second derivative alone would send rows of the logistic law e^40 too far."""
    loss, y, raw = Aft(law, scale), np.array(rows), np.full(len(rows), f)
    gradient, hessian = loss.gradient_hessian(y, raw)
    before, after = loss.value(y, raw), loss.value(y, raw - gradient / hessian)
    assert np.isfinite(before).all()
    assert (after <= before + 1e-9 * (1 + abs(before))).all()
    assert (loss.least(y) <= after + 1e-9 * (1 + abs(after))).all()


@laws
def test_the_least_loss_is_reached(law):
    y = np.array([(2.0, 2.0), (2.0, 3.0), (2.0, 40.0), (2.0, INF), (0.0, 2.0)])
    everywhere = np.repeat(np.linspace(-40, 40, 80_001)[:, np.newaxis], 5, axis=1)
    lowest = Aft(law).value(y, everywhere).min(axis=0)
    np.testing.assert_allclose(lowest, Aft(law).least(y), atol=1e-6)


@laws
def test_far_and_narrow_intervals_stay_finite(law):
    y = np.array([(1.0, 1.0), (1.0, 1 + 1e-13), (1e-300, 1e300), (5.0, INF), (0.0, 1e-9), (0, INF)])
    for f in (-1e6, -600.0, 0.0, 600.0, 1e6):
        raw = np.full(len(y), f)
        for part in (Aft(law).value(y, raw), *Aft(law).gradient_hessian(y, raw)):
            assert np.isfinite(part).all()
    narrow, moment = Aft(law).gradient_hessian(y[:2], np.array([0.4, 0.4]))[0]
    assert narrow == pytest.approx(moment, rel=1e-9)


FROM_LOW = {  # of z = low + t: log of the density, less that at low; s = d log density / dz; -s'
    "normal": lambda low, t, z: (-t * (low + t / 2), -z, 1 + 0 * z),
    "logistic": lambda low, t, z: (
        -t - 2 * (np.log1p(np.exp(-z)) - np.log1p(np.exp(-low))),
        -np.tanh(z / 2),
        2 * np.exp(-z) / (1 + np.exp(-z)) ** 2,
    ),
    "extreme": lambda low, t, z: (t - np.exp(low) * np.expm1(t), 1 - np.exp(z), np.exp(z)),
}


def by_quadrature(law, low, high):
    """Return log P, d = mean s and c = mean -s' less the variance of s, within bounds above 0."""
    slope = {"normal": max(low, 5), "extreme": np.exp(min(low, 99))}.get(law, 1.0)
    node, share = np.polynomial.legendre.leggauss(200)
    half = 0.5 * min(high - low, 60 / slope)
    t = half * (node + 1)
    fall, score, bend = FROM_LOW[law](low, t, low + t)
    share = half * share * np.exp(fall)
    d = share @ score / share.sum()
    log_P = LAWS[law].log_density(low) + np.log(share.sum())
    return log_P, d, share @ (bend - (score - d) ** 2) / share.sum()


@laws
@pytest.mark.parametrize("width", [1e-7, 1e-4, 0.1, 3.0, 2000.0])
def test_intervals_far_out_are_those_of_the_definition(law, width):
    for low in (0.01, 2.0, 25.0) if law == "extreme" else (0.01, 2.0, 40.0, 900.0, 1e6):
        high = low + width
        if law == "extreme" and width * np.exp(low) < 1e-4 * low:  # which rounding has cut
            continue
        log_P, d, c = by_quadrature(law, low, high)
        bounds = np.array([low]), np.array([high])
        assert LAWS[law].log_probability(*bounds) == pytest.approx(log_P, rel=1e-8)
        found = LAWS[law].moved(*bounds)
        assert found[0] == pytest.approx(d, rel=1e-7)
        assert found[1] == pytest.approx(c, rel=2e-5, abs=1e-9)
        if law != "extreme":
            turned = -bounds[1], -bounds[0]
            assert LAWS[law].log_probability(*turned) == pytest.approx(log_P, rel=1e-8)
            assert LAWS[law].moved(*turned) == (
                pytest.approx(-d, rel=1e-7),
                pytest.approx(found[1]),
            )


@laws
@pytest.mark.parametrize("n_censored", [0, 3, 5000])
def test_the_best_constant_has_no_slope(law, n_censored):
    """With many rows that outlive all bounds, it lies beyond them."""
    y = np.array([(1.0, 1.0), (0.0, 2.0), (1.0, 4.0)] + [(3.0, INF)] * n_censored)
    weight = np.linspace(1, 2, len(y))
    best = Aft(law).best_constant(y, weight)
    gradient, _ = Aft(law).gradient_hessian(y, np.full(len(y), best))
    assert weight @ gradient == pytest.approx(0, abs=1e-9)
    assert best > np.log(4) or n_censored < 5000


def test_rows_in_chunks_give_the_same_model():
    da = peer("dask.array")
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(300, 4)), rng.exponential(size=300)
    y = np.column_stack([time, np.choose(rng.integers(3, size=300), [time, time + 1, INF])])
    model = GreedyRegressor(loss="aft", n_estimators=12, max_depth=3)
    expected = clone(model).fit(X, y).ensemble_.value
    for targets in (y, da.from_array(y, chunks=(100, 2))):
        model.fit(da.from_array(X, chunks=(100, 4)), targets)
        assert_same(model.ensemble_.value, expected)


# ------------------------------------------------------------------------------------ concordance


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=9),
    st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 3), st.floats(0.5, 2)), min_size=9,
             max_size=9),
)  # fmt: skip
def test_concordance_of_bounds_is_that_of_the_page(rows, others):
    y = np.array([(low, INF if width == 3 else low + width) for low, width in rows])
    risk, weight, of_earlier = np.array(others[: len(y)]).T
    try:
        expected = page.concordance(y, risk, weight, of_earlier)
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="not defined"):
            concordance(y, risk, weight, of_earlier)
    else:
        assert concordance(y, risk, weight, of_earlier) == pytest.approx(expected, abs=1e-12)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.booleans(), st.integers(-3, 3), st.integers(1, 3)),
        min_size=3,
        max_size=9,
    )
)
def test_unos_concordance_is_that_of_the_page(rows):
    time, event, risk, weight = np.array(rows, dtype=float).T
    y = np.column_stack([time, event])
    bounds = np.column_stack([time, np.where(event == 1, time, INF)])
    try:
        expected = page.concordance(bounds, risk, weight, page.uno_weight(y, weight))
    except ZeroDivisionError:
        return
    assert uno_concordance(y, risk, weight) == pytest.approx(expected, abs=1e-12)


def test_uno_undoes_what_censoring_hides_and_harrell_does_not():
    """Hazards cross: the early events are ordered well and the late ones badly."""
    rng = np.random.default_rng(0)
    n = 4000
    risk = rng.normal(size=n)
    time = rng.exponential(size=n)
    time = np.where(time < 0.7, 0.7 * np.exp(-np.exp(risk)), time)
    end = rng.exponential(1.0, size=n)
    whole = np.column_stack([time, np.ones(n)])
    seen = np.column_stack([np.minimum(time, end), time <= end])
    truth = uno_concordance(whole, risk, until=2.0)
    assert uno_concordance(seen, risk, until=2.0) == pytest.approx(truth, abs=0.015)
    bounds = np.column_stack([seen[:, 0], np.where(seen[:, 1] == 1, seen[:, 0], INF)])
    assert concordance(bounds, risk) > truth + 0.03
    with pytest.raises(ValueError, match="All rows are censored before the last event"):
        uno_concordance(seen, risk, y_train=np.where(seen < 1, seen, [0.5, 0]))
