"""Models without zeros, of sparse rows and of arrays, are those with them, to the last bit."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gbt import GBTClassifier, GBTRegressor
from gbt.kernels.trees.tasks import LARGE
from gbt.tables.sparse_columns import columns_of_sparse_rows
from gbt.tables.sparse_rows import SparseRows
from tests.asserts import assert_same, assert_same_model
from tests.sparse_tables import KINDS, arrays_stored, large_table, tables

pytestmark = pytest.mark.kernels
LOSSES = ["half_squared_error", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"]


def targets_of(X, rng):
    return np.nan_to_num(X).sum(axis=1, dtype=float) + rng.normal(size=len(X))


@st.composite
def parameters(draw, n_rows):
    """Draw parameters; splitters whose rows judge need some rows."""
    splitters = ["greedy", "greedy", "unbiased", "cross_validated"]
    few = n_rows < 60
    return {
        "n_estimators": 3,
        "splitter": "greedy" if few else draw(st.sampled_from(splitters)),
        "max_depth": draw(st.sampled_from([2, 6, None])),
        "max_leaves": draw(st.sampled_from([None, None, 5])),
        "min_child_weight": draw(st.sampled_from([0.0, 1.0])),
        "subsample": 1.0 if few else draw(st.sampled_from([1.0, 1.0, 0.7])),
        "colsample": draw(st.sampled_from([1.0, 1.0, 0.5])),
        "n_jobs": draw(st.sampled_from([1, 2])),
        "random_state": 0,
    }


@given(st.data())
@pytest.mark.filterwarnings("ignore:The middle half of y:UserWarning")
def test_fits_are_those_of_the_dense_table(data):
    X = data.draw(tables())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    asked, kind = data.draw(parameters(len(X))), data.draw(st.sampled_from(KINDS))
    weight = data.draw(st.sampled_from([None, rng.random(len(X)) + 0.1]))
    y = targets_of(X, rng)
    loss = data.draw(st.sampled_from(LOSSES))
    model, y = GBTRegressor(loss=loss, **asked), y if loss in LOSSES[:4] else np.exp(y.clip(-2, 2))
    if data.draw(st.booleans()):
        model, y = GBTClassifier(**asked), rng.permutation(np.arange(len(X)) % 3)
    dense = model.fit(X, y, weight)
    predicted, leaves = dense.predict(X), dense.apply(X)
    staged = list(dense.staged_predict(X))
    of_sparse = type(model)(**model.get_params(deep=False)).fit(kind(X), y, weight)
    assert_same_model(dense, of_sparse)
    assert_same(of_sparse.predict(kind(X)), predicted)
    assert_same(of_sparse.apply(kind(X)), leaves)
    for one, other in zip(of_sparse.staged_predict(kind(X)), staged, strict=True):
        assert_same(one, other)
    if isinstance(model, GBTClassifier):
        assert_same(of_sparse.predict_proba(kind(X)), dense.predict_proba(X))
        assert_same(of_sparse.decision_function(kind(X)), dense.decision_function(X))


@given(st.data())
@pytest.mark.filterwarnings("ignore:The middle half of y:UserWarning")
def test_fits_of_arrays_are_those_with_all_zeros(data):
    X = data.draw(tables())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X[(X == 0) & (rng.random(X.shape) < 0.3)] = -0.0
    asked = data.draw(parameters(len(X)))
    if data.draw(st.booleans()):
        asked["categorical_features"] = [0]
        X[:, 0] = rng.integers(0, 3, size=len(X))
    weight = data.draw(st.sampled_from([None, rng.random(len(X)) + 0.1]))
    model, y = GBTClassifier(**asked), rng.permutation(np.arange(len(X)) % 3)
    with_zeros = model.fit(X, y, weight)
    with arrays_stored(0.25):
        without = type(model)(**model.get_params(deep=False)).fit(X, y, weight)
    assert_same_model(with_zeros, without)
    assert_same(with_zeros.predict(X), without.predict(X))


@pytest.mark.large
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("splitter", ["greedy", "unbiased", "cross_validated"])
def test_arrays_of_many_values(splitter, n_jobs):
    """In float32, with interactions, early stopping, and rounds added to a pickled model."""
    rng = np.random.default_rng(1)
    X = large_table(rng).astype(np.float32)
    X[:5, ::4] = -0.0
    y = np.digitize(targets_of(X, rng), [-1, 1, 2])

    def fit():
        model = GBTClassifier(
            3, splitter=splitter, max_depth=5, random_state=0, n_jobs=n_jobs, warm_start=True,
            early_stopping_rounds=2, interaction_constraints=[[0, 1, 2, 3], list(range(4, 40))],
        )  # fmt: skip
        model = pickle.loads(pickle.dumps(model.fit(X, y, eval_set=[(X[:500], y[:500])])))
        return model.set_params(n_estimators=5).fit(X, y, eval_set=[(X[:500], y[:500])])

    with_zeros = fit()
    with arrays_stored(0.25):
        without = fit()
    assert_same_model(without, with_zeros)
    assert without.evals_result_ == with_zeros.evals_result_


@pytest.mark.large
@pytest.mark.parametrize("splitter", ["greedy", "unbiased", "cross_validated"])
@pytest.mark.parametrize("is_logistic", [False, True])
def test_large_nodes_and_bins_with_cuts_inside(splitter, is_logistic):
    """Here histograms are subtracted, and the rows of bins are walked."""
    rng = np.random.default_rng(1)
    X = large_table(rng)
    rows = SparseRows.of(sparse.csr_array(X))
    columns = columns_of_sparse_rows(rows, 1)
    assert columns.n_stored > 2 * LARGE * (columns.n_bins + 1).sum()
    assert (columns.n_bins < columns.n_values)[columns.sparse.is_sparse == 1].any()
    y = targets_of(X, rng)
    model, y = (GBTClassifier, y > 0) if is_logistic else (GBTRegressor, y)
    asked = {"n_estimators": 4, "splitter": splitter, "max_depth": 5, "random_state": 0}
    dense = model(**asked, n_jobs=1).fit(X, y)
    for n_jobs in (1, 2):
        assert_same_model(model(**asked, n_jobs=n_jobs).fit(sparse.csr_array(X), y), dense)


def test_whole_numbers_and_booleans_are_numbers():
    X = np.random.default_rng(4).integers(0, 2, size=(90, 5))
    y = X @ np.arange(5.0)
    dense = GBTRegressor(3, splitter="greedy").fit(X, y)
    for kind in (np.int64, np.int8, bool):
        of_sparse = GBTRegressor(3, splitter="greedy").fit(sparse.csr_array(X.astype(kind)), y)
        assert_same_model(dense, of_sparse)
