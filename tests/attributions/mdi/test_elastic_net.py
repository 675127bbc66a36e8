"""Coordinate descent over cut trees, against the conditions of the minimum and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet as SklearnElasticNet

from attributions.kernels.elastic_net import hold_out_folds, room_for
from attributions.mdi import logistic
from attributions.mdi.elastic_net import fit_elastic_net, no_fits
from tests.asserts import assert_close
from tests.attributions.mdi.test_stump_models import fitted_case
from tests.kernel_call import call

pytestmark = pytest.mark.kernels


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
    first = fit_elastic_net(problem, 0.05, 0.5, 1e-20, no_fits(problem))
    second = fit_elastic_net(problem, 0.05, 0.5, np.inf, first)
    for one, other in zip(first, second, strict=True):
        assert_close(one, other, 1 + np.abs(one), k=2**20)


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
