"""With ``max_bins`` trees are those of a table whose columns were put into bins beforehand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

from gbt import GBTRegressor
from gbt.model.tree import NODE_DTYPES
from gbt.reference.sets import bins_of
from gbt.splitting import Unbiased
from gbt.splitting.greedy import Greedy
from gbt.tables import bins
from gbt.tables.bins import MAX_BINS
from gbt.tables.columns import Columns
from tests.asserts import assert_same, assert_same_trees
from tests.greedy import GreedyRegressor
from tests.trainer import growths

pytestmark = pytest.mark.kernels
BUT_THRESHOLDS = [name for name in NODE_DTYPES if name != "threshold"]


def in_bins(columns):
    """Return the table with the numbers of their bins in place of values."""
    X = np.column_stack([columns.bins(k) for k in range(columns.n_columns)]).astype(float)
    X[np.isnan(columns.table)] = np.nan
    return X


@given(growths(has_levels=False))
def test_no_cut_is_inside_a_bin_and_no_other_is_missed(case):
    binned = replace(case, columns=Columns.from_table(in_bins(case.columns)))
    case = replace(case, columns=replace(case.columns, max_bins=MAX_BINS))
    expected, rows = binned.grow()
    for road in (None, Greedy()):
        tree, leaves = case.grow(on_common_road=road)
        for name in BUT_THRESHOLDS:
            assert_same(getattr(tree, name), getattr(expected, name))
        assert_same(leaves, rows)


def table(rng, n=1500):
    """Return rows whose columns have many values: ties, a heavy one, missing ones."""
    X = rng.normal(size=(n, 5))
    X[:, 1] = np.round(X[:, 1], 2)
    X[rng.random(n) < 0.4, 2] = 0.0
    X[rng.random(n) < 0.2, 3] = np.nan
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n)


WAYS = {
    "greedy": {"splitter": "greedy"},
    "best first": {"splitter": "greedy", "min_samples_leaf": 20, "max_leaves": 9},
    "of what the default grows if trees are monotone": {"monotone_constraints": [1, 0, 0, 0, 0]},
    "unbiased": {"splitter": Unbiased(pooled=True), "random_state": 3},
    "cross-validated": {"splitter": "cross_validated", "random_state": 3},
}


@pytest.mark.large
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 7, 256])
@pytest.mark.parametrize("way", WAYS)
def test_trees_are_those_of_columns_in_bins(way, max_bins, is_weighted):
    rng = np.random.default_rng(7)
    X, y = table(rng)
    weight = rng.integers(0, 3, len(y)) if is_weighted else np.ones(len(y))
    own = weight > 0
    binned = np.full_like(X, np.nan)
    for k, x in enumerate(X.T):
        binned[own, k] = np.where(np.isnan(x[own]), np.nan, bins_of(x[own], max_bins))
    given = {"n_estimators": 8, "max_depth": 4, **WAYS[way]}
    model = GBTRegressor(**given, max_bins=max_bins).fit(X, y, weight)
    # All of its values may be told apart, and there are few.
    other = GBTRegressor(**given).fit(binned, y, weight)
    for name in BUT_THRESHOLDS:
        assert_same(getattr(model.ensemble_, name), getattr(other.ensemble_, name))
    assert_same(model.predict(X[own]), other.predict(binned[own]))
    assert (model.ensemble_.feature >= 0).sum() > 20
    if max_bins == 256 and "random_state" in given:  # judged trees have as many without asking
        assert_same_trees(GBTRegressor(**given).fit(X, y, weight), model)


def test_of_many_rows_some_stand_for_all(monkeypatch):
    """Bins are those of a table of these rows alone; the others have the bins of their values."""
    monkeypatch.setattr(bins, "MOST_STANDING", 100)
    X, y = table(np.random.default_rng(10))
    X[:, 2] = np.abs(X[:, 2])  # no other value lies between the heavy one and the one before it
    stands = np.linspace(0, len(y) - 1, 100).astype(int)
    binned = np.full_like(X, np.nan)
    for k, x in enumerate(X.T):
        some = bins_of(x[stands], 30)
        last = [x[stands][some == b].max() for b in range(some.max())]
        binned[:, k] = np.where(np.isnan(x), np.nan, np.searchsorted(last, x))
    given = {"n_estimators": 4, "splitter": "greedy"}
    expected = GBTRegressor(**given).fit(binned, y)
    model = GBTRegressor(**given, max_bins=30).fit(X, y)
    for name in BUT_THRESHOLDS:
        assert_same(getattr(model.ensemble_, name), getattr(expected.ensemble_, name))


@pytest.mark.parametrize(("least", "n_samples"), [(224.0, [48, 44, 4]), (225.0, [48])])
def test_stored_values_share_the_bin_of_the_zeros_that_are_not(least, n_samples):
    """-1 and 0 have one bin, missing rows another: 8^2 / 44 + 32^2 / 4 - 40^2 / 48 = 224.1."""
    x = np.repeat([-1.0, 0.0, 5.0, np.nan], [4, 36, 4, 4])[:, np.newaxis]
    y = np.repeat([2.0, 0.0, 8.0, 0.0], [4, 36, 4, 4])
    asked = {"max_bins": 2, "max_depth": 1, "reg_lambda": 0.0, "min_split_gain": least}
    tree = GreedyRegressor(1, base_score=0.0, **asked).fit(csr_array(x), y).ensemble_.trees[0]
    assert tree.n_samples.tolist() == n_samples
    assert tree.missing_left[0] == (least == 224.0)
