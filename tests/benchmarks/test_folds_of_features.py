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
from gbt.splitting.frontier import Derivatives, Frontier, Limits
from gbt.tables.columns import Columns
from tests.asserts import assert_same


@st.composite
def tables(draw):
    """Draw numbers and numbers of levels, not all of which occur; how many levels columns have."""
    n = draw(st.integers(4, 12) | st.integers(30, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels = np.array(
        [draw(st.sampled_from([1, 2, 5, 70])), *draw(st.lists(st.sampled_from([0, 3, 40])))][:4]
    )
    X = rng.integers(np.where(n_levels > 0, n_levels, 9), size=(n, len(n_levels))).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    return X, n_levels


@st.composite
def frontiers(draw):
    """Draw a frontier of one or two nodes of a table with levels, and limits."""
    X, n_levels = draw(tables())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = len(X)
    gradient = rng.integers(-5, 6, size=n) + 5 * (np.nan_to_num(X[:, 0]) > 2)
    edges = [0, n] if draw(st.booleans()) else [0, n // 3, n]
    rows = [np.sort(part) for part in np.split(rng.permutation(n), edges[1:-1])]
    frontier = Frontier(
        Columns.from_table(X, n_levels=n_levels), np.arange(X.shape[1]),
        Derivatives(
            gradient, rng.integers(1, 4, size=n), 1.0, 1.0, rng.integers(1, 9, size=n), 2.0
        ),
        np.concatenate(rows).astype(np.int32), np.array(edges[:-1]), np.array(edges[1:]), rng,
    )  # fmt: skip
    limits = Limits(
        draw(st.sampled_from([0.0, 1.0])), draw(st.sampled_from([0.0, 4.0])),
        draw(st.integers(1, 3)), draw(st.sampled_from([0.0, 2.0])),
        draw(st.sampled_from([0.0, 0.5, 3.0, 10.0])),
    )  # fmt: skip
    return X, n_levels, frontier, limits


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
