"""Trees in which rows judge the splits: those of the page, node by node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.checked_trees import compare
from gbt.splitting import CrossValidated, Unbiased
from gbt.tables.columns import Columns
from gbt.training.histogram_growth import HistogramGrowth
from tests.trainer import coarse_columns, grow_with, growth_for, with_threads

pytestmark = pytest.mark.kernels
POLICIES = [Unbiased(), Unbiased(merged=True), CrossValidated(2), CrossValidated(5)]
NAN = np.nan


@st.composite
def tables(draw):
    """Draw numbers, of which some have few bins, and levels, few and many."""
    n, p = draw(st.integers(8, 160)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = np.array([draw(st.sampled_from([2, 3, 9, 40])) for _ in range(p)])
    X = rng.integers(most, size=(n, p)).astype(np.float64)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = NAN
    if draw(st.booleans()):
        return draw(coarse_columns(X))
    n_levels = most * np.array([draw(st.sampled_from([0, 1])) for _ in range(p)])
    return Columns.from_table(X, n_levels=n_levels)


@st.composite
def problems(draw):
    """Draw a table, what its rows learn, their weights, and the limits of a tree."""
    columns = draw(tables())
    n = columns.n_rows
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    signal = np.nan_to_num(columns.table[:, 0]) > 1
    gradient = rng.integers(-4, 5, size=n) + draw(st.sampled_from([0, 6])) * signal
    hessian = draw(st.sampled_from([np.ones(n), rng.uniform(0.2, 2.0, size=n)]))
    weights = np.ones(n), np.full(n, 0.3), rng.integers(1, 4, size=n).astype(float)
    weight = draw(st.sampled_from(weights))
    asked = {
        "reg_lambda": draw(st.sampled_from([0.0, 1.0])),
        "min_child_weight": draw(st.sampled_from([0.0, 3.0])),
        "min_samples_leaf": draw(st.integers(1, 3)),
        "min_split_gain": draw(st.sampled_from([0.0, 1.0])),
        "max_depth": draw(st.sampled_from([1, 3, None])),
        "categorical_smoothing": draw(st.sampled_from([0.0, 3.0])),
    }
    some = np.flatnonzero(rng.random(n) < 0.7).astype(np.int32)
    rows = draw(st.sampled_from([None, some if len(some) > 5 else None]))
    return columns, gradient.astype(float), hessian, weight, asked, rows


def grow_and_compare(policy, problem, n_jobs=1, seed=0, features=None):
    columns, gradient, hessian, weight, asked, rows = problem
    growth = growth_for(
        columns, gradient, hessian, weight, splitter=policy, n_jobs=n_jobs, seed=seed, **asked
    )
    assert isinstance(growth, HistogramGrowth)
    allowed = np.arange(columns.n_columns) if features is None else features
    tree, leaves = grow_with(growth, rows, allowed)
    seen = np.arange(columns.n_rows, dtype=np.int32) if rows is None else rows
    page = compare(tree, leaves, seen, columns, policy, growth.plan, growth.training, 0, allowed)
    return tree, leaves, page, growth


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@given(problems(), st.integers(0, 2**40), st.sampled_from([1, 10**9]), st.randoms())
def test_splits_are_those_of_the_page(policy, problem, seed, least_values, random):
    with with_threads(least_values):
        columns = problem[0]
        features = np.arange(columns.n_columns)
        if random.random() < 0.3:
            features = features[: random.randint(1, len(features))]
        _, _, page, growth = grow_and_compare(policy, problem, 2, seed, features)
        assert page.differs == []
        if isinstance(policy, Unbiased):
            scores = growth.judging.scores[0]
            size = np.abs(problem[1]).sum() ** 2
            np.testing.assert_allclose(scores, page.scores, rtol=1e-9, atol=1e-12 * size)
