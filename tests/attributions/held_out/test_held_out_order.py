"""Held-out measures of losses of an order: against the definition, and queries as draws."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import attributions
from attributions import held_out_gain, held_out_gain_rows, permutation, tree_inner, tree_inner_rows
from gbt import GBTRegressor
from gbt.losses import NDCG, Pairwise
from gbt.reference import ranking as page
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_held_out_cox import gain_of_page
from tests.gbt.losses.test_order import by_query

LOSSES = [Pairwise(), NDCG(at=3)]
each = pytest.mark.parametrize("loss", LOSSES, ids=["pairwise", "ndcg"])
N_QUERIES = 15


def table(n_queries, seed):
    """Draw rows in any order, grades from 0 to 2, and the queries of the rows."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(2, 7, n_queries)))
    X = rng.normal(size=(len(query), 3))
    grade = np.digitize(X[:, 0] + rng.normal(size=len(query)), [0.0, 1.0])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, grade.astype(float), query


def fitted(loss, **options):
    X, grade, query = table(60, 0)
    asked = {"n_estimators": 8, "max_depth": 3, "splitter": "greedy", **options}
    return GBTRegressor(loss=loss, **asked).fit(X, grade, groups=query)


@pytest.fixture(scope="module")
def judging():
    X, grade, query = table(N_QUERIES, 1)
    return X, grade, query, np.random.default_rng(2).integers(1, 4, N_QUERIES).astype(float)


def in_any_order(y, f, i, j):
    """Return what a pair weighs in the NDCG of 3 places if all orders are equally probable."""
    places = [page.discount(r, 3) for r in range(len(y))]
    apart = np.mean([abs(a - b) for a, b in combinations(places, 2)])
    return abs(2 ** y[i] - 2 ** y[j]) * apart / page.dcg(sorted(y)[::-1], 3)


@each
def test_gain_and_parts_are_those_of_the_definition(loss, judging):
    """What a query adds is the derivative of the whole sum by its weight, times that weight."""
    X, grade, query, weight = judging
    model, y = fitted(loss), np.column_stack([grade, query])
    of_pair = page.even_weight if loss == Pairwise() else in_any_order
    shown = model.ensemble_
    if loss != Pairwise():  # whose means of leaves are weighted by rows
        shown = replace(shown, statistics=shown.statistics - {"hessians"})

    def derivatives(y, f, _):
        return by_query(y, f, lambda grade, f: page.of_pairs(grade, f, of_pair))[1:]

    def of_page(weight):
        page_model = SimpleNamespace(ensemble_=shown)
        return gain_of_page(page_model, X, y, weight[query], derivatives=derivatives)

    result = held_out_gain(model, X, grade, groups=query, sample_weight=weight[query])
    assert_close(result.values, of_page(weight), 100.0, k=1e4)
    assert result.values[0] > 5 * abs(result.values[1:]).max()
    parts = held_out_gain_rows(model, X, y).values
    ones, step = np.ones(N_QUERIES), 1e-4
    for q in (0, 7, N_QUERIES - 1):
        move = step * np.eye(N_QUERIES)[q]
        slope = (of_page(ones + move) - of_page(ones - move)) / (2 * step)
        np.testing.assert_allclose(parts[query == q].sum(axis=0), slope, atol=1e-5)


@each
def test_on_the_training_rows_the_first_tree_is_worth_its_gain(loss):
    depth = 3 if loss == Pairwise() else 1  # a mean of leaves is not weighted by hessians there
    model = fitted(loss, n_estimators=1, reg_lambda=0.0, max_depth=depth)
    X, grade, query = table(60, 0)
    with pytest.warns(attributions.SeenRowsWarning, match=f"{len(X)} of the {len(X)}"):
        result = held_out_gain(model, X, grade, groups=query)
    assert_close(result.values, attributions.total_gain(model).values, 100.0)
    with pytest.warns(attributions.SeenRowsWarning):
        inner = tree_inner(model, X, grade, groups=query)
    assert_close(inner.values, attributions.total_gain(model).values, 100.0)


@each
def test_tree_inner_asks_whole_queries(loss):
    """Over three blocks of rows: the sums of r g, with the gradients before each tree."""
    model = fitted(loss)
    X, grade, query = table(700, 3)
    y, f = np.column_stack([grade, query]), np.zeros(len(X))
    expected = np.zeros((len(X), 3))
    for m, tree in enumerate(model.ensemble_.trees):
        gradient, _ = loss.gradient_hessian(y, f)
        alone = model.ensemble_.truncate(m + 1)
        before = model.ensemble_.truncate(m)
        step = attributions.predecomp(alone, X).values - attributions.predecomp(before, X).values
        expected -= step * gradient[:, np.newaxis] / 0.1
        f = f + tree.value[model.apply(X)[:, m]]
    assert_close(tree_inner_rows(model, X, y).values, expected, 10.0)
    result = tree_inner(model, X, grade, groups=query)
    assert_close(result.values, expected.sum(axis=0), 1e3)
    of_queries = np.array([expected[query == q].sum(axis=0) for q in range(700)])
    assert_close(result.standard_error, np.sqrt(700) * of_queries.std(axis=0, ddof=1), 1e3)
    fast = tree_inner(model, X, grade, groups=query, standard_error=False)
    assert_close(fast.values, result.values, 1e3)


def test_queries_are_the_draws_unless_groups_are_told_beside_them(judging):
    X, grade, query, _ = judging
    model, y = fitted("ndcg"), np.column_stack([grade, query])
    by_query = held_out_gain(model, X, grade, groups=query)
    words = held_out_gain(model, X, grade, groups=np.array([f"q{q:02}" for q in query]))
    assert_same(words.standard_error, by_query.standard_error)
    assert words.groups[3] == "q03"
    assert_same(held_out_gain(model, X, y).standard_error, by_query.standard_error)
    by_user = held_out_gain(model, X, y, groups=query // 3)
    assert_same(by_user.values, by_query.values)
    assert len(by_user.groups) == 5
    again = held_out_gain(model, X, grade, groups=query, n_jobs=1)
    assert_same(again.standard_error, by_query.standard_error)
    with pytest.raises(ValueError, match="give groups="):
        held_out_gain(model, X, grade)
    with pytest.raises(ValueError, match=r"where a function takes no groups.*np.column_stack"):
        held_out_gain_rows(model, X, grade)


def test_a_column_that_only_tells_queries_apart_is_worth_nothing():
    """Gradients of a query add up to 0, so a split between whole queries has none."""
    X, grade, query = table(60, 0)
    of_query = np.random.default_rng(5).normal(size=60)[query]
    better = (grade + (of_query > 0)).astype(int)
    rows = np.column_stack([X[:, 0], of_query])
    model = GBTRegressor(loss="pairwise", n_estimators=20, max_depth=1, splitter="greedy")
    model.fit(rows, better, groups=np.arange(len(query)) // 5)  # of several queries
    assert attributions.total_gain(model).values.min() > 5
    result = held_out_gain(model, rows + 1e-9, better, groups=query)
    assert_close(result.values[1], 0.0, 1e2)
    assert result.values[0] > 5


@each
def test_per_cent_are_of_the_loss_where_all_rows_are_equal(loss, judging):
    X, grade, query, _ = judging
    weight = page.even_weight if loss == Pairwise() else page.swap_weight(3)
    null = sum(
        page.of_pairs(own, 0 * own, weight)[0].sum()
        for own in (grade[query == q] for q in range(N_QUERIES))
        if np.ptp(own) > 0
    )
    result = held_out_gain(fitted(loss), X, grade, groups=query)
    assert_close(result.percent(), 100 * 0.1 * result.values / (2 * null), 10.0)


def test_permutation_scores_the_ndcg_and_others_refuse(judging):
    X, grade, query, _ = judging
    model = fitted(NDCG(at=3))
    result = permutation(model, X, grade, groups=query, random_state=0, n_repeats=2)
    assert result.method == "permutation(NDCG)"
    assert result.values[0] == max(result.values) > 0.05
    y, first = np.column_stack([grade, query]), query < 7
    with pytest.raises(ValueError, match=r"Under the ndcg loss rows depend.*by=labels"):
        attributions.loss_change(model, (X[first], y[first]), (X[~first], y[~first]))
    with pytest.raises(ValueError, match=r"under the ndcg loss that is not one number"):
        attributions.forest_inner(model, X, grade, groups=query, variant="target")
