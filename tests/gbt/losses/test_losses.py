"""Losses against a table of exact values, against differences, and against their definitions."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt import GBTClassifier
from gbt.kernels.rows.derivatives import write_derivatives
from gbt.losses.half import LOSSES
from tests.asserts import assert_same

SQUARED, LOGISTIC = LOSSES["half_squared_error"], LOSSES["half_logistic"]


@pytest.mark.parametrize(
    ("loss", "y", "f", "value", "gradient", "hessian"),
    [
        (SQUARED, 3.0, 1.0, 2.0, -2.0, 1.0),
        (SQUARED, 1.0, 1.0, 0.0, 0.0, 1.0),
        (LOGISTIC, 0.0, 0.0, math.log(2), 0.5, 0.25),
        (LOGISTIC, 1.0, 0.0, math.log(2), -0.5, 0.25),
        (LOGISTIC, 1.0, math.log(3), math.log(4 / 3), -0.25, 0.1875),  # p = 3/4
    ],
)
def test_table(loss, y, f, value, gradient, hessian):
    y, f = np.array([y]), np.array([f])
    assert loss.value(y, f) == pytest.approx(value, abs=1e-15)
    actual_gradient, actual_hessian = loss.gradient_hessian(y, f)
    assert actual_gradient == pytest.approx(gradient, abs=1e-15)
    assert actual_hessian == pytest.approx(hessian, abs=1e-15)


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


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_best_constant_has_gradient_zero_and_no_better_neighbour(loss):
    y = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    weight = np.array([1.0, 2.0, 0.5, 3.0, 1.0])
    best = loss.best_constant(y, weight)

    def mean_loss(f):
        return np.average(loss.value(y, np.full(5, f)), weights=weight)

    gradient, _ = loss.gradient_hessian(y, np.full(5, best))
    assert (weight * gradient).sum() == pytest.approx(0.0, abs=1e-15)
    assert mean_loss(best) < min(mean_loss(best - 0.01), mean_loss(best + 0.01))


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("shape", [(3,), (5,), (2, 3), (4, 2), ()])
def test_as_many_targets_as_raw_predictions(loss, shape):
    with pytest.raises(ValueError, match="y has shape"):
        loss.gradient_hessian(np.zeros(4), np.zeros(shape))


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_one_hessian_may_stand_for_all(loss):
    y, f = np.array([0.0, 1.0, 1.0]), np.array([0.5, -2.0, 0.0])
    gradient, hessian = loss.gradient_hessian(y, f)
    assert loss.has_one_hessian == (len(set(hessian)) == 1)
    if loss.has_one_hessian:
        found = np.full(3, np.nan), np.full(1, np.nan)
        write_derivatives(loss.kind, y, f, *found)
        assert_same(found[0], gradient)
        assert_same(found[1], hessian[:1])


def test_kernels_do_not_take_one_loss_for_another():
    with pytest.raises(ValueError, match="no loss of this kind"):
        write_derivatives(len(LOSSES), *np.zeros((4, 1)))


@given(n=st.integers(1, 99), n_others=st.integers(1, 99), seed=st.integers(0, 9))
def test_the_start_is_negated_where_labels_are_swapped(n, n_others, seed):
    y = np.arange(n + n_others) < n
    for weight in (np.ones(1), np.random.default_rng(seed).gamma(1.0, size=len(y))):
        start = LOGISTIC.best_constant(y * 1.0, weight)
        assert start == -LOGISTIC.best_constant(1.0 - y, weight)
        of_1, of_0 = (np.broadcast_to(weight, y.shape)[side].sum() for side in (y, ~y))
        assert start == pytest.approx(math.log(of_1 / of_0), abs=1e-14)


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
