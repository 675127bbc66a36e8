"""Blocks of rows going down many trees at once: every row ends where it would alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import predecomp
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from gbt.kernels.rows.descent import link_nodes
from gbt.model.predictor import ROWS_AT_ONCE, rounded_down, transposed
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import assert_same
from tests.kernel_call import call
from tests.tree_cases import deep_ensemble, ensemble_of, stump_on

pytestmark = pytest.mark.kernels


def leaves_alone(ensemble, X):
    """Return the leaves that the reference page finds, counted through all trees: (M, n)."""
    leaves = [[reference.path(tree, x)[-1] for x in X] for tree in ensemble.trees]
    starts = ensemble.tree_offset[:-1, np.newaxis]
    return np.array(leaves, dtype=np.int64).reshape(ensemble.n_trees, len(X)) + starts


def test_the_drawing_of_the_module():
    #     a         preorder a b d e c, and the tree stands behind a stump of three nodes
    #    / \        a and b compare features 1 and 0; b sends missing values left
    #   b   c
    #  / \
    # d   e
    feature, missing_left = np.array([0, -1, -1, 1, 0, -1, -1, -1]), np.zeros(8, bool)
    missing_left[4] = True
    left, right = np.array([1, -1, -1, 1, 2, -1, -1, -1]), np.array([2, -1, -1, 4, 3, -1, -1, -1])

    linked = call(
        link_nodes,
        tree_offset=np.array([0, 3, 8]),
        feature=feature,
        left=left,
        right=right,
        missing_left=missing_left,
        n_features=2,
    )

    assert_same(linked.lower[:, 1], [1, 1, 2, 4, 5, 5, 6, 7])
    assert_same(linked.lower[:, 0], [2, 1, 2, 7, 6, 5, 6, 7])
    assert_same(linked.column, [0, 0, 0, 1, 2, 0, 0, 0])
    assert_same(linked.tree_depth, [1, 2])


@given(data=st.data())
def test_rows_end_where_they_would_alone(data):
    ensemble = data.draw(ensembles(max_depth=7))
    X = data.draw(rows_for(ensemble, n=7))
    X[data.draw(st.integers(0, 6))] = data.draw(st.sampled_from([np.inf, -np.inf, np.nan]))

    leaves = ensemble.predictor.find_leaves(transposed(X), range(ensemble.n_trees))

    assert_same(leaves, leaves_alone(ensemble, X))
    some = range(1, ensemble.n_trees)
    assert_same(ensemble.predictor.find_leaves(transposed(X), some), leaves[1:])


@given(data=st.data())
def test_rows_of_float32_end_where_they_would_in_float64(data):
    ensemble = data.draw(ensembles(max_depth=7))
    with np.errstate(over="ignore"):
        X = data.draw(rows_for(ensemble, n=7)).astype(np.float32)
    X[data.draw(st.integers(0, 6))] = data.draw(st.sampled_from([np.inf, -np.inf, np.nan]))

    leaves = ensemble.predictor.find_leaves(
        transposed(X, dtype=np.float32), range(ensemble.n_trees)
    )

    assert_same(leaves, leaves_alone(ensemble, X.astype(np.float64)))


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
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6, 30])
def test_trees_of_every_depth(depth, branching, dtype):
    rng = np.random.default_rng(depth)
    ensemble, X = deep_ensemble(rng, depth, 4, branching)
    X[rng.random(X.shape) < 0.1] = np.nan
    X = X.astype(dtype)

    leaves = leaves_alone(ensemble, X)
    expected = np.full(len(X), ensemble.base_score)
    for of_tree in leaves:
        expected = expected + ensemble.value[of_tree]

    assert_same(ensemble.apply(X), leaves.T - ensemble.tree_offset[:-1])
    assert_same(ensemble.raw_predict(X), expected)
    block = transposed(X, dtype=dtype)
    assert_same(ensemble.predictor.find_leaves(block, range(3)), leaves)


@pytest.mark.parametrize("depth", range(1, 9))
def test_values_on_thresholds_at_every_level(depth):
    """Level k compares feature k with 0 and goes on to the left: nodes 0 to depth, then the right
    leaves from below upwards, so that leaving at level k ends at node 2 depth - k."""
    level = np.arange(depth)
    arrays = {name: np.zeros(2 * depth + 1, dtype) for name, dtype in NODE_DTYPES.items()}
    for name, inner in {"feature": level, "left": level + 1, "right": 2 * depth - level}.items():
        arrays[name][:] = -1
        arrays[name][:depth] = inner
    arrays["missing_left"][:depth] = level % 2 == 1
    ensemble = ensemble_of([Tree(**arrays)], depth)
    ensemble.validate()
    on, one_ulp_above, missing = np.zeros(depth), *np.zeros((2, depth, depth))
    one_ulp_above[level, level] = np.nextafter(0, 1)
    missing[level, level] = np.nan

    leaves = ensemble.apply(np.vstack([on, one_ulp_above, missing]))[:, 0]

    leaving = 2 * depth - level
    assert leaves[0] == depth
    assert_same(leaves[1 : depth + 1], leaving)
    assert_same(leaves[depth + 1 :], np.where(level % 2 == 1, depth, leaving))


@given(data=st.data())
def test_float32_rows_are_the_same_numbers(data):
    """Wherever a float32 value ends up, it is where it would as the float64 that it is."""
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble))
    X = np.clip(X, -1e30, 1e30).astype(np.float32)
    wide = X.astype(np.float64)

    assert ensemble.as_input(X).dtype == np.float32
    assert_same(ensemble.raw_predict(X), ensemble.raw_predict(wide))
    assert_same(ensemble.apply(X), ensemble.apply(wide))
    assert_same(predecomp(ensemble, X).values, predecomp(ensemble, wide).values)
    for stage, of_wide in zip(
        ensemble.staged_raw_predict(X), ensemble.staged_raw_predict(wide), strict=True
    ):
        assert_same(stage, of_wide)


def test_a_threshold_between_two_float32_numbers():
    threshold = 1 + 2.0**-40  # float32 knows 1 and 1 + 2^-23
    ensemble = ensemble_of([stump_on(0, threshold)], 1)
    X = np.array([[1.0], [1 + 2.0**-23]], dtype=np.float32)
    assert_same(ensemble.apply(X), [[1], [2]])
    assert_same(ensemble.apply(np.array([[1.0], [threshold], [1 + 2.0**-39]])), [[1], [1], [2]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 1])
def test_any_number_of_rows(n_rows, dtype):
    rng = np.random.default_rng(0)
    ensemble, _ = deep_ensemble(rng, 6, 3, branching=0.6)
    X = rng.normal(size=(n_rows, 3)).astype(dtype)
    some = [0, n_rows // 2, n_rows - 1] if n_rows else []
    leaves = leaves_alone(ensemble, X[some]).T - ensemble.tree_offset[:-1]
    assert_same(ensemble.apply(X)[some], leaves)
    assert ensemble.apply(X).shape == (n_rows, 3)
    assert ensemble.raw_predict(X).shape == (n_rows,)
