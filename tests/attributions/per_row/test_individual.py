import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attributions
from attributions.per_row import individual, predecomp
from attributions.per_row.individual import (
    FunctionAttribution,
    as_individual,
    attribute,
    attribute_per_tree,
)
from attributions.per_row.predecomp import PreDecomp
from attributions.per_row.saabas import Saabas
from attributions.per_row.tree_shap import TreeShap
from attributions.testing import ensembles, rows_for, sum_of_node_values
from gbt import GBTRegressor
from gbt.model.predictor import transposed
from tests.asserts import assert_close, assert_same
from tests.tree_cases import deep_ensemble, ensemble_of, example_1


def root_value_where_positive(ensemble, m, X):
    return (X > 0) * ensemble.trees[m].value[0]


METHODS = {
    "predecomp": lambda background: PreDecomp(),
    "saabas": lambda background: Saabas(),
    "saabas by count": lambda background: Saabas("count"),
    "tree_shap": lambda background: TreeShap(),
    "tree_shap by count": lambda background: TreeShap(cover="count"),
    "tree_shap with background": lambda background: TreeShap(background),
    "a function": lambda background: FunctionAttribution(root_value_where_positive),
}


@pytest.fixture(params=METHODS, scope="module")
def case(request):
    """Return an attribution, a model of three deep trees and 2500 rows, enough for two threads."""
    rng = np.random.default_rng(11)
    ensemble, X = deep_ensemble(rng, 6, 4, branching=0.6)
    X = np.vstack([X, rng.normal(size=(2500 - len(X), 4))])
    X[rng.random(X.shape) < 0.05] = np.nan
    return METHODS[request.param](X[:3]), ensemble, X


@pytest.mark.parametrize("name", ["predecomp", "saabas", "tree_shap"])
def test_names(name):
    assert as_individual(name).name == name


def test_attributions_are_themselves():
    method = TreeShap(cover="count")
    assert as_individual(method) is method


@pytest.mark.parametrize("unknown", ["shap", None, 3, TreeShap])
def test_what_is_no_attribution(unknown):
    with pytest.raises(ValueError, match=r"one of \['predecomp', 'saabas', 'tree_shap'\]"):
        as_individual(unknown)


# --------------------------------------------------------------------------- rows, blocks, threads


def test_rows_do_not_depend_on_threads_or_blocks(case, monkeypatch):
    method, ensemble, X = case
    expected = attribute(ensemble, X, method, n_jobs=1).values

    for n_jobs in (2, 3, None):
        assert_same(attribute(ensemble, X, method, n_jobs=n_jobs).values, expected)
    for rows_in_cache in (1, 7, 5000):
        monkeypatch.setattr(individual, "ROWS_IN_CACHE", rows_in_cache)
        assert_same(attribute(ensemble, X[:300], method).values, expected[:300])
    assert_same(attribute(ensemble, X[::-1], method).values, expected[::-1])
    assert_same(attribute(ensemble, X[700:701], method).values, expected[700:701])


def test_trees_add_up_to_the_whole(case):
    method, ensemble, X = case
    total = np.zeros(X.shape)
    trees = []
    for m, values in attribute_per_tree(ensemble, X, method):
        trees.append(m)
        total += values

    result = attribute(ensemble, X, method)

    assert trees == [0, 1, 2]
    assert_close(result.values, total, np.full(X.shape, sum_of_node_values(ensemble)))
    start = ensemble.base_score + method.bind(ensemble).base_values.sum()
    assert_same(result.base_values, np.full(len(X), start))


def test_rows_are_weighed_and_added_to_what_is_there(case):
    """Weights are powers of 2, which multiply without rounding."""
    method, ensemble, X = case
    bound, block, trees = method.bind(ensemble), transposed(X), range(1, 3)
    weight = np.resize([1.0, -2.0, 0.5, 0.0, 4.0, -0.25, 8.0], len(X))  # no block repeats another
    both_weights = np.array([weight, np.roll(weight, 1)])  # one row a tree
    plain, rolled, weighed = np.zeros((3, *X.T.shape))

    bound.add(block, range(1, 2), np.ones((1, len(X))), plain)
    bound.add(block, range(2, 3), np.ones((1, len(X))), rolled)
    bound.add(block, range(1, 2), both_weights[:1], weighed)
    assert_same(weighed, weight * plain)

    bound.add(block, range(2, 3), both_weights[1:], weighed)
    terms = np.full(X.T.shape, 8 * sum_of_node_values(ensemble))
    assert_close(weighed, weight * plain + both_weights[1] * rolled, terms)

    at_once = np.zeros(X.T.shape)
    bound.add(block, trees, both_weights, at_once)
    assert_same(at_once, weighed)

    bound.add(block, trees, -both_weights, at_once)
    assert_close(at_once, np.zeros(X.T.shape), terms)


@pytest.mark.parametrize("branching", [0.0, 0.7], ids=["chain", "bushy"])
@pytest.mark.parametrize("n_features", [1, 5, 40])
@pytest.mark.parametrize("depth", [9, 30])
@pytest.mark.parametrize("name", [name for name in METHODS if name != "a function"])
def test_deep_trees_add_up(name, depth, n_features, branching):
    ensemble, X = deep_ensemble(np.random.default_rng(depth), depth, n_features, branching)
    residual = attribute(ensemble, X, METHODS[name](X[::4])).residual(ensemble.raw_predict(X))
    assert_close(residual, np.zeros(len(X)), np.full(len(X), sum_of_node_values(ensemble)))


def test_a_model_of_no_trees(case):
    method, ensemble, X = case

    result = attribute(ensemble.truncate(0), X, method)

    assert_same(result.values, np.zeros(X.shape))
    assert_same(result.base_values, np.full(len(X), ensemble.base_score))
    assert list(attribute_per_tree(ensemble.truncate(0), X, method)) == []


def test_no_rows(case):
    method, ensemble, X = case

    assert attribute(ensemble, X[:0], method).values.shape == (0, 4)


def test_columns_that_the_model_does_not_have(case):
    method, ensemble, X = case

    with pytest.raises(ValueError, match=r"\(2500, 3\).*4 columns"):
        attribute(ensemble, X[:, :3], method)


@given(st.data())
def test_rows_are_rounded_as_the_model_rounds_them(data):
    """A model that compares float32 values sees a row and its float32 rounding alike."""
    ensemble = data.draw(ensembles())
    X = np.clip(data.draw(rows_for(ensemble)), -1e30, 1e30)
    single = ensemble_of(ensemble.trees, 4, input_dtype=np.float32)

    result = predecomp(single, X)

    assert_same(result.values, predecomp(single, X.astype(np.float32)).values)
    assert_same(result.data, X.astype(np.float32))


# ------------------------------------------------------------------------------ a function as one


def test_a_function_of_the_researcher():
    ensemble, X, _ = example_1(0)

    def depth_of_leaf(ensemble, m, X):
        return np.full(X.shape, ensemble.trees[m].depth[ensemble.apply(X)[:, m]][:, None])

    result = attribute(ensemble, X, depth_of_leaf)

    assert_same(result.values, np.ones((3, 2)))
    assert_same(result.base_values, np.zeros(3))
    assert result.method == "depth_of_leaf"


def test_a_function_sees_blocks_of_rows_on_the_callers_thread_and_others():
    ensemble, _, _ = example_1(0)
    X = np.zeros((5000, 2))
    seen, threads, both = [], set(), threading.Barrier(2, timeout=60)

    def zeros(ensemble, m, X):
        seen.append(len(X))
        if threading.get_ident() not in threads:
            threads.add(threading.get_ident())
            both.wait()  # nobody goes on before both have begun
        return np.zeros(X.shape)

    attribute(ensemble, X, zeros, n_jobs=2)

    assert sum(seen) == 5000
    assert max(seen) <= individual.ROWS_IN_CACHE
    assert len(threads) == 2
    assert threading.get_ident() in threads


@pytest.mark.parametrize(
    ("returns", "message"),
    [
        (
            lambda e, m, X: np.zeros(len(X)),
            r"returned shape \(3,\) for tree 0 and 3 rows.*\(3, 2\)",
        ),
        (lambda e, m, X: np.zeros((2, len(X))), r"returned shape \(2, 3\)"),
        (lambda e, m, X: np.where(X == 1, np.nan, 0), r"returned nan for tree 0 and feature 'x1'"),
        (lambda e, m, X: np.full(X.shape, np.inf), r"returned inf for tree 0 and feature 'x0'"),
    ],
)
def test_functions_that_do_not_return_a_number_a_row_and_feature(returns, message):
    ensemble, X, _ = example_1(0)
    with pytest.raises(ValueError, match=message):
        attribute(ensemble, X, returns)


def test_an_object_that_can_be_called_goes_by_its_class():
    class Constant:
        def __call__(self, ensemble, m, X):
            return np.ones(X.shape)

    assert as_individual(Constant()).name == "Constant"


# Tables of all kinds --------------------------------------------------------------------------


def fitted_on(frame):
    return GBTRegressor(n_estimators=3, splitter="greedy").fit(frame, np.arange(len(frame)) % 5)


def test_rows_keep_what_they_are_called():
    frame = pd.DataFrame({"a": np.arange(6.0), "b": np.ones(6)}, index=list("uvwxyz"))
    model, y = fitted_on(frame), np.arange(6)
    some = frame.iloc[[4, 1]]
    for rows in (
        attributions.predecomp(model, some),
        attributions.tree_inner_rows(model, some, y[[4, 1]]),
    ):
        assert list(rows.to_frame().index) == ["y", "v"]
    assert list(attributions.predecomp(model, some.to_numpy()).to_frame().index) == [0, 1]
