"""Trees in which rows judge the splits: those of the page, node by node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.checked_trees import compare
from gbt import GBTRegressor
from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.reference.policies import HeldUp
from gbt.reference.sets import bins_of, number_of_tree, parts_of
from gbt.splitting import CrossValidated, Unbiased
from gbt.splitting.frontier import Limits
from gbt.tables.columns import Columns
from gbt.training.growing import TreeGrowth
from gbt.training.histogram_growth import HistogramGrowth
from gbt.training.plan import Plan, Shape
from tests.asserts import assert_same
from tests.trainer import coarse_columns, fit, grow_with, growth_for, narrowings, with_threads

pytestmark = pytest.mark.kernels
POLICIES = [Unbiased(), Unbiased(merged=True), CrossValidated(2), CrossValidated(5)]
NAN = np.nan


@st.composite
def tables(draw):
    """Draw numbers, of which some have few bins, and levels, few and more than a word marks.

    Nine columns and more fill another pack, of which they leave lanes empty.
    """
    n, p = draw(st.integers(8, 160)), draw(st.integers(1, 3) | st.sampled_from([9, 13]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = np.array([draw(st.sampled_from([2, 3, 9, 70])) for _ in range(p)])
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
        **draw(narrowings(columns.n_columns)),
    }
    directions = rng.integers(-1, 2, size=columns.n_columns) * (columns.n_levels == 0)
    asked["directions"] = draw(st.sampled_from([None, directions.astype(np.int8)]))
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
            scores = growth.work.judging.scores[0]
            size = np.abs(problem[1]).sum() ** 2
            np.testing.assert_allclose(scores, page.scores, rtol=1e-9, atol=1e-12 * size)


@pytest.mark.large
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("are_some", [False, True])
@pytest.mark.parametrize("policy", [Unbiased(), CrossValidated(3)], ids=str)
def test_a_table_of_several_blocks_of_rows(policy, are_some, n_jobs):
    """Rows are dealt out block by block; nodes are large, with histograms kept, and small."""
    rng = np.random.default_rng(0)
    n = 2 * ROWS_PER_TASK + 300
    X = np.column_stack([rng.integers(3, size=n), rng.integers(6, size=n)]).astype(float)
    gradient = rng.integers(-9, 10, size=n) + 3.0 * (X[:, 0] > 0) - 3.0 * (X[:, 1] > 2)
    asked = {"max_depth": 3, "min_samples_leaf": 5}
    rows = np.flatnonzero(rng.random(n) < 0.8).astype(np.int32) if are_some else None
    problem = Columns.from_table(X), gradient, np.ones(n), np.ones(n), asked, rows
    with with_threads(1):
        _, _, page, growth = grow_and_compare(policy, problem, n_jobs, seed=5)
    assert page.differs == []
    assert page.n_splits >= 3  # two columns decide
    assert 0 < growth.rules["most_rows_small"] < n / 3  # the root and a child are large
    rows = np.arange(n) if rows is None else rows
    drawn = parts_of(len(rows), 3, 5, 0)
    assert_same(growth.work.judging.set_of_row[rows], drawn.astype(np.uint8))


@pytest.mark.parametrize("n_parts", [2, 3, 16])
def test_parts_are_of_equal_size_and_differ_from_tree_to_tree(n_parts):
    n = 2 * ROWS_PER_TASK + 101
    parts = parts_of(n, n_parts, 7, 0)
    assert np.ptp(np.bincount(parts, minlength=n_parts)) <= 1
    for other in (parts_of(n, n_parts, 7, 1), parts_of(n, n_parts, 8, 0)):
        assert abs((parts == other).mean() - 1 / n_parts) < 5 / np.sqrt(n * n_parts)
    # A row and the next are in one part about as often as two others.
    assert abs((parts[1:] == parts[:-1]).mean() - 1 / n_parts) < 5 / np.sqrt(n * n_parts)


@pytest.mark.parametrize("kind", ["continuous", "few values", "heavy values", "missing", "none"])
@pytest.mark.parametrize("n", [5, 300, 2000])
def test_bins_are_those_of_the_page(n, kind):
    rng = np.random.default_rng(n)
    x = {
        "continuous": rng.normal(size=n),
        "few values": rng.integers(30, size=n).astype(float),
        "heavy values": np.round(rng.normal(size=n) * 300) * (rng.random(n) < 0.6),
        "missing": np.where(rng.random(n) < 0.3, NAN, rng.normal(size=n)),
        "none": np.full(n, NAN),
    }[kind]
    columns = Columns.from_table(x[:, np.newaxis])
    own = np.where(np.isnan(x), -1, columns.bins(0).astype(int))
    assert_same(own, bins_of(x))


@pytest.mark.large
@pytest.mark.parametrize("policy", [Unbiased(), CrossValidated(5, stop_at_stub=False)], ids=str)
def test_threads_and_the_number_of_trees_a_call_change_nothing(policy):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6_000, 12))
    X[rng.random(X.shape) < 0.1] = NAN
    y = np.nansum(X[:, :3], axis=1) + rng.normal(size=len(X))
    asked = {"n_estimators": 6, "splitter": policy, "random_state": 3}
    first = GBTRegressor(**asked, n_jobs=1).fit(X, y)
    again = [
        GBTRegressor(**asked, n_jobs=2).fit(X, y),
        GBTRegressor(**asked, n_jobs=1, callbacks=[lambda progress: None]).fit(X, y),
    ]
    for other in again:
        assert_same(other.ensemble_.feature, first.ensemble_.feature)
        assert_same(other.ensemble_.threshold, first.ensemble_.threshold)
        assert_same(other.ensemble_.value, first.ensemble_.value)
        assert_same(other.split_scores_, first.split_scores_)
    assert (first.ensemble_.feature >= 0).sum() > 50


class OwnUnbiased(Unbiased):
    """A policy of one's own that answers for nodes itself, whatever it inherits."""

    def split(self, frontier, limits, n_jobs):
        raise AssertionError


def test_a_policy_is_asked_for_splits_if_it_has_an_answer():
    columns = Columns.from_table(np.arange(40.0)[:, np.newaxis])
    for policy, kind in (
        *[(policy, HistogramGrowth) for policy in (*POLICIES, CrossValidated(16))],
        (OwnUnbiased(), TreeGrowth),
    ):
        growth = growth_for(columns, np.arange(40.0), np.ones(40), splitter=policy)
        assert isinstance(growth, kind)


def test_best_first_growth_splits_what_is_worth_most_on_the_page():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 3)), 1)
    gradient = np.round(10 * (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=200)))
    columns, ones = Columns.from_table(X), np.ones(200)
    whole, _, page, _ = grow_and_compare(Unbiased(), (columns, gradient, ones, ones, {}, None))
    waiting, split = {0}, set()
    while len(split) < 5:
        best = max(waiting & {j for j in page.worth if whole.left[j] >= 0}, key=page.worth.get)
        waiting = waiting - {best} | {int(whole.left[best]), int(whole.right[best])}
        split.add(best)
    limits = {"max_leaves": 6}
    tree, _, _, _ = grow_and_compare(Unbiased(), (columns, gradient, ones, ones, limits, None))
    inner = np.flatnonzero(tree.feature >= 0)
    own = sorted((int(tree.feature[j]), float(tree.threshold[j])) for j in inner)
    assert own == sorted((int(whole.feature[j]), float(whole.threshold[j])) for j in split)
    assert max(split) >= 5  # else the first nodes in preorder would do


@pytest.mark.slow
@pytest.mark.large
def test_noise_is_worth_nothing_to_rows_that_chose_nothing():
    """At the root of the first tree: the mean is 0, and half of the scores are above it."""
    n = 1_000
    scores = np.empty(n)
    for seed in range(n):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
        scores[seed] = GBTRegressor(
            n_estimators=1, max_depth=1, splitter="unbiased", min_split_gain=-1e9, reg_lambda=0.0,
            random_state=seed, n_jobs=1,
        ).fit(X, y).split_scores_.sum()  # fmt: skip
    assert abs(scores.mean()) < 3 * scores.std() / np.sqrt(n)
    assert abs((scores > 0).mean() - 0.5) < 3 * 0.5 / np.sqrt(n)


@pytest.mark.large
@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_trees_that_ask_no_node_are_as_deep_as_splits_have_held_up(seed, merged):
    """Tree after tree, from the residuals before it: the depth drawn, and all splits, by the page.

    Exclusive or: no row confirms the root, and rows confirm what is below it.
    """
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(150, 3)), 1)
    y = 1.5 * (X[:, 0] * X[:, 1] > 0) + X[:, 2] + 0.5 * rng.normal(size=len(X))
    policy = Unbiased(merged=merged, pooled=True)
    asked = {"n_estimators": 30, "max_depth": 3, "learning_rate": 0.1}
    model = fit(X, y, splitter=policy, seed=seed, **asked).ensemble
    columns, held_up, depths = Columns.from_table(X), HeldUp(), []
    limits, ones = Limits(1.0, 1.0, 1, 0.0, 0.0), np.ones(1)
    for m, tree in enumerate(model.trees):
        gradient = model.truncate(m).raw_predict(X) - y
        training = Training(y, ones, np.zeros(len(X)), gradient, ones)
        depth = held_up.depth_for(number_of_tree(seed, m)) if m % 2 == 0 else 0
        plan = Plan(GIVEN, limits, Shape(depth or 3, None), 0.1, 1, seed)
        rows = np.arange(len(X), dtype=np.int32)
        leaves = model.apply(X)[:, m]
        page = compare(
            tree, leaves, rows, columns, policy, plan, training, m, asks_nodes=depth == 0
        )
        assert page.differs == []
        held_up.remember(page.candidates)
        depths.append(depth)
    assert len(set(depths)) > 2  # asked, and two depths at least
