"""Monotone constraints: predictions rise and fall as asked, words are clear.

That trees are the page's is tested in ``tests.gbt.training.test_growing``, that they are XGBoost's
in ``tests.gbt.training.test_parity_xgboost``.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gbt import GBTClassifier, GBTRegressor
from gbt.splitting import CrossValidated
from gbt.splitting.greedy import Greedy
from gbt.splitting.monotone import directions
from tests.asserts import peer
from tests.greedy import GreedyClassifier, GreedyRegressor

NAN = np.nan


@st.composite
def problems(draw):
    """Draw a table with few or many values, gaps, weights, either loss, and directions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(5, 80)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, p))
    if draw(st.booleans()):
        X = np.round(X)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = NAN
    weight = rng.uniform(0.1, 3, n) if draw(st.booleans()) else None
    y = rng.normal(size=n) + draw(st.sampled_from([-2.0, 0.0, 2.0])) * np.nan_to_num(X[:, 0])
    asked = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=p, max_size=p))
    parameters = {
        "n_estimators": draw(st.integers(1, 12)),
        "max_depth": draw(st.sampled_from([2, 4, None])),
        "max_leaves": draw(st.sampled_from([None, 6])),
        "learning_rate": draw(st.sampled_from([0.1, 1.0])),
        "reg_lambda": draw(st.sampled_from([0.0, 1.0])),
        "min_child_weight": draw(st.sampled_from([0.001, 1.0])),
        "subsample": draw(st.sampled_from([1.0, 0.7])),
        "colsample": draw(st.sampled_from([1.0, 0.6])),
        "monotone_constraints": asked,
        "random_state": 0,
    }
    return X, y, weight, draw(st.booleans()), parameters


def is_monotone(predict, X, k, direction):
    """Say whether raw predictions never go against a direction along column k, in any row.

    The values are those of the table and some between and beyond them. Not one may be off by a
    rounding: bounds are met exactly, and adding up trees keeps an order.
    """
    known = np.unique(X[~np.isnan(X[:, k]), k])
    values = np.sort(np.concatenate([known, (known[1:] + known[:-1]) / 2, [-1e9, 1e9]]))
    rows = np.repeat(X[:10], len(values), axis=0)
    rows[:, k] = np.tile(values, len(X[:10]))
    along = predict(rows).reshape(-1, len(values))
    return bool((direction * np.diff(along, axis=1) >= 0).all())


def fitted(problem, splitter="greedy"):
    X, y, weight, is_classifier, parameters = problem
    if is_classifier:
        target = y > np.median(y)
        return GBTClassifier(splitter=splitter, **parameters).fit(X, target, weight)
    return GBTRegressor(splitter=splitter, **parameters).fit(X, y, weight)


@pytest.mark.parametrize("splitter", ["greedy", "unbiased", CrossValidated(3)], ids=str)
@given(problems())
def test_predictions_are_monotone(splitter, problem):
    X, *_, parameters = problem
    parameters |= {"subsample": 1.0} if len(X) < 9 else {}
    assume(len(X) >= 6)
    model = fitted(problem, splitter)
    for k, direction in enumerate(parameters["monotone_constraints"]):
        assert is_monotone(model.ensemble_.raw_predict, X, k, direction)


def test_a_bound_by_hand():
    """Rising with x, and free in z::

        y    x=1   x=2          the cut at x has the steps 5 and 14, which meet at 9.5
    z=0       0     19
    z=1      10      9          beyond 9.5 are 10 on its left and 9 on its right
    """
    X = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    model = GreedyRegressor(
        n_estimators=1, learning_rate=1.0, max_depth=2, min_child_weight=0.0, reg_lambda=0.0,
        base_score=0.0, monotone_constraints={"x0": 1},
    ).fit(X, np.array([0.0, 10.0, 19.0, 9.0]))  # fmt: skip
    np.testing.assert_array_equal(model.predict(X), [0.0, 9.5, 19.0, 9.5])
    ensemble = model.ensemble_
    np.testing.assert_array_equal(ensemble.sum_gradient, [-38, -10, 0, -10, -28, -19, -9])
    np.testing.assert_array_equal(ensemble.value, [9.5, 5, 0, 9.5, 14, 19, 9.5])
    np.testing.assert_array_equal(ensemble.gain[[0, 1, 4]], [81, 50, 50])  # of G and H alone


def test_missing_values_are_no_value_to_be_put_in_order():
    """Rows without a value predict 5, between or beyond those with one, whatever is asked."""
    X = np.array([[0.0], [1.0], [NAN], [NAN]])
    for of_missing in (-9.0, 0.5, 9.0):
        y = np.array([0.0, 1.0, of_missing, of_missing])
        for direction in (-1, 1):
            model = GreedyRegressor(
                n_estimators=1, learning_rate=1.0, min_child_weight=0.0, reg_lambda=0.0,
                monotone_constraints=[direction], base_score=0.0).fit(X, y)  # fmt: skip
            low, high = model.predict(X[:2])
            assert direction * low <= direction * high
            if of_missing != 0.5:
                assert model.predict(X[2:])[0] == pytest.approx(of_missing)


def test_words_beside_a_constrained_column():
    """Splits of words stay within the bounds; the column of numbers keeps its direction."""
    pandas = peer("pandas")
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"word": rng.choice([*"abcdef"], 400), "x": rng.normal(size=400)})
    y = -frame.x + (frame.word < "c") * 2 + rng.normal(size=400)
    model = GreedyRegressor(n_estimators=30, monotone_constraints={"x": 1}).fit(frame, y)
    assert (model.ensemble_.has_set).any()
    coded = np.asarray(model.ensemble_.as_input(frame))
    view = type(model.ensemble_.as_input(frame))
    assert is_monotone(lambda rows: model.ensemble_.raw_predict(rows.view(view)), coded, 1, 1)
    with pytest.raises(ValueError, match="'word' is categorical, so its values have no order"):
        GreedyRegressor(monotone_constraints={"word": 1}).fit(frame, y)
    GreedyRegressor(n_estimators=1, monotone_constraints={"word": 0, "x": -1}).fit(frame, y)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ({"z": 1}, "names 'z', which is no column of X; these are 'x0', 'x1'"),
        ({2: 1}, "has column 2; X has the columns 0 to 1"),
        ([1], "has 1 numbers, and X has 2 columns"),
        (np.array([1, 0, 0]), "has 3 numbers, and X has 2 columns"),
        ({"x0": 2}, "must be None, a dict of names or indices of columns to -1, 0 or 1"),
        ([1, 0.5], "must be None, a dict"),
        ([True, False], "must be None, a dict"),
        ("(1, 0)", "must be None, a dict"),
        ({1.5: 1}, "must be None, a dict"),
    ],
)
@pytest.mark.parametrize("estimator", [GBTRegressor, GBTClassifier])
def test_what_is_refused(estimator, constraints, words):
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ValueError, match=f"monotone_constraints {words}"):
        estimator(monotone_constraints=constraints).fit(X, np.arange(10) % 2)


class Unordered:
    """A policy of one's own that says nothing of directions."""

    def split(self, frontier, limits, n_jobs):
        return Greedy().split(frontier, limits, n_jobs)


def test_a_policy_that_does_not_keep_directions_refuses_them():
    splitter = Unordered()
    X = np.arange(20.0).reshape(10, 2)
    asked = {"x0": 1}
    with pytest.raises(ValueError, match=r"own splitters; splitter=.* does not keep them"):
        GBTRegressor(splitter=splitter, monotone_constraints=asked).fit(X, X[:, 0])
    GBTRegressor(splitter=splitter, monotone_constraints={"x0": 0}, n_estimators=1).fit(X, X[:, 0])


def test_several_classes_are_refused():
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ValueError, match="with 3 classes the probability of one can fall"):
        GreedyClassifier(monotone_constraints={"x0": 1}).fit(X, np.arange(10) % 3)


def test_names_and_indices_mean_the_same():
    expected = np.array([0, -1, 1])
    for asked in ({"b": -1, "c": 1}, {1: -1, 2: 1}, {"b": -1, -1: 1}, (0, -1, 1), expected):
        np.testing.assert_array_equal(directions(asked, ("a", "b", "c")), expected)
    assert directions({}, ("a",)) is None
