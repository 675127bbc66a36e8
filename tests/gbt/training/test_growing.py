"""The grown trees equal those of the plain page, bit by bit, whatever the bins and the threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.speed.checked_trees import groups_on_page
from gbt.kernels.cuts import refine
from gbt.kernels.platform.compiling import IS_COMPILING
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.reference import boosting as reference
from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from gbt.splitting.policy import Splits
from gbt.tables.categories import MOST_LEVELS
from gbt.tables.columns import Columns
from gbt.training import histogram_levels
from tests.asserts import assert_same, assert_same_as_page, assert_same_trees, assert_valid_tree
from tests.trainer import grow_tree, grow_with, growth_for, growths, with_threads

pytestmark = pytest.mark.kernels
NAN = np.nan
WAYS = {
    "by one thread": {},
    "by a policy in Python": {"on_common_road": Greedy()},
    "by two threads": {"n_jobs": 2},
    "by three": {"n_jobs": 3},
}
# Estimates of times by which there is no choice of how to look inside bins.
INSIDE_BINS = {
    "by walking": {"cost_of_walking": lambda n_rows: 0.0},
    "by sorting": {"PER_ROW_LOOKED_AT": 0.0, "PER_ROW_SORTED": 0.0},
    "by narrow bins": {
        "PER_ROW": 0.0, "PER_NARROW_BIN": 0.0, "FEWEST_NARROW_BINS": 4, "MOST_NARROW_BINS": 8,
    },
}  # fmt: skip


def marked(way):
    """Compiled kernels have the estimates that they have, and uncompiled ones have no threads."""
    is_only_uncompiled, has_threads = way in INSIDE_BINS, "n_jobs" in WAYS.get(way, {})
    skip = pytest.mark.skipif(is_only_uncompiled if IS_COMPILING else has_threads, reason="")
    return pytest.param(way, marks=skip)


def page(X, gradient, hessian, *, directions=None, groups=(), **parameters):
    return reference.grow(
        X, gradient, hessian, learning_rate=0.5, fixed_point=True, **parameters,
        monotone=() if directions is None else tuple(directions.tolist()),
        interactions=groups or (),
    )  # fmt: skip


def page_of(case):
    """Return the page's tree on the rows and columns of a case, with the table's own columns."""
    own = slice(None) if case.rows is None else case.rows
    place, asked = {k: i for i, k in enumerate(case.features.tolist())}, dict(case.asked)
    for name in ("colsample_bylevel", "colsample_bynode"):
        assert asked.pop(name) == 1.0
    groups = groups_on_page(asked.pop("groups"), case.columns.n_columns)
    kept = [frozenset(place[k] for k in group if k in place) for group in groups]
    directions = asked.pop("directions")
    nodes = page(
        case.columns.table[own][:, case.features].astype(float),
        case.gradient[own], case.hessian[own], sample_weight=case.weight[own],
        directions=None if directions is None else directions[case.features],
        groups=tuple(group for group in kept if group),
        categorical=tuple(np.flatnonzero(case.columns.n_levels[case.features])), **asked,
    )  # fmt: skip
    for node in nodes:
        node.feature = int(case.features[node.feature]) if node.feature >= 0 else -1
    return nodes


def assert_same_levels(tree, nodes, n_levels):
    """Check which levels go left: those that no row has go where missing values go."""
    for t, node in enumerate(nodes):
        if node.levels is None:
            assert tree.level_sets is None or tree.level_sets.of_node[t] == -1
            continue
        n = n_levels[node.feature]
        expected = [node.levels.get(float(level), node.missing_left) for level in range(n)]
        assert_same(tree.level_sets.goes_left(t, n), np.array(expected, dtype=bool))


def assert_grown_by_page(case, tree, leaves):
    """Check a tree of a case, and the leaves of its rows."""
    nodes = page_of(case)
    assert_valid_tree(tree)
    assert_same_as_page(tree, nodes)
    assert_same_levels(tree, nodes, case.columns.n_levels)
    X = case.columns.table if case.rows is None else case.columns.table[case.rows]
    assert_same(tree.find_leaves(np.asarray(X, dtype=np.float64)), leaves)


def grow_another(growth, case):
    """Grow a tree on other derivatives, rows and columns, in memory that is then used again."""
    n, p = case.columns.n_rows, case.columns.n_columns
    growth.training.gradient[:] = np.roll(case.gradient, 1)
    grow_with(growth, np.arange(n // 2, n, dtype=np.int32), np.arange(p // 2, p))
    growth.training.gradient[:] = case.gradient


@pytest.mark.parametrize("way", [*map(marked, [*WAYS, *INSIDE_BINS])])
@settings(max_examples=max(25, settings().max_examples))
@given(growths(), st.booleans(), st.booleans())
def test_trees_are_those_of_the_page(way, case, has_grown, is_by_rows):
    """However small the table: a helper is called for every two values."""
    with with_threads(least_values=2), pytest.MonkeyPatch.context() as patch:
        for name, value in INSIDE_BINS.get(way, {}).items():
            patch.setattr(refine, name, value)
        if is_by_rows:  # as levels of more codes than a node has bits for
            patch.setattr(histogram_levels, "MOST_CODES", 0)
        growth = case.growth(**WAYS.get(way, {}))
        if has_grown:
            grow_another(growth, case)
        tree, leaves = grow_with(growth, case.rows, case.features)
    assert_grown_by_page(case, tree, leaves)


@pytest.mark.parametrize("road", [None, Greedy()], ids=["by one thread", "in Python"])
@settings(max_examples=max(25, settings().max_examples))
@given(growths(has_levels=True))
def test_trees_with_levels_are_those_of_the_page(road, case):
    assert_grown_by_page(case, *case.grow(on_common_road=road))


@pytest.mark.slow
@pytest.mark.large
def test_no_more_rows_are_sorted_than_there_is_room_for():
    """Of 1100 rows in question; sorting would have been fastest, but for the room."""
    rng = np.random.default_rng(0)
    columns = Columns.from_table(np.arange(200_000.0).reshape(-1, 1))
    columns.set_bins(0, np.array([0, 9000]))
    rows = np.append(rng.permutation(9000)[:1100], 9000 + rng.permutation(191_000)[:50_000])
    gradient = np.where(np.arange(200_000) < 4500, 1000.0, -1000.0)
    gradient[9000:] = 0.0
    trees = [
        grow_with(
            growth_for(columns, gradient, np.ones(200_000), max_depth=1, on_common_road=road),
            np.sort(rows).astype(np.int32),
        )[0]
        for road in (None, Greedy())
    ]
    assert trees[0].feature[0] == 0
    assert_same_trees(*trees)


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


@pytest.mark.parametrize("road", [None, Greedy()], ids=["compiled", "in Python"])
@pytest.mark.parametrize(("difference", "n_nodes"), [(2**-23, 3), (2**-25, 1)])
def test_a_gain_that_may_be_rounding_is_none(difference, n_nodes, road):
    """It gains 2 d^2; 16 roundings of (sum|g|)^2 / H = 2 are 2^-47."""
    columns = Columns.from_table(np.array([[0.0], [1.0]]))
    gradient = np.array([1 + difference, 1 - difference])
    tree, _ = grow_tree(columns, gradient, np.ones(2), on_common_road=road)
    assert tree.n_nodes == n_nodes


@pytest.mark.parametrize("alone", [1, 2])
@pytest.mark.parametrize("starts", [0, 6, 1])
@pytest.mark.parametrize(
    "inside", [{}, *INSIDE_BINS.values()], ids=["as is cheapest", *INSIDE_BINS]
)
def test_of_an_edge_and_a_cut_inside_a_bin_that_tie_the_higher_is_taken(starts, alone, inside):
    """G_l = 5 after the first row and again after the last but one: 5^2 / 2 + 5^2 / 7 both times.

    Once the edge after the first row ties with a cut inside a bin, once one inside with the edge
    before the last row, once two inside. With two rows ``alone`` at either end (5^2 / 3 + 5^2 / 7)
    the higher cut is an edge of narrow bins, too.
    """
    columns = Columns.from_table(np.arange(6.0 + alone).reshape(-1, 1))
    columns.set_bins(0, np.array([0, starts if starts == 6 else starts + alone]))
    gradient = np.zeros(6 + alone)
    gradient[[alone - 1, 6]] = 5.0, -5.0
    with pytest.MonkeyPatch.context() as patch:
        for name, value in inside.items():
            patch.setattr(refine, name, value)
        tree, _ = grow_tree(columns, gradient, np.ones(6 + alone), max_depth=1, reg_lambda=1.0)
    assert tree.threshold[0] == 5.5


@pytest.mark.large
@pytest.mark.parametrize("n", [100_000, pytest.param(10_000_000, marks=pytest.mark.nightly)])
def test_an_outlier_does_not_blur_the_rest(n):
    """One gradient of 1e13 among many of size 1: the other rows are still split where they should.

    Two threads do to the last bit what one does.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    gradient = np.where(x > 0.25, -1.0, 1.0)
    outlier = rng.integers(n)
    is_outlier = np.arange(n) == outlier
    X = np.column_stack([x, is_outlier])
    gradient[outlier] = 1e13
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


@pytest.mark.parametrize("first", ["number", "category"])
def test_of_equal_scores_the_lower_column_splits(first):
    """0 and 1 as a number and as a category separate the same rows."""
    x = np.repeat([0.0, 1.0], 30)
    n_levels = np.array([0, 2] if first == "number" else [2, 0])
    columns = Columns.from_table(np.column_stack([x, x]), n_levels=n_levels)
    tree, _ = grow_tree(columns, 2 * x - 1, np.ones(60))
    assert tree.feature.tolist() == [0, -1, -1]
    assert (tree.level_sets.of_node[0] >= 0) == (first == "category")


@pytest.mark.parametrize("splitter", [None, CrossValidated(2)], ids=["greedy", "cross_validated"])
def test_missing_rows_that_gain_alike_on_either_side_go_left(splitter):
    """Theirs sum up to 0, with hessians: 40^2 / 40 + 40^2 / 60 wherever they are."""
    x = np.repeat([0.0, 1.0, np.nan], 40)[:, np.newaxis]
    gradient = np.concatenate([np.ones(40), -np.ones(40), np.tile([1.0, -1.0], 20)])
    tree, _ = grow_tree(
        Columns.from_table(x), gradient, np.ones(120), max_depth=1, splitter=splitter
    )
    assert tree.missing_left[0]
    assert tree.n_samples.tolist() == [120, 80, 40]


def test_best_first_growth_splits_the_earlier_of_two_nodes_that_gain_alike():
    """Both halves of the first column gain by the second what the other does."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    tree, _ = grow_tree(Columns.from_table(X), np.array([-5.0, -3, 3, 5]), np.ones(4), max_leaves=3)
    assert tree.feature.tolist() == [0, 1, -1, -1, -1]


@pytest.mark.large
def test_as_many_levels_as_there_may_be():
    """The kernels' memory is for so many; a level more is refused where levels are learned."""
    n = MOST_LEVELS
    x = np.random.default_rng(0).permutation(n).astype(float)
    columns = Columns.from_table(np.append(x, NAN)[:, np.newaxis], n_levels=np.array([n]))
    gradient = np.append(np.where(x < 5, -1.0, 1.0), 1.0)
    asked = {"categorical_smoothing": 0.0, "max_depth": 2}
    (tree, leaves), (expected, expected_leaves) = (
        grow_tree(columns, gradient, np.ones(n + 1), on_common_road=road, **asked)
        for road in (None, Greedy())
    )
    assert_same(tree.level_sets.words, expected.level_sets.words)
    assert_same(leaves, expected_leaves)
    assert tree.level_sets.goes_left(0, n).sum() in (5, n - 5)


@pytest.mark.parametrize(
    ("first", "answer", "message"),
    [
        (0.0, (0, 99, False), "sends no row to one of its sides"),  # or growth would never end
        # No threshold is below all values.
        (NAN, (0, -1, True), "sends only missing values left"),
        (0.0, (77, 0, False), r"a node on column 77; it may be split on \[0\], and -1"),
    ],
)
def test_answers_of_a_policy_that_are_refused(first, answer, message):
    class Useless:
        def split(self, frontier, limits, n_jobs):
            return Splits(*(np.full(len(frontier), part) for part in answer), np.ones(1))

    X, gradient = np.array([[first], [1.0], [2.0], [3.0]]), np.arange(4.0)
    with pytest.raises(ValueError, match=message):
        grow_tree(Columns.from_table(X), gradient, np.ones(4), splitter=Useless())
