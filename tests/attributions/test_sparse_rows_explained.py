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
from tests.sparse_tables import large_table

pytestmark = pytest.mark.kernels
N = 400
WEIGHT = np.arange(N) % 3.0
FEW = GBTRegressor(n_estimators=3, random_state=0)


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


def explaining(name, **options):
    return lambda model, X, y, new, y_new: getattr(attributions, name)(model, new, **options)


def judging(name, **options):
    return lambda model, X, y, new, y_new: getattr(attributions, name)(model, new, y_new, **options)


def unbiased_gain(form):
    asked = {"form": form, "random_state": 0}
    return lambda model, *rows: attributions.unbiased_gain(model, *rows, **asked)


def given_others(model, X, y, new, y_new):
    asked = {"training": (X, y), "regressor": FEW}
    return attributions.given_others(model, new, y_new, **asked)


MEASURES = {
    **{name: explaining(name) for name in ("predecomp", "saabas", "tree_shap", "absolute")},
    **{
        name: judging(name, sample_weight=WEIGHT)
        for name in (
            "held_out_gain", "tree_inner", "partial_inner", "forest_inner", "tree_inner_pairs",
        )
    },
    **{name: judging(name) for name in ("held_out_gain_rows", "tree_inner_rows")},
    "background": lambda model, X, y, new, y_new: attributions.tree_shap(model, new, background=X),
    "permutation": judging("permutation", random_state=0, n_repeats=2),
    "scorer": judging("permutation", random_state=0, n_repeats=2, metric="roc_auc"),
    **{f"unbiased_gain, {form}": unbiased_gain(form) for form in ("symmetric", "paper", "sampled")},
    "local_mdi": lambda model, X, y, new, _: attributions.local_mdi(
        model, X, y, new, linear_model="ridge"
    ),
    "given_others": given_others,
}  # fmt: skip
KINDS = (sparse.csr_array, sparse.csc_matrix, sparse.coo_array)


@pytest.mark.parametrize(("name", "kind"), [(n, KINDS[k % 3]) for k, n in enumerate(MEASURES)])
def test_results_are_those_of_the_dense_table(problem, name, kind):
    model, X, y = problem
    if name == "local_mdi" and config.DISABLE_JIT:
        pytest.skip("uncompiled, rows of records have no names")
    if name in ("scorer", "given_others"):  # of one kind of target
        if isinstance(model, GBTRegressor) != (name == "given_others"):
            pytest.skip("the other estimator is enough")
        kind = sparse.csr_array
    old, new = (X[:N], X[N:]) if name != "background" else (X[:20], X[N : N + 20])
    of = partial(MEASURES[name], model)
    dense = of(old, y[:N], new, y[N:])
    assert_alike(dense, of(kind(old), y[:N], kind(new), y[N:]))


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
