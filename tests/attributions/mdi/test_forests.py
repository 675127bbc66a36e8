"""Which rows the trees of a forest drew."""

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from attributions.mdi.training_trees import drawn_counts, is_forest
from tests.asserts import assert_same

X, y = make_friedman1(120, 6, noise=1.0, random_state=0)


def test_how_often_rows_were_drawn():
    forest = RandomForestRegressor(3, max_samples=0.5, random_state=0).fit(X, y)
    counts = [*drawn_counts(forest, 120)]
    assert [count.sum() for count in counts] == [60.0] * 3
    for count, estimator in zip(counts, forest.estimators_, strict=True):
        assert (count > 0).sum() == estimator.tree_.n_node_samples[0]
    (count,) = drawn_counts(ExtraTreesRegressor(1).fit(X, y), 120)
    assert_same(count, np.ones(120))


def test_forests_are_told_from_others():
    assert is_forest(ExtraTreesRegressor())
    assert not is_forest(DecisionTreeRegressor())
    assert not is_forest(y)
