"""Monotone constraints: predictions rise and fall as asked, words are clear.

That trees are the page's is tested in ``tests.gbt.training.test_growing``, that they are XGBoost's
in ``tests.gbt.training.test_parity_xgboost``.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbt import GBTRegressor
from gbt.splitting.greedy import Greedy
from gbt.splitting.monotone import directions
from tests.drawn_fits import fits
from tests.greedy import GreedyClassifier, GreedyRegressor


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


@settings(max_examples=max(30, settings().max_examples))
@given(fits(directions=st.just(True), has_order=False))
@pytest.mark.filterwarnings("ignore:The middle half of y:UserWarning")
@pytest.mark.filterwarnings("ignore::gbt.training.evaluation.WorseThanConstantWarning")
def test_predictions_are_monotone(problem):
    model = problem.fitted()
    for k, direction in enumerate(model.monotone_constraints):
        if direction:  # levels have none
            assert is_monotone(model.ensemble_.raw_predict, problem.X, k, direction)


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


def test_words_have_no_order():
    frame = pd.DataFrame({"word": [*"abcdef"] * 9, "x": np.arange(54.0)})
    with pytest.raises(ValueError, match="'word' is categorical, so its values have no order"):
        GreedyRegressor(monotone_constraints={"word": 1}).fit(frame, frame.x)
    GreedyRegressor(n_estimators=1, monotone_constraints={"word": 0, "x": -1}).fit(frame, frame.x)


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
