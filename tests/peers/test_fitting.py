"""Early stopping and schedules of steps, as users of XGBoost write them."""

import numpy as np
import pytest

from gbt import GBTRegressor
from tests.asserts import EPS_32, assert_close, peer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).astype(np.float32).astype(np.float64)
Y = X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=400)
FIT, NEW = slice(0, 200), slice(200, 400)
EVAL = [(X[NEW], Y[NEW])]
# The exact method of XGBoost grows the same trees.
SIZE = {"max_depth": 2, "learning_rate": 0.3, "n_estimators": 40}
GREEDY = {"splitter": "greedy", **SIZE}
EXACT = {"tree_method": "exact", "n_jobs": 1, **SIZE}


@pytest.mark.parametrize("min_delta", [0.0, 0.001, 0.01, 0.05])
def test_min_delta_stops_where_xgboost_does(min_delta):
    """In the units of the loss that is watched: ours is half the squared error, so a metric is."""
    xgboost = peer("xgboost")

    def neg_rmse(y, prediction):
        return -float(np.sqrt(np.mean((y - prediction) ** 2)))

    ours = GBTRegressor(
        **GREEDY, early_stopping_rounds=3, min_delta=min_delta, eval_metric=neg_rmse
    ).fit(X[FIT], Y[FIT], eval_set=EVAL)
    stop = xgboost.callback.EarlyStopping(rounds=3, min_delta=min_delta)
    theirs = xgboost.XGBRegressor(**EXACT, callbacks=[stop], base_score=Y[FIT].mean())
    theirs.fit(X[FIT], Y[FIT], eval_set=EVAL, verbose=False)
    assert ours.best_iteration_ == theirs.best_iteration
    rmse = theirs.evals_result()["validation_0"]["rmse"]
    assert len(ours.evals_result_["eval_0"]) == len(rmse)
    assert_close(ours.evals_result_["eval_0_neg_rmse"], -np.array(rmse), rmse, k=64, eps=EPS_32)


def test_a_schedule_is_that_of_xgboosts_scheduler():
    """The first rate is a parameter; the exact method takes a new rate a tree later, as here."""
    xgboost = peer("xgboost")
    rates = [0.3 * 0.9**m for m in range(20)]

    def schedule(state):
        state.learning_rate = (*rates, 1.0)[state.number + 1]

    ours = GBTRegressor(**GREEDY | {"n_estimators": 20}, callbacks=[schedule]).fit(X, Y)
    scheduler = xgboost.callback.LearningRateScheduler([*rates[1:], 1.0])
    theirs = xgboost.XGBRegressor(
        **EXACT | {"n_estimators": 20}, callbacks=[scheduler], base_score=Y.mean()
    ).fit(X, Y)
    assert_close(ours.predict(X), theirs.predict(X), terms=np.abs(Y).max(), k=64, eps=EPS_32)
