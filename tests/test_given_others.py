"""What a column says beyond the others: by its definition, and on copies of columns that matter."""

from functools import partial

import numpy as np
import pandas
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from attributions import HeldOutSelector, given_others, partial_inner, reference, saabas
from attributions.inputs import SeenRowsWarning
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_close, assert_same

REGRESSOR = GBTRegressor(n_estimators=60, max_depth=3)


def copies(n=800, seed=0):
    """Return rows of a column that matters, a copy of it, and noise; and y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = 0.95 * X[:, 0] + np.sqrt(1 - 0.95**2) * X[:, 1]
    return X, X[:, 0] + rng.normal(size=n)


def by_definition(model, X, y, training, regressor):
    """Return q_ik column by column, with residuals of squared error or of labels 0 and 1."""
    X_fit, y_fit = training
    is_class = hasattr(model, "predict_proba")
    q = np.zeros(X.shape)
    for k in range(X.shape[1]):
        own_fit, own = np.delete(X_fit, k, axis=1), np.delete(X, k, axis=1)
        without = clone(model).fit(own_fit, y_fit)
        predicted = without.predict_proba(own)[:, 1] if is_class else without.predict(own)
        F_fit, F = saabas(model, X_fit).values[:, k], saabas(model, X).values[:, k]
        q[:, k] = (F - clone(regressor).fit(own_fit, F_fit).predict(own)) * (y - predicted)
    return q


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("regressor", [LinearRegression(), REGRESSOR])
def test_it_is_its_definition(task, regressor):
    X, y = copies(120)
    model = REGRESSOR
    if task == "classification":
        y = (np.random.default_rng(1).random(120) < expit(2 * y)).astype(float)
        model = GBTClassifier(n_estimators=10, max_depth=2)
    training = X[:60], y[:60]
    model = clone(model).fit(*training)
    groups = np.arange(60) // 3

    result = given_others(model, X[60:], y[60:], training=training, regressor=regressor)
    grouped = given_others(
        model, X[60:], y[60:], training=training, regressor=regressor, groups=groups
    )

    q = by_definition(model, X[60:], y[60:], training, regressor)
    terms = 60 * np.abs(q).max()
    assert_close(result.values, q.sum(axis=0), terms)
    assert_close(result.standard_error, reference.standard_error(q, np.arange(60)), terms)
    assert_close(grouped.standard_error, reference.standard_error(q, groups), terms)
    assert result.method == "given_others(saabas)"


def test_a_copy_is_spared_and_what_matters_is_found():
    found = np.zeros((2, 3))
    for seed in range(6):
        X, y = copies(seed=seed)
        training = X[:400], y[:400]
        model = clone(REGRESSOR).fit(*training)
        for line, measure in zip(
            found,
            (partial_inner, partial(given_others, training=training, regressor=REGRESSOR)),
            strict=True,
        ):
            line += measure(model, X[400:], y[400:]).p_values() < 0.05
    assert found[0, 1] >= 4  # the model uses the copy, and that pays
    assert found[1, 0] == 6
    assert found[1, 1:].max() <= 2


def test_the_selector_hands_over_the_training_rows():
    X, y = copies()
    measure = partial(given_others, regressor=REGRESSOR)
    selector = HeldOutSelector(REGRESSOR, measure=measure, fdr=0.05, random_state=0).fit(X, y)
    assert selector.support_[0]
    fitted_on, held_out = selector._cut(X, y, None)
    alone = measure(
        selector.estimator_, X[held_out], y[held_out], training=(X[fitted_on], y[fitted_on])
    )
    assert_same(selector.p_values_, alone.p_values())


def test_several_classes_and_frames():
    X, y = copies(600)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = np.where(X[:, 2] > 0, "yes", "no")
    label = np.digitize(y, [-1, 1])
    model = GBTClassifier(n_estimators=10, max_depth=2).fit(frame[:300], label[:300])
    training = frame[:300], label[:300]
    result = given_others(model, frame[300:], label[300:], training=training, regressor=REGRESSOR)
    assert result.ranking()[0] == 0
    assert result.p_values()[0] < 0.01
    assert result.feature_names == ("a", "b", "c", "d")


def test_a_column_that_is_not_used_says_nothing():
    X, y = copies(100)
    X[:, 2] = 1.0
    training = X[:50], y[:50]
    model = clone(REGRESSOR).fit(*training)
    result = given_others(model, X[50:], y[50:], training=training, regressor=REGRESSOR)
    assert result.values[2] == 0
    assert_same(result.p_values()[2], 1.0)


def test_what_it_cannot_do_is_refused():
    X, y = copies(80)
    training = X[:40], y[:40]
    model = clone(REGRESSOR).fit(*training)
    with pytest.raises(ValueError, match="training must be the pair"):
        given_others(model, X[40:], y[40:], training=X, regressor=REGRESSOR)
    with pytest.warns(SeenRowsWarning):
        given_others(model, *training, training=training, regressor=REGRESSOR)
    one = clone(REGRESSOR).fit(X[:40, :1], y[:40])
    with pytest.raises(ValueError, match="at least two"):
        given_others(one, X[40:, :1], y[40:], training=(X[:40, :1], y[:40]), regressor=REGRESSOR)
