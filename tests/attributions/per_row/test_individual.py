from functools import partial

import numpy as np
import pandas as pd
import pytest

import attributions
from attributions.per_row.individual import (
    FunctionAttribution,
    as_individual,
    attribute,
    attribute_per_tree,
)
from attributions.per_row.predecomp import PreDecomp
from attributions.per_row.saabas import Saabas
from attributions.per_row.tree_shap import TreeShap
from attributions.testing import sum_of_node_values
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyRegressor
from tests.tree_cases import deep_ensemble, example_1


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


@pytest.mark.parametrize("unknown", ["shap", None, 3, TreeShap])
def test_what_is_no_attribution(unknown):
    with pytest.raises(ValueError, match=r"one of \['predecomp', 'saabas', 'tree_shap'\]"):
        as_individual(unknown)


@pytest.mark.parametrize("branching", [0.0, 0.7], ids=["chain", "bushy"])
@pytest.mark.parametrize(("depth", "n_features"), [(9, 5), (30, 1), (30, 40)])
@pytest.mark.parametrize("name", [name for name in METHODS if name != "a function"])
def test_deep_trees_add_up(name, depth, n_features, branching):
    ensemble, X = deep_ensemble(np.random.default_rng(depth), depth, n_features, branching)
    residual = attribute(ensemble, X, METHODS[name](X[::4])).residual(ensemble.raw_predict(X))
    assert_close(residual, np.zeros(len(X)), np.full(len(X), sum_of_node_values(ensemble)))


@pytest.mark.parametrize("name", METHODS)
def test_a_model_of_no_trees(name):
    ensemble, X = deep_ensemble(np.random.default_rng(11), 6, 4, branching=0.6)
    method, none = METHODS[name](X[:3]), ensemble.truncate(0)
    result = attribute(none, X, method)
    assert_same(result.values, np.zeros(X.shape))
    assert_same(result.base_values, np.full(len(X), ensemble.base_score))
    assert list(attribute_per_tree(none, X, method)) == []


# ------------------------------------------------------------------------------ a function as one


def test_a_function_of_the_researcher():
    ensemble, X, _ = example_1(0)

    def depth_of_leaf(ensemble, m, X):
        return np.full(X.shape, ensemble.trees[m].depth[ensemble.apply(X)[:, m]][:, None])

    result = attribute(ensemble, X, depth_of_leaf)

    assert_same(result.values, np.ones((3, 2)))
    assert_same(result.base_values, np.zeros(3))
    assert result.method == "depth_of_leaf"
    assert as_individual(partial(depth_of_leaf)).name == "partial"  # which has no name of its own


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


# Tables of all kinds --------------------------------------------------------------------------


def fitted_on(frame):
    return GreedyRegressor(n_estimators=3).fit(frame, np.arange(len(frame)) % 5)


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
