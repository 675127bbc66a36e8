"""Accelerated failure time: against its page, by hand, against XGBoost; bounds, and fits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbt
from gbt import GBTRegressor
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


def table(n=300, seed=0, last=np.inf):
    """Draw measurements with gaps, and bounds of every kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    time = np.exp(X[:, 0] + (X[:, 1] > 0.3) + 0.5 * rng.normal(size=n))
    X[rng.random(X.shape) < 0.1] = np.nan
    visit, kind = rng.exponential(3.0, size=n), rng.integers(4, size=n)
    before = np.where(time <= visit, 0.0, visit)
    after = np.where(time <= visit, visit, INF)
    wide = np.floor(time), np.floor(time) + 1
    lower = np.choose(kind, [time, time, before, wide[0]])
    upper = np.choose(kind, [time, time, after, wide[1]])
    return X, np.column_stack([lower, upper])


def fitted(loss="aft", **parameters):
    X, y = table()
    asked = {"n_estimators": 12, "max_depth": 3, "splitter": "greedy", **parameters}
    return GBTRegressor(loss=loss, **asked).fit(X, y), X, y


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
    assert_same(
        Aft(law, scale).gradient_hessian(y, np.stack([f, f]))[0][1], of_one(law, scale, y, f)
    )


def of_one(law, scale, y, f):
    return Aft(law, scale).gradient_hessian(y, f)[0]


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


@laws
@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_xgboost_grows_the_same_trees_and_has_the_same_loss(law, scale):
    """With its clipped derivatives: at a scale of 0.25 hessians of a normal law would be 16.

    Times are pulled together, because XGBoost's derivatives are wrong where the probability of an
    interval is below 1e-14 or so.
    """
    xgboost = peer("xgboost")
    X, y = table()
    y = y**0.2
    asked = {"n_estimators": 20, "max_depth": 3, "base_score": 1.0, "splitter": "greedy"}
    ours = GBTRegressor(loss=Aft(law, scale, is_newton=True), **asked).fit(X, y)
    rows = xgboost.DMatrix(X, label_lower_bound=y[:, 0], label_upper_bound=y[:, 1])
    evals_result = {}
    theirs = xgboost.train(
        {"objective": "survival:aft", "aft_loss_distribution": law, "eta": 0.1, "max_depth": 3,
         "aft_loss_distribution_scale": scale, "tree_method": "exact", "base_score": 1.0,
         "eval_metric": "aft-nloglik"},
        rows, 20, evals=[(rows, "rows")], evals_result=evals_result, verbose_eval=False,
    )  # fmt: skip
    np.testing.assert_allclose(ours.predict(X), theirs.predict(rows), rtol=1e-5)
    assert np.ptp(ours.predict(X)) > 0.3
    raw = np.log(ours.predict(X))
    by_us = Aft(law, scale).value(y, raw).mean()
    assert by_us == pytest.approx(evals_result["rows"]["aft-nloglik"][-1], rel=1e-5)


def test_all_forms_of_targets_are_one():
    X, _ = table(100)
    rng = np.random.default_rng(1)
    time, event = rng.exponential(size=100), rng.random(100) < 0.6
    structured = np.empty(100, dtype=[("dead", bool), ("days", float)])
    structured["dead"], structured["days"] = event, time
    bounds = np.column_stack([time, np.where(event, time, INF)])
    forms = [
        bounds, bounds.tolist(), structured, np.where(event, time, -time),
        pd.DataFrame(bounds, columns=["low", "high"]),
        np.where(np.isinf(bounds), -1, bounds),  # as CatBoost has it
    ]  # fmt: skip
    models = [GreedyRegressor(loss="aft", n_estimators=4).fit(X, form) for form in forms]
    for model, form in zip(models, forms, strict=True):
        assert_same(model.predict(X), models[0].predict(X))
        assert model.score(X, form) == models[0].score(X, bounds)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((3.0, 1.0), "row 7 the bounds 3 and 1; the lower one must not be above.*np.where"),
        ((-3.0, 1.0), "row 7 the bounds -3 and 1; times must not be negative"),
        ((np.nan, 1.0), "row 7 the bounds nan and 1; a bound that is not known is 0 or infinity"),
        ((INF, INF), "row 7 the bounds inf and inf; the lower one must be finite"),
        ((0.0, 0.0), "row 7 an event at time 0"),
    ],
)
def test_bad_bounds_are_named(row, message):
    X, y = table(60)
    wrong = np.where(np.arange(60)[:, None] == 7, row, y)
    model = GreedyRegressor(loss="aft", n_estimators=2)
    with pytest.raises(ValueError, match=message):
        model.fit(X, wrong)
    with pytest.raises(ValueError, match=r"eval_set\[0\]: .*" + message):
        model.fit(X, y, eval_set=[(X, wrong)])


def test_what_no_time_fits_and_other_parameters_are_refused():
    X, y = table(60)
    model = GreedyRegressor(loss="aft", n_estimators=2)
    with pytest.raises(ValueError, match="no row with an upper bound: no event"):
        model.fit(X, np.column_stack([y[:, 0], np.full(60, INF)]))
    with pytest.raises(ValueError, match="no row with an lower bound"):
        model.fit(X, np.column_stack([np.zeros(60), y[:, 0] + 1]))
    with pytest.raises(ValueError, match="predicts times above 0; got base_score=-1"):
        GBTRegressor(loss="aft", base_score=-1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"distribution must be one of .*; got 'weibull'"):
        Aft("weibull")
    with pytest.raises(ValueError, match="scale must be a number"):
        Aft(scale=0.0)


def test_early_stopping_words_files_and_other_splitters(tmp_path):
    X, y = table(600)
    frame = pd.DataFrame({"x": X[:, 0], "ward": pd.Categorical(np.where(X[:, 1] > 0.3, "a", "b"))})
    loss = Aft("logistic", np.float32(0.5))
    model = GBTRegressor(loss=loss, n_estimators=300, early_stopping_rounds=5, random_state=0)
    model.fit(frame[:400], y[:400], eval_set=[(frame[400:], y[400:])])
    assert 2 < model.best_iteration_ < 290
    expected = page.aft_loss(y[400:], np.log(model.predict(frame[400:])), "logistic", 0.5).mean()
    assert model.evals_result_["eval_0"][model.best_iteration_] == pytest.approx(expected)
    assert model.score(frame[400:], y[400:]) > 0.75
    model.save(tmp_path / "model.json")
    again = gbt.load(tmp_path / "model.json")
    assert again.ensemble_.loss == loss
    assert_same(again.predict(frame), model.predict(frame))


def test_rows_in_chunks_give_the_same_model():
    pytest.importorskip("dask")
    import dask.array as da

    model, X, y = fitted()
    for targets in (y, da.from_array(y, chunks=(100, 2))):
        shared = GreedyRegressor(loss="aft", n_estimators=12, max_depth=3)
        shared.fit(da.from_array(X, chunks=(100, 4)), targets)
        assert_same(shared.ensemble_.value, model.ensemble_.value)


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
