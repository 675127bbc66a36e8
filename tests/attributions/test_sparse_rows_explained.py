"""Attributions of sparse rows are those of the dense table, to the last bit."""

import numpy as np
import pytest
from numba import config
from scipy import sparse

import attributions
from attributions import HeldOutSelector, cross_fit
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_same
from tests.sparse_tables import large_table

pytestmark = pytest.mark.kernels
N = 400


@pytest.fixture(scope="module", params=[GBTRegressor, GBTClassifier])
def problem(request):
    """Return an estimator, and rows with targets."""
    rng = np.random.default_rng(0)
    X = large_table(rng, n=2 * N, p=9)
    y = np.nan_to_num(X[:, :4]).sum(axis=1) + rng.normal(size=2 * N)
    y = y if request.param is GBTRegressor else y > 0
    return request.param(n_estimators=6, max_depth=4, random_state=0), X, y


@pytest.fixture(scope="module")
def fitted(problem):
    estimator, X, y = problem
    return estimator.fit(X[:N], y[:N]), X[N:], y[N:]


def assert_alike(dense, of_sparse):
    for name in ("values", "standard_error", "base_values", "data"):
        if getattr(dense, name, None) is not None:
            assert_same(getattr(of_sparse, name), getattr(dense, name))


@pytest.mark.parametrize("name", ["predecomp", "saabas", "tree_shap", "absolute"])
def test_explaining(fitted, name):
    model, X, _ = fitted
    explain = getattr(attributions, name)
    assert_alike(explain(model, X), explain(model, sparse.coo_array(X)))


def test_shap_beside_a_background(fitted):
    model, X, _ = fitted
    explain = attributions.tree_shap
    given = explain(model, X[:20], background=X[20:40])
    rows, background = sparse.csr_array(X[:20]), sparse.csc_array(X[20:40])
    assert_alike(given, explain(model, rows, background=background))


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    "name", ["held_out_gain", "tree_inner", "partial_inner", "forest_inner", "tree_inner_pairs"]
)
def test_judging(fitted, name, is_weighted):
    model, X, y = fitted
    judge = getattr(attributions, name, None)
    if judge is None:
        pytest.skip(f"there is no {name}")
    weight = np.arange(N) % 3.0 if is_weighted else None
    dense = judge(model, X, y, sample_weight=weight)
    assert_alike(dense, judge(model, sparse.csc_matrix(X), y, sample_weight=weight))


@pytest.mark.parametrize("metric", [None, "scorer"])
def test_permutation(fitted, metric):
    model, X, y = fitted
    name = "r2" if isinstance(model, GBTRegressor) else "accuracy"
    asked = {"metric": name} if metric else {}
    dense = attributions.permutation(model, X, y, random_state=0, **asked)
    of_sparse = attributions.permutation(
        model, sparse.csr_array(X), y, random_state=0, **asked
    )  # fmt: skip
    assert_alike(dense, of_sparse)


@pytest.mark.parametrize("name", ["held_out_gain_rows", "tree_inner_rows"])
def test_single_rows(fitted, name):
    model, X, y = fitted
    judge = getattr(attributions, name)
    assert_alike(judge(model, X, y), judge(model, sparse.csr_array(X), y))


@pytest.mark.parametrize("form", ["symmetric", "paper", "sampled"])
def test_unbiased_gain(problem, form):
    estimator, X, y = problem
    model, S = estimator.fit(X[:N], y[:N]), sparse.csr_array(X)
    asked = {"form": form, "random_state": 0}
    dense = attributions.unbiased_gain(model, X[:N], y[:N], X[N:], y[N:], **asked)
    assert_alike(dense, attributions.unbiased_gain(model, S[:N], y[:N], S[N:], y[N:], **asked))


@pytest.mark.skipif(config.DISABLE_JIT, reason="uncompiled, rows of records have no names")
def test_local_mdi(problem):
    estimator, X, y = problem
    model, S = estimator.fit(X[:N], y[:N]), sparse.csr_array(X)
    dense = attributions.local_mdi(model, X[:N], y[:N], X[N:], linear_model="ridge")
    assert_alike(
        dense, attributions.local_mdi(model, S[:N], y[:N], S[N:], linear_model="ridge")
    )  # fmt: skip


def test_rows_that_the_model_has_seen(problem):
    estimator, X, y = problem
    model = estimator.fit(sparse.csr_array(X), y)
    for table in (X, sparse.csr_array(X)):
        with pytest.warns(attributions.inputs.SeenRowsWarning, match=f"{2 * N} of the {2 * N}"):
            attributions.held_out_gain(model, table, y)


@pytest.mark.large
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix])
def test_selecting(problem, kind):
    estimator, X, y = problem
    assert_alike(
        cross_fit(estimator, X, y, cv=3, random_state=0),
        cross_fit(estimator, kind(X), y, cv=3, random_state=0),
    )
    for cv in (3, None):
        dense = HeldOutSelector(estimator, cv=cv).fit(X, y)
        of_sparse = HeldOutSelector(estimator, cv=cv).fit(kind(X), y)
        assert_same(of_sparse.p_values_, dense.p_values_)
        assert_same(of_sparse.transform(kind(X)).toarray(), dense.transform(X))


def test_given_others(problem):
    estimator, X, y = problem
    if isinstance(estimator, GBTClassifier):
        pytest.skip("a regressor is enough")
    model, S = estimator.fit(X[:N, :3], y[:N]), sparse.csr_array(X[:, :3])
    asked = {"regressor": GBTRegressor(n_estimators=3, random_state=0)}
    dense = attributions.given_others(
        model, X[N:, :3], y[N:], training=(X[:N, :3], y[:N]), **asked
    )  # fmt: skip
    assert_alike(
        dense, attributions.given_others(model, S[N:], y[N:], training=(S[:N], y[:N]), **asked)
    )
