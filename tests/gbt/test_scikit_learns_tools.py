"""The estimators among scikit-learn's tools, as its users write them."""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.linear_model import RidgeCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tests.asserts import assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=240)
LABELS = np.where(Y > 0.5, "high", "low")
REGRESSOR = GreedyRegressor(n_estimators=20, learning_rate=0.3, max_depth=2)
CLASSIFIER = GreedyClassifier(n_estimators=20, learning_rate=0.3, max_depth=2)


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
