"""Cox's loss: against its page, by hand, against XGBoost; the forms of its targets, and fits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbt
from gbt import GBTRegressor
from gbt.losses import Cox
from gbt.losses.survival.times import bounds_of
from gbt.reference import survival as page
from tests.asserts import assert_close, assert_same, peer
from tests.greedy import GreedyRegressor

rows_of_ties = st.lists(
    st.tuples(
        st.integers(0, 5), st.booleans(), st.integers(-3, 3), st.integers(1, 3), st.floats(-2, 2)
    ),
    min_size=1,
    max_size=9,
)


def arrays(rows):
    """Return y (n, 2), raw predictions with ties, weights, and any other numbers."""
    time, event, f, weight, other = np.array(rows, dtype=float).T
    return np.column_stack([time, event]), f, weight, other


def table(n=300, seed=0):
    """Draw measurements with gaps, and times that the first two shorten."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    time = rng.exponential(np.exp(-X[:, 0] - (X[:, 1] > 0.3)))
    X[rng.random(X.shape) < 0.1] = np.nan
    end = rng.exponential(1.5, size=n)
    return X, np.column_stack([np.minimum(time, end), time <= end])


def signed(y):
    return np.where(y[:, 1] == 1, y[:, 0], -y[:, 0])


def fitted(loss="cox", **parameters):
    X, y = table()
    asked = {"n_estimators": 12, "max_depth": 3, "splitter": "greedy", **parameters}
    return GBTRegressor(loss=loss, **asked).fit(X, y), X, y


def test_three_rows_by_hand():
    """Events at 1 and 2; hazards 1, 2 and 3, of which 6 and then 5 are at risk."""
    y, f = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 0.0]]), np.log([1.0, 2.0, 3.0])
    expected = [1 / 6, 2 / 6 + 2 / 5, 3 / 6 + 3 / 5]
    gradient, hessian = Cox().gradient_hessian(y, f)
    np.testing.assert_allclose(gradient, np.subtract(expected, [1, 1, 0]), rtol=1e-14)
    np.testing.assert_allclose(hessian, expected, rtol=1e-14)
    np.testing.assert_allclose(Cox().value(y, f), [np.log(6), np.log(5 / 2), 0], rtol=1e-14)


@given(rows_of_ties)
def test_loss_derivatives_and_concordance_are_those_of_the_page(rows):
    y, f, weight, _ = arrays(rows)
    prepared = Cox().prepared(y, weight)
    np.testing.assert_allclose(
        Cox().value(prepared, f), page.cox_loss(y, f, weight), rtol=1e-12, atol=1e-13
    )
    of_page = page.cox_derivatives(y, f, weight)
    for ours, expected in zip(Cox().gradient_hessian(prepared, f), of_page, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-13)
    try:
        expected = page.concordance(bounds_of(y), f, weight, np.ones(len(y)))
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="not defined"):
            Cox().score(y, f, weight)
    else:
        assert Cox().score(y, f, weight) == pytest.approx(expected, abs=1e-12)


@given(rows_of_ties)
def test_derivatives_are_those_of_the_summed_value(rows):
    y, f, weight, slope = arrays(rows)
    loss, n, step = Cox(is_newton=True), len(y), 1e-4
    prepared = loss.prepared(y, weight)

    def total(f):
        return weight @ loss.value(prepared, f)

    gradient, hessian = loss.gradient_hessian(prepared, f)
    for i in range(n):
        move = step * np.eye(n)[i]
        slope_of_total = (total(f + move) - total(f - move)) / (2 * step)
        assert weight[i] * gradient[i] == pytest.approx(slope_of_total, abs=1e-5)
        bend = (total(f + move) - 2 * total(f) + total(f - move)) / step**2
        assert weight[i] * hessian[i] == pytest.approx(bend, abs=1e-4)
    assert weight @ gradient == pytest.approx(0, abs=1e-12)

    def inner(w):
        return (w * slope) @ page.cox_derivatives(y, f, w)[0]

    through = loss.through_others(prepared, f, slope)
    for i in range(n):
        move = step * np.eye(n)[i]
        of_row = (inner(weight + move) - inner(weight - move)) / (2 * step)
        assert slope[i] * gradient[i] + through[i] == pytest.approx(of_row, abs=1e-5)
    assert weight @ through == pytest.approx(0, abs=1e-10)


def test_hazards_far_apart_stay_finite():
    y = np.column_stack([np.arange(4.0), np.ones(4)])
    for f in (np.array([900.0, -900.0, 0.0, 3.0]), np.array([-900.0, 900.0, 900.0, 1e9])):
        for part in (Cox().value(y, f), *Cox().gradient_hessian(y, f)):
            assert np.isfinite(part).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_nodes_keep_the_sums_of_the_pages_derivatives(weighted):
    X, y = table(80)
    weight = np.random.default_rng(2).integers(1, 4, 80).astype(float) if weighted else np.ones(80)
    model = GreedyRegressor(loss="cox", n_estimators=3, max_depth=2)
    ensemble = model.fit(X, y, weight).ensemble_
    assert ensemble.base_score == 0
    f = np.zeros(80)
    for m, tree in enumerate(ensemble.trees):
        g, h = page.cox_derivatives(y, f, weight)
        leaves = ensemble.apply(X)[:, m]
        for t in np.unique(leaves):
            own = leaves == t
            assert tree.sum_gradient[t] == pytest.approx((weight * g)[own].sum(), abs=1e-10)
            assert tree.sum_hessian[t] == pytest.approx((weight * h)[own].sum(), rel=1e-10)
        f = f + tree.value[leaves]
    assert_close(model.predict(X), f, 1 + abs(f))
    again = ensemble.refit_statistics(X, y, weight)
    assert_close(again.sum_gradient, ensemble.sum_gradient, 80.0 + 0 * again.gain)


@pytest.mark.parametrize("loss", ["cox", "aft"])
def test_integer_weights_are_repeated_rows(loss):
    X, y = table(120)
    y = y if loss == "cox" else bounds_of(y)
    weight = np.random.default_rng(1).integers(0, 4, 120)
    asked = {"loss": loss, "n_estimators": 8, "max_depth": 3, "splitter": "greedy"}
    one = GBTRegressor(**asked).fit(X, y, weight)
    other = GBTRegressor(**asked).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0))
    assert_same(one.ensemble_.feature, other.ensemble_.feature)
    assert_close(one.predict(X), other.predict(X), 10.0)
    assert one.score(X, y, weight) == pytest.approx(
        other.score(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0)), abs=1e-12
    )


def test_xgboost_grows_the_same_trees():
    """Without ties, whose risk sets XGBoost takes one row at a time, and with its own hessian."""
    xgboost = peer("xgboost")
    ours, X, y = fitted(Cox(is_newton=True), n_estimators=30)
    theirs = xgboost.train(
        {"objective": "survival:cox", "eta": 0.1, "max_depth": 3, "tree_method": "exact",
         "base_score": 1.0},
        xgboost.DMatrix(X, signed(y)), 30,
    )  # fmt: skip
    margin = theirs.predict(xgboost.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(ours.predict(X), margin, atol=3e-6)
    assert np.ptp(margin) > 1


def test_all_forms_of_targets_are_one():
    X, y = table(100)
    structured = np.empty(100, dtype=[("dead", bool), ("days", float)])
    structured["dead"], structured["days"] = y[:, 1], y[:, 0]
    frame = pd.DataFrame({"days": y[:, 0], "dead": y[:, 1].astype(bool)})
    forms = [y, y.tolist(), structured, frame, signed(y), pd.Series(signed(y))]
    models = [GreedyRegressor(loss="cox", n_estimators=4).fit(X, form) for form in forms]
    for model, form in zip(models, forms, strict=True):
        assert_same(model.predict(X), models[0].predict(X))
        assert model.score(X, form) == models[0].score(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.where(np.arange(60)[:, None] == 7, -1.0, y), "in row 7 the time -1; .*negat"),
        (lambda y: np.where(np.arange(60)[:, None] == 7, [[np.nan, 1]], y), "row 7 the time nan"),
        (lambda y: y * np.array([1, 0]), "no event: all 60 rows are censored"),
        (lambda y: y + np.array([0, 1]), "in row [01] 2 for whether the event came"),
        (lambda y: np.column_stack([y[:, 1], 2 + y[:, 0]]), r"event\. .* swapped\.$"),
        (lambda y: np.append(0.0, signed(y)[1:]), "is 0 in row 0: a time of 0 has no sign"),
        (lambda y: np.column_stack([y, y]), "shape .60, 4.*structured array"),
        (lambda y: y.astype(str).astype(object) + "x", "are numbers: give a structured"),
        (lambda y: y[1:], "59 targets.* 60"),
    ],
)
def test_bad_targets_are_named(change, message):
    X, y = table(60)
    model = GreedyRegressor(loss="cox", n_estimators=2)
    with pytest.raises(ValueError, match=message):
        model.fit(X, change(y))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: .*" + message):
        model.fit(X, y, eval_set=[(X, change(y))])


def test_early_stopping_watches_the_mean_loss_of_other_rows():
    X, y = table(400)
    weight = np.random.default_rng(3).integers(1, 4, 100)
    model = GreedyRegressor(loss="cox", n_estimators=300, max_depth=2, early_stopping_rounds=5)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:], weight)])
    assert 5 < model.best_iteration_ < 290
    losses = model.evals_result_["eval_0"]
    f = model.predict(X[300:])
    expected = np.average(page.cox_loss(y[300:], f, weight), weights=weight)
    assert losses[model.best_iteration_] == pytest.approx(expected, rel=1e-10)
    held_out = GBTRegressor(loss="cox", early_stopping_rounds=5, random_state=0).fit(X, y)
    assert held_out.score(X, y) > 0.7


def test_words_files_and_unknown_places(tmp_path):
    X, y = table(200)
    risky = X[:, 1] > 0.3
    frame = pd.DataFrame({"x": X[:, 0], "ward": pd.Categorical(np.where(risky, "a", "b"))})
    model = GBTRegressor(loss=Cox(is_newton=True), n_estimators=5, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.6
    model.save(tmp_path / "model.json")
    again = gbt.load(tmp_path / "model.json")
    assert again.ensemble_.loss == Cox(is_newton=True)
    assert_same(again.predict(frame), model.predict(frame))


def test_rows_in_chunks_are_refused():
    pytest.importorskip("dask")
    import dask.array as da

    X, y = table(60)
    with pytest.raises(ValueError, match=r"loss='cox' is not .* all rows at risk"):
        GreedyRegressor(loss="cox").fit(da.from_array(X, chunks=(30, 4)), y)
