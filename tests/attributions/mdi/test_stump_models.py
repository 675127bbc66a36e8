"""Solvers that never make the matrix, against the matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.linear_model import ElasticNetCV, LogisticRegression

from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.explicit import explicit_columns
from attributions.mdi.least_squares import (
    OLS,
    Coefficients,
    Ridge,
    fit_ridge,
    leave_one_out_loss,
    solve_ridge,
)
from attributions.mdi.logistic import LogisticRidge
from attributions.mdi.mdi_plus import left_out_predictions
from attributions.reference import stumps as plain
from gbt import GBTRegressor
from tests.asserts import assert_close, assert_same
from tests.stump_cases import case_of, cases

pytestmark = pytest.mark.kernels

PENALTIES = st.sampled_from([0.1, 1.0, 30.0])
# A system with the penalty .1 and some 25 rows of weight 2 has a condition of some hundreds.
K = 2.0**16


@given(cases())
def test_the_columns_are_those_of_the_definition(case):
    columns, blocks = case.columns
    found = explicit_columns(case.problem)
    assert found.shape == columns.shape
    if columns.size:
        assert_close(found, columns, np.maximum(1.0, np.abs(columns)), k=2**12)
    inner = case.tree.left >= 0
    assert_same(case.problem.features, np.unique(case.tree.feature[inner]))
    assert len(blocks) == inner.sum() + case.problem.n_raw


@given(cases(raw=False))
def test_on_the_rows_that_grew_the_tree_the_stumps_are_orthogonal(case):
    columns, blocks = case.columns
    if not len(blocks):
        return
    gram = columns.T @ (case.grown[:, np.newaxis] * columns)
    weight = plain.node_weights(case.tree, case.X, case.grown)
    inner = np.flatnonzero(case.tree.left >= 0)
    splits = [weight[case.tree.left[t]] > 0 and weight[case.tree.right[t]] > 0 for t in inner]
    expected = np.diag(np.where(splits, weight[inner], 0.0))
    assert_close(gram, expected, weight[0], k=256)
    assert_close(case.grown @ columns, np.zeros(len(inner)), 10 * weight[0])


@given(cases(), PENALTIES)
def test_ridge_is_that_of_the_explicit_columns(case, penalty):
    found = Ridge(penalty).fit(case.problem)
    assert found.penalty == penalty
    columns, _ = case.columns
    intercept, coefficients = plain.ridge(columns, case.y, case.weight, penalty)
    expected = intercept + columns @ coefficients
    terms = np.abs(case.y).max() + np.abs(columns) @ np.abs(coefficients)
    assert_close(case.fitted(found), expected, terms, k=K)
    n_stumps = (case.tree.left >= 0).sum()
    if len(found.gamma):
        assert_close(found.gamma, coefficients[n_stumps:], 1 + np.abs(case.y).max(), k=K)


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
    """Subgradients: equal to the l1 penalty where a coefficient is not 0, else at most that."""
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
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    slack = 1e-6 * (1 + np.abs(case.y).max())
    is_used = np.abs(coefficients) > 1e-9
    assert (np.abs(slopes[~is_used]) <= l1 + slack).all()
    wanted = l1 * np.sign(coefficients) + l2 * coefficients
    assert (np.abs(slopes - wanted)[is_used] <= slack).all()


def fitted_case(seed, raw=True, n=240, folds=3, p=6):
    """A tree of a fitted model, with rows out of bag."""
    X, y = make_friedman1(n, p, noise=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    grown = rng.poisson(1.0, n).astype(float)
    tree = GBTRegressor(n_estimators=1, max_depth=6, reg_lambda=0.0, splitter="greedy").fit(
        X, y, grown
    )
    weight = np.where(grown == 0, 1.0, grown)
    edges = np.cumsum([0, *[n // folds] * folds])
    return case_of(tree.ensemble_.trees[0], X, y, grown, weight, raw, edges)


@pytest.mark.slow
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_elastic_net_chooses_as_scikit_learn_does(seed, raw):
    """Penalties are the same; the one chosen is within a thousandth of the least error."""
    case = fitted_case(seed, raw)
    ratios = [0.1, 0.5, 0.99]
    peer = ElasticNetCV(l1_ratio=ratios, cv=3, alphas=100, tol=1e-9, max_iter=100_000)
    columns, _ = case.columns
    peer.fit(columns, case.y, sample_weight=case.weight)
    found = ElasticNet(l1_ratio=ratios).fit(case.problem)
    errors = peer.mse_path_.mean(axis=-1)
    is_it = np.isclose(peer.alphas_, found.penalty, rtol=1e-9, atol=0.0)
    assert is_it.any()
    assert errors[is_it].min() <= 1.001 * errors.min()


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


@given(cases(min_rows=5, max_rows=12), PENALTIES)
def test_predictions_from_one_block_without_the_row(case, penalty):
    columns, blocks = case.columns
    if not len(blocks) or (np.delete(case.weight, np.argmax(case.weight)) == 0).all():
        return
    found = left_out_predictions(case.problem, Ridge(penalty))
    for i in range(len(case.y)):
        b, c = plain.without_row(columns, case.y, case.weight, penalty, i)
        parts = plain.by_block(columns[i : i + 1], blocks, c, 3)[0, case.problem.features]
        assert found[i] == pytest.approx(b + parts, rel=1e-6, abs=1e-6)


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


@pytest.mark.slow
def test_leaving_out_a_label_is_nearly_leaving_out_a_row():
    case = fitted_case(3, n=60)
    labels = (case.y > np.median(case.y)).astype(float)
    ones = np.ones(60)
    case = case_of(case.tree, case.X, labels, case.grown, ones, True)
    columns, blocks = case.columns
    found = left_out_predictions(case.problem, LogisticRidge(3.0))
    full = LogisticRegression(C=1 / 3, tol=1e-10, max_iter=10_000).fit(columns, labels)
    gaps, moves = [], []
    for i in range(0, 60, 5):
        others = np.arange(60) != i
        peer = LogisticRegression(C=1 / 3, tol=1e-10, max_iter=10_000)
        peer.fit(columns[others], labels[others])
        parts = [
            plain.by_block(columns[i : i + 1], blocks, model.coef_[0], 6)[0] + model.intercept_
            for model in (peer, full)
        ]
        parts = [part[case.problem.features] for part in parts]
        gaps.append(np.abs(found[i] - parts[0]).max())
        moves.append(np.abs(parts[1] - parts[0]).max())
    assert np.mean(gaps) < 0.1 * np.mean(moves)  # a Newton step misses a tenth of the way


def test_parameters_of_linear_models():
    for wrong in (
        lambda: Ridge(-1.0),
        lambda: Ridge(np.nan),
        lambda: ElasticNet(l1_ratio=0.0),
        lambda: ElasticNet(l1_ratio=[0.5, 1.5]),
        lambda: ElasticNet(penalty=0.1),
        lambda: ElasticNet(folds="loo"),
        lambda: LogisticRidge(0.0),
        lambda: Ridge(n_penalties=0),
    ):
        with pytest.raises(ValueError, match=r"penalt|l1_ratio|folds"):
            wrong()
