import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attributions import reference, total_gain
from tests.asserts import assert_close, assert_same
from tests.strategies import ensembles
from tests.tree_cases import ensemble_of, example_1, stump_on


def test_example_1_of_the_paper():
    ensemble, X, _ = example_1(split_on=1)
    result = total_gain(ensemble)
    # G, H are (1, 2) and (-1, 1): 1/3 + 1/2 - 0.
    assert_close(result.values, [0.0, 5 / 6], np.array([0.0, 5 / 6]), k=2)
    assert result.standard_error is None
    assert result.n_samples == len(X)
    assert result.method == "total_gain"
    assert result.feature_names == ensemble.feature_names
    assert result.per_tree is None


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
