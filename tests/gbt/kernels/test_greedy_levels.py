"""Levels of categories in the greedy histogram search: the trees of best_cuts to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.splitting.greedy import Greedy
from gbt.tables.categories import MOST_LEVELS
from gbt.tables.columns import Columns
from gbt.training import histogram_levels as greedy_levels
from gbt.training.histogram_growth import HistogramGrowth
from tests.asserts import assert_same, assert_same_trees
from tests.gbt.training.test_growing import gradients, parameters_of_trees
from tests.trainer import grow_with, growth_for, with_threads

pytestmark = pytest.mark.kernels
SETS = "of_node", "start", "words"


@pytest.fixture(scope="module", params=[256, 0], ids=["in bins", "by rows"], autouse=True)
def most_codes_in_bins(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_levels, "MOST_CODES", request.param)
        yield request.param


@st.composite
def tables(draw):
    """Draw numbers and levels, few and many, of so many rows that the root keeps a histogram."""
    n = draw(st.integers(40, 400))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(["numbers", "few", "some", "many"]), max_size=11))
    most = {"numbers": 9, "few": 3, "some": 30, "many": 300}
    kinds = ["some", *kinds]
    X = rng.integers([most[kind] for kind in kinds], size=(n, len(kinds))).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    n_levels = np.array([0 if kind == "numbers" else most[kind] for kind in kinds])
    return Columns.from_table(X, n_levels=n_levels)


@pytest.mark.slow
@given(tables(), st.data(), parameters_of_trees(), st.sampled_from([0.0, 3.0, 20.0]))
def test_trees_are_those_of_the_common_road(columns, data, parameters, smoothing):
    n, p = columns.n_rows, columns.n_columns
    gradient, hessian = data.draw(gradients(n))
    weight = data.draw(st.sampled_from([np.ones(1), np.full(1, 0.3), np.arange(1.0, 4.0)]))
    weight = np.resize(weight, n)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows = data.draw(st.sampled_from([None, np.flatnonzero(rng.random(n) < 0.6).astype(np.int32)]))
    features = np.flatnonzero((rng.random(p) < 0.7) | (np.arange(p) == 0))
    asked = parameters | {"categorical_smoothing": smoothing}
    with with_threads(data.draw(st.sampled_from([100, 10**9]))):
        lane = growth_for(columns, gradient, hessian, weight, n_jobs=2, **asked)
        assert isinstance(lane, HistogramGrowth)
        road = growth_for(columns, gradient, hessian, weight, on_common_road=Greedy(), **asked)
        for tree_features in (features, np.arange(p)):  # memory is used again
            tree, leaves = grow_with(lane, rows, tree_features)
            expected, expected_leaves = grow_with(road, rows, tree_features)
            assert_same_trees(tree, expected)
            for name in SETS:
                assert_same(getattr(tree.level_sets, name), getattr(expected.level_sets, name))
            assert_same(leaves, expected_leaves)


@pytest.mark.parametrize("first", ["number", "category"])
def test_of_equal_scores_the_lower_column_splits(first):
    """0 and 1 as a number and as a category separate the same rows."""
    x = np.repeat([0.0, 1.0], 30)
    n_levels = np.array([0, 2] if first == "number" else [2, 0])
    columns = Columns.from_table(np.column_stack([x, x]), n_levels=n_levels)
    tree, _ = grow_with(growth_for(columns, 2 * x - 1, np.ones(60)))
    assert tree.feature.tolist() == [0, -1, -1]
    assert (tree.level_sets.of_node[0] >= 0) == (first == "category")


@pytest.mark.large
def test_as_many_levels_as_there_may_be():
    """The kernels' memory is for so many; a level more is refused where levels are learned."""
    n = MOST_LEVELS
    x = np.random.default_rng(0).permutation(n).astype(float)
    columns = Columns.from_table(np.append(x, np.nan)[:, np.newaxis], n_levels=np.array([n]))
    gradient = np.append(np.where(x < 5, -1.0, 1.0), 1.0)
    parameters = {"categorical_smoothing": 0.0, "max_depth": 2}
    lane = growth_for(columns, gradient, np.ones(n + 1), **parameters)
    road = growth_for(columns, gradient, np.ones(n + 1), on_common_road=Greedy(), **parameters)
    (tree, leaves), (expected, expected_leaves) = grow_with(lane), grow_with(road)
    assert_same(tree.level_sets.words, expected.level_sets.words)
    assert_same(leaves, expected_leaves)
    assert tree.level_sets.goes_left(0, n).sum() in (5, n - 5)
