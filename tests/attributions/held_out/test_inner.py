"""The inner products with the gradients: by hand, by the definitions in loops, by Proposition 3."""

import tracemalloc
import warnings
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import (
    GlobalAttribution,
    forest_inner,
    partial_inner,
    partial_inner_rows,
    predecomp,
    total_gain,
    tree_inner,
    tree_inner_rows,
)
from attributions.held_out.tree_inner import LevelWarning
from attributions.reference import definitions as reference
from attributions.testing import REG_LAMBDAS, Judged, judged, problems
from gbt.estimators import GBTClassifier, GBTRegressor
from gbt.losses.amounts import Poisson
from gbt.losses.squared_and_logistic import LOSSES
from gbt.parallel.in_order import ROWS_PER_BLOCK, merge_blocks
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.tree_cases import ensemble_of, example_1, fit_values, stump_on


def test_two_stumps_by_hand_on_other_rows():
    """Everything that goes wrong by one tree, one factor or one sign shows here."""
    ensemble = ensemble_of([stump_on(0, 0.0), stump_on(0, 0.0)], 1, learning_rate=0.5)
    # lambda 0, y = -1 and 3, base score 0: the first tree goes half way, the second half the rest.
    ensemble = fit_values(ensemble, [[-1.0], [1.0]], np.array([-1.0, 3.0]))
    assert_same(ensemble.value, [0.5, -0.5, 1.5, 0.25, -0.25, 0.75])
    X, y = np.array([[2.0], [-2.0]]), np.array([4.0, 1.0])

    # Row 1 goes right: r = 1, 1/2; -g = 4, 4 - 3/2 = 5/2; q = 2 (4 + 5/4) = 21/2.
    # Row 2 goes left:  r = -1, -1/2; -g = 1, 1 + 1/2 = 3/2; q = 2 (-1 - 3/4) = -7/2.
    assert_same(tree_inner_rows(ensemble, X, y).values, [[10.5], [-3.5]])
    # What the roots moved, b = 1/2 and 1/4: 2 (4/2 + (5/2)/4) and 2 (1/2 + (3/2)/4).
    assert_same(tree_inner_rows(ensemble, X, y).base_values, [5.25, 1.75])
    result = tree_inner(ensemble, X, y, per_tree=True)
    assert_same(result.values, [7.0])
    assert_same(result.per_tree, [[6.0], [1.0]])
    assert_same(result.standard_error, [14.0])  # sqrt(2 / 1 * (7^2 + 7^2))
    # Own work added back to -g: 5/2 + 1 and 3/2 - 1 in the second tree.
    # Row 1: 2 (4 + (7/2)/2) = 23/2. Row 2: 2 (-1 - (1/2)/2) = -5/2.
    assert_same(partial_inner(ensemble, X, y).values, [9.0])
    assert_same(partial_inner(ensemble, X, y).standard_error, [14.0])
    # F = 3/2, -3/2; sums of -g: 13/2, 5/2; targets 4, 1.
    assert_same(forest_inner(ensemble, X, y).values, [2 * (1.5 * 6.5 - 1.5 * 2.5)])
    assert_same(forest_inner(ensemble, X, y, variant="target").values, [2 * (1.5 * 4 - 1.5 * 1)])


@pytest.mark.parametrize("n_trees", [1, 2, 3, 4, 7, 130])
def test_any_number_of_trees(n_trees):
    """Derivatives before trees are taken of 32 trees at a time."""
    rng = np.random.default_rng(n_trees)
    stumps = [stump_on(int(rng.integers(3)), rng.normal()) for _ in range(n_trees)]
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + rng.normal(size=40)
    ensemble = fit_values(ensemble_of(stumps, 3, learning_rate=0.1), X[:20], y[:20])
    case = Judged(ensemble, X[20:], y[20:], np.ones(20))
    before, expected = np.zeros(3), []
    for m in range(n_trees):
        after = reference.tree_inner(ensemble.truncate(m + 1), case.X, case.y)
        expected.append(after - before)
        before = after
    for standard_error in (True, False):
        asked = {"standard_error": standard_error, "per_tree": True}
        result = tree_inner(ensemble, case.X, case.y, **asked)
        assert_close(result.per_tree, expected, case.terms)
        assert_close(result.values, before, case.terms)
    alone = reference.partial_inner(ensemble, case.X, case.y)
    assert_close(partial_inner(ensemble, case.X, case.y).values, alone, case.terms)


@pytest.mark.filterwarnings("ignore::attributions.inputs.SeenRowsWarning")
@given(data=st.data())
def test_proposition_3_of_fitted_models(data):
    """With weights, missing values and samples of rows and columns: over the rows each tree saw."""
    task = data.draw(st.sampled_from(["regression", "classification"]))
    problem = data.draw(problems(task=task))
    estimator = {"regression": GBTRegressor, "classification": GBTClassifier}[task]
    model = estimator(
        n_estimators=3, learning_rate=0.5, max_depth=3, min_child_weight=0.0, splitter="greedy",
        reg_lambda=data.draw(st.sampled_from(REG_LAMBDAS)),
        subsample=data.draw(st.sampled_from([1.0, 0.6])),
        colsample=data.draw(st.sampled_from([1.0, 0.6])), random_state=data.draw(st.integers(0, 3)),
    ).fit(problem.X, problem.y, problem.sample_weight)  # fmt: skip
    X, y, weight = problem.X, problem.y, problem.sample_weight
    weight = np.ones(len(X)) if weight is None else weight

    gain = total_gain(model, per_tree=True)
    terms = Judged(model.ensemble_, X, y, weight).terms + np.abs(gain.values).sum()
    for m in range(model.ensemble_.n_trees):
        rows = model.sampled_rows(m)
        result = tree_inner(model, X[rows], y[rows], sample_weight=weight[rows], per_tree=True)
        assert_close(result.per_tree[m], gain.per_tree[m], terms)


OF_ROWS = {tree_inner: tree_inner_rows, partial_inner: partial_inner_rows}


@pytest.mark.parametrize("measure", OF_ROWS)
@pytest.mark.parametrize("ifa", ["predecomp", "saabas", "tree_shap"])
@given(case=judged())
def test_rows_sum_to_the_measure_to_the_last_bit(case, ifa, measure):
    rows = OF_ROWS[measure](case.ensemble, case.X, case.y, ifa=ifa)
    result = measure(case.ensemble, case.X, case.y, ifa=ifa)
    summed = GlobalAttribution.from_rows(rows)
    assert_same(summed.values, result.values)
    assert summed.method == result.method == f"{measure.__name__}({ifa})"
    if len(case.X) > 1:
        assert_same(summed.standard_error, result.standard_error)
    assert_same(rows.data, case.X)
    if measure is partial_inner:
        assert_same(rows.base_values, np.zeros(len(case.X)))


def test_a_function_is_an_attribution():
    """A function may credit features that a tree does not split on."""
    ensemble, X, y = example_1(0)

    def thirds(ensemble, m, X):
        return np.full(X.shape, 1 / 3)

    for inner in (tree_inner, partial_inner, forest_inner):
        result = inner(ensemble, X, y + 1, ifa=thirds)
        assert_close(result.values, [1.0, 1.0], 1.0, k=4)  # sum of -g = sum of y + 1 = 3
        assert "thirds" in result.method


def fitted_rows(n, seed=0, n_features=4, loss="half_squared_error"):
    """Return a model of three stumps and two columns that it does not use, and n new rows."""
    rng = np.random.default_rng(seed)
    stumps = [stump_on(0, 0.0), stump_on(1, 0.5), stump_on(0, -0.7)]
    ensemble = ensemble_of(stumps, n_features, learning_rate=0.3, loss=LOSSES[loss])
    X = rng.normal(size=(200 + n, n_features))
    y = X[:, 0] + rng.normal(size=len(X))
    if loss == "half_logistic":
        y = (y > 0).astype(float)
    return fit_values(ensemble, X[:200], y[:200]), X[200:], y[200:]


@pytest.mark.parametrize("where", ["part", "merge"])
def test_after_an_error_no_other_thread_begins_all_the_rest(where):
    n_blocks, both, begun = 100_000, Barrier(2, timeout=60), []

    def part_of(block):
        if len(begun) < 2:
            begun.append(block.start)
            both.wait()  # two threads are at work
        begun.append(block.start)
        if where == "part" and block.start == 0:
            raise ArithmeticError("a block cannot be judged")
        return 0

    def merge(_, __):
        raise ArithmeticError("a block cannot be judged")

    with pytest.raises(ArithmeticError, match="cannot be judged"):
        merge_blocks(part_of, merge, n_blocks * ROWS_PER_BLOCK, n_jobs=2)
    assert len(begun) < n_blocks


def test_memory_does_not_grow_with_the_rows():
    """Beyond X itself a few numbers a row (targets, weights), not a table."""
    ensemble, X, y = fitted_rows(200_001, n_features=16)
    X, y = X[1:], y[1:]  # as many rows as were trained on would be compared with these
    tree_inner(ensemble, X[:10], y[:10])  # compile first
    tracemalloc.start()
    try:
        tree_inner(ensemble, X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 3


def test_a_model_without_trees():
    ensemble, X, y = fitted_rows(10)
    nothing = ensemble.truncate(0)
    result = tree_inner(nothing, X, y, per_tree=True)
    assert_same(result.values, np.zeros(4))
    assert_same(result.standard_error, np.zeros(4))
    assert result.per_tree.shape == (0, 4)
    assert_same(predecomp(nothing, X).values, np.zeros((10, 4)))


# ------------------------------------------------------------------------ where it keeps its level


KEEPS_ITS_LEVEL = ["half_squared_error", "pseudo_huber", Poisson(max_delta_step=0.0)]
LOSES_IT = ["poisson", "quantile", "absolute", "softmax"]


@pytest.mark.parametrize("loss", [*KEEPS_ITS_LEVEL, *LOSES_IT], ids=str)
def test_partial_inner_says_where_noise_is_called_significant(loss):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model, y = GreedyRegressor(n_estimators=2, loss=loss), np.floor(np.exp(X[:, 0]))
    if loss == "softmax":
        model, y = GreedyClassifier(n_estimators=2), np.digitize(X[:, 0], [-0.5, 0.5])
    rows = model.fit(X, y), X + 1e-3, y
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        partial_inner(*rows)
        partial_inner(*rows, standard_error=False)  # no p-values, nothing to warn of
    told = [one for one in caught if one.category is LevelWarning]
    assert len(told) == (loss in LOSES_IT)
    assert all(one.filename == __file__ for one in told)
    assert all("Use held_out_gain" in str(one.message) for one in told)
