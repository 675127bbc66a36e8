"""Gains that a model remembers, and how much a feature moves predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import absolute, total_gain, tree_inner
from attributions.reference import definitions as reference
from attributions.simulated import simulated
from attributions.testing import ensembles
from tests.asserts import EPS_32, assert_close, assert_same, peer
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


@pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")  # they are training rows
def test_it_is_the_total_gain_of_xgboost():
    """And TreeInner of its training rows, from a model file that does not hold the gradients."""
    xgboost = peer("xgboost")
    data = simulated("regression", n_train=300, random_state=0)
    booster = xgboost.train(
        {"eta": 0.3, "max_depth": 4, "tree_method": "exact", "nthread": 1, "base_score": 0.0},
        xgboost.DMatrix(data.X_train, data.y_train),
        num_boost_round=20,
    )
    by_name = booster.get_score(importance_type="total_gain")
    theirs = np.array([by_name.get(f"f{k}", 0.0) for k in range(50)])
    theirs /= theirs.sum()

    ours = total_gain(booster)
    inner = tree_inner(booster, data.X_train, data.y_train)

    assert_close(ours.normalized(), theirs, 1.0, k=8, eps=EPS_32)
    assert_close(inner.normalized(), theirs, 1.0, k=8, eps=EPS_32)


def test_opposite_steps_cancel_in_the_forest_only():
    forth = fit_values(ensemble_of([stump_on(0, 0.0)], 1), [[-1.0], [1.0]], np.array([-1.0, 1.0]))
    back = fit_values(ensemble_of([stump_on(0, 0.0)], 1), [[-1.0], [1.0]], np.array([1.0, -1.0]))
    both = ensemble_of([forth.trees[0], back.trees[0]], 1)
    assert_same(absolute(both, [[5.0]], level="tree").values, [2.0])
    assert_same(absolute(both, [[5.0]], level="forest").values, [0.0])
