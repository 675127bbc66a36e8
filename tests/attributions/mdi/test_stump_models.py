"""Solvers that never make the matrix, against the matrix, conditions of the minimum and peers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.linear_model import ElasticNet as SklearnElasticNet

from attributions.kernels.elastic_net import hold_out_folds, room_for
from attributions.mdi import logistic
from attributions.mdi.elastic_net import ElasticNet, fit_elastic_net, no_fits
from attributions.mdi.least_squares import (
    OLS,
    Coefficients,
    Ridge,
    fit_ridge,
    leave_one_out_loss,
    solve_ridge,
)
from attributions.mdi.logistic import LogisticElasticNet, LogisticRidge
from attributions.reference import stumps as plain
from tests.greedy import GreedyRegressor
from tests.stump_cases import assert_subgradients, case_of, cases

pytestmark = pytest.mark.kernels

PENALTIES = st.sampled_from([0.1, 1.0, 30.0])


@given(cases(), PENALTIES | st.just(0.0))
def test_the_fast_ridge_is_the_ridge(case, penalty):
    """Fitted values of the rows: without a penalty coefficients may differ where columns depend."""
    value, gamma = fit_ridge(case.problem, case.problem.sums, penalty)
    found = Coefficients(value, gamma, penalty)
    solution = solve_ridge(case.problem, penalty)
    expected = Coefficients(solution.value, solution.gamma, penalty)
    rows = case.weight > 0
    gap = np.abs(case.fitted(found) - case.fitted(expected))[rows]
    assert gap.max() <= (1e-10 if penalty else 1e-6) * (1 + np.abs(case.y).max())


@given(cases())
def test_least_squares_leaves_residuals_that_no_column_can_lessen(case):
    found = OLS().fit(case.problem)
    columns, _ = case.columns
    residual = case.weight * (case.y - case.fitted(found))
    terms = np.abs(columns).T @ (case.weight * (np.abs(case.y).max() + np.abs(case.fitted(found))))
    slopes = columns.T @ residual
    allowed = 1e-7 * (1 + terms)  # least-norm raw coefficients drop directions below 1e-10
    assert (np.abs(slopes) <= allowed).all()
    assert abs(residual.sum()) <= 1e-7 * (1 + np.abs(case.y).max() * case.weight.sum())


@given(cases(), st.sampled_from([0.01, 0.2]), st.sampled_from([0.1, 0.5, 1.0]))
def test_elastic_net_meets_its_conditions(case, penalty, l1_ratio):
    found = ElasticNet(penalty, l1_ratio=l1_ratio).fit(case.problem)
    columns, _ = case.columns
    residual = case.y - case.fitted(found)
    total = case.weight.sum()
    assert abs(case.weight @ residual) <= 1e-6 * total
    slopes = columns.T @ (case.weight * residual) / total
    ends, inner = case.problem.stumps.ends, np.flatnonzero(case.tree.left >= 0)
    beta = np.zeros(len(inner))
    for j, t in enumerate(inner):
        if ends[t].any():
            beta[j] = (found.value[case.tree.left[t]] - found.value[t]) / ends[t, 0]
    coefficients = np.concatenate([beta, found.gamma])
    assert_subgradients(slopes, coefficients, penalty, l1_ratio, 1e-6 * (1 + np.abs(case.y).max()))


def fitted_case(seed, raw=True, n=240):
    """A tree of a fitted model, with rows out of bag."""
    X, y = make_friedman1(n, 6, noise=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    grown = rng.poisson(1.0, n).astype(float)
    tree = GreedyRegressor(n_estimators=1, max_depth=6, reg_lambda=0.0).fit(X, y, grown)
    weight = np.where(grown == 0, 1.0, grown)
    edges = np.cumsum([0, *[n // 3] * 3])
    return case_of(tree.ensemble_.trees[0], X, y, grown, weight, raw, edges)


@given(cases(min_rows=5, max_rows=12), PENALTIES)
def test_leaving_out_a_row_is_leaving_out_a_row(case, penalty):
    columns, _ = case.columns
    errors = []
    for i in range(len(case.y)):
        b, c = plain.without_row(columns, case.y, case.weight, penalty, i)
        errors.append(case.y[i] - b - columns[i] @ c)
    if (np.delete(case.weight, np.argmax(case.weight)) == 0).all():
        return  # without its only row a mean does not exist
    loss = leave_one_out_loss(case.problem, penalty)
    expected = np.average(np.square(errors), weights=case.weight)
    assert loss == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("raw", [False, True])
def test_ridge_finds_the_penalty_of_least_loss(raw):
    case = fitted_case(1, raw)
    columns, _ = case.columns
    penalties = case.weight.sum() * np.geomspace(10.0, 1e-6, 29)
    by_loo = [leave_one_out_loss(case.problem, penalty) for penalty in penalties]
    assert Ridge(folds="loo").fit(case.problem).penalty == penalties[np.argmin(by_loo)]
    losses = np.zeros(29)
    for fold in np.array_split(np.arange(240), 3):
        rest = np.setdiff1d(np.arange(240), fold)
        for j, penalty in enumerate(penalties):
            b, c = plain.ridge(columns[rest], case.y[rest], case.weight[rest], penalty)
            error = (case.y - b - columns @ c)[fold]
            losses[j] += np.average(error**2, weights=case.weight[fold])
    assert Ridge().fit(case.problem).penalty == penalties[np.argmin(losses)]


def test_parameters_of_linear_models():
    ratio = {"l1_ratio": 0.5}
    for wrong in (
        lambda: Ridge(-1.0), lambda: Ridge(np.nan), lambda: ElasticNet(l1_ratio=0.0),
        lambda: ElasticNet(l1_ratio=[0.5, 1.5]), lambda: ElasticNet(penalty=0.1),
        lambda: ElasticNet(folds="loo"), lambda: LogisticRidge(0.0), lambda: Ridge(n_penalties=0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"penalt|l1_ratio|folds"):
            wrong()
    for kind, others in ((Ridge, {}), (ElasticNet, ratio), (LogisticElasticNet, ratio)):
        with pytest.raises(ValueError, match=r"folds=1; .* at least 2"):
            kind(folds=np.int64(1))
        assert kind(2.0, folds=1, **others).folds == 1  # a given penalty needs no folds


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.1, 0.9])
def test_every_penalty_of_a_path_meets_its_conditions(raw, l1_ratio):
    """From nearly no coefficients to nearly all, and back: trees are cut, and grow again."""
    case = fitted_case(3, raw, n=300)
    columns, _ = case.columns
    inner = np.flatnonzero(case.tree.left >= 0)
    penalties = np.array([20.0, 2.0, 0.1, 0.01, 0.001, 0.3, 3.0])
    smallest = 1e-18 * case.problem.sums.gram[0, 0]
    fit, total, n_used = no_fits(case.problem), case.weight.sum(), []
    for penalty in penalties:
        fit = fit_elastic_net(case.problem, penalty, l1_ratio, smallest, fit)
        beta, value, gamma = fit
        residual = case.y - value[case.problem.rows.leaves] - columns[:, len(inner) :] @ gamma[1:]
        coefficients = np.concatenate([beta[inner], gamma[1:]])
        slopes = columns.T @ (case.weight * residual) / total
        assert_subgradients(slopes, coefficients, penalty, l1_ratio, 1e-7)
        assert abs(case.weight @ residual) < 1e-7 * total
        n_used.append((coefficients != 0).sum())
    assert n_used[0] <= 4 < len(inner) / 2 < n_used[4]


def test_folds_are_judged_by_fits_to_the_others():
    case = fitted_case(5)
    problem, (columns, _) = case.problem, case.columns
    penalties, folds = np.array([0.5, 0.05]), np.repeat(np.arange(3), 80)
    strength = problem.without.weight[:, :1] * penalties
    found, losses = no_fits(problem, 2, 3), np.empty((3, 2))
    hold_out_folds(
        stumps=problem.stumps, without=problem.without, held_out=problem.folds,
        l1=0.5 * strength, l2=0.5 * strength, tolerance=1e-16 * problem.without.gram[:, 0, 0],
        begin=no_fits(problem, 3), room=room_for(problem.stumps, 1 + problem.n_raw), found=found,
        losses=losses,
    )  # fmt: skip
    for fold in range(3):
        outside, inside = folds != fold, folds == fold
        for j, penalty in enumerate(penalties):
            peer = SklearnElasticNet(penalty, l1_ratio=0.5, tol=1e-12, max_iter=1_000_000)
            peer.fit(columns[outside], case.y[outside], case.weight[outside])
            error = (case.y - peer.predict(columns))[inside]
            expected = case.weight[inside] @ error**2
            assert losses[fold, j] == pytest.approx(expected, rel=1e-6)
            assert found.gamma[j, fold, 1:] == pytest.approx(peer.coef_[-problem.n_raw :], abs=1e-6)


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
    labelled = problem.with_rows(rows._replace(response=(sign + 1) / 2))
    penalties, asked = np.geomspace(1e4, 1e-4, len(mistakes)), []

    def newton(problem, penalty, l1_ratio, start, close, tolerance):
        asked.append(penalty)
        loss = mistakes[int(np.flatnonzero(penalties == penalty)[0])]
        margin = -np.log(np.expm1(loss)) if loss else 50.0
        return logistic.Point(start.value, start.gamma, sign * margin)

    monkeypatch.setattr(logistic, "elastic_net_newton", newton)
    losses = logistic.held_out_losses(labelled, penalties, 0.5)
    assert losses[:tried] == pytest.approx(mistakes[:tried], abs=1e-12)
    assert np.isinf(losses[tried:]).all()
    assert asked == np.repeat(penalties[:tried], 3).tolist()
