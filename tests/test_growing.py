"""The grown trees equal those of the plain page, bit by bit, whatever the bins and the threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt import reference
from gbt.columns import Columns
from gbt.ensemble import NODE_DTYPES
from gbt.growing import Shape, grow
from gbt.splitting.frontier import Limits, Splits
from tests.asserts import assert_same, assert_valid_tree
from tests.trainer import coarse_columns, fit, grow_tree

pytestmark = pytest.mark.kernels
NAN = np.nan


def assert_same_tree(tree, nodes):
    """Compare a tree with the plain page's list of nodes, every array bit by bit."""
    for name in NODE_DTYPES:
        assert_same(getattr(tree, name), np.array([getattr(node, name) for node in nodes]))


@st.composite
def tables(draw):
    """Draw a table: small ones, and ones of so many values that small nodes are sorted."""
    n = draw(st.integers(1, 12) | st.integers(60, 130))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        n_distinct = draw(st.sampled_from([1, 2, 5, 30, 10**9]))
        column = rng.integers(0, n_distinct, size=n) / 7
        column[rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.2, 1.0]))] = NAN
        columns.append(column)
    return np.column_stack(columns)


@st.composite
def gradients(draw, n):
    """Draw g and h: few distinct ones, so that gains tie, or all different."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    few = draw(st.booleans())
    gradient = rng.integers(-2, 3, size=n).astype(float) if few else rng.normal(size=n)
    kind = draw(st.sampled_from(["one", "few", "any", "tiny"]))
    hessian = {
        "one": np.ones(n),
        "few": rng.integers(0, 3, size=n) / 2,
        "any": rng.uniform(0, 1, size=n),
        "tiny": 10.0 ** rng.uniform(-12, 0, size=n),
    }[kind]
    return gradient, hessian


def with_ties(X, gradient, hessian):
    """Return a problem in which every cut has equals, so that every rule about ties decides.

    Each row has a mirror image, so the cuts at c and at -c separate alike. The columns stand there
    twice, once negated, so features tie. Missing rows without weight score alike on either side.
    """
    X = np.vstack([X, -X, np.full((1, X.shape[1]), NAN)])
    X = np.hstack([X, -X])
    return X, np.concatenate([gradient, gradient, [0.0]]), np.concatenate([hessian, hessian, [0.0]])


@st.composite
def growths(draw):
    X = draw(tables())
    gradient, hessian = draw(gradients(len(X)))
    if draw(st.booleans()):
        X, gradient, hessian = with_ties(X, gradient, hessian)
    parameters = {
        "max_depth": draw(st.sampled_from([None, 1, 2, 4])),
        "max_leaves": draw(st.sampled_from([None, None, 2, 5])),
        "min_child_weight": draw(st.sampled_from([0.0, 1.0, 3.0])),
        "min_samples_leaf": draw(st.sampled_from([1, 2, 5])),
        "reg_lambda": draw(st.sampled_from([0.0, 0.1, 1.0, 10.0])),
        "min_split_gain": draw(st.sampled_from([0.0, 0.0, 0.5])),
    }
    return X, gradient, hessian, parameters


@given(growths(), st.data())
def test_trees_are_those_of_the_page(growth, data):
    X, gradient, hessian, parameters = growth
    nodes = reference.grow(X, gradient, hessian, learning_rate=0.5, fixed_point=True, **parameters)
    for columns in (Columns.from_table(X), data.draw(coarse_columns(X))):
        tree, _ = grow_tree(columns, gradient, hessian, **parameters)
        assert_valid_tree(tree)
        assert_same_tree(tree, nodes)


@pytest.mark.parametrize("missing", [False, True])
def test_bins_that_are_really_coarse(missing):
    """More distinct values than bins: here, and only here, the real bins are refined."""
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(600, 2)), 3)
    if missing:
        X[rng.random(X.shape) < 0.1] = NAN
    gradient, hessian = rng.normal(size=600), rng.uniform(0.1, 1.0, size=600)
    columns = Columns.from_table(X)
    assert (columns.n_bins < columns.missing_code).all()
    tree, _ = grow_tree(columns, gradient, hessian, max_depth=2, reg_lambda=1.0)
    nodes = reference.grow(
        X, gradient, hessian, learning_rate=0.5, max_depth=2, reg_lambda=1.0, fixed_point=True,
        min_child_weight=0.0,
    )  # fmt: skip
    assert_same_tree(tree, nodes)


@given(growths())
def test_leaves_are_where_the_rows_walk_to(growth):
    X, gradient, hessian, parameters = growth
    tree, leaves = grow_tree(Columns.from_table(X), gradient, hessian, **parameters)
    value = np.zeros(len(X))
    tree.add_values(X, value)
    assert_same(value, tree.value[leaves])
    assert_same(np.bincount(leaves, minlength=tree.n_nodes), tree.n_samples * tree.is_leaf)


@given(growths())
def test_limits_hold_at_every_node(growth):
    X, gradient, hessian, parameters = growth
    tree, _ = grow_tree(Columns.from_table(X), gradient, hessian, **parameters)
    child = np.concatenate([tree.left[~tree.is_leaf], tree.right[~tree.is_leaf]])
    assert (tree.n_samples[child] >= parameters["min_samples_leaf"]).all()
    # H is a float64 sum here and was an exact one when the split was chosen.
    slack = 1e-12 * tree.sum_hessian[0]
    assert (tree.sum_hessian[child] >= parameters["min_child_weight"] - slack).all()
    assert (tree.sum_hessian[child] > 0).all()
    assert (tree.gain[~tree.is_leaf] > parameters["min_split_gain"] - 1e-9).all()
    if parameters["max_depth"] is not None:
        assert tree.depth.max() <= parameters["max_depth"]
    if parameters["max_leaves"] is not None:
        assert tree.is_leaf.sum() <= parameters["max_leaves"]


def test_best_first_splits_where_the_gain_is_largest():
    """Three groups far apart and one pair close together: the pair is separated last."""
    x = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.array([0.0, 100.0, 300.0, 301.0])
    X, gradient, hessian = x.reshape(-1, 1), -y, np.ones(4)
    for max_leaves, thresholds in [(2, [1.5]), (3, [0.5, 1.5]), (4, [0.5, 1.5, 2.5])]:
        tree, _ = grow_tree(
            Columns.from_table(X), gradient, hessian, max_leaves=max_leaves, learning_rate=1.0
        )
        assert sorted(tree.threshold[~tree.is_leaf]) == thresholds


def test_equal_residuals_stay_a_leaf():
    X = np.random.default_rng(0).normal(size=(500, 3))
    for residual in (0.1, 1 / 3, 1e-12, 1e12):
        for reg_lambda in (0.0, 1.0):
            gradient = np.full(500, residual)
            tree, _ = grow_tree(
                Columns.from_table(X), gradient, np.ones(500), reg_lambda=reg_lambda
            )
            assert tree.n_nodes == 1


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_scale_of_the_target_changes_nothing_but_the_values(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    gradient = X[:, 0] + rng.normal(size=300)
    columns = Columns.from_table(X)
    power = 2.0 ** np.round(np.log2(scale))  # so that scaling rounds nothing
    one, _ = grow_tree(columns, gradient, np.ones(300), max_depth=4)
    other, _ = grow_tree(columns, power * gradient, np.ones(300), max_depth=4)
    for name in ("feature", "threshold", "n_samples"):
        assert_same(getattr(other, name), getattr(one, name))
    assert_same(other.value, power * one.value)


@pytest.mark.large
def test_an_outlier_does_not_blur_the_rest():
    """One gradient of 1e9 among 1e5 of size 1: the other rows are still split where they should."""
    rng = np.random.default_rng(0)
    n = 100_000
    x = rng.normal(size=n)
    gradient = np.where(x > 0.25, -1.0, 1.0)
    outlier = rng.integers(n)
    is_outlier = np.arange(n) == outlier
    X = np.column_stack([x, is_outlier])
    gradient[outlier] = 1e9
    tree, _ = grow_tree(Columns.from_table(X), gradient, np.ones(n), max_depth=2)
    assert tree.feature[0] == 1  # the outlier alone first,
    assert tree.feature[1] == 0  # then the cut that all others ask for
    below, above = x[~is_outlier & (x <= 0.25)].max(), x[~is_outlier & (x > 0.25)].min()
    assert below <= tree.threshold[1] < above


@pytest.mark.large
@pytest.mark.parametrize("missing", [False, True])
def test_threads_change_nothing(missing):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(20_000, 7)), 2)  # enough work for two threads
    X = np.hstack([X, X])  # column k + 7 ties with k, and is searched by another thread
    if missing:
        X[rng.random(X.shape) < 0.1] = NAN
    y = X[:, :3].sum(axis=1) if not missing else np.nansum(X[:, :3], axis=1)
    y = y + rng.normal(size=len(X))
    one, two = (fit(X, y, n_jobs=n_jobs, max_depth=6).ensemble for n_jobs in (1, 2))
    for name in (*NODE_DTYPES, "tree_offset"):
        assert_same(getattr(two, name), getattr(one, name))


def test_a_policy_that_separates_nothing_is_refused():
    """Or growth without a limit of depth would never end."""

    class Useless:
        def split(self, frontier, limits, n_jobs):
            n = len(frontier.start)
            return Splits(np.zeros(n, int), np.full(n, 99), np.zeros(n, bool), np.ones(n))

    X = np.arange(4.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="sends no row to one of its sides"):
        grow(
            Columns.from_table(X),
            X[:, 0],
            np.ones(4),
            np.ones(4),
            rows=np.arange(4),
            features=np.array([0]),
            splitter=Useless(),
            limits=Limits(0.0, 0.0, 1, 0.0),
            shape=Shape(None, None),
            learning_rate=1.0,
        )
