"""The estimators among scikit-learn's tools, as its users write them."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingRegressor, StackingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor, RegressorChain

from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=240)
FEW = {"n_estimators": 20, "learning_rate": 0.3, "max_depth": 2}
REGRESSOR, CLASSIFIER = GreedyRegressor(**FEW), GreedyClassifier(**FEW)
BESIDE = [("ours", REGRESSOR), ("theirs", HistGradientBoostingRegressor(max_iter=10))]
TOOLS = [
    (CalibratedClassifierCV(CLASSIFIER, cv=3), np.where(Y > 0.5, "high", "low")),
    (StackingRegressor(BESIDE, RidgeCV()), Y),
    (MultiOutputRegressor(REGRESSOR), np.column_stack([Y, -2 * Y])),
    (RegressorChain(REGRESSOR), np.column_stack([Y, -2 * Y])),
    (ClassifierChain(CLASSIFIER), np.column_stack([Y > 0, Y < 0.5]).astype(int)),
    (OneVsRestClassifier(CLASSIFIER), np.digitize(Y, [0, 1])),
]


@pytest.mark.parametrize(("tool", "y"), TOOLS, ids=lambda given: type(given).__name__)
def test_what_scikit_learn_fits_around_them_predicts(tool, y):
    assert tool.fit(X, y).score(X, y) > 0.7
