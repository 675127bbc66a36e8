"""How local MDI, hierarchical shrinkage, Saabas and PreDecomp are related (docs/local_mdi.md)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

import attributions
from attributions.mdi.least_squares import Ridge
from attributions.per_row.individual import attribute_per_tree
from attributions.reference import stumps as plain
from gbt.formats import as_ensemble
from tests.asserts import EPS_32, assert_close, peer
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.stump_cases import cases


def children(tree, t):
    return tree.left[t], tree.right[t]


def boosted(kind, **options):
    return kind(n_estimators=8, reg_lambda=0.0, random_state=0, **options)


MODELS = {
    "squared": boosted(GreedyRegressor, max_depth=4),
    "logistic": boosted(GreedyClassifier, max_depth=4),
    "sampled": boosted(GreedyRegressor, subsample=0.6),
    "weighted": boosted(GreedyRegressor, max_depth=3),
    "random forest": RandomForestRegressor(7, min_samples_leaf=2, random_state=0),
    "best first": RandomForestRegressor(7, max_leaf_nodes=9, random_state=0),
    "extra trees": ExtraTreesRegressor(7, random_state=0),
    "labels": RandomForestClassifier(7, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_least_squares_is_saabas_and_predecomp(name):
    model, (X, y) = MODELS[name], make_friedman1(300, 6, noise=1.0, random_state=0)
    y = y > 14 if is_classifier(model) else y
    weight = np.random.default_rng(0).integers(0, 3, 300) * 1.0 if name == "weighted" else None
    model.fit(X, y, weight)
    found = attributions.local_mdi(
        model, X, y, linear_model="ols", raw=False, rows="inbag", sample_weight=weight
    )
    terms = sum(np.abs(values) for _, values in attribute_per_tree(model, X, "saabas"))
    for method in (attributions.saabas, attributions.predecomp):
        expected = method(model, X)
        assert_close(found.values, expected.values, terms, k=1e-10 / np.finfo(float).eps)
        assert_close(found.base_values, expected.base_values, 1 + np.abs(expected.base_values))
    sizes = terms.sum(axis=1) + np.abs(found.base_values)
    assert_close(found.surrogate_residual, np.zeros(300), sizes, k=2.0**14)
    assert_close(found.model_prediction, as_ensemble(model).raw_predict(X), sizes)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("is_completed", [False, True])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_least_squares_gives_back_models_of_other_libraries(library, n_classes, is_completed):
    """LightGBM compares float64 rows, XGBoost float32 ones; both add up float32 gradients."""
    X, y = make_friedman1(300, 6, noise=1.0, random_state=0)
    X = X.astype(np.float32).astype(float)
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)) if n_classes else y
    kind = ("XGB" if library == "xgboost" else "LGBM") + (
        "Classifier" if n_classes else "Regressor"
    )
    asked, raw = {
        "lightgbm": ({"num_leaves": 8, "verbose": -1}, "raw_score"),
        "xgboost": ({"max_depth": 3, "reg_lambda": 0.0}, "output_margin"),
    }[library]
    model = getattr(peer(library), kind)(n_estimators=8, **asked).fit(X, y)
    raw_prediction = model.predict(X, **{raw: True})
    model = as_ensemble(model, X=X, y=y) if is_completed else model
    found = attributions.local_mdi(model, X, y, linear_model="ols", raw=False, rows="inbag")
    assert_close(found.surrogate_prediction, raw_prediction, 50.0, eps=EPS_32)


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
