"""Held-out gain agrees with a program of its definition, on 200 drawn models.

The program (``tests.attributions.held_out.held_out_gain_definition``) is checked first: on examples
computed by hand, by what must hold on training rows and under squared errors, and by how its rows
go down trees.
"""

from dataclasses import replace
from functools import cache
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

import attributions
from attributions import partial_inner, total_gain, tree_inner
from gbt import GBTRegressor
from gbt.formats import as_ensemble
from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.half import LOSSES, HalfLogistic
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.model.tree import NODE_DTYPES, Tree
from gbt.tables.level_sets import LevelSets
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out import held_out_gain_definition as definition
from tests.attributions.held_out.held_out_gain_definition import (
    gradient,
    held_out_gain_by_definition,
    numbers_of,
    splits_by_definition,
    walk,
)
from tests.drawn_models import ORDER, draw_model
from tests.tree_cases import ensemble_of, stump_on

N_MODELS = 200
ROUNDING = 1e-9  # of the sum of |terms|, over programs that add in other orders
drawn = cache(draw_model)
nan = np.nan


# -- By hand ---------------------------------------------------------------------------------------


def stump(feature, *value, hessian=(1.0, 1.0), n_samples=(1, 1)):
    """Return a split at 0.5 into leaves of two values; what the root knows does not matter."""
    return replace(
        stump_on(feature, threshold=0.5),
        value=np.array([0.0, *value]),
        sum_hessian=np.array([sum(hessian), *hessian]),
        n_samples=np.array([sum(n_samples), *n_samples]),
    )


def leaf(value):
    arrays = {name: np.zeros(1, dtype) for name, dtype in NODE_DTYPES.items()}
    arrays.update(feature=np.array([-1]), left=np.array([-1]), right=np.array([-1]))
    return Tree(**{**arrays, "value": np.array([value])})


def one_column(*x):
    return np.array(x, dtype=float)[:, np.newaxis]


def test_one_stump():
    """Two rows go left, three right; alpha = .5, d = -1 - 3 = -4, g = 0 - y.

    mean g = -1.5 | -6, of all -4.2        value = -(1/.5) 2*3/5 * -4 * (-1.5 + 6) = 43.2
    a - mean a = -4 * 3/5 = -2.4 | 1.6     g - mean g = 3.2, 2.2 | .2, -.8, -4.8
    parts -2 (a - mean a) (g - mean g) = 15.36, 10.56 | -.64, 2.56, 15.36, of mean 8.64
    squares about it 45.1584 + 3.6864 + 86.1184 + 36.9664 + 45.1584 = 217.088
    error^2 = 5/4 for all five rows being in the node, 5/4 * 217.088 for the sum = 339.2
    """
    model = ensemble_of([stump(0, -1.0, 3.0)], n_features=2, learning_rate=0.5)
    X = np.column_stack([[0, 0, 1, 1, 1], np.zeros(5)])
    values, error, rows = held_out_gain_by_definition(model, X, [1, 2, 4, 5, 9])
    assert_close(values, [43.2, 0], [100.0, 0])
    assert_close(error, [np.sqrt(339.2), 0], [100.0, 0])
    assert_close(rows[:, 0], [15.36, 10.56, -0.64, 2.56, 15.36], 100.0)
    assert_same(rows[:, 1], np.zeros(5))


@pytest.mark.parametrize("knows_hessians", [True, False])
def test_what_the_feature_did_before_is_taken_out(knows_hessians):
    """Two stumps on one column under the log loss; alpha = .5, rows as above, y = 1, 1 | 0, 0, 1.

    The first has the leaves log 3 - 3 and log 3 + 1, with 1 and 3 quarters of the hessian (or of
    the rows), so the mean log 3. Without the column's steps -3 and 1 every row is there, p = 3/4.

    first    g = -1/2, -1/2 | 1/2, 1/2, -1/2    means -1/2, 1/6    -2 * 6/5 * -4 * -2/3 = -6.4
    second   g = -1/4, -1/4 | 3/4, 3/4, -1/4    means -1/4, 5/12   -2 * 6/5 *  2 * -2/3 =  3.2
    """
    log3 = np.log(3)
    weights = {"hessian" if knows_hessians else "n_samples": (1, 3)}
    others = {"n_samples" if knows_hessians else "hessian": (7, 2) if knows_hessians else (0, 0)}
    model = ensemble_of(
        [stump(0, log3 - 3, log3 + 1, **weights, **others), stump(0, 1.0, -1.0)],
        n_features=1,
        learning_rate=0.5,
        loss=LOSSES["half_logistic"],
        statistics=frozenset({"counts", "hessians"} if knows_hessians else {"counts"}),
    )
    X, y = one_column(0, 0, 1, 1, 1), [1, 1, 0, 0, 1]
    values, _, _ = held_out_gain_by_definition(model, X, y)
    assert_close(values, [-6.4 + 3.2], 10.0)


def test_what_others_did_before_stays():
    """A stump on x1 from -1 to 1, then one on x0 with d = 2; squared errors, y = 0, alpha = 1.

    Before the second f = -1, 1 | 1, 1, so g is f: means 0 and 1, and -(2*2/4) * 2 * (0 - 1) = 2.
    """
    model = ensemble_of([stump(1, -1.0, 1.0), stump(0, 1.0, -1.0)], n_features=2)
    X = np.array([[0.0, 0], [0, 1], [1, 1], [1, 1]])
    values, _, _ = held_out_gain_by_definition(model, X, np.zeros(4))
    assert_close(values[0], 2.0, 4.0)


def two_levels():
    """Return a tree: x0 <= .5 is a leaf of 0, else x1 <= .5 tells leaves of 2 and 6 (H 1 and 3)."""
    arrays = {name: np.zeros(5, dtype) for name, dtype in NODE_DTYPES.items()}
    arrays.update(feature=[0, -1, 1, -1, -1], threshold=[0.5, 0, 0.5, 0, 0])
    arrays.update(left=[1, -1, 3, -1, -1], right=[2, -1, 4, -1, -1])
    arrays.update(value=[9.0, 0, 9, 2, 6], sum_hessian=[6.0, 2, 4, 1, 3])
    return Tree(**{name: np.array(arrays[name], dtype) for name, dtype in NODE_DTYPES.items()})


@pytest.mark.parametrize(
    ("groups", "squares"),
    [(None, (4 / 3 * 4 / 3 * 85.52, 4 / 3 * 96)), ("abac", (3 / 2 * 4 / 3 * 161.84, 96))],
)
def test_two_levels_weights_missing_values_and_groups(groups, squares):
    """Rows A to D, of weights 1 2 1 1; D's x0 is missing and goes right. g = -y = -1 -2 -8 -4.

    Root    A | B C D    d = 0 - (2 + 3*6)/4 = -5      means -1 | -16/4 = -4, of all -17/5 = -3.4
            -(1*4/5) * -5 * (-1 + 4) = 12              a - mean a = -4 | 1
            parts 9.6, -2.8, 4.6, .6                   mean 3, squares 43.56 + 33.64 + 2.56 + 5.76
    Inner   B | C D      d = 2 - 6 = -4                means -2 | -6, of all -4
            -(2*2/4) * -4 * (-2 + 6) = 16              a - mean a = -2 | 2
            parts 8, 8, 0 (and 0 of A)                 mean 4, squares 4 * 16 = 64, times 3/2 = 96
    Errors^2 without groups are 4/3, for four rows, times 4/3 * 85.52 and 3/2 * 64.
    With A and C in one group the sums are 14.2, -2.8, .6 (squares 104.04 + 46.24 + 11.56 = 161.84)
    and 8, 8, 0 (mean 16/3, squares 64/9 + 64/9 + 256/9 = 128/3, times 3/2 = 64); 3/2 for groups.
    """
    X, y = np.array([[0.0, 0], [1, 0], [1, 1], [nan, 1]]), [1, 2, 8, 4]
    groups = None if groups is None else list(groups)
    model = ensemble_of([two_levels()], n_features=2)
    values, error, rows = held_out_gain_by_definition(model, X, y, [1, 2, 1, 1], groups)
    assert_close(values, [12, 16], 50.0)
    assert_close(rows.T, [[9.6, -2.8, 4.6, 0.6], [0, 8, 8, 0]], 50.0)
    assert_close(error**2, squares, 500.0)


def test_work_in_all_outputs_is_taken_out():
    """Three classes, alpha 1, two rounds; x0 moves output 0 by -+1 about log 2, 1 by -+2 about 0.

    Rows x0 = 0, 0 | 1, 1 of the classes 2, 0 | 1, 1. The first round is at p = 1/3, 1/3, 1/3.
    output 0    d = -2    g = 1/3, -2/3 | 1/3, 1/3     -1 * -2 * (-1/6 - 1/3) = -1
    output 1    d = -4    g = 1/3, 1/3 | -2/3, -2/3    -1 * -4 * (1/3 + 2/3) = 4
    The second, without x0's work in outputs 0 and 1, at p = 1/2, 1/4, 1/4.
    output 2    d = 1     g = -3/4, 1/4 | 1/4, 1/4     -1 * 1 * (-1/4 - 1/4) = 1/2
    """
    log2 = np.log(2)
    first = [stump(0, log2 - 1, log2 + 1), stump(0, -2.0, 2.0), leaf(0.0)]
    second = [leaf(0.0), leaf(0.0), stump(0, 1.0, 0.0)]
    model = ensemble_of([*first, *second], n_features=1, loss=Softmax(3), base_score=np.zeros(3))
    values, _, _ = held_out_gain_by_definition(model, one_column(0, 0, 1, 1), [2, 0, 1, 1])
    assert_close(values, [3.5], 10.0)


def test_a_forest_starts_from_its_roots_and_has_no_round_before_another():
    """Two trees under gamma's loss, both judged at log 3, the sum of their roots' values.

    y = 6 | 3: g = 1 - y/3 = -1 | 0. Each tree: -(1/alpha) 1/2 * -1 * (-1 - 0) = -1/2 at alpha = 1.
    """
    roots = [np.array([value, 0.0, 1.0]) for value in (np.log(2), np.log(1.5))]
    trees = [replace(stump_on(0, threshold=0.5), value=value) for value in roots]
    model = ensemble_of(trees, n_features=1, loss=Gamma(), is_forest=True)
    values, _, _ = held_out_gain_by_definition(model, one_column(0, 1), [6, 3])
    assert_close(values, [-1.0], 4.0)


# -- How rows go down, and what losses are ---------------------------------------------------------


def reached_left(model, *x):
    column = np.array(x, dtype=object)[:, np.newaxis]
    return definition.goes_left(model, 0, numbers_of(model, column)[:, 0]).tolist()


def test_rows_of_float32_and_zeros_that_are_missing():
    tenth = float(np.float32(0.1))  # a little above .1
    tree = replace(stump(0, 1.0, 2.0), threshold=np.array([tenth, 0, 0]))
    above = tenth + 1e-10  # the same in float32
    of_float64, of_float32 = (
        ensemble_of([tree], n_features=1, input_dtype=dtype) for dtype in (np.float64, np.float32)
    )
    assert reached_left(of_float64, tenth, above, 0.0, nan) == [True, False, True, False]
    assert reached_left(of_float32, tenth, above, 0.0, nan) == [True, True, True, False]
    sparse = replace(of_float64, zero_is_missing=True)
    assert reached_left(sparse, 0.05, 0.0, -1e-36, nan) == [True, False, False, False]


def test_words_are_looked_up():
    """Levels 0 and 70 of 80 go left, and so does what is missing."""
    levels = tuple(f"w{j:02}" for j in range(80))
    bits = np.isin(np.arange(80), [0, 70])
    tree = replace(
        stump(0, 1.0, 2.0),
        threshold=np.zeros(3),
        missing_left=np.array([True, False, False]),
        level_sets=LevelSets.of([bits, None, None]),
    )
    model = ensemble_of([tree], n_features=1, categories=(levels,))
    assert reached_left(model, "w00", "w01", "w70", "w64", None, "new") == [
        True, False, True, False, True, True,
    ]  # fmt: skip
    assert reached_left(replace(model, unseen_is_missing=False), "w70", None, "new") == [
        True, True, False,
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", range(N_MODELS))
def test_rows_of_drawn_models_reach_their_leaves(number):
    model, X = drawn(number)[1:3]
    ensemble = as_ensemble(model)
    raw = np.tile(np.array(ensemble.base_score, dtype=float).reshape(-1), (len(X), 1))
    table, size = numbers_of(ensemble, X), np.abs(raw)
    for m, output in enumerate(ensemble.tree_output):
        for t, rows in walk(ensemble, m, table).items():
            if ensemble.left[t] < 0:
                raw[rows, output] += ensemble.value[t]
                size[rows, output] += abs(ensemble.value[t])
    assert_close(ensemble.raw_predict(X).reshape(raw.shape), raw, size)


@pytest.mark.parametrize(
    "loss",
    [
        LOSSES["half_squared_error"], HalfLogistic(), Poisson(), Gamma(), Tweedie(1.0),
        Tweedie(1.3), Tweedie(2.0), SquaredLogError(), Quantile(0.8), Absolute(), Huber(0.7),
        PseudoHuber(1.4), Softmax(3), SeveralTargets(2), SeveralTargets(3, "half_logistic"),
    ],
)  # fmt: skip
def test_derivatives_are_slopes_of_the_losses(loss):
    rng, K, step = np.random.default_rng(0), loss.n_outputs, 1e-5
    f = rng.normal(size=(200, K))
    y = rng.uniform(0.2, 3.0, size=200)
    if loss.name == "several_targets":
        y = (f[::-1] > 0).astype(float)
    elif loss.name in ("half_logistic", "softmax"):
        y = np.arange(200) % max(2, K) * 1.0
    slopes = np.zeros_like(f)
    for o in range(K):
        either = [f + way * step * (np.arange(K) == o) for way in (1, -1)]
        above, below = (loss.value(y, at if K > 1 else at[:, 0]) for at in either)
        slopes[:, o] = (above - below) / (2 * step)
    assert_close(gradient(loss, y, f), slopes, 1 + np.abs(slopes), k=1, eps=1e-8)


def test_at_its_kink_a_loss_has_no_slope():
    for loss in (Quantile(0.8), Absolute()):
        assert_same(gradient(loss, np.array([2.0]), np.array([[2.0]])), [[0.0]])


# -- What must hold --------------------------------------------------------------------------------

RNG = np.random.default_rng(5)
X_TRAIN, X_NEW = RNG.normal(size=(2, 90, 3))
Y_TRAIN, Y_NEW = (Z[:, 0] + Z[:, 1] * Z[:, 2] + RNG.normal(size=90) for Z in (X_TRAIN, X_NEW))
X_TRAIN[::7, 1] = nan
WEIGHT = RNG.integers(1, 4, size=90).astype(float)


def boosted(**options):
    model = GBTRegressor(n_estimators=6, learning_rate=0.3, max_depth=3, **options)
    ensemble = model.fit(X_TRAIN, Y_TRAIN, sample_weight=WEIGHT).ensemble_
    return replace(ensemble, seen_rows=None)  # it is to be judged by its training rows, too


def worth(model, X, y, weight=None, is_removed=True):
    """Return what features are worth, and the size of the terms."""
    splits = splits_by_definition(model, X, y, weight, is_removed)
    values, sizes = np.zeros((2, as_ensemble(model).n_features))
    for split in splits:
        values[split.feature] += split.parts.sum()
        sizes[split.feature] += split.size
    return values, sizes


def test_on_training_rows_it_is_the_total_gain():
    model = boosted(reg_lambda=0.0)
    values, terms = worth(model, X_TRAIN, Y_TRAIN, WEIGHT, is_removed=False)
    assert_close(values, total_gain(model).values, terms)


@pytest.mark.filterwarnings("ignore::attributions.inputs.SeenRowsWarning")  # they are asked for
@pytest.mark.parametrize("reg_lambda", [0.0, 10.0])
def test_on_training_rows_steps_need_no_centring(reg_lambda):
    """There the steps of Saabas average 0, and held-out gain is what the older measures are."""
    model = boosted(reg_lambda=reg_lambda)
    rows = X_TRAIN, Y_TRAIN, WEIGHT
    values, terms = worth(model, *rows, is_removed=False)
    plain = tree_inner(model, *rows[:2], ifa="saabas", sample_weight=WEIGHT)
    assert_close(values, plain.values, terms, k=1000)
    values, terms = worth(model, *rows)
    partial = partial_inner(model, *rows[:2], sample_weight=WEIGHT)
    assert_close(values, partial.values, terms, k=1000)


def test_a_constant_changes_nothing_under_squared_errors():
    model = boosted()
    values, terms = worth(model, X_NEW, Y_NEW)
    moved, more = worth(model, X_NEW, Y_NEW + 50)
    assert_close(moved, values, terms + more, k=1000)


def test_a_weight_of_three_is_three_rows():
    model, times = boosted(), np.arange(90) % 4
    values, terms = worth(model, X_NEW, Y_NEW, times)
    repeated = (np.repeat(rows, times, axis=0) for rows in (X_NEW, Y_NEW))
    assert_close(values, worth(model, *repeated)[0], terms)


def test_residuals_dealt_out_at_random_are_worth_nothing_in_the_first_tree():
    model = ensemble_of([two_levels()], n_features=2)
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
    of_orders = [worth(model, X, order)[0] for order in permutations([1.0, 2, 4, 8, 16])]
    assert_close(np.mean(of_orders, axis=0), [0, 0], 100.0)
    assert np.ptp(of_orders, axis=0).min() > 1


# -- The product -----------------------------------------------------------------------------------


def assert_agrees(found, case):
    """Check values and standard errors of a result against the definition's."""
    rows = case[1:5]
    values, error, _ = held_out_gain_by_definition(*rows, case.groups)
    _, terms = worth(*rows)
    assert_close(found.values, values, terms, k=1, eps=ROUNDING)
    assert_close(found.standard_error, error, terms, k=1, eps=ROUNDING)


@pytest.mark.parametrize("number", range(N_MODELS))
def test_held_out_gain_agrees_with_its_definition(number):
    case = drawn(number)
    found = attributions.held_out_gain(
        case.model, case.X, case.y, sample_weight=case.sample_weight, groups=case.groups
    )
    assert_agrees(found, case)


@pytest.mark.parametrize("number", range(0, N_MODELS, 5))
def test_its_trees_are_those_of_the_definition(number):
    case = drawn(number)
    found = attributions.held_out_gain(
        case.model, case.X, case.y, sample_weight=case.sample_weight, per_tree=True
    )
    values, terms = np.zeros((2, *found.per_tree.shape))
    for split in splits_by_definition(*case[1:5]):
        values[split.tree, split.feature] += split.parts.sum()
        terms[split.tree, split.feature] += split.size
    assert_close(found.per_tree, values, terms, k=1, eps=ROUNDING)


@pytest.mark.parametrize("number", range(0, N_MODELS, 5))
def test_its_rows_are_those_of_the_definition(number):
    case = drawn(number)
    _, _, rows = held_out_gain_by_definition(*case[1:4])
    found = attributions.held_out_gain_rows(*case[1:4])
    assert_close(found.values, rows, worth(*case[1:4])[1] + 0 * rows, k=1, eps=ROUNDING)


# -- What the comparison would find ----------------------------------------------------------------


def in_output_0_alone(true):
    """Remember a feature's work in output 0 and in no other."""

    def add_tree(ensemble, rows_in, mean_value, raw, own_work):
        m = np.searchsorted(ensemble.tree_offset, min(rows_in))
        kept = own_work if ensemble.tree_output[m] == 0 else np.zeros_like(own_work)
        true(ensemble, rows_in, mean_value, raw, kept)

    return add_tree


def by_rows(true):
    return lambda model: true(replace(model, statistics=model.statistics - {"hessians"}))


DEFECTS = {  # of a function of the definition, made of the true one
    "leaves are weighed by rows": ("mean_leaf_values", by_rows),
    "nothing is centred": ("centred", lambda true: lambda numbers, weight: numbers),
    "means are not weighed": (
        "centred",
        lambda true: lambda numbers, weight: true(numbers, np.ones_like(weight)),
    ),
    "the feature's own work stays": (
        "add_tree",
        lambda true: lambda *tree: true(*tree[:4], np.zeros_like(tree[4])),
    ),
    "its work in other outputs stays": ("add_tree", in_output_0_alone),
    "missing values go right": (
        "goes_left",
        lambda true: lambda *node: true(*node) & ~np.isnan(node[2]),
    ),
    "forests start from the base score": (
        "start_of",
        lambda true: lambda model: np.array(model.base_score, dtype=float).reshape(-1),
    ),
    "errors of small nodes are not widened": ("widening", lambda true: lambda n_t: 1.0),
    "errors count rows, not groups": (
        "standard_error_of_sum",
        lambda true: lambda rows, groups: true(rows),
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found(monkeypatch, defect):
    name, plant = DEFECTS[defect]
    for number in range(len(ORDER)):
        case = drawn(number)
        with monkeypatch.context() as planted:
            planted.setattr(definition, name, plant(getattr(definition, name)))
            values, error, _ = held_out_gain_by_definition(*case[1:])
        try:
            assert_agrees(SimpleNamespace(values=values, standard_error=error), case)
        except AssertionError:
            return
    pytest.fail(f"no model tells that {defect}")
