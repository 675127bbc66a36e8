"""Models of several classes and targets, and of losses without curvature."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from attributions import absolute, saabas, tree_inner
from gbt import load
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from tests.asserts import assert_close, is_before, peer
from tests.gbt.formats.read_models import fitted, imported, table, targets

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")


def data():
    X, y = table("gaps")
    return X, targets(y, "three")


@pytest.mark.parametrize("name", ["xgboost absolute", "xgboost quantile"])
def test_rows_are_compared_with_the_derivatives_that_a_loss_without_curvature_has(name):
    """Smoothed ones or 1, by the version of XGBoost: those of other rows are found out."""
    model, X, y, _, weight = fitted(name)
    with pytest.warns(UserWarning, match="other rows or weights"):
        as_ensemble(model, X, y, weight + np.arange(len(X)) % 2)
    if not is_before("xgboost", 3, 4):  # where h depends on the target
        with pytest.warns(UserWarning, match="other rows or weights"):
            as_ensemble(model, X, y[::-1], weight)


@pytest.mark.parametrize(
    "name", ["xgboost classes", "lightgbm classes", "sklearn histograms classes"]
)
def test_attributions_need_no_training_rows(name):
    (model, X, y, *_), ensemble = fitted(name), imported(name)
    rng = np.random.default_rng(2)
    new = X + rng.normal(scale=1e-3, size=X.shape).astype(np.float32)
    cover = "count" if "sklearn" in name else "hessian"
    result = saabas(ensemble, new, weights=cover)
    raw = ensemble.raw_predict(new)
    assert_close(result.residual(raw), 0 * raw, np.abs(result.values).sum(axis=1) + 4)
    if name != "sklearn histograms classes":
        assert tree_inner(model, new, y).ranking()[0] in (0, 1, 2)
        assert absolute(model, new, per_output=True).per_output.shape == (3, 4)


def test_another_objective_than_softmax_is_found_out():
    """Gradients of one's own, whose classes do not add up to 0."""
    xgboost = peer("xgboost")
    X, y = data()

    def objective(f, rows):
        gradient = np.tanh(f.reshape(300, 3)) + (y[:, None] != np.arange(3)) * 0.5
        return gradient, np.ones((300, 3))

    asked = {"objective": "multi:softprob", "num_class": 3, "base_score": 0.25}
    rows = xgboost.DMatrix(X, y)
    booster = xgboost.train(asked, rows, 3, obj=objective)
    ensemble = as_ensemble(booster)
    assert "classes do not add up to 0" in ensemble.about_gradients
    assert "gradients" not in ensemble.statistics


def test_a_file_of_several_targets_with_another_loss_is_refused(tmp_path):
    X, y = table("gaps")
    model = RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, targets(y, "both"))
    as_ensemble(model).save(tmp_path / "model.json")
    document = (tmp_path / "model.json").read_text()
    (tmp_path / "model.json").write_text(document.replace('"half_squared_error"', '"no loss"'))
    with pytest.raises(InvalidModelError, match=r"ensemble\.loss\.of_each"):
        load(tmp_path / "model.json")
