"""Local MDI+ of several classes, of labels, and of categories; and linear models that are none."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

import attributions
from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.least_squares import OLS, Ridge
from attributions.mdi.linear_models import MODELS
from attributions.mdi.logistic import LogisticElasticNet, LogisticRidge
from attributions.reference import stumps as plain
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.stump_cases import assert_subgradients, drawn_by

N, P, K = 120, 4, 3
X, y = make_friedman1(N, 6, noise=1.0, random_state=1)
X = X[:, 1:5].astype(np.float32).astype(np.float64)  # as forests compare them
classes = np.digitize(y, np.quantile(y, [0.3, 0.7]))
labels = np.array(["high", "low"])[(y < np.median(y)).astype(int)]
targets = np.column_stack([y, y[::-1]])

OF_CLASSES = RandomForestClassifier(3, min_samples_leaf=4, random_state=0).fit(X, classes)
OF_TARGETS = RandomForestRegressor(3, min_samples_leaf=4, random_state=0).fit(X, targets)
OF_LABELS = RandomForestClassifier(4, min_samples_leaf=5, random_state=0).fit(X, labels)


def test_sizes_and_ranks_are_no_parts_of_a_prediction():
    signed = attributions.local_mdi(OF_LABELS, X, labels, linear_model=Ridge(2.0))
    for aggregate in ("absolute", "rank", "rank_where_used"):
        found = attributions.local_mdi(
            OF_LABELS, X, labels, linear_model=Ridge(2.0), aggregate=aggregate
        )
        assert_same(found.base_values, np.zeros(N))
        assert_same(found.surrogate_prediction, signed.surrogate_prediction)
        assert_same(found.surrogate_residual, signed.surrogate_residual)
        with pytest.raises(ValueError, match=f"residual .*aggregate='{aggregate}' do not"):
            found.residual(found.model_prediction)
        with pytest.raises(ValueError, match=f"to_shap .*aggregate='{aggregate}' do not"):
            found.to_shap()


# Labels


def log_loss_slopes(columns, target, weight, b, c):
    p = 1 / (1 + np.exp(-(b + columns @ c)))
    return columns.T @ (weight * (target - p)), weight @ (target - p)


@pytest.mark.parametrize(("penalty", "l1_ratio"), [(0.5, 0.5), (3.0, 0.1), (2.0, 1.0), (0.01, 0.9)])
def test_logistic_elastic_net_meets_its_conditions(penalty, l1_ratio):
    """Subgradients: l1 sign + l2 coefficient where that is not 0, elsewhere at most l1."""
    trees = as_ensemble(OF_LABELS).trees
    seen = []

    class Spy(LogisticElasticNet):
        def fit(self, problem):
            seen.append((problem, super().fit(problem)))
            return seen[-1][1]

    attributions.local_mdi(OF_LABELS, X, labels, linear_model=Spy(penalty, l1_ratio), n_jobs=1)
    assert len(seen) == len(trees)
    for (problem, found), tree, drawn in zip(seen, trees, drawn_by(OF_LABELS), strict=True):
        columns, _ = plain.mdi_columns(tree, X, drawn)
        weight = np.where(drawn > 0, drawn, 1.0)
        inner = np.flatnonzero(tree.left >= 0)
        step = found.value[tree.right[inner]] - found.value[tree.left[inner]]
        ends = problem.stumps.ends[inner]
        c = np.concatenate([step / (ends[:, 1] - ends[:, 0]), found.gamma])
        slopes, of_intercept = log_loss_slopes(
            columns, (labels == "low") * 1.0, weight, found.value[0], c
        )
        assert abs(of_intercept) < 1e-6
        assert_subgradients(slopes, c, penalty, l1_ratio, 1e-5)


def test_penalties_of_labels_are_chosen():
    for name in ("logistic_ridge", "logistic_elastic_net"):
        found = attributions.local_mdi(OF_LABELS, X, labels, linear_model=name)
        assert found.method == f"local_mdi({name}, sum)"
        assert (found.penalty > 1e-4 * (1 + 1e-9)).all()
        assert (found.penalty < 1e4 * (1 - 1e-9)).all()
        hits = (found.surrogate_prediction > 0) == (labels == "low")
        assert hits.mean() > 0.8


def test_labels_of_three_classes_have_three_logistic_models():
    extra = ExtraTreesClassifier(2, min_samples_leaf=6, random_state=0).fit(X, classes)
    found = attributions.local_mdi(extra, X, classes, linear_model=LogisticRidge(1.0))
    assert found.values.shape == (N, P, K)
    for k in range(K):
        parts = []
        for tree in as_ensemble(extra).trees[k::K]:
            columns, blocks = plain.mdi_columns(tree, X, np.ones(N))
            peer = LogisticRegression(tol=1e-10, max_iter=100_000).fit(columns, classes == k)
            parts.append(plain.by_block(columns, blocks, peer.coef_[0], P))
        expected = np.mean(parts, axis=0)
        assert np.abs(found.values[:, :, k] - expected).max() < 1e-5 * np.abs(expected).max()
    spread = attributions.local_mdi(extra, X, classes, linear_model="logistic_elastic_net")
    assert np.isfinite(spread.values).all()


@pytest.mark.parametrize(
    ("model", "target", "linear_model"),
    [
        (GreedyRegressor(n_estimators=2).fit(X, y), y, "logistic_ridge"),
        (GreedyClassifier(n_estimators=2).fit(X, labels), labels, "logistic_elastic_net"),
        (RandomForestRegressor(2).fit(X, y), y, LogisticRidge(1.0)),
        (OF_TARGETS, targets, LogisticRegression()),
    ],
)
def test_what_has_no_labels(model, target, linear_model):
    with pytest.raises(ValueError, match=r"is for labels, but the trees of .* predict numbers"):
        attributions.local_mdi(model, X, target, linear_model=linear_model)


def test_folds_of_labels():
    rare = np.where(np.arange(N) < 2, "rare", "common")
    forest = RandomForestClassifier(2, random_state=0).fit(X, rare)
    with pytest.raises(ValueError, match="folds=3, but one of the classes has 2 rows"):
        attributions.local_mdi(forest, X, rare, linear_model="logistic_elastic_net")
    sorted_labels = np.sort(labels)  # in row order a fold would be of one class
    forest = RandomForestClassifier(2, min_samples_leaf=5, random_state=0).fit(X, sorted_labels)
    found = attributions.local_mdi(forest, X, sorted_labels, linear_model="logistic_elastic_net")
    assert np.isfinite(found.values).all()


def test_what_is_no_linear_model():
    for wrong in ("lasso", 3, ElasticNet, OLS, LogisticRegression, None):
        with pytest.raises(ValueError, match=r"use one of .*'elastic_net', .*'ols', 'ridge'"):
            attributions.local_mdi(OF_LABELS, X, labels, linear_model=wrong)
    assert sorted(MODELS) == list(MODELS)


# Categories


def with_levels(names):
    """The table with a column of words: which of three parts of the first target a row is in."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = np.asarray(names)[(np.arange(N) + (y > 14)) % 3]
    return frame


def test_what_levels_are_called_does_not_matter():
    """Level numbers follow the names: a raw column of them would change with the names."""
    found = []
    for names in (["x", "y", "z"], ["z", "x", "y"]):
        table = with_levels(names)
        target = y + 3 * (table["kind"] == names[1])
        model = GreedyRegressor(n_estimators=5, max_depth=3).fit(table, target)
        assert "kind" in np.array(table.columns)[model.ensemble_.feature[model.ensemble_.left >= 0]]
        found.append(attributions.local_mdi(model, table, target, linear_model=Ridge(1.0)).values)
    assert np.abs(found[0][:, 4]).max() > 0.1
    assert_close(found[0], found[1], 99.0, k=2**10)


def test_a_category_has_stumps_and_no_raw_column():
    table = with_levels(["x", "y", "z"])
    target = y + 3 * (table["kind"] == "y")
    model = GreedyRegressor(n_estimators=1, max_depth=3, reg_lambda=0.0).fit(table, target)
    whole = attributions.local_mdi(model, table, target, linear_model=Ridge(1.0)).values
    stumps = attributions.local_mdi(model, table, target, linear_model=Ridge(1.0), raw=False).values
    leaves = model.apply(table)[:, 0]
    for leaf in np.unique(leaves):  # its stumps are all that a leaf's rows can differ by
        assert len(np.unique(whole[leaves == leaf, 4])) == 1
    assert max(table["kind"][leaves == leaf].nunique() for leaf in np.unique(leaves)) > 1
    assert not np.allclose(whole[:, :4], stumps[:, :4])  # numbers have theirs
