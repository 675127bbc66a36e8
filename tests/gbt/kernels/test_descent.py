"""Blocks of rows going down many trees at once: every row ends where it would alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import predecomp
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from gbt.model.predictor import ROWS_AT_ONCE, rounded_down
from tests.asserts import assert_same
from tests.tree_cases import deep_ensemble

pytestmark = pytest.mark.kernels


def leaves_alone(ensemble, X):
    """Return the leaves that the reference page finds, counted through all trees: (M, n)."""
    leaves = [[reference.path(tree, x)[-1] for x in X] for tree in ensemble.trees]
    starts = ensemble.tree_offset[:-1, np.newaxis]
    return np.array(leaves, dtype=np.int64).reshape(ensemble.n_trees, len(X)) + starts


def assert_ends_are_those_of_the_page(ensemble, X):
    """Check the leaves of all rows, and the sums of their values in the order of trees."""
    leaves = leaves_alone(ensemble, X)
    expected = np.full(len(X), ensemble.base_score)
    for of_tree in leaves:
        expected = expected + ensemble.value[of_tree]
    assert_same(ensemble.apply(X), leaves.T - ensemble.tree_offset[:-1])
    assert ensemble.apply(X).dtype == np.int32
    assert_same(ensemble.raw_predict(X), expected)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, width=32))
def test_a_float32_number_is_not_above_a_threshold_or_it_rounded_down(threshold, x):
    single = rounded_down(np.array([threshold]))
    assert single.dtype == np.float32
    with np.errstate(over="ignore"):
        above = np.nextafter(single[0], np.float32(np.inf))
    assert float(single[0]) <= threshold < float(above)
    assert (x <= threshold) == (np.float32(x) <= single[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("branching", [0.0, 0.7], ids=["chain", "bushy"])
@pytest.mark.parametrize(
    ("depth", "n_rows"),
    [
        *((depth, None) for depth in (1, 2, 3, 4, 5, 6, 30)),
        *((6, n) for n in (0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 1)),
    ],
)
def test_rows_end_where_they_would_alone(depth, n_rows, branching, dtype):
    """Trees of every depth, whose deepest leaf is reached, and any number of rows."""
    rng = np.random.default_rng(depth)
    ensemble, X = deep_ensemble(rng, depth, 4, branching)
    X = X if n_rows is None else np.resize(X, (n_rows, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    X = X.astype(dtype)
    assert_ends_are_those_of_the_page(ensemble, X)


@given(data=st.data())
def test_drawn_rows_end_there_in_either_precision(data):
    """Wherever a float32 value ends up, it is where it would as the float64 that it is."""
    ensemble = data.draw(ensembles(max_depth=7))
    X = data.draw(rows_for(ensemble, n=12))
    X[data.draw(st.integers(0, 11))] = data.draw(st.sampled_from([np.inf, -np.inf, np.nan]))
    assert_ends_are_those_of_the_page(ensemble, X)
    X = np.clip(X, -1e30, 1e30).astype(np.float32)
    wide = X.astype(np.float64)
    assert ensemble.as_input(X).dtype == np.float32
    for rows in (X, wide):
        assert_ends_are_those_of_the_page(ensemble, rows)
    assert_same(predecomp(ensemble, X).values, predecomp(ensemble, wide).values)
    for stage, of_wide in zip(
        ensemble.staged_raw_predict(X), ensemble.staged_raw_predict(wide), strict=True
    ):
        assert_same(stage, of_wide)
