"""Early stopping, metrics, schedules, callbacks: as users of XGBoost and LightGBM write them."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import roc_auc_score

from gbt import GBTClassifier, GBTRegressor
from tests.asserts import EPS_32, assert_close, peer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).astype(np.float32).astype(np.float64)
Y = X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=400)
FIT, NEW = slice(0, 200), slice(200, 400)
EVAL = [(X[NEW], Y[NEW])]
LABELS = (Y > 0.5).astype(int)
# The exact method of XGBoost grows the same trees.
GREEDY = {"splitter": "greedy", "max_depth": 2, "learning_rate": 0.3, "n_estimators": 40}
EXACT = {
    "tree_method": "exact",
    "max_depth": 2,
    "learning_rate": 0.3,
    "n_estimators": 40,
    "n_jobs": 1,
}


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


def test_of_several_metrics_the_last_decides_as_in_xgboost():
    xgboost = peer("xgboost")
    new = [(X[NEW], LABELS[NEW])]
    ours = GBTClassifier(
        **GREEDY, early_stopping_rounds=4, eval_metric=["neg_log_loss", "roc_auc"]
    ).fit(X[FIT], LABELS[FIT], eval_set=new)
    theirs = xgboost.XGBClassifier(
        **EXACT, early_stopping_rounds=4, eval_metric=["logloss", "auc"],
        base_score=LABELS[FIT].mean(),
    ).fit(X[FIT], LABELS[FIT], eval_set=new, verbose=False)  # fmt: skip
    assert ours.best_iteration_ == theirs.best_iteration
    auc = theirs.evals_result()["validation_0"]["auc"]
    assert_close(ours.evals_result_["eval_0_roc_auc"], auc, terms=1.0, k=64, eps=EPS_32)
    assert ours.best_score_ == roc_auc_score(LABELS[NEW], ours.predict_proba(X[NEW])[:, 1])


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


def test_a_schedule_is_that_of_lightgbms_reset_parameter():
    """Of stumps on few distinct values, where both look at the same cuts."""
    lightgbm = peer("lightgbm")
    rounded = np.round(X)

    def schedule(state):
        state.learning_rate = 0.3 * 0.5 ** (state.number + 1)

    ours = GBTRegressor(
        n_estimators=5, learning_rate=0.3, max_depth=1, reg_lambda=0.0, splitter="greedy",
        callbacks=[schedule],
    ).fit(rounded, Y)  # fmt: skip
    theirs = lightgbm.LGBMRegressor(
        n_estimators=5, max_depth=1, num_leaves=2, min_child_samples=1, min_child_weight=1,
        verbose=-1, n_jobs=1, min_data_in_bin=1,
    ).fit(
        rounded, Y,
        callbacks=[lightgbm.reset_parameter(learning_rate=lambda m: 0.3 * 0.5**m)],
    )  # fmt: skip
    assert_close(ours.predict(rounded), theirs.predict(rounded), np.abs(Y).max(), k=64, eps=EPS_32)


def test_a_callback_that_looks_at_the_model_and_stops():
    """XGBoost's after_iteration gets a Booster; ours the trees so far, as an Ensemble."""
    seen = []

    def stop_when_good(state):
        seen.append(np.mean((Y[NEW] - state.model.raw_predict(X[NEW])) ** 2))
        return seen[-1] < 0.6

    model = GBTRegressor(**GREEDY, callbacks=[stop_when_good]).fit(X[FIT], Y[FIT])
    assert seen[-1] < 0.6 <= min(seen[:-1])
    assert model.ensemble_.n_trees == len(seen) < 40
    assert_close(seen[-1], np.mean((Y[NEW] - model.predict(X[NEW])) ** 2), terms=1.0)


def test_the_training_loss_is_half_that_of_scikit_learns_gradient_boosting():
    """Theirs is the squared error, ours half of it; stumps without penalty are the same."""
    ours = GBTRegressor(
        n_estimators=10, max_depth=1, reg_lambda=0.0, splitter="greedy", train_score=True
    ).fit(X, Y)
    theirs = GradientBoostingRegressor(n_estimators=10, max_depth=1).fit(X, Y)
    assert_close(2 * ours.train_score_, theirs.train_score_, theirs.train_score_, k=1024)


def test_training_rows_and_new_rows_as_evaluation_sets():
    """The habit eval_set=[(X_train, y_train), (X_valid, y_valid)]; the last one decides."""
    model = GBTRegressor(**GREEDY, early_stopping_rounds=3)
    model.fit(X[FIT], Y[FIT], eval_set=[(X[FIT], Y[FIT]), *EVAL])
    assert np.all(np.diff(model.evals_result_["eval_0"]) < 0)
    assert model.best_iteration_ == np.argmin(model.evals_result_["eval_1"])
