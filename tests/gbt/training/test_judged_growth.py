"""Trees in which rows judge the splits, and nodes that draw columns: the page's, node by node."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.speed.checked_trees import compare
from gbt import GBTClassifier, GBTRegressor, load
from gbt.kernels.cuts import judging as judging_kernels
from gbt.kernels.cuts.bounds import Within
from gbt.kernels.cuts.memory import FOUND, Training
from gbt.kernels.cuts.scores import FREE
from gbt.kernels.cuts.sets import JUDGE
from gbt.kernels.rows.derivatives import GIVEN
from gbt.kernels.trees.experience import DEPTHS
from gbt.kernels.trees.nodes import records
from gbt.kernels.trees.quantise import ROWS_PER_TASK
from gbt.reference.policies import UNASKED, HeldUp
from gbt.reference.sets import bins_of, number_of_tree, parts_of
from gbt.splitting import CrossValidated, Greedy, Unbiased
from gbt.splitting.policy import Limits
from gbt.tables.columns import Columns
from gbt.training.plan import Plan
from gbt.training.sampling import sampled_features
from tests.asserts import assert_same, assert_same_ensemble, assert_same_model
from tests.compiled import FromPython
from tests.trainer import GrowthCase, grow_with, growths, with_threads

pytestmark = pytest.mark.kernels
POLICIES = [Unbiased(), Unbiased(merged=True), CrossValidated(2), CrossValidated(5)]
NAN = np.nan
judging = FromPython(judging_kernels)


def grow_and_compare(policy, case, **others):
    """Grow a tree, and compare every node with the page."""
    growth = case.growth(**{"splitter": policy} | others)
    tree, leaves = grow_with(growth, case.rows, case.features)
    seen = np.arange(case.columns.n_rows, dtype=np.int32) if case.rows is None else case.rows
    page = compare(
        tree, leaves, seen, case.columns, policy, growth.plan, growth.training, 0, case.features
    )
    assert page.differs == []
    return tree, page, growth


@pytest.mark.parametrize("policy", [*POLICIES, "greedy", "greedy in Python"], ids=str)
@settings(max_examples=max(10, settings().max_examples))
@given(growths("judged", least_rows=8), st.integers(0, 2**40), st.sampled_from([1, 10**9]))
def test_splits_are_those_of_the_page(policy, case, seed, least_values):
    """Also of greedy trees, whose nodes draw columns here."""
    case.asked |= {"max_leaves": None, "seed": seed}
    others = {"on_common_road": Greedy()} if policy == "greedy in Python" else {"n_jobs": 2}
    policy = Greedy() if isinstance(policy, str) else policy
    with with_threads(least_values):
        _, page, growth = grow_and_compare(policy, case, **others)
    if isinstance(policy, Unbiased):
        scores, size = growth.work.judging.scores[0], np.abs(case.gradient).sum() ** 2
        np.testing.assert_allclose(scores, page.scores, rtol=1e-9, atol=1e-12 * size)


def case_of(X, gradient, rows=None, **asked):
    """Return the case of a tree on all columns of a table; hessians and weights are 1."""
    ones, features = np.ones(len(X)), np.arange(X.shape[1])
    return GrowthCase(Columns.from_table(X), gradient, ones, ones, rows, features, asked)


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
    rows = np.flatnonzero(rng.random(n) < 0.8).astype(np.int32) if are_some else None
    case = case_of(X, gradient, rows, max_depth=3, min_samples_leaf=5)
    with with_threads(1):
        _, page, growth = grow_and_compare(policy, case, n_jobs=n_jobs, seed=5)
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


KINDS = ["continuous", "few values", "heavy values", "one heavy", "halves", "missing", "none"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 300, 2000])
def test_bins_are_those_of_the_page(n, kind):
    rng = np.random.default_rng(n)
    x = {
        "continuous": rng.normal(size=n),
        "few values": rng.integers(30, size=n).astype(float),
        "heavy values": np.round(rng.normal(size=n) * 300) * (rng.random(n) < 0.6),
        "one heavy": np.where(rng.random(n) < 0.7, 0.5, rng.normal(size=n)),
        "halves": np.repeat(np.arange(float(n)), np.where(rng.random(n) < 0.5, 12, 1)),
        "missing": np.where(rng.random(n) < 0.3, NAN, rng.normal(size=n)),
        "none": np.full(n, NAN),
    }[kind]
    columns = Columns.from_table(x[:, np.newaxis])
    own = np.where(np.isnan(x), -1, columns.bins(0).astype(int))
    assert_same(own, bins_of(x))
    assert own.max() < (240 if np.isnan(x).any() else 256)
    if kind == "one heavy":
        assert {*x[own == own[x == 0.5][0]]} == {0.5}


class OwnUnbiased(Unbiased):
    """A policy of one's own, whatever it inherits."""

    def split(self, frontier, limits, n_jobs):
        raise ZeroDivisionError


def test_a_judge_without_weight_says_nothing():
    """D1' has no row left of the cut: (3 - 7)(-2) / 4 on the right, less 3 (-2) / 4 in all."""
    left, total = np.zeros((3, 3), np.int64), np.array([[3, 9, 9], [-2, 4, 4], [0, 0, 0]])
    assert judging.worth_to(1, 7, 3, left, total, 0.0, FREE) == 3.5


@pytest.mark.parametrize(("binds", "loss"), [(False, 45.0), (True, 5.0)])
def test_a_fold_judges_the_step_within_its_bounds(binds, loss):
    """The others take the step 5, or no more than 1: 4 * 5 + 2 * 5^2 / 2, or 4 + 2 / 2."""
    assert judging.loss_on(4, 2, -10, 2, 0.0, Within(binds, -1.0, 1.0, 0.0)) == loss


def test_a_fold_says_nothing_where_the_others_have_no_cut():
    """Sums left of a cut are those of another column then."""
    found, judge = records(1, FOUND)[0], records(1, JUDGE)[0]
    judge["left_of_best"], judge["total"], judge["best"]["score"] = 3, 7, -np.inf
    judging.judge_folds(found, 0.0, 0.0, 1.0, 2, judge, FREE)
    assert (found["score"], found["worth"], found["may_split"]) == (0.0, 0.0, 0)


def test_a_policy_of_ones_own_is_asked_for_splits():
    x = np.arange(40.0)
    with pytest.raises(ZeroDivisionError):
        GBTRegressor(splitter=OwnUnbiased()).fit(x[:, np.newaxis], x)


def test_best_first_growth_splits_what_is_worth_most_on_the_page():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 3)), 1)
    gradient = np.round(10 * (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=200)))
    whole, page, _ = grow_and_compare(Unbiased(), case_of(X, gradient))
    waiting, split = {0}, set()
    while len(split) < 5:
        best = max(waiting & {j for j in page.worth if whole.left[j] >= 0}, key=page.worth.get)
        waiting = waiting - {best} | {int(whole.left[best]), int(whole.right[best])}
        split.add(best)
    tree, _ = case_of(X, gradient, max_leaves=6).grow(splitter=Unbiased())
    inner = np.flatnonzero(tree.feature >= 0)
    own = sorted((int(tree.feature[j]), float(tree.threshold[j])) for j in inner)
    assert own == sorted((int(whole.feature[j]), float(whole.threshold[j])) for j in split)
    assert max(split) >= 5  # else the first nodes in preorder would do
    for least, is_enough in ((page.worth[0], True), (np.nextafter(page.worth[0], np.inf), False)):
        tree, _ = case_of(X, gradient, min_split_gain=least).grow(splitter=Unbiased())
        assert (tree.n_nodes > 1) == is_enough


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
@pytest.mark.parametrize("case", [(0, 150, 1, 3), (1, 499, 0.7, 3), (2, 500, 1, 3), (4, 500, 1, 9)])
def test_pooled_trees_go_by_what_has_held_up(case, merged):
    """Tree after tree, from the residuals before it: depth, trust and all splits, by the page.

    Exclusive or: no row confirms the root, and rows confirm what is below it.
    """
    seed, n, colsample, deepest = case
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    y = 1.5 * (X[:, 0] * X[:, 1] > 0) + X[:, 2] + 0.5 * rng.normal(size=n)
    policy = Unbiased(merged=merged, pooled=True)
    asked = {"max_depth": deepest, "learning_rate": 0.1, "min_child_weight": 1.0}
    fitted = GBTRegressor(30, splitter=policy, colsample=colsample, random_state=seed, **asked)
    model, seed = fitted.fit(X, y).ensemble_, fitted._sampling.seed
    columns, held_up, depths, ones = Columns.from_table(X), HeldUp(), [], np.ones(1)
    for m, tree in enumerate(model.trees):
        gradient = model.truncate(m).raw_predict(X) - y
        training = Training(y, ones, np.zeros(len(X)), gradient, ones)
        depth = held_up.depth_for(number_of_tree(seed, m), n)
        plan = Plan(GIVEN, Limits(max_depth=depth or deepest), 0.1, 1, seed)
        rows = np.arange(len(X), dtype=np.int32)
        page = compare(
            tree, model.apply(X)[:, m], rows, columns, policy, plan, training, m,
            sampled_features(seed, m, np.arange(3), colsample), min(depth, UNASKED), held_up,
        )  # fmt: skip
        assert page.differs == []
        held_up.remember(page.judged)
        depths.append(depth)
    assert len(set(depths)) > 2  # asked, and two depths at least
    assert deepest == 3 or max(depths) > 6  # nodes of the seventh depth are asked
    on_page = np.transpose([held_up.features[k] for k in range(3)])
    np.testing.assert_allclose(fitted._held_up[0, :, DEPTHS:], on_page, rtol=1e-6)


@pytest.mark.large
def test_what_has_held_up_is_of_each_output_and_goes_on(tmp_path):
    """Whoever grows an output next: other threads, another call, or a model from a file."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1500), [-0.7, 0.7])
    asked = {"n_estimators": 8, "colsample": 0.3, "random_state": 0, "learning_rate": 0.1}
    alone = GBTClassifier(**asked, n_jobs=1).fit(X, y)
    assert_same_model(GBTClassifier(**asked, n_jobs=3).fit(X, y), alone)
    GBTClassifier(**asked | {"n_estimators": 2}).fit(X, y).save(tmp_path / "model.json")
    half = load(tmp_path / "model.json").set_params(warm_start=True, n_estimators=8)
    assert_same_ensemble(half.fit(X, y).ensemble_, alone.ensemble_)


def test_experience_with_pooled_trees_says_nothing_in_others():
    """A warm start by another splitter goes by what the rows of its own trees say."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] + 2 * np.random.default_rng(1).normal(size=300)
    told = GBTRegressor(n_estimators=20, warm_start=True, random_state=0).fit(X, y)
    forgetful = copy.deepcopy(told)
    forgetful._held_up = np.zeros_like(told._held_up)
    asked = {"splitter": "unbiased", "n_estimators": 30}
    told, forgetful = (model.set_params(**asked).fit(X, y) for model in (told, forgetful))
    assert_same_ensemble(told.ensemble_, forgetful.ensemble_)


def test_experience_with_deeper_trees_grows_none_beyond_the_limit():
    """There is no memory for such nodes. Splits at all six depths of the first trees hold up."""
    X = np.random.default_rng(0).normal(size=(300, 1))
    model = GBTRegressor(n_estimators=5, max_depth=6, warm_start=True, random_state=0)
    model.fit(X, np.sin(9 * X[:, 0]))
    assert model.ensemble_.trees[4].n_nodes > 7
    model.set_params(n_estimators=9, max_depth=2).fit(X, np.sin(9 * X[:, 0]))
    assert max(tree.n_nodes for tree in model.ensemble_.trees[5:]) == 7


@pytest.mark.large
def test_columns_of_noise_get_little_of_the_gain():
    """Half of the columns are noise. Nine per cent are theirs if experience has no say in nodes."""
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 10))
        y = 0.3 * X[:, :5].sum(axis=1) + rng.normal(size=1000)
        gain = GBTRegressor(random_state=seed, n_jobs=1).fit(X, y).feature_importances_
        shares.append(gain[5:].sum() / gain.sum())
    assert np.mean(shares) < 0.07
