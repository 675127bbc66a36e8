"""PreDecomp and Saabas: changes of node values along paths, and where the values come from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import saabas
from attributions.per_row.individual import attribute_per_tree, node_cover
from attributions.per_row.saabas import Saabas
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from tests.asserts import assert_close, assert_same
from tests.tree_cases import ensemble_of, example_1, stump_on, tree_of

pytestmark = pytest.mark.kernels


def mean_values(ensemble, weights="hessian"):
    """Return p~ of all nodes as the walk uses them."""
    return Saabas(weights).bind(ensemble).node_value


@given(st.data())
def test_contributions_are_those_of_the_definition(data):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble))
    for m, values in attribute_per_tree(ensemble, X, "predecomp"):
        assert_same(values, [reference.predecomp(ensemble.trees[m], x) for x in X])
    weights = data.draw(st.sampled_from(["hessian", "count"]))
    weight = np.split(node_cover(ensemble, weights), ensemble.tree_offset[1:-1])
    for m, values in attribute_per_tree(ensemble, X, Saabas(weights)):
        tree = ensemble.trees[m]
        expected = [reference.saabas(tree, x, weight[m]) for x in X]
        assert_close(values, expected, np.full(values.shape, np.abs(tree.value).sum()))


def test_a_leaf_that_weighs_next_to_nothing_keeps_its_say():
    """Weights 1 and 2^-40 with values 0 and 2^40: taking the second share as 1 minus the first
    would leave four digits of it.
    """
    stump = replace(
        stump_on(0, 0.0), value=np.array([0.0, 0, 2.0**40]), sum_hessian=np.array([0, 1, 2.0**-40])
    )

    assert_close(mean_values(ensemble_of([stump], 1))[0], 1 / (1 + 2.0**-40), 1.0, k=4)


def test_a_child_without_weight_does_not_count_and_two_such_children_count_alike():
    """Node 1 has the leaves 2 and 3, of values 6 and 8 and no weight; leaf 4 has all of it."""
    tree = tree_of(
        feature=[0, 0, -1, -1, -1], left=[1, 2, -1, -1, -1], right=[4, 3, -1, -1, -1],
        value=[0.0, 0, 6, 8, 3], sum_hessian=[2.0, 0, 0, 0, 2],
    )  # fmt: skip

    assert_same(mean_values(ensemble_of([tree], 1)), [3.0, 7.0, 6.0, 8.0, 3.0])


def test_weights_that_the_model_does_not_have():
    ensemble, X, _ = example_1(0)
    assert saabas(ensemble, X, weights="count").method == "saabas(weights='count')"
    no_counts = replace(ensemble, n_samples=np.zeros(3, np.int64))
    no_hessians = replace(ensemble, sum_hessian=np.zeros(3), about_gradients="They are lost")

    with pytest.raises(
        ValueError, match=r"'count'.*not have their counts.*Weigh them by 'hessian'"
    ):
        saabas(no_counts, X, weights="count")
    with pytest.raises(
        ValueError, match=r"'hessian'.*does not have.*They are lost\. Weigh them by 'count'"
    ):
        saabas(no_hessians, X)
    with pytest.raises(ValueError, match=r"'hessian' or by 'count'; got 'rows'"):
        saabas(ensemble, X, weights="rows")


@given(st.data())
def test_recurrences_23(data):
    ensemble = data.draw(ensembles())
    for tree in ensemble.trees:
        absolute = replace(tree, value=np.abs(tree.value))
        H, n = tree.sum_hessian, tree.n_samples.astype(float)

        terms = reference.recurrence_23(absolute, H, ensemble.reg_lambda)
        rebuilt = reference.recurrence_23(tree, H, ensemble.reg_lambda)
        assert_close(rebuilt, tree.value, terms)

        for weight in (H, n):
            terms = reference.mean_of_leaves(absolute, weight)
            rebuilt = reference.recurrence_23(tree, weight, 0.0)
            assert_close(rebuilt, reference.mean_of_leaves(tree, weight), terms)
