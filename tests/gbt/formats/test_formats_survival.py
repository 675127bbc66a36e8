"""Models of times to an event from XGBoost and CatBoost: predictions, sums, measures."""

import warnings

import numpy as np
import pytest

from attributions import held_out_gain, predecomp, tree_shap
from gbt.formats import as_ensemble
from gbt.losses import Cox
from tests.asserts import assert_close, peer


def table(n, seed, has_ties=False):
    """Draw rows with gaps, and XGBoost's signed times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    time = rng.exponential(np.exp(-X[:, 0]))
    X[rng.random(X.shape) < 0.1] = np.nan
    end = rng.exponential(1.5, size=n)
    seen = np.minimum(time, end)
    return X, np.where(time <= end, 1, -1) * (np.ceil(4 * seen) if has_ties else seen)


def xgboost_model(X, y, **options):
    xgboost = peer("xgboost")
    asked = {"objective": "survival:cox", "max_depth": 3, "eta": 0.2, **options}
    model = xgboost.train(asked, xgboost.DMatrix(X, y), 12)
    return model, lambda X: model.predict(xgboost.DMatrix(X), output_margin=True)


def catboost_model(X, y, **options):
    asked = {
        "loss_function": "Cox", "iterations": 12, "depth": 3, "learning_rate": 0.2, "verbose": 0,
        "allow_writing_files": False, **options,
    }  # fmt: skip
    model = peer("catboost").CatBoost(asked).fit(X, y)
    return model, lambda X: model.predict(X, prediction_type="RawFormulaVal")


MODELS = [
    (xgboost_model, {}), (xgboost_model, {"base_score": 0.3, "tree_method": "exact"}),
    (catboost_model, {}), (catboost_model, {"grow_policy": "Depthwise"}),
]  # fmt: skip


@pytest.mark.parametrize(("fit", "options"), MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_predictions_sums_and_measures(fit, options, seed):
    X, y = table(200, seed)
    X_new, y_new = table(150, seed + 100)
    model, margin = fit(X, y, **options)
    ensemble = as_ensemble(model)
    assert ensemble.loss == Cox(is_newton=True)
    expected = margin(X_new).astype(float)
    np.testing.assert_allclose(ensemble.raw_predict(X_new), expected, atol=3e-6)
    assert held_out_gain(model, X_new, y_new).values.argmax() == 0
    with_rows = as_ensemble(model, X, y)  # a warning if these were not the rows of training
    assert with_rows.statistics == {"gradients", "hessians", "counts", "values"}
    for attribution in (predecomp(with_rows, X_new), tree_shap(with_rows, X_new)):
        assert_close(attribution.residual(ensemble.raw_predict(X_new)), 0 * expected, 10.0)


def test_ties_are_taken_otherwise_by_xgboost():
    """One row of a tie after the other: sums are not Breslow's, and those of the rows are said."""
    X, y = table(200, 0, has_ties=True)
    model, margin = xgboost_model(X, y)
    with pytest.warns(UserWarning, match="not what these rows make of it"):
        of_rows = as_ensemble(model, X, y)
    np.testing.assert_allclose(of_rows.raw_predict(X), margin(X), atol=3e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held_out_gain(model, *table(150, 7, has_ties=True))
