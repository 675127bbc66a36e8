from dataclasses import replace
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attributions import saabas, tree_shap
from attributions.per_row.individual import attribute_per_tree, node_cover
from attributions.per_row.tree_shap import TreeShap
from attributions.reference import definitions as reference
from attributions.reference import shapley
from attributions.testing import ensembles, rows_for, sum_of_node_values
from gbt.formats import as_ensemble
from tests.asserts import EPS_32, assert_close, assert_same, peer
from tests.tree_cases import deep_ensemble, ensemble_of, example_1, tree_of

pytestmark = pytest.mark.kernels


#         0 [x0]                 "both x0 and x1 are 1", on four training rows (0, 0), (0, 1),
#        /      \                (1, 0), (1, 1)
#   1: 0, n=2   2 [x1]
#               /     \
#          3: 0, n=1   4: 1, n=1
BOTH = tree_of(
    left=[1, -1, 3, -1, -1], right=[2, -1, 4, -1, -1], feature=[0, -1, 1, -1, -1],
    threshold=[0.5, 0.0, 0.5, 0.0, 0.0], value=[0.0, 0.0, 0.0, 0.0, 1.0], n_samples=[4, 2, 2, 1, 1],
    sum_hessian=[4, 2, 2, 1, 1],
)  # fmt: skip


def test_two_features_by_hand():
    """With x = (1, 1): v() = 1/4, v(0) = v(1) = 1/2, v(0, 1) = 1, so each gets 3/8.

    With x = (1, 0): v() = 1/4, v(0) = 1/2, v(1) = v(0, 1) = 0: x0 gets (1/4 + 0)/2, x1 the rest.
    """
    result = tree_shap(ensemble_of([BOTH], 2), np.array([[1.0, 1.0], [1.0, 0.0]]))

    expected = [[3 / 8, 3 / 8], [1 / 8, -3 / 8]]
    assert_close(result.values, expected, np.ones((2, 2)), k=4)
    assert_close(result.base_values, [1 / 4, 1 / 4], 1.0, k=4)
    assert result.method == "tree_shap"


# --------------------------------------------------------------------- against all coalitions


@settings(max_examples=8)
@given(data=st.data())
def test_eight_features(data):
    ensemble = data.draw(ensembles(max_trees=1, max_depth=7, n_features=8))
    X = data.draw(rows_for(ensemble, n=2))
    assert_same_as_enumeration(ensemble, X, "hessian")


@given(data=st.data())
def test_nodes_without_cover(data):
    """Leaves lose their cover at random, and with them the nodes above that have no other."""
    ensemble = data.draw(ensembles(max_trees=1))
    X = data.draw(rows_for(ensemble))
    tree = ensemble.trees[0]
    n_samples = tree.n_samples.copy()
    for t in reversed(range(tree.n_nodes)):
        if tree.left[t] >= 0:
            n_samples[t] = n_samples[tree.left[t]] + n_samples[tree.right[t]]
        elif data.draw(st.booleans()):
            n_samples[t] = 0
    if n_samples.any():
        assert_same_as_enumeration(replace(ensemble, n_samples=n_samples), X, "count")


def assert_same_as_enumeration(ensemble, X, cover="hessian", background=None):
    """Compare every tree with the games over shares of the cover, or over background rows."""
    individual = TreeShap(background, cover)
    base_values = individual.bind(ensemble).base_values
    for m, values in attribute_per_tree(ensemble, X, individual):
        tree = ensemble.trees[m]
        nodes = slice(*ensemble.tree_offset[m : m + 2])
        terms = np.abs(tree.value).sum()
        for x, found in zip(np.asarray(X), values, strict=True):
            if background is None:
                game = shapley.path_dependent_game(tree, x, node_cover(ensemble, cover)[nodes])
            else:
                game = shapley.interventional_game(tree, x, np.asarray(background))
            expected = shapley.shapley_values(game, len(x))
            assert_close(found, expected, np.full(len(x), terms))
            assert_close(base_values[m], game(frozenset()), terms)


@given(st.data())
def test_interventional_is_the_enumeration_of_all_coalitions(data):
    ensemble = data.draw(ensembles(max_trees=2))
    X = data.draw(rows_for(ensemble, n=4))
    assert_same_as_enumeration(ensemble, X, background=data.draw(rows_for(ensemble, n=5)))


# ------------------------------------------------------------------------------------ deep trees


@pytest.mark.parametrize("depth", [10, 11, 30])
def test_a_deep_chain_in_exact_arithmetic(depth):
    """No feature repeats, so the path has as many features as edges: the quadrature's hardest."""
    ensemble, X = deep_ensemble(np.random.default_rng(0), depth, depth, branching=0.0, n_trees=1)
    tree = ensemble.trees[0]
    tree = replace(tree, feature=np.where(tree.is_leaf, -1, np.minimum(tree.depth, depth - 1)))
    ensemble = ensemble_of([tree], depth)

    values = tree_shap(ensemble, X[:1], cover="count").values

    expected = [exact_shapley_values(tree, X[0], tree.n_samples)]
    assert_close(values, expected, np.full(values.shape, np.abs(tree.value).sum()), k=8)


def exact_shapley_values(tree, x, cover):
    """Add up the leaves' games in rationals, each by the number of coalitions of every size.

    A leaf pays prod_{j in S} o_j prod_{j not in S} r_j times its value: o_j is 1 if x meets the
    conditions on j, r_j the share of the cover that does. The coefficient of z^s in the product of
    (o_j z + r_j) over j other than k adds up what the coalitions of size s without k are paid.
    """
    phi = [Fraction(0)] * len(x)

    def leaf_game(t, o, r):
        if tree.left[t] < 0:
            d = len(r)
            for k in r:
                paid, scale = [1], factorial(d)  # whole numbers; gcd would take all the time
                for j in r.keys() - {k}:
                    inside = [0, *(o[j] * r[j].denominator * c for c in paid)]
                    outside = [*(r[j].numerator * c for c in paid), 0]
                    paid = [a + b for a, b in zip(inside, outside, strict=True)]
                    scale *= r[j].denominator
                mean = sum(c * factorial(s) * factorial(d - 1 - s) for s, c in enumerate(paid))
                phi[k] += Fraction(float(tree.value[t])) * (o[k] - r[k]) * Fraction(mean, scale)
            return
        k = int(tree.feature[t])
        taken = tree.left[t] if reference.takes_left(tree, t, x) else tree.right[t]
        for child in (tree.left[t], tree.right[t]):
            share = Fraction(int(cover[child]), int(cover[t]))
            leaf_game(
                child,
                {**o, k: o.get(k, 1) * int(child == taken)},
                {**r, k: r.get(k, Fraction(1)) * share},
            )

    leaf_game(0, {}, {})
    return [float(value) for value in phi]


# ------------------------------------------------------------------------- rows that decide alike


@pytest.mark.parametrize("n_background", [0, 3])
@given(data=st.data())
def test_rows_get_the_same_among_few_and_among_many(n_background, data):
    """Of few rows each is computed; many rows look up what their words get, to the last bit."""
    ensemble = data.draw(ensembles(max_trees=2))
    X = data.draw(rows_for(ensemble))
    background = data.draw(rows_for(ensemble, n=n_background)) if n_background else None
    copies = np.arange(600) % len(X)

    few = tree_shap(ensemble, X, background=background).values
    many = tree_shap(ensemble, X[copies], background=background).values

    assert_same(many, few[copies])


@pytest.mark.parametrize("depth", [5, 8, 12])
def test_any_rows_get_the_same_alone_and_among_others(depth):
    """In blocks of 5, 100 and 1,300, with pieces of up to 9 bits and with trees left whole."""
    rng = np.random.default_rng(depth)
    ensemble, _ = deep_ensemble(rng, depth, depth, branching=0.8)
    X = rng.normal(size=(1300, depth))
    X[rng.random(X.shape) < 0.1] = np.nan

    whole = tree_shap(ensemble, X, cover="count").values

    for n in (5, 100):
        for start in range(0, 500, n):
            block = slice(start, start + n)
            assert_same(tree_shap(ensemble, X[block], cover="count").values, whole[block])
    residual = tree_shap(ensemble, X, cover="count").residual(ensemble.raw_predict(X))
    assert_close(residual, np.zeros(len(X)), np.full(len(X), sum_of_node_values(ensemble)))


def test_covers_are_named_and_backgrounds_are_tables_of_rows():
    ensemble, X, _ = example_1(0)
    assert tree_shap(ensemble, X, cover="count").method == "tree_shap(cover='count')"
    with pytest.raises(ValueError, match=r"'hessian' or by 'count'; got 'gain'"):
        tree_shap(ensemble, X, cover="gain")
    with pytest.raises(ValueError, match="background has no rows"):
        tree_shap(ensemble, X, background=X[:0])
    with pytest.raises(ValueError, match=r"shape \(3, 1\).*2 columns"):
        tree_shap(ensemble, X, background=X[:, :1])


# ----------------------------------------------------------------------------------------- peers


@pytest.mark.parametrize("explain", [saabas, tree_shap])
def test_xgboost_of_its_own_trees(explain):
    """Fitted with missing values; other libraries are asked in tests/gbt/formats."""
    xgboost = peer("xgboost")
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=400) > 0).astype(float)
    asked = {"objective": "binary:logistic", "lambda": 1, "max_depth": 5, "nthread": 1}
    model = xgboost.train(asked, xgboost.DMatrix(X, y), 20)
    approximate = {"approx_contribs": explain is saabas}
    theirs = model.predict(xgboost.DMatrix(X), pred_contribs=True, **approximate)

    ours = explain(model, X)

    terms = np.full(X.shape, sum_of_node_values(as_ensemble(model)))
    assert_close(ours.values, theirs[:, :-1], terms, k=8, eps=EPS_32)
    assert_close(ours.base_values, theirs[:, -1], terms[:, 0], k=8, eps=EPS_32)
