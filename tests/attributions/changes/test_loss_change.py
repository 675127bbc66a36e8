"""Where a loss went: parts whose sums are exact, and what is left over where theory says so."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.compose import TransformedTargetRegressor

from attributions import SeenRowsWarning, compare, held_out_gain, loss_change
from attributions.changes.loss_parts import LEFT, LEVEL, SPREAD
from attributions.held_out.constant_loss import Targets
from attributions.plots.colors import VERMILION
from gbt import GBTClassifier, GBTRegressor
from gbt.formats import ScaleWarning
from gbt.losses import HalfLogistic, Poisson
from tests.asserts import assert_close, assert_same
from tests.attributions.changes.test_by_label import rows
from tests.greedy import GreedyRegressor
from tests.pictures import tick_labels
from tests.tree_cases import ensemble_of, fit_values, stump_on

NAMES = ["price", "season", "weekday", "noise"]


def frame(n, rng, effect=1.5, shift=0.0):
    X, y = rows(n, rng, effect)
    return pd.DataFrame(X, columns=NAMES), y + shift


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    return frame(400, rng), frame(300, rng), frame(200, rng, effect=0.3, shift=0.7)


def fitted(kind, X, y, **options):
    return kind(30, max_depth=3, random_state=0, splitter="greedy", **options).fit(X, y)


def half_square(y, raw):
    return (y - raw) ** 2 / 2


@pytest.mark.parametrize("is_class", [False, True], ids=["number", "class"])
def test_parts_add_up_and_are_what_their_names_say(tables, is_class):
    train, *both = [(X, (y > 0.5).astype(float) if is_class else y) for X, y in tables]
    model = fitted(GBTClassifier if is_class else GBTRegressor, *train)
    value = HalfLogistic().value if is_class else half_square
    change = loss_change(model, *both)
    assert change.parts == (SPREAD, LEVEL, LEFT, *NAMES)
    for (X, y), parts, loss in zip(both, (change.before, change.after), change.losses, strict=True):
        raw = model.ensemble_.raw_predict(X)
        assert_close(loss, value(y, raw).mean(), loss, k=64)
        assert_close(parts.sum(), loss, np.abs(parts).sum(), k=64)
        shifted = minimize_scalar(lambda c: value(y, raw + c).mean(), tol=1e-12)  # noqa: B023
        np.testing.assert_allclose(parts[1], loss - shifted.fun, atol=1e-9)
        constant = minimize_scalar(lambda c: value(y, np.full(len(y), c)).mean(), tol=1e-12)  # noqa: B023
        np.testing.assert_allclose(parts[0], constant.fun, rtol=1e-9)
    alone = held_out_gain(model, *both[1])
    to_loss = model.ensemble_.learning_rate / 2 / 200
    assert_close(change.after[3:], -to_loss * alone.values, 1.0, k=64)
    assert_close(change.values.sum(), change.losses[1] - change.losses[0], 10.0, k=64)
    assert change["price"] == change.values[3]
    table = {line.split()[0]: line.split()[1:4] for line in repr(change).splitlines()[2:]}
    for name, *told in (("loss", *change.losses), ("price", change.before[3], change.after[3])):
        told = [*told, told[1] - told[0]]
        np.testing.assert_allclose(np.array(table[name], dtype=float), told, atol=2e-3)
    changed = change.changes.changed()[0]
    assert changed[3]
    assert change.loss.changed()[0, 0]
    assert not changed[-1]


def test_rows_of_one_class_leave_nothing_to_explain(tables):
    (X, y), (X_new, _), (X_last, y_last) = tables
    model = fitted(GBTClassifier, X, y > 0.5)
    for label in (False, True):
        before = loss_change(model, (X_new, np.full(300, label)), (X_last, y_last > 0.5)).before
        assert before[0] == 0
        loss = HalfLogistic().value(np.full(300, float(label)), model.ensemble_.raw_predict(X_new))
        assert_close(before.sum(), loss.mean(), 10.0, k=64)


def one_tree(values):
    """Return a model of one stump that adds these to 0."""
    blank = ensemble_of([stump_on(0, 0.0)], 1)
    return fit_values(blank, [[-1.0], [1.0]], np.array(values))


@pytest.mark.parametrize("values", [(-1.0, 3.0), (-0.4, 1.0), (2.0, 5.0)], ids=str)
def test_what_is_left_over_is_half_of_what_the_model_does_too_little_or_too_much(values):
    """One feature and half the squared error: - Cov(F, y - F) / 2, with Cov over n."""
    rng, n = np.random.default_rng(2), 50
    X = rng.choice([-1.0, 1.0], size=(2 * n, 1))
    y = np.where(X[:, 0] < 0, -1.0, 3.0) + rng.normal(size=2 * n)
    halves = (X[:n], y[:n]), (X[n:], y[n:])
    change = loss_change(one_tree(values), *halves)
    for (part_of_X, part_of_y), parts in zip(halves, (change.before, change.after), strict=True):
        F = np.where(part_of_X[:, 0] < 0, *values)
        left = -np.cov(F, part_of_y - F, ddof=0)[0, 1] / 2
        level = (part_of_y - F).mean() ** 2 / 2
        np.testing.assert_allclose(parts[:3], [part_of_y.var() / 2, level, left], atol=1e-12)


def test_errors_of_parts_are_those_of_means(tables):
    """Of two losses, of rows: standard errors of means, the smaller no less than of both."""
    train, before, after = tables
    model = fitted(GBTRegressor, *train)
    change = loss_change(model, before, after)
    raw = [half_square(y, model.predict(X)) for X, y in (before, after)]
    n = np.array([300, 200])
    of_row = np.array([x.var(ddof=1) for x in raw])
    variance = (np.maximum(of_row, n @ of_row / n.sum()) / n).sum()
    np.testing.assert_allclose(change.loss.standard_error[0, 0] ** 2, variance, rtol=1e-9)


def test_a_loss_that_is_not_0_at_best_counts_from_its_least(tables):
    X = tables[0][0]
    counts = np.random.default_rng(3).poisson(np.exp(0.3 * X["price"]))
    model = fitted(GBTRegressor, X[:200], counts[:200], loss="poisson")
    change = loss_change(model, (X[200:300], counts[200:300]), (X[300:], counts[300:]))
    excess = Targets(counts[300:].astype(float), np.ones(100)).constant_loss(Poisson())
    np.testing.assert_allclose(change.after[0], excess / 100)
    assert_close(change.after.sum(), change.losses[1], 1.0, k=256)


def test_two_models_on_the_same_rows(tables):
    train, (X, y), _ = tables
    without_price = train[0].drop(columns="price"), train[1]
    a, b = fitted(GBTRegressor, *without_price), fitted(GBTRegressor, *train)
    result = compare(a, b, X, y)
    losses = [half_square(y, m.predict(X[list(m.feature_names_in_)])) for m in (a, b)]
    gap = losses[1] - losses[0]
    np.testing.assert_allclose(result.losses, [loss.mean() for loss in losses], rtol=1e-12)
    np.testing.assert_allclose(result.loss.values[0, 0], gap.mean(), rtol=1e-9)
    error = gap.std(ddof=1) / np.sqrt(len(y))
    np.testing.assert_allclose(result.loss.standard_error[0, 0], error, rtol=1e-9)
    assert result.parts == (SPREAD, LEVEL, LEFT, "season", "weekday", "noise", "price")
    assert (result.before[-1], result[SPREAD]) == (0.0, 0.0)
    assert result["price"] < -0.5
    with pytest.raises(KeyError, match=r"No feature is called 'Price'; did you mean 'price'\?"):
        result["Price"]
    assert result.headings == ("a", "b")
    same = compare(b, b, X, y)
    assert_same(same.values, np.zeros(7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a p-value of 1 has no logarithm of its rest
        assert_same(loss_change(b, (X, y), (X, y)).changes.p_values(), np.ones((1, 7)))
    assert_same(same.changes.p_values(), np.ones((1, 7)))
    stump = GreedyRegressor(1, max_depth=1).fit(*train)
    of_unused = compare(stump, b, X, y).before[-3:]
    assert (of_unused == 0).any()
    assert not np.signbit(of_unused[of_unused == 0]).any()  # or -0.0 would be printed
    for power in (-548, 508):  # of 2, which all weights are: squares would leave float64
        weighed = compare(a, b, X, y, sample_weight=np.full(300, 2.0**power)).changes
        np.testing.assert_allclose(weighed.values, result.changes.values, rtol=1e-9, atol=1e-15)
        errors = result.changes.standard_error
        np.testing.assert_allclose(weighed.standard_error, errors, rtol=1e-9)
    by_day = compare(a, b, X, y, groups=np.arange(300) // 10)
    assert_same(by_day.values, result.values)
    assert by_day.loss.standard_error[0, 0] != result.loss.standard_error[0, 0]


def test_the_picture_has_the_changes_with_their_intervals(tables):
    train, *both = tables
    result = loss_change(fitted(GBTRegressor, *train), *both)
    display = result.plot(max_display=3)
    order = np.argsort(-np.abs(result.values))[:3]
    assert_same([point.get_xdata()[0] for point in display.points_], result.values[order])
    assert tick_labels(display.ax_.yaxis) == [result.parts[k] for k in order]
    lines = [line.get_segments()[0][:, 0] for line in display.ax_.collections]
    assert_same(lines, result.changes.confidence_interval()[0, order])
    is_worse = result.changes.confidence_interval()[0, order, 0] > 0
    assert_same([point.get_color() == VERMILION for point in display.points_], is_worse)
    assert is_worse.any()
    assert "3 of 7 parts" in display.ax_.get_title(loc="left")


def test_bad_input(tables):
    (X, y), after, _ = tables
    model = fitted(GBTRegressor, X, y)
    for judge, *given in ((compare, model, X, y), (loss_change, (X, y), after)):
        with pytest.warns(SeenRowsWarning, match="400 of the 400 rows"):
            judge(model, *given)
    other = fitted(GBTRegressor, X, y, loss="absolute")
    with pytest.raises(ValueError, match=r"'half_squared_error' and model_b to 'absolute"):
        compare(model, other, *after)
    with pytest.raises(ValueError, match=r"rows_after must be a pair \(X, y\).*got a DataFrame"):
        loss_change(model, after, X)
    grouped = (*after, None, np.arange(300))
    with pytest.raises(ValueError, match="Only one of the two sets of rows has groups"):
        loss_change(model, after, grouped)


def test_transformed_targets_are_judged_on_the_scale_of_the_trees(tables):
    train, *both = [(X, np.exp(y)) for X, y in tables]
    inner = GreedyRegressor(30, max_depth=3, random_state=0)
    model = TransformedTargetRegressor(inner, func=np.log, inverse_func=np.exp).fit(*train)
    expected = loss_change(model.regressor_, *[(X, np.log(y)) for X, y in both])
    with pytest.warns(ScaleWarning):
        change = loss_change(model, *both)
    assert_same([change.before, change.after], [expected.before, expected.after])
    with pytest.warns(ScaleWarning), pytest.raises(ValueError, match="see other targets"):
        compare(model, model.regressor_, *both[0])
