"""One model, to the last bit, whichever way its rows come and its trees are grown."""

import pickle
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import gbt.tables.columns
import gbt.training.histogram_growth
import gbt.training.outputs
from gbt.kernels.platform.compiling import IS_COMPILING
from gbt.kernels.trees.tasks import LARGE
from gbt.splitting import Greedy
from gbt.tables import bins
from gbt.tables.sparse_columns import columns_of_sparse_rows
from gbt.tables.sparse_rows import SparseRows
from tests.asserts import (
    assert_same,
    assert_same_ensemble,
    assert_same_model,
    assert_same_trees,
    peer,
)
from tests.drawn_fits import fits
from tests.sparse_tables import KINDS, arrays_stored, large_table

pytestmark = [
    pytest.mark.filterwarnings("ignore:The middle half of y:UserWarning"),
    pytest.mark.filterwarnings("ignore::gbt.training.evaluation.WorseThanConstantWarning"),
]


def cut(X, edges):
    """Return a table as an array of Dask, cut at some rows; chunks may be empty."""
    sizes = np.diff([0, *sorted(edges), len(X)])
    return peer("dask.array").from_array(X, chunks=(tuple(sizes.tolist()), X.shape[1]))


def in_shares(problem, patch):
    """Cut the table anywhere, but no query; a member may have one row or none."""
    n, groups = len(problem.X), problem.beside.get("groups")
    edges = problem.rng.choice([0, 0, 1, n - 1, *range(n + 1)], problem.rng.integers(7))
    if groups is not None:
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        edges = starts[np.maximum(np.searchsorted(starts, edges, side="right") - 1, 0)]
    return problem.fitted(cut(problem.X, edges.tolist()), n_jobs=int(problem.rng.integers(1, 4)))


def of_sparse_rows(problem, patch):
    """Predict them, too."""
    rows = KINDS[problem.rng.integers(len(KINDS))](problem.X)
    model, dense = problem.fitted(rows), problem.fitted()
    for name in ("predict", "apply", "predict_proba", "decision_function", "staged_predict"):
        if hasattr(model, name):
            found, expected = getattr(model, name)(rows), getattr(dense, name)(problem.X)
            for one, other in zip(found, expected, strict=True):
                assert_same(one, other)
    return model


def of_arrays_without_zeros(problem, patch):
    with arrays_stored(0.25):
        return problem.fitted()


def by_threads(problem, patch):
    """Some grow trees side by side, some share one."""
    least = int(problem.rng.choice([1, 1000]))
    for module in (gbt.tables.columns, gbt.training.outputs, gbt.training.histogram_growth):
        patch.setattr(module, "LEAST_VALUES_PER_THREAD", least)
    return problem.fitted(n_jobs=int(problem.rng.choice([2, 3, 7])))


def tree_by_tree(problem, patch):
    return problem.fitted(callbacks=problem.model.callbacks or [lambda told: None])


def in_small_steps(problem, patch):
    """A depth a call, after which Python may look for signals, and few trees."""
    growth = gbt.training.histogram_growth
    patch.setattr(growth, "VALUES_AT_ONCE", int(problem.rng.choice([1, growth.VALUES_AT_ONCE])))
    patch.setattr(growth, "NODES_AT_ONCE", int(problem.rng.choice([1, 40])))
    return problem.fitted()


def in_two_fits(problem, patch):
    first = problem.fitted(n_estimators=int(problem.rng.integers(1, 4)), warm_start=True)
    model, trees = pickle.loads(pickle.dumps(first)), first.ensemble_.n_trees
    model.set_params(n_estimators=4).fit(problem.X, problem.y, **problem.beside)
    assert first.ensemble_.n_trees == trees  # nothing that was handed out changes
    return model


def after_a_file(problem, patch):
    """Read from a file, it predicts the same, and is fitted anew with the same parameters."""
    model = problem.fitted()
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.json")
        again = gbt.load(f"{folder}/model.json")
    assert_same_trees_and_losses(again, model)
    assert_same(again.predict(problem.X), model.predict(problem.X))
    assert (again.split_scores_ is None) == (model.split_scores_ is None)
    return again.fit(problem.X, problem.y, **problem.beside)


def in_another_order(problem, patch):
    """No sum that a greedy model is made of has an order of rows."""
    order, weight = problem.rng.permutation(len(problem.X)), problem.beside["sample_weight"]
    beside = problem.beside | {"sample_weight": None if weight is None else weight[order]}
    return problem._replace(X=problem.X[order], y=problem.y[order], beside=beside).fitted()


def assert_same_fit(actual, expected):
    """Check the model, and which rows it has seen until when."""
    assert_same_model(actual, expected)
    assert actual.best_iteration_ == expected.best_iteration_
    assert_same(actual.sampled_rows(0), expected.sampled_rows(0))


def assert_same_trees_and_losses(actual, expected):
    """Scores of splits are added up in two sums."""
    assert_same_ensemble(actual.ensemble_, expected.ensemble_)
    assert actual.evals_result_ == expected.evals_result_
    assert_same(actual.sampled_rows(0), expected.sampled_rows(0))


WAYS = {  # what is drawn for it, and how the result is compared
    in_shares: ({"in_memory": False}, assert_same_fit),
    of_sparse_rows: ({"has_levels": False}, assert_same_fit),
    of_arrays_without_zeros: ({}, assert_same_fit),
    by_threads: ({}, assert_same_fit),
    tree_by_tree: ({}, assert_same_fit),
    in_small_steps: ({}, assert_same_fit),
    after_a_file: ({"has_rates": False}, assert_same_fit),
    in_two_fits: ({"has_rates": False}, assert_same_trees_and_losses),
    in_another_order: ({"may_draw": False, "has_order": False}, assert_same_trees),
}


def marked(way):
    """Ways of sparse tables have kernels of their own, which are run uncompiled, too."""
    marks = [pytest.mark.kernels] if way.__name__.startswith("of_") else []
    return pytest.param(way, marks=marks, id=way.__name__)


@pytest.mark.parametrize("way", [*map(marked, WAYS)])
@settings(max_examples=max(40, settings().max_examples) if IS_COMPILING else 5)
@given(st.data(), st.sampled_from([40, 2**16]))
def test_one_model(way, data, most_standing):
    asked, assert_same_result = WAYS[way]
    problem = data.draw(fits(**asked))
    with pytest.MonkeyPatch.context() as patch:
        if way is not in_another_order:  # rows that stand for all are taken by their numbers
            patch.setattr(bins, "MOST_STANDING", most_standing)
        expected = problem.fitted()
        assert_same_result(way(problem, patch), expected)


@pytest.mark.large
@pytest.mark.parametrize("splitter", ["greedy", "unbiased", "cross_validated"])
@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_large_nodes_of_sparse_tables_and_bins_with_cuts_inside(splitter, n_classes):
    """Here histograms are subtracted, and the rows of bins are walked."""
    rng = np.random.default_rng(1)
    X = large_table(rng).astype(np.float64 if n_classes else np.float32)
    columns = columns_of_sparse_rows(SparseRows.of(KINDS[0](X)), 1)
    assert columns.n_stored > 2 * LARGE * (columns.n_bins + 1).sum()
    assert (columns.n_bins < columns.n_values)[columns.sparse.is_sparse == 1].any()
    y = np.nan_to_num(X).sum(axis=1) + rng.normal(size=len(X))
    y = np.argsort(np.argsort(y)) * n_classes // len(y) if n_classes else y
    groups = [[0, 1, 2, 3], list(range(4, 40))]
    asked = {"splitter": splitter, "max_depth": 5, "random_state": 0}
    asked |= {"interaction_constraints": groups if n_classes == 4 else None}
    model = gbt.GBTClassifier(3, **asked) if n_classes else gbt.GBTRegressor(3, **asked)
    dense = clone(model).set_params(n_jobs=1).fit(X, y)
    for n_jobs in (1, 2):
        assert_same_model(clone(model).set_params(n_jobs=n_jobs).fit(KINDS[0](X), y), dense)
        with arrays_stored(0.25):
            assert_same_model(clone(model).set_params(n_jobs=n_jobs).fit(X, y), dense)


def test_whole_numbers_and_booleans_are_numbers():
    X = np.random.default_rng(4).integers(0, 2, size=(90, 5))
    y = X @ np.arange(5.0)
    dense = gbt.GBTRegressor(3, splitter="greedy").fit(X, y)
    for kind in (np.int64, np.int8, bool):
        of_sparse = gbt.GBTRegressor(3, splitter="greedy").fit(KINDS[0](X.astype(kind)), y)
        assert_same_model(dense, of_sparse)


class Own(Greedy):
    """A policy that is asked in Python, which looks columns up by their codes."""


def test_a_policy_of_ones_own_splits_sparse_columns_of_many_values():
    rng = np.random.default_rng(2)
    X = large_table(rng, n=2_000, p=4)
    y = np.nan_to_num(X).sum(axis=1) + rng.normal(size=len(X))
    asked = gbt.GBTRegressor(2, max_depth=3, splitter=Own())
    dense, of_sparse = (clone(asked).fit(rows, y) for rows in (X, KINDS[0](X)))
    assert {1, 2} <= {*dense.ensemble_.feature.tolist()}  # whose stored values a byte cannot tell
    assert_same_model(of_sparse, dense)
