"""Permutation of models that are no sum of trees: a loop over shuffled tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from attributions import permutation
from gbt import GBTRegressor
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=90)
LABELS = np.where(Y > 0.3, "yes", "no")
THREE = np.digitize(Y, [0, 1.2])
SEVERAL = np.column_stack([Y, X[:, 2]])


def boosted():
    return GreedyRegressor(n_estimators=3)


CASES = {  # a model, its targets, and what scikit-learn calls the score
    "calibrated": (CalibratedClassifierCV(RandomForestClassifier(3), cv=2), LABELS, "roc_auc"),
    "hard votes": (VotingClassifier([("a", RandomForestClassifier(3))]), LABELS, "accuracy"),
    "neural": (
        make_pipeline(StandardScaler(), MLPClassifier((3,), max_iter=5, tol=1)),
        THREE,
        "neg_log_loss",
    ),
    "three words": (GreedyClassifier(3), np.array([*"cab"])[THREE], "neg_log_loss"),
    "several labels": (RandomForestClassifier(4), SEVERAL > 0.3, "neg_mean_squared_error"),
    "several targets": (LinearRegression(), SEVERAL, "neg_mean_squared_error"),
    "targets transformed": (
        TransformedTargetRegressor(boosted(), func=np.exp, inverse_func=np.log),
        Y,
        "neg_mean_squared_error",
    ),
    "search over a pipeline": (
        GridSearchCV(make_pipeline(StandardScaler(), boosted()), {}, cv=2),
        Y,
        "neg_mean_squared_error",
    ),
}


def orders(seed, k, n_repeats, n):
    """Yield the documented orders: a stream for each feature and repeat."""
    for r in range(n_repeats):
        stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k, r)))
        yield stream.permutation(n)


@pytest.mark.parametrize(("model", "y", "name"), CASES.values(), ids=CASES)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")
def test_it_is_a_loop_over_shuffled_tables(model, y, name):
    model, score = model.fit(X, y), get_scorer(name)
    result = permutation(model, X, y, n_repeats=2, random_state=7)
    assert result.method == f"permutation({name})"
    for k in range(3):
        for r, order in enumerate(orders(7, k, 2, len(X))):
            table = X.copy()
            table[:, k] = X[order, k]
            drop = score(model, X, y) - score(model, table, y)
            np.testing.assert_allclose(result.repeats[k, r], drop, atol=1e-12)
    assert result.standard_error.shape == (3,)


def mixed():
    towns = np.array(["Rome", "Bern", "Oslo"])[RNG.integers(3, size=90)]
    frame = pd.DataFrame({"town": towns, "size": X[:, 0], "age": X[:, 1]})
    steps = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    return make_pipeline(steps, RandomForestRegressor(4, random_state=0)), frame


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pyarrow.table])
def test_the_users_own_columns_are_shuffled_in_tables_of_any_kind(kind):
    model, frame = mixed()
    model.fit(frame, Y)

    def predict(table):
        return model.predict(table.to_pandas())

    given = kind({name: frame[name].tolist() for name in frame})
    asked = predict if kind is pyarrow.table else model  # scikit-learn takes no table of pyarrow
    result = permutation(asked, given, Y, n_repeats=1, random_state=3)
    assert result.feature_names == ("town", "size", "age")
    before = mean_squared_error(Y, model.predict(frame))
    for k, name in enumerate(frame):
        (order,) = orders(3, k, 1, len(Y))
        shuffled = frame.assign(**{name: frame[name].to_numpy()[order]})
        expected = mean_squared_error(Y, model.predict(shuffled)) - before
        np.testing.assert_allclose(result.values[k], expected)


def test_functions_and_metrics_of_ones_own():
    def predict(table):
        return 2.0 * table[:, 1]

    result = permutation(predict, X, Y, n_repeats=1, random_state=0)
    assert (result.values != 0).tolist() == [False, True, False]
    model = LogisticRegression().fit(X, LABELS)

    def likelihood(y, p):
        return y * np.log(p) + (1 - y) * np.log1p(-p)

    given = permutation(model, X, LABELS, metric=likelihood, n_repeats=1, random_state=0)
    (order,) = orders(0, 0, 1, len(X))
    table = np.column_stack([X[order, 0], X[:, 1:]])
    after, before = (log_loss(LABELS, model.predict_proba(rows)) for rows in (table, X))
    np.testing.assert_allclose(given.values[0], after - before)
    scored = permutation(model, X, LABELS, metric="neg_log_loss", n_repeats=1, random_state=0)
    np.testing.assert_allclose(scored.values, given.values)
    grouped = permutation(model, X, LABELS, groups=np.arange(90) // 3, random_state=0)
    assert grouped.groups.shape == (30,)


def test_what_cannot_be_is_refused_by_name():
    model = LinearRegression().fit(X, Y)
    labelled = LogisticRegression().fit(X, LABELS)
    for call, message in (
        (lambda: permutation(model, X, Y, init_score=Y), "init_score is for models of trees"),
        (lambda: permutation(model, X[:, 0], Y), r"X has shape \(90,\)"),
        (lambda: permutation(model, X, Y[:5]), r"y has shape \(5,\)"),
        (lambda: permutation(model, X, LABELS), r"y must be numbers, and holds text"),
        (lambda: permutation(model, X, np.where(Y > 1, np.nan, Y)), r"y is nan in row \d+\. Leave"),
        (lambda: permutation(labelled, X, np.where(LABELS == "no", "off", "yes")), "'off'"),
        (lambda: permutation(labelled, X[:5], ["yes"] * 5), "one class only"),
        (lambda: permutation(model, X, Y, metric=3), "metric=3"),
        (lambda: permutation(model, X, Y, metric=lambda y, p: p[:2]), r"returned shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(NotFittedError):
        permutation(boosted(), X, Y)
    for model, message in (
        (3, "got int"),
        (GBTRegressor, "got the class GBTRegressor, and no fitted model of it"),
        ("model.json", "got str; read the file first"),
    ):
        with pytest.raises(TypeError, match=f"must be an Ensemble.*{message}"):
            permutation(model, X, Y)
