"""Models whose library does not keep sums of gradients, judged with the help of training rows."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.utils.class_weight import compute_sample_weight

from attributions import (
    GlobalAttribution,
    HeldOutSelector,
    cross_fit,
    forest_inner,
    given_others,
    partial_inner,
    saabas,
    tree_inner,
)
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same, peer
from tests.attributions.refits.test_given_others import by_definition
from tests.greedy import GreedyRegressor

N = 160
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
y = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0).astype(int)
LABEL = np.array(["no", "yes"])[y]
A, B = slice(0, 80), slice(80, N)
TRAINING = X[A], LABEL[A]
NAMES = ["HistGradientBoostingClassifier", "GradientBoostingClassifier", "CatBoostClassifier"]


def classifier(name):
    if name == "CatBoostClassifier":
        return peer("catboost").CatBoostClassifier(
            n_estimators=4, depth=2, verbose=0, allow_writing_files=False
        )
    if name == "GradientBoostingClassifier":
        return GradientBoostingClassifier(n_estimators=4, max_depth=2)
    return HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=4)


SUMS = (tree_inner, partial_inner, forest_inner)


@pytest.mark.parametrize("name", NAMES)
def test_training_rows_supply_them_and_labels_stay(name):
    model = classifier(name).fit(*TRAINING)
    completed = as_ensemble(model, *TRAINING)
    for measure in SUMS:
        result = measure(model, X[B], LABEL[B], training=TRAINING)
        expected = measure(completed, X[B], y[B], training=(X[A], y[A]))
        assert_same(result.values, expected.values)
        assert_same(result.is_reliable, expected.is_reliable)


def test_cross_fitting_hands_over_the_training_rows():
    model = GreedyRegressor(n_estimators=5, max_depth=2)
    measure = partial(given_others, regressor=LinearRegression())
    parts = []
    for fitted_on, held_out in KFold(2).split(X):
        training = X[fitted_on], y[fitted_on]
        fitted = clone(model).fit(*training)
        parts.append(measure(fitted, X[held_out], y[held_out], training=training))
    expected = GlobalAttribution.merge(*parts)

    result = cross_fit(model, X, y, measure, cv=KFold(2))

    assert_same(result.values, expected.values)
    assert_same(result.standard_error, 1.2 * expected.standard_error)  # folds vary together
    assert result.method == "given_others(2 fits, saabas)"


@pytest.mark.parametrize("name", NAMES)
def test_the_selector_takes_such_estimators(name):
    selector = HeldOutSelector(classifier(name), measure=tree_inner, cv=None).fit(X, LABEL)
    fitted_on, held_out = selector._cut(X, LABEL, None)
    completed = as_ensemble(selector.estimator_, X[fitted_on], LABEL[fitted_on])
    expected = tree_inner(completed, X[held_out], y[held_out])
    assert_same(selector.p_values_, expected.p_values())


def test_a_balanced_model_is_judged_with_the_weights_of_its_classes():
    rare = np.where(X[:, 0] > 0.6, LABEL, "no")
    model = HistGradientBoostingClassifier(class_weight="balanced", max_iter=4).fit(X[A], rare[A])
    weight = compute_sample_weight("balanced", rare[A])
    completed = as_ensemble(model, X[A], rare[A], weight)
    expected = tree_inner(completed, X[B], (rare[B] == "yes") * 1)
    for training in ((X[A], rare[A]), (X[A], rare[A], weight)):
        assert_same(tree_inner(model, X[B], rare[B], training=training).values, expected.values)
    selector = HeldOutSelector(clone(model), measure=tree_inner, cv=None)
    selector.fit(X, rare)  # without a warning
    fitted_on, held_out = selector._cut(X, rare, None)
    weight = compute_sample_weight("balanced", rare[fitted_on])
    completed = as_ensemble(selector.estimator_, X[fitted_on], rare[fitted_on], weight)
    expected = tree_inner(completed, X[held_out], (rare[held_out] == "yes") * 1)
    assert_same(selector.attribution_.values, expected.values)
    cross_fit(clone(model), X, rare, tree_inner, cv=2)  # without a warning


@pytest.mark.parametrize("name", NAMES[:2])
def test_weights_of_the_training_rows(name):
    weight = np.random.default_rng(1).gamma(1.0, size=80) + 0.1
    model = classifier(name).fit(*TRAINING, sample_weight=weight)
    completed = as_ensemble(model, *TRAINING, weight)
    for measure in SUMS:
        result = measure(model, X[B], LABEL[B], training=(*TRAINING, weight))
        expected = measure(completed, X[B], y[B], training=(X[A], y[A], weight))
        assert_same(result.values, expected.values)
        assert_same(result.is_reliable, expected.is_reliable)
        with pytest.warns(UserWarning, match="trained on other rows or weights"):
            measure(model, X[B], LABEL[B], training=TRAINING)
    training, regressor = (*TRAINING, weight), LinearRegression()
    result = given_others(model, X[B], LABEL[B], training=training, regressor=regressor)
    without = [classifier(name)] * 3  # fitted without weights
    q = by_definition(completed, X[B], y[B], (X[A], y[A]), without, [regressor] * 3)
    q = np.where((saabas(completed, X[A]).values != 0).any(axis=0), q, 0.0)
    assert_close(result.values, q.sum(axis=0), 80 * np.abs(q).max())


SAMPLED = {
    "xgboost": lambda: peer("xgboost").XGBRegressor(n_estimators=5, subsample=0.5, max_depth=3),
    "xgboost, weighted": lambda: peer("xgboost").XGBClassifier(
        n_estimators=5, scale_pos_weight=3.0, max_depth=3
    ),
    "lightgbm": lambda: peer("lightgbm").LGBMRegressor(
        n_estimators=5, subsample=0.5, subsample_freq=1, verbose=-1, min_child_samples=5
    ),
    "lightgbm, penalty": lambda: peer("lightgbm").LGBMClassifier(
        n_estimators=5, reg_alpha=0.5, is_unbalance=True, verbose=-1, min_child_samples=5
    ),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_what_a_library_kept_is_not_made_again(name):
    """Neither counts, which XGBoost lacks, nor G, which LightGBM hides, are needed here."""
    model = SAMPLED[name]().fit(X[A], y[A])
    for measure in SUMS:
        expected = measure(model, X[B], y[B])
        result = measure(model, X[B], y[B], training=(X[A], y[A]))  # without a warning
        assert_same(result.values, expected.values)
        assert expected.values.any()


def test_cross_fitting_a_model_that_has_kept_all_takes_no_pass_over_training_rows():
    def measure(model, X, y, training=None):
        assert training is None
        return tree_inner(model, X, y)

    cross_fit(GreedyRegressor(n_estimators=2), X, y, measure, cv=2)
