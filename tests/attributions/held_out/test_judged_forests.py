"""Forests are judged at what they predict before any split: by hand, by definition, and by chance.

No origin of the targets, no name of a class and no base score of the model may matter.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions import (
    forest_inner,
    partial_inner,
    partial_inner_rows,
    predecomp,
    tree_inner,
    tree_inner_pairs,
    tree_inner_rows,
    tree_shap,
    unbiased_gain,
)
from attributions.reference import definitions as reference
from gbt import GBTClassifier
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.tree_cases import ensemble_of, stump_on

RNG = np.random.default_rng(3)
X, X_NEW = RNG.normal(size=(2, 300, 4))
# Multiples of 1/64: sums of them are exact, so that a constant changes no split by rounding.
Y, Y_NEW = (np.round(64 * (Z[:, 0] + Z[:, 1] ** 2 + RNG.normal(size=300))) / 64 for Z in (X, X_NEW))
C = 128.0
FEW = {"min_samples_leaf": 15, "random_state": 0}
N_TREES = 6
REGRESSORS = {
    "random forest": RandomForestRegressor(N_TREES, **FEW),
    "extra trees": ExtraTreesRegressor(N_TREES, **FEW),
    "a forest of one tree": RandomForestRegressor(1, **FEW),
    "a tree": DecisionTreeRegressor(**FEW),
}
MEASURES = {  # of targets that have moved by c
    "with standard errors": lambda model, c: tree_inner(model, X_NEW, Y_NEW + c),
    "by leaf": lambda model, c: tree_inner(model, X_NEW, Y_NEW + c, standard_error=False),
    "saabas": lambda model, c: tree_inner(model, X_NEW, Y_NEW + c, ifa="saabas"),
    "tree_shap": lambda model, c: tree_inner(model, X_NEW, Y_NEW + c, ifa="tree_shap"),
    "forest_inner": lambda model, c: forest_inner(model, X_NEW, Y_NEW + c),
    "unbiased_gain": lambda model, c: unbiased_gain(
        model, X, Y + c, X_NEW, Y_NEW + c, form="paper"
    ),
}


def two_stumps(base_score):
    """Return a forest: on x0 from 2 to 1 and 4, on x1 from 3 to 2 and 5."""
    stumps = [
        replace(stump_on(k, threshold=0.5), value=np.array(value))
        for k, value in ((0, [2.0, 1, 4]), (1, [3.0, 2, 5]))
    ]
    return ensemble_of(
        stumps, n_features=2, learning_rate=0.5, base_score=base_score, is_forest=True
    )


@pytest.mark.parametrize(
    ("base_score", "q"),
    [
        # The forest starts at 0 + 2 + 3, and y is 1, 3 and 0 above that. Times 1/alpha = 2 and
        # the steps -1, 2, 2 on x0 and -1, -1, 2 on x1.
        (0.0, [[-2, -2], [12, -6], [0, 0]]),
        # It starts at 6, and y is 0, 2 and -1 above.
        (1.0, [[0, 0], [8, -4], [-4, -4]]),
    ],
)
def test_two_stumps_by_hand(base_score, q):
    forest, q = two_stumps(base_score), np.array(q, dtype=float)
    rows, y = np.array([[0.0, 0], [1, 0], [1, 1]]), np.array([6.0, 8, 5])

    assert_same(tree_inner(forest, rows, y).values, q.sum(axis=0))
    assert_same(tree_inner(forest, rows, y, standard_error=False).values, q.sum(axis=0))
    assert_same(reference.tree_inner(forest, rows, y), q.sum(axis=0))
    assert_same(tree_inner_pairs(forest, rows, y).importance(), q.sum(axis=0))
    by_row = tree_inner_rows(forest, rows, y)
    assert_same(by_row.values, q)
    assert_same(by_row.base_values, np.zeros(3))  # the roots' values are where the rows start
    # F_ik sum_m -g_im: either tree has the same gradients, so twice as much.
    assert_same(forest_inner(forest, rows, y).values, 2 * q.sum(axis=0))


@pytest.mark.parametrize("case", REGRESSORS)
def test_fast_and_slow_are_the_definition(case):
    """(1/alpha) sum of F_ik (y_i - start), with scikit-learn's own root values."""
    model = clone(REGRESSORS[case]).fit(X, Y)
    trees = getattr(model, "estimators_", [model])
    start = np.mean([tree.tree_.value[0, 0, 0] for tree in trees])
    ensemble = as_ensemble(model)
    moves = np.array([sum(reference.predecomp(tree, x) for tree in ensemble.trees) for x in X_NEW])
    q = len(trees) * moves * (Y_NEW - start)[:, np.newaxis]
    terms = np.abs(q).sum(axis=0) + len(trees) * np.abs(moves).sum(axis=0)
    assert_close(tree_inner(model, X_NEW, Y_NEW).values, q.sum(axis=0), terms)
    assert_close(reference.tree_inner(ensemble, X_NEW, Y_NEW), q.sum(axis=0), terms)
    error = reference.standard_error(q, np.arange(300))
    assert_close(tree_inner(model, X_NEW, Y_NEW).standard_error, error, terms)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("case", REGRESSORS)
def test_a_constant_added_to_the_targets_changes_nothing(case, measure):
    model = clone(REGRESSORS[case]).fit(X, Y)
    moved = clone(model).fit(X, Y + C)
    ensemble = as_ensemble(model)
    assert_same(as_ensemble(moved).threshold, ensemble.threshold)
    expected = MEASURES[measure](model, 0.0).values
    assert expected.any()
    # For every row, tree and (in forest_inner) tree again: a move times a gradient, which are
    # differences of numbers like C and so have errors like C's.
    terms = 300 * ensemble.n_trees**2 * np.ptp(Y) * np.ptp([Y, Y_NEW]) * C
    assert_close(MEASURES[measure](moved, C).values, expected, terms)


def test_of_several_targets_each_has_an_origin():
    origin = np.array([C, -C])
    targets, targets_new = (np.column_stack([y, -2 * y]) for y in (Y, Y_NEW))
    model = RandomForestRegressor(N_TREES, **FEW).fit(X, targets)
    moved = clone(model).fit(X, targets + origin)
    expected = tree_inner(model, X_NEW, targets_new, per_output=True).per_output
    found = tree_inner(moved, X_NEW, targets_new + origin, per_output=True).per_output
    assert_close(found, expected, 300 * N_TREES * 4 * np.ptp(Y) * np.ptp([Y, Y_NEW]) * C)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(N_TREES, **FEW), DecisionTreeClassifier(**FEW)]
)
def test_it_does_not_matter_which_class_is_the_second(model):
    is_large, is_large_new = Y > 2, Y_NEW > 2
    of_large = tree_inner(clone(model).fit(X, is_large), X_NEW, is_large_new)
    of_small = tree_inner(clone(model).fit(X, ~is_large), X_NEW, ~is_large_new)
    assert_close(of_small.values, of_large.values, 300 * N_TREES)
    assert_close(of_small.standard_error, of_large.standard_error, 300 * N_TREES)


@pytest.mark.parametrize("standard_error", [True, False])
def test_where_a_forest_keeps_its_mean_does_not_matter(standard_error):
    """In the base score, as XGBoost does, or in the trees, as scikit-learn and LightGBM do."""
    forest = as_ensemble(clone(REGRESSORS["random forest"]).fit(X, Y))
    other = replace(forest, base_score=1.5, value=forest.value - 1.5 / N_TREES)
    found, expected = (
        tree_inner(ensemble, X_NEW, Y_NEW, standard_error=standard_error).values
        for ensemble in (other, forest)
    )
    assert_close(found, expected, 300 * N_TREES * np.ptp(Y) * (np.ptp([Y, Y_NEW]) + 1.5))


@pytest.mark.parametrize("grower", [RandomForestRegressor(20, **FEW), DecisionTreeRegressor(**FEW)])
def test_noise_is_not_found_wherever_the_targets_have_their_origin(grower):
    """Of 200 columns without effect at most as many as in 999 of 1000 tests at the level .05.

    Judged at 0, a hundred standard deviations from the targets, 67 are found in forests of these
    rows and 26 in single trees.
    """
    n_found = n_columns = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, y = rng.normal(size=(1200, 10)), 100 + rng.normal(size=1200)
        model = clone(grower).set_params(random_state=seed).fit(rows[:200], y[:200])
        p_values = tree_inner(model, rows[200:], y[200:]).p_values()
        n_found += (p_values < 0.05).sum()
        n_columns += len(p_values)
    assert n_columns == 200
    assert n_found <= binom.ppf(0.999, n_columns, 0.05)


@pytest.mark.parametrize("inner", [partial_inner, partial_inner_rows])
def test_no_tree_of_a_forest_was_grown_after_others(inner):
    forest, tree = (clone(REGRESSORS[case]).fit(X, Y) for case in ("random forest", "a tree"))
    with pytest.raises(ValueError, match="trees of a forest do not build on earlier ones"):
        inner(forest, X_NEW, Y_NEW)
    whole = {partial_inner: tree_inner, partial_inner_rows: tree_inner_rows}[inner]
    expected = whole(tree, X_NEW, Y_NEW, ifa="saabas").values
    assert_close(inner(tree, X_NEW, Y_NEW).values, expected, 300 * np.ptp(Y) * np.ptp([Y, Y_NEW]))


def test_trees_of_a_logistic_forest_are_judged_at_its_start():
    """As in XGBRFClassifier: every tree has the gradients P - y of what all roots predict."""
    options = {"n_estimators": N_TREES, "splitter": "greedy", "max_depth": 3}
    model = GBTClassifier(**options).fit(X, Y > 0).ensemble_
    forest = replace(model, is_forest=True)
    y = (Y_NEW > 0).astype(float)
    start = forest.base_score + forest.value[forest.tree_offset[:-1]].sum()
    gradient = 1 / (1 + np.exp(-start)) - y
    for ifa, method in (("predecomp", predecomp), ("tree_shap", tree_shap)):
        expected = -gradient @ method(forest, X_NEW).values / forest.learning_rate
        found = tree_inner(forest, X_NEW, y, ifa=ifa)
        assert_close(found.values, expected, 300 * N_TREES)
        rows = tree_inner_rows(forest, X_NEW, y, ifa=ifa)
        assert_close(rows.values.sum(axis=0), expected, 300 * N_TREES)
    by_pair = tree_inner_pairs(forest, X_NEW, y).importance()
    assert_close(by_pair, tree_inner(forest, X_NEW, y).values, 300 * N_TREES)
