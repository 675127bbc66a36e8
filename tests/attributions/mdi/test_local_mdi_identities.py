"""How local MDI, hierarchical shrinkage, Saabas and PreDecomp are related (docs/local_mdi.md)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

import attributions
from attributions.mdi.least_squares import OLS, Ridge
from attributions.mdi.stump_problem import RawColumns, StumpProblem, TreeRows
from attributions.reference import definitions as reference
from attributions.reference import stumps as plain
from attributions.testing import trees
from gbt.formats import as_ensemble
from tests.asserts import EPS_32, assert_close, peer
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.stump_cases import cases
from tests.tree_cases import ensemble_of

LAMBDAS = st.sampled_from([0.0, 0.1, 1.0, 10.0])
K = 2.0**14


def leaf_columns(tree, node_weight):
    """Return psi_t of rows in each leaf, (leaves, splits), with both lists of nodes."""
    leaves = [t for t in range(len(tree.left)) if tree.left[t] < 0]
    splits = [t for t in range(len(tree.left)) if tree.left[t] >= 0]
    columns = np.zeros((len(leaves), len(splits)))
    for j, t in enumerate(splits):
        l, r = tree.left[t], tree.right[t]
        for child, end in (
            (l, -np.sqrt(node_weight[r] / node_weight[l])),
            (r, np.sqrt(node_weight[l] / node_weight[r])),
        ):
            for leaf in reference.leaves_below(tree, child):
                columns[leaves.index(leaf), j] = end
    return columns, leaves, splits


def children(tree, t):
    return tree.left[t], tree.right[t]


# (i) ------------------------------------------------------------------------------------------

BOOSTED = {
    "squared": (GreedyRegressor(n_estimators=8, max_depth=4, reg_lambda=0.0), False),
    "logistic": (GreedyClassifier(n_estimators=8, max_depth=4, reg_lambda=0.0), True),
    "sampled": (
        GreedyRegressor(n_estimators=8, subsample=0.6, reg_lambda=0.0, random_state=0),
        False,
    ),
    "weighted": (GreedyRegressor(n_estimators=8, max_depth=3, reg_lambda=0.0), False),
}


@pytest.mark.parametrize("name", BOOSTED)
def test_least_squares_is_saabas_and_predecomp_of_a_boosted_model(name):
    model, is_labels = BOOSTED[name]
    X, y = make_friedman1(300, 6, noise=1.0, random_state=0)
    y = (y > 14).astype(int) if is_labels else y
    weight = np.random.default_rng(0).integers(0, 3, 300) * 1.0 if name == "weighted" else None
    model.fit(X, y, weight)
    found = attributions.local_mdi(
        model, X, y, linear_model="ols", raw=False, rows="inbag", sample_weight=weight
    )
    terms = sum(np.abs(values) for _, values in per_tree(model, X, "saabas"))
    for method in (attributions.saabas, attributions.predecomp):
        expected = method(model, X)
        assert_close(found.values, expected.values, terms, k=1e-10 / np.finfo(float).eps)
        assert_close(found.base_values, expected.base_values, 1 + np.abs(expected.base_values))
    sizes = terms.sum(axis=1) + np.abs(found.base_values)
    assert_close(found.surrogate_residual, np.zeros(300), sizes, k=K)


def per_tree(model, X, method):
    from attributions.per_row.individual import attribute_per_tree

    return attribute_per_tree(model, X, method)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(7, min_samples_leaf=2, random_state=0),
        RandomForestRegressor(7, max_leaf_nodes=9, random_state=0),  # grown best first
        ExtraTreesRegressor(7, random_state=0),
        RandomForestClassifier(7, random_state=0),
    ],
    ids=["random forest", "best first", "extra trees", "labels"],
)
def test_least_squares_is_saabas_of_a_forest(forest):
    X, y = make_friedman1(200, 6, noise=1.0, random_state=1)
    if isinstance(forest, RandomForestClassifier):
        y = np.where(y > 14, "yes", "no")
    forest.fit(X, y)
    found = attributions.local_mdi(forest, X, y, linear_model="ols", raw=False, rows="inbag")
    ensemble = as_ensemble(forest)
    expected = attributions.saabas(ensemble, X)
    assert_close(found.values, expected.values, 1 + np.abs(found.values).max(), k=K)
    predicted = forest.predict_proba(X)[:, 1] if y.dtype.kind == "U" else forest.predict(X)
    assert_close(found.model_prediction, predicted, 1 + np.abs(predicted), k=256)
    assert_close(found.surrogate_prediction, predicted, 1 + np.abs(predicted), k=K)


def test_least_squares_is_what_xgboost_calls_approximate():
    xgboost = peer("xgboost")
    X, y = make_friedman1(300, 6, noise=1.0, random_state=0)
    X = X.astype(np.float32).astype(float)
    data = xgboost.DMatrix(X, y)
    for penalty in (0.0, 1.0, 3.0, 10.0):
        settings = {"max_depth": 4, "lambda": penalty, "base_score": 10.0, "tree_method": "exact"}
        booster = xgboost.train(settings, data, 6)
        contributions = booster.predict(data, pred_contribs=True, approx_contribs=True)[:, :-1]
        of_saabas = attributions.saabas(booster, X).values
        assert_close(of_saabas, contributions, 50.0, eps=EPS_32)
        found = attributions.local_mdi(
            booster, X, y, linear_model="ols", raw=False, rows="inbag"
        ).values
        if penalty == 0:
            assert_close(found, contributions, 50.0, eps=EPS_32)
        else:
            assert np.abs(found - contributions).max() > 0.1


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("is_completed", [False, True])
def test_least_squares_gives_back_models_of_lightgbm(n_classes, is_completed):
    """LightGBM compares float64 rows and adds up float32 gradients."""
    lightgbm = peer("lightgbm")
    X, y = make_friedman1(300, 6, noise=1.0, random_state=0)
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)) if n_classes else y
    kind = lightgbm.LGBMClassifier if n_classes else lightgbm.LGBMRegressor
    model = kind(n_estimators=8, num_leaves=8, verbose=-1).fit(X, y)
    raw_prediction = model.predict(X, raw_score=True)
    model = as_ensemble(model, X=X, y=y) if is_completed else model
    assert_gives_back(model, X, y, raw_prediction)


def assert_gives_back(model, X, y, raw_prediction):
    """Assert that stumps alone, on the rows that grew the trees, predict what the model does."""
    found = attributions.local_mdi(model, X, y, linear_model="ols", raw=False, rows="inbag")
    assert_close(found.surrogate_prediction, raw_prediction, 50.0, eps=EPS_32)


# n MDI ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bootstrap", [True, False])
def test_mdi_is_the_sum_of_squares_of_the_stumps(bootstrap):
    X, y = make_friedman1(200, 6, noise=1.0, random_state=1)
    forest = RandomForestRegressor(5, bootstrap=bootstrap, random_state=0).fit(X, y)
    for m, (estimator, rows) in enumerate(
        zip(forest.estimators_, forest.estimators_samples_, strict=True)
    ):
        grown = np.bincount(rows, minlength=200).astype(float)
        tree = as_ensemble(forest).trees[m]
        leaves = tree.find_leaves(X.astype(np.float32).astype(float))
        rows, raw = TreeRows(leaves, y, grown, grown), RawColumns.none(6)
        problem = StumpProblem(tree, rows, raw, np.array([0, 200]))
        value = OLS().fit(problem).value
        found = np.zeros(6)
        for t in np.flatnonzero(tree.left >= 0):
            beta = (value[tree.left[t]] - value[t]) / problem.stumps.ends[t, 0]
            found[tree.feature[t]] += problem.node_weight[t] * beta**2
        expected = 200 * estimator.tree_.compute_feature_importances(normalize=False)
        assert_close(found, expected, expected.sum(), k=1e-10 / np.finfo(float).eps)


# (ii) -----------------------------------------------------------------------------------------


@given(trees(reg_lambda=0.0), LAMBDAS)
def test_ridge_on_leaf_values_is_saabas(tree, penalty):
    columns, leaves, splits = leaf_columns(tree, tree.sum_hessian)
    H, S = tree.sum_hessian[leaves], -tree.sum_gradient[leaves]
    B = np.column_stack([np.ones(len(leaves)), columns])
    # Minimise sum_l H_l (S_l / H_l - B_l theta)^2 + penalty |B theta|^2.
    theta = np.linalg.solve(B, S / (H + penalty))
    normal = B.T @ ((H + penalty)[:, np.newaxis] * B)
    largest = (np.abs(B) @ np.abs(theta)).max()  # the solver's error of each leaf is eps times this
    terms = np.abs(B.T) @ (H + penalty) * largest
    assert_close(normal @ theta, B.T @ S, terms, k=2**12)  # so theta is the minimiser

    # Each split gets a feature of its own, whose Saabas value is then the step at this split.
    value, feature = np.zeros(len(tree.left)), np.full_like(tree.feature, -1)
    value[leaves], feature[splits] = S / (H + penalty), np.arange(len(splits))
    boosted = replace(tree, value=value, feature=feature, threshold=np.zeros(len(value)))
    rows = np.zeros((len(leaves), max(len(splits), 1)))
    for j, t in enumerate(splits):
        for child, side in zip(children(tree, t), (-1.0, 1.0), strict=True):
            below = [leaves.index(leaf) for leaf in reference.leaves_below(tree, child)]
            rows[below, j] = side
    found = attributions.saabas(ensemble_of([boosted], rows.shape[1]), rows).values
    ends = np.abs(columns)
    condition = ends * np.maximum(1.0, 1 / ends.max(axis=0, initial=np.finfo(float).tiny))
    size = np.abs(value).max() * len(leaves)
    steps, terms = np.zeros_like(rows), np.full_like(rows, size)
    steps[:, : len(splits)] = columns * theta[1:]
    terms[:, : len(splits)] *= 1 + condition
    assert_close(found, steps, terms, k=2.0**20)


# (iii) ----------------------------------------------------------------------------------------


@given(cases(raw=False, all_rows=True), st.sampled_from([0.1, 1.0, 10.0]))
def test_ridge_on_stumps_is_saabas_of_the_shrunken_tree(case, penalty):
    """Hierarchical shrinkage: every step from node to child times N_t / (N_t + penalty)."""
    weight = plain.node_weights(case.tree, case.X, case.grown)
    total = plain.node_weights(case.tree, case.X, case.grown * case.y)
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    value = Ridge(penalty).fit(case.problem).value
    for t in np.flatnonzero(case.tree.left >= 0):
        if all(weight[child] > 0 for child in children(case.tree, t)):
            for child in children(case.tree, t):
                step = weight[t] / (weight[t] + penalty) * (mean[child] - mean[t])
                size = 1 + np.abs(case.y).max()
                assert_close(value[child] - value[t], step, size, k=2**12)


# (iv) and (v) ---------------------------------------------------------------------------------

sums_of_children = st.tuples(
    st.floats(0.1, 50.0), st.floats(0.1, 50.0), st.floats(-50, 50), st.floats(-50, 50)
)


def steps(H_l, H_r, S_l, S_r, penalty):
    """Return the steps of PreDecomp into both children, and the parent's value."""
    at = (S_l + S_r) / (H_l + H_r + penalty)
    return S_l / (H_l + penalty) - at, S_r / (H_r + penalty) - at, at


@given(sums_of_children, LAMBDAS)
def test_no_single_column_a_split_gives_predecomp(sums, penalty):
    """As targets vary, a coefficient times one column moves along a line; PreDecomp's steps do not.

    They are linear in (S_l, S_r), with the determinant below, which is 0 if and only if lambda is.
    """
    H_l, H_r, *_ = sums
    matrix = np.array([steps(H_l, H_r, 1, 0, penalty)[:2], steps(H_l, H_r, 0, 1, penalty)[:2]]).T
    a, b, total = H_l + penalty, H_r + penalty, H_l + H_r + penalty
    expected = -penalty / (a * b * total)
    products = abs(matrix[0, 0] * matrix[1, 1]) + abs(matrix[0, 1] * matrix[1, 0])
    determinant = matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0]
    assert_close(determinant, expected, products + 1 / (a * b))
    assert (expected == 0) == (penalty == 0)


@given(sums_of_children, LAMBDAS)
def test_predecomp_is_a_stump_and_a_leak(sums, penalty):
    """The stump is that of children with a row of response 0 and weight lambda added to each."""
    H_l, H_r, S_l, S_r = sums
    a, b = H_l + penalty, H_r + penalty
    step_l, step_r, at = steps(H_l, H_r, S_l, S_r, penalty)
    coefficient = np.sqrt(a * b) / (a + b) * (S_r / b - S_l / a)
    leak = penalty / (a + b) * at
    size = abs(S_l) / a + abs(S_r) / b + abs(at)
    assert_close(step_l, -np.sqrt(b / a) * coefficient - leak, size)
    assert_close(step_r, np.sqrt(a / b) * coefficient - leak, size)


def test_the_worked_example_of_the_page():
    """The ratio of a column's steps is fixed by its two ends; PreDecomp's varies with the data."""
    left, right, _ = steps(2, 2, 2, 0, 1)
    assert (left, right) == pytest.approx((4 / 15, -6 / 15))
    left, right, _ = steps(2, 2, 3, 1, 1)
    assert (left, right) == pytest.approx((3 / 15, -7 / 15))


# (vi) -----------------------------------------------------------------------------------------


@given(trees(reg_lambda=0.0), st.sampled_from([0.1, 1.0, 10.0]))
def test_predecomp_is_ridge_when_one_split_after_the_other_is_added(tree, penalty):
    """Ridge on the leaves of the tree so far; adding split t changes the fit of its rows by a_t."""
    H, S = tree.sum_hessian, -tree.sum_gradient
    leaves = [0]

    def refit(nodes):
        """Return the ridge fit of each row, a row a leaf of the whole tree."""
        design = np.array(
            [[leaf in reference.leaves_below(tree, t) for t in nodes] for leaf in whole], float
        )
        normal = design.T @ (H[whole][:, np.newaxis] * design) + penalty * np.eye(len(nodes))
        return design @ np.linalg.solve(normal, design.T @ S[whole])

    whole = [t for t in range(len(tree.left)) if tree.left[t] < 0]
    value = S / (H + penalty)
    before = refit(leaves)
    for t in range(len(tree.left)):  # parents come first
        if tree.left[t] < 0:
            continue
        leaves = [node for node in leaves if node != t] + list(children(tree, t))
        fit = refit(leaves)
        for child in children(tree, t):
            for leaf in reference.leaves_below(tree, child):
                i = whole.index(leaf)
                size = np.abs(S[whole]).sum() / penalty
                assert_close(fit[i] - before[i], value[child] - value[t], size, k=2**10)
        others = [i for i, leaf in enumerate(whole) if leaf not in reference.leaves_below(tree, t)]
        assert np.abs(fit - before)[others].sum() <= 1e-9 * np.abs(S).sum() / penalty
        before = fit


# (vii) ----------------------------------------------------------------------------------------


@given(sums_of_children, LAMBDAS, st.sampled_from([0.0, 0.5, 5.0]))
def test_gain_is_the_inner_product_of_response_and_step(sums, penalty, alpha):
    H_l, H_r, S_l, S_r = sums
    H, S = H_l + H_r, S_l + S_r
    step_l, step_r, _ = steps(H_l, H_r, S_l, S_r, penalty)
    scores = [S_l**2 / (H_l + penalty), S_r**2 / (H_r + penalty), S**2 / (H + penalty)]
    terms = abs(S_l * step_l) + abs(S_r * step_r) + sum(scores)
    assert_close(S_l * step_l + S_r * step_r, scores[0] + scores[1] - scores[2], terms)

    unpenalised = S_l**2 / H_l + S_r**2 / H_r - S**2 / H
    shrink = H / (H + alpha)
    steps_of_ridge = shrink * (S_l / H_l - S / H), shrink * (S_r / H_r - S / H)
    found = S_l * steps_of_ridge[0] + S_r * steps_of_ridge[1]
    terms = S_l**2 / H_l + S_r**2 / H_r + S**2 / H
    assert_close(found, shrink * unpenalised, terms)
    assert found >= -64 * np.finfo(float).eps * terms


def test_gain_with_a_penalty_can_be_negative_where_that_of_stump_ridge_is_not():
    step_l, step_r, _ = steps(1.0, 1.0, 1.0, 1.0, 1.0)
    assert 1.0 * step_l + 1.0 * step_r == pytest.approx(1 / 2 + 1 / 2 - 4 / 3)
