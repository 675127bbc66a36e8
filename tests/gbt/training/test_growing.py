"""The grown trees equal those of the plain page, bit by bit, whatever the bins and the threads."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.checked_trees import groups_on_page
from gbt.kernels.trees import tasks
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.reference import boosting as reference
from gbt.splitting.frontier import Splits
from gbt.splitting.greedy import Greedy
from gbt.tables.columns import Columns
from tests.asserts import assert_same, assert_same_as_page, assert_same_trees, assert_valid_tree
from tests.node_cases import coarsen, column_of
from tests.trainer import (
    coarse_columns,
    grow_tree,
    grow_with,
    growth_for,
    narrowings,
    with_threads,
)

pytestmark = pytest.mark.kernels
NAN = np.nan


@st.composite
def tables(draw):
    """Draw a table: small ones, and ones of so many values that small nodes are sorted."""
    n = draw(st.integers(1, 12) | st.integers(60, 130))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    distinct, missing = st.sampled_from([1, 2, 5, 30, 10**9]), st.sampled_from([0.0, 0.0, 0.2, 1.0])
    columns = [
        column_of(rng, n, draw(distinct), draw(missing)) for _ in range(draw(st.integers(1, 4)))
    ]
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
def parameters_of_trees(draw, n_columns=0):
    """Draw limits; with so many columns also their directions, and groups of them on one path."""
    directions = draw(
        st.none() | st.lists(st.sampled_from([-1, 0, 1]), min_size=n_columns, max_size=n_columns)
    )
    return {
        "directions": np.array(directions, dtype=np.int8) if directions else None,
        "groups": draw(narrowings(n_columns))["groups"] if n_columns else None,
        "max_depth": draw(st.sampled_from([None, 1, 2, 4])),
        "max_leaves": draw(st.sampled_from([None, None, 2, 5])),
        "min_child_weight": draw(st.sampled_from([0.0, 1.0, 3.0])),
        "min_samples_leaf": draw(st.sampled_from([1, 2, 5])),
        "reg_lambda": draw(st.sampled_from([0.0, 0.1, 1.0, 10.0])),
        "min_split_gain": draw(st.sampled_from([0.0, 0.0, 0.5])),
    }


@st.composite
def growths(draw):
    X = draw(tables())
    gradient, hessian = draw(gradients(len(X)))
    if draw(st.booleans()):
        X, gradient, hessian = with_ties(X, gradient, hessian)
    return X, gradient, hessian, draw(parameters_of_trees(X.shape[1]))


@st.composite
def large_growths(draw):
    """Draw a problem whose root, and at least one of its children, keeps a histogram.

    That takes few bins for many rows and columns: 61 rows in 6 bins a column, missing included.
    Nine columns and more have two words of bins, the last of which is partly in use.
    """
    n, p = draw(st.integers(61, 130)), draw(st.integers(1, 12) | st.integers(9, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    drawn = draw(st.sampled_from([[10**9], [2, 5, 10**9]]))
    share_missing = draw(st.sampled_from([[0.0], [0.0, 0.3], [0.3, 1.0]]))
    X = np.column_stack(
        [column_of(rng, n, rng.choice(drawn), rng.choice(share_missing)) for _ in range(p)]
    )
    columns = Columns.from_table(X)
    for k in range(p):
        coarsen(columns, k, rng, most=5)
    gradient, hessian = draw(gradients(n))
    parameters = draw(parameters_of_trees(p)) | {
        "max_depth": draw(st.sampled_from([None, 2, 3, 5])),
        "max_leaves": draw(st.sampled_from([None, None, 3, 8])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 5])),
    }
    return columns, gradient, hessian, parameters


def is_large(n_rows, columns):
    """Say whether nodes of so many rows keep a histogram, which children are subtracted from."""
    return n_rows * columns.n_columns > tasks.LARGE * (columns.n_bins + 1).sum()


def page(X, gradient, hessian, *, directions=None, groups=None, **parameters):
    return reference.grow(
        X, gradient, hessian, learning_rate=0.5, fixed_point=True, **parameters,
        monotone=() if directions is None else tuple(directions.tolist()),
        interactions=groups_on_page(groups, X.shape[1]),
    )  # fmt: skip


@given(growths(), st.data())
def test_trees_are_those_of_the_page(growth, data):
    X, gradient, hessian, parameters = growth
    nodes = page(X, gradient, hessian, **parameters)
    for columns in (Columns.from_table(X), data.draw(coarse_columns(X))):
        tree, _ = grow_tree(columns, gradient, hessian, **parameters)
        assert_valid_tree(tree)
        assert_same_as_page(tree, nodes)


@given(large_growths())
def test_trees_with_large_nodes_are_those_of_the_page(growth):
    columns, gradient, hessian, parameters = growth
    # The larger child of the root has half of its rows at least.
    assert is_large(-(-columns.n_rows // 2), columns)
    tree, _ = grow_tree(columns, gradient, hessian, **parameters)
    assert_same_as_page(tree, page(columns.table, gradient, hessian, **parameters))


@cache
def alike(kind):
    """Return a table, derivatives and the page's tree; half of the columns are nearly the others.

    They say the same but for few rows, so that many are in question.
    """
    rng, n, p = np.random.default_rng(3), 3000, 10
    X = rng.normal(size=(n, p))
    X[:, 5:] = X[:, :5] + rng.normal(size=(n, 5)) * (rng.random((n, 1)) < 0.02)
    X[rng.random(n) < 0.1, 2] = NAN
    gradient = -X[:, 0] - np.nan_to_num(X[:, 2]) + rng.normal(size=n)
    hessian = np.ones(n) if kind == "one" else rng.uniform(0.1, 1.0, size=n)
    return X, gradient, hessian, page(X, gradient, hessian, **OF_ALIKE)


OF_ALIKE = {"max_depth": 3, "reg_lambda": 1.0}


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("kind", ["one", "any"])
def test_large_nodes_whose_columns_are_alike(kind, n_jobs):
    """Threads share such a node: columns are refined while others still are."""
    X, gradient, hessian, nodes = alike(kind)
    columns = Columns.from_table(X)
    with with_threads(1):
        tree, _ = grow_tree(columns, gradient, hessian, n_jobs=n_jobs, **OF_ALIKE)
    shared = tree.n_samples[is_large(tree.n_samples, columns) & ~tree.is_leaf]
    assert len(shared) > 1
    assert_same_as_page(tree, nodes)


@pytest.mark.parametrize("n_missing", [pytest.param(0, marks=pytest.mark.slow), 30])
def test_as_many_bins_as_there_can_be(n_missing):
    """One a value, and in the second column ten values each; the third has one of many rows."""
    n_bins = 240 if n_missing else 256
    rng, n = np.random.default_rng(n_bins), 10 * n_bins
    X = np.column_stack([np.arange(n) // 10, np.arange(n), np.maximum(np.arange(n), 1500)])
    X = np.append(rng.permuted(X, axis=0).astype(float), np.full((n_missing, 3), NAN), axis=0)
    columns = Columns.from_table(X)
    assert columns.n_bins[0] == n_bins == columns.n_values[0]
    gradient, hessian = rng.normal(size=len(X)), np.ones(len(X))
    parameters = {"max_depth": 6, "reg_lambda": 1.0, "min_child_weight": 1.0}
    tree, _ = grow_tree(columns, gradient, hessian, **parameters)
    assert_same_as_page(tree, page(X, gradient, hessian, **parameters))


@given(large_growths() | growths(), st.data())
def test_some_rows_and_columns_grow_the_tree_of_the_table_that_they_make(growth, data):
    table, gradient, hessian, parameters = growth
    columns = table if isinstance(table, Columns) else Columns.from_table(table)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    weights = data.draw(st.sampled_from([[1.0], [3.0], [0.1], [1.0, 2.0, 3.0], [0.5, 1.3]]))
    weight = rng.choice(weights, columns.n_rows)
    rows = np.flatnonzero(rng.random(columns.n_rows) < data.draw(st.sampled_from([0.1, 0.5, 1.0])))
    rows = (rows if len(rows) else np.array([0])).astype(np.int32)
    features = rng.permutation(columns.n_columns)
    features = np.sort(features[: data.draw(st.integers(1, columns.n_columns))])
    directions = parameters["directions"]
    parameters = parameters | {"groups": None}  # whose columns have other numbers on the page

    tree, leaves = grow_with(
        growth_for(columns, gradient, hessian, weight, **parameters), rows, features
    )
    nodes = page(
        columns.table[rows][:, features], gradient[rows], hessian[rows],
        sample_weight=weight[rows],
        **parameters | {"directions": None if directions is None else directions[features]},
    )  # fmt: skip
    for node in nodes:
        node.feature = features[node.feature] if node.feature >= 0 else -1
    assert_same_as_page(tree, nodes)
    value = np.zeros(len(rows))
    tree.add_values(np.asarray(columns.table[rows], dtype=np.float64), value)
    assert_same(value, tree.value[leaves])


@given(large_growths() | growths(), st.booleans(), st.lists(st.booleans(), min_size=2))
def test_memory_may_be_used_again(growth, one_hessian, which):
    """For other gradients, rows and columns, with both kinds of entries."""
    table, _, _, parameters = growth
    columns = table if isinstance(table, Columns) else Columns.from_table(table)
    n, p = columns.n_rows, columns.n_columns
    rng = np.random.default_rng(len(which))
    hessian = np.ones(n) if one_hessian else np.arange(1.0, n + 1.0)
    again = growth_for(columns, np.zeros(n), hessian, **parameters)
    for few in which[:4]:
        gradient = rng.normal(size=n)
        again.training.gradient[:] = gradient
        drawn = {
            "rows": np.arange(n // 2, n, dtype=np.int32) if few else None,
            "features": np.arange(p // 2, p) if few else np.arange(p),
        }
        tree, leaves = grow_with(again, **drawn)
        fresh, fresh_leaves = grow_with(
            growth_for(columns, gradient, hessian, **parameters), **drawn
        )
        assert_same_trees(tree, fresh)
        assert_same(leaves, fresh_leaves)


@given(growths())
def test_a_float32_table_grows_the_tree_of_its_float64_copy(growth):
    X, gradient, hessian, parameters = growth
    X = X.astype(np.float32)
    one, _ = grow_tree(Columns.from_table(X), gradient, hessian, **parameters)
    other, _ = grow_tree(Columns.from_table(X.astype(np.float64)), gradient, hessian, **parameters)
    assert_same_trees(one, other)


@given(large_growths() | growths(), st.data())
def test_teams_of_any_size_and_policies_in_python_grow_the_same_tree(growth, data):
    """However small the table: a helper is called for every two values."""
    table, gradient, hessian, parameters = growth
    columns = table if isinstance(table, Columns) else Columns.from_table(table)
    n, p = columns.n_rows, columns.n_columns
    drawn = {
        "rows": np.arange(data.draw(st.integers(0, n - 1)), n, dtype=np.int32),
        "features": np.arange(data.draw(st.integers(0, p - 1)), p),
    }
    alone, leaves = grow_with(growth_for(columns, gradient, hessian, **parameters), **drawn)
    for other in ({"n_jobs": 2}, {"n_jobs": 3}, {"on_common_road": Greedy()}):
        with with_threads(least_values=2):
            grown = growth_for(columns, gradient, hessian, **parameters, **other)
        tree, own_leaves = grow_with(grown, **drawn)
        assert_same_trees(tree, alone)
        assert_same(own_leaves, leaves)


@pytest.mark.parametrize("offset", [0.0, 12.0])
@pytest.mark.parametrize(
    ("least_gain", "threshold"), [(0, 1.5), (1997, 1.5), (2001, 1.5), (2003, 0)]
)
def test_a_cut_inside_a_bin_that_hardly_gains_enough(offset, least_gain, threshold):
    """The cut in the middle gains 1001 + 1001; those beside it, between bins, 1998::

    bin     0    __1__    2
    g   -1000    -1   1   1000        and offset * h, which changes no gain
    h    1000     1   1   1000
    """
    columns = Columns.from_table(np.arange(4.0).reshape(-1, 1))
    columns.set_bins(0, np.array([0, 1, 3]))
    hessian = np.array([1000.0, 1.0, 1.0, 1000.0])
    gradient = np.array([-1000.0, -1.0, 1.0, 1000.0]) + offset * hessian
    tree, _ = grow_tree(columns, gradient, hessian, max_depth=1, min_split_gain=float(least_gain))
    assert tree.threshold[0] == threshold
    assert tree.n_nodes == (3 if threshold else 1)


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
@pytest.mark.parametrize("n", [100_000, pytest.param(10_000_000, marks=pytest.mark.nightly)])
def test_an_outlier_does_not_blur_the_rest(n):
    """One gradient of 1e9 among many of size 1: the other rows are still split where they should.

    Two threads do to the last bit what one does.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    gradient = np.where(x > 0.25, -1.0, 1.0)
    outlier = rng.integers(n)
    is_outlier = np.arange(n) == outlier
    X = np.column_stack([x, is_outlier])
    gradient[outlier] = 1e9
    columns = Columns.from_table(X)
    tree, two = (
        grow_tree(columns, gradient, np.ones(n), max_depth=2, n_jobs=n_jobs)[0] for n_jobs in (1, 2)
    )
    assert_same_trees(two, tree)
    assert tree.feature[0] == 1  # the outlier alone first,
    assert tree.feature[1] == 0  # then the cut that all others ask for
    below, above = x[~is_outlier & (x <= 0.25)].max(), x[~is_outlier & (x > 0.25)].min()
    assert below <= tree.threshold[1] < above


@pytest.mark.parametrize("are_some", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_several_blocks_grow_the_tree_of_the_page(weighted, are_some):
    """What is done once a row is shared in blocks; three of all rows and two of these."""
    rng, n = np.random.default_rng(0), 2 * ROWS_PER_TASK + 1000
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    gradient, weight = rng.normal(size=n) + X[:, 1], np.ones(n)
    hessian = rng.uniform(0.1, 1.0, size=n)
    if weighted:
        weight = rng.choice([0.5, 1.3], n)
    rows = np.arange(n - ROWS_PER_TASK - 500, n, dtype=np.int32) if are_some else None
    own = slice(None) if rows is None else rows
    asked = {"max_depth": 2, "min_child_weight": 100.0}
    nodes = page(
        X[own], gradient[own], hessian[own], sample_weight=weight[own], reg_lambda=1.0, **asked
    )
    for n_jobs in (1, 2):
        growth = growth_for(
            Columns.from_table(X), gradient, hessian, weight, n_jobs=n_jobs, reg_lambda=1.0, **asked
        )
        tree, leaves = grow_with(growth, rows)
        assert_same_as_page(tree, nodes)
        assert_same(np.bincount(leaves, minlength=tree.n_nodes), tree.n_samples * tree.is_leaf)


@pytest.mark.parametrize(
    ("first", "cut", "missing_left", "message"),
    [
        (0.0, 99, False, "sends no row to one of its sides"),  # or growth would never end
        (NAN, -1, True, "sends only missing values left"),  # no threshold is below all values
    ],
)
def test_a_policy_that_separates_no_values_is_refused(first, cut, missing_left, message):
    class Useless:
        def split(self, frontier, limits, n_jobs):
            n = len(frontier.start)
            return Splits(np.zeros(n, int), np.full(n, cut), np.full(n, missing_left), np.ones(n))

    X, gradient = np.array([[first], [1.0], [2.0], [3.0]]), np.arange(4.0)
    with pytest.raises(ValueError, match=message):
        grow_tree(Columns.from_table(X), gradient, np.ones(4), splitter=Useless())


def test_a_policy_that_splits_on_a_column_that_is_none_is_refused():
    class Beyond:
        def split(self, frontier, limits, n_jobs):
            n = len(frontier.start)
            return Splits(np.full(n, 77), np.zeros(n, int), np.zeros(n, bool), np.ones(n))

    X, gradient = np.arange(4.0)[:, np.newaxis], np.arange(4.0)
    with pytest.raises(ValueError, match=r"a node on column 77; it may be split on \[0\], and -1"):
        grow_tree(Columns.from_table(X), gradient, np.ones(4), splitter=Beyond())
