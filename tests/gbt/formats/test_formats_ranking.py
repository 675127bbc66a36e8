"""Models that order rows, from XGBoost, LightGBM and CatBoost: predictions, sums, measures."""

import numpy as np
import pytest

from attributions import held_out_gain, predecomp, tree_inner, tree_shap
from gbt.formats import as_ensemble
from gbt.losses import NDCG, Pairwise
from tests.asserts import assert_close, peer


def table(n_queries, seed):
    """Draw rows with gaps, grades from 0 to 3, and queries in ascending order, as peers ask."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(2, 12, n_queries))
    X = rng.normal(size=(len(query), 4)).astype(np.float32)
    grade = np.digitize(X[:, 0] + rng.normal(size=len(query)) / 2, [0.0, 0.7, 1.5])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, grade, query


def xgboost_model(objective, X, grade, query, **options):
    xgboost = peer("xgboost")
    asked = {"objective": objective, "max_depth": 3, "eta": 0.2, **options}
    grade = np.minimum(grade, 1) if objective == "rank:map" else grade
    model = xgboost.train(asked, xgboost.DMatrix(X, grade, qid=query), 12)
    return model, lambda X: model.predict(xgboost.DMatrix(X))


def lightgbm_model(objective, X, grade, query, **options):
    lightgbm = peer("lightgbm")
    sizes = np.unique(query, return_counts=True)[1]
    asked = {"objective": objective, "max_depth": 3, "verbose": -1, **options}
    model = lightgbm.train(asked, lightgbm.Dataset(X, grade, group=sizes), 12)
    return model, model.predict


def catboost_model(function, X, grade, query, **options):
    asked = {
        "loss_function": function, "iterations": 12, "depth": 3, "learning_rate": 0.2, "verbose": 0,
        "allow_writing_files": False, **options,
    }  # fmt: skip
    model = peer("catboost").CatBoostRanker(**asked).fit(X, grade, group_id=query)
    return model, model.predict


MODELS = [
    (xgboost_model, "rank:pairwise", {}, Pairwise()),
    (xgboost_model, "rank:ndcg", {"subsample": 0.8}, NDCG()),
    (xgboost_model, "rank:map", {"tree_method": "exact"}, NDCG()),
    (lightgbm_model, "lambdarank", {}, NDCG()),
    (lightgbm_model, "lambdarank", {"learning_rate": 1.0, "bagging_freq": 1}, NDCG()),
    (lightgbm_model, "rank_xendcg", {"lambda_l2": 1.0}, NDCG()),
    (catboost_model, "YetiRank", {}, Pairwise()),
    (catboost_model, "PairLogit", {"grow_policy": "Depthwise"}, Pairwise()),
    (catboost_model, "QueryRMSE", {}, Pairwise()),
]


@pytest.mark.parametrize(("fit", "objective", "options", "loss"), MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_predictions_sums_and_measures(fit, objective, options, loss, seed):
    X, grade, query = table(80, seed)
    X_new, grade_new, query_new = table(60, seed + 100)
    model, predict = fit(objective, X, grade, query, **options)
    ensemble = as_ensemble(model)
    assert ensemble.loss == loss
    expected = predict(X_new).astype(float)
    np.testing.assert_allclose(ensemble.raw_predict(X_new), expected, atol=3e-6)
    assert held_out_gain(model, X_new, grade_new, groups=query_new).values.argmax() == 0
    y = np.column_stack([np.minimum(grade, 1) if objective == "rank:map" else grade, query])
    with_rows = as_ensemble(model, X, y)
    assert with_rows.statistics == {"gradients", "hessians", "counts", "values"}
    leaves = ensemble.apply(X)
    for m, tree in enumerate(with_rows.trees):
        of_leaf = np.bincount(leaves[:, m], minlength=len(tree.left))
        is_leaf = tree.left < 0
        assert (tree.n_samples[is_leaf] == of_leaf[is_leaf]).all()
    assert tree_inner(with_rows, X_new, grade_new, groups=query_new).values.argmax() == 0
    for attribution in (predecomp(with_rows, X_new), tree_shap(with_rows, X_new)):
        assert_close(attribution.residual(ensemble.raw_predict(X_new)), 0 * expected, 10.0)
