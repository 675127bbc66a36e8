"""Held-out gain on paper, and beside the page of plain loops on 200 drawn models of all kinds."""

from dataclasses import replace

import numpy as np
import pytest

from attributions import held_out_gain, held_out_gain_rows
from attributions.reference import held_out as page
from gbt.formats import as_ensemble
from gbt.losses.amounts import Gamma
from gbt.losses.half import LOSSES
from gbt.losses.several_outputs import Softmax
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import assert_close
from tests.drawn_models import draw_model
from tests.tree_cases import ensemble_of, stump_on

N_MODELS = 200
ROUNDING = 1e-9  # of the sum of |terms|, over programs that add in other orders
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


@pytest.mark.parametrize("knows_hessians", [True, False])
def test_what_the_feature_did_before_is_taken_out(knows_hessians):
    """Two stumps on one column under the log loss; alpha = .5, y = 1, 1 | 0, 0, 1.

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
    found = held_out_gain(model, one_column(0, 0, 1, 1, 1), [1, 1, 0, 0, 1])
    assert_close(found.values, [-6.4 + 3.2], 10.0)


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
    found = held_out_gain(model, X, y, sample_weight=[1, 2, 1, 1], groups=groups)
    assert_close(found.values, [12, 16], 50.0)
    assert_close(found.standard_error**2, squares, 500.0)


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
    found = held_out_gain(model, one_column(0, 0, 1, 1), [2, 0, 1, 1], per_tree=True)
    assert_close(found.per_tree[:, 0], [-1, 4, 0, 0, 0, 0.5], 10.0)


def test_a_forest_starts_from_its_roots_and_has_no_round_before_another():
    """Two trees under gamma's loss, both judged at log 3, the sum of their roots' values.

    y = 6 | 3: g = 1 - y/3 = -1 | 0. Each tree: -(1/alpha) 1/2 * -1 * (-1 - 0) = -1/2 at alpha = 1.
    """
    roots = [np.array([value, 0.0, 1.0]) for value in (np.log(2), np.log(1.5))]
    trees = [replace(stump(0, 0.0, 1.0), value=value) for value in roots]
    model = ensemble_of(trees, n_features=1, loss=Gamma(), is_forest=True)
    assert_close(held_out_gain(model, one_column(0, 1), [6, 3]).values, [-1.0], 4.0)


# -- Drawn models ----------------------------------------------------------------------------------


def as_page_takes(case):
    """Return the trees of a drawn model, rows with the numbers of levels, targets and weights.

    A level that training has not seen gets a number that is in no set of levels.
    """
    ensemble = as_ensemble(case.model)
    X = np.array(ensemble.as_input(case.X), dtype=float)
    for k, levels in enumerate(ensemble.categories or ()):
        X[np.isinf(X[:, k]), k] = 0 if levels is None else len(levels)
    weight = np.ones(len(X)) if case.sample_weight is None else case.sample_weight
    return ensemble, X, target_of(case, ensemble), weight


def target_of(case, ensemble):
    """Return targets as the loss takes them: numbers, or those of classes; (n, K) of K targets."""
    y, classes = np.asarray(case.y), getattr(case.model, "classes_", None)
    if y.ndim == 2 or classes is None or len(classes) == 0:
        return y.astype(float)
    is_class = np.array([[label == one for one in classes] for label in y])
    several = ensemble.loss.name == "several_targets"
    return is_class * 1.0 if several else is_class.argmax(axis=1) * 1.0


def size_of_terms(ensemble, X, y, weight):
    """Return the sum of |terms| of each feature, by which rounding is measured."""
    size = np.zeros(ensemble.n_features)
    for tree, value, left_to_explain, _ in page.rounds(ensemble, X, y):
        for t, k, on_left, on_right in page.splits(tree, X, weight):
            rows = on_left + on_right
            d = abs(value[tree.left[t]] - value[tree.right[t]])
            size[k] += d * (weight[rows] * abs(left_to_explain[rows, k])).sum()
    return size / ensemble.learning_rate


@pytest.mark.parametrize("number", range(N_MODELS))
def test_it_is_what_the_page_says(number):
    case = draw_model(number)
    rows = as_page_takes(case)
    found = held_out_gain(
        case.model, case.X, case.y, sample_weight=case.sample_weight, groups=case.groups
    )
    size = size_of_terms(*rows)
    assert_close(found.values, page.held_out_gain(*rows), size, k=1, eps=ROUNDING)
    error = page.error_of_held_out_gain(*rows, case.groups)
    assert_close(found.standard_error, error, size, k=1, eps=ROUNDING)
    if number % 5 == 0:
        by_row = held_out_gain_rows(case.model, case.X, case.y).values
        ones = np.ones(len(by_row))
        expected = page.row_parts(*rows[:3], ones)
        size = size_of_terms(*rows[:3], ones) + 0 * by_row
        assert_close(by_row, expected, size, k=1, eps=ROUNDING)
