"""The estimators among scikit-learn's tools, as its users write them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_close, assert_same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=240)
LABELS = np.where(Y > 0.5, "high", "low")
REGRESSOR = GBTRegressor(n_estimators=20, learning_rate=0.3, max_depth=2, splitter="greedy")
CLASSIFIER = GBTClassifier(n_estimators=20, learning_rate=0.3, max_depth=2, splitter="greedy")


def test_lists_and_frames_are_arrays():
    expected = clone(REGRESSOR).fit(X, Y).predict(X)
    for rows, target in ((X.tolist(), Y.tolist()), (pd.DataFrame(X), pd.Series(Y, index=Y))):
        assert_same(clone(REGRESSOR).fit(rows, target).predict(rows), expected)


def test_names_of_features():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(REGRESSOR).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c", "a", "b"]])


def test_searches_clones_and_cross_validation():
    search = GridSearchCV(REGRESSOR, {"max_depth": [1, 2], "reg_lambda": [0, 1]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.7
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()
    assert cross_val_score(REGRESSOR, X, Y, cv=3).min() > 0.6
    probability = cross_val_predict(CLASSIFIER, X, LABELS, cv=3, method="predict_proba")
    raw = cross_val_predict(CLASSIFIER, X, LABELS, cv=3, method="decision_function")
    logarithm = cross_val_predict(CLASSIFIER, X, LABELS, cv=3, method="predict_log_proba")
    assert_close(np.exp(logarithm), probability, terms=1.0)
    assert ((raw > 0) == (probability[:, 1] > 0.5)).all()


def test_calibration_voting_and_stacking():
    calibrated = CalibratedClassifierCV(CLASSIFIER, cv=3).fit(X, LABELS)
    assert calibrated.score(X, LABELS) > 0.8
    vote = VotingClassifier(
        [("a", CLASSIFIER), ("b", GradientBoostingClassifier(n_estimators=5))], voting="soft"
    )
    assert vote.fit(X, LABELS).score(X, LABELS) > 0.8
    stack = StackingRegressor(
        [("ours", REGRESSOR), ("theirs", HistGradientBoostingRegressor(max_iter=10))], RidgeCV()
    )
    assert stack.fit(X, Y).score(X, Y) > 0.7


def test_several_targets_and_classes_by_scikit_learns_tools():
    targets = np.column_stack([Y, -2 * Y])
    each = MultiOutputRegressor(REGRESSOR).fit(X, targets)
    assert_same(each.predict(X)[:, 0], clone(REGRESSOR).fit(X, Y).predict(X))
    assert RegressorChain(REGRESSOR).fit(X, targets).predict(X).shape == (240, 2)
    marks = (targets > 0).astype(int)
    assert ClassifierChain(CLASSIFIER).fit(X, marks).predict(X).shape == (240, 2)
    three = np.digitize(Y, [0, 1])
    assert OneVsRestClassifier(CLASSIFIER).fit(X, three).score(X, three) > 0.8


def test_a_pipeline_with_words_and_a_transformed_target():
    frame = pd.DataFrame({"x": X[:, 0], "word": np.where(X[:, 1] > 0, "yes", "no")})
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["word"]), remainder="passthrough"
    )
    assert make_pipeline(encode, REGRESSOR).fit(frame, Y).score(frame, Y) > 0.4
    grown = TransformedTargetRegressor(REGRESSOR, func=np.log, inverse_func=np.exp)
    assert grown.fit(X, np.exp(Y)).predict(X).min() > 0


def test_early_stopping_with_validation_rows_that_a_pipeline_scales():
    """As HistGradientBoosting: X_val and y_val, transform_input and metadata routing."""
    fit, new = slice(0, 160), slice(160, 240)
    with config_context(enable_metadata_routing=True):
        rounds = []
        for last in (
            clone(REGRESSOR).set_params(n_estimators=80, early_stopping_rounds=5),
            HistGradientBoostingRegressor(max_iter=80, early_stopping=True, n_iter_no_change=5),
        ):
            last.set_fit_request(X_val=True, y_val=True)
            pipe = Pipeline([("s", StandardScaler()), ("m", last)], transform_input=["X_val"])
            pipe.fit(X[fit], Y[fit], X_val=X[new], y_val=Y[new])
            assert pipe.score(X[new], Y[new]) > 0.6
            rounds.append(pipe)
    scaler = StandardScaler().fit(X[fit])
    by_hand = clone(REGRESSOR).set_params(n_estimators=80, early_stopping_rounds=5)
    by_hand.fit(scaler.transform(X[fit]), Y[fit], eval_set=[(scaler.transform(X[new]), Y[new])])
    assert rounds[0]["m"].best_iteration_ == by_hand.best_iteration_


def test_stages_of_a_classifier_as_of_gradient_boosting():
    """Same shapes but for one: theirs has a column of raw predictions for two classes."""
    theirs = GradientBoostingClassifier(n_estimators=20, max_depth=2).fit(X, LABELS)
    ours = clone(CLASSIFIER).fit(X, LABELS)
    stages = [*ours.staged_decision_function(X)]
    assert len(stages) == len([*theirs.staged_decision_function(X)])
    assert next(theirs.staged_decision_function(X)).shape == (240, 1)
    assert stages[0].shape == ours.decision_function(X).shape == (240,)
    assert_same(stages[-1], ours.decision_function(X))
    assert ours.predict_log_proba(X).shape == theirs.predict_log_proba(X).shape


def test_pickles_and_importances():
    model = clone(CLASSIFIER).fit(X, LABELS)
    again = pickle.loads(pickle.dumps(model))
    assert_same(again.predict_proba(X), model.predict_proba(X))
    assert model.feature_importances_.sum() == pytest.approx(1)
    shuffled = permutation_importance(model, X, LABELS, n_repeats=2, random_state=0)
    assert shuffled.importances_mean.argmin() == 2
