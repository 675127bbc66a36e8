"""Attributions of sparse rows are those of the dense table, to the last bit."""

from functools import partial

import numpy as np
import pytest
from numba import config
from scipy import sparse

import attributions
from attributions import HeldOutSelector, cross_fit
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_same
from tests.attributions.measures import MEASURES, judging, unbiased_gain
from tests.sparse_tables import large_table

pytestmark = pytest.mark.kernels
N = 400
WEIGHT = np.arange(N) % 3.0
WEIGHTED = ("held_out_gain", "tree_inner", "partial_inner", "forest_inner", "tree_inner_pairs")


@pytest.fixture(scope="module", params=[GBTRegressor, GBTClassifier])
def problem(request):
    """Return an estimator fitted to the first rows, and all rows with targets."""
    rng = np.random.default_rng(0)
    X = large_table(rng, n=2 * N, p=9)
    y = np.nan_to_num(X[:, :4]).sum(axis=1) + rng.normal(size=2 * N)
    y = y if request.param is GBTRegressor else y > 0
    return request.param(n_estimators=6, max_depth=4, random_state=0).fit(X[:N], y[:N]), X, y


def assert_alike(dense, of_sparse):
    for name in ("values", "standard_error", "base_values", "data"):
        if getattr(dense, name, None) is not None:
            assert_same(getattr(of_sparse, name), getattr(dense, name))


SEVERAL = {
    **MEASURES,
    **{f"{name}, weighted": judging(name, sample_weight=WEIGHT) for name in WEIGHTED},
    "scorer": judging("permutation", random_state=0, n_repeats=2, metric="roc_auc"),
    **{
        f"unbiased_gain, {form}": partial(unbiased_gain, form=form, random_state=0)
        for form in ("paper", "sampled")
    },
}
KINDS = (sparse.csr_array, sparse.csc_matrix, sparse.coo_array)
SLICED = ("scorer", "given_others", "tree_shap, background")  # of rows in compressed form alone


@pytest.mark.parametrize(("name", "kind"), [(n, KINDS[k % 3]) for k, n in enumerate(SEVERAL)])
def test_results_are_those_of_the_dense_table(problem, name, kind):
    model, X, y = problem
    if name == "local_mdi" and config.DISABLE_JIT:
        pytest.skip("uncompiled, rows of records have no names")
    if (name == "scorer" and isinstance(model, GBTRegressor)) or (
        name == "given_others" and isinstance(model, GBTClassifier)
    ):
        pytest.skip("the other estimator is enough")
    kind = sparse.csr_array if name in SLICED else kind
    of, y, y_new = partial(SEVERAL[name], model), y[:N], y[N:]
    dense = of(X[N:], y_new, (X[:N], y))
    assert_alike(dense, of(kind(X[N:]), y_new, (kind(X[:N]), y)))


def test_rows_that_the_model_has_seen(problem):
    model, X, y = problem
    for table in (X, sparse.csr_array(X)):
        with pytest.warns(attributions.SeenRowsWarning, match=f"{N} of the {2 * N}"):
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
