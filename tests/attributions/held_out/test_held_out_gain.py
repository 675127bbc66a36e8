"""Held-out gain: by hand, by the page of plain loops, and what makes its expectation 0."""

from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import (
    held_out_gain,
    held_out_gain_rows,
    partial_inner,
    total_gain,
    tree_inner,
    tree_inner_rows,
)
from attributions.held_out.constant_loss import Targets
from attributions.held_out.splits import StepsOfModel
from attributions.reference import definitions
from attributions.reference import held_out as reference_held_out
from attributions.testing import ensembles, judged
from gbt import GBTClassifier, GBTRegressor
from gbt.losses import HalfLogistic, HalfSquaredError, Poisson, Quantile, Softmax
from gbt.parallel.in_order import ROWS_PER_BLOCK
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_by_hand import two_levels
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.tree_cases import (
    deep_ensemble,
    ensemble_of,
    fit_values,
    leaf_of,
    stump_on,
    tree_of,
)

# ------------------------------------------------------------------------------- the definition


def two_stumps():
    """Return two stumps on one column: values -1/2 and 3/2 about 1/2, then -1/4 and 3/4."""
    blank = ensemble_of([stump_on(0, 0.0), stump_on(0, 0.0)], 1, learning_rate=0.5)
    ensemble = fit_values(blank, [[-1.0], [1.0]], np.array([-1.0, 3.0]))
    assert_same(ensemble.value, [0.5, -0.5, 1.5, 0.25, -0.25, 0.75])
    return ensemble


@pytest.mark.parametrize("loss", [HalfSquaredError(), HalfLogistic(), Quantile(0.9)])
@pytest.mark.parametrize("depth", [1, 3, 4, 5, 9, 17])
def test_trees_of_every_depth(depth, loss):
    """With thresholds that contradict those above; all other models are drawn elsewhere."""
    rng = np.random.default_rng(depth)
    ensemble, X = deep_ensemble(rng, depth, 3, branching=0.6)
    y, weight = rng.normal(size=len(X)), rng.integers(0, 3, size=len(X)) + 0.5
    ensemble = replace(ensemble, value=ensemble.value / 10, loss=loss)
    if loss.name == "half_logistic":
        y = (y > 0) * 1.0
    result = held_out_gain(ensemble, X, y, sample_weight=weight)
    value = np.abs(ensemble.value).sum()
    terms = 4 * value * weight.sum() * (8 + value)
    rows = ensemble, X, y, weight
    assert_close(result.values, reference_held_out.held_out_gain(*rows), terms)
    expected = reference_held_out.error_of_held_out_gain(*rows)
    assert_close(result.standard_error, expected, terms)
    of_rows = [definitions.tree_inner(ensemble, X[[i]], y[[i]]) for i in range(len(X))]
    assert_close(tree_inner_rows(ensemble, X, y).values, of_rows, terms)


# -------------------------------------------------------------------------------- its identities


@pytest.mark.filterwarnings("ignore::attributions.inputs.SeenRowsWarning")  # they are asked for
@given(case=judged(models=ensembles(losses=["half_squared_error"], reg_lambda=0.0)), data=st.data())
def test_on_training_rows_without_removal_it_is_the_total_gain(case, data):
    n = len(case.X)
    weight = np.array([1, *data.draw(st.lists(st.integers(0, 3), min_size=n - 1, max_size=n - 1))])
    repeated = np.repeat(np.arange(n), weight)
    ensemble = fit_values(case.ensemble, case.X[repeated], case.y[repeated])
    gain = total_gain(ensemble, per_tree=True)
    terms = case.terms + np.abs(gain.values).sum()

    by_loops = reference_held_out.held_out_gain(
        ensemble, case.X, case.y, weight, removes_own_work=False
    )
    assert_close(by_loops, gain.values, terms * max(weight))
    # Nothing is there to be removed in the first tree.
    result = held_out_gain(ensemble, case.X, case.y, sample_weight=weight, per_tree=True)
    assert_close(result.per_tree[0], gain.per_tree[0], terms * max(weight))


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (HalfSquaredError(), np.array([0.0, 1, 5, -2, 3])),
        (HalfLogistic(), np.array([0.0, 1, 1, 0, 0])),
        (Poisson(), np.array([0.0, 1, 4, 0, 2])),
        (Quantile(0.9), np.array([0.0, 1, 5, -2, 3])),
        (Softmax(2), np.array([0.0, 1, 1, 0, 1])),
    ],
)
def test_gradients_dealt_out_in_all_orders_are_worth_nothing_on_average(loss, y):
    """In a first tree, whatever its steps, the shares of rows and the weights."""
    K = loss.n_outputs
    start = 0.3 if K == 1 else np.linspace(-0.3, 0.5, K)
    trees = [replace(two_levels(), value=(k + 1) * two_levels().value) for k in range(K)]
    model = ensemble_of(trees, 2, loss=loss, base_score=start)
    X = np.array([[0.0, 0], [1, 0], [1, 1], [1, 0], [0, 1]])
    for weight in (np.ones(5), np.array([1.0, 3, 1, 0.5, 2])):
        gains = [
            held_out_gain(model, X, y[list(order)], sample_weight=weight).values
            for order in permutations(range(5))
        ]
        assert np.abs(gains).max() > 0.01
        assert_close(np.mean(gains, axis=0), [0.0, 0.0], np.abs(gains).mean(axis=0))


def some_rows(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + rng.normal(size=n)


# ------------------------------------------------------------------------ threads, errors, results


@pytest.mark.parametrize("kind", [GBTRegressor, GBTClassifier])
def test_where_rows_end_up_may_be_kept_or_not(kind, monkeypatch):
    X, y = some_rows(13, n=2 * ROWS_PER_BLOCK + 7)
    y = y > 0 if kind is GBTClassifier else y
    for depth in (3, 9):
        model = kind(n_estimators=4, max_depth=depth, splitter="greedy").fit(X[:500], y[:500])
        results = []
        for most_kept in (2**29, 0):
            monkeypatch.setattr("attributions.walk.rows_at_spots.MOST_KEPT", most_kept)
            rows = held_out_gain_rows(model, X[500:], y[500:]).values
            results.append((held_out_gain(model, X[500:], y[500:]), rows))
        (kept, rows), (anew, rows_anew) = results
        assert_same(kept.standard_error, anew.standard_error)
        assert_same(rows, rows_anew)
        assert_close(rows.sum(axis=0), kept.values, np.abs(rows).sum(axis=0))


TWO_CLASSES = [(900.0, 0), (900.0, 1)]  # steps up on the right, and the features that step
# The first feature decides with certainty, the second may contradict; then both without it.
THREE_CLASSES = [
    *((900.0, 0), (-900.0, 0), (0.0, 0), (600.0, 1), (2.0, 1), (-600.0, 1)),
    *((1.0, 0), (3.0, 0), (-2.0, 0), (-1.0, 1), (1.5, 1), (0.5, 1)),
]


@pytest.mark.parametrize(
    ("steps", "loss"), [(TWO_CLASSES, HalfLogistic()), (THREE_CLASSES, Softmax(3))]
)
def test_odds_beyond_what_float64_tells(steps, loss):
    stumps = [replace(stump_on(k, 0.0), value=np.array([0.0, -v, v])) for v, k in steps]
    base_score = np.zeros(3) if loss.n_outputs > 1 else 0.0
    sums = np.ones(3 * len(stumps))
    model = replace(ensemble_of(stumps, 2), loss=loss, base_score=base_score, sum_hessian=sums)
    X = np.array([[-1.0, -1], [1, 1], [-1, 1], [1, -1], [1, 1]])
    y = np.array([0.0, 1, loss.n_outputs - 1, 1, 0])
    result = held_out_gain(model, X, y)
    expected = reference_held_out.held_out_gain(model, X, y, np.ones(5))
    assert_close(result.values, expected, 9000.0)
    assert (result.values != 0).all()


def test_the_farthest_that_trees_move_a_row_by_hand():
    """Up by 2 and down by 12 is 14, farther than any value; a tree without a split beside it."""
    tree = tree_of(
        feature=[0, -1, 1, -1, -1], left=[1, -1, 3, -1, -1], right=[2, -1, 4, -1, -1],
        value=[0.0, -2, 2, -10, 6], sum_hessian=[8.0, 4, 4, 1, 3],
    )  # fmt: skip
    assert StepsOfModel.of(ensemble_of([tree, leaf_of(0.5)], 2)).farthest == 14.5


# ------------------------------------------------------------------- how many rows carry a sum


def test_the_kurtosis_of_steps_by_hand():
    """Of a stump with 8 and 2 rows: steps -1 and 4, kurtosis 10 (8 + 2 256) / (8 + 2 16)^2."""
    stump = replace(
        stump_on(0, 0.0), value=np.array([1.0, 0, 5]), n_samples=np.array([10, 8, 2]),
        sum_hessian=np.array([10.0, 8, 2]),
    )  # fmt: skip
    steps = StepsOfModel.of(ensemble_of([stump], 2))
    assert_close(steps.kurtosis_of_steps(), [10 * 520 / 40**2, 0.0], [4.0, 0.0], k=4)
    twice_the_same = StepsOfModel.of(ensemble_of([stump] * 2, 2))
    assert_close(twice_the_same.kurtosis_of_steps(), [10 * 520 / 40**2 / 2, 0.0], [4.0, 0.0], k=4)
    # A tree of 20 rows beside it: 15 rows on average, (520 + 1040) of (40 + 80)^2.
    larger = replace(stump, n_samples=np.array([20, 16, 4]))
    of_both = StepsOfModel.of(ensemble_of([stump, larger], 2)).kurtosis_of_steps()
    assert_close(of_both, [15 * 1560 / 120**2, 0.0], [4.0, 0.0], k=4)
    without_counts = replace(
        steps.ensemble, statistics=frozenset({"hessians"}), n_samples=np.zeros(3, dtype=np.int64)
    )
    alike = StepsOfModel.of(without_counts).kurtosis_of_steps()
    assert_close(alike, steps.kurtosis_of_steps(), [4.0, 0.0], k=4)


def kurtosis_of(numbers):
    distance = numbers - numbers.mean(axis=0)
    second, fourth = (distance**2).mean(axis=0), (distance**4).mean(axis=0)
    return np.divide(fourth, second**2, out=np.zeros(numbers.shape[1]), where=second > 0)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [None, "quantile", "classes"])
def test_the_larger_kurtosis_counts(loss):
    X, y = some_rows(9, n=1500)
    if loss == "classes":
        y = np.digitize(y, [-0.5, 0.5])
    kind = GBTClassifier if loss == "classes" else partial(GBTRegressor, loss=loss)
    model = kind(n_estimators=10, max_depth=3, splitter="greedy").fit(X[:300], y[:300])
    X, y, weight = X[300:], y[300:], np.random.default_rng(0).uniform(size=1200)
    ensemble = model.ensemble_
    gradient = ensemble.loss.gradient_hessian(y * 1.0, ensemble.raw_predict(X))[0]
    gradient = gradient.reshape(1200, -1) * weight[:, np.newaxis]
    of_model = 3 * StepsOfModel.of(ensemble).kurtosis_of_steps() * kurtosis_of(gradient).max()
    parts = reference_held_out.row_parts(ensemble, X, y * 1.0, weight, for_error=True)
    expected = np.maximum(of_model, kurtosis_of(parts))
    result = held_out_gain(model, X, y, sample_weight=weight)
    assert_close(result.kurtosis, expected, expected, k=1e4)
    assert_same(result.is_reliable, result.kurtosis <= 0.2 * 1200)
    groups = np.arange(1200) % 40
    of_groups = np.array([parts[groups == g].sum(axis=0) for g in range(40)])
    result = held_out_gain(model, X, y, sample_weight=weight, groups=groups)
    expected = np.maximum(of_model, kurtosis_of(of_groups))
    assert_close(result.kurtosis, expected, expected, k=1e4)
    assert_same(result.is_reliable, result.kurtosis <= 0.2 * 40)
    assert held_out_gain(model, X, y, standard_error=False).is_reliable is None


# ------------------------------------------------------------------------------------ in per cent


def test_a_feature_of_which_no_row_tells_is_not_reliable():
    """All rows go left at the second split; the third feature is in no split."""
    stumps = [replace(stump_on(k, 0.0), value=np.array([0.0, -1, 1])) for k in (0, 1)]
    known = {"sum_hessian": np.ones(6), "n_samples": np.array([2, 1, 1] * 2)}
    model = replace(ensemble_of(stumps, 3), **known)
    X = np.column_stack([np.tile([-1.0, 1.0], 200), np.full(400, -1.0), np.zeros(400)])
    result = held_out_gain(model, X, X[:, 0] + np.tile([0.5, 0.5, -0.5, -0.5], 100))
    assert_same(result.values[1:], np.zeros(2))
    assert_same(result.standard_error[1:], np.zeros(2))
    assert result.is_reliable.tolist() == [True, False, True]


def test_two_rows_have_no_error():
    """Each judges by its distance from their mean, and both are equally far from it."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0.0, 3.0])
    result = held_out_gain(two_stumps(), X, y)
    parts = reference_held_out.row_parts(two_stumps(), X, y, np.ones(2), True)
    assert_same(parts[0], parts[1])
    assert result.values[0] > 0
    for joint in False, True:
        assert np.isnan(result.confidence_interval(simultaneous=joint)).all()
        assert np.isnan(result.p_values("joint" if joint else None)).all()
    assert np.isnan(result.standard_error).all()
    assert held_out_gain(two_stumps(), X[[0, 1, 1]], y[[0, 1, 1]]).standard_error[0] > 0


def test_per_cent_by_hand():
    """The stumps above: 16 times 1/2 over twice the loss of the mean, (1/9 + 49/9 + 64/9) / 2."""
    X, y = np.array([[-2.0], [-3.0], [2.0]]), np.array([1.0, -1.0, 4.0])
    result = held_out_gain(two_stumps(), X, y)
    expected = 100 * 16 / 2 / (114 / 9)
    assert_close(result.percent(), [expected], expected, k=8)
    frame = result.to_frame()
    assert list(frame.columns) == ["value", "percent", "standard_error", "p_value", "is_reliable"]
    assert_same(frame["percent"].to_numpy(), result.percent())
    # Weights: the third row counts three times. Mean 12/5, squares 49/25, 289/25, 3 64/25.
    weighted = held_out_gain(two_stumps(), X, y, sample_weight=[1.0, 1.0, 3.0])
    value, spread = weighted.values[0], (49 + 289 + 192) / 25
    assert_close(weighted.percent(), [100 * value / 2 / spread], expected * 4, k=8)


def test_per_cent_of_the_relatives():
    """TreeInner adds up to what the model saves, to first order; partial_inner asks as we do."""
    X, y = some_rows(12, n=1000)
    model = GreedyRegressor(n_estimators=400, max_depth=3, learning_rate=0.01).fit(X[:500], y[:500])
    rows, weight = (X[500:], y[500:]), np.random.default_rng(0).uniform(size=500)
    inner = tree_inner(model, *rows, sample_weight=weight)
    constant = np.average(rows[1], weights=weight)
    loss, of_constant = (
        weight @ (rows[1] - prediction) ** 2 for prediction in (model.predict(rows[0]), constant)
    )
    expected = 100 * (1 - loss / of_constant)
    assert abs(inner.percent().sum() - expected) < 1
    assert "percent" not in inner.to_frame().columns  # to first order is not what tables say
    partial_form = partial_inner(model, *rows, sample_weight=weight)
    expected = 100 * 0.01 * partial_form.values / of_constant
    assert_close(partial_form.percent(), expected, np.abs(expected))
    halves = [tree_inner(model, X[half], y[half]) for half in (slice(500, 700), slice(700, 1000))]
    with pytest.raises(ValueError, match="was made of several results"):
        halves[0].merge(halves[1]).percent()


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        ("poisson", [0.0, 1, 3, 0]), ("gamma", [0.5, 1, 3, 0.1]), ("tweedie", [0.0, 1, 3, 0.1]),
        ("squared_log_error", [0.0, 1, 3, 0.1]),
        ("quantile", [0.0, 1, 3, 0.1]), ("huber", [0.0, 1, 3, 0.1]),
    ],
)  # fmt: skip
def test_the_loss_of_the_constant_is_the_least_of_any_and_counts_from_0(loss, y):
    y, weight = np.array(y), np.array([1.0, 2, 1, 0.5])
    loss = GreedyRegressor(n_estimators=1, loss=loss).fit(y[:, np.newaxis], y).ensemble_.loss
    told = Targets(y, weight).constant_loss(loss)
    lowest = -0.99 if loss.name == "squared_log_error" else -30
    grid = np.append(np.linspace(lowest, -3, 1000), np.linspace(-3, 4, 100_001))
    grid = grid[grid >= lowest]
    by_row = [w * loss.value(np.full(grid.shape, t), grid) for t, w in zip(y, weight, strict=True)]
    expected = sum(by_row).min() - sum(of_row.min() for of_row in by_row)
    assert_close(told, expected, told, k=1, eps=1e-4)
    parts = [Targets(y[rows], weight[rows]) for rows in (slice(1), slice(1, 3), slice(3, 4))]
    merged = parts[0].merge(parts[1]).merge(parts[2].merge(parts[0]))
    assert_close(
        merged.constant_loss(loss),
        Targets(np.append(y, y[0]), np.append(weight, weight[0])).constant_loss(loss),
        told * 4,
    )


def test_where_a_constant_has_no_loss_there_is_no_per_cent():
    X, y = some_rows(11)
    model = GreedyClassifier(n_estimators=2).fit(X, y > 0)
    result = held_out_gain(model, X + 0.1, np.full(200, True))
    with pytest.raises(ValueError, match="held_out_gain cannot be given in per cent"):
        result.percent()
    assert "percent" not in result.to_frame().columns
    with pytest.raises(ValueError, match="total_gain cannot be given in per cent"):
        total_gain(model).percent()


def test_too_many_distinct_targets_of_chunks_are_not_kept(monkeypatch):
    monkeypatch.setattr("attributions.held_out.constant_loss.MOST_DISTINCT", 4)
    few = [Targets(np.array([1.0, 2]), np.ones(2)), Targets(np.array([2.0, 3, 4]), np.ones(3))]
    many = few[0].merge(few[1]).merge(Targets(np.array([5.0]), np.ones(1)))
    assert few[0].merge(few[1]).constant_loss(HalfSquaredError()) is not None
    assert many.constant_loss(HalfSquaredError()) is None
    assert many.merge(few[0]).y is None
