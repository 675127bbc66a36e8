"""The two estimators: scikit-learn's own checks, hand examples, and what each attribute means."""

import inspect
import json
import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy import special
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from attributions.testing import problems
from gbt import GBTClassifier, GBTRegressor, load
from gbt.losses import Huber, Quantile
from gbt.losses.by_name import describe_loss
from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from tests.asserts import assert_close, assert_same, assert_same_trees
from tests.drawn_models import OURS, draw_model
from tests.gbt.training.test_evaluation import table
from tests.greedy import GreedyClassifier, GreedyRegressor

BOTH = pytest.mark.parametrize("estimator", [GBTRegressor, GBTClassifier])


@pytest.mark.slow
@parametrize_with_checks([GreedyRegressor(), GreedyClassifier()])
def test_scikit_learn_checks(estimator, check):
    """Not one expected failure; with the tag multi_class those of several classes, too."""
    check(estimator)


# As of scikit-learn's forests: rows that are repeated are drawn apart, a heavy one is drawn once.
OF_DRAWN_PARTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "splits draw rows, whatever they weigh"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [GBTRegressor(100), GBTClassifier(100)], expected_failed_checks=lambda estimator: OF_DRAWN_PARTS
)
def test_scikit_learn_checks_of_the_default(estimator, check):
    """With a tenth of its trees: a hundred models of a few rows are fitted."""
    check(estimator)


def state(estimator):
    """Return everything that an estimator has learned."""
    return {name: value for name, value in vars(estimator).items() if name not in PARAMETERS}


PARAMETERS = inspect.signature(GBTClassifier).parameters  # which has all of the other, too


# By hand --------------------------------------------------------------------------------------

TWO_GROUPS = np.array([[0.0], [0.0], [1.0], [1.0]])


def test_classifier_by_hand():
    # Base score 0, gradients p - y = +-1/2, hessians 1/4; the step of each half is
    # -(+-1) / (1/2 + 1/2), halved by the learning rate: log-odds -+ 1/2.
    model = GreedyClassifier(n_estimators=1, learning_rate=0.5, reg_lambda=0.5, min_child_weight=0)
    model.fit(TWO_GROUPS, ["no", "no", "yes", "yes"])
    assert_same(model.classes_, ["no", "yes"])
    X = [[-7.0], [9.0]]
    assert_close(model.decision_function(X), [-0.5, 0.5], terms=1.0)
    p = 1 / (1 + math.exp(-0.5))
    assert_close(model.predict_proba(X), [[p, 1 - p], [1 - p, p]], terms=1.0)
    assert_same(model.predict(X), ["no", "yes"])


def test_base_score_is_a_prediction():
    y = [0.0, 0.0, 1.0, 1.0]
    regressor = GreedyRegressor(n_estimators=1, base_score=0.25).fit(TWO_GROUPS, y)
    classifier = GreedyClassifier(n_estimators=1, base_score=0.25).fit(TWO_GROUPS, y)
    assert regressor.ensemble_.base_score == 0.25
    assert_close(classifier.ensemble_.base_score, -math.log(3), terms=2.0)


def test_both_probabilities_are_exact_near_zero():
    # Log-odds of 100: the probability of the other class is exp(-100), not 1 - 1 = 0.
    model = GreedyClassifier(n_estimators=1, base_score=0.5, learning_rate=50.0, reg_lambda=0.0)
    model.set_params(min_child_weight=0).fit(TWO_GROUPS, [0, 0, 1, 1])
    probability = model.predict_proba([[0.0], [1.0]])
    assert_close(probability[:, [0, 1]].min(axis=1), [math.exp(-100)] * 2, terms=math.exp(-100))


# Predictions are those of the ensemble --------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("number", range(2))
def test_every_prediction_is_the_raw_one_through_the_link_after_every_round(name, number):
    case = draw_model(number, [name])
    model, ensemble, X = case.model, case.model.ensemble_, case.X
    raw, stages = ensemble.raw_predict(X), [*ensemble.staged_raw_predict(X)]
    assert len(stages) == ensemble.n_rounds
    assert_same(stages[-1], raw)
    assert_same(model.apply(X), ensemble.apply(X))
    predicted = [*model.staged_predict(X)]
    assert_same(predicted[-1], model.predict(X))
    if not hasattr(model, "classes_"):
        for found, of_stage in zip(predicted, stages, strict=True):
            assert_same(found, ensemble.loss.inverse_link(of_stage))
        return
    assert_same(model.decision_function(X), raw)
    shares = [*model.staged_predict_proba(X)]
    of_stages = model.staged_decision_function(X)
    for f, again, p, labels in zip(stages, of_stages, shares, predicted, strict=True):
        expected = special.expit(f) if f.ndim == 1 else special.softmax(f, axis=1)
        expected = np.column_stack([1 - expected, expected]) if f.ndim == 1 else expected
        assert_same(again, f)
        assert_close(p, expected, terms=1.0)
        assert_same(labels, model.classes_[p.argmax(axis=1)])
    assert_same(model.predict_proba(X), shares[-1])
    expected = [[math.log(p) for p in row] for row in shares[-1]]
    assert_close(model.predict_log_proba(X), expected, np.abs(expected))
    assert_close(model.score(X, case.y), np.mean(model.predict(X) == case.y), terms=1.0)


# Tables of any kind ---------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns(frame):
    X, y = table(80)
    names = ["height", "width", "depth"]
    data = frame(dict(zip(names, X.T, strict=True)))
    model = GreedyRegressor(n_estimators=1).fit(data, y)
    assert_same(model.feature_names_in_, names)
    assert model.n_features_in_ == 3
    assert model.ensemble_.feature_names == tuple(names)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.ensemble_.feature_names == ("x0", "x1", "x2")


def test_without_a_look_at_dtypes_categories_of_numbers_are_numbers():
    X, y = table(80)
    X = np.nan_to_num(X).round()
    model = GreedyRegressor(n_estimators=2, categorical_features=None)
    of_numbers = clone(model).fit(X, y)
    assert_same_trees(model.fit(pd.DataFrame(X).astype("category"), y), of_numbers)


# Weights --------------------------------------------------------------------------------------


@given(problem=problems(weighted=True))
def test_rows_of_weight_zero_do_not_exist(problem):
    kept = np.flatnonzero(problem.sample_weight)
    X, y, w = problem.X, problem.y, problem.sample_weight
    model = GreedyRegressor(n_estimators=2, subsample=0.5, random_state=0)
    with_zeros = clone(model).fit(X, y, w)
    without = model.fit(X[kept], y[kept], w[kept])
    assert_same_trees(with_zeros, without)
    assert_same(with_zeros.sampled_rows(1), kept[without.sampled_rows(1)])


def test_a_class_of_weight_zero_does_not_exist():
    X, _ = table(n=6)
    y = ["a", "b", "c", "a", "b", "c"]
    model = GreedyClassifier(n_estimators=1).fit(X, y, [1, 1, 0, 1, 1, 0])
    assert_same(model.classes_, ["a", "b"])


# Sampling -------------------------------------------------------------------------------------


@given(problem=problems())
def test_sampled_rows_are_those_whose_gradients_the_tree_remembers(problem):
    X, y = problem.X, problem.y
    w = np.ones(len(y)) if problem.sample_weight is None else problem.sample_weight
    model = GreedyRegressor(n_estimators=3, subsample=0.6, learning_rate=0.3, random_state=5)
    model.fit(X, y, w)
    raw = [np.full(len(y), model.ensemble_.base_score), *model.staged_predict(X)]
    n_kept = np.count_nonzero(w)
    for m, tree in enumerate(model.ensemble_.trees):
        rows = model.sampled_rows(m)
        assert len(rows) == max(1, round(0.6 * n_kept))
        assert (np.diff(rows) > 0).all()
        assert (w[rows] > 0).all()
        assert tree.n_samples[0] == len(rows)
        gradient = w * (raw[m] - y)
        terms = np.sum(w * (np.abs(raw[m]) + np.abs(y) + np.abs(raw[0])))
        assert_close(tree.sum_gradient[0], gradient[rows].sum(), terms=terms)


def test_sampled_rows_stay_what_they_were_when_parameters_change():
    X, y = table(80)
    model = GreedyRegressor(n_estimators=2, subsample=0.5, random_state=0).fit(X, y)
    rows = model.sampled_rows(1)
    model.set_params(subsample=1.0, random_state=1)
    assert_same(model.sampled_rows(1), rows)


def test_random_state():
    X, y = table(80)
    model = GreedyRegressor(n_estimators=3, subsample=0.5, colsample=0.5)
    first = clone(model).set_params(random_state=1).fit(X, y)
    assert_same_trees(clone(model).set_params(random_state=1).fit(X, y), first)
    of_state = np.random.RandomState(1)
    assert_same_trees(clone(model).set_params(random_state=of_state).fit(X, y), first)
    second = clone(model).set_params(random_state=2).fit(X, y)
    assert not np.array_equal(second.sampled_rows(0), first.sampled_rows(0))
    generators = [np.random.default_rng(1) for _ in range(2)]
    third, fourth = (clone(model).set_params(random_state=of).fit(X, y) for of in generators)
    assert_same_trees(third, fourth)
    fourth.fit(X, y)  # the generator has moved on
    assert not np.array_equal(third.sampled_rows(0), fourth.sampled_rows(0))


# Evaluation sets and early stopping -----------------------------------------------------------


@BOTH
def test_early_stopping_holds_out_rows(estimator):
    X, y = table(n=200)
    w = np.where(np.arange(len(y)) % 10 == 0, 0.0, 1.5)
    model = estimator(
        n_estimators=200, early_stopping_rounds=3, validation_fraction=0.25, random_state=0,
        splitter="greedy",
    ).fit(X, y, w)  # fmt: skip
    seen = model.sampled_rows(0)
    kept = np.flatnonzero(w)
    held_out = np.setdiff1d(kept, seen)
    assert len(held_out) == 0.25 * len(kept)
    assert np.isin(seen, kept).all()
    assert model.ensemble_.n_trees == model.best_iteration_ + 1 < 200
    if estimator is GBTClassifier:  # both classes in proportion
        assert abs(y[held_out].mean() - y[kept].mean()) <= 1 / len(held_out)

    # The same fit with the rows told apart by hand.
    expected = estimator(n_estimators=200, early_stopping_rounds=3, splitter="greedy").fit(
        X[seen], y[seen], w[seen], eval_set=[(X[held_out], y[held_out], w[held_out])]
    )
    assert_same_trees(model, expected)
    assert model.evals_result_ == expected.evals_result_


def test_an_empty_list_of_evaluation_sets_is_none():
    X, y = table(80)
    model = GreedyRegressor(n_estimators=9, early_stopping_rounds=2, random_state=0)
    assert len(model.fit(X, y, eval_set=[]).sampled_rows(0)) == 72


# A fit happens or it does not -----------------------------------------------------------------


class InterruptedSplitter(Greedy):
    """Behaves like Greedy until the third level; then somebody presses Ctrl-C."""

    def __init__(self):
        self.questions = 0

    def split(self, frontier, limits, n_jobs):
        self.questions += 1
        if self.questions == 3:
            raise KeyboardInterrupt
        return super().split(frontier, limits, n_jobs)


@BOTH
def test_interrupted_fit_leaves_the_estimator_unfitted(estimator):
    X, y = table(80)
    model = estimator(splitter=InterruptedSplitter())
    with pytest.raises(KeyboardInterrupt):
        model.fit(pd.DataFrame(X, columns=list("abc")), y)
    assert state(model) == {}
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(model)


@BOTH
@pytest.mark.parametrize("ending", ["interrupted", "refused"])
def test_failed_second_fit_leaves_the_first_model(estimator, ending):
    X, y = table(80)
    model = estimator(n_estimators=3, splitter="greedy").fit(X, y)
    before = state(model)
    X_new = pd.DataFrame(X[:, :2], columns=["a", "b"])
    if ending == "interrupted":
        model.set_params(splitter=InterruptedSplitter())
        with pytest.raises(KeyboardInterrupt):
            model.fit(X_new, y)
    else:
        with pytest.raises(ValueError, match="negative"):
            model.fit(X_new, y, sample_weight=-np.ones(len(y)))
    assert state(model) == before
    assert model.predict(X).shape == y.shape


# Importances ----------------------------------------------------------------------------------


def test_importances_are_normalised_total_gain():
    X, y = table(80)
    model = GreedyRegressor(n_estimators=5).fit(X, y)
    total = model.ensemble_.total_gain()
    assert_close(model.feature_importances_, total / total.sum(), terms=1.0)


# In company -----------------------------------------------------------------------------------


@BOTH
def test_a_fit_is_silent_unless_it_is_asked(estimator, capfd):
    estimator(n_estimators=2, splitter="greedy").fit(*table(80))
    out, err = capfd.readouterr()
    assert (out, "round" in err) == ("", False)  # where kernels are compiled, that is said


@BOTH
def test_every_parameter_is_documented(estimator):
    section = inspect.getdoc(estimator).partition("Attributes\n")[0]
    heads = re.findall(r"^(\w+) : .*, default=(.+)$", section, flags=re.MULTILINE)
    parameters = inspect.signature(estimator).parameters.values()
    assert heads == [(parameter.name, repr(parameter.default)) for parameter in parameters]
    assert "\nlearning_rate : a number in (0, inf) or None, default=None\n    Factor" in section


# Parameters of losses and splitters -----------------------------------------------------------


def amounts():
    X, _ = table(80)
    return X, np.nan_to_num(X[:, 0]) + np.random.default_rng(1).normal(size=len(X))


def test_parameters_of_a_loss_are_got_set_and_cloned(tmp_path):
    X, y = amounts()
    mine = Quantile(alpha=0.9)
    model = GBTRegressor(loss=mine, splitter=CrossValidated(n_folds=3))
    deep = model.get_params()
    assert deep["loss__alpha"] == 0.9
    assert deep["splitter__n_folds"] == 3
    assert not any("__" in name for name in model.get_params(deep=False))
    assert clone(model).get_params() == deep

    model.fit(X, y)
    model.set_params(loss__alpha=0.2, splitter__n_folds=4)
    assert (model.loss, model.splitter.n_folds) == (Quantile(0.2), 4)
    assert mine.alpha == model.ensemble_.loss.alpha == 0.9  # nobody else's loss is changed
    assert model.set_params(**model.get_params()).loss == Quantile(0.2)

    model.set_params(loss__alpha=np.float32(0.25)).fit(X, y).save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").loss == Quantile(0.25)
    assert json.dumps(describe_loss(Huber(Fraction(1, 2)))) == '{"name": "huber", "delta": 0.5}'


def test_parameters_of_a_loss_that_has_only_been_named():
    model = GBTRegressor(loss="quantile").set_params(loss__alpha=0.1)
    assert model.loss == Quantile(0.1)
    assert model.set_params(loss="huber", loss__delta=2.0).loss == Huber(delta=2.0)
    assert model.set_params(splitter="cross_validated", splitter__n_folds=7).splitter.n_folds == 7
    assert not [name for name in GBTRegressor(loss="quantile").get_params() if "__" in name]


# More ways to ask a classifier ----------------------------------------------------------------


def test_the_logarithm_of_no_probability_is_minus_infinity():
    X, y = amounts()
    model = GBTClassifier(n_estimators=1, base_score=0.5, learning_rate=1e6, min_child_weight=0)
    model.fit(X, y > 0)
    smallest = model.predict_log_proba(X).min(axis=1)
    assert (smallest == -np.inf).any()
