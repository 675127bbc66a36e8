"""Coordinate descent over cut trees, against the conditions of the minimum and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet as SklearnElasticNet

import attributions.mdi.logistic_elastic_net as logistic
from attributions.kernels.elastic_net import Fits, Part, cut, hold_out_folds, room_for, weigh_stumps
from attributions.mdi.elastic_net import elastic_net_path
from attributions.mdi.logistic import Point
from attributions.mdi.stump_problem import StumpProblem
from tests.asserts import assert_close
from tests.attributions.mdi.test_stump_models import fitted_case
from tests.kernel_call import call
from tests.stump_cases import cases

pytestmark = pytest.mark.kernels


def no_fits(problem, *shape):
    n_nodes, n_columns = problem.tree.n_nodes, 1 + problem.n_raw
    return Fits(*(np.zeros((*shape, n)) for n in (n_nodes, n_nodes, n_columns)))


@given(cases())
def test_weights_of_stumps(case):
    problem = case.problem
    inner, squares = np.flatnonzero(case.tree.left >= 0), np.full(case.tree.n_nodes, -1.0)
    given = {"stumps": problem.stumps, "inner": inner, "total": problem.sums.weight}
    call(weigh_stumps, **given, squares=squares)
    assert (np.delete(squares, inner) == -1.0).all()
    if not len(inner):
        return
    stumps = case.columns[0][:, : len(inner)]
    expected = case.weight @ stumps**2
    assert_close(squares[inner], expected, 1 + expected, k=2**12)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.1, 0.9])
def test_every_penalty_of_a_path_meets_its_conditions(raw, l1_ratio):
    """From nearly no coefficients to nearly all, and back: trees are cut, and grow again."""
    case = fitted_case(3, raw, n=300)
    columns, _ = case.columns
    inner = np.flatnonzero(case.tree.left >= 0)
    penalties = np.array([20.0, 2.0, 0.1, 0.01, 0.001, 0.3, 3.0])
    smallest = 1e-18 * case.problem.sums.gram[0, 0]
    fits = elastic_net_path(case.problem, case.problem.sums, penalties, l1_ratio, smallest)
    total, n_used = case.weight.sum(), []
    for penalty, beta, value, gamma in zip(penalties, *fits, strict=True):
        residual = case.y - value[case.problem.rows.leaves] - columns[:, len(inner) :] @ gamma[1:]
        coefficients = np.concatenate([beta[inner], gamma[1:]])
        slopes = columns.T @ (case.weight * residual) / total
        l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
        is_used = coefficients != 0
        wanted = l1 * np.sign(coefficients) + l2 * coefficients
        assert np.abs(slopes - wanted)[is_used].max(initial=0.0) < 1e-7
        assert (np.abs(slopes[~is_used]) <= l1 + 1e-7).all()
        assert abs(case.weight @ residual) < 1e-7 * total
        n_used.append(is_used.sum())
    assert n_used[0] <= 4 < len(inner) / 2 < n_used[4]


def test_folds_are_judged_by_fits_to_the_others():
    case = fitted_case(5)
    problem, (columns, _) = case.problem, case.columns
    penalties, folds = np.array([0.5, 0.05]), np.repeat(np.arange(3), 80)
    strength = problem.without.weight[:, :1] * penalties
    found, losses = no_fits(problem, 2, 3), np.empty((3, 2))
    call(
        hold_out_folds,
        stumps=problem.stumps,
        without=problem.without,
        held_out=problem.folds,
        l1=0.5 * strength,
        l2=0.5 * strength,
        tolerance=1e-16 * problem.without.gram[:, 0, 0],
        begin=no_fits(problem, 3),
        room=room_for(problem.stumps, 1 + problem.n_raw),
        found=found,
        losses=losses,
    )
    for fold in range(3):
        outside, inside = folds != fold, folds == fold
        for j, penalty in enumerate(penalties):
            peer = SklearnElasticNet(penalty, l1_ratio=0.5, tol=1e-12, max_iter=1_000_000)
            peer.fit(columns[outside], case.y[outside], case.weight[outside])
            error = (case.y - peer.predict(columns))[inside]
            expected = case.weight[inside] @ error**2
            assert losses[fold, j] == pytest.approx(expected, rel=1e-6)
            assert found.gamma[j, fold, 1:] == pytest.approx(peer.coef_[-problem.n_raw :], abs=1e-6)


def test_a_fit_begins_where_it_is_told_to():
    """At its own end nothing changes but by the tolerance."""
    problem = fitted_case(6).problem
    first = elastic_net_path(problem, problem.sums, [0.05], 0.5, 1e-20)
    end = Fits(*(of[0] for of in first))
    second = elastic_net_path(problem, problem.sums, [0.05], 0.5, np.inf, end)
    for one, other in zip(first, second, strict=True):
        assert_close(one, other, 1 + np.abs(one), k=2**20)


@given(cases(), st.integers(0, 2**12))
def test_a_cut_tree_has_all_stumps_that_are_not_0_and_ends_above_the_others(case, bits):
    problem: StumpProblem = case.problem
    tree, n_nodes = case.tree, case.tree.n_nodes
    inner = np.flatnonzero(tree.left >= 0)
    beta = np.zeros(n_nodes)
    beta[inner] = [bits >> i % 12 & 1 for i in range(len(inner))]
    part = Part(*np.empty((2, n_nodes), np.int64))
    whole = Part(inner, np.flatnonzero(tree.left < 0))
    given = {"stumps": problem.stumps, "whole": whole, "beta": beta, "part": part}
    n_inner, n_leaves = call(cut, **given, is_used=np.zeros(n_nodes, bool)).result

    def is_used(t):
        below = [c for c in (tree.left[t], tree.right[t]) if c >= 0]
        return beta[t] != 0 or any(is_used(c) for c in below)

    used = [t for t in inner if is_used(t)]
    if len(used) > 0.8 * len(inner):
        used = [*inner]
    assert part.inner[:n_inner].tolist() == used
    tops = {0} | {int(c) for t in used for c in (tree.left[t], tree.right[t])}
    assert {*part.leaf[:n_leaves].tolist()} == tops - {*used}
    assert n_leaves == len(used) + 1


@pytest.mark.parametrize(
    ("mistakes", "tried"),
    [
        ([0.1, 0.3, 0.5, 0.0], 3),
        ([0.1, 0.1, 0.1, 0.1005, 0.101, 0.0], 6),  # by less than a hundredth
        ([0.3, 0.2, 0.3, 0.2, 0.3, 0.5, 0.0], 6),
    ],
)
def test_penalties_are_given_up_when_the_loss_has_risen_twice(monkeypatch, mistakes, tried):
    """Predictors are made up: in every row the loss is the given number."""
    case = fitted_case(0)
    problem = case.problem
    rows = problem.rows
    sign = np.where(rows.response > np.median(rows.response), 1.0, -1.0)
    labelled = problem.with_rows(replace(rows, response=(sign + 1) / 2))
    model, asked = logistic.LogisticElasticNet(n_penalties=len(mistakes)), []

    def newton(problem, penalty, l1_ratio, start, close, tolerance):
        asked.append(penalty)
        loss = mistakes[int(np.flatnonzero(model.penalties == penalty)[0])]
        margin = -np.log(np.expm1(loss)) if loss else 50.0
        return Point(start.value, start.gamma, sign * margin)

    monkeypatch.setattr(logistic, "newton", newton)
    losses = model._held_out_losses(labelled, 0.5)
    assert losses[:tried] == pytest.approx(mistakes[:tried], abs=1e-12)
    assert np.isinf(losses[tried:]).all()
    assert asked == np.repeat(model.penalties[:tried], 3).tolist()
