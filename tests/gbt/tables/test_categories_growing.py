"""Splits on sets of levels: the best of all subsets, and levels without rows.

That trees are those of the page is tested in `tests.gbt.training.test_growing`.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.splitting.cuts import Sets, best_cuts
from gbt.splitting.policy import Derivatives, Frontier, Limits
from gbt.tables.columns import Columns
from tests.asserts import assert_close, assert_same, assert_same_ensemble
from tests.greedy import GreedyRegressor
from tests.trainer import grow_tree

pytestmark = pytest.mark.kernels
NAN = np.nan


@pytest.mark.parametrize("n_levels", [30, 400])
def test_many_trees_of_a_call_have_the_sets_of_one_a_call(n_levels):
    """Of 30 levels a node keeps bits; of 400 the rows are asked, where a tree is split on them."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers([12, n_levels], size=(900, 2)), rng.normal(size=900)])
    y = X[:, 0] % 3 + X[:, 2] + rng.normal(size=900)
    levels = {"categorical_features": [0, 1], "categorical_smoothing": 2.0}
    asked = GreedyRegressor(9, max_depth=3, **levels)
    together = asked.fit(X, y).ensemble_
    is_asked = np.array([(tree.feature == 1).any() for tree in together.trees])
    assert 0 < is_asked.sum() < 9
    assert_same_ensemble(together, asked.fit(X, y, eval_set=[(X[:5], y[:5])]).ensemble_)


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.booleans())
def test_the_best_of_all_subsets_of_levels_is_found(seed, n_levels, has_missing):
    """Fisher's theorem: with equal hessians and lambda 0, sorting by means loses no subset."""
    rng = np.random.default_rng(seed)
    level = rng.integers(n_levels, size=40).astype(float)
    if has_missing:
        level[rng.random(40) < 0.2] = NAN
    g = rng.integers(-20, 21, size=40)
    columns = Columns.from_table(level[:, np.newaxis], n_levels=np.array([n_levels]))
    tree, _ = grow_tree(columns, g.astype(float), np.ones(40), max_depth=1)

    level = np.where(np.isnan(level), -1.0, level)
    levels = np.unique(level)
    gains = [0.0]
    for size in range(1, len(levels)):
        for chosen in combinations(levels, size):
            is_left = np.isin(level, chosen)
            scores = [own.sum() ** 2 / len(own) for own in (g[is_left], g[~is_left], g)]
            gains.append(scores[0] + scores[1] - scores[2])
    assert_close(tree.gain[0], max(gains), (g**2).sum())


def test_levels_of_one_key_stay_together():
    """2 / (1 + 1) and 4 / (3 + 1) are 1, but parting the two levels would gain 4 + 16 / 3 - 9."""
    columns = Columns.from_table(np.array([[0.0], [1], [1], [1]]), n_levels=np.array([2]))
    tree, _ = grow_tree(columns, np.array([2.0, 1, 1, 2]), np.ones(4), categorical_smoothing=1.0)
    assert tree.n_nodes == 1


def test_levels_without_rows_in_a_sum_go_where_raw_predictions_rise():
    """By hand: level 0 has gradients below 0, level 1 above, level 2 none in the sum that chooses.

    It stands with level 0, whose rows get the higher values, as with Adler and Painsky.
    """
    level = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    frontier = Frontier(
        Columns.from_table(level[:, np.newaxis], n_levels=np.array([3])), np.array([0]),
        Derivatives(np.array([-4, -4, 3, 3, 2, 2]), np.ones(6, dtype=np.int64), 1.0, 1.0),
        np.arange(6, dtype=np.int32), np.array([0]), np.array([6]), np.random.default_rng(0),
    )  # fmt: skip
    sets = Sets(
        np.array([0, 0, 0, 0, 1, 1], dtype=np.uint8), np.array([[True, False], [True, True]]), 2, 1
    )
    found = best_cuts(frontier, Limits(0.0, 0.0, 1, 0.0), 1, sets)
    assert_same(found.left[0, 0, 0], np.array([[-8, 2, 2], [-4, 4, 4]]))
    assert_same(found.left[0, 0, 1], np.array([[-8, 2, 2], [-8, 2, 2]]))
