"""Measures on paper: Example 1 of Sun 2022 in fractions, held-out gain, and forests.

Rows A (0, 0; 0), B (0, 1; 1), C (1, 0; -1); half squared error, lambda 1, alpha 1, one split, base
score 0. The two features are alike but for who is who, so both splits gain 5/6 and an attribution
can only say which of them the tree took::

                     structure I: x1, left A B, right C      structure II: x2, left A C, right B
    p(t)             0       1/3   -1/2                      0       -1/3   1/2
    mean leaf        1/18                                   -1/18
    PreDecomp        A, B  1/3      C  -1/2                  A, C  -1/3      B  1/2
    Saabas, SHAP     A, B  5/18     C  -5/9                  A, C  -5/18     B  5/9
"""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from attributions import (
    absolute,
    forest_inner,
    held_out_gain,
    partial_inner,
    partial_inner_rows,
    predecomp,
    saabas,
    total_gain,
    tree_inner,
    tree_inner_rows,
    tree_shap,
)
from gbt.losses.amounts import Gamma
from gbt.losses.several_outputs import Softmax
from gbt.losses.squared_and_logistic import LOSSES
from tests.asserts import assert_close, assert_same
from tests.tree_cases import ensemble_of, example_1, leaf_of, stump_on, tree_of

METHODS = {"predecomp": predecomp, "saabas": saabas, "tree_shap": tree_shap}
ROWS = {  # of the feature that is split on: A, B, C in structure I and II
    "predecomp": [(F(1, 3), F(1, 3), F(-1, 2)), (F(-1, 3), F(1, 2), F(-1, 3))],
    "saabas": [(F(5, 18), F(5, 18), F(-5, 9)), (F(-5, 18), F(5, 9), F(-5, 18))],
}
ROWS["tree_shap"] = ROWS["saabas"]
MEAN_LEAF = (1 / 18, -1 / 18)
both_structures = pytest.mark.parametrize("split_on", [0, 1], ids=["I", "II"])


@both_structures
@pytest.mark.parametrize("method", METHODS)
def test_per_row(method, split_on):
    model, X, _ = example_1(split_on)
    result = METHODS[method](model, X)
    assert_close(result.values[:, split_on], np.array(ROWS[method][split_on], dtype=float), 1.0)
    assert_same(result.values[:, 1 - split_on], np.zeros(3))
    base = 0.0 if method == "predecomp" else MEAN_LEAF[split_on]
    assert_close(result.base_values, np.full(3, base), 1.0)
    assert_close(result.residual(model.raw_predict(X)), np.zeros(3), 1.0)


@both_structures
@pytest.mark.parametrize("method", METHODS)
def test_per_feature(method, split_on):
    """The gradients are (0, -1, 1), so every inner product is that of B less that of C: 5/6."""
    model, X, y = example_1(split_on)
    _, b, c = ROWS[method][split_on]
    assert b - c == F(5, 6)
    expected = np.zeros(2)
    expected[split_on] = 5 / 6
    for inner in (tree_inner, partial_inner, forest_inner):
        assert_close(inner(model, X, y, ifa=method).values, expected, 1.0)
    assert_close(forest_inner(model, X, y, ifa=method, variant="target").values, expected, 1.0)
    assert_close(total_gain(model).values, expected, 1.0)
    used = float(sum(abs(f) for f in ROWS[method][split_on]))
    for level in ("tree", "forest"):
        assert_close(absolute(model, X, ifa=method, level=level).values[split_on], used, 2.0)


nan = np.nan


def stump(feature, *value, hessian=(1.0, 1.0), n_samples=(1, 1)):
    """Return a split at 0.5 into leaves of two values; what the root knows does not matter."""
    return replace(
        stump_on(feature, threshold=0.5), value=np.array([0.0, *value]),
        sum_hessian=np.array([sum(hessian), *hessian]),
        n_samples=np.array([sum(n_samples), *n_samples]),
    )  # fmt: skip


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
    return tree_of(
        feature=[0, -1, 1, -1, -1], threshold=[0.5, 0, 0.5, 0, 0], left=[1, -1, 3, -1, -1],
        right=[2, -1, 4, -1, -1], value=[9.0, 0, 9, 2, 6], sum_hessian=[6.0, 2, 4, 1, 3],
    )  # fmt: skip


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
    first = [stump(0, log2 - 1, log2 + 1), stump(0, -2.0, 2.0), leaf_of(0.0)]
    second = [leaf_of(0.0), leaf_of(0.0), stump(0, 1.0, 0.0)]
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


@pytest.mark.parametrize("inner", [partial_inner, partial_inner_rows])
def test_no_tree_of_a_forest_was_grown_after_others(inner):
    rng = np.random.default_rng(3)
    (rows, new), (y, y_new) = rng.normal(size=(2, 300, 4)), rng.normal(size=(2, 300))
    asked = {"min_samples_leaf": 15, "random_state": 0}
    forest, tree = (
        kind.fit(rows, y)
        for kind in (RandomForestRegressor(6, **asked), DecisionTreeRegressor(**asked))
    )
    with pytest.raises(ValueError, match="trees of a forest do not build on earlier ones"):
        inner(forest, new, y_new)
    whole = {partial_inner: tree_inner, partial_inner_rows: tree_inner_rows}[inner]
    expected = whole(tree, new, y_new, ifa="saabas").values
    assert_close(inner(tree, new, y_new).values, expected, 300 * np.ptp(y) * np.ptp([y, y_new]))
