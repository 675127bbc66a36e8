"""The paper's folds of every feature: splits are those of the page of plain loops."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers.cvb.folds import FoldsOfFeatures, random_folds
from gbt.reference import boosting as reference
from gbt.reference.policies import cross_validated_cut
from gbt.splitting.policy import Derivatives, Frontier, Limits
from gbt.tables.columns import Columns
from tests.asserts import assert_same


@st.composite
def frontiers(draw):
    """Draw a frontier of one or two nodes, and limits; not all levels of a column need occur."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = rng.choice([4, 8, 12, 35]), rng.integers(1, 5)
    n_levels = rng.choice([0, 0, 1, 2, 5, 40, 70], p)
    X = rng.integers(np.where(n_levels > 0, n_levels, 9), size=(n, p)).astype(float)
    X[rng.random(X.shape) < rng.choice([0.0, 0.0, 0.2])] = np.nan
    gradient = rng.integers(-5, 6, size=n) + 5 * (np.nan_to_num(X[:, 0]) > 2)
    hessian, weight = rng.integers(1, 4, size=n), rng.integers(1, 9, size=n)
    edges = [0, n] if rng.random() < 0.5 else [0, n // 3, n]
    rows = [np.sort(part) for part in np.split(rng.permutation(n), edges[1:-1])]
    frontier = Frontier(
        Columns.from_table(X, n_levels=n_levels), np.arange(p),
        Derivatives(gradient, hessian, 1.0, 1.0, weight, 2.0),
        np.concatenate(rows).astype(np.int32), np.array(edges[:-1]), np.array(edges[1:]), rng,
    )  # fmt: skip
    drawn = (
        rng.choice(of) for of in ([0.0, 1.0], [0.0, 4.0], [1, 2, 3], [0.0, 2.0], [0, 0.5, 3, 10])
    )
    return X, n_levels, frontier, Limits(*drawn)


@pytest.mark.kernels
@given(frontiers(), st.integers(2, 5))
def test_splits_of_folds_of_features_are_those_of_the_page(case, n_folds):
    X, n_levels, frontier, limits = case
    again = replace(frontier, random=deepcopy(frontier.random))
    splits = FoldsOfFeatures(n_folds).split(frontier, limits, 1)
    drawn = random_folds(again, n_folds)
    for j in range(len(frontier)):
        of_node = drawn[:, frontier.rows_of(j)]
        counts = [np.bincount(of_feature, minlength=n_folds) for of_feature in of_node]
        assert np.ptp(counts, axis=1).max() <= 1
    parameters = reference.Parameters(
        reg_lambda=limits.reg_lambda, min_child_weight=limits.min_child_weight,
        min_samples_leaf=limits.min_samples_leaf, min_split_gain=limits.min_split_gain,
        categorical=tuple(np.flatnonzero(n_levels)),
        categorical_smoothing=limits.categorical_smoothing,
        weight_scale=frontier.derivatives.weight_scale,
    )  # fmt: skip
    own = frontier.derivatives
    for j in range(len(frontier)):
        rows = frontier.rows_of(j)
        one = np.ones(len(rows), int)
        sums = np.column_stack([own.gradient[rows], own.hessian[rows], one, own.weight[rows]])
        cut = cross_validated_cut(X[rows], sums.astype(object), drawn[:, rows], parameters)
        assert splits.feature[j] == (-1 if cut is None else cut.feature)
        if cut is None:
            continue
        k = splits.feature[j]
        codes = frontier.columns.codes[k, rows]
        if splits.goes_left[j] is None:
            is_missing = codes == frontier.columns.n_values[k]
            went_left = np.where(is_missing, splits.missing_left[j], codes <= splits.cut[j])
        else:
            went_left = splits.goes_left[j][codes]
        assert_same(went_left, np.array([reference.goes_left(x, cut) for x in X[rows]], dtype=bool))
        assert splits.gain[j] == pytest.approx(cut.gain, rel=1e-12)
