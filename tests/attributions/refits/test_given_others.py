"""What a column says beyond the others: by its definition, and on copies of columns that matter."""

from functools import partial
from itertools import cycle

import numpy as np
import pandas
import pyarrow
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from attributions import given_others, partial_inner, saabas
from attributions.inputs import SeenRowsWarning
from attributions.reference import definitions as reference
from gbt import GBTRegressor
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor

REGRESSOR = GreedyRegressor(n_estimators=60, max_depth=3)


def copies(n=800, seed=0):
    """Return rows of a column that matters, a copy of it, and noise; and y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = 0.95 * X[:, 0] + np.sqrt(1 - 0.95**2) * X[:, 1]
    return X, X[:, 0] + rng.normal(size=n)


def by_definition(model, X, y, training, models, regressors):
    """Return q_ik column by column, with residuals of squared error or of the labels 0, 1, ...

    ``models[k]`` and ``regressors[k]`` are fitted without column k. Both residuals are those that a
    constant and the prediction leave of them, by least squares over the judged rows. Every class of
    several has contributions, residuals and predictions of its own.
    """
    X_fit, y_fit = training
    is_class = hasattr(models[0], "predict_proba")
    fitted, judged = (saabas(model, rows).values.reshape(*X.shape, -1) for rows in (X_fit, X))
    q = np.zeros(X.shape)
    for k in range(X.shape[1]):
        own_fit, own = np.delete(X_fit, k, axis=1), np.delete(X, k, axis=1)
        without = clone(models[k]).fit(own_fit, y_fit)
        predicted = without.predict_proba(own) if is_class else without.predict(own)[:, np.newaxis]
        truth = y[:, np.newaxis] == np.arange(predicted.shape[1]) if is_class else y[:, np.newaxis]
        for c in range(fitted.shape[2]):
            output = c - fitted.shape[2]  # of two classes the second
            F = clone(regressors[k]).fit(own_fit, fitted[:, k, c]).predict(own)
            left = truth[:, output] - predicted[:, output]
            line = np.column_stack([np.ones(len(y)), predicted[:, output]])
            F, left = (v - line @ np.linalg.lstsq(line, v)[0] for v in (judged[:, k, c] - F, left))
            q[:, k] += F * left
    return q


@pytest.mark.parametrize("task", ["regression", "two classes", "three classes"])
@pytest.mark.parametrize("regressor", [LinearRegression(), REGRESSOR])
def test_it_is_its_definition(task, regressor):
    X, y = copies(120)
    model = REGRESSOR
    if task != "regression":
        model = GreedyClassifier(n_estimators=10, max_depth=2)
        drawn = (np.random.default_rng(1).random(120) < expit(2 * y)).astype(int)
        y = drawn if task == "two classes" else np.digitize(y, [-0.5, 1.0])
    training = X[:60], y[:60]
    model = clone(model).fit(*training)
    groups = np.arange(60) // 3

    result = given_others(model, X[60:], y[60:], training=training, regressor=regressor)
    asked = {"training": training, "regressor": regressor}
    grouped = given_others(model, X[60:], y[60:], groups=groups, **asked)

    q = by_definition(model, X[60:], y[60:], training, [model] * 3, [regressor] * 3)
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


def test_a_column_that_is_not_used_says_nothing():
    X, y = copies(100)
    X[:, 2] = 1.0
    training = X[:50], y[:50]
    model = clone(REGRESSOR).fit(*training)
    result = given_others(model, X[50:], y[50:], training=training, regressor=REGRESSOR)
    assert result.values[2] == 0
    assert_same(result.p_values()[2], 1.0)


# What a parameter says of columns, and what it must say where column 0, 1 or 2 is left out.
OF_COLUMN_1 = [
    *(("categorical_features", form, [[0], [], [1]]) for form in ([1], [-2], ["x1"])),
    ("categorical_features", [False, True, False], [[0], [], [1]]),
    ("categorical_features", np.array([1]), [[0], [], [1]]),
    ("categorical_features", [1, 2], [[0, 1], [1], [1]]),
    ("categorical_features", None, [None, None, None]),
    *(("monotone_constraints", form, [[-1, 0], None, [0, -1]]) for form in ({1: -1}, {"x1": -1})),
    ("monotone_constraints", [0, -1, 0], [[-1, 0], None, [0, -1]]),
    ("monotone_constraints", {0: 1, 2: -1}, [[0, -1], [1, -1], [1, 0]]),
]
KINDS = ("array", "names", "numbers", "pyarrow")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameter", "value", "moved", "kind"),
    [(*of, kind) for of, kind in zip(OF_COLUMN_1, cycle(KINDS), strict=False)],
)
def test_parameters_of_columns_go_with_their_columns(parameter, value, moved, kind):
    """With these the column means the same in every fit, of the model and of the regressor."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(200, 3)) * 1.0
    y = np.array([2.0, -1, 0, 3, -2])[X[:, 1].astype(int)] + 0.3 * X[:, 0] + rng.normal(size=200)
    plain = GreedyRegressor(n_estimators=5, max_depth=3)
    estimator = clone(plain).set_params(**{parameter: value})
    names = None if kind == "numbers" else ["x0", "x1", "x2"]
    table = X if kind == "array" else pandas.DataFrame(X, columns=names)
    if kind == "pyarrow":
        table = pyarrow.Table.from_pandas(table)
    model = clone(estimator).fit(table[:100], y[:100])

    training = table[:100], y[:100]
    result = given_others(model, table[100:], y[100:], training=training, regressor=estimator)

    fits = [clone(plain).set_params(**{parameter: of_rest}) for of_rest in moved]
    q = by_definition(model, X[100:], y[100:], (X[:100], y[:100]), fits, fits)
    assert_close(result.values, q.sum(axis=0), 100 * np.abs(q).max())


@pytest.mark.parametrize(
    ("name", "given"),
    [("categorical_features", [1]), ("monotonic_cst", [0, 1, 0]), ("interaction_cst", [[0, 1]])],
)
def test_parameters_of_columns_of_other_libraries_are_refused_first(name, given, monkeypatch):
    X, y = copies(120)
    X = X.round()
    training = X[:60], y[:60]
    theirs = HistGradientBoostingRegressor(max_iter=5, **{name: given}).fit(*training)
    ours = clone(REGRESSOR).fit(*training)
    pairs = [(ours, theirs), (ours, make_pipeline(theirs))]
    pairs += [(theirs, REGRESSOR)] * (name != "monotonic_cst")  # which loses the sums of gradients
    for estimator in (HistGradientBoostingRegressor, GBTRegressor):
        monkeypatch.setattr(estimator, "fit", lambda *rows: pytest.fail("a model is fitted"))
    for model, regressor in pairs:
        with pytest.raises(ValueError, match=f"{name}=.* refers to columns of the whole table"):
            given_others(model, X[60:], y[60:], training=training, regressor=regressor)


def test_what_it_cannot_do_is_refused():
    X, y = copies(80)
    training = X[:40], y[:40]
    model = clone(REGRESSOR).fit(*training)
    with pytest.raises(TypeError, match="model must be an estimator"):
        given_others(model.ensemble_, *training, training=training, regressor=REGRESSOR)
    with pytest.raises(ValueError, match=r"training, .* must be a pair"):
        given_others(model, X[40:], y[40:], training=X, regressor=REGRESSOR)
    with pytest.warns(SeenRowsWarning):
        given_others(model, *training, training=training, regressor=REGRESSOR)
    one = clone(REGRESSOR).fit(X[:40, :1], y[:40])
    with pytest.raises(ValueError, match="needs two"):
        given_others(one, X[40:, :1], y[40:], training=(X[:40, :1], y[:40]), regressor=REGRESSOR)
