"""Models in what people wrap them in: taken out where that is right, else refused with advice."""

import re

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier

from attributions import cross_fit, permutation, predecomp, tree_inner
from gbt.formats import as_ensemble
from tests.greedy import GreedyClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
LABELS = np.where(X[:, 0] + RNG.normal(size=80) > 0, "yes", "no")
X_NEW = RNG.normal(size=(60, 3))
NEW_LABELS = np.where(X_NEW[:, 0] > 0, "yes", "no")


def classifier():
    return GreedyClassifier(n_estimators=2)


TAKEN_OFF = {
    "grid": (
        lambda: GridSearchCV(classifier(), {"max_depth": [1]}, cv=2),
        lambda wrapper: wrapper.best_estimator_,
    ),
    "pipeline": (
        lambda: Pipeline([("nothing", "passthrough"), ("model", classifier())]),
        lambda wrapper: wrapper[-1],
    ),
    "grid of pipelines": (
        lambda: GridSearchCV(
            Pipeline([("nothing", None), ("model", classifier())]), {"model__max_depth": [2]}, cv=2
        ),
        lambda wrapper: wrapper.best_estimator_[-1],
    ),
    "threshold": (
        lambda: FixedThresholdClassifier(classifier(), threshold=0.3, pos_label="yes"),
        lambda wrapper: wrapper.estimator_,
    ),
}


@pytest.mark.parametrize(("make", "inside"), TAKEN_OFF.values(), ids=TAKEN_OFF)
def test_what_leaves_rows_alone_is_taken_off(make, inside):
    wrapper = make().fit(X, LABELS)
    model = inside(wrapper)
    assert as_ensemble(wrapper) is model.ensemble_
    result = tree_inner(wrapper, X_NEW, NEW_LABELS)
    np.testing.assert_array_equal(result.values, tree_inner(model, X_NEW, NEW_LABELS).values)
    drop = permutation(wrapper, X_NEW, NEW_LABELS, random_state=0).values
    expected = permutation(model, X_NEW, NEW_LABELS, random_state=0).values
    np.testing.assert_array_equal(drop, expected)
    permutation(wrapper, X_NEW, NEW_LABELS, metric="accuracy")


REFUSED = {
    "one against the rest": (lambda: OneVsRestClassifier(classifier()), "model.estimators_"),
    "fewer columns": (
        lambda: RFE(classifier(), n_features_to_select=2),
        "model.estimator_ is, with the rows and targets that it sees",
    ),
    "steps alone": (lambda: make_column_transformer(("passthrough", [0])), "give the whole pipe"),
    "not refitted": (
        lambda: GridSearchCV(classifier(), {}, cv=2, refit=False),
        "This GridSearchCV has no model: it has not been fitted, or not refitted",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_changes_rows_or_has_several_models_is_refused(make, message):
    wrapper = make().fit(X, LABELS)
    with pytest.raises(TypeError, match=message):
        predecomp(wrapper, X)


@pytest.mark.parametrize(
    "wrapper",
    [
        AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=2),
        StackingClassifier([("one", classifier())], cv=2),
        OneVsRestClassifier(classifier()),
        RFE(classifier(), n_features_to_select=3),
    ],
    ids=lambda wrapper: type(wrapper).__name__,
)
def test_the_model_that_is_advised_is_taken(wrapper):
    model = wrapper.fit(X, LABELS)
    with pytest.raises(TypeError, match=f"^{type(wrapper).__name__} is no model") as refusal:
        as_ensemble(model)
    advice = re.search(r"as (model\S*) is,", str(refusal.value)).group(1)
    assert as_ensemble(eval(advice, {"model": model})).n_features == 3


def test_a_stack_that_is_not_fitted_is_no_step():
    with pytest.raises(TypeError, match="StackingClassifier is no model of trees, but fits others"):
        cross_fit(StackingClassifier([("one", classifier())]), X, LABELS)


def test_a_part_of_a_calibrated_model_says_where_the_model_is():
    part = CalibratedClassifierCV(classifier(), cv=2).fit(X, LABELS).calibrated_classifiers_[0]
    with pytest.raises(TypeError, match=r"as model\.estimator is"):
        as_ensemble(part)


def test_nothing_inside_and_nothing_fitted():
    message = r"must be an Ensemble.*got LinearRegression, .*permutation takes whatever predicts"
    with pytest.raises(TypeError, match=message):
        as_ensemble(make_pipeline(LinearRegression()).fit(X, X[:, 0]))
    with pytest.raises(TypeError, match="has not been fitted"):
        as_ensemble(GridSearchCV(classifier(), {}))
    for wrapper in (make_pipeline(classifier()), FixedThresholdClassifier(classifier())):
        with pytest.raises(NotFittedError):
            as_ensemble(wrapper)
