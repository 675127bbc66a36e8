"""A greedy model does not depend on the order of its rows: no sum that it is made of has one.

Policies that draw parts or folds draw them by the numbers of rows, so order is their randomness.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbt.losses.half import LOSSES
from tests.asserts import assert_same_trees
from tests.greedy import GreedyClassifier, GreedyRegressor

LOSSES_OF_AMOUNTS = ["poisson", "gamma", "tweedie", "squared_log_error"]
LOSSES_OF_NUMBERS = [None, "huber", "pseudo_huber", "absolute", "quantile"]


@st.composite
def tables(draw):
    """A table with ties and missing values, targets above 0, weights or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(20, 300)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, p))
    if draw(st.booleans()):
        X = np.round(X, draw(st.integers(0, 1)))
    if draw(st.booleans()):
        X[rng.random((n, p)) < 0.2] = np.nan
    y = np.exp(np.nan_to_num(X[:, 0]) + rng.normal(size=n))
    kind = draw(st.sampled_from(["none", "whole", "any"]))
    weight = {"none": None, "whole": rng.integers(1, 4, n).astype(float), "any": rng.random(n)}
    return X, y, weight[kind], rng.permutation(n)


@pytest.mark.parametrize("loss", [*LOSSES_OF_NUMBERS, *LOSSES_OF_AMOUNTS])
@settings(max_examples=10)
@given(tables())
def test_of_regression(loss, problem):
    X, y, weight, order = problem
    given_rows = GreedyRegressor(n_estimators=5, max_depth=3, loss=loss)
    shuffled = GreedyRegressor(n_estimators=5, max_depth=3, loss=loss)
    given_rows.fit(X, y, weight, eval_set=[(X, y, weight)])
    of_shuffled = X[order], y[order], None if weight is None else weight[order]
    shuffled.fit(*of_shuffled, eval_set=[of_shuffled])
    assert_same_trees(given_rows, shuffled)


@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=10)
@given(tables())
def test_of_classes(n_classes, problem):
    X, y, weight, order = problem
    label = np.argsort(np.argsort(y)) * n_classes // len(y)
    given_rows, shuffled = (GreedyClassifier(n_estimators=5) for _ in range(2))
    given_rows.fit(X, label, weight, eval_set=[(X, label, weight)])
    of_shuffled = X[order], label[order], None if weight is None else weight[order]
    shuffled.fit(*of_shuffled, eval_set=[of_shuffled])
    assert_same_trees(given_rows, shuffled)


def test_a_sum_in_the_order_of_rows_would_be_found():
    """The mean as it is usually computed has the order of the rows in its last bits."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=1000)
    usual = {float(np.sum(rng.permutation(y))) for _ in range(20)}
    ours = {LOSSES["half_squared_error"].best_constant(rng.permutation(y), np.ones(1))
            for _ in range(20)}  # fmt: skip
    assert len(usual) > 1
    assert len(ours) == 1
