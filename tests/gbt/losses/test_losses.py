"""Losses of a number: derivatives, best constants, boosting, attributions; losses of one's own."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import gbt
from attributions import permutation, tree_inner, unbiased_gain
from gbt import GBTClassifier, GBTRegressor
from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.loss import mean
from gbt.losses.own import OwnLoss
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.squared_and_logistic import LOSSES
from tests.asserts import assert_close, assert_same
from tests.attributions.measures import JUDGING, MEASURES, judging
from tests.greedy import GreedyRegressor

GIVEN = [
    Poisson(), Poisson(0.7), Gamma(), Gamma(is_newton=True), Tweedie(1.2), SquaredLogError(),
    Quantile(0.8), Absolute(), Huber(0.9), PseudoHuber(0.9),
]  # fmt: skip
each = pytest.mark.parametrize("loss", GIVEN, ids=repr)
every = pytest.mark.parametrize(
    "loss", [*LOSSES.values(), *GIVEN], ids=[*LOSSES, *map(repr, GIVEN)]
)
LOG_2 = np.log(2.0)
SQUARED, LOGISTIC = LOSSES["half_squared_error"], LOSSES["half_logistic"]


class Squared:
    """Half the squared error once more, as a user writes it."""

    def value(self, y, raw_prediction):
        return (y - raw_prediction) ** 2 / 2

    def gradient_hessian(self, y, raw_prediction):
        return raw_prediction - y, np.ones(len(y))

    def link(self, prediction):
        return prediction

    def inverse_link(self, raw_prediction):
        return raw_prediction


class Counts:
    """The Poisson loss once more, as a user writes it."""

    def value(self, y, raw_prediction):
        return np.exp(raw_prediction) - y * raw_prediction

    def gradient_hessian(self, y, raw_prediction):
        predicted = np.exp(raw_prediction)
        return predicted - y, np.maximum(predicted, y)

    def link(self, prediction):
        return np.log(prediction)

    def inverse_link(self, raw_prediction):
        return np.exp(raw_prediction)


own_and_ours = pytest.mark.parametrize(
    ("own", "ours"), [(Squared(), None), (Counts(), "poisson")], ids=["squared error", "poisson"]
)


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.gamma(2.0, np.exp(0.5 * np.nan_to_num(X[:, 0]) - (X[:, 1] > 0.3)))
    return X, y


def fitted(loss, n=400, **parameters):
    X, y = table(n)
    asked = {"n_estimators": 12, "max_depth": 3, "random_state": 0, **parameters}
    return GBTRegressor(loss=loss, **asked).fit(X, y), X, y


@pytest.mark.parametrize(
    ("loss", "y", "f", "value", "gradient", "hessian"),
    [
        (SQUARED, 3.0, 1.0, 2.0, -2.0, 1.0),
        (SQUARED, 1.0, 1.0, 0.0, 0.0, 1.0),
        (Poisson(), 3.0, 0.0, 1.0, -2.0, 3.0),
        (Gamma(), 3.0, 0.0, 3.0, -2.0, 3.0),
        (Tweedie(1.5), 3.0, 0.0, 0.0, -2.0, 2.0),
        (Tweedie(1.5), 0.0, 2 * LOG_2, 2.0, 2.0, 1.0),  # exp(f / 2) = 2
        (Tweedie(1.25), 16.0, 0.0, 0.0, -15.0, 8.0),  # the target's: 16^.75
        (Tweedie(1.25, is_newton=True), 16.0, 0.0, 0.0, -15.0, 4.75),  # .75 + .25 * 16
        (SquaredLogError(), 3.0, 1.0, LOG_2**2 / 2, -LOG_2 / 2, (1 + LOG_2) / 4),
        (SquaredLogError(), 0.0, 7.0, 4.5 * LOG_2**2, 3 * LOG_2 / 8, 1e-6),
        (Quantile(0.8), 3.0, 1.0, 1.6, -0.8, 1.0),
        (Quantile(0.8), 1.0, 3.0, 0.4, 0.2, 1.0),
        (Quantile(0.8), 1.0, 1.0, 0.0, 0.0, 1.0),
        (Absolute(), 1.0, 3.0, 2.0, 1.0, 1.0),
        (Absolute(), 3.0, 3.0, 0.0, 0.0, 1.0),
        (Huber(1.0), 1.0, 4.0, 2.5, 1.0, 1.0),
        (Huber(1.0), 1.0, 0.5, 0.125, -0.5, 1.0),
        (PseudoHuber(3.0), 0.0, 4.0, 6.0, 4 / (5 / 3), 27 / 125),
    ],
)
def test_table(loss, y, f, value, gradient, hessian):
    y, f = np.array([y]), np.array([f])
    assert loss.value(y, f)[0] == pytest.approx(value, abs=4e-15)
    found = loss.gradient_hessian(y, f)
    assert found[0][0] == pytest.approx(gradient, abs=1e-15)
    assert found[1][0] == pytest.approx(hessian, abs=1e-15)


@pytest.mark.parametrize("y", [0.0, 1.0])
@pytest.mark.parametrize("f", [-700.0, -40.0, -1e-9, 0.0, 1e-9, 0.5, 40.0, 700.0])
def test_logistic_against_high_precision(y, f):
    with localcontext(prec=400):
        exact = Decimal(f)
        p = 1 / (1 + (-exact).exp())
        value = (1 + exact.exp()).ln() - Decimal(y) * exact
        expected = [float(value), float(p - Decimal(y)), float(p * (1 - p))]
    y, f = np.array([y]), np.array([f])
    actual = [LOGISTIC.value(y, f), *LOGISTIC.gradient_hessian(y, f)]
    for got, want in zip(actual, expected, strict=True):
        assert got[0] == pytest.approx(want, rel=1e-13, abs=0)


def test_tweedie_is_poisson_at_one_end_and_gamma_at_the_other():
    y, f = np.meshgrid([0.5, 1.0, 7.0], np.linspace(-3, 3, 13))
    for ours, end in (
        (Tweedie(1.0), Poisson()), (Tweedie(1.0, is_newton=True), Poisson(0.0)),
        (Tweedie(2.0), Gamma()), (Tweedie(2.0, is_newton=True), Gamma(is_newton=True)),
    ):  # fmt: skip
        for of_tweedie, expected in zip(ours.derivatives(y, f), end.derivatives(y, f), strict=True):
            assert_close(of_tweedie, expected, (1 + y) * np.exp(np.abs(f)))
        between = ours.value(y, f) - end.value(y, f)  # the same for all predictions of a target
        assert_close(between, between[[0]] + 0 * f, (1 + y) * np.exp(np.abs(f)) + np.abs(f))


def test_the_mean_of_equal_numbers_is_that_number():
    weight = np.random.default_rng(0).gamma(1.0, size=200)
    for number in (1e300, -0.1, 1e-310):
        assert mean(np.full(200, number), weight) == number


def test_far_below_all_targets_the_squared_log_error_is_a_straight_line():
    """From -1 + 1e-6 downwards, a number of float32: 1 more than it is 17 / 2^24."""
    y, edge = np.array([0.0, 3.0]), 17 / 2**24
    r = np.log(edge) - np.log1p(y)
    for f in (edge - 1, -1.0, -3.0):
        loss = SquaredLogError()
        gradient, hessian = loss.gradient_hessian(y, np.full(2, f))
        assert gradient == pytest.approx(r / edge, rel=1e-12)
        assert hessian == pytest.approx((1 - r) / edge**2, rel=1e-12)
        expected = r**2 / 2 + (f + 1 - edge) * r / edge
        assert loss.value(y, np.full(2, f)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", [Poisson(), Gamma()], ids=repr)
@given(
    rows=st.lists(
        st.tuples(st.floats(1e-6, 1e6), st.floats(-9, 9), st.floats(0.1, 9)), min_size=1, max_size=9
    )
)
def test_no_step_goes_beyond_where_the_loss_is_least(loss, rows):
    """Of a leaf the best step is log(S / M): there the sum of gradients is 0."""
    y, f, w = np.array(rows).T
    g, h = loss.gradient_hessian(y, f)
    step = -(w @ g) / (w @ h)
    m = np.exp(f)
    seen, predicted = (w * y / m, w) if loss == Gamma() else (w * y, w * m)
    best = np.log(seen.sum() / predicted.sum())
    assert abs(step) <= 1
    assert min(0.0, best) - 1e-9 <= step <= max(0.0, best) + 1e-9


OUTLIERS = [("poisson", top) for top in (50.0, 500.0, 5e3, 5e6, 0.0)]
OUTLIERS += [("gamma", top) for top in (5e3, 5e6, 5e-3, 5e-6)]
OUTLIERS += [(Tweedie(p), top) for p in (1.0, 1.05, 1.5, 1.95) for top in (5e3, 5e6, 0.0)]
OUTLIERS += [(Tweedie(2.0), top) for top in (5e3, 5e6, 5e-6)]


@pytest.mark.parametrize(("loss", "outlier"), OUTLIERS)
def test_one_outlier_does_not_run_away(loss, outlier):
    """Newton's step of one row of 5000 that is predicted as 10 goes to 10 exp(499)."""
    X, y = np.arange(1000.0)[:, np.newaxis], np.full(1000, 5.0)
    y[-1] = outlier
    model = GreedyRegressor(loss=loss).fit(X, y, eval_set=[(X, y)])
    losses = np.array(model.evals_result_["eval_0"])
    assert (np.diff(losses) <= 1e-12 * np.abs(losses[1:])).all()
    predicted = model.predict(X)
    assert y.min() * 0.99 <= predicted.min() <= predicted.max() <= y.max() * 1.01
    # With u = log of target over prediction, u' = -.1 (1 - exp(-u)) a tree: from log(1000) to .044.
    np.testing.assert_allclose(predicted[:-9], 5.0, rtol=0.05)
    if outlier > 0 and loss == "poisson":
        np.testing.assert_allclose(predicted[-1], outlier, rtol=0.05)


@every
@pytest.mark.parametrize("weights", ["one for all", "one a row"])
def test_best_constant_is_where_the_loss_is_least(loss, weights):
    rng = np.random.default_rng(1)
    y = rng.gamma(2.0, size=31)
    y = (y > 1) * 1.0 if loss is LOGISTIC else y
    weight = np.ones(1) if weights == "one for all" else rng.integers(1, 4, 31).astype(float)
    each_weight = np.broadcast_to(weight, 31)

    def mean_loss(f):
        return np.average(loss.value(y, np.full(31, f)), weights=each_weight)

    best = loss.best_constant(y, weight)
    found = minimize_scalar(mean_loss, bounds=(-3, 9), method="bounded", options={"xatol": 1e-10})
    assert mean_loss(best) <= found.fun + 1e-12


@pytest.mark.parametrize("unit", [1e9, 1e-9, 1e-20])
def test_best_constants_have_the_unit_of_the_target(unit):
    y, weight = np.random.default_rng(1).gamma(2.0, size=31), np.ones(1)
    for loss in (Huber, PseudoHuber):
        in_unit = loss(delta=unit).best_constant(unit * y, weight)
        assert_close(in_unit / unit, loss(delta=1.0).best_constant(y, weight), 10.0)


@pytest.mark.parametrize("far", [9.0, 1e13, 1e16, 1e18, 1e300])
def test_best_constant_beside_a_target_far_away(far):
    """Where 1 + (f - 1) + (f - 2) = 1, the gradient of the target that is far away."""
    y = np.array([0.0, 1.0, 2.0, far])
    assert_close(Huber(delta=1.0).best_constant(y, np.ones(1)), 1.5, 3.0)


@pytest.mark.parametrize(
    ("alpha", "y", "weight", "expected"),
    [
        (0.5, [3.0, 1.0, 2.0, 10.0], [1.0], 2.5),
        (0.5, [3.0, 1.0, 2.0], [1.0], 2.0),
        (0.5, [3.0, 1.0, 2.0], [4.0, 1.0, 1.0], 3.0),
        (0.25, [1.0, 2.0, 3.0, 4.0], [1.0], 1.5),
        (0.9, [1.0, 2.0], [1.0], 2.0),
    ],
)
def test_best_constant_of_a_quantile_by_hand(alpha, y, weight, expected):
    assert Quantile(alpha).best_constant(np.array(y), np.array(weight)) == expected


@every
def test_link_its_inverse_and_several_trees_at_once(loss):
    assert loss.inverse_link(np.array([loss.link(0.7)]))[0] == pytest.approx(0.7, rel=1e-12)
    y, f = np.array([0.5, 1.0, 2.0]), np.array([[0.5, -2.0, 0.0], [1.0, 3.0, -0.5]])
    room = np.full((2, 4, 3), np.nan)
    found = loss.gradient_hessian(y, f, out=room[:, 1:3])
    for m in range(2):
        for of_both, of_one in zip(found, loss.gradient_hessian(y, f[m]), strict=True):
            assert_same(of_both[m], of_one)
    assert np.isnan(room[:, [0, 3]]).all()
    for wrong in (f[:, :2], f[0, :2], f.T, f[0, 0]):
        with pytest.raises(ValueError, match=r"y has (shape|3 rows)"):
            loss.gradient_hessian(y, wrong)


@given(n=st.integers(1, 99), n_others=st.integers(1, 99), seed=st.integers(0, 9))
def test_the_start_is_negated_where_labels_are_swapped(n, n_others, seed):
    y = np.arange(n + n_others) < n
    for weight in (np.ones(1), np.random.default_rng(seed).gamma(1.0, size=len(y))):
        start = LOGISTIC.best_constant(y * 1.0, weight)
        assert start == -LOGISTIC.best_constant(1.0 - y, weight)
        of_1, of_0 = (np.broadcast_to(weight, y.shape)[side].sum() for side in (y, ~y))
        assert start == pytest.approx(math.log(of_1 / of_0), abs=1e-14)
    light = np.where(y, 1e-40, 1.0)  # beside which the others' sum does not change
    expected = math.log(n / n_others) - 40 * math.log(10)
    assert LOGISTIC.best_constant(y * 1.0, light) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("splitter", ["greedy", "unbiased"])
def test_swapped_labels_give_mirrored_models(splitter):
    """Nearly all weight is on the columns' ties, where the last bit would decide."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, size=(200, 4)) * 1.0
        y = rng.random(200) < 0.3 + 0.1 * X[:, 0]
        model = GBTClassifier(n_estimators=5, splitter=splitter, random_state=0)
        one, other = (model.fit(X, labels).ensemble_ for labels in (y, ~y))
        assert one.base_score == -other.base_score
        assert_same(one.value, -other.value)
        for name in ("feature", "threshold", "left", "missing_left", "sum_hessian", "gain"):
            assert_same(getattr(one, name), getattr(other, name))


HELD_OUT = {
    **{name: MEASURES[name] for name in (*JUDGING, "unbiased_gain")},
    "permutation": judging("permutation", random_state=0, metric=lambda y, f: -((y - f) ** 2)),
    "the paper's": lambda model, X, y, training: unbiased_gain(
        model, *training, X, y, "paper", sample_weight_valid=1.0 + np.arange(len(y)) % 2
    ),
}


@pytest.mark.filterwarnings("ignore::attributions.LevelWarning")
@own_and_ours
@pytest.mark.parametrize("measure", HELD_OUT)
def test_an_own_loss_does_what_the_same_loss_of_ours_does(measure, own, ours):
    ours, _, _ = fitted(ours)
    own, _, _ = fitted(own)
    assert_same(own.ensemble_.feature, ours.ensemble_.feature)
    assert_close(own.ensemble_.value, ours.ensemble_.value, np.abs(ours.ensemble_.value) + 1)
    X_new, y_new = table(200, seed=5)
    mine, theirs = (HELD_OUT[measure](model, X_new, y_new, table()) for model in (own, ours))
    size = np.abs(theirs.values).sum()
    assert_close(mine.values, theirs.values, size, k=1e4)
    if hasattr(theirs, "standard_error"):
        assert_close(mine.standard_error, theirs.standard_error, size, k=1e4)


def test_files_hold_no_loss_of_ones_own(tmp_path):
    path = tmp_path / "model.json"
    model, X, _ = fitted(Squared())
    model.save(path)
    with pytest.raises(ValueError, match=r"its loss is \"Squared\".*gbt.load\(path, loss="):
        gbt.load(path)
    again = gbt.load(path, loss=Squared())
    assert isinstance(again.ensemble_.loss, OwnLoss)
    assert_same(again.predict(X), model.predict(X))
    again.fit(X, table()[1])
    fitted("poisson")[0].save(path)
    with pytest.raises(ValueError, match="read it without loss="):
        gbt.load(path, loss=Squared())


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ((np.zeros(2), np.ones(2)), "one for each row"),
        ((np.full(3, np.nan), np.ones(3)), "finite"),
        ((np.arange(3.0) - 1, -np.ones(3)), "negative hessian"),
    ],
)
def test_what_an_own_loss_returns_is_checked(returned, message):
    loss = Squared()
    loss.gradient_hessian = lambda y, f: returned
    with pytest.raises(ValueError, match=message):
        GreedyRegressor(loss=loss, base_score=0.0).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("method", ["value", "gradient_hessian"])
@pytest.mark.parametrize("position", [0, 1], ids=["y", "raw_prediction"])
def test_an_own_loss_only_reads_what_it_is_given(method, position):
    """The targets are the caller's, and boosting goes on from the raw predictions."""
    X, y = table(60)
    kept = y.copy()
    loss, honest = Squared(), Squared()

    def careless(*given):
        given[position][:] = 1.0
        return getattr(honest, method)(*given)

    setattr(loss, method, careless)
    model = GreedyRegressor(loss=loss, n_estimators=2)
    with pytest.raises(ValueError, match="read-only"):
        model.fit(X, y, eval_set=[(X, y)])
    assert_same(y, kept)
    assert y.flags.writeable
    setattr(loss, method, getattr(honest, method))
    model.fit(X, y)
    setattr(loss, method, careless)
    with pytest.raises(ValueError, match="read-only"):
        tree_inner(model, X, y) if method == "gradient_hessian" else permutation(model, X, y)
    assert_same(y, kept)


def test_predictions_of_an_own_loss_may_be_written():
    """Its link may return what it is given, and may write in it first."""
    X, y = table(60)
    loss = Counts()
    loss.inverse_link = lambda raw: np.exp(raw, out=raw)
    asked = {"n_estimators": 3, "eval_metric": "r2", "splitter": "greedy"}
    models = [GBTRegressor(loss=each, **asked) for each in (loss, Counts(), Squared())]
    for model in models:
        model.fit(X, y, eval_set=[(X, y)])
        model.predict(X)[:] = 1.0
    assert_same(models[0].predict(X), models[1].predict(X))
    staged = [[*model.staged_predict(X)] for model in models[:2]]
    assert_same(staged[0], staged[1])
    assert models[0].evals_result_ == models[1].evals_result_


@pytest.mark.parametrize("loss", ["absolute", "quantile", "huber", "pseudo_huber"])
def test_targets_that_no_step_can_reach_are_warned_of(loss):
    """100 trees of steps up to .1 bridge 10; prices in dollars spread over 100,000."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = 180_000 + 80_000 * X[:, 0]
    with pytest.warns(UserWarning, match=f"the {loss} loss.*nearly constant.*Divide y") as told:
        model = GreedyRegressor(loss=loss, max_depth=2).fit(X, y)
    assert told[0].filename == __file__
    assert np.ptp(model.predict(X)) <= 20  # 10 either way, as the warning says
    scaled = y / np.subtract(*np.quantile(y, (0.75, 0.25)))
    model.fit(X, scaled)  # warnings are errors here
    assert np.ptp(model.predict(X)) > 0.8 * np.ptp(np.quantile(scaled, (0.1, 0.9)))


def test_losses_of_free_steps_take_targets_of_any_spread():
    X = np.random.default_rng(0).normal(size=(100, 1))
    for loss in (None, Huber(delta=50_000.0), "gamma"):
        GreedyRegressor(loss=loss, n_estimators=2).fit(X, 80_000 * np.exp(X[:, 0]))
