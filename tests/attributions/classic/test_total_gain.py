"""Gains that a model remembers, and how much a feature moves predictions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attributions import absolute, total_gain
from attributions.reference import definitions as reference
from attributions.testing import ensembles
from tests.asserts import assert_close, assert_same
from tests.tree_cases import ensemble_of, fit_values, stump_on


@given(st.data())
def test_it_is_definition_2_added_up(data):
    ensemble = data.draw(ensembles())
    result = total_gain(ensemble, per_tree=True)

    score = ensemble.sum_gradient**2 / (ensemble.sum_hessian + ensemble.reg_lambda)
    expected = reference.total_gain(ensemble, ensemble.n_features)
    assert_close(result.values, expected, 3 * score.sum())
    assert result.per_tree.shape == (ensemble.n_trees, ensemble.n_features)
    for m, tree in enumerate(ensemble.trees):
        alone = [tree.gain[tree.feature == k].sum() for k in range(ensemble.n_features)]
        assert_close(result.per_tree[m], alone, 3 * score.sum())


def test_models_of_leaves_and_of_nothing():
    stump = ensemble_of([stump_on(0, 0.0)], n_features=2)
    for nothing in (stump, stump.truncate(0)):
        assert_same(total_gain(nothing).values, [0.0, 0.0])
        assert total_gain(nothing).n_samples == 0


def test_opposite_steps_cancel_in_the_forest_only():
    forth = fit_values(ensemble_of([stump_on(0, 0.0)], 1), [[-1.0], [1.0]], np.array([-1.0, 1.0]))
    back = fit_values(ensemble_of([stump_on(0, 0.0)], 1), [[-1.0], [1.0]], np.array([1.0, -1.0]))
    both = ensemble_of([forth.trees[0], back.trees[0]], 1)
    assert_same(absolute(both, [[5.0]], level="tree").values, [2.0])
    assert_same(absolute(both, [[5.0]], level="forest").values, [0.0])
