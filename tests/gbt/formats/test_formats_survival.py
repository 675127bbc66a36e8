"""Models of times to an event from XGBoost and CatBoost: predictions, sums, measures."""

import warnings

import numpy as np
import pytest

from attributions import held_out_gain, total_gain
from gbt.formats import as_ensemble, to_xgboost
from gbt.losses import Aft, Cox
from tests.asserts import peer
from tests.gbt.formats.read_models import xgb
from tests.greedy import GreedyRegressor


def table(n, seed, has_ties=False):
    """Draw rows with gaps, and XGBoost's signed times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    time = rng.exponential(np.exp(-X[:, 0]))
    X[rng.random(X.shape) < 0.1] = np.nan
    end = rng.exponential(1.5, size=n)
    seen = np.minimum(time, end)
    return X, np.where(time <= end, 1, -1) * (np.ceil(4 * seen) if has_ties else seen)


def test_ours_is_written_for_xgboost(tmp_path):
    X, y = table(200, 0)
    ours = GreedyRegressor(loss=Aft("logistic", 0.4), n_estimators=5)
    upper = np.where(y > 0, y, np.inf)  # of an event the time itself
    ours.fit(X, np.column_stack([np.where(np.arange(200) % 5 == 0, 0.7, 1.0) * abs(y), upper]))
    to_xgboost(ours, tmp_path / "model.json")
    theirs = peer("xgboost").Booster(model_file=tmp_path / "model.json")
    predicted = theirs.predict(peer("xgboost").DMatrix(X))
    np.testing.assert_allclose(predicted, ours.predict(X), rtol=1e-5)
    assert as_ensemble(theirs).loss == Aft("logistic", float(np.float32(0.4)), is_newton=True)


def test_ties_are_taken_otherwise_by_xgboost():
    """One row of a tie after the other: sums are not Breslow's, and those of the rows are said."""
    X, y = table(200, 0, has_ties=True)
    case = xgb("survival:cox", "times")
    model = case.fit(X, y, None)
    with pytest.warns(UserWarning, match="not what these rows make of it"):
        of_rows = as_ensemble(model, X, y)
    np.testing.assert_allclose(of_rows.raw_predict(X), case.raw(model, X), atol=3e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held_out_gain(model, *table(150, 7, has_ties=True))


def test_scikit_survivals_boosting_is_read_and_its_forests_are_refused():
    """Leaves are means of Cox's negative gradients, so that G is known without rows."""
    ensemble = pytest.importorskip("sksurv.ensemble")  # no peer that tests require
    X, y = table(200, 0, has_ties=True)
    X, (X_new, y_new) = np.nan_to_num(X), table(150, 100)
    times = np.array([*zip(y > 0, abs(y), strict=True)], dtype=[("event", bool), ("time", float)])
    model = ensemble.GradientBoostingSurvivalAnalysis(n_estimators=12, max_depth=2).fit(X, times)
    read = as_ensemble(model)
    assert read.loss == Cox()
    assert read.statistics == {"gradients", "counts", "values"}
    np.testing.assert_allclose(read.raw_predict(X), model.predict(X), atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_rows = as_ensemble(model, X, times)
    assert "hessians" in with_rows.statistics
    expected = with_rows.refit_statistics(X, times).total_gain()  # of which G alone is kept
    np.testing.assert_allclose(total_gain(with_rows).values, expected, rtol=1e-9)
    assert expected.argmax() == 0
    assert held_out_gain(model, np.nan_to_num(X_new), y_new).values.argmax() == 0
    with pytest.raises(ValueError, match=r"only \['coxph'\] can"):
        as_ensemble(
            ensemble.GradientBoostingSurvivalAnalysis(loss="squared", n_estimators=2).fit(X, times)
        )
    with pytest.raises(ValueError, match="RandomSurvivalForest cannot be imported: its leaves"):
        as_ensemble(ensemble.RandomSurvivalForest(n_estimators=2).fit(X, times))
