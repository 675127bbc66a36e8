import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import predecomp
from attributions.per_row.individual import attribute_per_tree
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for, sum_of_node_values
from tests.asserts import assert_close, assert_same
from tests.tree_cases import deep_ensemble, example_1, fit_values

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize(
    ("split_on", "left", "right"), [(0, 1 / 3, -1 / 2), (1, -1 / 3, 1 / 2)], ids=["I", "II"]
)
def test_example_1_of_the_paper(split_on, left, right):
    ensemble, X, _ = example_1(split_on)
    assert_same(ensemble.value, [0.0, left, right])

    result = predecomp(ensemble, X)

    expected = np.zeros((3, 2))
    expected[:, split_on] = np.where(X[:, split_on] <= 0.5, left, right)
    assert_same(result.values, expected)
    assert_same(result.base_values, np.zeros(3))
    assert result.method == "predecomp"
    assert result.feature_names == ensemble.feature_names


@given(st.data())
def test_proposition_1_at_every_row_and_tree(data):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble))

    for m, values in attribute_per_tree(ensemble, X, "predecomp"):
        tree = ensemble.trees[m]
        leaf_value = [tree.value[reference.path(tree, x)[-1]] for x in X]
        terms = np.full(len(X), np.abs(tree.value).sum())
        assert_close(values.sum(axis=1) + tree.value[0], leaf_value, terms)


@given(st.data())
def test_remark_1_on_the_rows_that_gave_the_values(data):
    """Without penalty, contributions average 0 over training rows, weighted by their hessians."""
    drawn = data.draw(ensembles(reg_lambda=0.0))
    X = data.draw(rows_for(drawn))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(X), max_size=len(X))), float)
    ensemble = fit_values(drawn, X, y)

    steps = reference.steps(ensemble, X, y)
    for (_, values), (tree, _, hessian) in zip(
        attribute_per_tree(ensemble, X, "predecomp"), steps, strict=True
    ):
        terms = hessian.sum() * np.abs(tree.value).sum()
        assert_close(hessian @ values, np.zeros(4), terms)


@given(st.data())
def test_equation_9_tree_by_tree(data):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble))

    for m, values in attribute_per_tree(ensemble, X, "predecomp"):
        assert_same(values, [reference.predecomp(ensemble.trees[m], x) for x in X])


@pytest.mark.parametrize("branching", [0.0, 0.7], ids=["chain", "bushy"])
@pytest.mark.parametrize("n_features", [1, 5, 40])
def test_additive_at_depth_30(branching, n_features):
    rng = np.random.default_rng(30)
    ensemble, X = deep_ensemble(rng, 30, n_features, branching)

    residual = predecomp(ensemble, X).residual(ensemble.raw_predict(X))

    assert_close(residual, np.zeros(len(X)), np.full(len(X), sum_of_node_values(ensemble)))
